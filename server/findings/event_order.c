/* One pass in order of time, rank by rank: gaps are those of the rank, jumps and repeated events those of its
 * threads.
 *
 * Equal events have equal starts, so they are in the same slice, next to each other but for events of the
 * rank's other threads; they are distinguished by a hash of 64 bits over thread and all columns.  Reading all
 * arguments costs more than the rest of the pass, and most traces repeat nothing: the first pass hashes what
 * is cheap to read, and only when two events agree in that, another pass hashes everything. */
#include "findings/event_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/sources/scan.h"
#include "common/memory.h"

static const char WHAT[] = "the order of events";
#define JUMP_US 1000
#define EXACT_WHOLE 0x1p53 /* whole numbers below it have a double of their own */

struct record {
    int64_t ts, from, to; /* from, to: cut to the window */
    uint64_t hash;        /* 0: the event covers nothing */
    uint32_t thread, unused;
};

/* Of a rank. */
struct gap {
    int64_t covered; /* INT64_MIN: no event yet */
    int64_t from, to;
};

/* An event that begins with others. */
struct opening {
    uint32_t thread;
    int64_t ts, to;
};

/* Ends of a thread's open events, the latest first. */
struct stack {
    int64_t *ends;
    size_t count, capacity;
};

struct worker {
    uint32_t rows[STA_ROW_GROUP_ROWS];
    uint32_t ranks[STA_ROW_GROUP_ROWS]; /* by row */
    uint64_t hashes[STA_ROW_GROUP_ROWS];
    int64_t lasting, repeated, copies;
    uint64_t *sorted;
    size_t sorted_capacity;
    struct opening *openings;
    size_t opening_capacity;
    char padding[64]; /* a cache line of its own */
};

struct pass {
    const struct sta_run *run;
    const struct sta_phases *phases;
    struct sta_account *account;
    struct sta_overlap_request request;
    struct sta_overlap_binding binding; /* threads */
    struct worker **workers;
    unsigned worker_count;
    uint32_t keys; /* of args, that are hashed */
    struct gap *gaps;
    struct stack *stacks;
    uint32_t thread_count, *thread_of_unit;
    int64_t tolerance, tick;
    int64_t jumps;
    struct sta_jump shown[STA_JUMPS_SHOWN]; /* the first, in order */
    size_t shown_count;
};

/* ---- hashes */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void hash_codes(const uint32_t *codes, uint64_t salt, uint32_t rows, uint64_t *hashes)
{
    for (uint32_t row = 0; row < rows; row++) {
        const uint64_t hash = mix(hashes[row], salt + codes[row]);
        hashes[row] = codes[row] != STA_NO_CODE ? hash : hashes[row];
    }
}

/* One value, the same whatever kinds the other values of its row group have: among numbers with a fraction a
 * whole number is stored as one of these. */
static uint64_t hash_value(uint64_t hash, uint64_t salt, enum sta_value_kind kind, uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (kind == STA_VALUE_TEXT)
        return mix(hash, salt + (uint32_t)bits);
    if (kind == STA_VALUE_FLOAT && fabs(number) < EXACT_WHOLE && number == trunc(number)) {
        kind = STA_VALUE_INT;
        bits = (uint64_t)(int64_t)number;
    }
    return mix(hash, salt ^ bits ^ (uint64_t)kind << 56);
}

/* Adds a column to the hashes of a row group; a missing value adds nothing. */
static void hash_column(const struct sta_column_values *column, uint64_t salt, uint32_t rows,
                        uint64_t *hashes)
{
    static const enum sta_value_kind kinds[] = {
        [STA_KIND_INT] = STA_VALUE_INT, [STA_KIND_FLOAT] = STA_VALUE_FLOAT, [STA_KIND_BOOL] = STA_VALUE_BOOL};
    const struct sta_column_values values = *column; /* for all the compiler knows hashes[] overwrite it */
    if (values.kind == STA_KIND_ABSENT)
        return;
    if (values.kind == STA_KIND_CODE) {
        hash_codes(values.codes, salt, rows, hashes);
        return;
    }
    for (uint32_t row = 0; row < rows; row++) {
        if (values.any_missing && values.missing[row])
            continue;
        const enum sta_value_kind kind =
            values.kind == STA_KIND_MIXED ? (enum sta_value_kind)values.kinds[row] : kinds[values.kind];
        uint64_t bits;
        if (values.kind == STA_KIND_FLOAT)
            memcpy(&bits, &values.numbers[row], sizeof bits);
        else
            bits = (uint64_t)values.integers[row];
        hashes[row] = hash_value(hashes[row], salt, kind, bits);
    }
}

