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
    *top = (struct sta_top){.plain = plain, .bound = {UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    STA_ASSERT(uv_mutex_init(&top->lock) == 0);
    if (after != NULL)
        top->least = sta_sort_key_lead(&plain->keys[0], after);
    top->parts = sta_alloc_array(count + 1, sizeof *top->parts);
    for (size_t i = 0; i < count; i++)
        top->parts[i] = (struct sta_top_part){least_lead(plain, i), (uint32_t)i};
    qsort(top->parts, count, sizeof *top->parts, by_lead);
}

void sta_top_fini(struct sta_top *top)
{
    uv_mutex_destroy(&top->lock);
    free(top->parts);
    *top = (struct sta_top){0};
}

static struct sta_top_bound bound_of(struct sta_top *top)
{
    uv_mutex_lock(&top->lock);
    struct sta_top_bound bound = top->bound;
    uv_mutex_unlock(&top->lock);
    return bound;
}

/* Whether all rows of a part come later than a row. */
static bool is_later(const struct sta_path *path, size_t number, const struct sta_top_bound *bound)
{
    const struct sta_path_part *part = &path->parts[number];
    const struct sta_block *block =
        sta_snapshot_block(path->events->traces[part->trace].snapshot, part->block);
    return part->trace != bound->trace ? part->trace > bound->trace
                                       : sta_sort_word(block->ts_min) > bound->at;
}

bool sta_top_part(struct sta_top *top, size_t number, size_t *part)
{
    const struct sta_top_part *next = &top->parts[number];
    struct sta_top_bound bound = bound_of(top);
    *part = next->part;
    if (next->lead != bound.lead || top->plain->stage->order_count > 1)
        return next->lead <= bound.lead;
    return !is_later(top->plain->path, next->part, &bound);
}

/* ---- rows */

int sta_top_narrow(struct sta_top *top, struct sta_lane *lane, uint32_t *kept, struct sta_error *err)
{
    uint64_t bound = bound_of(top).lead;
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

static bool is_less(const struct sta_top_bound *a, const struct sta_top_bound *b)
{
    if (a->lead != b->lead)
        return a->lead < b->lead;
    return a->trace != b->trace ? a->trace < b->trace : a->at < b->at;
}

void sta_top_lower(struct sta_top *top, const uint64_t *key)
{
    const uint64_t *place = key + top->plain->sort_words;
    struct sta_top_bound bound = {sta_sort_key_lead(&top->plain->keys[0], key), place[0], place[1]};
    uv_mutex_lock(&top->lock);
    if (is_less(&bound, &top->bound))
        top->bound = bound;
    uv_mutex_unlock(&top->lock);
}
