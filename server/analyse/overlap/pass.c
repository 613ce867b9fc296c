/* Sums by unit and set, spans for the sweep, and what they come to.
 *
 * Each worker sums on its own; counts and times are integers, so that adding them up afterwards gives the
 * same whoever saw which block. */
#include "analyse/overlap/pass.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/intervals/parcel.h"
#include "common/memory.h"

struct worker {
    struct sta_overlap_reader *reader;
    struct sta_host_span *threads; /* by thread code: from when to when it has events */
    struct sta_host_span *units;   /* by unit: the same, where it does not follow from the threads */
    int64_t *instants;             /* by unit, then set: events that cover nothing */
    uint32_t *places; /* by unit: how many spans, then where the next one goes; 0 between slices */
    size_t unit_capacity;
    struct sta_packer *packer;
    char padding[64]; /* a cache line of its own */
};

struct pass {
    const struct sta_overlap_binding *binding;
    const struct sta_overlap_request *request;
    const struct sta_overlap_stretches *stretches;
    const struct sta_budget *budget;
    const struct sta_entities *entities;
    struct sta_sweep *sweep;
    struct worker *workers;
    unsigned worker_count;
    _Atomic size_t bytes; /* of the workers' units */
};

static const struct sta_host_span nothing = {INT64_MAX, INT64_MIN};

/* ---- events to sums and spans */

/* Of a unit among the results. */
static double result_bytes(const struct sta_overlap_request *request)
{
    return sizeof(struct sta_unit_sums) + 64 + request->set_count * sizeof(int64_t);
}

static int check_memory(const struct pass *pass, struct sta_error *err)
{
    double bytes = (double)atomic_load_explicit(&pass->bytes, memory_order_relaxed);
    bytes += (double)sta_sweep_bytes(pass->sweep) + (double)sta_scope_bytes(pass->binding->scope);
    bytes += (double)sta_scope_unit_count_now(pass->binding->scope) * result_bytes(pass->request);
    if (pass->stretches->bytes != NULL)
        bytes += (double)pass->stretches->bytes(pass->stretches->context);
    return sta_budget_memory(pass->budget, bytes, "the units and intervals of an overlap", err);
}

static void fill_nothing(struct sta_host_span *spans, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        spans[i] = nothing;
}

static void grow_units(struct pass *pass, struct worker *worker, size_t need)
{
    size_t sets = pass->request->set_count;
    size_t before = worker->unit_capacity;
    STA_GROW(worker->units, worker->unit_capacity, need);
    size_t after = worker->unit_capacity;
    worker->instants = sta_realloc_array(worker->instants, after * sets, sizeof *worker->instants);
    memset(worker->instants + before * sets, 0, (after - before) * sets * sizeof *worker->instants);
    fill_nothing(worker->units, before, after);
    size_t per_unit = sizeof *worker->units + sets * sizeof *worker->instants;
    per_unit += sizeof(uint32_t); /* of the packer */
    atomic_fetch_add_explicit(&pass->bytes, (after - before) * per_unit, memory_order_relaxed);
}

static inline void widen(struct sta_host_span *span, const struct sta_part *part)
{
    if (part->from < span->start)
        span->start = part->from;
    span->end = STA_MAX(span->end, part->to);
}

static void count_instant(struct worker *worker, const struct sta_overlap_events *events, uint32_t row,
                          uint32_t sets)
{
    int64_t *instants = worker->instants + (size_t)events->units[row] * sets;
    for (uint32_t mask = events->masks[row]; mask != 0; mask &= mask - 1)
        instants[__builtin_ctz(mask)]++;
}

/* Whether a unit's span is that of its threads. */
static bool follows_threads(const struct sta_overlap_request *request)
{
    return request->scope.kind <= STA_SCOPE_JOB;
}

static inline uint32_t row_at(const struct sta_overlap_events *events, uint32_t i)
{
    return events->selected != NULL ? events->selected[i] : i;
}

