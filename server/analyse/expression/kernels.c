/* The loops, written so that a compiler turns them into vector instructions; compiled once for any processor
 * and once for AVX2.
 *
 * Rows whose operands are missing are computed like any other (their values are whatever lies there), so no
 * loop may trap on a value. */
#include "analyse/expression/kernels.h"

#include <float.h>
#include <math.h>

#include "common/whole.h"

#ifdef STA_KERNELS_AVX2
#define KERNELS sta_kernels_avx2
#else
#define KERNELS sta_kernels_portable
#endif

#define KERNEL(name)                                                                                         \
    static bool name(const struct sta_node *node, const struct sta_operand *in, void *restrict values,       \
                     uint8_t *restrict missing, uint32_t rows)

/* r[i] = value from a[i] and b[i]. */
#define BINARY(name, from, other, to, value)                                                                 \
    KERNEL(name)                                                                                             \
    {                                                                                                        \
        const from *a = in[0].values;                                                                        \
        const other *b = in[1].values;                                                                       \
        to *restrict r = values;                                                                             \
        for (uint32_t i = 0; i < rows; i++)                                                                  \
            r[i] = (to)(value);                                                                              \
        return false;                                                                                        \
    }

#define UNARY(name, from, to, value)                                                                         \
    KERNEL(name)                                                                                             \
    {                                                                                                        \
        const from *a = in[0].values;                                                                        \
        to *restrict r = values;                                                                             \
        for (uint32_t i = 0; i < rows; i++)                                                                  \
            r[i] = (to)(value);                                                                              \
        return false;                                                                                        \
    }

/* The same for a statement that sets r[i] and `bad`, nonzero where there is no value. */
#define STRICT(name, from, to, statement)                                                                    \
    KERNEL(name)                                                                                             \
    {                                                                                                        \
        const from *a = in[0].values;                                                                        \
        const from *b = node->operand_count > 1 ? in[1].values : in[0].values;                               \
        to *restrict r = values;                                                                             \
        uint8_t any = 0;                                                                                     \
        (void)b;                                                                                             \
        for (uint32_t i = 0; i < rows; i++) {                                                                \
            uint8_t bad;                                                                                     \
            statement;                                                                                       \
            missing[i] |= bad;                                                                               \
            any |= bad;                                                                                      \
        }                                                                                                    \
        return any != 0;                                                                                     \
    }

#define NUMERIC(name, value) STRICT(name, double, double, r[i] = (value); bad = !(fabs(r[i]) <= DBL_MAX))

/* ---- comparisons */

/* Exact: rounding to double keeps order, so only where the doubles are equal the integers decide. */
static inline int64_t saturated(double b)
{
    return b >= 0x1p63 ? INT64_MAX : b > -0x1p63 ? (int64_t)b : INT64_MIN;
}

static inline bool less_mixed(int64_t a, double b)
{
    double rounded = (double)a;
    return rounded < b || (rounded == b && (b >= 0x1p63 || a < saturated(b)));
}

static inline bool equal_mixed(int64_t a, double b)
{
    return (double)a == b && b < 0x1p63 && a == saturated(b);
}

