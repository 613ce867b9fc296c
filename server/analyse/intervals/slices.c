/* Cuts the time axis where about `slice_rows` rows have passed, taking the rows of a block as spread evenly
 * over its time.
 *
 * Many segments may cover the same time, so cutting at the ends of blocks would give slices of very different
 * size.  The estimate only steers sizes: a slice's content is found exactly, by searching each member block
 * for its bounds. */
#include "analyse/intervals/slices.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* At a time, rows per tick begin (density > 0) or end; `rows` fall there at once. */
struct change {
    int64_t at;
    double density, rows;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static struct change *changes_of(const struct sta_timeline_block *blocks, size_t block_count)
{
    struct change *changes = sta_alloc_array(block_count * 2 + 1, sizeof *changes);
    for (size_t i = 0; i < block_count; i++) {
        double width = (double)blocks[i].ts_max - (double)blocks[i].ts_min;
        double rows = (double)blocks[i].rows;
        double density = width > 0 ? rows / width : 0;
        changes[i * 2] = (struct change){blocks[i].ts_min, density, width > 0 ? 0 : rows};
        changes[i * 2 + 1] = (struct change){blocks[i].ts_max, -density, 0};
    }
    qsort(changes, block_count * 2, sizeof *changes, compare_changes);
    return changes;
}

struct cuts {
    int64_t *bounds;
    size_t count, capacity;
};

static void add_cut(struct cuts *cuts, int64_t at)
{
    if (at <= cuts->bounds[cuts->count - 1])
        return;
    STA_GROW(cuts->bounds, cuts->capacity, cuts->count + 2);
    cuts->bounds[cuts->count++] = at;
}

/* Cuts between two changes; returns the rows since the last cut. */
static double cut_stretch(struct cuts *cuts, int64_t from, int64_t to, double density, double rows,
                          double slice_rows)
{
    double end = (double)to - (double)from;
    double rest = rows + density * end;
    if (density <= 0)
        return rest;
    double done = -rows / density; /* where the last cut would lie at this density */
    while (rest >= slice_rows) {
        done += slice_rows / density;
        double step = STA_MIN(STA_MAX(done, 0) + 1, end);
        add_cut(cuts, from + (int64_t)step);
        rest -= slice_rows;
    }
    return rest;
}

static void cut(struct sta_slice_plan *plan, const struct sta_timeline_block *blocks, size_t block_count,
                size_t slice_rows)
{
    struct change *changes = changes_of(blocks, block_count);
    struct cuts cuts = {.bounds = sta_alloc_array(16, sizeof *cuts.bounds), .count = 1, .capacity = 16};
    cuts.bounds[0] = INT64_MIN;
    double density = 0;
    double rows = 0;
    for (size_t i = 0; i < block_count * 2; i++) {
        if (i > 0)
            rows = cut_stretch(&cuts, changes[i - 1].at, changes[i].at, density, rows, (double)slice_rows);
        if (rows + changes[i].rows > (double)slice_rows) {
            add_cut(&cuts, changes[i].at);
            rows = 0;
        }
        density += changes[i].density;
        rows += changes[i].rows;
    }
    free(changes);
    plan->slice_count = cuts.count;
    cuts.bounds[cuts.count] = INT64_MAX;
    plan->bounds = cuts.bounds;
}

struct placed {
    int64_t ts_min;
    uint32_t block;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    if (x->ts_min != y->ts_min)
        return x->ts_min < y->ts_min ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static void order_blocks(struct sta_slice_plan *plan, const struct sta_timeline_block *blocks,
                         size_t block_count)
{
    struct placed *placed = sta_alloc_array(block_count + 1, sizeof *placed);
    for (size_t i = 0; i < block_count; i++)
        placed[i] = (struct placed){blocks[i].ts_min, (uint32_t)i};
    qsort(placed, block_count, sizeof *placed, compare_placed);
    plan->order = sta_alloc_array(block_count + 1, sizeof *plan->order);
    for (size_t i = 0; i < block_count; i++)
        plan->order[i] = placed[i].block;
    free(placed);
}

/* Members of each slice: the blocks that began before its end and have not ended before its start. */
static void assign(struct sta_slice_plan *plan, const struct sta_timeline_block *blocks, size_t block_count)
{
    uint32_t *open = sta_alloc_array(block_count + 1, sizeof *open);
    size_t open_count = 0;
    size_t read = 0;
    size_t member_count = 0;
    size_t member_capacity = 0;
    plan->reads = sta_alloc_array(plan->slice_count, sizeof *plan->reads);
    plan->first_member = sta_alloc_array(plan->slice_count + 1, sizeof *plan->first_member);
    plan->uses = sta_alloc_array(block_count + 1, sizeof *plan->uses);
    plan->first_slice = sta_alloc_array(block_count + 1, sizeof *plan->first_slice);
    for (size_t s = 0; s < plan->slice_count; s++) {
        bool last = s + 1 == plan->slice_count;
        while (read < block_count && (last || blocks[plan->order[read]].ts_min < plan->bounds[s + 1]))
            open[open_count++] = plan->order[read++];
        STA_GROW(plan->members, member_capacity, member_count + open_count);
        size_t still_open = 0;
        for (size_t i = 0; i < open_count; i++) {
            plan->members[member_count++] = open[i];
            plan->first_slice[open[i]] = plan->uses[open[i]] == 0 ? s : plan->first_slice[open[i]];
            plan->uses[open[i]]++;
            if (!last && blocks[open[i]].ts_max >= plan->bounds[s + 1])
                open[still_open++] = open[i];
        }
        open_count = still_open;
        plan->reads[s] = read;
        plan->first_member[s + 1] = member_count;
    }
    free(open);
}

void sta_slice_plan_init(struct sta_slice_plan *plan, const struct sta_timeline_block *blocks,
                         size_t block_count, size_t slice_rows)
{
    *plan = (struct sta_slice_plan){0};
    order_blocks(plan, blocks, block_count);
    cut(plan, blocks, block_count, slice_rows);
    assign(plan, blocks, block_count);
    plan->first_use = sta_alloc_array(block_count + 1, sizeof *plan->first_use);
    for (size_t i = 0; i < block_count; i++)
        plan->first_use[i + 1] = plan->first_use[i] + plan->uses[i];
}

void sta_slice_plan_fini(struct sta_slice_plan *plan)
{
    free(plan->order);
    free(plan->bounds);
    free(plan->reads);
    free(plan->first_member);
    free(plan->members);
    free(plan->uses);
    free(plan->first_slice);
    free(plan->first_use);
    *plan = (struct sta_slice_plan){0};
}