/* Events of a block, first .. end - 1 of those to look at. */
struct range {
    uint32_t first, end;
};

/* Takes events into account and lists the rows of those that cover time in a set.  Inline, so that in the
 * usual case nothing is left of what only a window, a filter or another scope asks for. */
static inline void take_some(struct worker *worker, const struct sta_overlap_events *events,
                             struct range range, struct sta_window window, uint32_t sets, bool by_thread,
                             bool all, struct sta_pack_list *list)
{
    const int64_t *ts = events->ts, *dur = events->dur;
    const uint32_t *masks = events->masks, *units = events->units, *codes = events->threads;
    struct sta_host_span *threads = worker->threads;
    struct sta_pack_list kept = *list;
    for (uint32_t i = range.first; i < range.end; i++) {
        uint32_t row = all ? i : row_at(events, i);
        struct sta_part part = sta_part_of(window, ts[row], dur[row]);
        if (part.outside || masks[row] == STA_NOT_THERE)
            continue;
        if (!by_thread)
            widen(&worker->units[units[row]], &part);
        widen(&threads[codes[row]], &part);
        if (__builtin_expect(part.from == part.to, 0))
            count_instant(worker, events, row, sets);
        sta_pack_row(&kept, row, units[row], masks[row] != 0 && part.from < part.to);
    }
    *list = kept;
}

static void take_events(const struct pass *pass, struct worker *worker,
                        const struct sta_overlap_events *events, struct range range,
                        const struct sta_block *block, struct sta_pack_list *list)
{
    static const struct sta_window open = {INT64_MIN, INT64_MAX};
    const struct sta_window window = sta_overlap_window(pass->request);
    const uint32_t sets = pass->request->set_count;
    bool whole = block->ts_min >= window.from && block->ts_max < window.to && block->te_max <= window.to;
    bool by_thread = follows_threads(pass->request);
    if (whole && by_thread && events->selected == NULL)
        take_some(worker, events, range, open, sets, true, true, list);
    else
        take_some(worker, events, range, window, sets, by_thread, false, list);
}

