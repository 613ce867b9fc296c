/* materialized.h - the rows that a stage gave, as columns in batches; past a number of bytes they lie on disk
 * (private to analyse). */
#ifndef STA_ANALYSE_OPERATORS_MATERIALIZED_H
#define STA_ANALYSE_OPERATORS_MATERIALIZED_H

#include "analyse/expression/expression.h"

struct sta_materialized; /* filled by one thread, then immutable and read by any */

/** @columns: copied; TEXT and LIST columns get a dictionary of the result's own.  @memory: bytes held
 * before batches go to the spill folder; likewise of texts.  @account: charged with texts until the rows are
 * sealed. */
struct sta_materialized *sta_materialized_create(const struct sta_column_info *columns, size_t column_count,
                                                 uint64_t memory, const char *spill_folder,
                                                 struct sta_account *account);
void sta_materialized_destroy(struct sta_materialized *materialized); /* NULL allowed */
/** Appends rows.  @selected: their numbers in the vectors; NULL for the first @count ones. */
STA_MUSTCHECK int sta_materialized_append(struct sta_materialized *materialized,
                                          const struct sta_vector *columns, const uint32_t *selected,
                                          uint32_t count, struct sta_error *err);
/** No more rows come: stores the last ones and frees what filling took.  Before any batch is read. */
STA_MUSTCHECK int sta_materialized_seal(struct sta_materialized *materialized, struct sta_error *err);

const struct sta_column_info *sta_materialized_columns(const struct sta_materialized *materialized,
                                                       size_t *count);
uint64_t sta_materialized_rows(const struct sta_materialized *materialized);
uint64_t sta_materialized_bytes(const struct sta_materialized *materialized); /* of memory */
/** Bytes of it that lie on disk. */
uint64_t sta_materialized_spilled(const struct sta_materialized *materialized);
size_t sta_materialized_batch_count(const struct sta_materialized *materialized);
/** The dictionary of a TEXT or LIST column. */
const struct sta_dictionary *sta_materialized_texts(const struct sta_materialized *materialized,
                                                    uint32_t column);

/** Between what the integers of a column lie in a batch, about.  Return: false when that is not known. */
bool sta_materialized_range(const struct sta_materialized *materialized, size_t batch, uint32_t column,
                            double *low, double *high);

/* One batch in memory: STA_VECTOR_ROWS rows, fewer only in the last. */
struct sta_materialized_batch; /* of one thread */
struct sta_materialized_batch *sta_materialized_batch_create(const struct sta_materialized *materialized);
void sta_materialized_batch_destroy(struct sta_materialized_batch *batch); /* NULL allowed */
/** Return: its rows. */
uint32_t sta_materialized_batch_seek(struct sta_materialized_batch *batch, size_t number);
/** A sta_column_source: @batch is a struct sta_materialized_batch *.  Valid until the next seek. */
STA_MUSTCHECK int sta_materialized_batch_get(void *batch, uint32_t column, struct sta_vector *vector,
                                             struct sta_error *err);

#endif
