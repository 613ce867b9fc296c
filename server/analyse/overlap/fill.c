/* Which events fill an interval.
 *
 * DESIGN.  One pass offers each event to the intervals of its unit that it reaches into.  An interval keeps
 * the best few, by covered time and then by the order of events, under one of some locks; a look at the least
 * of them, without the lock, turns most offers away.  Since that order is total it does not matter who offers
 * first.  What is kept is where the events stand in the store; their names are read afterwards, row group by
 * row group. */
#include "analyse/overlap/charge.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/overlap/tables.h"
#include "common/account.h"
#include "common/buffer.h"
#include "common/memory.h"

#define LOCKS 64

static const char WHAT[] = "the events of the intervals";

struct candidate {
    int64_t covered, ts, dur; /* ticks */
    const struct sta_row_group *row_group;
    uint32_t row, mask;
    const char *json; /* set in the end */
};

struct bucket {
    _Atomic int64_t least; /* covered by the last of a full list, else -1 */
    uint32_t count;
    struct candidate *best; /* best first */
};

struct filling {
    const struct sta_overlap_request *request;
    const struct sta_overlap_binding *binding;
    struct sta_account *account;
    const struct sta_span *intervals;
    size_t count;
    bool outside;
    uint32_t most;
    uint32_t *order; /* intervals by unit, then start */
    uint32_t *first; /* by unit: its first in order */
    uint32_t units;
    struct bucket *buckets; /* by interval */
    struct candidate *memory;
    struct candidate **kept; /* by row group, then row */
    size_t kept_count;
    struct sta_arena texts;
    pthread_mutex_t locks[LOCKS];
};

/* ---- intervals of a unit */

