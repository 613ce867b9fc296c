/* plain.h - rows of a pipeline, read part by part: of events in event order or sorted, of a materialized
 * result sorted (private to query/rows).
 *
 * A reader copies rows out of their row groups, as many at a time as its memory allows: in event order those
 * of a slice of time, sorted those of the next records of a sorter.  The key of a row, some words, is its
 * position in the order of all rows, so that a reader can start after any row without reading up to it. */
#ifndef STA_ANALYSE_QUERY_PLAIN_H
#define STA_ANALYSE_QUERY_PLAIN_H

#include "analyse/query/rows/row_batches.h"
#include "analyse/operators/sort_keys.h"
#include "analyse/query/rows/query_context.h"
#include "analyse/query/rows/share.h"

/* What tells rows apart that agree in all keys of an order, as further keys: event order, then where the row
 * lies.  Of one source range parts and rows are in the order of the lines. */
enum sta_place_field {
    STA_PLACE_TRACE,
    STA_PLACE_AT, /* ts, ticks */
    STA_PLACE_CHUNK,
    STA_PLACE_PART, /* of the pipeline */
    STA_PLACE_ROW,  /* in the part */
    STA_PLACE_FIELDS
};

/* What the readers of a result share; immutable. */
struct sta_plain {
    const struct sta_pipeline *pipeline;
    const struct sta_plan_stage *stage; /* the last of the pipeline */
    struct sta_shown shown;
    bool sorted;                   /* by order_by; else rows come in event order */
    struct sta_sort_layout layout; /* of sorted rows: keys of order_by, then enum sta_place_field */
    bool without_at;               /* STA_PLACE_AT is 0: an earlier key tells ts, or rows have none */
    struct sta_account kept;       /* what is kept by text */
    struct sta_texts **texts;      /* by key; of TEXT alone */
    struct sta_ranks *ranks;
    struct sta_buffer query; /* for other ranks (sta_share_put_query); nothing: rows are not shared */
};

/** @pipeline: borrowed; of a materialized result if its last stage has an order.  @account: charged with what
 * is kept by text; NULL: it outlives the request.  With an order on texts: reads all rows once, to know them.
 * Fini also after a failure. */
STA_MUSTCHECK int sta_plain_init(struct sta_plain *plain, const struct sta_pipeline *pipeline,
                                 struct sta_account *account, struct sta_query_context *context,
                                 struct sta_error *err);
void sta_plain_fini(struct sta_plain *plain);
/** Counts the rows, in parallel. */
STA_MUSTCHECK int sta_plain_count(const struct sta_plain *plain, const struct sta_budget *budget,
                                  uint64_t *count, struct sta_error *err);
/** For another rank, of a stripe: the records of its first rows, sorted, or how many rows it has. */
STA_MUSTCHECK int sta_plain_work(const struct sta_plain *plain, const struct sta_query_context *context,
                                 const struct sta_share_wanted *wanted, const struct sta_stripe *stripe,
                                 const struct sta_byte_sink *sink, struct sta_error *err);
/** Words of a row's key. */
uint32_t sta_plain_key_words(const struct sta_plain *plain);

struct sta_plain_reader;
/** @budget: copied.  @wanted: rows that will be read, and that nobody goes on from; 0: as many
 * as the first call asks for, maybe more.  @after: the key of a row, to start behind it; NULL: from the
 * first. */
struct sta_plain_reader *sta_plain_reader_create(const struct sta_plain *plain,
                                                 const struct sta_budget *budget, uint64_t wanted,
                                                 const uint64_t *after);
void sta_plain_reader_destroy(struct sta_plain_reader *reader); /* NULL allowed */
/** Passes over the next @rows rows.  Before the first read: neither sorted nor shown are more than needed. */
void sta_plain_skip(struct sta_plain_reader *reader, uint64_t rows);
/** The next rows as vectors by output, at most STA_VECTOR_ROWS and @most; none at the end.  *vectors: valid
 * until the next call. */
STA_MUSTCHECK int sta_plain_next(struct sta_plain_reader *reader, size_t most,
                                 const struct sta_vector **vectors, uint32_t *rows, struct sta_error *err);
/** The next rows, @most at the most; none at the end.  @table: initialised by this; its texts lie in the
 * pipeline or the reader. */
STA_MUSTCHECK int sta_plain_read(struct sta_plain_reader *reader, size_t most, struct sta_table *table,
                                 struct sta_error *err);
/** The key of the last row read; NULL when no row follows. */
const uint64_t *sta_plain_position(const struct sta_plain_reader *reader);

#endif
