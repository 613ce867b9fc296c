/* The rows of a query. */
#include "serve/result.h"

#define DISK_SHARE 8 /* bytes on disk that count as one of memory */

static void query_destroy(void *self)
{
    sta_query_result_release(self);
}

/* What lies on disk counts as well, if less: kept results must not fill it. */
static uint64_t query_bytes(const void *self)
{
    size_t count;
    const struct sta_query_step *steps = sta_query_steps(self, &count);
    uint64_t bytes = sta_query_result_bytes(self);
    for (size_t i = 0; i < count; i++)
        bytes += steps[i].spilled / DISK_SHARE;
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

static int query_read(void *reader, size_t most, struct sta_table *table, struct sta_error *err)
{
    return sta_query_read(reader, most, table, err);
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
        .count = query_count,
        .open = query_open,
        .read = query_read,
        .position = query_position,
        .close = query_close,
    };
    return sta_result_create(&class, result);
}
