/* aggregate.h - rows to groups: keys, aggregates, one parallel pass, memory bounded (private to analyse).
 *
 * Each worker keeps a table of its own from packed keys to states.  A table that outgrows its share of the
 * memory is brought in order and written out as a run; at the end all runs, in memory and on disk, are merged
 * by key, which unites equal groups.  What a median or a distinct count needs of every row are lists of
 * values that travel with their group and are merged in order likewise.  No result depends on which worker
 * saw which rows. */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_H

#include "analyse/analyse.h"
#include "analyse/expression/aggregates.h"

struct sta_aggregation_spec {
    const enum sta_type *keys;
    size_t key_count;
    bool keep_missing; /* groups of which a key is missing exist */
    const struct sta_primitive *primitives;
    size_t primitive_count;
};

/* Rows of a block. */
struct sta_aggregation_input {
    uint32_t count;           /* of rows to take */
    const uint32_t *selected; /* their numbers in the vectors; NULL: 0 .. count - 1 */
    const struct sta_vector *keys, *arguments;
    /* The order of rows, ascending: source, then at, then place.  For first, last, argmax and lists; NULL
     * when no primitive needs it. */
    uint32_t source;
    const int64_t *at;
    const uint64_t *place;
};
/** Whether a primitive depends on the order of rows. */
bool sta_primitive_needs_order(const struct sta_primitive *primitive);

struct sta_aggregation;

/** @shape: copied.  @budget: its memory is what tables may take together before they spill; borrowed. */
STA_MUSTCHECK int sta_aggregation_create(const struct sta_aggregation_spec *shape,
                                         const struct sta_budget *budget, const char *spill_folder,
                                         struct sta_aggregation **grouping, struct sta_error *err);
/** NULL allowed.  Dictionaries of vectors that it was given must live until then. */
void sta_aggregation_destroy(struct sta_aggregation *grouping);
/** Context: worker @worker, one call at a time each. */
STA_MUSTCHECK int sta_aggregation_consume(struct sta_aggregation *grouping, unsigned worker,
                                          const struct sta_aggregation_input *rows, struct sta_error *err);

/* Takes groups as they are finished: ascending by key, missing last, at most STA_VECTOR_ROWS at a time; the
 * vectors are the giver's.  Texts are codes of dictionaries that live as long as the grouping. */
struct sta_aggregation_output {
    void *self;
    int (*take)(void *self, const struct sta_vector *keys, const struct sta_vector *values, uint32_t rows,
                struct sta_error *err);
};
/** Merges and finishes; on all cores, but the sink is called by one thread.  Without keys: one row,
 * always. */
STA_MUSTCHECK int sta_aggregation_finish(struct sta_aggregation *grouping,
                                         const struct sta_aggregation_output *sink, struct sta_error *err);

struct sta_aggregation_figures {
    uint64_t rows, groups, memory, spilled;
};
struct sta_aggregation_figures sta_aggregation_figures(const struct sta_aggregation *grouping);

#endif
