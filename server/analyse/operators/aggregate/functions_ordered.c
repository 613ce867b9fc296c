/* Aggregate functions that depend on the order of rows: first, last, argmax. */
#include "analyse/operators/aggregate/functions.h"

/* Where a row stands; lexicographic. */
struct row_order {
    uint64_t source; /* + 1; 0: no row yet */
    int64_t at;
    uint64_t place;
};

static inline bool is_before(const struct row_order *a, const struct row_order *b)
{
    if (a->source != b->source)
        return a->source < b->source;
    return a->at != b->at ? a->at < b->at : a->place < b->place;
}

static inline struct row_order row_order_of(const struct sta_agg_input *input, uint32_t i)
{
    uint32_t row = sta_minibatch_row(&input->minibatch, i);
    return (struct row_order){(uint64_t)input->batch->source + 1, input->batch->at[row],
                              input->batch->place[row]};
}

/* ---- first, last */

struct held {
    struct row_order row_order;
    uint64_t value;
};

static inline bool is_first(const struct sta_agg_call *call)
{
    return call->primitive.aggregate == STA_AGGREGATE_FIRST;
}

static inline void take_held(struct held *state, const struct held *row, bool first)
{
    bool better =
        first ? is_before(&row->row_order, &state->row_order) : is_before(&state->row_order, &row->row_order);
    if (better || state->row_order.source == 0)
        *state = *row;
}

static inline void take_all(const struct sta_agg_call *call, const struct sta_agg_input *input, bool first)
{
    for (uint32_t i = 0; i < input->minibatch.count; i++) {
        struct held row = {row_order_of(input, i), input->values[i]};
        take_held(sta_agg_state(call, input, i), &row, first);
    }
}

static void update_held(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    if (is_first(call))
        take_all(call, input, true);
    else
        take_all(call, input, false);
}

static void merge_held(const struct sta_agg_call *call, void *state, const void *other,
                       struct sta_exact_terms *terms)
{
    if (((const struct held *)other)->row_order.source != 0)
        take_held(state, other, is_first(call));
}

static bool result_held(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    *word = ((const struct held *)state)->value;
    return ((const struct held *)state)->row_order.source != 0;
}

static void visit_held(const struct sta_agg_call *call, void *state, const struct sta_text_visitor *visitor)
{
    struct held *held = state;
    if (call->texts != NULL && held->row_order.source != 0)
        visitor->visit(visitor->self, call->texts, &held->value);
}

static bool is_sound_held(const struct sta_agg_call *call, const void *state)
{
    return sta_agg_is_value(call->primitive.types[0], ((const struct held *)state)->value);
}

const struct sta_agg_function sta_agg_first_or_last = {.size = sizeof(struct held),
                                                       .update = update_held,
                                                       .merge = merge_held,
                                                       .result = result_held,
                                                       .texts = visit_held,
                                                       .is_sound = is_sound_held};

/* ---- argmax: the value of the row where another is greatest, the first of equals */

struct best {
    struct held held;
    uint64_t by; /* a word that orders like what is compared; of texts the number */
    uint64_t has_value;
};

static inline bool is_better(const struct sta_agg_call *call, const struct best *row,
                             const struct best *state)
{
    if (state->held.row_order.source == 0)
        return true;
    if (row->by == state->by)
        return is_before(&row->held.row_order, &state->held.row_order);
    if (call->by == NULL)
        return row->by > state->by;
    int order = sta_texts_compare(call->by, row->by, state->by);
    return order > 0 || (order == 0 && is_before(&row->held.row_order, &state->held.row_order));
}

static void update_argmax(const struct sta_agg_call *call, const struct sta_agg_input *input)
{
    for (uint32_t i = 0; i < input->minibatch.count; i++) {
        struct best row = {{row_order_of(input, i), input->others[i]},
                           sta_agg_word(call->primitive.types[1], input->values[i]),
                           !input->other_missing[i]};
        struct best *state = sta_agg_state(call, input, i);
        if (is_better(call, &row, state))
            *state = row;
    }
}

static void merge_argmax(const struct sta_agg_call *call, void *state, const void *other,
                         struct sta_exact_terms *terms)
{
    const struct best *best = other;
    if (best->held.row_order.source != 0 && is_better(call, best, state))
        *(struct best *)state = *best;
}

static bool result_argmax(const struct sta_agg_call *call, const void *state, uint64_t *word)
{
    const struct best *best = state;
    *word = best->held.value;
    return best->held.row_order.source != 0 && best->has_value;
}

static void visit_best(const struct sta_agg_call *call, void *state, const struct sta_text_visitor *visitor)
{
    struct best *best = state;
    if (best->held.row_order.source == 0)
        return;
    if (call->texts != NULL && best->has_value)
        visitor->visit(visitor->self, call->texts, &best->held.value);
    if (call->by != NULL)
        visitor->visit(visitor->self, call->by, &best->by);
}

const struct sta_agg_function sta_agg_argmax = {.size = sizeof(struct best),
                                                .update = update_argmax,
                                                .merge = merge_argmax,
                                                .result = result_argmax,
                                                .texts = visit_best,
                                                .is_sound = is_sound_held};
