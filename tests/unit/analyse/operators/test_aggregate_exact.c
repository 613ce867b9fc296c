/* Exact sums: of what doubles can be, in any order, in one window or many. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

#include "analyse/operators/aggregate/exact.h"
#include "common/memory.h"

struct moments {
    uint64_t sum[1 + STA_EXACT_SUM_WINDOW], squares[1 + STA_EXACT_SQUARES_WINDOW]; /* windows */
    struct sta_exact_terms sum_terms, square_terms;
    uint64_t count;
};

static struct sta_exact *window_of(const uint64_t *words)
{
    return (struct sta_exact *)words;
}

static void add(struct moments *moments, double value)
{
    struct sta_exact_parts parts;
    sta_exact_split(value, &parts);
    sta_exact_add(window_of(moments->sum), STA_EXACT_SUM_WINDOW, STA_EXACT_VALUE_DIGITS, &parts,
                  &moments->sum_terms);
    sta_exact_split_square(value, &parts);
    sta_exact_add(window_of(moments->squares), STA_EXACT_SQUARES_WINDOW, STA_EXACT_SQUARE_DIGITS, &parts,
                  &moments->square_terms);
    moments->count++;
}

static void total(const struct sta_exact *exact, unsigned window, const struct sta_exact_terms *terms,
                  struct sta_exact_total *to)
{
    sta_exact_total_init(to);
    sta_exact_total_add(to, exact, window);
    for (size_t t = 0; t < terms->count; t++)
        sta_exact_total_add_term(to, terms->terms[t]);
}

static double sum_of(const struct moments *moments)
{
    struct sta_exact_total sum;
    total(window_of(moments->sum), STA_EXACT_SUM_WINDOW, &moments->sum_terms, &sum);
    return sta_exact_sum(&sum);
}

static double variance_of(const struct moments *moments)
{
    struct sta_exact_total sum;
    struct sta_exact_total squares;
    total(window_of(moments->sum), STA_EXACT_SUM_WINDOW, &moments->sum_terms, &sum);
    total(window_of(moments->squares), STA_EXACT_SQUARES_WINDOW, &moments->square_terms, &squares);
    return sta_exact_variance(&sum, &squares, moments->count);
}

static struct moments of(const double *values, size_t count)
{
    struct moments moments = {.count = 0};
    for (size_t i = 0; i < count; i++)
        add(&moments, values[i]);
    return moments;
}

static void fini(struct moments *moments)
{
    sta_exact_terms_fini(&moments->sum_terms);
    sta_exact_terms_fini(&moments->square_terms);
}

static void check_sum(double wanted, const double *values, size_t count)
{
    struct moments moments = of(values, count);
    double got = sum_of(&moments);
    cr_expect(got == wanted, "got %.17g, wanted %.17g", got, wanted);
    fini(&moments);
}

