/* Folds that depend on the order of rows: first, last, argmax. */
#include "analyse/query/grouping/folds.h"

/* Where a row stands; lexicographic. */
struct standing {
    uint64_t source; /* + 1; 0: no row yet */
    int64_t at;
    uint64_t place;
};

static inline bool is_before(const struct standing *a, const struct standing *b)
{
    if (a->source != b->source)
        return a->source < b->source;
    return a->at != b->at ? a->at < b->at : a->place < b->place;
}

static inline struct standing standing_of(const struct sta_fold_input *input, uint32_t i)
{
    uint32_t row = sta_strip_row(&input->strip, i);
    return (struct standing){(uint64_t)input->batch->source + 1, input->batch->at[row],
                             input->batch->place[row]};
}

/* ---- first, last */

struct held {
    struct standing standing;
    uint64_t value;
};

static inline void take_held(struct held *state, const struct held *row, bool first)
{
    bool better =
        first ? is_before(&row->standing, &state->standing) : is_before(&state->standing, &row->standing);
    if (better || state->standing.source == 0)
        *state = *row;
}

static inline void take_all(const struct sta_fold *fold, const struct sta_fold_input *input, bool first)
{
    for (uint32_t i = 0; i < input->strip.count; i++) {
        struct held row = {standing_of(input, i), input->values[i]};
        take_held(sta_fold_state(fold, input, i), &row, first);
    }
}

static void update_first(const struct sta_fold *fold, const struct sta_fold_input *input)
{
    take_all(fold, input, true);
}

static void update_last(const struct sta_fold *fold, const struct sta_fold_input *input)
{
    take_all(fold, input, false);
}

static void merge_first(const struct sta_fold *fold, void *state, const void *other,
                        struct sta_exact_terms *terms)
{
    if (((const struct held *)other)->standing.source != 0)
        take_held(state, other, true);
}

static void merge_last(const struct sta_fold *fold, void *state, const void *other,
                       struct sta_exact_terms *terms)
{
    if (((const struct held *)other)->standing.source != 0)
        take_held(state, other, false);
}

static bool result_held(const struct sta_fold *fold, const void *state, uint64_t *word)
{
    *word = ((const struct held *)state)->value;
    return ((const struct held *)state)->standing.source != 0;
}

const struct sta_fold_kind sta_fold_first = {
    .size = sizeof(struct held), .update = update_first, .merge = merge_first, .result = result_held};
const struct sta_fold_kind sta_fold_last = {
    .size = sizeof(struct held), .update = update_last, .merge = merge_last, .result = result_held};

/* ---- argmax: the value of the row where another is greatest, the first of equals */

struct best {
    struct held held;
    uint64_t by; /* a word that orders like what is compared; of texts the number */
    uint64_t has_value;
};

static inline bool is_better(const struct sta_fold *fold, const struct best *row, const struct best *state)
{
    if (state->held.standing.source == 0)
        return true;
    if (row->by == state->by)
        return is_before(&row->held.standing, &state->held.standing);
    if (fold->by == NULL)
        return row->by > state->by;
    int order = sta_texts_compare(fold->by, row->by, state->by);
    return order > 0 || (order == 0 && is_before(&row->held.standing, &state->held.standing));
}

static void update_argmax(const struct sta_fold *fold, const struct sta_fold_input *input)
{
    for (uint32_t i = 0; i < input->strip.count; i++) {
        struct best row = {{standing_of(input, i), input->others[i]},
                           sta_fold_word(fold->primitive.types[1], input->values[i]),
                           !input->other_missing[i]};
        struct best *state = sta_fold_state(fold, input, i);
        if (is_better(fold, &row, state))
            *state = row;
    }
}

static void merge_argmax(const struct sta_fold *fold, void *state, const void *other,
                         struct sta_exact_terms *terms)
{
    const struct best *best = other;
    if (best->held.standing.source != 0 && is_better(fold, best, state))
        *(struct best *)state = *best;
}

static bool result_argmax(const struct sta_fold *fold, const void *state, uint64_t *word)
{
    const struct best *best = state;
    *word = best->held.value;
    return best->held.standing.source != 0 && best->has_value;
}

const struct sta_fold_kind sta_fold_argmax = {
    .size = sizeof(struct best), .update = update_argmax, .merge = merge_argmax, .result = result_argmax};
