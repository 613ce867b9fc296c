/* A pass in order of time whose row groups cover the same time: with little memory they are visited part by
 * part, and nobody sees another order, a row twice, or one too few. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/sources/scan.h"
#include "common/memory.h"
#include "built_in.h"
#include "made_trace.h"

#define EVENTS 900
#define FILES 3

struct seen {
    int64_t ts, number; /* of the event: its duration */
};

struct order {
    struct seen items[EVENTS];
    size_t count;
    _Atomic uint32_t visits, rows; /* of an accumulator beside */
};

/* Three files, each a row group; they begin one after the other, and many of their events begin together. */
static struct made_event *make_events(void)
{
    static const char *const paths[] = {"a.pfw", "b.pfw", "c.pfw"};
    struct made_event *events = sta_alloc_array(EVENTS, sizeof *events);
    for (int64_t i = 0; i < EVENTS; i++)
        events[i] = (struct made_event){.source = paths[i / (EVENTS / FILES)],
                                        .ts = i % (EVENTS / FILES) / 4 * 4 + i / (EVENTS / FILES) * 52,
                                        .dur = i + 1,
                                        .name = "read",
                                        .cat = "posix",
                                        .pid = 1,
                                        .tid = 1};
    return events;
}

static int count_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct order *order = self;
    order->visits++;
    order->rows += rows->count;
    return 0;
}

static int take(void *self, unsigned worker, const void *context, struct sta_ordered_out *out,
                struct sta_error *err)
{
    const struct sta_scan_rows *rows = context;
    const struct sta_column_values *ts, *dur;
    uint32_t numbers[EVENTS], units[EVENTS] = {0};
    struct sta_ordered_part part = {0};
    cr_assert_eq(sta_column_reader_physical(rows->reader, STA_COLUMN_TS, &ts, err), 0);
    cr_assert_eq(sta_column_reader_physical(rows->reader, STA_COLUMN_DUR, &dur, err), 0);
    for (uint32_t i = 0; i < rows->count; i++)
        numbers[i] = sta_scan_row(rows, i);
    const struct sta_ordered_rows given = {numbers, rows->count, ts->integers, units, 1};
    int rc;
    while ((rc = sta_ordered_place(out, &given, &part, err)) == 0 && part.first < part.end)
        for (uint32_t i = part.first; i < part.end; i++)
            ((struct seen *)part.records)[part.next[0]++] =
                (struct seen){ts->integers[numbers[i]], dur->integers[numbers[i]]};
    return rc;
}

static int append(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    struct order *order = self;
    size_t count;
    const struct seen *records = sta_slice_records(slice, &count);
    cr_assert_leq(order->count + count, EVENTS);
    if (count > 0)
        memcpy(order->items + order->count, records, count * sizeof *records);
    order->count += count;
    return 0;
}

static void run(struct sta_columns *columns, int64_t from, int64_t to, size_t memory, unsigned workers,
                struct order *order)
{
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_budget budget = {.workers = workers, .memory = memory};
    const struct sta_accumulator accumulator = {order, count_rows};
    const struct sta_ordered_consumer consumer = {
        .self = order, .record = sizeof(struct seen), .take = take, .carry = append};
    const struct sta_scan scan = {.columns = columns,
                                  .from = from,
                                  .to = to,
                                  .accumulators = &accumulator,
                                  .accumulator_count = 1,
                                  .ordered = &consumer,
                                  .ordered_count = 1,
                                  .slice_rows = 50};
    memset(order, 0, sizeof *order);
    cr_assert_eq(sta_scan_run(&scan, &budget, &err), 0, "%s", err.text);
}

static void check(struct sta_columns *columns, int64_t from, int64_t to, size_t wanted)
{
    struct order at_once, in_parts;
    run(columns, from, to, (size_t)1 << 30, 1, &at_once);
    cr_assert_eq(at_once.count, wanted);
    cr_assert_eq(at_once.rows, wanted);
    for (size_t i = 1; i < wanted; i++)
        cr_assert_leq(at_once.items[i - 1].ts, at_once.items[i].ts);
    for (unsigned workers = 1; workers <= 3; workers++)
        for (size_t memory = 1 << 8; memory <= 1 << 16; memory *= 4) {
            run(columns, from, to, memory, workers, &in_parts);
            cr_assert_eq(in_parts.count, wanted);
            cr_assert_eq(in_parts.rows, wanted);
            cr_assert_arr_eq(in_parts.items, at_once.items, wanted * sizeof *in_parts.items);
            if (memory == 1 << 8 && from == INT64_MIN)
                cr_assert_gt(in_parts.visits, 5 * at_once.visits, "%u visits", in_parts.visits);
        }
}

Test(scan_order, row_groups_that_cover_the_same_time_are_visited_in_parts_when_memory_is_short)
{
    struct made_event *events = make_events();
    struct made_trace trace;
    struct sta_columns *columns;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_presets *presets = load_built_in(NULL);
    made_trace_init(&trace, events, EVENTS, EVENTS / FILES, FILES);
    const struct sta_columns_options options = {.presets = presets};
    cr_assert_eq(sta_columns_create(trace.snapshot, &options, &columns, &err), 0, "%s", err.text);
    check(columns, INT64_MIN, INT64_MAX, EVENTS);
    check(columns, 104, 204, 100 * FILES);
    check(columns, 120, 121, 4 * FILES);
    sta_columns_destroy(columns);
    sta_presets_release(presets);
    made_trace_fini(&trace);
    free(events);
}
