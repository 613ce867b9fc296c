/* relation.h - the rows that a stage gave, as columns in batches; past a number of bytes they lie on disk
 * (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_RELATION_H
#define STA_ANALYSE_QUERY_RELATION_H

#include "analyse/expression/expression.h"
#include "analyse/facade/query.h"

struct sta_relation; /* filled by one thread, then immutable and read by any */

/** @columns: copied; TEXT and LIST columns get a dictionary of the relation's own.  @memory: bytes held
 * before batches go to the spill folder. */
struct sta_relation *sta_relation_create(const struct sta_query_column *columns, size_t column_count,
                                         uint64_t memory, const char *spill_folder);
void sta_relation_destroy(struct sta_relation *relation); /* NULL allowed */
/** Appends rows.  @selected: their numbers in the vectors; NULL for the first @count ones. */
STA_MUSTCHECK int sta_relation_append(struct sta_relation *relation, const struct sta_vector *columns,
                                      const uint32_t *selected, uint32_t count, struct sta_error *err);
/** No more rows come: puts away the last ones and gives back what filling took.  Before any batch is read. */
STA_MUSTCHECK int sta_relation_seal(struct sta_relation *relation, struct sta_error *err);

const struct sta_query_column *sta_relation_columns(const struct sta_relation *relation, size_t *count);
uint64_t sta_relation_rows(const struct sta_relation *relation);
uint64_t sta_relation_bytes(const struct sta_relation *relation); /* of memory */
/** Tells of a step that made the relation: rows out, memory, disk. */
void sta_relation_tell(const struct sta_relation *relation, struct sta_query_step *step);
/** Whether some of it lies on disk.  If not, vectors of batches stay valid as long as the relation. */
bool sta_relation_lies_on_disk(const struct sta_relation *relation);
size_t sta_relation_batch_count(const struct sta_relation *relation);
/** The dictionary of a TEXT or LIST column. */
const struct sta_dictionary *sta_relation_texts(const struct sta_relation *relation, uint32_t column);

/* One batch in memory: STA_VECTOR_ROWS rows, fewer only in the last. */
struct sta_relation_batch; /* of one thread */
struct sta_relation_batch *sta_relation_batch_create(const struct sta_relation *relation);
void sta_relation_batch_destroy(struct sta_relation_batch *batch); /* NULL allowed */
STA_MUSTCHECK int sta_relation_batch_seek(struct sta_relation_batch *batch, size_t number, uint32_t *rows,
                                          struct sta_error *err);
/** A sta_column_source: @batch is a struct sta_relation_batch *.  Valid until the next seek. */
STA_MUSTCHECK int sta_relation_batch_get(void *batch, uint32_t column, struct sta_vector *vector,
                                         struct sta_error *err);

#endif
