/* main.c - runs the tests of one program, each in a child process, and ends with the count that Criterion
 * would print. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct test *tests;
static bool failed;

void test_register(struct test *test)
{
    test->next = tests;
    tests = test;
}

static void print_message(const char *format, va_list args)
{
    if (format[0] != '\0') {
        fputs(": ", stderr);
        vfprintf(stderr, format, args);
    }
    fputc('\n', stderr);
}

void test_failed(bool fatal, const char *file, int line, const char *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: %s", file, line, text);
    print_message(format, args);
    va_end(args);
    failed = true;
    if (fatal)
        _exit(EXIT_FAILURE);
}

void test_skipped(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("skipped", stderr);
    print_message(format, args);
    va_end(args);
    _exit(EXIT_SUCCESS);
}

static void run(const struct test *test)
{
    if (test->options.init != NULL)
        test->options.init();
    test->run();
    if (test->options.fini != NULL)
        test->options.fini();
}

static bool passes(const struct test *test)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        run(test);
        exit(failed ? EXIT_FAILURE : EXIT_SUCCESS); /* TSan's own status, where it found a race */
    }
    bool good =
        child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good)
        fprintf(stderr, "FAILED %s::%s\n", test->suite, test->name);
    return good;
}

int main(void)
{
    unsigned passed = 0, count = 0;
    for (const struct test *test = tests; test != NULL; test = test->next) {
        count++;
        passed += passes(test);
    }
    fprintf(stderr, "[====] Synthesis: Tested: %u | Passing: %u | Failing: %u | Crashing: 0\n", count, passed,
            count - passed);
    return passed == count ? EXIT_SUCCESS : EXIT_FAILURE;
}
