/* Rows written out. */
#include "serve/responses/pages.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"
#include "serve/formats/arrow.h"

struct sta_page_writer {
    struct sta_result *result;
    void *reader;
    enum sta_format format;
    struct sta_token_subject subject;
    struct sta_budget budget;
    uint64_t left, written;
    char *next;                       /* once it has ended */
    struct sta_arrow *arrow;          /* of that format */
    const struct sta_vector *vectors; /* read, and not yet taken by it */
    uint32_t vector_rows, vector_at;
    bool begun, absolute, limited;
    int64_t origin_us;
};

static uint64_t limit_of(const struct sta_page *page)
{
    if (page->has_limit)
        return page->limit;
    return page->format == STA_FORMAT_JSON ? STA_PAGE_ROWS : UINT64_MAX;
}

static int open_reader(struct sta_page_writer *writer, const struct sta_page *page, struct sta_error *err)
{
    struct sta_buffer position;
    const struct sta_result *result = writer->result;
    if (page->cursor == NULL) {
        int status = result->class->open(result->self, &writer->budget, NULL, 0, &writer->reader, err);
        if (status == STA_OK && page->offset > 0)
            result->class->skip(writer->reader, page->offset);
        return status;
    }
    sta_buffer_init(&position);
    int status = sta_cursor_decode(page->cursor, &page->subject, &position, err);
    if (status == STA_OK) {
        status =
            result->class->open(result->self, &writer->budget, position.data != NULL ? position.data : "",
                                position.size, &writer->reader, err);
        if (status == STA_EINPUT)
            sta_at(err, "/cursor", -1);
    }
    sta_buffer_fini(&position);
    return status;
}

int sta_page_writer_create(struct sta_result *result, const struct sta_page *page,
                           const struct sta_budget *budget, struct sta_page_writer **made,
                           struct sta_error *err)
{
    struct sta_page_writer *writer = sta_alloc(sizeof *writer);
    writer->result = sta_result_retain(result);
    writer->format = page->format;
    writer->subject = page->subject;
    writer->budget = *budget;
    writer->left = limit_of(page);
    writer->limited = page->has_limit;
    writer->absolute = page->absolute;
    writer->origin_us = page->origin_us;
    int status = open_reader(writer, page, err);
    if (status != STA_OK) {
        sta_page_writer_destroy(writer);
        return status;
    }
    *made = writer;
    return STA_OK;
}

void sta_page_writer_destroy(struct sta_page_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->reader != NULL)
        writer->result->class->close(writer->reader);
    sta_result_release(writer->result);
    sta_arrow_destroy(writer->arrow);
    free(writer->next);
    free(writer);
}

static void put_begin(struct sta_page_writer *writer, const struct sta_table *table, struct sta_buffer *out)
{
    const struct sta_result *result = writer->result;
    if (writer->format == STA_FORMAT_JSON) {
        sta_put_char(out, '{');
        sta_put(out, result->head.data, result->head.size);
        if (result->member != NULL) {
            sta_begin_object(out, result->member);
        }
    }
    sta_put_table_begin(out, writer->format, table);
}

/* Of a page that asks for no rows there is no next one, or clients would ask for ever. */
static char *next_token(struct sta_page_writer *writer)
{
    struct sta_buffer position;
    char *token = NULL;
    sta_buffer_init(&position);
    if (!writer->result->one_page && writer->written > 0 &&
        writer->result->class->position(writer->reader, &position))
        token = sta_cursor_encode(&writer->subject, position.data, position.size);
    sta_buffer_fini(&position);
    return token;
}

static int put_end(struct sta_page_writer *writer, struct sta_buffer *out, struct sta_error *err)
{
    const struct sta_result *result = writer->result;
    uint64_t count;
    writer->next = writer->left == 0 ? next_token(writer) : NULL;
    if (writer->format != STA_FORMAT_JSON) {
        sta_put_table_end(out, writer->format, 0, NULL);
        return STA_OK;
    }
    int status = result->class->count(result->self, &writer->budget, &count, err);
    if (status != STA_OK)
        return status;
    sta_put_table_end(out, writer->format, count, writer->next);
    if (result->member != NULL)
        sta_put_char(out, '}');
    if (result->tail != NULL)
        sta_put_text(out, result->tail);
    sta_put_char(out, '}');
    return STA_OK;
}

/* Adds unix_ms, rounded down. */
static int add_unix_time(const struct sta_page_writer *writer, struct sta_table *table, struct sta_error *err)
{
    struct sta_table_column *unix_ms = sta_table_add(table, "unix_ms", STA_TYPE_INT, NULL);
    const struct sta_table_column *start = sta_table_find(table, "time_start");
    if (start == NULL || start->type != STA_TYPE_FLOAT)
        return sta_fail_at(
            err, STA_EINPUT, "/time",
            "time=absolute adds unix_ms to tables with a column time_start; this one has none");
    for (size_t row = 0; row < table->rows; row++)
        if (!start->missing[row])
            sta_table_set_int(
                unix_ms, row,
                (int64_t)floor(((double)writer->origin_us + rint(start->numbers[row] * 1e6)) / 1e3));
    return STA_OK;
}

