/* Aggregate functions that keep something of every row: exact sums of numbers, values for quantiles and
 * distinct counts, spans of time. */
#include <math.h>

#include "analyse/operators/aggregate/functions.h"
#include "common/memory.h"

/* ---- sums and moments of numbers */

/* The window of squares follows the digits of the sum; only variances have it. */
struct exact {
    uint64_t count;
    struct sta_exact sum;
};

#define SUM_BYTES (sizeof(struct exact) + STA_EXACT_SUM_WINDOW * sizeof(int64_t))
#define MOMENT_BYTES (SUM_BYTES + sizeof(struct sta_exact) + STA_EXACT_SQUARES_WINDOW * sizeof(int64_t))

static struct sta_exact *squares_of(struct exact *state)
{
    return (void *)((uint8_t *)state + SUM_BYTES);
}

static bool has_squares(const struct sta_agg_call *call)
{
    return call->primitive.aggregate == STA_AGGREGATE_STD || call->primitive.aggregate == STA_AGGREGATE_VAR;
}

static void log_terms(const struct sta_agg_input *input, uint32_t group, uint64_t mark)
{
    for (size_t t = 0; t < input->terms->count; t++) {
        uint64_t term = input->terms->terms[t] | mark;
        sta_list_log_add(input->log, group, &term);
    }
    input->terms->count = 0;
}

static void update_exact_sum(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    for (uint32_t i = 0; i < input->minibatch.count; i++) {
        struct exact *state = sta_agg_state(call, input, i);
        struct sta_exact_parts parts;
        sta_exact_split(sta_number_of(input->values[i]), &parts);
        sta_exact_add(&state->sum, STA_EXACT_SUM_WINDOW, STA_EXACT_VALUE_DIGITS, &parts, input->terms);
        state->count++;
        if (input->terms->count > 0)
            log_terms(input, input->groups[i], 0);
    }
}

static void update_exact_moments(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    update_exact_sum(call, input);
    for (uint32_t i = 0; i < input->minibatch.count; i++) {
        struct exact *state = sta_agg_state(call, input, i);
        struct sta_exact_parts parts;
        sta_exact_split_square(sta_number_of(input->values[i]), &parts);
        sta_exact_add(squares_of(state), STA_EXACT_SQUARES_WINDOW, STA_EXACT_SQUARE_DIGITS, &parts,
                      input->terms);
        if (input->terms->count > 0)
            log_terms(input, input->groups[i], STA_EXACT_OF_SQUARES);
    }
}

static void merge_exact(const struct sta_agg_call *call, void *state, const void *other,
                        struct sta_exact_terms *terms)
{
    struct exact *exact = state;
    const struct exact *more = other;
    exact->count += more->count;
    sta_exact_merge(&exact->sum, &more->sum, STA_EXACT_SUM_WINDOW, terms);
    if (!has_squares(call))
        return;
    size_t first = terms->count;
    sta_exact_merge(squares_of(exact), squares_of((struct exact *)more), STA_EXACT_SQUARES_WINDOW, terms);
    for (size_t t = first; t < terms->count; t++)
        terms->terms[t] |= STA_EXACT_OF_SQUARES;
}

static bool is_sound_exact(const struct sta_agg_call *call, const void *state)
{
    struct exact *exact = (void *)state;
    return sta_exact_is_sound(&exact->sum, STA_EXACT_SUM_WINDOW) &&
           (!has_squares(call) || sta_exact_is_sound(squares_of(exact), STA_EXACT_SQUARES_WINDOW));
}

void sta_agg_begin_totals(const struct sta_agg_call *call, const uint8_t *record,
                          struct sta_exact_total totals[2])
{
    const struct exact *exact = (const void *)(record + call->offset);
    sta_exact_total_init(&totals[0]);
    sta_exact_total_init(&totals[1]);
    sta_exact_total_add(&totals[0], &exact->sum, STA_EXACT_SUM_WINDOW);
    if (has_squares(call))
        sta_exact_total_add(&totals[1], squares_of((struct exact *)exact), STA_EXACT_SQUARES_WINDOW);
}

