/* Pieces by worker, joined after the pass: sorted by time, then dealt out to their tracks, which keeps the order. */
#include "analyse/intervals/pieces.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct list {
    struct sta_span *items;
    size_t count, capacity;
    size_t *last; /* by unit and track: place of its latest piece here, plus 1; 0: none */
    size_t last_capacity;
    _Atomic size_t bytes;
    char padding[64]; /* a cache line of its own */
};

struct sta_pieces {
    uint32_t tracks;
    unsigned workers;
    struct list *lists;
};

struct sta_pieces *sta_pieces_create(uint32_t tracks, unsigned workers)
{
    struct sta_pieces *pieces = sta_alloc(sizeof *pieces);
    *pieces = (struct sta_pieces){.tracks = tracks, .workers = workers};
    pieces->lists = sta_alloc_array(workers, sizeof *pieces->lists);
    return pieces;
}

static void empty(struct sta_pieces *pieces)
{
    for (unsigned w = 0; w < pieces->workers; w++) {
        free(pieces->lists[w].items);
        free(pieces->lists[w].last);
    }
    free(pieces->lists);
    pieces->lists = sta_alloc_array(pieces->workers, sizeof *pieces->lists);
}

void sta_pieces_destroy(struct sta_pieces *pieces)
{
    if (pieces == NULL)
        return;
    empty(pieces);
    free(pieces->lists);
    free(pieces);
}

static size_t *last_of(struct list *list, size_t track)
{
    size_t before = list->last_capacity;
    STA_GROW(list->last, list->last_capacity, track + 1);
    if (list->last_capacity > before)
        memset(list->last + before, 0, (list->last_capacity - before) * sizeof *list->last);
    return &list->last[track];
}

void sta_pieces_add(struct sta_pieces *pieces, unsigned worker, uint32_t unit, uint32_t track, int64_t from,
                    int64_t to)
{
    struct list *list = &pieces->lists[worker];
    size_t *last = last_of(list, (size_t)unit * pieces->tracks + track);
    if (*last > 0 && list->items[*last - 1].te == from) {
        list->items[*last - 1].te = to;
        return;
    }
    STA_GROW(list->items, list->capacity, list->count + 1);
    list->items[list->count++] = (struct sta_span){.ts = from, .te = to, .cell = unit, .mask = track};
    *last = list->count;
    atomic_store_explicit(&list->bytes,
                          list->capacity * sizeof *list->items + list->last_capacity * sizeof *list->last,
                          memory_order_relaxed);
}

size_t sta_pieces_bytes(const struct sta_pieces *pieces)
{
    size_t bytes = 0;
    for (unsigned w = 0; w < pieces->workers; w++)
        bytes += atomic_load_explicit(&pieces->lists[w].bytes, memory_order_relaxed);
    return bytes;
}

/* All lists in one array, with room behind for as many. */
static struct sta_span *gather(struct sta_pieces *pieces, size_t *count)
{
    *count = 0;
    for (unsigned w = 0; w < pieces->workers; w++)
        *count += pieces->lists[w].count;
    struct sta_span *all = sta_alloc_array(*count * 2 + 1, sizeof *all);
    size_t put = 0;
    for (unsigned w = 0; w < pieces->workers; w++) {
        if (pieces->lists[w].count > 0)
            memcpy(all + put, pieces->lists[w].items, pieces->lists[w].count * sizeof *all);
        put += pieces->lists[w].count;
    }
    empty(pieces);
    return all;
}

/* Stable, by unit and track. */
static void deal_out(const struct sta_pieces *pieces, const struct sta_span *from, struct sta_span *to,
                     size_t count)
{
    size_t tracks = 0;
    for (size_t i = 0; i < count; i++)
        tracks = STA_MAX(tracks, ((size_t)from[i].cell + 1) * pieces->tracks);
    size_t *place = sta_alloc_array(tracks + 1, sizeof *place);
    for (size_t i = 0; i < count; i++)
        place[(size_t)from[i].cell * pieces->tracks + from[i].mask + 1]++;
    for (size_t t = 0; t < tracks; t++)
        place[t + 1] += place[t];
    for (size_t i = 0; i < count; i++)
        to[place[(size_t)from[i].cell * pieces->tracks + from[i].mask]++] = from[i];
    free(place);
}

struct sta_span *sta_pieces_join(struct sta_pieces *pieces, size_t *count)
{
    size_t all;
    struct sta_span *memory = gather(pieces, &all);
    struct sta_span *sorted = sta_spans_sort(memory, memory + all, all);
    struct sta_span *dealt = sorted == memory ? memory + all : memory;
    deal_out(pieces, sorted, dealt, all);
    size_t kept = 0;
    for (size_t i = 0; i < all; i++) {
        struct sta_span *before = kept > 0 ? &memory[kept - 1] : NULL;
        if (before != NULL && before->cell == dealt[i].cell && before->mask == dealt[i].mask &&
            before->te == dealt[i].ts)
            before->te = dealt[i].te;
        else
            memory[kept++] = dealt[i];
    }
    *count = kept;
    return memory;
}
