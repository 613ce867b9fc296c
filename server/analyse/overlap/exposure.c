/* Events against busy time.
 *
 * The busy time of a set in a unit is a track of intervals, of which it is known how much lies before a
 * moment.  What an event has of it is the difference between its end and its start. */
#include "analyse/overlap/exposure.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/bounded_sum.h"
#include "analyse/budget.h"
#include "analyse/overlap/tables.h"
#include "common/memory.h"

#define PARTS_OF_BYTE                                                                                        \
    4294967296.0 /* bytes are summed in these: sums of integers do not depend on their order */

/* Of one ordered pair. */
struct exposed {
    int64_t hidden, partial, exposed, instant;
    int64_t time, time_exposed; /* ticks; bounded sums */
    __int128 size, size_exposed;
};

struct worker {
    struct sta_overlap_reader *reader;
    struct exposed pairs[STA_OVERLAP_SETS][STA_OVERLAP_SETS];
};

struct measuring {
    const struct sta_overlap_request *request;
    const struct sta_tracks *busy;
    struct worker *workers;
};

/* ---- events */

struct event {
    struct sta_part part;
    int64_t dur, size; /* size 0: none */
    uint32_t unit, mask;
};

static __int128 share_of(const struct event *event, int64_t part)
{
    return (__int128)((double)event->size * ((double)part / (double)event->dur) * PARTS_OF_BYTE);
}

static void add_event(const struct measuring *measuring, struct exposed *pair, const struct event *event,
                      uint32_t against)
{
    const struct sta_part *part = &event->part;
    int64_t time = part->to - part->from;
    if (event->dur <= 0)
        pair->size += (__int128)((double)event->size * PARTS_OF_BYTE);
    else
        pair->size += share_of(event, time);
    if (time == 0) {
        pair->instant++;
        return;
    }
    int64_t inside = 0;
    if (event->unit < measuring->busy->units) {
        size_t track = (size_t)event->unit * measuring->request->set_count + against;
        inside = sta_tracks_before(measuring->busy, track, part->to) -
                 sta_tracks_before(measuring->busy, track, part->from);
    }
    pair->hidden += inside == time;
    pair->partial += inside > 0 && inside < time;
    pair->exposed += inside == 0;
    pair->time = sta_bounded_add(pair->time, time);
    pair->time_exposed = sta_bounded_add(pair->time_exposed, time - inside);
    pair->size_exposed += share_of(event, time - inside);
}

static int64_t size_at(const struct sta_vector *sizes, uint32_t row)
{
    row = sizes->constant ? 0 : row;
    return sizes->missing != NULL && sizes->missing[row] ? 0 : sizes->integers[row];
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct measuring *measuring = self;
    struct worker *worker = &measuring->workers[number];
    struct sta_overlap_events events;
    struct sta_vector sizes;
    int rc = sta_overlap_reader_read(worker->reader, rows, &events, err);
    if (rc == 0)
        rc = sta_column_reader_get(rows->reader, STA_LOGICAL_size, &sizes, err);
    for (uint32_t i = 0; rc == 0 && i < events.count; i++) {
        uint32_t row = events.selected != NULL ? events.selected[i] : i;
        struct event event = {
            .part = sta_part_of(sta_overlap_window(measuring->request), events.ts[row], events.dur[row]),
            .dur = events.dur[row],
            .size = size_at(&sizes, row),
            .unit = events.units[row],
            .mask = events.masks[row]};
        if (event.part.outside || event.mask == STA_NOT_THERE)
            continue;
        for (uint32_t mask = event.mask; mask != 0; mask &= mask - 1) {
            uint32_t a = (uint32_t)__builtin_ctz(mask);
            for (uint32_t b = 0; b < measuring->request->set_count; b++)
                if (a != b)
                    add_event(measuring, &worker->pairs[a][b], &event, b);
        }
    }
    return rc;
}

/* ---- the table */