static int hash_rows(const struct pass *pass, const struct sta_scan_rows *rows, uint64_t *hashes,
                     struct sta_error *err)
{
    static const uint32_t own[] = {STA_COLUMN_DUR, STA_COLUMN_NAME, STA_COLUMN_CAT, STA_COLUMN_FILE};
    const struct sta_column_values *values;
    int rc = STA_OK;
    for (uint32_t row = 0; row < rows->row_group->rows; row++)
        hashes[row] = 1;
    for (uint32_t c = 0; c < STA_COUNT_OF(own) + pass->keys && rc == STA_OK; c++) {
        const uint32_t column =
            c < STA_COUNT_OF(own) ? own[c] : STA_COLUMN_ARGS + (c - (uint32_t)STA_COUNT_OF(own));
        rc = sta_column_reader_physical(rows->reader, column, &values, err);
        if (rc == STA_OK)
            hash_column(values, mix(17, column), rows->row_group->rows, hashes);
    }
    return rc;
}

/* ---- rows */

static uint32_t list_rows(const struct pass *pass, struct worker *worker,
                          const struct sta_overlap_events *events)
{
    const struct sta_time_range window = sta_overlap_window(&pass->request);
    uint32_t listed = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        const uint32_t row = sta_overlap_row(events, i);
        if (events->masks[row] == STA_NOT_THERE ||
            sta_part_of(window, events->ts[row], events->dur[row]).outside)
            continue;
        worker->ranks[row] = sta_scope_unit_of_thread(pass->phases->binding.scope, events->threads[row]);
        worker->rows[listed++] = row;
    }
    return listed;
}

static int take_events(void *self, unsigned number, const void *context, struct sta_ordered_out *out,
                       struct sta_error *err)
{
    const struct pass *pass = self;
    const struct sta_scan_rows *rows = context;
    struct worker *worker = pass->workers[number];
    const struct sta_time_range window = sta_overlap_window(&pass->request);
    struct sta_overlap_events events;
    struct sta_ordered_part part = {0};
    int rc = sta_overlap_read(&pass->binding, number, rows, &events, err);
    if (rc == STA_OK)
        rc = hash_rows(pass, rows, worker->hashes, err);
    if (rc != STA_OK)
        return rc;
    const struct sta_ordered_rows ordered = {.rows = worker->rows,
                                             .count = list_rows(pass, worker, &events),
                                             .ts = events.ts,
                                             .units = worker->ranks,
                                             .unit_limit = pass->phases->rank_count};
    do {
        rc = sta_ordered_place(out, &ordered, &part, err);
        for (uint32_t i = part.first; rc == STA_OK && i < part.end; i++) {
            const uint32_t row = worker->rows[i], thread = events.units[row];
            const struct sta_overlap_part cut = sta_part_of(window, events.ts[row], events.dur[row]);
            const uint64_t hash = events.dur[row] > 0 ? mix(worker->hashes[row], thread) | 1 : 0;
            ((struct record *)part.records)[part.next[worker->ranks[row]]++] = (struct record){
                .ts = events.ts[row], .from = cut.from, .to = cut.to, .hash = hash, .thread = thread};
        }
    } while (rc == STA_OK && part.first < part.end);
    return rc;
}

/* ---- gaps */

