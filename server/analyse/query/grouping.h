/* grouping.h - rows to groups: keys, aggregates, one parallel pass, memory bounded (private to query).
 *
 * Each worker keeps a table of its own from packed keys to states.  A table that outgrows its share of the
 * memory is brought in order and written out as a run; at the end all runs, in memory and on disk, are merged
 * by key, which unites equal groups.  What a median or a distinct count needs of every row are lists of
 * values that travel with their group and are merged in order likewise.  No result depends on which worker
 * saw which rows. */
#ifndef STA_ANALYSE_QUERY_GROUPING_H
#define STA_ANALYSE_QUERY_GROUPING_H

#include "analyse/analyse.h"
#include "analyse/expression/aggregates.h"

struct sta_grouping_shape {
    const enum sta_type *keys;
    size_t key_count;
    bool keep_missing; /* groups of which a key is missing exist */
    const struct sta_primitive *primitives;
    size_t primitive_count;
};

/* Rows of a block. */
struct sta_grouping_rows {
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

struct sta_grouping;

/** @shape: copied.  @budget: its memory is what tables may take together before they spill; borrowed. */
STA_MUSTCHECK int sta_grouping_create(const struct sta_grouping_shape *shape, const struct sta_budget *budget,
                                      const char *spill_folder, struct sta_grouping **grouping,
                                      struct sta_error *err);
/** NULL allowed.  Dictionaries of vectors that it was given must live until then. */
void sta_grouping_destroy(struct sta_grouping *grouping);
/** Context: worker @worker, one call at a time each. */
STA_MUSTCHECK int sta_grouping_update(struct sta_grouping *grouping, unsigned worker,
                                      const struct sta_grouping_rows *rows, struct sta_error *err);

/* Takes groups as they are finished: ascending by key, missing last, at most STA_VECTOR_ROWS at a time; the
 * vectors are the giver's.  Texts are codes of dictionaries that live as long as the grouping. */
struct sta_grouping_sink {
    void *self;
    int (*take)(void *self, const struct sta_vector *keys, const struct sta_vector *values, uint32_t rows,
                struct sta_error *err);
};
/** Merges and finishes; on all cores, but the sink is called by one thread.  Without keys: one row,
 * always. */
STA_MUSTCHECK int sta_grouping_finish(struct sta_grouping *grouping, const struct sta_grouping_sink *sink,
                                      struct sta_error *err);

struct sta_grouping_figures {
    uint64_t rows, groups, memory, spilled;
};
struct sta_grouping_figures sta_grouping_figures(const struct sta_grouping *grouping);

#endif