static void add_pair(struct exposed *sum, const struct exposed *part)
{
    sum->hidden += part->hidden;
    sum->partial += part->partial;
    sum->exposed += part->exposed;
    sum->instant += part->instant;
    sum->time = sta_bounded_add(sum->time, part->time);
    sum->time_exposed = sta_bounded_add(sum->time_exposed, part->time_exposed);
    sum->size += part->size;
    sum->size_exposed += part->size_exposed;
}

static void put_row(const struct sta_overlap_request *request, struct sta_table *table, size_t row,
                    uint32_t a, uint32_t b, const struct exposed *sum)
{
    const char *names[] = {request->sets[a].name, request->sets[b].name};
    const int64_t counts[] = {sum->hidden, sum->partial, sum->exposed, sum->instant};
    const int64_t times[] = {sum->time, sum->time_exposed};
    const double sizes[] = {(double)sum->size / PARTS_OF_BYTE, (double)sum->size_exposed / PARTS_OF_BYTE};
    struct sta_table_column *column = table->columns;
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_table_set_text(table, column++, row, names[i], strlen(names[i]));
    for (size_t i = 0; i < STA_COUNT_OF(counts); i++)
        sta_table_set_int(column++, row, counts[i]);
    for (size_t i = 0; i < STA_COUNT_OF(times); i++, column++)
        if (times[i] == STA_TOO_LARGE)
            column->too_large++;
        else
            sta_table_set_number(column, row, sta_overlap_seconds(request, times[i]));
    for (size_t i = 0; i < STA_COUNT_OF(sizes); i++)
        sta_table_set_number(column++, row, sizes[i]);
}

static void put_table(const struct measuring *measuring, unsigned workers, struct sta_table *table)
{
    static const struct {
        const char *name;
        enum sta_type type;
        const char *unit;
    } columns[] = {{"set", STA_TYPE_TEXT, NULL},    {"against", STA_TYPE_TEXT, NULL},
                   {"hidden", STA_TYPE_INT, NULL},  {"partial", STA_TYPE_INT, NULL},
                   {"exposed", STA_TYPE_INT, NULL}, {"instant", STA_TYPE_INT, NULL},
                   {"time", STA_TYPE_FLOAT, "s"},   {"time_exposed", STA_TYPE_FLOAT, "s"},
                   {"size", STA_TYPE_FLOAT, "B"},   {"size_exposed", STA_TYPE_FLOAT, "B"}};
    uint32_t sets = measuring->request->set_count;
    sta_table_init(table, (size_t)sets * (sets - 1));
    for (size_t c = 0; c < STA_COUNT_OF(columns); c++)
        sta_table_add(table, columns[c].name, columns[c].type, columns[c].unit);
    size_t row = 0;
    for (uint32_t a = 0; a < sets; a++)
        for (uint32_t b = 0; b < sets; b++) {
            struct exposed sum = {0};
            if (a == b)
                continue;
            for (unsigned w = 0; w < workers; w++)
                add_pair(&sum, &measuring->workers[w].pairs[a][b]);
            put_row(measuring->request, table, row++, a, b, &sum);
        }
}

int sta_overlap_exposure(const struct sta_overlap_binding *binding, const struct sta_tracks *busy,
                         const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    unsigned workers = sta_budget_workers(budget);
    struct measuring measuring = {.request = binding->request,
                                  .busy = busy,
                                  .workers = sta_alloc_array(workers, sizeof *measuring.workers)};
    for (unsigned w = 0; w < workers; w++)
        measuring.workers[w].reader = sta_overlap_reader_create(binding);
    struct sta_accumulator accumulator = {&measuring, take_rows};
    struct sta_scan scan = sta_overlap_scan(binding->request);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    int rc = sta_scan_run(&scan, budget, err);
    if (rc == 0)
        put_table(&measuring, workers, table);
    for (unsigned w = 0; w < workers; w++)
        sta_overlap_reader_destroy(measuring.workers[w].reader);
    free(measuring.workers);
    return rc;
}