/* An event that covers nothing ends a gap as well. */
static void carry_gap(struct gap *gap, const struct record *records, size_t count, int64_t tick)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t to = STA_MAX(records[i].to, records[i].from + tick);
        if (gap->covered != INT64_MIN && records[i].from - gap->covered > gap->to - gap->from) {
            gap->from = gap->covered;
            gap->to = records[i].from;
        }
        gap->covered = STA_MAX(gap->covered, to);
    }
}

/* ---- jumps */

static int push(const struct pass *pass, struct stack *stack, int64_t end, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(pass->account, stack->ends, stack->capacity, stack->count + 1, WHAT, err);
    if (rc != STA_OK)
        return rc;
    size_t at = stack->count++;
    for (; at > 0 && stack->ends[at - 1] < end; at--)
        stack->ends[at] = stack->ends[at - 1];
    stack->ends[at] = end;
    return STA_OK;
}

static bool is_before(const struct sta_jump *a, const struct sta_jump *b)
{
    if (a->ts != b->ts)
        return a->ts < b->ts;
    return a->thread != b->thread ? a->thread < b->thread : a->to > b->to;
}

/* Slices are cut anywhere, so ranks do not come in an order of their own: the first are sorted out here. */
static void count_jump(struct pass *pass, const struct sta_jump *jump)
{
    size_t at = STA_MIN(pass->shown_count, (size_t)STA_JUMPS_SHOWN - 1);
    pass->jumps++;
    if (pass->shown_count == STA_JUMPS_SHOWN && !is_before(jump, &pass->shown[at]))
        return;
    for (; at > 0 && is_before(jump, &pass->shown[at - 1]); at--)
        pass->shown[at] = pass->shown[at - 1];
    pass->shown[at] = *jump;
    pass->shown_count = STA_MIN(pass->shown_count + 1, (size_t)STA_JUMPS_SHOWN);
}

/* @from: its start, cut to the window */
static int open_event(struct pass *pass, const struct opening *event, int64_t from, struct sta_error *err)
{
    struct stack *stack = &pass->stacks[event->thread];
    while (stack->count > 0 && stack->ends[stack->count - 1] <= from)
        stack->count--;
    if (stack->count > 0) {
        const int64_t end = stack->ends[stack->count - 1];
        if (event->to > end + pass->tolerance && end > from + pass->tolerance)
            count_jump(pass,
                       &(struct sta_jump){pass->thread_of_unit[event->thread], event->ts, event->to, end});
    }
    return push(pass, stack, event->to, err);
}

/* By thread, the longest first. */
static int compare_openings(const void *a, const void *b, void *context)
{
    const struct opening *x = a, *y = b;
    (void)context;
    return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
                                  : (x->to < y->to) - (x->to > y->to);
}

/* Events of equal start. */
static int open_run(struct pass *pass, struct worker *worker, const struct record *records, size_t count,
                    struct sta_error *err)
{
    if (count == 1)
        return open_event(pass, &(struct opening){records->thread, records->ts, records->to}, records->from,
                          err);
    int rc = STA_ACCOUNT_GROW(pass->account, worker->openings, worker->opening_capacity, count, WHAT, err);
    for (size_t i = 0; i < count && rc == STA_OK; i++)
        worker->openings[i] = (struct opening){records[i].thread, records[i].ts, records[i].to};
    if (rc == STA_OK)
        rc = sta_sort(pass->run->budget, worker->openings, count, sizeof *worker->openings, compare_openings,
                      NULL, err);
    for (size_t i = 0; i < count && rc == STA_OK; i++) {
        rc = open_event(pass, &worker->openings[i], records->from, err);
        if (rc == STA_OK)
            rc = sta_budget_check_step(pass->run->budget, i + 1, err);
    }
    return rc;
}

static int carry(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct pass *pass = self;
    int rc = STA_OK;
    for (size_t u = 0; u < slice->unit_count && rc == STA_OK; u++) {
        const struct record *records = slice->units[u].records;
        const size_t count = slice->units[u].count;
        carry_gap(&pass->gaps[slice->units[u].unit], records, count, pass->tick);
        for (size_t i = 0, end; i < count && rc == STA_OK; i = end) {
            for (end = i + 1; end < count && records[end].from == records[i].from;)
                end++;
            rc = open_run(pass, pass->workers[number], records + i, end - i, err);
        }
    }
    return rc;
}

