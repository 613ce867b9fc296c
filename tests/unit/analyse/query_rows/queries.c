/* queries.c - see queries.h. */
#include "queries.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "serve/formats/document_json.h"

void queries_init(struct queries *queries)
{
    static const char *const folders[] = {STA_TEST_CONFIG "/presets"};
    struct sta_error err = STA_ERROR_INIT;
    *queries =
        (struct queries){.budget = {.workers = 3, .memory = (size_t)256 << 20, .spill_folder = "/tmp"}};
    cr_assert_eq(sta_presets_load(STA_TEST_CONFIG "/functions.yaml", folders, 1, &queries->presets, &err), 0,
                 "%s", err.text);
}

void queries_add(struct queries *queries, const char *label, struct sta_snapshot *snapshot)
{
    cr_assert_lt(queries->trace_count, sizeof queries->traces / sizeof *queries->traces);
    queries->traces[queries->trace_count++] = (struct sta_query_trace){label, snapshot};
}

void queries_fini(struct queries *queries)
{
    sta_presets_release(queries->presets);
}

/* ---- results as text */

static void put_value(struct sta_buffer *out, const struct sta_table_column *column, size_t row)
{
    if (column->missing[row])
        sta_put_text(out, "null");
    else if (column->type == STA_TYPE_INT)
        sta_put_int(out, column->integers[row]);
    else if (column->type == STA_TYPE_BOOL)
        sta_put_text(out, column->integers[row] ? "true" : "false");
    else if (column->type == STA_TYPE_FLOAT)
        sta_put_double(out, column->numbers[row]);
    else if (column->type == STA_TYPE_LIST)
        sta_put(out, column->texts[row].bytes, column->texts[row].length);
    else
        sta_put_json_string(out, column->texts[row].bytes, column->texts[row].length);
}

static void put_rows(struct sta_buffer *out, const struct sta_table *table)
{
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            sta_put_text(out, i > 0 ? ", " : "");
            put_value(out, &table->columns[i], row);
        }
        sta_put_text(out, "\n");
    }
}

static int read_all(struct sta_query_result *result, const struct queries *queries, struct sta_buffer *out,
                    struct sta_error *err)
{
    struct sta_query_reader *reader;
    size_t rows = 1;
    int rc = sta_query_reader_create(result, &queries->budget, NULL, 0, &reader, err);
    while (rc == 0 && rows > 0) {
        struct sta_table table;
        rc = sta_query_read(reader, 1000, &table, err);
        put_rows(out, &table);
        rows = table.rows;
        sta_table_fini(&table);
    }
    sta_query_reader_destroy(reader);
    return rc;
}

static int read_pages(struct sta_query_result *result, const struct queries *queries, size_t page,
                      struct sta_buffer *out, struct sta_error *err)
{
    struct sta_buffer position, next;
    bool more = true;
    int rc = 0;
    sta_buffer_init(&position);
    sta_buffer_init(&next);
    for (bool first = true; rc == 0 && more; first = false) {
        struct sta_query_reader *reader;
        struct sta_table table;
        rc = sta_query_reader_create(result, &queries->budget, first ? NULL : position.data, position.size,
                                     &reader, err);
        cr_assert_eq(rc, 0, "%s", err->text);
        rc = sta_query_read(reader, page, &table, err);
        cr_assert_leq(table.rows, page);
        put_rows(out, &table);
        sta_buffer_clear(&next);
        more = rc == 0 && sta_query_position(reader, &next);
        cr_assert(!more || table.rows == page, "a page in the middle has %zu rows, not %zu", table.rows,
                  page);
        sta_buffer_clear(&position);
        sta_put(&position, next.data, next.size);
        sta_table_fini(&table);
        sta_query_reader_destroy(reader);
    }
    sta_buffer_fini(&next);
    sta_buffer_fini(&position);
    return rc;
}

/* Every page by its number must say what the pages in turn said. */
static void check_skipping(struct sta_query_result *result, const struct queries *queries, size_t page,
                           const struct sta_buffer *paged)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer out;
    size_t rows = page;
    sta_buffer_init(&out);
    for (uint64_t skipped = 0; rows == page; skipped += rows) {
        struct sta_query_reader *reader;
        struct sta_table table;
        cr_assert_eq(sta_query_reader_create(result, &queries->budget, NULL, 0, &reader, &err), 0);
        sta_query_skip(reader, skipped);
        cr_assert_eq(sta_query_read(reader, page, &table, &err), 0, "%s", err.text);
        put_rows(&out, &table);
        rows = table.rows;
        sta_table_fini(&table);
        sta_query_reader_destroy(reader);
    }
    cr_assert(out.size == paged->size && (out.size == 0 || memcmp(out.data, paged->data, out.size) == 0),
              "pages of %zu by number are others", page);
    sta_buffer_fini(&out);
}

static char *mistake(const struct sta_error *err)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_put_format(&out, "%s %s %lld: %s\n", sta_status_name(err->status), err->parameter,
                   (long long)err->position, err->text);
    return sta_buffer_take_text(&out);
}

static void check_count(struct sta_query_result *result, const struct queries *queries, const char *text)
{
    struct sta_error err = STA_ERROR_INIT;
    uint64_t count, lines = 0;
    cr_assert_eq(sta_query_row_count(result, &queries->budget, &count, &err), 0, "%s", err.text);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    cr_assert_eq(count, lines, "row_count %llu, rows %llu", (unsigned long long)count,
                 (unsigned long long)lines);
}

static struct sta_query query_of(const struct queries *queries, const struct sta_document *request)
{
    return (struct sta_query){.traces = queries->traces,
                              .trace_count = queries->trace_count,
                              .presets = queries->presets,
                              .request = request};
}

char *queries_document(const struct queries *queries, const struct sta_document *request, size_t page)
{
    struct sta_query query = query_of(queries, request);
    struct sta_query_result *result;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer out;
    if (sta_query_run(&query, &queries->budget, &result, &err) != 0)
        return mistake(&err);
    sta_buffer_init(&out);
    int rc = page > 0 ? read_pages(result, queries, page, &out, &err) : read_all(result, queries, &out, &err);
    if (rc == 0 && page > 0)
        check_skipping(result, queries, page, &out);
    char *text = rc == 0 ? sta_buffer_take_text(&out) : mistake(&err);
    if (rc == 0)
        check_count(result, queries, text);
    sta_buffer_fini(&out);
    sta_query_result_release(result);
    return text;
}

struct sta_document *queries_read(const char *json, size_t size, struct sta_arena *arena)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_document *document;
    cr_assert_eq(sta_document_parse(json, size, "The text", arena, &document, &err), 0, "%s: %s", json,
                 err.text);
    return document;
}

char *queries_pages(const struct queries *queries, const char *request, size_t page)
{
    struct sta_arena arena = {0};
    char *text = queries_document(queries, queries_read(request, strlen(request), &arena), page);
    sta_arena_fini(&arena);
    return text;
}

char *queries_rows(const struct queries *queries, const char *request)
{
    return queries_pages(queries, request, 0);
}

struct sta_query_result *queries_result(const struct queries *queries, const char *request,
                                        struct sta_error *err)
{
    struct sta_arena arena = {0};
    struct sta_query query = query_of(queries, queries_read(request, strlen(request), &arena));
    struct sta_query_result *result;
    int rc = sta_query_run(&query, &queries->budget, &result, err);
    sta_arena_fini(&arena);
    return rc == 0 ? result : NULL;
}