#define COMPARE_ALIKE(suffix, type)                                                                          \
    BINARY(equal_##suffix, type, type, uint8_t, a[i] == b[i])                                                \
    BINARY(differ_##suffix, type, type, uint8_t, a[i] != b[i])                                               \
    BINARY(less_##suffix, type, type, uint8_t, a[i] < b[i])                                                  \
    BINARY(less_equal_##suffix, type, type, uint8_t, a[i] <= b[i])                                           \
    BINARY(greater_##suffix, type, type, uint8_t, a[i] > b[i])                                               \
    BINARY(greater_equal_##suffix, type, type, uint8_t, a[i] >= b[i])
COMPARE_ALIKE(ii, int64_t)
COMPARE_ALIKE(ff, double)
BINARY(equal_if, int64_t, double, uint8_t, equal_mixed(a[i], b[i]))
BINARY(differ_if, int64_t, double, uint8_t, !equal_mixed(a[i], b[i]))
BINARY(less_if, int64_t, double, uint8_t, less_mixed(a[i], b[i]))
BINARY(less_equal_if, int64_t, double, uint8_t, less_mixed(a[i], b[i]) || equal_mixed(a[i], b[i]))
BINARY(greater_if, int64_t, double, uint8_t, !less_mixed(a[i], b[i]) && !equal_mixed(a[i], b[i]))
BINARY(greater_equal_if, int64_t, double, uint8_t, !less_mixed(a[i], b[i]))

/* ---- arithmetic */

/* Written out, since the builtins keep compilers from vector instructions: the sum has a sign that neither
 * operand has. */
STRICT(add_i, int64_t, int64_t, uint64_t sum = (uint64_t)a[i] + (uint64_t)b[i]; r[i] = (int64_t)sum;
       bad = (uint8_t)(((sum ^ (uint64_t)a[i]) & (sum ^ (uint64_t)b[i])) >> 63))
STRICT(subtract_i, int64_t, int64_t, uint64_t sum = (uint64_t)a[i] - (uint64_t)b[i]; r[i] = (int64_t)sum;
       bad = (uint8_t)((((uint64_t)a[i] ^ (uint64_t)b[i]) & (sum ^ (uint64_t)a[i])) >> 63))
STRICT(multiply_i, int64_t, int64_t, bad = __builtin_mul_overflow(a[i], b[i], &r[i]))
STRICT(negate_i, int64_t, int64_t, r[i] = (int64_t)(0 - (uint64_t)a[i]); bad = a[i] == INT64_MIN)
STRICT(abs_i, int64_t, int64_t, r[i] = a[i] < 0 ? (int64_t)(0 - (uint64_t)a[i]) : a[i];
       bad = a[i] == INT64_MIN)

static inline bool undivided(int64_t a, int64_t b)
{
    return b == 0 || (b == -1 && a == INT64_MIN);
}

static inline bool is_small(int64_t a)
{
    return (uint64_t)a + (UINT64_C(1) << 52) <= UINT64_C(1) << 53;
}

/* Cut towards zero.  Up to 2^52 the quotient of doubles is cut to the right integer (it lies further from the
 * next one than it can be off), several times faster than integers are divided. */
static inline int64_t divide(int64_t a, int64_t b)
{
    return is_small(a) && is_small(b) ? (int64_t)((double)a / (double)b) : a / b;
}

static inline int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = divide(a, b), rest = a - quotient * b;
    return quotient - ((rest != 0) & ((rest < 0) != (b < 0)));
}

static inline int64_t modulo(int64_t a, int64_t b)
{
    int64_t rest = a - divide(a, b) * b;
    return rest + (((rest != 0) & ((rest < 0) != (b < 0))) ? b : 0);
}

STRICT(floor_divide_i, int64_t, int64_t, bad = undivided(a[i], b[i]);
       r[i] = bad ? 0 : floor_divide(a[i], b[i]))
STRICT(modulo_i, int64_t, int64_t, bad = b[i] == 0; r[i] = bad || b[i] == -1 ? 0 : modulo(a[i], b[i]))

NUMERIC(add_f, a[i] + b[i])
NUMERIC(subtract_f, a[i] - b[i])
NUMERIC(multiply_f, a[i] * b[i])
NUMERIC(divide_f, a[i] / b[i])

/* Integers that no double holds are not rounded before they are divided. */
static inline double divide_whole(int64_t a, int64_t b)
{
    const int64_t exact = INT64_C(1) << 53;
    if (a >= -exact && a <= exact && b >= -exact && b <= exact)
        return (double)a / (double)b;
    return (double)((long double)a / (long double)b);
}

STRICT(divide_i, int64_t, double, r[i] = divide_whole(a[i], b[i]); bad = b[i] == 0)
NUMERIC(power_f, pow(a[i], b[i]))

/* The remainder has the sign of the divisor, as Python's does. */
static double modulo_number(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0.0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

/* Through the remainder, so that a == (a // b) * b + a % b as closely as doubles allow. */
static double floor_divide_number(double a, double b)
{
    double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign(0.0, a / b);
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

STRICT(floor_divide_f, double, double, r[i] = floor_divide_number(a[i], b[i]);
       bad = b[i] == 0 || !(fabs(r[i]) <= DBL_MAX))
STRICT(modulo_f, double, double, r[i] = modulo_number(a[i], b[i]);
       bad = b[i] == 0 || !(fabs(r[i]) <= DBL_MAX))
UNARY(negate_f, double, double, -a[i])
UNARY(abs_f, double, double, fabs(a[i]))

/* ---- functions */

NUMERIC(sqrt_f, sqrt(a[i]))
NUMERIC(exp_f, exp(a[i]))
NUMERIC(log_f, log(a[i]))
NUMERIC(log2_f, log2(a[i]))
NUMERIC(log10_f, log10(a[i]))

/* Not in range, not-a-number among them: no integer. */
#define WHOLE(name, value)                                                                                   \
    STRICT(name, double, int64_t, double whole = (value); bad = !(whole >= -0x1p63 && whole < 0x1p63);       \
           r[i] = bad ? 0 : (int64_t)whole)
WHOLE(floor_f, floor(a[i]))
WHOLE(ceil_f, ceil(a[i]))
WHOLE(round_f, rint(a[i]))
WHOLE(truncate_f, trunc(a[i]))

/* rint(-0.3) is -0.0; adding 0.0 makes it 0.0 */
STRICT(round_to_f, double, double, r[i] = (rint(a[i] * node->scale) + 0.0) / node->scale;
       bad = node->scale == 0 || !(node->scale <= DBL_MAX) || !(fabs(r[i]) <= DBL_MAX))

UNARY(large_to_float, int64_t, double, a[i])
KERNEL(int_to_float)
{
    const int64_t *a = in[0].values;
    double *restrict r = values;
    if (!sta_whole_are_small(a, rows, 0))
        return large_to_float(node, in, values, missing, rows);
    for (uint32_t i = 0; i < rows; i++)
        r[i] = sta_whole_number(a[i]);
    return false;
}
UNARY(bool_to_int, uint8_t, int64_t, a[i])
UNARY(bool_to_float, uint8_t, double, a[i])

BINARY(least_i, int64_t, int64_t, int64_t, b[i] < a[i] ? b[i] : a[i])
BINARY(greatest_i, int64_t, int64_t, int64_t, b[i] > a[i] ? b[i] : a[i])
BINARY(least_f, double, double, double, b[i] < a[i] ? b[i] : a[i])
BINARY(greatest_f, double, double, double, b[i] > a[i] ? b[i] : a[i])

static inline bool bin_whole(int64_t x, const struct sta_binning *binning, int64_t *bin)
{
    int64_t from;
    if (!__builtin_sub_overflow(x, binning->origin, &from)) {
        *bin = floor_divide(from, binning->width);
        return true;
    }
    __int128 wide = (__int128)x - binning->origin;
    __int128 quotient = wide / binning->width - (wide % binning->width < 0);
    *bin = (int64_t)quotient;
    return quotient >= INT64_MIN && quotient <= INT64_MAX;
}

STRICT(bin_large, int64_t, int64_t, bad = !bin_whole(a[i], node->binning, &r[i]))

/* A quotient of small numbers that is not whole lies further from the next integer than it can be off. */
KERNEL(bin_i)
{
    const int64_t *a = in[0].values, origin = node->binning->origin, width = node->binning->width;
    int64_t *restrict r = values;
    if (width > STA_WHOLE_SMALL || !sta_whole_are_small(a, rows, origin))
        return bin_large(node, in, values, missing, rows);
    for (uint32_t i = 0; i < rows; i++)
        r[i] = sta_whole_floor(sta_whole_number(a[i] - origin) / (double)width);
    return false;
}

/* Of integers, by a width that is none: the difference is exact before it is divided. */
static inline double difference(int64_t a, int64_t b)
{
    int64_t exact;
    return __builtin_sub_overflow(a, b, &exact) ? (double)((__int128)a - b) : (double)exact;
}

STRICT(bin_if, int64_t, int64_t,
       double whole = floor(difference(a[i], node->binning->origin) / node->binning->number_width);
       bad = !(whole >= -0x1p63 && whole < 0x1p63); r[i] = bad ? 0 : (int64_t)whole)
WHOLE(bin_f, floor((a[i] - node->binning->number_origin) / node->binning->number_width))

/* How many of the ascending numbers are less than x: a search without branches. */
#define COUNT_BELOW(name, type, member)                                                                      \
    static inline uint32_t name(const struct sta_numbers *list, type x)                                      \
    {                                                                                                        \
        const type *base = list->member;                                                                     \
        uint32_t left = list->count;                                                                         \
        while (left > 1) {                                                                                   \
            uint32_t half = left / 2;                                                                        \
            base += base[half - 1] < x ? half : 0;                                                           \
            left -= half;                                                                                    \
        }                                                                                                    \
        return (uint32_t)(base - list->member) + (left == 1 && *base < x);                                   \
    }
COUNT_BELOW(integers_below, int64_t, integers)
COUNT_BELOW(numbers_below, double, numbers)

UNARY(cut_i, int64_t, int64_t, node->numbers->below + integers_below(node->numbers, a[i]))
UNARY(cut_f, double, int64_t, node->numbers->below + numbers_below(node->numbers, a[i]))

/* Short lists by comparing with each, which vectorises; long ones by search. */
#define IN_LIST(name, type, member, below)                                                                   \
    static bool name(const struct sta_node *node, const struct sta_operand *in, void *restrict values,       \
                     uint8_t *restrict missing, uint32_t rows)                                               \
    {                                                                                                        \
        const struct sta_numbers *list = node->numbers;                                                      \
        const type *a = in[0].values;                                                                        \
        uint8_t *restrict r = values;                                                                        \
        for (uint32_t i = 0; i < rows; i++)                                                                  \
            r[i] = 0;                                                                                        \
        for (uint32_t k = 0; list->count <= 8 && k < list->count; k++)                                       \
            for (uint32_t i = 0; i < rows; i++)                                                              \
                r[i] |= a[i] == list->member[k];                                                             \
        for (uint32_t i = 0; list->count > 8 && i < rows; i++) {                                             \
            uint32_t at = below(list, a[i]);                                                                 \
            r[i] = at < list->count && list->member[at] == a[i];                                             \
        }                                                                                                    \
        return false;                                                                                        \
    }
IN_LIST(in_i, int64_t, integers, integers_below)
IN_LIST(in_f, double, numbers, numbers_below)

/* ---- conditions and missing values */

static void join(uint8_t *restrict missing, const uint8_t *restrict also, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        missing[i] |= also[i];
}

static void deny(uint8_t *restrict values, const uint8_t *restrict missing, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        values[i] &= missing[i] ^ 1;
}

/* A missing condition does not hold. */
KERNEL(truth)
{
    const uint8_t *a = in[0].values;
    uint8_t *restrict r = values;
    for (uint32_t i = 0; i < rows; i++)
        r[i] = a[i] != 0;
    if (in[0].missing != NULL)
        deny(r, in[0].missing, rows);
    return false;
}

UNARY(negation, uint8_t, uint8_t, a[i] ^ 1)
BINARY(both, uint8_t, uint8_t, uint8_t, a[i] & b[i])
BINARY(either, uint8_t, uint8_t, uint8_t, a[i] | b[i])

KERNEL(isna)
{
    uint8_t *restrict r = values;
    for (uint32_t i = 0; i < rows; i++)
        r[i] = in[0].missing != NULL && in[0].missing[i];
    return false;
}

KERNEL(notna)
{
    uint8_t *restrict r = values;
    for (uint32_t i = 0; i < rows; i++)
        r[i] = in[0].missing == NULL || !in[0].missing[i];
    return false;
}

UNARY(isna_t, uint32_t, uint8_t, a[i] == STA_NO_CODE)
UNARY(notna_t, uint32_t, uint8_t, a[i] != STA_NO_CODE)

/* For operands of which none is missing. */
static const uint8_t all_there[STA_MINIBATCH_ROWS];

static const uint8_t *marks_of(const struct sta_operand *operand)
{
    return operand->missing != NULL ? operand->missing : all_there;
}

static bool choose_marks(const uint8_t *first, const struct sta_operand *a, const struct sta_operand *b,
                         uint8_t *restrict missing, uint32_t rows)
{
    const uint8_t *no_a = marks_of(a), *no_b = marks_of(b);
    uint8_t any = 0;
    if (a->missing == NULL && b->missing == NULL)
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        missing[i] = first[i] ? no_a[i] : no_b[i];
        any |= missing[i];
    }
    return any != 0;
}

/* Operands: condition, value where it holds, value where it doesn't. */
#define WHERE(name, type)                                                                                    \
    KERNEL(name)                                                                                             \
    {                                                                                                        \
        const uint8_t *holds = in[0].values;                                                                 \
        const type *a = in[1].values, *b = in[2].values;                                                     \
        type *restrict r = values;                                                                           \
        for (uint32_t i = 0; i < rows; i++)                                                                  \
            r[i] = holds[i] ? a[i] : b[i];                                                                   \
        return choose_marks(holds, &in[1], &in[2], missing, rows);                                           \
    }
WHERE(where_i, int64_t)
WHERE(where_f, double)
WHERE(where_b, uint8_t)
WHERE(where_t, uint32_t)

#define COALESCE(name, type)                                                                                 \
    KERNEL(name)                                                                                             \
    {                                                                                                        \
        const type *a = in[0].values, *b = in[1].values;                                                     \
        const uint8_t *second = marks_of(&in[0]), *no_b = marks_of(&in[1]);                                  \
        type *restrict r = values;                                                                           \
        uint8_t any = 0;                                                                                     \
        for (uint32_t i = 0; i < rows; i++)                                                                  \
            r[i] = second[i] ? b[i] : a[i];                                                                  \
        for (uint32_t i = 0; i < rows; i++) {                                                                \
            missing[i] = second[i] & no_b[i];                                                                \
            any |= missing[i];                                                                               \
        }                                                                                                    \
        return any != 0;                                                                                     \
    }
COALESCE(coalesce_i, int64_t)
COALESCE(coalesce_f, double)
COALESCE(coalesce_b, uint8_t)
BINARY(coalesce_t, uint32_t, uint32_t, uint32_t, a[i] == STA_NO_CODE ? b[i] : a[i])

#define COMPARE_ENTRIES(upper, lower)                                                                        \
    [STA_OP_EQUAL_##upper] = equal_##lower, [STA_OP_DIFFER_##upper] = differ_##lower,                        \
    [STA_OP_LESS_##upper] = less_##lower, [STA_OP_LESS_EQUAL_##upper] = less_equal_##lower,                  \
    [STA_OP_GREATER_##upper] = greater_##lower, [STA_OP_GREATER_EQUAL_##upper] = greater_equal_##lower

const struct sta_expression_kernels KERNELS = {
    .run = {COMPARE_ENTRIES(II, ii),
            COMPARE_ENTRIES(FF, ff),
            COMPARE_ENTRIES(IF, if),
            [STA_OP_ADD_I] = add_i,
            [STA_OP_SUBTRACT_I] = subtract_i,
            [STA_OP_MULTIPLY_I] = multiply_i,
            [STA_OP_FLOOR_DIVIDE_I] = floor_divide_i,
            [STA_OP_MODULO_I] = modulo_i,
            [STA_OP_ADD_F] = add_f,
            [STA_OP_SUBTRACT_F] = subtract_f,
            [STA_OP_MULTIPLY_F] = multiply_f,
            [STA_OP_FLOOR_DIVIDE_F] = floor_divide_f,
            [STA_OP_MODULO_F] = modulo_f,
            [STA_OP_DIVIDE_F] = divide_f,
            [STA_OP_DIVIDE_I] = divide_i,
            [STA_OP_POWER_F] = power_f,
            [STA_OP_NEGATE_I] = negate_i,
            [STA_OP_NEGATE_F] = negate_f,
            [STA_OP_ABS_I] = abs_i,
            [STA_OP_ABS_F] = abs_f,
            [STA_OP_SQRT_F] = sqrt_f,
            [STA_OP_EXP_F] = exp_f,
            [STA_OP_LOG_F] = log_f,
            [STA_OP_LOG2_F] = log2_f,
            [STA_OP_LOG10_F] = log10_f,
            [STA_OP_FLOOR_F] = floor_f,
            [STA_OP_CEIL_F] = ceil_f,
            [STA_OP_ROUND_F] = round_f,
            [STA_OP_TRUNCATE_F] = truncate_f,
            [STA_OP_ROUND_TO_F] = round_to_f,
            [STA_OP_INT_TO_FLOAT] = int_to_float,
            [STA_OP_BOOL_TO_INT] = bool_to_int,
            [STA_OP_BOOL_TO_FLOAT] = bool_to_float,
            [STA_OP_LEAST_I] = least_i,
            [STA_OP_GREATEST_I] = greatest_i,
            [STA_OP_LEAST_F] = least_f,
            [STA_OP_GREATEST_F] = greatest_f,
            [STA_OP_BIN_I] = bin_i,
            [STA_OP_BIN_F] = bin_f,
            [STA_OP_BIN_IF] = bin_if,
            [STA_OP_CUT_I] = cut_i,
            [STA_OP_CUT_F] = cut_f,
            [STA_OP_IN_I] = in_i,
            [STA_OP_IN_F] = in_f,
            [STA_OP_AND] = both,
            [STA_OP_OR] = either,
            [STA_OP_NOT] = negation,
            [STA_OP_TRUTH] = truth,
            [STA_OP_ISNA] = isna,
            [STA_OP_NOTNA] = notna,
            [STA_OP_ISNA_T] = isna_t,
            [STA_OP_NOTNA_T] = notna_t,
            [STA_OP_WHERE_I] = where_i,
            [STA_OP_WHERE_F] = where_f,
            [STA_OP_WHERE_B] = where_b,
            [STA_OP_WHERE_T] = where_t,
            [STA_OP_COALESCE_I] = coalesce_i,
            [STA_OP_COALESCE_F] = coalesce_f,
            [STA_OP_COALESCE_B] = coalesce_b,
            [STA_OP_COALESCE_T] = coalesce_t},
    .join = join,
    .deny = deny,
};
