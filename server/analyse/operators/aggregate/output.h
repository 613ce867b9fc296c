/* output.h - finished groups as vectors (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_OUTPUT_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_OUTPUT_H

#include "analyse/operators/aggregate/merge.h"
#include "common/buffer.h"

/* What turns words and records into values; immutable but for dictionaries, which any thread may add to. */
struct sta_group_results {
    const struct sta_shape *shape;
    const struct sta_group_order *order;
    uint32_t **key_codes;         /* by key, by rank: the code in the dictionary of the results */
    struct sta_dictionary *lists; /* the JSON of `unique` */
};
/** All texts must be closed.  Both borrowed, beyond fini, which follows also after a failure. */
STA_MUSTCHECK int sta_group_results_init(struct sta_group_results *results, const struct sta_shape *shape,
                                         const struct sta_group_order *order, struct sta_error *err);
void sta_group_results_fini(struct sta_group_results *results);

/* A column of the result. */
struct sta_result_column {
    enum sta_type type;
    const struct sta_dictionary *texts;
    void *values; /* side by side, as a vector has them */
    uint8_t *missing;
    bool any_missing;
};
/** Its rows from @first on. */
struct sta_vector sta_result_vector(const struct sta_result_column *column, uint32_t first);

struct sta_group_batch {
    size_t column_count; /* keys, then values */
    struct sta_result_column *columns;
    uint32_t rows, capacity;
    uint64_t too_large; /* sums among the values that do not fit 64 bits, and are missing */
};

/** Takes up to @capacity groups of a merge.  Return: 0, or why the merge failed, or STA_ENOMEM.  Fini also
 * after a failure. */
STA_MUSTCHECK int sta_group_batch_init(struct sta_group_batch *batch, const struct sta_group_results *results,
                                       struct sta_group_merge *merge, uint32_t capacity,
                                       struct sta_error *err);
void sta_group_batch_fini(struct sta_group_batch *batch);

#define STA_UNIQUE_MOST 10000 /* values of one `unique` (query.md part 6) */
/** Reads the lists of the merge's present group and leaves in @record what they come to (finalize.c). @lists:
 * takes the JSON of `unique`; @text: scratch.  STA_ELIMIT: `unique` found too many values. */
STA_MUSTCHECK int sta_finalize_lists(struct sta_group_merge *merge, struct sta_dictionary *lists,
                                     struct sta_buffer *text, uint8_t *record, struct sta_error *err);

#endif
