/* gaps: maximal intervals in which no matching event of a unit runs.
 *
 * The union of a unit's events gives the gaps; a second pass over the events finds for each gap what ran
 * before and after it.  Both passes take the threads one by one, so no list of all events is made.  Units of
 * many events are worked on one after the other by all workers, the others side by side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "timeline/selection.h"
#include "timeline/unions.h"
#include "analyse/views/members.h"
#include "common/buffer.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the gaps of the timeline"
#define LARGE_UNIT 262144u /* events of a unit that all workers share */

/* An event of the unit; thread STA_NO_LANE: none. */
struct bounded {
    int64_t start, end;
    uint32_t thread, place;
};

struct gap {
    int64_t start, end;
    uint32_t lane;
    struct bounded before, after;
};

struct gap_list {
    struct gap *items;
    size_t count, capacity;
};

/* What one worker has of a unit. */
struct part {
    struct sta_union busy;
    int64_t life_from, life_to;
    struct neighbours {
        struct bounded before, after; /* the nearest that lie right before this gap, right after it */
    } * neighbours;                   /* by gap of the unit */
};

struct unit {
    const struct gaps *gaps;
    const struct sta_budget *budget;
    uint32_t lane, first, end; /* chosen threads, side by side */
    struct part *parts;        /* by worker */
    struct gap_list list;
};

struct gaps {
    struct sta_selection selection;
    const struct sta_budget *budget;
    size_t scope;
    int64_t least; /* ticks */
    struct unit *units;
    size_t unit_count, unit_capacity;
    struct gap_list *found; /* by worker; in the end all are in the first */
    __int128 time;
};

/* ---- the gaps of a unit */

static int add_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct unit *unit = context;
    const struct sta_selection *selection = &unit->gaps->selection;
    const uint32_t number = selection->threads[unit->first + at];
    const struct sta_lane_thread *thread = &selection->index->threads[number];
    struct part *part = &unit->parts[worker];
    struct sta_thread_walk walk = sta_thread_walk(selection, number, selection->from, selection->to);
    int rc = 0;
    part->life_from = STA_MIN(part->life_from, thread->events[0].start);
    part->life_to = STA_MAX(part->life_to, thread->last);
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;)
        rc = sta_union_add(&part->busy, thread->events[place].start,
                           sta_lane_event_end(&thread->events[place]), unit->budget, err);
    return rc;
}

static int add_gap(struct unit *unit, int64_t start, int64_t end, struct sta_error *err)
{
    const struct bounded none = {.thread = STA_NO_LANE};
    struct gap_list *list = &unit->list;
    if (end - start < unit->gaps->least)
        return 0;
    int rc = STA_ACCOUNT_GROW(unit->budget->account, list->items, list->capacity, list->count + 1, WHAT, err);
    if (rc == 0) {
        list->items[list->count++] = (struct gap){start, end, unit->lane, none, none};
        rc = sta_budget_check_step(unit->budget, list->count, err);
    }
    return rc;
}

static int list_gaps(struct unit *unit, struct sta_error *err)
{
    struct part *all = &unit->parts[0];
    int rc = 0;
    for (unsigned w = 1; w < sta_budget_workers(unit->budget) && rc == 0; w++) {
        all->life_from = STA_MIN(all->life_from, unit->parts[w].life_from);
        all->life_to = STA_MAX(all->life_to, unit->parts[w].life_to);
        rc = sta_union_move(&all->busy, &unit->parts[w].busy, unit->budget, err);
    }
    if (rc == 0)
        rc = sta_union_sort(&all->busy, unit->budget, err);
    int64_t now = STA_MAX(unit->gaps->selection.from, all->life_from);
    const int64_t to = STA_MIN(unit->gaps->selection.to, all->life_to);
    for (size_t i = 0; i < all->busy.count && rc == 0 && now < to; i++) {
        const struct sta_interval *busy = &all->busy.items[i];
        if (busy->from > now)
            rc = add_gap(unit, now, STA_MIN(busy->from, to), err);
        now = STA_MAX(now, busy->to);
    }
    return rc == 0 && now < to ? add_gap(unit, now, to, err) : rc;
}

/* ---- what ran before and after them */

/* Whether an event is a better neighbour: of those before a gap the one with the largest end, of those after
 * it the one with the smallest start; then the longest, then the first in the order of lanes. */
