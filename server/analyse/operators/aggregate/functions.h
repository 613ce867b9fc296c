/* functions.h - how each primitive takes rows, merges and ends (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_FUNCTIONS_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_FUNCTIONS_H

#include "analyse/operators/aggregate/lists.h"
#include "analyse/operators/aggregate/table.h"

/* The rows of a minibatch that count for a call. */
struct sta_agg_input {
    struct sta_minibatch minibatch; /* where they are in the vectors */
    const struct sta_group_table *table;
    uint32_t low_group, high_group; /* numbers of all groups lie between; equal: there is one group */
    const uint32_t *groups;         /* of the table, by row .. */
    uint8_t *const *states;         /* .. and the states of their records; NULL: not looked up */
    const uint64_t *values; /* of the leading argument: int64, double, 0 or 1, or the number of a text */
    const uint64_t *others; /* of the other argument, where there is one .. */
    const uint8_t *other_missing; /* .. and where that is missing */
    const struct sta_aggregation_input *batch;
    struct sta_list_log *log;      /* the worker's, of the call's list */
    struct sta_exact_terms *terms; /* scratch, empty between calls */
};

#define STA_FEW_GROUPS 256u

/* Few, and close together: groups have numbers in the order they are met in, so keys that move on with time
 * move through them. */
static inline bool sta_agg_has_few_groups(const struct sta_agg_input *input)
{
    return input->high_group - input->low_group < STA_FEW_GROUPS;
}

/* Looks at a number of a text in a state, and may replace it. */
struct sta_text_visitor {
    void *self;
    void (*visit)(void *self, struct sta_texts *texts, uint64_t *number);
};

struct sta_agg_function {
    size_t size;          /* of the state, a multiple of 8; all zero: nothing seen */
    bool by_number;       /* as long as groups are few it takes them by number, without states */
    bool missing_is_zero; /* a row without a value may as well have 0 */
    enum sta_list_kind list;
    /** At least one row. */
    void (*update)(const struct sta_agg_call *call, const struct sta_agg_input *input);
    /** @terms: takes what exact sums can't hold. */
    void (*merge)(const struct sta_agg_call *call, void *state, const void *other,
                  struct sta_exact_terms *terms);
    /** @word: int64, double, 0 or 1, the number of a text, or the code of a list.  Return: whether there is a
     * result. */
    bool (*result)(const struct sta_agg_call *call, const void *state, uint64_t *word);
    /** Before lists are put in order: moves what belongs there from the state of a group to the log.  NULL:
     * nothing does. */
    void (*flush)(const struct sta_agg_call *call, void *state, uint32_t group, struct sta_list_log *log);
    /** Shows the texts that a state holds.  NULL: none. */
    void (*texts)(const struct sta_agg_call *call, void *state, const struct sta_text_visitor *visitor);
    /** Whether a state that was read can be one.  NULL: any can. */
    bool (*is_sound)(const struct sta_agg_call *call, const void *state);
};

/** Whether @value may be one of that type, as states hold it. */
static inline bool sta_agg_is_value(enum sta_type type, uint64_t value)
{
    double number;
    __builtin_memcpy(&number, &value, sizeof number);
    return type == STA_TYPE_FLOAT ? number - number == 0 : type != STA_TYPE_BOOL || value <= 1;
}

extern const struct sta_agg_function sta_agg_count, sta_agg_sum, sta_agg_mean, sta_agg_moments;
extern const struct sta_agg_function sta_agg_extreme, sta_agg_extreme_text;
extern const struct sta_agg_function sta_agg_first_or_last, sta_agg_argmax;
extern const struct sta_agg_function sta_agg_exact_sum, sta_agg_exact_moments;
extern const struct sta_agg_function sta_agg_values, sta_agg_set, sta_agg_spans;

/* ---- calls that end when lists are read: the result takes the place of the state */

struct sta_finalized {
    uint64_t word, present;
};

static inline void sta_agg_finalize(const struct sta_agg_call *call, uint8_t *record, bool present,
                                    uint64_t word)
{
    *(struct sta_finalized *)(void *)(record + call->offset) = (struct sta_finalized){word, present};
}

/** Exact sums: totals of the windows, to which terms may be added .. */
void sta_agg_begin_totals(const struct sta_agg_call *call, const uint8_t *record,
                          struct sta_exact_total totals[2]);
void sta_agg_add_term(struct sta_exact_total totals[2], uint64_t term);
/** .. and what they come to. */
void sta_agg_end_totals(const struct sta_agg_call *call, uint8_t *record, struct sta_exact_total totals[2]);

/* ---- words */

/** A word that orders like a value; of a text its number. */
static inline uint64_t sta_agg_word(enum sta_type type, uint64_t value)
{
    if (type == STA_TYPE_FLOAT)
        return sta_order_number(sta_number_of(value));
    return type == STA_TYPE_INT ? sta_order_integer((int64_t)value) : value;
}

/* The state of a group, and of a row's group. */
static inline void *sta_agg_state_of_group(const struct sta_agg_call *call, const struct sta_agg_input *input,
                                           uint32_t group)
{
    return sta_group_states(input->table, group) + call->offset;
}

static inline void *sta_agg_state(const struct sta_agg_call *call, const struct sta_agg_input *input,
                                  uint32_t i)
{
    uint8_t *states =
        input->states != NULL ? input->states[i] : sta_group_states(input->table, input->groups[i]);
    return states + call->offset;
}

/* Defines the update of a call whose `take(struct state *, uint64_t value)` looks at one value.  Where all
 * rows are of one group its state stays in registers. */
#define STA_DEFINE_AGG_UPDATE(name, type, take)                                                              \
    static void name(const struct sta_agg_call *call, const struct sta_agg_input *input)                     \
    {                                                                                                        \
        const uint32_t count = input->minibatch.count;                                                       \
        const uint64_t *values = input->values;                                                              \
        uint8_t *const *states = input->states;                                                              \
        const size_t offset = call->offset;                                                                  \
        if (input->low_group == input->high_group) {                                                         \
            type *state = sta_agg_state_of_group(call, input, input->low_group), local = *state;             \
            for (uint32_t i = 0; i < count; i++)                                                             \
                take(&local, values[i]);                                                                     \
            *state = local;                                                                                  \
            return;                                                                                          \
        }                                                                                                    \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            take((type *)(void *)(states[i] + offset), values[i]);                                           \
    }

#endif