/* ---- repeated events */

static int compare_hashes(const void *a, const void *b, void *context)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    (void)context;
    return (x > y) - (x < y);
}

static int count_run(const struct pass *pass, struct worker *worker, const struct record *records,
                     size_t count, struct sta_error *err)
{
    size_t listed = 0;
    if (count == 1) {
        worker->lasting += records[0].hash != 0;
        worker->copies = STA_MAX(worker->copies, records[0].hash != 0);
        return STA_OK;
    }
    int rc = STA_ACCOUNT_GROW(pass->account, worker->sorted, worker->sorted_capacity, count, WHAT, err);
    for (size_t i = 0; i < count && rc == STA_OK; i++)
        if (records[i].hash != 0)
            worker->sorted[listed++] = records[i].hash;
    if (rc == STA_OK)
        rc = sta_sort(pass->run->budget, worker->sorted, listed, sizeof *worker->sorted, compare_hashes, NULL,
                      err);
    if (rc != STA_OK)
        return rc;
    worker->lasting += (int64_t)listed;
    for (size_t i = 0, end; i < listed; i = end) {
        for (end = i + 1; end < listed && worker->sorted[end] == worker->sorted[i];)
            end++;
        worker->repeated += (int64_t)(end - i) - 1;
        worker->copies = STA_MAX(worker->copies, (int64_t)(end - i));
    }
    return STA_OK;
}

static int measure_repeated(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    const struct pass *pass = self;
    struct worker *worker = pass->workers[number];
    int rc = STA_OK;
    for (size_t u = 0; u < slice->unit_count && rc == STA_OK; u++) {
        const struct record *records = slice->units[u].records;
        const size_t count = slice->units[u].count;
        for (size_t i = 0, end; i < count && rc == STA_OK; i = end) {
            for (end = i + 1; end < count && records[end].ts == records[i].ts;)
                end++;
            rc = count_run(pass, worker, records + i, end - i, err);
        }
    }
    return rc;
}

/* ---- the whole */

static int pass_init(struct sta_run *run, struct pass *pass, struct sta_error *err)
{
    static char name[] = "all", always[] = "true";
    struct sta_named_expression *sets = sta_arena_alloc(&run->memory, sizeof *sets, _Alignof(max_align_t));
    struct sta_overlap_query *query = sta_arena_alloc(&run->memory, sizeof *query, _Alignof(max_align_t));
    const struct sta_entities *entities = sta_snapshot_entities(run->query.snapshot);
    struct sta_document *request = sta_run_request(run);
    sta_run_add_text(run, request, "scope", "thread");
    *sets = (struct sta_named_expression){name, always};
    *query = sta_run_query(run, request, sets, 1);
    int rc = sta_overlap_request_read(&pass->request, query, false, err);
    if (rc == STA_OK)
        rc = sta_overlap_binding_init(&pass->binding, &pass->request, run->budget, err);
    if (rc != STA_OK)
        return rc;
    pass->thread_count = sta_scope_unit_count(pass->binding.scope);
    pass->gaps =
        sta_account_alloc(pass->account, (size_t)pass->phases->rank_count + 1, sizeof *pass->gaps, WHAT, err);
    pass->stacks =
        sta_account_calloc(pass->account, (size_t)pass->thread_count + 1, sizeof *pass->stacks, WHAT, err);
    pass->thread_of_unit = sta_account_calloc(pass->account, (size_t)pass->thread_count + 1,
                                              sizeof *pass->thread_of_unit, WHAT, err);
    if (pass->gaps == NULL || pass->stacks == NULL || pass->thread_of_unit == NULL)
        return err->status;
    for (uint32_t code = 0; code < entities->thread_code_count; code++)
        if (entities->thread_of_code[code] < entities->thread_count)
            pass->thread_of_unit[sta_scope_unit_of_thread(pass->binding.scope, code)] =
                entities->thread_of_code[code];
    for (uint32_t r = 0; r < pass->phases->rank_count; r++)
        pass->gaps[r] = (struct gap){.covered = INT64_MIN};
    for (unsigned w = 0; w < pass->worker_count; w++)
        pass->workers[w] = sta_alloc(sizeof **pass->workers);
    return STA_OK;
}