static double value_of_totals(const struct sta_agg_call *call, uint64_t count,
                              struct sta_exact_total totals[2])
{
    switch (call->primitive.aggregate) {
    case STA_AGGREGATE_SUM:
        return sta_exact_sum(&totals[0]);
    case STA_AGGREGATE_MEAN:
        return sta_exact_sum(&totals[0]) / (double)count;
    case STA_AGGREGATE_VAR:
        return sta_exact_variance(&totals[0], &totals[1], count);
    default:
        STA_ASSERT(call->primitive.aggregate == STA_AGGREGATE_STD);
        return sqrt(sta_exact_variance(&totals[0], &totals[1], count));
    }
}

void sta_agg_add_term(struct sta_exact_total totals[2], uint64_t term)
{
    sta_exact_total_add_term(&totals[(term & STA_EXACT_OF_SQUARES) != 0], term);
}

void sta_agg_end_totals(const struct sta_agg_call *call, uint8_t *record, struct sta_exact_total totals[2])
{
    uint64_t count = ((const struct exact *)(const void *)(record + call->offset))->count;
    uint64_t least = call->primitive.aggregate == STA_AGGREGATE_SUM ? 0 : has_squares(call) ? 2 : 1;
    double value = count >= least ? value_of_totals(call, count, totals) : 0;
    sta_agg_finalize(call, record, count >= least && isfinite(value), sta_bits_of(value));
}

static bool result_finalized(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    *word = ((const struct sta_finalized *)state)->word;
    return ((const struct sta_finalized *)state)->present;
}

const struct sta_agg_function sta_agg_exact_sum = {.size = SUM_BYTES,
                                                   .list = STA_LIST_TERMS,
                                                   .update = update_exact_sum,
                                                   .merge = merge_exact,
                                                   .result = result_finalized,
                                                   .is_sound = is_sound_exact};
const struct sta_agg_function sta_agg_exact_moments = {.size = MOMENT_BYTES,
                                                       .list = STA_LIST_TERMS,
                                                       .update = update_exact_moments,
                                                       .merge = merge_exact,
                                                       .result = result_finalized,
                                                       .is_sound = is_sound_exact};

/* ---- values: the state is empty until the lists are read */

static void merge_nothing(const struct sta_agg_call *call, void *state, const void *other,
                          struct sta_exact_terms *terms)
{
}

static void update_values(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    const enum sta_type type = call->primitive.types[0];
    uint64_t words[STA_MINIBATCH_ROWS];
    for (uint32_t i = 0; i < input->minibatch.count; i++)
        words[i] = sta_agg_word(type, input->values[i]);
    sta_list_log_add_words(input->log, input->groups, words, input->minibatch.count);
}

const struct sta_agg_function sta_agg_values = {.size = sizeof(struct sta_finalized),
                                                .by_number = true,
                                                .list = STA_LIST_VALUES,
                                                .update = update_values,
                                                .merge = merge_nothing,
                                                .result = result_finalized};
const struct sta_agg_function sta_agg_set = {.size = sizeof(struct sta_finalized),
                                             .by_number = true,
                                             .list = STA_LIST_SET,
                                             .update = update_values,
                                             .merge = merge_nothing,
                                             .result = result_finalized};

/* ---- spans: one is held open while those that follow touch it, since rows come nearly in order of time */

struct span {
    int64_t ts, te;
    uint64_t open;
};

static void log_span(struct sta_list_log *log, uint32_t group, const struct span *span)
{
    const uint64_t words[2] = {sta_order_integer(span->ts), sta_order_integer(span->te)};
    sta_list_log_add(log, group, words);
}

static void update_spans(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    for (uint32_t i = 0; i < input->minibatch.count; i++) {
        struct span *state = sta_agg_state(call, input, i);
        struct span row = {(int64_t)input->values[i], (int64_t)input->others[i], 1};
        if (input->other_missing[i] || row.te <= row.ts)
            continue;
        if (state->open && row.ts <= state->te && row.te >= state->ts) {
            state->ts = STA_MIN(state->ts, row.ts);
            state->te = STA_MAX(state->te, row.te);
            continue;
        }
        if (state->open)
            log_span(input->log, input->groups[i], state);
        *state = row;
    }
}

static void flush_span(const struct sta_agg_call *call, void *state, uint32_t group, struct sta_list_log *log)
{
    struct span *span = state;
    if (span->open)
        log_span(log, group, span);
    span->open = 0;
}

const struct sta_agg_function sta_agg_spans = {.size = sizeof(struct span),
                                               .list = STA_LIST_SPANS,
                                               .update = update_spans,
                                               .merge = merge_nothing,
                                               .result = result_finalized,
                                               .flush = flush_span};
