/* aggregate.h - rows to groups: keys, aggregates, one parallel pass, memory bounded (private to analyse).
 *
 * Each worker keeps a table of its own from packed keys to states.  A table that outgrows its share of the
 * memory is brought in order and written out as a run; at the end all runs, in memory and on disk, are merged
 * by key, which unites equal groups.  What a median or a distinct count needs of every row are lists of
 * values that travel with their group and are merged in order likewise.  No result depends on which worker
 * saw which rows.
 *
 * Who has rows of its own, say a view that counts events and adds up their durations by layer and bin of
 * time, describes keys and aggregates, and hands each worker's rows over as vectors:
 *
 *     static const enum sta_type keys[] = {STA_TYPE_INT, STA_TYPE_INT};      // layer, bin
 *     static const struct sta_primitive sums[] = {
 *         {.aggregate = STA_AGGREGATE_ROWS},
 *         {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_INT}}};        // of argument 0
 *     struct sta_aggregation_spec spec = {.keys = keys, .key_count = 2, .primitives = sums,
 *                                         .primitive_count = 2};
 *     rc = sta_aggregation_create(&spec, budget, NULL, &aggregation, err);   // NULL: never to the disk
 *
 *     struct sta_vector of_rows[] = {sta_vector_of_integers(layers), sta_vector_of_integers(bins)};
 *     struct sta_vector durations = sta_vector_of_integers(dur);
 *     struct sta_aggregation_input rows = {.count = n, .keys = of_rows, .arguments = &durations};
 *     rc = sta_aggregation_consume(aggregation, worker, &rows, err);         // in every worker, per row
 * group
 *
 *     rc = sta_aggregation_collect(aggregation, &table, err);                // by layer, then by bin
 *     for (uint64_t i = 0; i < table.rows; i++)
 *         put(table.keys[0].integers[i], table.keys[1].integers[i], table.values[0].integers[i], ..);
 *
 * Integers whose ranges are small together, 2^16 combinations, are an index: no key is hashed.  An event that
 * counts in three layers is three rows.  Sums are of 128 bits; one that does not fit 64 is missing, and
 * counted in the figures. */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_H

#include "analyse/exec/budget.h"
#include "analyse/expression/aggregates.h"
#include "analyse/operators/frames.h"

struct sta_aggregation_spec {
    const enum sta_type *keys;
    size_t key_count;
    bool keep_missing; /* groups of which a key is missing exist */
    const struct sta_primitive *primitives;
    size_t primitive_count;
    uint64_t most_groups; /* for sta_aggregation_is_full; 0: any number */
};

/* Rows of a row group. */
struct sta_aggregation_input {
    uint32_t count;           /* of rows to take */
    const uint32_t *selected; /* their numbers in the vectors; NULL: 0 .. count - 1 .. */
    const uint8_t *marks;     /* .. unless these, of rows 0 .. marked_rows - 1, are 1 for them, else 0 */
    uint32_t marked_rows;
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

/** @spec: copied.  @budget: its memory is what tables may take together before they spill; borrowed.
 * @spill_folder: NULL or empty: nothing goes to the disk, and what does not fit the memory is STA_ELIMIT. */
STA_MUSTCHECK int sta_aggregation_create(const struct sta_aggregation_spec *spec,
                                         const struct sta_budget *budget, const char *spill_folder,
                                         struct sta_aggregation **grouping, struct sta_error *err);
/** NULL allowed.  Dictionaries of vectors that it was given must live until then. */
void sta_aggregation_destroy(struct sta_aggregation *grouping);
/** Whether rows may be marked. */
bool sta_aggregation_takes_marks(const struct sta_aggregation *grouping);
/** Context: worker @worker, one call at a time each. */
STA_MUSTCHECK int sta_aggregation_consume(struct sta_aggregation *grouping, unsigned worker,
                                          const struct sta_aggregation_input *rows, struct sta_error *err);

/** Whether there are more than spec.most_groups for certain: who only wants to know that need not go on.
 * Context: any thread. */
bool sta_aggregation_is_full(const struct sta_aggregation *grouping);

/* Takes groups as they are finished: ascending by key, missing last, at most STA_VECTOR_ROWS at a time; the
 * vectors are the giver's.  Texts are codes of dictionaries that live as long as the grouping. */
struct sta_aggregation_output {
    void *self;
    int (*take)(void *self, const struct sta_vector *keys, const struct sta_vector *values, uint32_t rows,
                struct sta_error *err);
};
/** Merges and finishes; on all cores, but the sink is called by one thread at a time.  Without keys: 1 row.
 */
STA_MUSTCHECK int sta_aggregation_finish(struct sta_aggregation *grouping,
                                         const struct sta_aggregation_output *sink, struct sta_error *err);

/** Writes all that was taken, as bytes that mean the same to another process (frames.h): keys by value, texts
 * as texts, states exact.  Ends the grouping: nothing but destroying it may follow.  @reading_ns: what taking
 * the rows took.  Return: 0; STA_EOUTDATED: groups and values are so many that the other process reads the
 * rows in less time than it would wait for these; what the sink returned, STA_ENOMEM, STA_ECANCELLED, .. */
STA_MUSTCHECK int sta_aggregation_serialize(struct sta_aggregation *grouping, uint64_t reading_ns,
                                            const struct sta_byte_sink *sink, struct sta_error *err);
/** Takes what another aggregation of the same spec has written, as if its rows were taken here; the order of
 * rows (source, at, place) must mean the same in all of them.  After a failure (STA_ECORRUPT: damaged, of
 * another version or another spec) only destroying may follow.  Context: as worker 0. */
STA_MUSTCHECK int sta_aggregation_deserialize(struct sta_aggregation *grouping, struct sta_cursor *from,
                                              struct sta_error *err);

/* All groups, ascending by key, missing last: column by column, rows side by side. */
struct sta_aggregation_table {
    uint64_t rows;
    struct sta_vector *keys, *values;
    /* what they lie in */
    size_t column_count;
    uint8_t **missing;
    struct sta_account *account;
};
/** Finishes into memory.  Texts as above.  sta_aggregation_table_fini also after a failure. */
STA_MUSTCHECK int sta_aggregation_collect(struct sta_aggregation *grouping,
                                          struct sta_aggregation_table *table, struct sta_error *err);
void sta_aggregation_table_fini(struct sta_aggregation_table *table);

struct sta_aggregation_figures {
    uint64_t rows, groups, memory, spilled;
    uint64_t too_large; /* results that are missing since their sum does not fit 64 bits */
};
struct sta_aggregation_figures sta_aggregation_figures(const struct sta_aggregation *grouping);

#endif