static void pass_fini(struct pass *pass)
{
    for (unsigned w = 0; w < pass->worker_count && pass->workers[w] != NULL; w++) {
        sta_account_free(pass->account, pass->workers[w]->sorted);
        sta_account_free(pass->account, pass->workers[w]->openings);
        free(pass->workers[w]);
    }
    for (uint32_t t = 0; pass->stacks != NULL && t < pass->thread_count; t++)
        sta_account_free(pass->account, pass->stacks[t].ends);
    sta_account_free(pass->account, pass->stacks);
    sta_account_free(pass->account, pass->thread_of_unit);
    sta_account_free(pass->account, pass->gaps);
    sta_overlap_binding_fini(&pass->binding);
    sta_overlap_request_release(&pass->request);
    free(pass->workers);
}

/* Of one pass: what it found of repeated events. */
static void put_repeated(const struct pass *pass, struct sta_event_order *order)
{
    order->lasting = order->repeated = order->copies = 0;
    for (unsigned w = 0; w < pass->worker_count; w++) {
        order->lasting += pass->workers[w]->lasting;
        order->repeated += pass->workers[w]->repeated;
        order->copies = STA_MAX(order->copies, pass->workers[w]->copies);
    }
}

static void put_jumps(const struct pass *pass, struct sta_event_order *order)
{
    order->jumps = pass->jumps;
    order->shown_count = pass->shown_count;
    memcpy(order->shown, pass->shown, sizeof pass->shown);
}

static void put_gaps(const struct pass *pass, struct sta_event_order *order)
{
    for (uint32_t i = 0; i < pass->phases->order_count; i++) {
        const struct gap *gap = &pass->gaps[pass->phases->order[i]];
        if (gap->to - gap->from <= order->gap_to - order->gap_from)
            continue;
        order->gap = true;
        order->gap_rank = pass->phases->order[i];
        order->gap_from = gap->from;
        order->gap_to = gap->to;
    }
}

/* @whole: all columns are hashed, and nothing else is looked for. */
static int run_pass(struct sta_run *run, const struct sta_phases *phases, bool whole,
                    struct sta_event_order *order, struct sta_error *err)
{
    const struct sta_tables *tables = sta_snapshot_tables(run->query.snapshot);
    struct pass pass = {.run = run,
                        .phases = phases,
                        .account = run->budget->account,
                        .worker_count = sta_budget_workers(run->budget),
                        .keys = whole ? sta_dictionary_count(sta_tables_keys(tables)) : 0,
                        .tolerance = JUMP_US * run->ticks_per_us,
                        .tick = run->ticks_per_us};
    pass.workers = sta_alloc_array(pass.worker_count, sizeof *pass.workers);
    int rc = pass_init(run, &pass, err);
    const struct sta_ordered_consumer consumer = {.self = &pass,
                                                  .record = sizeof(struct record),
                                                  .take = take_events,
                                                  .carry = whole ? NULL : carry,
                                                  .measure = measure_repeated};
    struct sta_scan scan = sta_overlap_scan(&pass.request);
    scan.ordered = &consumer;
    scan.ordered_count = 1;
    if (rc == STA_OK)
        rc = sta_scan_run(&scan, run->budget, err);
    if (rc == STA_OK)
        put_repeated(&pass, order);
    if (rc == STA_OK && !whole) {
        put_jumps(&pass, order);
        put_gaps(&pass, order);
    }
    pass_fini(&pass);
    return rc;
}

int sta_event_order_measure(struct sta_run *run, const struct sta_phases *phases,
                            struct sta_event_order *order, struct sta_error *err)
{
    *order = (struct sta_event_order){0};
    int rc = run_pass(run, phases, false, order, err);
    return rc == STA_OK && order->repeated > 0 ? run_pass(run, phases, true, order, err) : rc;
}
