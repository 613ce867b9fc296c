/* Aggregate functions that add and compare: counts, sums and moments of integers, least and greatest. */
#include "analyse/operators/aggregate/functions.h"

#include <math.h>
#include <string.h>

#include "analyse/operators/key_kernels.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

/* ---- few groups: a minibatch is added up in small arrays first, which stay nearer than the records.
 * Neighbouring rows have arrays of their own: those of one group would wait for each other. */

#define LANES 4u

/* Adds TERM, in which `i` is the row, to the sum of each row's group; sums[0] has all in the end. */
#define ADD_BY_NUMBER(sums, input, TERM)                                                                     \
    do {                                                                                                     \
        const uint32_t *groups_ = (input)->groups;                                                           \
        const uint32_t low_ = (input)->low_group, span_ = (input)->high_group - low_ + 1;                    \
        const size_t count_ = (input)->minibatch.count, whole_ = count_ - count_ % LANES;                    \
        for (unsigned l_ = 0; l_ < LANES; l_++)                                                              \
            memset((sums)[l_], 0, span_ * sizeof *(sums)[l_]);                                               \
        for (size_t first_ = 0; first_ < whole_; first_ += LANES)                                            \
            for (size_t i = first_; i < first_ + LANES; i++)                                                 \
                (sums)[i - first_][groups_[i] - low_] += (TERM);                                             \
        for (size_t i = whole_; i < count_; i++)                                                             \
            (sums)[0][groups_[i] - low_] += (TERM);                                                          \
        for (unsigned l_ = 1; l_ < LANES; l_++)                                                              \
            for (uint32_t g_ = 0; g_ < span_; g_++)                                                          \
                (sums)[0][g_] += (sums)[l_][g_];                                                             \
    } while (0)

/* ---- counts */

struct count {
    uint64_t count;
};

static void count_by_number(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    uint32_t counts[LANES][STA_FEW_GROUPS];
    ADD_BY_NUMBER(counts, input, 1);
    for (uint32_t g = input->low_group; g <= input->high_group; g++)
        ((struct count *)sta_agg_state_of_group(call, input, g))->count += counts[0][g - input->low_group];
}