static bool is_nearer(const struct bounded *a, const struct bounded *b, bool before)
{
    if (b->thread == STA_NO_LANE)
        return a->thread != STA_NO_LANE;
    if (a->thread == STA_NO_LANE)
        return false;
    if (before ? a->end != b->end : a->start != b->start)
        return before ? a->end > b->end : a->start < b->start;
    if (a->end - a->start != b->end - b->start)
        return a->end - a->start > b->end - b->start;
    return a->thread != b->thread ? a->thread < b->thread : a->place < b->place;
}

static void take_nearer(struct bounded *nearest, const struct bounded *event, bool before)
{
    if (is_nearer(event, nearest, before))
        *nearest = *event;
}

/* The first gap from @at on that ends behind a moment. */
static size_t pass_gaps(const struct gap_list *list, size_t at, int64_t moment)
{
    size_t step = 1, low = at;
    while (low + step <= list->count && list->items[low + step - 1].end <= moment) {
        low += step;
        step *= 2;
    }
    for (size_t high = STA_MIN(low + step, list->count); low < high;) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].end <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An event that covers something lies before the gap that ends next; an instant may lie in that one. */
static void relate_event(const struct gap_list *list, struct neighbours *neighbours, size_t next,
                         const struct bounded *event)
{
    const size_t before = next + (next < list->count && list->items[next].start < event->end);
    if (next > 0)
        take_nearer(&neighbours[next - 1].after, event, false);
    if (before < list->count)
        take_nearer(&neighbours[before].before, event, true);
}

static int relate_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct unit *unit = context;
    const struct sta_selection *selection = &unit->gaps->selection;
    const uint32_t number = selection->threads[unit->first + at];
    const struct sta_lane_thread *thread = &selection->index->threads[number];
    struct neighbours *neighbours = unit->parts[worker].neighbours;
    int rc = 0;
    size_t next = 0;
    for (uint32_t place = 0; place < thread->count && rc == 0; place++) {
        const struct sta_lane_event *event = &thread->events[place];
        if (!sta_selection_matches(selection, event->number))
            continue;
        next = pass_gaps(&unit->list, next, event->start);
        relate_event(&unit->list, neighbours, next,
                     &(struct bounded){event->start, sta_lane_event_end(event), number, place});
        rc = sta_budget_check_step(unit->budget, place + 1, err);
    }
    return rc;
}

/* Where nothing lies right before a gap, what lies before the gap before it is the nearest. */
static void finish_neighbours(struct unit *unit)
{
    struct gap *items = unit->list.items;
    for (size_t g = 0; g < unit->list.count; g++) {
        for (unsigned w = 0; w < sta_budget_workers(unit->budget); w++) {
            take_nearer(&items[g].before, &unit->parts[w].neighbours[g].before, true);
            take_nearer(&items[g].after, &unit->parts[w].neighbours[g].after, false);
        }
        if (g > 0)
            take_nearer(&items[g].before, &items[g - 1].before, true);
    }
    for (size_t g = unit->list.count; g-- > 1;)
        take_nearer(&items[g - 1].after, &items[g].after, false);
}

static int find_neighbours(struct unit *unit, struct sta_error *err)
{
    const struct neighbours none = {.before.thread = STA_NO_LANE, .after.thread = STA_NO_LANE};
    for (unsigned w = 0; w < sta_budget_workers(unit->budget); w++) {
        struct part *part = &unit->parts[w];
        part->neighbours = sta_account_alloc(unit->budget->account, unit->list.count + 1,
                                             sizeof *part->neighbours, WHAT, err);
        if (part->neighbours == NULL)
            return err->status;
        for (size_t g = 0; g < unit->list.count; g++)
            part->neighbours[g] = none;
    }
    int rc = sta_tasks_run(unit->budget, unit->end - unit->first, relate_thread, unit, err);
    if (rc == 0)
        finish_neighbours(unit);
    return rc;
}

/* ---- all units */

