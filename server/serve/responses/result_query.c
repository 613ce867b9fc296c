/* The rows of a query. */
#include "serve/api/response.h"
#include "serve/responses/result.h"

static void query_destroy(void *self)
{
    sta_query_result_release(self);
}

static uint64_t query_bytes(const void *self)
{
    return sta_query_result_bytes(self);
}

static uint64_t query_disk(const void *self)
{
    size_t count;
    uint64_t bytes = 0;
    const struct sta_query_step *steps = sta_query_steps(self, &count);
    for (size_t i = 0; i < count; i++)
        bytes += steps[i].spilled;
    return bytes;
}

static int query_count(void *self, const struct sta_budget *budget, uint64_t *count, struct sta_error *err)
{
    return sta_query_row_count(self, budget, count, err);
}

static int query_open(void *self, const struct sta_budget *budget, const void *after, size_t after_size,
                      void **reader, struct sta_error *err)
{
    struct sta_query_reader *made = NULL;
    int status = sta_query_reader_create(self, budget, after, after_size, &made, err);
    *reader = made;
    return status;
}

static void query_skip(void *reader, uint64_t rows)
{
    sta_query_skip(reader, rows);
}

static int query_read(void *reader, size_t most, struct sta_table *table, struct sta_error *err)
{
    return sta_query_read(reader, most, table, err);
}

static int query_next(void *reader, const struct sta_vector **vectors, uint32_t *rows, struct sta_error *err)
{
    return sta_query_next_rows(reader, vectors, rows, err);
}

static bool query_position(void *reader, struct sta_buffer *position)
{
    return sta_query_position(reader, position);
}

static void query_close(void *reader)
{
    sta_query_reader_destroy(reader);
}

struct sta_result *sta_result_of_query(struct sta_query_result *result)
{
    static const struct sta_result_class class = {
        .destroy = query_destroy,
        .bytes = query_bytes,
        .disk = query_disk,
        .count = query_count,
        .open = query_open,
        .skip = query_skip,
        .read = query_read,
        .next = query_next,
        .position = query_position,
        .close = query_close,
    };
    struct sta_result *made = sta_result_create(&class, result);
    if (sta_query_sums_too_large(result) > 0)
        sta_put_member_uint(&made->head, "sums_too_large", sta_query_sums_too_large(result));
    return made;
}