static void update_count(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    const uint32_t count = input->minibatch.count;
    if (input->low_group == input->high_group) {
        ((struct count *)sta_agg_state_of_group(call, input, input->low_group))->count += count;
        return;
    }
    if (sta_agg_has_few_groups(input)) {
        count_by_number(call, input);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        ((struct count *)sta_agg_state(call, input, i))->count++;
}

static void merge_count(const struct sta_agg_call *call, void *state, const void *other,
                        struct sta_exact_terms *terms)
{
    ((struct count *)state)->count += ((const struct count *)other)->count;
}

static bool result_count(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    *word = ((const struct count *)state)->count;
    return true;
}

const struct sta_agg_function sta_agg_count = {.size = sizeof(struct count),
                                               .by_number = true,
                                               .update = update_count,
                                               .merge = merge_count,
                                               .result = result_count};

/* ---- sums of integers: 128 bits, so no order of rows can run over */

struct sum {
    uint64_t low;
    int64_t high;
};

static inline __int128 sum_get(const struct sum *sum)
{
    return (__int128)((unsigned __int128)(uint64_t)sum->high << 64 | sum->low);
}

static inline void sum_add(struct sum *sum, __int128 value)
{
    __int128 total = sum_get(sum) + value;
    sum->low = (uint64_t)total;
    sum->high = (int64_t)(total >> 64);
}

#define MOST_SUM (UINT64_C(1) << 63) /* in magnitude, of a word */

/* Whether the values of a minibatch add up inside a word, whatever their order.  @sum: what they add up to,
 * as long as they do. */
static bool add_up_in_a_word(const struct sta_agg_input *input, uint64_t *sum)
{
    return sta_key_kernels_here()->sum(input->values, input->minibatch.count, MOST_SUM / STA_MINIBATCH_ROWS,
                                       sum);
}

static void sum_by_number(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    const uint64_t *values = input->values;
    int64_t sums[LANES][STA_FEW_GROUPS];
    ADD_BY_NUMBER(sums, input, (int64_t)values[i]);
    for (uint32_t g = input->low_group; g <= input->high_group; g++)
        sum_add(sta_agg_state_of_group(call, input, g), sums[0][g - input->low_group]);
}

/* Of all rows that are marked: of one group, and more than a minibatch. */
static void sum_marked(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    const struct sta_aggregation_input *batch = input->batch;
    const struct sta_vector *vector = &batch->arguments[call->leading];
    struct sum *state = sta_agg_state_of_group(call, input, 0);
    uint64_t sum;
    if (vector->type != STA_TYPE_INT || (vector->constant && sta_vector_is_missing(vector, 0)))
        return;
    if (vector->constant) {
        sum_add(state, (__int128)vector->integers[0] * input->minibatch.count);
        return;
    }
    if (sta_key_kernels_here()->sum_marked(vector->integers, vector->missing, batch->marks,
                                           batch->marked_rows, MOST_SUM / STA_VECTOR_ROWS, &sum)) {
        sum_add(state, (int64_t)sum);
        return;
    }
    for (uint32_t row = 0; row < batch->marked_rows; row++)
        if (batch->marks[row] && !sta_vector_is_missing(vector, row))
            sum_add(state, vector->integers[row]);
}

static void update_sum(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    uint64_t sum;
    if (input->batch->marks != NULL) {
        sum_marked(call, input);
        return;
    }
    const bool small = sta_agg_has_few_groups(input) && add_up_in_a_word(input, &sum);
    if (small && input->low_group == input->high_group)
        sum_add(sta_agg_state_of_group(call, input, input->low_group), (int64_t)sum);
    else if (small)
        sum_by_number(call, input);
    else
        for (uint32_t i = 0; i < input->minibatch.count; i++)
            sum_add(sta_agg_state(call, input, i), (int64_t)input->values[i]);
}

static void merge_sum(const struct sta_agg_call *call, void *state, const void *other,
                      struct sta_exact_terms *terms)
{
    sum_add(state, sum_get(other));
}

static bool result_sum(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    const struct sum *sum = state;
    *word = sum->low;
    return sum->high == (int64_t)sum->low >> 63;
}

const struct sta_agg_function sta_agg_sum = {.size = sizeof(struct sum),
                                             .by_number = true,
                                             .missing_is_zero = true,
                                             .update = update_sum,
                                             .merge = merge_sum,
                                             .result = result_sum};

/* ---- means of integers */

struct mean {
    struct sum sum;
    uint64_t count;
};

static inline void take_mean(struct mean *state, uint64_t value)
{
    sum_add(&state->sum, (int64_t)value);
    state->count++;
}

STA_DEFINE_AGG_UPDATE(update_mean, struct mean, take_mean)

static void merge_mean(const struct sta_agg_call *call, void *state, const void *other,
                       struct sta_exact_terms *terms)
{
    struct mean *mean = state;
    sum_add(&mean->sum, sum_get(&((const struct mean *)other)->sum));
    mean->count += ((const struct mean *)other)->count;
}

static bool result_mean(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    const struct mean *mean = state;
    *word = sta_bits_of((double)sum_get(&mean->sum) / (double)mean->count);
    return mean->count > 0;
}

const struct sta_agg_function sta_agg_mean = {
    .size = sizeof(struct mean), .update = update_mean, .merge = merge_mean, .result = result_mean};

/* ---- variances of integers: squares take 126 bits, their sum up to 192 */

struct moments {
    struct mean mean;
    uint64_t squares[3];
};

static inline void add_squares(uint64_t squares[3], unsigned __int128 low, uint64_t high)
{
    unsigned __int128 before = (unsigned __int128)squares[1] << 64 | squares[0];
    unsigned __int128 after = before + low;
    squares[0] = (uint64_t)after;
    squares[1] = (uint64_t)(after >> 64);
    squares[2] += high + (after < before);
}

static inline void take_moments(struct moments *state, uint64_t value)
{
    __int128 wide = (int64_t)value;
    take_mean(&state->mean, value);
    add_squares(state->squares, (unsigned __int128)(wide * wide), 0);
}

STA_DEFINE_AGG_UPDATE(update_moments, struct moments, take_moments)

static void merge_moments(const struct sta_agg_call *call, void *state, const void *other,
                          struct sta_exact_terms *terms)
{
    struct moments *moments = state;
    const uint64_t *more = ((const struct moments *)other)->squares;
    merge_mean(call, &moments->mean, &((const struct moments *)other)->mean, terms);
    add_squares(moments->squares, (unsigned __int128)more[1] << 64 | more[0], more[2]);
}

static double variance(const struct moments *moments)
{
    struct sta_exact_total sum;
    struct sta_exact_total squares;
    const uint64_t words[2] = {moments->mean.sum.low, (uint64_t)moments->mean.sum.high};
    sta_exact_total_init(&sum);
    sta_exact_total_init(&squares);
    sta_exact_total_add_integer(&sum, words, 2);
    sta_exact_total_add_integer(&squares, moments->squares, 3);
    return sta_exact_variance(&sum, &squares, moments->mean.count);
}

static bool result_moments(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    const struct moments *moments = state;
    if (moments->mean.count < 2)
        return false;
    double value = variance(moments);
    *word = sta_bits_of(call->primitive.aggregate == STA_AGGREGATE_STD ? sqrt(value) : value);
    return isfinite(value);
}

const struct sta_agg_function sta_agg_moments = {.size = sizeof(struct moments),
                                                 .update = update_moments,
                                                 .merge = merge_moments,
                                                 .result = result_moments};

/* ---- least and greatest: of words that order like the values */

struct extreme {
    uint64_t word, seen;
};

static inline bool is_least(const struct sta_agg_call *call)
{
    return call->primitive.aggregate == STA_AGGREGATE_MIN;
}

/* The greatest word is the one whose inverse is least.  @flip: what inverts it, or 0. */
static inline void take_word(struct extreme *state, uint64_t word, uint64_t flip)
{
    state->word = state->seen && (state->word ^ flip) <= (word ^ flip) ? state->word : word;
    state->seen = 1;
}

/* Type and flip are constants where this is inlined.  A group that all rows are of stays in registers. */
static inline void take_words(const struct sta_agg_call *call, const struct sta_agg_input *input,
                              enum sta_type type, uint64_t flip)
{
    const uint32_t count = input->minibatch.count;
    const uint64_t *values = input->values;
    const size_t offset = call->offset;
    uint8_t *const *states = input->states;
    if (input->low_group == input->high_group) {
        struct extreme *state = sta_agg_state_of_group(call, input, input->low_group);
        uint64_t least = state->seen ? state->word ^ flip : UINT64_MAX;
        for (uint32_t i = 0; i < count; i++)
            least = STA_MIN(least, sta_agg_word(type, values[i]) ^ flip);
        *state = (struct extreme){least ^ flip, 1};
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        take_word((struct extreme *)(void *)(states[i] + offset), sta_agg_word(type, values[i]), flip);
}

static inline bool is_number(const struct sta_agg_call *call)
{
    return call->primitive.types[0] == STA_TYPE_FLOAT;
}

static void update_words(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    if (is_number(call) && is_least(call))
        take_words(call, input, STA_TYPE_FLOAT, 0);
    else if (is_number(call))
        take_words(call, input, STA_TYPE_FLOAT, UINT64_MAX);
    else if (is_least(call))
        take_words(call, input, STA_TYPE_INT, 0);
    else
        take_words(call, input, STA_TYPE_INT, UINT64_MAX);
}

static void merge_words(const struct sta_agg_call *call, void *state, const void *other,
                        struct sta_exact_terms *terms)
{
    const struct extreme *extreme = other;
    if (extreme->seen)
        take_word(state, extreme->word, is_least(call) ? 0 : UINT64_MAX);
}

static bool result_words(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    const struct extreme *extreme = state;
    *word = is_number(call) ? sta_bits_of(sta_unorder_number(extreme->word))
                            : (uint64_t)sta_unorder_integer(extreme->word);
    return extreme->seen;
}

static bool is_sound_word(const struct sta_agg_call *call, const void *state)
{
    uint64_t value;
    return !is_number(call) || !result_words(call, state, &value) || sta_agg_is_value(STA_TYPE_FLOAT, value);
}

const struct sta_agg_function sta_agg_extreme = {.size = sizeof(struct extreme),
                                                 .update = update_words,
                                                 .merge = merge_words,
                                                 .is_sound = is_sound_word,
                                                 .result = result_words};

/* ---- the same of texts, by bytes */

static inline void take_text(const struct sta_agg_call *call, struct extreme *state, uint64_t number)
{
    if (state->seen && state->word == number)
        return;
    int order = state->seen ? sta_texts_compare(call->texts, number, state->word) : 0;
    if (!state->seen || (is_least(call) ? order < 0 : order > 0))
        *state = (struct extreme){number, 1};
}

static void update_text(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    for (uint32_t i = 0; i < input->minibatch.count; i++)
        take_text(call, sta_agg_state(call, input, i), input->values[i]);
}

static void merge_text(const struct sta_agg_call *call, void *state, const void *other,
                       struct sta_exact_terms *terms)
{
    if (((const struct extreme *)other)->seen)
        take_text(call, state, ((const struct extreme *)other)->word);
}

static void visit_text(const struct sta_agg_call *call, void *state, const struct sta_text_visitor *visitor)
{
    struct extreme *extreme = state;
    if (extreme->seen)
        visitor->visit(visitor->self, call->texts, &extreme->word);
}

static bool result_text(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    *word = ((const struct extreme *)state)->word;
    return ((const struct extreme *)state)->seen;
}

const struct sta_agg_function sta_agg_extreme_text = {.size = sizeof(struct extreme),
                                                      .update = update_text,
                                                      .merge = merge_text,
                                                      .texts = visit_text,
                                                      .result = result_text};
