/* folds.h - how each primitive takes rows, merges and ends (private to grouping). */
#ifndef STA_ANALYSE_QUERY_GROUPING_FOLDS_H
#define STA_ANALYSE_QUERY_GROUPING_FOLDS_H

#include "analyse/query/grouping/lists.h"
#include "analyse/query/grouping/table.h"

/* The rows of a strip that count for a fold. */
struct sta_fold_input {
    struct sta_strip strip; /* where they are in the vectors */
    const struct sta_group_table *table;
    uint32_t low_group, high_group; /* numbers of all groups lie between; equal: there is one group */
    const uint32_t *groups;         /* of the table, by row .. */
    uint8_t *const *states;         /* .. and the states of their records; NULL: not looked up */
    const uint64_t *values; /* of the leading argument: int64, double, 0 or 1, or the number of a text */
    const uint64_t *others; /* of the other argument, where there is one .. */
    const uint8_t *other_missing; /* .. and where that is missing */
    const struct sta_grouping_rows *batch;
    struct sta_list_log *log;      /* the worker's, of the fold's list */
    struct sta_exact_terms *terms; /* scratch, empty between folds */
};

#define STA_FEW_GROUPS 256u

/* Few, and close together: groups have numbers in the order they are met in, so keys that move on with time
 * move through them. */
static inline bool sta_fold_has_few_groups(const struct sta_fold_input *input)
{
    return input->high_group - input->low_group < STA_FEW_GROUPS;
}

struct sta_fold_kind {
    size_t size;          /* of the state, a multiple of 8; all zero: nothing seen */
    bool by_number;       /* as long as groups are few it takes them by number, without states */
    bool missing_is_zero; /* a row without a value may as well have 0 */
    /** At least one row. */
    void (*update)(const struct sta_fold *fold, const struct sta_fold_input *input);
    /** @terms: takes what exact sums can't hold. */
    void (*merge)(const struct sta_fold *fold, void *state, const void *other, struct sta_exact_terms *terms);
    /** @word: int64, double, 0 or 1, the number of a text, or the code of a list.  Return: whether there is a
     * result. */
    bool (*result)(const struct sta_fold *fold, const void *state, uint64_t *word);
    /** Before lists are put in order: moves what belongs there from the state of a group to the log.  NULL:
     * nothing does. */
    void (*flush)(const struct sta_fold *fold, void *state, uint32_t group, struct sta_list_log *log);
};

/** By aggregate and type. */
const struct sta_fold_kind *sta_fold_kind_of(const struct sta_primitive *primitive);

extern const struct sta_fold_kind sta_fold_count, sta_fold_sum, sta_fold_mean, sta_fold_moments;
extern const struct sta_fold_kind sta_fold_least_integer, sta_fold_least_number, sta_fold_least_text;
extern const struct sta_fold_kind sta_fold_greatest_integer, sta_fold_greatest_number, sta_fold_greatest_text;
extern const struct sta_fold_kind sta_fold_first, sta_fold_last, sta_fold_argmax;
extern const struct sta_fold_kind sta_fold_exact_sum, sta_fold_exact_moments;
extern const struct sta_fold_kind sta_fold_values, sta_fold_spans;

/* ---- folds that end when lists are read: the result takes the place of the state */

struct sta_concluded {
    uint64_t word, present;
};

static inline void sta_fold_conclude(const struct sta_fold *fold, uint8_t *record, bool present,
                                     uint64_t word)
{
    *(struct sta_concluded *)(void *)(record + fold->offset) = (struct sta_concluded){word, present};
}

/** Exact sums: totals of the windows, to which terms may be added .. */
void sta_fold_begin_totals(const struct sta_fold *fold, const uint8_t *record,
                           struct sta_exact_total totals[2]);
void sta_fold_add_term(struct sta_exact_total totals[2], uint64_t term);
/** .. and what they come to. */
void sta_fold_end_totals(const struct sta_fold *fold, uint8_t *record, struct sta_exact_total totals[2]);

/* ---- words */

static inline uint64_t sta_bits_of(double number)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double sta_number_of(uint64_t bits)
{
    double number;
    __builtin_memcpy(&number, &bits, sizeof number);
    return number;
}

/** A word that orders like a value; of a text its number. */
static inline uint64_t sta_fold_word(enum sta_type type, uint64_t value)
{
    if (type == STA_TYPE_FLOAT)
        return sta_order_number(sta_number_of(value));
    return type == STA_TYPE_INT ? sta_order_integer((int64_t)value) : value;
}

/* The state of a group, and of a row's group. */
static inline void *sta_fold_state_of_group(const struct sta_fold *fold, const struct sta_fold_input *input,
                                            uint32_t group)
{
    return sta_group_states(input->table, group) + fold->offset;
}

static inline void *sta_fold_state(const struct sta_fold *fold, const struct sta_fold_input *input,
                                   uint32_t i)
{
    uint8_t *states =
        input->states != NULL ? input->states[i] : sta_group_states(input->table, input->groups[i]);
    return states + fold->offset;
}

/* Defines the update of a fold whose `take(struct state *, uint64_t value)` looks at one value.  Where all
 * rows are of one group its state stays in registers. */
#define STA_DEFINE_UPDATE(name, type, take)                                                                  \
    static void name(const struct sta_fold *fold, const struct sta_fold_input *input)                        \
    {                                                                                                        \
        const uint32_t count = input->strip.count;                                                           \
        const uint64_t *values = input->values;                                                              \
        uint8_t *const *states = input->states;                                                              \
        const size_t offset = fold->offset;                                                                  \
        if (input->low_group == input->high_group) {                                                         \
            type local = *(type *)(void *)(states[0] + offset);                                              \
            for (uint32_t i = 0; i < count; i++)                                                             \
                take(&local, values[i]);                                                                     \
            *(type *)(void *)(states[0] + offset) = local;                                                   \
            return;                                                                                          \
        }                                                                                                    \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            take((type *)(void *)(states[i] + offset), values[i]);                                           \
    }

#endif
