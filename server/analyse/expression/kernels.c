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
    static bool kernel_##name(const struct sta_node *node, const struct sta_operand *in,                     \
                              void *restrict values, uint8_t *restrict missing, uint32_t rows)

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
    BINARY(EQUAL_##suffix, type, type, uint8_t, a[i] == b[i])                                                \
    BINARY(DIFFER_##suffix, type, type, uint8_t, a[i] != b[i])                                               \
    BINARY(LESS_##suffix, type, type, uint8_t, a[i] < b[i])                                                  \
    BINARY(LESS_EQUAL_##suffix, type, type, uint8_t, a[i] <= b[i])                                           \
    BINARY(GREATER_##suffix, type, type, uint8_t, a[i] > b[i])                                               \
    BINARY(GREATER_EQUAL_##suffix, type, type, uint8_t, a[i] >= b[i])
COMPARE_ALIKE(II, int64_t)
COMPARE_ALIKE(FF, double)
BINARY(EQUAL_IF, int64_t, double, uint8_t, equal_mixed(a[i], b[i]))
BINARY(DIFFER_IF, int64_t, double, uint8_t, !equal_mixed(a[i], b[i]))
BINARY(LESS_IF, int64_t, double, uint8_t, less_mixed(a[i], b[i]))
BINARY(LESS_EQUAL_IF, int64_t, double, uint8_t, less_mixed(a[i], b[i]) || equal_mixed(a[i], b[i]))
BINARY(GREATER_IF, int64_t, double, uint8_t, !less_mixed(a[i], b[i]) && !equal_mixed(a[i], b[i]))
BINARY(GREATER_EQUAL_IF, int64_t, double, uint8_t, !less_mixed(a[i], b[i]))

/* ---- arithmetic */

/* Written out, since the builtins keep compilers from vector instructions: the sum has a sign that neither
 * operand has. */
STRICT(ADD_I, int64_t, int64_t, uint64_t sum = (uint64_t)a[i] + (uint64_t)b[i]; r[i] = (int64_t)sum;
       bad = (uint8_t)(((sum ^ (uint64_t)a[i]) & (sum ^ (uint64_t)b[i])) >> 63))
STRICT(SUBTRACT_I, int64_t, int64_t, uint64_t sum = (uint64_t)a[i] - (uint64_t)b[i]; r[i] = (int64_t)sum;
       bad = (uint8_t)((((uint64_t)a[i] ^ (uint64_t)b[i]) & (sum ^ (uint64_t)a[i])) >> 63))
STRICT(MULTIPLY_I, int64_t, int64_t, bad = __builtin_mul_overflow(a[i], b[i], &r[i]))
STRICT(NEGATE_I, int64_t, int64_t, r[i] = (int64_t)(0 - (uint64_t)a[i]); bad = a[i] == INT64_MIN)
STRICT(ABS_I, int64_t, int64_t, r[i] = a[i] < 0 ? (int64_t)(0 - (uint64_t)a[i]) : a[i];
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

STRICT(FLOOR_DIVIDE_I, int64_t, int64_t, bad = undivided(a[i], b[i]);
       r[i] = bad ? 0 : floor_divide(a[i], b[i]))
STRICT(MODULO_I, int64_t, int64_t, bad = b[i] == 0; r[i] = bad || b[i] == -1 ? 0 : modulo(a[i], b[i]))

NUMERIC(ADD_F, a[i] + b[i])
NUMERIC(SUBTRACT_F, a[i] - b[i])
NUMERIC(MULTIPLY_F, a[i] * b[i])
NUMERIC(DIVIDE_F, a[i] / b[i])

/* Integers that no double holds are not rounded before they are divided. */
static inline double divide_whole(int64_t a, int64_t b)
{
    const int64_t exact = INT64_C(1) << 53;
    if (a >= -exact && a <= exact && b >= -exact && b <= exact)
        return (double)a / (double)b;
    return (double)((long double)a / (long double)b);
}

STRICT(DIVIDE_I, int64_t, double, r[i] = divide_whole(a[i], b[i]); bad = b[i] == 0)
NUMERIC(POWER_F, pow(a[i], b[i]))

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

STRICT(FLOOR_DIVIDE_F, double, double, r[i] = floor_divide_number(a[i], b[i]);
       bad = b[i] == 0 || !(fabs(r[i]) <= DBL_MAX))
STRICT(MODULO_F, double, double, r[i] = modulo_number(a[i], b[i]);
       bad = b[i] == 0 || !(fabs(r[i]) <= DBL_MAX))
UNARY(NEGATE_F, double, double, -a[i])
UNARY(ABS_F, double, double, fabs(a[i]))

/* ---- functions */

NUMERIC(SQRT_F, sqrt(a[i]))
NUMERIC(EXP_F, exp(a[i]))
NUMERIC(LOG_F, log(a[i]))
NUMERIC(LOG2_F, log2(a[i]))
NUMERIC(LOG10_F, log10(a[i]))

/* Not in range, not-a-number among them: no integer. */
#define WHOLE(name, value)                                                                                   \
    STRICT(name, double, int64_t, double whole = (value); bad = !(whole >= -0x1p63 && whole < 0x1p63);       \
           r[i] = bad ? 0 : (int64_t)whole)
WHOLE(FLOOR_F, floor(a[i]))
WHOLE(CEIL_F, ceil(a[i]))
WHOLE(ROUND_F, rint(a[i]))
WHOLE(TRUNCATE_F, trunc(a[i]))

/* rint(-0.3) is -0.0; adding 0.0 makes it 0.0 */
STRICT(ROUND_TO_F, double, double, r[i] = (rint(a[i] * node->scale) + 0.0) / node->scale;
       bad = node->scale == 0 || !(node->scale <= DBL_MAX) || !(fabs(r[i]) <= DBL_MAX))

UNARY(large_to_float, int64_t, double, a[i])
KERNEL(INT_TO_FLOAT)
{
    const int64_t *a = in[0].values;
    double *restrict r = values;
    if (!sta_whole_are_small(a, rows, 0))
        return kernel_large_to_float(node, in, values, missing, rows);
    for (uint32_t i = 0; i < rows; i++)
        r[i] = sta_whole_number(a[i]);
    return false;
}
UNARY(BOOL_TO_INT, uint8_t, int64_t, a[i])
UNARY(BOOL_TO_FLOAT, uint8_t, double, a[i])

BINARY(LEAST_I, int64_t, int64_t, int64_t, b[i] < a[i] ? b[i] : a[i])
BINARY(GREATEST_I, int64_t, int64_t, int64_t, b[i] > a[i] ? b[i] : a[i])
BINARY(LEAST_F, double, double, double, b[i] < a[i] ? b[i] : a[i])
BINARY(GREATEST_F, double, double, double, b[i] > a[i] ? b[i] : a[i])

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
KERNEL(BIN_I)
{
    const int64_t *a = in[0].values, origin = node->binning->origin, width = node->binning->width;
    int64_t *restrict r = values;
    if (width > STA_WHOLE_SMALL || !sta_whole_are_small(a, rows, origin))
        return kernel_bin_large(node, in, values, missing, rows);
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

STRICT(BIN_IF, int64_t, int64_t,
       double whole = floor(difference(a[i], node->binning->origin) / node->binning->number_width);
       bad = !(whole >= -0x1p63 && whole < 0x1p63); r[i] = bad ? 0 : (int64_t)whole)
WHOLE(BIN_F, floor((a[i] - node->binning->number_origin) / node->binning->number_width))

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

UNARY(CUT_I, int64_t, int64_t, node->numbers->below + integers_below(node->numbers, a[i]))
UNARY(CUT_F, double, int64_t, node->numbers->below + numbers_below(node->numbers, a[i]))

/* Short lists by comparing with each, which vectorises; long ones by search. */
#define IN_LIST(name, type, member, below)                                                                   \
    KERNEL(name)                                                                                             \
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
IN_LIST(IN_I, int64_t, integers, integers_below)
IN_LIST(IN_F, double, numbers, numbers_below)

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
KERNEL(TRUTH)
{
    const uint8_t *a = in[0].values;
    uint8_t *restrict r = values;
    for (uint32_t i = 0; i < rows; i++)
        r[i] = a[i] != 0;
    if (in[0].missing != NULL)
        deny(r, in[0].missing, rows);
    return false;
}

UNARY(NOT, uint8_t, uint8_t, a[i] ^ 1)
BINARY(AND, uint8_t, uint8_t, uint8_t, a[i] & b[i])
BINARY(OR, uint8_t, uint8_t, uint8_t, a[i] | b[i])

KERNEL(ISNA)
{
    uint8_t *restrict r = values;
    for (uint32_t i = 0; i < rows; i++)
        r[i] = in[0].missing != NULL && in[0].missing[i];
    return false;
}

KERNEL(NOTNA)
{
    uint8_t *restrict r = values;
    for (uint32_t i = 0; i < rows; i++)
        r[i] = in[0].missing == NULL || !in[0].missing[i];
    return false;
}

UNARY(ISNA_T, uint32_t, uint8_t, a[i] == STA_NO_CODE)
UNARY(NOTNA_T, uint32_t, uint8_t, a[i] != STA_NO_CODE)

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
WHERE(WHERE_I, int64_t)
WHERE(WHERE_F, double)
WHERE(WHERE_B, uint8_t)
WHERE(WHERE_T, uint32_t)

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
COALESCE(COALESCE_I, int64_t)
COALESCE(COALESCE_F, double)
COALESCE(COALESCE_B, uint8_t)
BINARY(COALESCE_T, uint32_t, uint32_t, uint32_t, a[i] == STA_NO_CODE ? b[i] : a[i])

const struct sta_expression_kernels KERNELS = {
    .run =
        {
#define X(name, null_policy) [STA_OP_##name] = kernel_##name,
            STA_KERNEL_LIST(X)
#undef X
        },
    .join = join,
    .deny = deny,
};