static int compare_places(const void *a, const void *b, void *context)
{
    const struct sta_span *intervals = context;
    const struct sta_span *x = &intervals[*(const uint32_t *)a];
    const struct sta_span *y = &intervals[*(const uint32_t *)b];
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

static int index_intervals(struct filling *filling, struct sta_error *err)
{
    for (size_t i = 0; i < filling->count; i++) {
        filling->order[i] = (uint32_t)i;
        filling->first[filling->intervals[i].cell + 1]++;
    }
    for (uint32_t u = 0; u < filling->units; u++)
        filling->first[u + 1] += filling->first[u];
    return sta_sort(filling->binding->budget, filling->order, filling->count, sizeof *filling->order,
                    compare_places, (void *)(uintptr_t)filling->intervals, err);
}

/* The first interval of a unit that ends behind @from. */
static uint32_t first_behind(const struct filling *filling, uint32_t unit, int64_t from)
{
    uint32_t low = filling->first[unit];
    uint32_t high = filling->first[unit + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (filling->intervals[filling->order[middle]].te <= from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- offers */

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->covered != b->covered)
        return a->covered > b->covered;
    if (a->ts != b->ts)
        return a->ts < b->ts;
    if (a->row_group->segment != b->row_group->segment)
        return a->row_group->segment < b->row_group->segment;
    return a->row_group->index != b->row_group->index ? a->row_group->index < b->row_group->index
                                                      : a->row < b->row;
}

static void keep(struct bucket *bucket, const struct candidate *candidate, uint32_t most)
{
    uint32_t at = bucket->count;
    if (at == most && !is_better(candidate, &bucket->best[most - 1]))
        return;
    at = at == most ? most - 1 : bucket->count++;
    for (; at > 0 && is_better(candidate, &bucket->best[at - 1]); at--)
        bucket->best[at] = bucket->best[at - 1];
    bucket->best[at] = *candidate;
    if (bucket->count == most)
        atomic_store_explicit(&bucket->least, bucket->best[most - 1].covered, memory_order_relaxed);
}

static void offer(struct filling *filling, uint32_t interval, const struct candidate *candidate)
{
    struct bucket *bucket = &filling->buckets[interval];
    if (candidate->covered < atomic_load_explicit(&bucket->least, memory_order_relaxed))
        return;
    pthread_mutex_lock(&filling->locks[interval % LOCKS]);
    keep(bucket, candidate, filling->most);
    pthread_mutex_unlock(&filling->locks[interval % LOCKS]);
}

static void offer_event(struct filling *filling, uint32_t unit, const struct sta_overlap_part *part,
                        struct candidate *candidate)
{
    if (unit >= filling->units)
        return; /* met for the first time now, so it has no intervals */
    for (uint32_t at = first_behind(filling, unit, part->from); at < filling->first[unit + 1]; at++) {
        const struct sta_span *interval = &filling->intervals[filling->order[at]];
        if (interval->ts >= part->to)
            return;
        candidate->covered = STA_MIN(interval->te, part->to) - STA_MAX(interval->ts, part->from);
        offer(filling, filling->order[at], candidate);
    }
}

static int take_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct filling *filling = self;
    struct sta_overlap_events events;
    int rc = sta_overlap_read(filling->binding, worker, rows, &events, err);
    for (uint32_t i = 0; rc == 0 && i < events.count; i++) {
        uint32_t row = sta_overlap_row(&events, i);
        struct sta_overlap_part part =
            sta_part_of(sta_overlap_window(filling->request), events.ts[row], events.dur[row]);
        uint32_t mask = events.masks[row];
        if (part.outside || part.from == part.to || mask == STA_NOT_THERE || (mask == 0 && !filling->outside))
            continue;
        struct candidate candidate = {.ts = events.ts[row],
                                      .dur = events.dur[row],
                                      .row_group = rows->row_group,
                                      .row = row,
                                      .mask = mask};
        offer_event(filling, events.units[row], &part, &candidate);
    }
    return rc;
}

static int scan_events(struct filling *filling, struct sta_error *err)
{
    struct sta_accumulator accumulator = {filling, take_rows};
    struct sta_scan scan = sta_overlap_scan(filling->request);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    return sta_scan_run(&scan, filling->binding->budget, err);
}

/* ---- names of what was kept */

static int compare_kept(const void *a, const void *b, void *context)
{
    const struct candidate *x = *(struct candidate *const *)a;
    const struct candidate *y = *(struct candidate *const *)b;
    if (x->row_group != y->row_group)
        return x->row_group < y->row_group ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void put_times(const struct filling *filling, const struct candidate *candidate,
                      struct sta_buffer *out)
{
    const struct sta_overlap_request *request = filling->request;
    sta_put_text(out, ", \"time_start\": ");
    sta_put_double(out, sta_overlap_seconds(request, candidate->ts));
    sta_put_text(out, ", \"time\": ");
    sta_put_double(out, sta_overlap_seconds(request, candidate->dur));
    sta_put_text(out, ", \"covered\": ");
    sta_put_double(out, sta_overlap_seconds(request, candidate->covered));
    sta_put_text(out, ", \"sets\": ");
    sta_overlap_put_sets(request, candidate->mask, out);
    sta_put_char(out, '}');
}

static int name_event(struct filling *filling, struct sta_column_reader *reader, struct candidate *candidate,
                      struct sta_error *err)
{
    static const struct {
        const char *name;
        uint32_t column;
    } shown[] = {{"func_name", STA_LOGICAL_func_name},
                 {"cat", STA_LOGICAL_cat},
                 {"host_name", STA_LOGICAL_host_name},
                 {"pid", STA_LOGICAL_pid},
                 {"tid", STA_LOGICAL_tid},
                 {"file_name", STA_LOGICAL_file_name},
                 {"size", STA_LOGICAL_size}};
    struct sta_buffer out;
    sta_buffer_init(&out);
    if (sta_column_reader_row_group(reader) != candidate->row_group)
        sta_column_reader_seek(reader, candidate->row_group);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < STA_COUNT_OF(shown); i++) {
        struct sta_vector vector;
        rc = sta_column_reader_get(reader, shown[i].column, &vector, err);
        sta_put_format(&out, "%s\"%s\": ", i > 0 ? ", " : "{", shown[i].name);
        if (rc == 0)
            sta_overlap_put_value(vector.type, sta_vector_value(&vector, candidate->row), vector.texts, &out);
    }
    put_times(filling, candidate, &out);
    candidate->json = sta_arena_copy(&filling->texts, out.data, out.size);
    sta_buffer_fini(&out);
    return rc;
}

/* Row group by row group. */
static int name_all(struct filling *filling, struct sta_error *err)
{
    const struct sta_budget *budget = filling->binding->budget;
    for (size_t i = 0; i < filling->count; i++)
        for (uint32_t k = 0; k < filling->buckets[i].count; k++)
            filling->kept[filling->kept_count++] = &filling->buckets[i].best[k];
    int rc =
        sta_sort(budget, filling->kept, filling->kept_count, sizeof *filling->kept, compare_kept, NULL, err);
    struct sta_column_reader *reader = sta_column_reader_create(filling->request->columns);
    for (size_t i = 0; rc == 0 && i < filling->kept_count; i++) {
        rc = sta_budget_check(budget, err);
        if (rc == 0)
            rc = name_event(filling, reader, filling->kept[i], err);
    }
    sta_column_reader_destroy(reader);
    return rc;
}

static void put_column(const struct filling *filling, struct sta_table *table)
{
    struct sta_table_column *column = sta_table_add(table, "events", STA_TYPE_LIST, NULL);
    struct sta_buffer list;
    sta_buffer_init(&list);
    for (size_t i = 0; i < filling->count; i++) {
        sta_buffer_clear(&list);
        sta_put_char(&list, '[');
        for (uint32_t k = 0; k < filling->buckets[i].count; k++) {
            sta_put_text(&list, k > 0 ? ", " : "");
            sta_put_text(&list, filling->buckets[i].best[k].json);
        }
        sta_put_char(&list, ']');
        sta_table_set_text(table, column, i, list.data, list.size);
    }
    sta_buffer_fini(&list);
}

/* ---- start and end */

static int filling_init(struct filling *filling, struct sta_error *err)
{
    struct sta_account *account = filling->account;
    const size_t count = filling->count + 1, most = filling->count * filling->most + 1;
    filling->texts.account = account;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_init(&filling->locks[i], NULL);
    filling->order = sta_account_alloc(account, count, sizeof *filling->order, WHAT, err);
    filling->first =
        sta_account_calloc(account, (size_t)filling->units + 1, sizeof *filling->first, WHAT, err);
    filling->buckets = sta_account_calloc(account, count, sizeof *filling->buckets, WHAT, err);
    filling->memory = sta_account_alloc(account, most, sizeof *filling->memory, WHAT, err);
    filling->kept = sta_account_alloc(account, most, sizeof *filling->kept, WHAT, err);
    if (filling->order == NULL || filling->first == NULL || filling->buckets == NULL ||
        filling->memory == NULL || filling->kept == NULL)
        return sta_error_wrap(err, "ask for fewer intervals (longest) or fewer events of each");
    for (size_t i = 0; i < filling->count; i++) {
        filling->buckets[i].least = -1;
        filling->buckets[i].best = filling->memory + i * filling->most;
    }
    return index_intervals(filling, err);
}

static void filling_fini(struct filling *filling)
{
    void *const all[] = {filling->order, filling->first, filling->buckets, filling->memory, filling->kept};
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&filling->locks[i]);
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(filling->account, all[i]);
    sta_arena_fini(&filling->texts);
}

int sta_overlap_fill(const struct sta_overlap_binding *binding, const struct sta_span *intervals,
                     size_t count, bool outside, struct sta_table *table, struct sta_error *err)
{
    struct filling filling = {.request = binding->request,
                              .binding = binding,
                              .account = binding->budget->account,
                              .intervals = intervals,
                              .count = count,
                              .outside = outside,
                              .most = binding->request->events,
                              .units = sta_scope_unit_count(binding->scope)};
    int rc = filling_init(&filling, err);
    if (rc == 0)
        rc = scan_events(&filling, err);
    if (rc == 0)
        rc = name_all(&filling, err);
    if (rc == 0)
        put_column(&filling, table);
    filling_fini(&filling);
    return rc;
}
