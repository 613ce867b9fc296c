/* chunk_order.c - the order of all chunks of a snapshot, on which that of rows of equal ts rests.
 *
 * It depends on nothing but the version, so it is sorted once: with many thousands of files it takes longer
 * than a query. */
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/versions/private.h"

struct sta_chunk_order {
    size_t count;
    uint32_t *ranks;       /* of all segments, one behind the other */
    const uint32_t **rows; /* by segment: where its ranks begin */
};

void sta_chunk_order_destroy(struct sta_chunk_order *order)
{
    if (order == NULL)
        return;
    free(order->ranks);
    free(order->rows);
    free(order);
}

int sta_chunk_place_compare(const void *a, const void *b)
{
    const struct sta_chunk_place *x = a, *y = b;
    int order = x->path == y->path ? 0 : strcmp(x->path, y->path);
    if (order == 0)
        order = (x->first_line > y->first_line) - (x->first_line < y->first_line);
    if (order == 0)
        order = (x->segment > y->segment) - (x->segment < y->segment);
    return order;
}

static size_t list_chunks(const struct sta_snapshot *snapshot, struct sta_chunk_place *chunks)
{
    size_t total = 0, count;
    for (uint32_t s = 0; s < snapshot->segment_count; s++) {
        const struct sta_chunk *own = sta_snapshot_chunks(snapshot, s, &count);
        for (size_t c = 0; c < count; c++, total++)
            if (chunks != NULL)
                chunks[total] = (struct sta_chunk_place){sta_snapshot_source(snapshot, own[c].source)->path,
                                                         own[c].first_line, s, (uint32_t)c};
    }
    return total;
}

static void number_chunks(const struct sta_snapshot *snapshot, struct sta_chunk_place *chunks,
                          struct sta_chunk_order *order)
{
    size_t count, at = 0;
    list_chunks(snapshot, chunks);
    qsort(chunks, order->count, sizeof *chunks, sta_chunk_place_compare);
    for (uint32_t s = 0; s < snapshot->segment_count; s++, at += count) {
        order->rows[s] = order->ranks + at;
        sta_snapshot_chunks(snapshot, s, &count);
    }
    for (size_t i = 0; i < order->count; i++)
        order->ranks[order->rows[chunks[i].segment] - order->ranks + chunks[i].chunk] = (uint32_t)i;
}

static struct sta_chunk_order *create(const struct sta_snapshot *snapshot)
{
    struct sta_chunk_order *order = sta_alloc(sizeof *order);
    order->count = list_chunks(snapshot, NULL);
    struct sta_chunk_place *chunks = sta_try_alloc_array(order->count + 1, sizeof *chunks);
    order->ranks = sta_try_alloc_array(order->count + 1, sizeof *order->ranks);
    order->rows = sta_try_alloc_array((size_t)snapshot->segment_count + 1, sizeof(uint32_t *));
    const bool made = chunks != NULL && order->ranks != NULL && order->rows != NULL;
    if (made)
        number_chunks(snapshot, chunks, order);
    free(chunks);
    if (made)
        return order;
    sta_chunk_order_destroy(order);
    return NULL;
}

const uint32_t *const *sta_snapshot_chunk_ranks(const struct sta_snapshot *snapshot, size_t *count,
                                                struct sta_error *err)
{
    struct sta_snapshot *own = (struct sta_snapshot *)snapshot; /* constant, but for what it remembers */
    struct sta_chunk_order *order = atomic_load(&own->chunk_order);
    if (order == NULL) {
        pthread_mutex_lock(&own->chunk_order_lock);
        order = atomic_load(&own->chunk_order);
        if (order == NULL)
            order = create(snapshot);
        atomic_store(&own->chunk_order, order);
        pthread_mutex_unlock(&own->chunk_order_lock);
    }
    *count = order != NULL ? order->count : 0;
    if (order != NULL)
        return order->rows;
    sta_fail(err, STA_ENOMEM, "no memory for the order of the chunks of trace %s", snapshot->id);
    return NULL;
}
