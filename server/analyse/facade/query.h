/* query.h - any query to the events of one trace or several (public part of analyse.h).
 *
 * A request is checked against the traces' columns and made a plan; running it gives a result, which is
 * immutable and may be kept; readers walk a result page by page.  Results of groups are held; plain events in
 * their own order are not: their readers go through the row groups as they are read. */
#ifndef STA_ANALYSE_FACADE_QUERY_H
#define STA_ANALYSE_FACADE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/document.h"
#include "common/error.h"
#include "common/table.h"
#include "common/vector.h"
#include "store/store.h"

struct sta_presets;
struct sta_budget;

struct sta_query_trace {
    const char *label; /* value of the column `trace` */
    struct sta_snapshot *snapshot;
};

struct sta_query {
    const struct sta_query_trace *traces; /* in the order of the request */
    size_t trace_count;
    struct sta_presets *presets;
    const struct sta_document *request; /* an object: the members of query.md part 3, without traces, cursor
                                         * and format.  In the first stage `limit` counts for the rows of a
                                         * page and is left to the readers; where a `then` follows it cuts */
};

struct sta_query_result; /* counted references; holds on to snapshots and presets; any thread */
struct sta_query_reader; /* of one thread */

/**
 * sta_query_run - check a request, and compute all of it that has to be computed before the first row can be
 * given
 * Mistakes: STA_EINPUT with parameter and position as query.md part 6 has them, the first one in the order of
 * part 3; limits: STA_ELIMIT.
 * Return: 0, these, STA_ECANCELLED, STA_ENOSPC or STA_EIO of the spill folder, STA_ECORRUPT.  Context: any
 * thread; release the result.
 */
STA_MUSTCHECK int sta_query_run(const struct sta_query *query, const struct sta_budget *budget,
                                struct sta_query_result **result, struct sta_error *err);
void sta_query_result_release(struct sta_query_result *result); /* NULL allowed */
/** Sums of groups, in all stages, that are missing since they do not fit 64 bits. */
uint64_t sta_query_sums_too_large(const struct sta_query_result *result);
/** Bytes of memory that keeping the result takes. */
uint64_t sta_query_result_bytes(const struct sta_query_result *result);
/** Rows of the whole result.  Plain events are counted by a pass, once. */
STA_MUSTCHECK int sta_query_row_count(struct sta_query_result *result, const struct sta_budget *budget,
                                      uint64_t *count, struct sta_error *err);

/**
 * sta_query_reader_create - walk the rows of a result
 * @after: what sta_query_position gave, to go on behind it without walking there; NULL: from the start.
 * STA_EINPUT if it is none of this result's.
 * @budget: copied; for what the reader itself has to scan
 */
STA_MUSTCHECK int sta_query_reader_create(struct sta_query_result *result, const struct sta_budget *budget,
                                          const void *after, size_t after_size,
                                          struct sta_query_reader **reader, struct sta_error *err);
void sta_query_reader_destroy(struct sta_query_reader *reader); /* NULL allowed */
/** Passes over the next @rows rows, or all that there are.  Before the first read. */
void sta_query_skip(struct sta_query_reader *reader, uint64_t rows);
/** The next rows, @most at the most; none at the end.  @table: initialised by this, for the caller to
 * sta_table_fini; its texts may point into the result, so it must not outlive that. */
STA_MUSTCHECK int sta_query_read(struct sta_query_reader *reader, size_t most, struct sta_table *table,
                                 struct sta_error *err);
/** The next rows as vectors by column, at most STA_VECTOR_ROWS; none at the end.  *vectors: valid until the
 * next call.  Who reads by this asks for no position. */
STA_MUSTCHECK int sta_query_next_rows(struct sta_query_reader *reader, const struct sta_vector **vectors,
                                      uint32_t *rows, struct sta_error *err);
/** Appends the position behind the last row read; false, and nothing, when no row follows. */
bool sta_query_position(struct sta_query_reader *reader, struct sta_buffer *position);

/* ---- explain */

struct sta_query_step {
    const char *name; /* "scan", "filter", "group", "sort", .. */
    char *detail;     /* what it works on, for people */
    uint64_t rows_in, rows_out;
    uint64_t row_groups_read, row_groups_skipped; /* of steps that read the store */
    uint64_t nanoseconds;                         /* by the clock on the wall */
    uint64_t memory, spilled;                     /* bytes: at most held, written to the spill folder */
};
const struct sta_query_step *sta_query_steps(const struct sta_query_result *result, size_t *count);

/* ---- the schema, for people and user interfaces */

struct sta_columns_query {
    struct sta_snapshot *snapshot;
    const char *label;
    struct sta_presets *presets;
    const char *preset; /* or NULL: cat as traced */
};

/**
 * sta_columns_describe - the columns that a query may name
 * @table: name, type ("text", "integer", "number", "condition"), unit, missing (events without a value),
 * distinct (of texts and integers that were counted; else missing), min, max (as text), top (JSON list of the
 * most frequent values with counts; texts only)
 * @known: NULL, or the table of the same query without its preset: then only what the preset changes is
 * computed
 */
STA_MUSTCHECK int sta_columns_describe(const struct sta_columns_query *query, const struct sta_table *known,
                                       const struct sta_budget *budget, struct sta_table *table,
                                       struct sta_error *err);
/**
 * sta_column_values - the distinct values of a column, for completion
 * @prefix: of texts, compared without case; "" or NULL: all.  Most frequent first, then by value; @table:
 * value, count
 */
STA_MUSTCHECK int sta_column_values(const struct sta_columns_query *query, const char *column,
                                    const char *prefix, size_t most, const struct sta_budget *budget,
                                    struct sta_table *table, struct sta_error *err);

#endif