/* Where those end that begin before a cut. */
static uint32_t end_before(const struct sta_overlap_events *events, uint32_t first, int64_t cut)
{
    uint32_t low = first, high = events->count;
    while (low < high && cut != INT64_MAX) {
        uint32_t middle = low + (high - low) / 2;
        if (events->ts[row_at(events, middle)] < cut)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

static void give_spans(struct pass *pass, struct worker *worker, const struct sta_overlap_events *events,
                       const struct sta_block *block, struct sta_block_spans *spans)
{
    struct sta_pack_events packed = {.ts = events->ts,
                                     .dur = events->dur,
                                     .to = pass->request->to,
                                     .units = events->units,
                                     .masks = events->masks};
    uint32_t units = sta_scope_unit_count_now(pass->binding->scope);
    if (units > worker->unit_capacity)
        grow_units(pass, worker, units);
    struct range range = {0, 0};
    for (size_t cut = 0; range.end < events->count; cut++) {
        range = (struct range){range.end, end_before(events, range.end, spans->cuts[cut])};
        struct sta_pack_list list = sta_packer_list(worker->packer, units, range.end - range.first);
        take_events(pass, worker, events, range, block, &list);
        sta_packer_put(worker->packer, &packed, &list, cut, spans);
    }
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows,
                     struct sta_block_spans *spans, struct sta_error *err)
{
    struct pass *pass = self;
    struct worker *worker = &pass->workers[number];
    struct sta_overlap_events events;
    int rc = check_memory(pass, err);
    if (rc == 0)
        rc = sta_overlap_reader_read(worker->reader, rows, &events, err);
    if (rc == 0)
        give_spans(pass, worker, &events, rows->block, spans);
    return rc;
}

static void prepare(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_sweep_prepare(((struct pass *)self)->sweep, worker, slice);
}

static void carry(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_sweep_carry(((struct pass *)self)->sweep, worker, slice);
}

static void measure(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_sweep_measure(((struct pass *)self)->sweep, worker, slice);
}

/* ---- start and end */

static void pass_init(struct pass *pass)
{
    size_t threads = (size_t)pass->entities->thread_code_count + 1;
    struct sta_sweep_options options = {.sets = pass->request->set_count,
                                        .workers = pass->worker_count,
                                        .from = pass->request->from,
                                        .to = pass->request->to,
                                        .take = pass->stretches->take,
                                        .idle = pass->stretches->idle,
                                        .context = pass->stretches->context};
    pass->sweep = sta_sweep_create(&options);
    pass->workers = sta_alloc_array(pass->worker_count, sizeof *pass->workers);
    for (unsigned w = 0; w < pass->worker_count; w++) {
        pass->workers[w].reader = sta_overlap_reader_create(pass->binding);
        pass->workers[w].threads = sta_alloc_array(threads, sizeof *pass->workers[w].threads);
        fill_nothing(pass->workers[w].threads, 0, threads);
        pass->workers[w].packer = sta_packer_create();
    }
    pass->bytes = pass->worker_count * threads * sizeof *pass->workers->threads;
}

static void pass_fini(struct pass *pass)
{
    for (unsigned w = 0; w < pass->worker_count; w++) {
        sta_overlap_reader_destroy(pass->workers[w].reader);
        free(pass->workers[w].threads);
        free(pass->workers[w].units);
        free(pass->workers[w].instants);
        sta_packer_destroy(pass->workers[w].packer);
    }
    free(pass->workers);
    sta_sweep_destroy(pass->sweep);
}

/* ---- results */

static void add_units(const struct worker *worker, struct sta_overlap_results *results, uint32_t sets)
{
    uint32_t count = sta_scope_unit_count(results->scope);
    for (uint32_t u = 0; u < count && u < worker->unit_capacity; u++) {
        struct sta_unit_sums *sums = &results->sums[u];
        sums->start = STA_MIN(sums->start, worker->units[u].start);
        sums->end = STA_MAX(sums->end, worker->units[u].end);
        for (uint32_t s = 0; s < sets; s++) {
            sums->events[s] += worker->instants[(size_t)u * sets + s];
            results->sets[s].instant += worker->instants[(size_t)u * sets + s];
        }
    }
}

/* What the sweep found. */
static void add_sweep(const struct sta_sweep *sweep, struct sta_overlap_results *results, uint32_t sets)
{
    uint32_t count = sta_scope_unit_count(results->scope);
    results->swept = sta_alloc_array((size_t)count + 1, sizeof *results->swept);
    for (uint32_t u = 0; u < count; u++) {
        results->swept[u] = sta_sweep_swept(sweep, u);
        for (uint32_t s = 0; s < sets; s++) {
            results->sums[u].events[s] += sta_sweep_events(sweep, u, s);
            results->sets[s].events += results->sums[u].events[s];
        }
    }
    results->cells = sta_sweep_cells(sweep, &results->cell_count);
    for (uint32_t s = 0; s < sets; s++) {
        results->crowds[s] = sta_sweep_crowd(sweep, s, &results->crowd_counts[s]);
        for (size_t k = 1; k < results->crowd_counts[s]; k++)
            results->sets[s].time += (int64_t)k * results->crowds[s][k];
    }
}

static void join(struct sta_host_span *to, struct sta_host_span span)
{
    to->start = STA_MIN(to->start, span.start);
    to->end = STA_MAX(to->end, span.end);
}

static void add_thread(const struct sta_overlap_request *request, struct sta_overlap_results *results,
                       uint32_t code, struct sta_host_span span, bool first_of_process)
{
    if (!follows_threads(request))
        return;
    uint32_t unit = sta_scope_unit_of_thread(results->scope, code);
    struct sta_unit_sums *sums = &results->sums[unit];
    sums->start = STA_MIN(sums->start, span.start);
    sums->end = STA_MAX(sums->end, span.end);
    results->processes[unit] += first_of_process;
}

/* From threads to hosts, and to units where these follow from threads. */
static void fold_threads(const struct pass *pass, struct sta_overlap_results *results)
{
    const struct sta_entities *entities = pass->entities;
    uint32_t host_limit = sta_dictionary_count(entities->hosts);
    uint8_t *met = sta_alloc_array((size_t)entities->process_count + 1, 1);
    results->hosts = sta_alloc_array((size_t)host_limit + 1, sizeof *results->hosts);
    fill_nothing(results->hosts, 0, (size_t)host_limit + 1);
    for (uint32_t code = 0; code < entities->thread_code_count; code++) {
        struct sta_host_span span = nothing;
        for (unsigned w = 0; w < pass->worker_count; w++)
            join(&span, pass->workers[w].threads[code]);
        if (span.start > span.end)
            continue;
        const struct sta_entity_thread *thread = &entities->threads[entities->thread_of_code[code]];
        join(&results->hosts[STA_MIN(thread->host, host_limit)], span);
        add_thread(pass->request, results, code, span, !met[thread->process]);
        met[thread->process] = 1;
    }
    free(met);
}

static void list_units(struct sta_overlap_results *results)
{
    uint32_t count = sta_scope_unit_count(results->scope);
    results->units = sta_alloc_array((size_t)count + 1, sizeof *results->units);
    for (uint32_t u = 0; u < count; u++)
        if (results->sums[u].start <= results->sums[u].end)
            results->units[results->unit_count++] = u;
    sta_scope_sort(results->scope, results->units, results->unit_count);
}

static void take_results(const struct pass *pass, struct sta_overlap_results *results)
{
    uint32_t sets = pass->request->set_count;
    size_t room = (size_t)sta_scope_unit_count(pass->binding->scope) + 1;
    *results = (struct sta_overlap_results){.scope = pass->binding->scope,
                                            .sums = sta_alloc_array(room, sizeof *results->sums),
                                            .processes = sta_alloc_array(room, sizeof *results->processes),
                                            .counts = sta_alloc_array(room * sets, sizeof *results->counts)};
    for (size_t u = 0; u < room; u++)
        results->sums[u] = (struct sta_unit_sums){nothing.start, nothing.end, results->counts + u * sets};
    for (unsigned w = 0; w < pass->worker_count; w++)
        add_units(&pass->workers[w], results, sets);
    add_sweep(pass->sweep, results, sets);
    fold_threads(pass, results);
    list_units(results);
}

int sta_overlap_pass(const struct sta_overlap_binding *binding, const struct sta_overlap_stretches *stretches,
                     const struct sta_budget *budget, struct sta_overlap_results *results,
                     struct sta_error *err)
{
    struct pass pass = {.binding = binding,
                        .request = binding->request,
                        .stretches = stretches,
                        .budget = budget,
                        .entities = sta_snapshot_entities(binding->request->question->snapshot),
                        .worker_count = sta_budget_workers(budget)};
    pass_init(&pass);
    struct sta_ordered_accumulator ordered = {&pass, take_rows, prepare, carry, measure, STA_PARCEL_ROW};
    struct sta_scan scan = sta_overlap_scan(binding->request);
    scan.ordered = &ordered;
    int rc = sta_scan_run(&scan, budget, err);
    if (rc == 0)
        take_results(&pass, results);
    pass_fini(&pass);
    return rc;
}

void sta_overlap_results_fini(struct sta_overlap_results *results)
{
    free(results->units);
    free(results->sums);
    free(results->processes);
    free(results->counts);
    free(results->swept);
    free(results->hosts);
    free(results->cells);
    for (uint32_t s = 0; s < STA_OVERLAP_SETS; s++)
        free(results->crowds[s]);
    *results = (struct sta_overlap_results){0};
}
