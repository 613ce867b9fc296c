/* What may be among the first rows; see top.h. */
#include "analyse/query/rows/top.h"

#include <stdlib.h>

#include "analyse/query/rows/plain_private.h"
#include "common/memory.h"

/* ---- parts */

static uint64_t least_lead(const struct sta_plain *plain, size_t part)
{
    int column = sta_plain_key_column(plain, 0);
    double low, high;
    if (column < 0 || !sta_path_range(plain->path, part, (uint32_t)column, &low, &high))
        return 0;
    return sta_sort_key_least(&plain->keys[0], low, high);
}

static int by_lead(const void *a, const void *b)
{
    const struct sta_top_part *x = a, *y = b;
    return x->lead != y->lead ? (x->lead > y->lead) - (x->lead < y->lead)
                              : (x->part > y->part) - (x->part < y->part);
}

void sta_top_init(struct sta_top *top, const struct sta_plain *plain, const uint64_t *after)
{
    size_t count = plain->path->part_count;
    *top = (struct sta_top){.plain = plain, .bound = UINT64_MAX};
    if (after != NULL)
        top->least = sta_sort_key_lead(&plain->keys[0], after);
    top->parts = sta_alloc_array(count + 1, sizeof *top->parts);
    for (size_t i = 0; i < count; i++)
        top->parts[i] = (struct sta_top_part){least_lead(plain, i), (uint32_t)i};
    qsort(top->parts, count, sizeof *top->parts, by_lead);
}

void sta_top_fini(struct sta_top *top)
{
    free(top->parts);
    *top = (struct sta_top){0};
}

bool sta_top_part(const struct sta_top *top, size_t number, size_t *part)
{
    *part = top->parts[number].part;
    return top->parts[number].lead <= atomic_load_explicit(&top->bound, memory_order_relaxed);
}

/* ---- rows */

int sta_top_narrow(const struct sta_top *top, struct sta_lane *lane, uint32_t *kept, struct sta_error *err)
{
    uint64_t bound = atomic_load_explicit(&top->bound, memory_order_relaxed);
    struct sta_vector vector;
    if (top->least == 0 && bound == UINT64_MAX)
        return 0;
    int rc = sta_plain_key_vector(top->plain, lane, 0, &vector, err);
    if (rc == 0)
        sta_lane_keep(lane, kept,
                      sta_sort_key_keep(&top->plain->keys[0], &vector, lane->selected, lane->count,
                                        top->least, bound, kept));
    return rc;
}

void sta_top_lower(struct sta_top *top, const uint64_t *key)
{
    uint64_t lead = sta_sort_key_lead(&top->plain->keys[0], key);
    uint64_t bound = atomic_load_explicit(&top->bound, memory_order_relaxed);
    while (lead < bound && !atomic_compare_exchange_weak_explicit(&top->bound, &bound, lead,
                                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}
