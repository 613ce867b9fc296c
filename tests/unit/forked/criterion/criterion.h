/* criterion.h - the part of Criterion that the unit tests use, for builds with TSan.
 *
 * Criterion runs each test in a process of its own, in memory that it maps at addresses which TSan keeps for
 * itself, so its programs do not start there. Here each test runs in a plain child process; what is asserted
 * is the same. main.c runs them. */
#ifndef STRATA_TESTS_CRITERION_H
#define STRATA_TESTS_CRITERION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct test {
    const char *suite, *name;
    void (*run)(void);
    struct test_options {
        bool first; /* so that an empty list of options is an initialiser too */
        void (*init)(void);
        void (*fini)(void);
        double timeout; /* meson's counts */
    } options;
    struct test *next;
};

void test_register(struct test *test);
/* Notes a failure; a fatal one ends the test. */
void test_failed(bool fatal, const char *file, int line, const char *text, const char *format, ...);
void test_skipped(const char *format, ...);

#define Test(suite_name, test_name, ...)                                                                     \
    static void suite_name##_##test_name##_run(void);                                                        \
    __attribute__((constructor)) static void suite_name##_##test_name##_register(void)                       \
    {                                                                                                        \
        static struct test test = {.suite = #suite_name,                                                     \
                                   .name = #test_name,                                                       \
                                   .run = suite_name##_##test_name##_run,                                    \
                                   .options = {.first = true, __VA_ARGS__}};                                 \
        test_register(&test);                                                                                \
    }                                                                                                        \
    static void suite_name##_##test_name##_run(void)

#define TEST_CHECK(fatal, good, text, ...)                                                                   \
    ((good) ? (void)0 : test_failed(fatal, __FILE__, __LINE__, text, "" __VA_ARGS__))

#define cr_assert(a, ...) TEST_CHECK(true, a, #a, __VA_ARGS__)
#define cr_assert_not(a, ...) TEST_CHECK(true, !(a), "not " #a, __VA_ARGS__)
#define cr_assert_null(a, ...) TEST_CHECK(true, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_assert_not_null(a, ...) TEST_CHECK(true, (a) != NULL, #a " is not NULL", __VA_ARGS__)
#define cr_assert_eq(a, b, ...) TEST_CHECK(true, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) TEST_CHECK(true, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) TEST_CHECK(true, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) TEST_CHECK(true, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) TEST_CHECK(true, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) TEST_CHECK(true, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) TEST_CHECK(true, strcmp(a, b) == 0, #a " is " #b, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) TEST_CHECK(true, strcmp(a, b) != 0, #a " is not " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...)                                                                    \
    TEST_CHECK(true, memcmp(a, b, size) == 0, #a " holds " #b, __VA_ARGS__)
#define cr_assert_float_eq(a, b, e, ...)                                                                     \
    TEST_CHECK(true, fabs((a) - (b)) <= (e), #a " is near " #b, __VA_ARGS__)
#define cr_assert_fail(...) TEST_CHECK(true, false, "reached", __VA_ARGS__)

#define cr_expect(a, ...) TEST_CHECK(false, a, #a, __VA_ARGS__)
#define cr_expect_not(a, ...) TEST_CHECK(false, !(a), "not " #a, __VA_ARGS__)
#define cr_expect_null(a, ...) TEST_CHECK(false, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_expect_not_null(a, ...) TEST_CHECK(false, (a) != NULL, #a " is not NULL", __VA_ARGS__)
#define cr_expect_eq(a, b, ...) TEST_CHECK(false, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) TEST_CHECK(false, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) TEST_CHECK(false, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...) TEST_CHECK(false, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) TEST_CHECK(false, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) TEST_CHECK(false, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) TEST_CHECK(false, strcmp(a, b) == 0, #a " is " #b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) TEST_CHECK(false, strcmp(a, b) != 0, #a " is not " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...)                                                                    \
    TEST_CHECK(false, memcmp(a, b, size) == 0, #a " holds " #b, __VA_ARGS__)
#define cr_expect_float_eq(a, b, e, ...)                                                                     \
    TEST_CHECK(false, fabs((a) - (b)) <= (e), #a " is near " #b, __VA_ARGS__)
#define cr_expect_fail(...) TEST_CHECK(false, false, "reached", __VA_ARGS__)

#define cr_skip_test(...) test_skipped("" __VA_ARGS__)

#endif