/* Puts the gaps of a unit to those that the worker has found. */
static int measure_unit(struct unit unit, struct gap_list *found, struct sta_error *err)
{
    struct sta_account *account = unit.budget->account;
    const unsigned workers = sta_budget_workers(unit.budget);
    unit.parts = sta_alloc_array(workers, sizeof *unit.parts);
    for (unsigned w = 0; w < workers; w++)
        unit.parts[w] = (struct part){.life_from = INT64_MAX, .life_to = INT64_MIN};
    int rc = sta_tasks_run(unit.budget, unit.end - unit.first, add_thread, &unit, err);
    if (rc == 0)
        rc = list_gaps(&unit, err);
    if (rc == 0 && unit.list.count > 0)
        rc = find_neighbours(&unit, err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(account, found->items, found->capacity, found->count + unit.list.count, WHAT,
                              err);
    if (rc == 0 && unit.list.count > 0)
        memcpy(found->items + found->count, unit.list.items, unit.list.count * sizeof *found->items);
    found->count += rc == 0 ? unit.list.count : 0;
    for (unsigned w = 0; w < workers; w++) {
        sta_union_fini(&unit.parts[w].busy, account);
        sta_account_free(account, unit.parts[w].neighbours);
    }
    free(unit.parts);
    sta_account_free(account, unit.list.items);
    return rc;
}

static int measure_alone(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct gaps *gaps = context;
    struct sta_budget alone = *gaps->budget;
    alone.workers = 1;
    alone.progress = NULL;
    struct unit unit = gaps->units[at];
    unit.budget = &alone;
    return measure_unit(unit, &gaps->found[worker], err);
}

/* Units are the lanes of the scope's level; of each the chosen threads, which lie side by side.  Large ones
 * are measured at once, the others listed. */
static int measure_large(struct gaps *gaps, struct sta_error *err)
{
    const struct sta_selection *selection = &gaps->selection;
    const struct sta_lane_tree *tree = &selection->index->tree;
    int rc = 0;
    for (uint32_t i = 0; i < selection->thread_count && rc == 0;) {
        struct unit unit = {.gaps = gaps, .budget = gaps->budget, .first = i};
        unit.lane = sta_lane_tree_above(tree, selection->threads[i], (enum sta_lane_level)gaps->scope);
        const uint32_t end = tree->lanes[unit.lane].first_thread + tree->lanes[unit.lane].thread_count;
        uint64_t events = 0;
        for (; i < selection->thread_count && selection->threads[i] < end; i++)
            events += selection->index->threads[selection->threads[i]].count;
        unit.end = i;
        if (events >= LARGE_UNIT && unit.end - unit.first > 1) {
            rc = measure_unit(unit, &gaps->found[0], err);
            continue;
        }
        rc = STA_ACCOUNT_GROW(gaps->budget->account, gaps->units, gaps->unit_capacity, gaps->unit_count + 1,
                              WHAT, err);
        if (rc == 0)
            gaps->units[gaps->unit_count++] = unit;
    }
    return rc;
}

static int measure_units(struct gaps *gaps, struct sta_error *err)
{
    struct sta_account *account = gaps->budget->account;
    struct gap_list *all = &gaps->found[0];
    int rc = measure_large(gaps, err);
    if (rc == 0)
        rc = sta_tasks_run(gaps->budget, gaps->unit_count, measure_alone, gaps, err);
    for (unsigned w = 1; w < sta_budget_workers(gaps->budget) && rc == 0; w++) {
        const struct gap_list *from = &gaps->found[w];
        rc = STA_ACCOUNT_GROW(account, all->items, all->capacity, all->count + from->count, WHAT, err);
        if (rc == 0 && from->count > 0)
            memcpy(all->items + all->count, from->items, from->count * sizeof *all->items);
        all->count += rc == 0 ? from->count : 0;
    }
    for (size_t g = 0; g < all->count; g++)
        gaps->time += all->items[g].end - all->items[g].start;
    return rc;
}

/* ---- the result */

#define GAPS_PER_LOOK 4096 /* a row has texts: some 100 ns */

static int longest_first(const void *a, const void *b, void *context)
{
    const struct gap *x = a, *y = b;
    (void)context;
    const int64_t p = x->end - x->start, q = y->end - y->start;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static void put_event(const struct gaps *gaps, struct sta_table *table, struct sta_table_column *id,
                      struct sta_table_column *name, size_t row, const struct bounded *event)
{
    const struct sta_lane_index *index = gaps->selection.index;
    if (event->thread == STA_NO_LANE)
        return;
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_put_event_id(&text, index, event->thread, event->place);
    if (!text.failed)
        sta_table_set_text(table, id, row, text.data, text.size);
    sta_buffer_fini(&text);
    struct sta_text label =
        sta_selection_name(&gaps->selection, index->threads[event->thread].events[event->place].name);
    if (label.bytes != NULL)
        sta_table_set_text(table, name, row, label.bytes, label.length);
}

static int put_table(const struct gaps *gaps, struct sta_table *table, struct sta_error *err)
{
    int rc = 0;
    static const char *const names[] = {"lane",   "start",       "end",   "time",
                                        "before", "before_name", "after", "after_name"};
    struct sta_table_column *c[8];
    sta_table_init(table, gaps->found[0].count);
    sta_table_count_in(table, gaps->budget->account);
    for (size_t i = 0; i < 8; i++)
        sta_table_add(table, names[i], i >= 1 && i <= 3 ? STA_TYPE_FLOAT : STA_TYPE_TEXT,
                      i >= 1 && i <= 3 ? "s" : NULL);
    for (size_t i = 0; i < 8; i++)
        c[i] = sta_table_find(table, names[i]);
    for (size_t i = 0; rc == 0 && i < gaps->found[0].count; i++) {
        const struct gap *gap = &gaps->found[0].items[i];
        struct sta_text lane = sta_lane_tree_id(&gaps->selection.index->tree, gap->lane);
        sta_table_set_text(table, c[0], i, lane.bytes, lane.length);
        sta_table_set_number(c[1], i, sta_selection_seconds(&gaps->selection, gap->start));
        sta_table_set_number(c[2], i, sta_selection_seconds(&gaps->selection, gap->end));
        sta_table_set_number(c[3], i, sta_selection_seconds(&gaps->selection, gap->end - gap->start));
        put_event(gaps, table, c[4], c[5], i, &gap->before);
        put_event(gaps, table, c[6], c[7], i, &gap->after);
        rc = i % GAPS_PER_LOOK == 0 ? sta_budget_check(gaps->budget, err) : 0;
    }
    if (rc != 0)
        sta_table_fini(table);
    return rc;
}

static int read_members(struct gaps *gaps, struct sta_error *err)
{
    const struct sta_document *request = gaps->selection.query->request;
    double least = 0;
    bool given = false;
    gaps->scope = STA_LANE_THREAD;
    int rc = sta_member_word(request, "scope", sta_lane_level_names, STA_LANE_LEVELS, &gaps->scope, err);
    if (rc == 0)
        rc = sta_member_number(request, "min", &least, &given, err);
    if (rc != 0)
        return rc;
    if (!(least >= 0) || !isfinite(least)) {
        sta_fail(err, STA_EINPUT, "expected a number of seconds from 0");
        return sta_at_member(err, "min", NULL, -1);
    }
    gaps->least = STA_MAX(1, sta_selection_ticks(&gaps->selection, least));
    return 0;
}

int sta_timeline_gaps(const struct sta_timeline_query *query, const struct sta_budget *budget,
                      struct sta_table *table, struct sta_timeline_gaps *figures, struct sta_error *err)
{
    static const char *const own[] = {"scope", "min", NULL};
    struct gaps gaps = {.budget = budget};
    const unsigned workers = sta_budget_workers(budget);
    gaps.found = sta_alloc_array(workers, sizeof *gaps.found);
    int rc = sta_selection_init(&gaps.selection, query, own, budget, err);
    if (rc == 0)
        rc = read_members(&gaps, err);
    if (rc == 0)
        rc = measure_units(&gaps, err);
    if (rc == 0)
        rc = sta_sort(budget, gaps.found[0].items, gaps.found[0].count, sizeof *gaps.found[0].items,
                      longest_first, NULL, err);
    if (rc == 0) {
        rc = put_table(&gaps, table, err);
        figures->scope = sta_lane_level_names[gaps.scope];
        figures->time = (double)gaps.time / (double)gaps.selection.index->ticks_per_second;
    }
    for (unsigned w = 0; w < workers; w++)
        sta_account_free(budget->account, gaps.found[w].items);
    free(gaps.found);
    sta_account_free(budget->account, gaps.units);
    sta_selection_fini(&gaps.selection);
    return rc;
}