/* ---- Arrow: batches are as long as can be, whatever the pieces */

/* Rows as vectors into the batch: values are copied, and texts stay codes. */
static int gather_vectors(struct sta_page_writer *writer, bool *ended, struct sta_error *err)
{
    int status = STA_OK;
    if (writer->vector_at == writer->vector_rows) {
        writer->vector_at = 0;
        status = writer->result->class->next(writer->reader, &writer->vectors, &writer->vector_rows, err);
        if (status != STA_OK)
            writer->vector_rows = 0;
    }
    const size_t now =
        STA_MIN(writer->vector_rows - writer->vector_at, sta_arrow_capacity_left(writer->arrow));
    *ended = now == 0;
    if (now == 0)
        return status;
    sta_arrow_take(writer->arrow, writer->vectors, writer->vector_at, now);
    writer->vector_at += (uint32_t)now;
    writer->written += now;
    return status;
}

static int gather_table(struct sta_page_writer *writer, bool *ended, struct sta_error *err)
{
    struct sta_table table = {0};
    const size_t wanted = (size_t)STA_MIN(writer->left, (uint64_t)sta_arrow_capacity_left(writer->arrow));
    int status = writer->result->class->read(writer->reader, STA_MAX(wanted, 1), &table, err);
    if (status == STA_OK && writer->absolute)
        status = add_unix_time(writer, &table, err);
    if (status == STA_OK) {
        const size_t rows = STA_MIN(table.rows, wanted); /* none of a page of no rows */
        sta_arrow_take_table(writer->arrow, &table, 0, rows);
        writer->written += rows;
        writer->left -= rows;
        *ended = rows == 0 || writer->left == 0;
    }
    sta_table_fini(&table);
    return status;
}

/* The schema, from a page of no rows. */
static int begin_arrow(struct sta_page_writer *writer, struct sta_buffer *out, struct sta_error *err)
{
    struct sta_table table = {0};
    int status = writer->result->class->read(writer->reader, 0, &table, err);
    if (status == STA_OK && writer->absolute)
        status = add_unix_time(writer, &table, err);
    if (status == STA_OK) {
        put_begin(writer, &table, out);
        writer->arrow = sta_arrow_create(&table, writer->budget.account);
    }
    sta_table_fini(&table);
    return status;
}

static int write_arrow(struct sta_page_writer *writer, struct sta_buffer *out, bool *ended,
                       struct sta_error *err)
{
    const bool as_vectors = writer->result->class->next != NULL && !writer->limited && !writer->absolute;
    const uint64_t before = writer->written;
    int status = writer->arrow == NULL ? begin_arrow(writer, out, err) : STA_OK;
    while (status == STA_OK && !*ended && sta_arrow_capacity_left(writer->arrow) > 0)
        status = as_vectors ? gather_vectors(writer, ended, err) : gather_table(writer, ended, err);
    if (status != STA_OK)
        return status;
    if (writer->written > before)
        sta_arrow_put(writer->arrow, out);
    return *ended ? put_end(writer, out, err) : STA_OK;
}

int sta_page_write(struct sta_page_writer *writer, size_t most, struct sta_buffer *out, bool *ended,
                   struct sta_error *err)
{
    struct sta_table table = {0};
    *ended = false;
    if (writer->format == STA_FORMAT_ARROW)
        return write_arrow(writer, out, ended, err);
    size_t wanted = (size_t)STA_MIN(most, writer->left);
    int status = writer->result->class->read(writer->reader, STA_MAX(wanted, 1), &table, err);
    if (status == STA_OK && writer->absolute)
        status = add_unix_time(writer, &table, err);
    if (status != STA_OK) {
        sta_table_fini(&table);
        return status;
    }
    if (!writer->begun)
        put_begin(writer, &table, out);
    writer->begun = true;
    table.rows = STA_MIN(table.rows, wanted); /* none of a page of no rows */
    sta_put_table_rows(out, writer->format, &table, writer->written == 0);
    writer->written += table.rows;
    writer->left -= table.rows;
    *ended = table.rows == 0 || writer->left == 0;
    sta_table_fini(&table);
    return *ended ? put_end(writer, out, err) : STA_OK;
}

char *sta_page_take_next(struct sta_page_writer *writer)
{
    char *next = writer->next;
    writer->next = NULL;
    return next;
}

uint64_t sta_page_written(const struct sta_page_writer *writer)
{
    return writer->written;
}