#define CHECK_SUM(wanted, ...)                                                                               \
    check_sum(wanted, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

Test(grouping_exact, sums_are_rounded_once)
{
    CHECK_SUM(0, 0, 0);
    CHECK_SUM(1, 1e300, 1, -1e300);
    CHECK_SUM(1, 1, 1e300, -1e300);
    CHECK_SUM(0.6, 0.1, 0.2, 0.3);
    CHECK_SUM(1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1);
    CHECK_SUM(9007199254740994.0, 9007199254740992.0, 1, 1);
    CHECK_SUM(9007199254740992.0, 9007199254740992.0, 1);               /* a tie goes to even */
    CHECK_SUM(9007199254740994.0, 9007199254740992.0, 1, DBL_TRUE_MIN); /* no tie any more */
    CHECK_SUM(-9007199254740994.0, -9007199254740992.0, -1, -DBL_TRUE_MIN);
    CHECK_SUM(2 * DBL_TRUE_MIN, DBL_TRUE_MIN, DBL_TRUE_MIN);
    CHECK_SUM(-DBL_TRUE_MIN, DBL_MIN, -DBL_MIN, -DBL_TRUE_MIN);
    CHECK_SUM(DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX);
    CHECK_SUM(INFINITY, DBL_MAX, DBL_MAX);
    CHECK_SUM(-0.5, 1e-30, -0.5, -1e-30);
}

static double variance(const double *values, size_t count)
{
    struct moments moments = of(values, count);
    double got = variance_of(&moments);
    fini(&moments);
    return got;
}

Test(grouping_exact, variances_do_not_cancel)
{
    const double beside[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
    const double equal[] = {0.1, 0.1, 0.1, 0.1};
    const double tiny[] = {1e-200, 3e-200};
    const double far[] = {1e150, -1e150};
    const double ulps[] = {1.0, 1.0 + DBL_EPSILON};
    cr_expect_eq(variance(beside, 3), 1);
    cr_expect_eq(variance(equal, 4), 0);
    cr_expect_eq(variance(tiny, 2), 0); /* less than any double */
    cr_expect_float_eq(variance(far, 2) / 2e300, 1, 1e-15);
    cr_expect_eq(variance(ulps, 2), DBL_EPSILON * DBL_EPSILON / 2);
}

static uint64_t state = 5;

static double random_number(unsigned exponents)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double mantissa = (double)(int64_t)(state >> 4) - (double)(UINT64_C(1) << 59);
    return ldexp(mantissa, (int)(state >> 33) % (int)exponents - (int)exponents / 2);
}

/* One window for all, or one for every few values, merged in another order. */
static void check_merging(unsigned exponents)
{
    double values[300];
    struct moments parts[30] = {0};
    struct moments merged = {.count = 0};
    for (size_t i = 0; i < STA_COUNT_OF(values); i++) {
        values[i] = random_number(exponents);
        add(&parts[i * 7 % STA_COUNT_OF(parts)], values[i]);
    }
    struct moments whole = of(values, STA_COUNT_OF(values));
    for (size_t p = STA_COUNT_OF(parts); p-- > 0;) {
        sta_exact_merge(window_of(merged.sum), window_of(parts[p].sum), STA_EXACT_SUM_WINDOW,
                        &merged.sum_terms);
        sta_exact_merge(window_of(merged.squares), window_of(parts[p].squares), STA_EXACT_SQUARES_WINDOW,
                        &merged.square_terms);
        merged.count += parts[p].count;
    }
    struct sta_exact_total both[2];
    total(window_of(merged.sum), STA_EXACT_SUM_WINDOW, &merged.sum_terms, &both[0]);
    total(window_of(merged.squares), STA_EXACT_SQUARES_WINDOW, &merged.square_terms, &both[1]);
    for (size_t p = 0; p < STA_COUNT_OF(parts); p++) {
        for (size_t t = 0; t < parts[p].sum_terms.count; t++)
            sta_exact_total_add_term(&both[0], parts[p].sum_terms.terms[t]);
        for (size_t t = 0; t < parts[p].square_terms.count; t++)
            sta_exact_total_add_term(&both[1], parts[p].square_terms.terms[t]);
        fini(&parts[p]);
    }
    struct sta_exact_total sum = both[0];
    cr_expect_eq(sta_exact_sum(&sum), sum_of(&whole), "%u exponents", exponents);
    cr_expect_eq(sta_exact_variance(&both[0], &both[1], merged.count), variance_of(&whole), "%u exponents",
                 exponents);
    fini(&whole);
    fini(&merged);
}

Test(grouping_exact, merging_changes_nothing)
{
    static const unsigned exponents[] = {1, 20, 60, 200, 900};
    for (size_t i = 0; i < STA_COUNT_OF(exponents); i++)
        for (unsigned round = 0; round < 50; round++)
            check_merging(exponents[i]);
}

/* A window that is full of additions carries; one with the largest digits of all hands its excess on. */
Test(grouping_exact, full_windows_carry)
{
    struct moments moments = {.count = 0};
    for (unsigned i = 0; i < 1000; i++) {
        add(&moments, 4294967295.0);
        window_of(moments.sum)->adds += STA_EXACT_FULL / 3;
        window_of(moments.squares)->adds += STA_EXACT_FULL / 3;
    }
    cr_expect_eq(sum_of(&moments), 4294967295.0 * 1000);
    cr_expect_eq(variance_of(&moments), 0);
    fini(&moments);
}
