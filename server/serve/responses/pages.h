/* pages.h - rows written out: one page of them, or all, in pieces. */
#ifndef STA_SERVE_PAGES_H
#define STA_SERVE_PAGES_H

#include "serve/responses/cursor.h"
#include "serve/api/response.h"
#include "serve/responses/result.h"

#define STA_PAGE_ROWS 1000 /* of a JSON page when no limit is given */

/* Which of the rows are wanted, and in which form. */
struct sta_page {
    enum sta_format format;
    bool has_limit;
    uint64_t limit;     /* rows at most; without one: STA_PAGE_ROWS for json, else all of them */
    uint64_t offset;    /* rows passed over first */
    const char *cursor; /* NULL: from the start; none beside an offset */
    bool absolute;      /* rows have unix_ms, made of time_start */
    int64_t origin_us;  /* Unix time of time_start 0 */
    struct sta_token_subject subject; /* of cursors in and out */
};

struct sta_page_writer; /* of one thread at a time */

/** @page: its cursor need live during the call only.  @budget: copied; for what has still to be read.
 * Mistakes of the cursor: see sta_cursor_decode. */
STA_MUSTCHECK int sta_page_writer_create(struct sta_result *result, const struct sta_page *page,
                                         const struct sta_budget *budget, struct sta_page_writer **writer,
                                         struct sta_error *err);
void sta_page_writer_destroy(struct sta_page_writer *writer); /* NULL allowed */
/**
 * sta_page_write - the next piece of text
 * @rows: at most so many of them; of Arrow a batch
 * @ended: set when this was the last piece
 */
STA_MUSTCHECK int sta_page_write(struct sta_page_writer *writer, size_t rows, struct sta_buffer *out,
                                 bool *ended, struct sta_error *err);
/** The cursor of the page behind this one, once it has ended; NULL: there is none.  The caller's to free. */
char *sta_page_take_next(struct sta_page_writer *writer);
/** Rows that were written so far. */
uint64_t sta_page_written(const struct sta_page_writer *writer);

#endif
