/* Sums by unit and set, records for the sweep, and what they come to.
 *
 * Each worker sums on its own, in arrays by thread code and by unit; counts and times are integers, so that
 * adding them up afterwards gives the same whoever saw which block. */
#include "analyse/overlap/pass.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

static const char WHAT[] = "the units and intervals of an overlap";

struct worker {
    struct sta_overlap_reader *reader;
    struct sta_host_span *threads; /* by thread code: from when to when it has events */
    struct sta_host_span *units;   /* by unit: the same, where it does not follow from the threads */
    int64_t *instants;             /* by unit, then set: events that cover nothing */
    size_t unit_capacity, instant_capacity;
    __int128 instant_size[STA_OVERLAP_SETS];
    uint32_t rows[STA_BLOCK_ROWS]; /* of the events that cover time in a set */
    uint32_t row_count;
    int64_t *sizes;   /* by row number; exposure only */
    char padding[64]; /* a cache line of its own */
};

struct pass {
    const struct sta_overlap_binding *binding;
    const struct sta_overlap_request *request;
    const struct sta_overlap_wants *wants;
    struct sta_account *account;
    const struct sta_entities *entities;
    struct sta_sweep *sweep;
    struct worker **workers;
    unsigned worker_count;
};

static const struct sta_host_span nothing = {INT64_MAX, INT64_MIN};

/* ---- events to sums and records */

static void fill_nothing(struct sta_host_span *spans, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        spans[i] = nothing;
}

/* Afterwards @instants has a place for each set of every unit that @units has one for: what a worker counted
 * is read for all of these, also for units that only others met. */
static int grow_units(const struct pass *pass, struct worker *worker, size_t need, struct sta_error *err)
{
    size_t units = worker->unit_capacity, instants = worker->instant_capacity;
    int rc = STA_ACCOUNT_GROW(pass->account, worker->units, worker->unit_capacity, need, WHAT, err);
    if (rc == 0)
        fill_nothing(worker->units, units, worker->unit_capacity);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(pass->account, worker->instants, worker->instant_capacity,
                              worker->unit_capacity * pass->request->set_count, WHAT, err);
    if (rc == 0 && worker->instant_capacity > instants)
        memset(worker->instants + instants, 0,
               (worker->instant_capacity - instants) * sizeof *worker->instants);
    return rc;
}

static inline void widen(struct sta_host_span *span, const struct sta_overlap_part *part)
{
    if (part->from < span->start)
        span->start = part->from;
    span->end = STA_MAX(span->end, part->to);
}

static void count_instant(struct worker *worker, const struct sta_overlap_events *events, uint32_t row,
                          uint32_t sets)
{
    int64_t *instants = worker->instants + (size_t)events->units[row] * sets;
    const bool sized = worker->sizes != NULL && events->dur[row] <= 0;
    for (uint32_t mask = events->masks[row]; mask != 0; mask &= mask - 1) {
        instants[__builtin_ctz(mask)]++;
        if (sized)
            worker->instant_size[__builtin_ctz(mask)] +=
                (__int128)((double)worker->sizes[row] * STA_BYTE_PARTS);
    }
}

/* Whether a unit's span is that of its threads. */
static bool follows_threads(const struct sta_overlap_request *request)
{
    return request->scope.kind <= STA_SCOPE_JOB;
}

/* Takes events into account and lists the rows of those that cover time in a set.  Inline, so that in the
 * usual case nothing is left of what only a window, a filter or another scope asks for. */
static inline void take_some(struct worker *worker, const struct sta_overlap_events *events,
                             struct sta_window window, uint32_t sets, bool by_thread, bool all)
{
    const int64_t *ts = events->ts, *dur = events->dur;
    const uint32_t *masks = events->masks, *units = events->units, *codes = events->threads;
    struct sta_host_span *threads = worker->threads;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t row = all ? i : sta_overlap_row(events, i);
        struct sta_overlap_part part = sta_part_of(window, ts[row], dur[row]);
        if (part.outside || masks[row] == STA_NOT_THERE)
            continue;
        if (!by_thread)
            widen(&worker->units[units[row]], &part);
        widen(&threads[codes[row]], &part);
        if (__builtin_expect(part.from == part.to, 0))
            count_instant(worker, events, row, sets);
        worker->rows[listed] = row;
        listed += masks[row] != 0 && part.from < part.to;
    }
    worker->row_count = listed;
}

static void take_events(const struct pass *pass, struct worker *worker,
                        const struct sta_overlap_events *events, const struct sta_block *block)
{
    static const struct sta_window open = {INT64_MIN, INT64_MAX};
    const struct sta_window window = sta_overlap_window(pass->request);
    const uint32_t sets = pass->request->set_count;
    bool whole = block->ts_min >= window.from && block->ts_max < window.to && block->te_max <= window.to;
    bool by_thread = follows_threads(pass->request);
    if (whole && by_thread && events->selected == NULL)
        take_some(worker, events, open, sets, true, true);
    else
        take_some(worker, events, window, sets, by_thread, false);
}

static int read_sizes(struct worker *worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_vector sizes;
    int rc = sta_column_reader_get(rows->reader, STA_LOGICAL_size, &sizes, err);
    for (uint32_t row = 0; row < rows->block->rows && rc == 0; row++) {
        const uint32_t at = sizes.constant ? 0 : row;
        worker->sizes[row] = sizes.missing != NULL && sizes.missing[at] ? 0 : sizes.integers[at];
    }
    return rc;
}

static int take_rows(void *self, unsigned number, const void *scanned, struct sta_ordered_out *out,
                     struct sta_error *err)
{
    const struct pass *pass = self;
    const struct sta_scan_rows *rows = scanned;
    struct worker *worker = pass->workers[number];
    struct sta_overlap_events events;
    int rc = sta_overlap_reader_read(worker->reader, rows, &events, err);
    if (rc == 0 && worker->sizes != NULL)
        rc = read_sizes(worker, rows, err);
    const uint32_t units = sta_scope_unit_count(pass->binding->scope);
    if (rc == 0)
        rc = grow_units(pass, worker, units, err);
    if (rc != 0)
        return rc;
    take_events(pass, worker, &events, rows->block);
    struct sta_sweep_events swept = {.rows = {.rows = worker->rows,
                                              .count = worker->row_count,
                                              .ts = events.ts,
                                              .units = events.units,
                                              .unit_limit = units},
                                     .dur = events.dur,
                                     .masks = events.masks,
                                     .sizes = worker->sizes};
    return sta_sweep_give(pass->sweep, &swept, out, err);
}

static int prepare(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_prepare(((struct pass *)self)->sweep, worker, slice, err);
}

static int carry(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_carry(((struct pass *)self)->sweep, worker, slice, err);
}

static int measure(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_measure(((struct pass *)self)->sweep, worker, slice, err);
}

static int settle(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_settle(((struct pass *)self)->sweep, worker, slice, err);
}

/* ---- start and end */

static int worker_init(const struct pass *pass, unsigned number, struct sta_error *err)
{
    size_t threads = (size_t)pass->entities->thread_code_count + 1;
    struct worker *worker = pass->workers[number] = sta_alloc(sizeof *worker);
    worker->reader = sta_overlap_reader_create(pass->binding, number);
    worker->sizes = pass->wants->exposure ? sta_alloc_array(STA_BLOCK_ROWS, sizeof *worker->sizes) : NULL;
    worker->threads = sta_account_alloc(pass->account, threads, sizeof *worker->threads, WHAT, err);
    if (worker->threads == NULL)
        return err->status;
    fill_nothing(worker->threads, 0, threads);
    return 0;
}

static int pass_init(struct pass *pass, struct sta_error *err)
{
    struct sta_sweep_options options = {.sets = pass->request->set_count,
                                        .budget = pass->binding->budget,
                                        .from = pass->request->from,
                                        .to = pass->request->to,
                                        .take = pass->wants->take,
                                        .classes = pass->wants->classes,
                                        .context = pass->wants->context,
                                        .idle = pass->wants->idle,
                                        .exposure = pass->wants->exposure};
    int rc = 0;
    pass->sweep = sta_sweep_create(&options);
    pass->workers = sta_alloc_array(pass->worker_count, sizeof *pass->workers);
    for (unsigned w = 0; w < pass->worker_count && rc == 0; w++)
        rc = worker_init(pass, w, err);
    return rc;
}

static void pass_fini(struct pass *pass)
{
    for (unsigned w = 0; w < pass->worker_count; w++) {
        struct worker *worker = pass->workers[w];
        if (worker == NULL)
            continue;
        sta_overlap_reader_destroy(worker->reader);
        sta_account_free(pass->account, worker->threads);
        sta_account_free(pass->account, worker->units);
        sta_account_free(pass->account, worker->instants);
        free(worker->sizes);
        free(worker);
    }
    free(pass->workers);
    sta_sweep_destroy(pass->sweep);
}

/* ---- results */

static void join(struct sta_unit_sums *sums, struct sta_host_span span)
{
    sums->start = STA_MIN(sums->start, span.start);
    sums->end = STA_MAX(sums->end, span.end);
}

/* What a worker counted. */
static void add_worker(const struct worker *worker, struct sta_overlap_results *results, uint32_t sets)
{
    uint32_t count = sta_scope_unit_count(results->scope);
    for (uint32_t u = 0; u < count && u < worker->unit_capacity; u++) {
        join(&results->sums[u], worker->units[u]);
        for (uint32_t s = 0; s < sets; s++) {
            results->sums[u].events[s] += worker->instants[(size_t)u * sets + s];
            results->sets[s].instant += worker->instants[(size_t)u * sets + s];
        }
    }
    for (uint32_t s = 0; s < sets; s++)
        results->sets[s].instant_size += worker->instant_size[s];
}

static int add_concurrency(const struct sta_sweep *sweep, struct sta_overlap_results *results, uint32_t sets,
                           struct sta_error *err)
{
    int rc = 0;
    for (uint32_t s = 0; s < sets && rc == 0; s++) {
        rc = sta_sweep_concurrency(sweep, s, &results->concurrency[s], &results->concurrency_counts[s], err);
        for (size_t k = 1; k < results->concurrency_counts[s] && rc == 0; k++)
            results->sets[s].time += results->concurrency[s][k] * (int64_t)k;
    }
    return rc;
}

static int add_exposure(const struct sta_sweep *sweep, struct sta_overlap_results *results, uint32_t sets,
                        struct sta_error *err)
{
    results->exposed =
        sta_account_alloc(results->account, (size_t)sets * sets, sizeof *results->exposed, WHAT, err);
    if (results->exposed == NULL)
        return err->status;
    for (uint32_t i = 0; i < sets * sets; i++)
        results->exposed[i] = sta_sweep_exposed(sweep, i / sets, i % sets);
    return 0;
}

/* What the sweep found. */
static int add_sweep(const struct pass *pass, struct sta_overlap_results *results, struct sta_error *err)
{
    const uint32_t count = sta_scope_unit_count(results->scope), sets = pass->request->set_count;
    for (uint32_t u = 0; u < count; u++) {
        results->sums[u].swept = sta_sweep_swept(pass->sweep, u);
        for (uint32_t s = 0; s < sets; s++) {
            results->sums[u].events[s] += sta_sweep_events(pass->sweep, u, s);
            results->sets[s].events += results->sums[u].events[s];
        }
    }
    int rc = sta_sweep_cells(pass->sweep, &results->cells, &results->cell_count, err);
    if (rc == 0)
        rc = add_concurrency(pass->sweep, results, sets, err);
    return rc == 0 && pass->wants->exposure ? add_exposure(pass->sweep, results, sets, err) : rc;
}

/* The span of a thread, over all workers. */
static struct sta_host_span span_of_thread(const struct pass *pass, uint32_t code)
{
    struct sta_host_span span = nothing;
    for (unsigned w = 0; w < pass->worker_count; w++) {
        const struct sta_host_span part = pass->workers[w]->threads[code];
        span.start = STA_MIN(span.start, part.start);
        span.end = STA_MAX(span.end, part.end);
    }
    return span;
}

/* From threads to hosts, and to units where these follow from threads. */
static int add_threads(const struct pass *pass, struct sta_overlap_results *results, struct sta_error *err)
{
    const struct sta_entities *entities = pass->entities;
    const uint32_t host_limit = sta_dictionary_count(entities->hosts);
    uint8_t *met = sta_account_calloc(pass->account, (size_t)entities->process_count + 1, 1, WHAT, err);
    results->hosts =
        sta_account_alloc(pass->account, (size_t)host_limit + 1, sizeof *results->hosts, WHAT, err);
    int rc = met == NULL || results->hosts == NULL ? err->status : 0;
    if (rc == 0)
        fill_nothing(results->hosts, 0, (size_t)host_limit + 1);
    for (uint32_t code = 0; code < entities->thread_code_count && rc == 0; code++) {
        const struct sta_host_span span = span_of_thread(pass, code);
        if (span.start > span.end)
            continue;
        const struct sta_entity_thread *thread = &entities->threads[entities->thread_of_code[code]];
        struct sta_overlap_part part = {.from = span.start, .to = span.end};
        widen(&results->hosts[STA_MIN(thread->host, host_limit)], &part);
        if (follows_threads(pass->request)) {
            struct sta_unit_sums *sums = &results->sums[sta_scope_unit_of_thread(results->scope, code)];
            join(sums, span);
            sums->processes += !met[thread->process];
        }
        met[thread->process] = 1;
    }
    sta_account_free(pass->account, met);
    return rc;
}

static int list_units(struct sta_overlap_results *results, const struct sta_budget *budget,
                      struct sta_error *err)
{
    const uint32_t count = sta_scope_unit_count(results->scope);
    results->units =
        sta_account_alloc(results->account, (size_t)count + 1, sizeof *results->units, WHAT, err);
    if (results->units == NULL)
        return err->status;
    for (uint32_t u = 0; u < count; u++)
        if (results->sums[u].start <= results->sums[u].end)
            results->units[results->unit_count++] = u;
    return sta_scope_sort(results->scope, results->units, results->unit_count, budget, err);
}

static int take_results(const struct pass *pass, struct sta_overlap_results *results, struct sta_error *err)
{
    const uint32_t sets = pass->request->set_count;
    const size_t capacity = (size_t)sta_scope_unit_count(pass->binding->scope) + 1;
    results->sums = sta_account_alloc(results->account, capacity, sizeof *results->sums, WHAT, err);
    results->counts =
        sta_account_calloc(results->account, capacity * sets, sizeof *results->counts, WHAT, err);
    if (results->sums == NULL || results->counts == NULL)
        return err->status;
    for (size_t u = 0; u < capacity; u++)
        results->sums[u] = (struct sta_unit_sums){
            .start = nothing.start, .end = nothing.end, .events = results->counts + u * sets};
    for (unsigned w = 0; w < pass->worker_count; w++)
        add_worker(pass->workers[w], results, sets);
    int rc = add_sweep(pass, results, err);
    if (rc == 0)
        rc = add_threads(pass, results, err);
    return rc == 0 ? list_units(results, pass->binding->budget, err) : rc;
}

int sta_overlap_pass(const struct sta_overlap_binding *binding, const struct sta_overlap_wants *wants,
                     struct sta_overlap_results *results, struct sta_error *err)
{
    const struct sta_budget *budget = binding->budget;
    struct pass pass = {.binding = binding,
                        .request = binding->request,
                        .wants = wants,
                        .account = budget->account,
                        .entities = sta_snapshot_entities(binding->request->question->snapshot),
                        .worker_count = sta_budget_workers(budget)};
    *results = (struct sta_overlap_results){.account = budget->account, .scope = binding->scope};
    int rc = pass_init(&pass, err);
    struct sta_ordered_consumer sweep = {&pass,   sta_sweep_record(pass.sweep),   take_rows, prepare, carry,
                                         measure, wants->exposure ? settle : NULL};
    struct sta_scan scan = sta_overlap_scan(binding->request);
    scan.ordered = &sweep;
    scan.ordered_count = 1;
    scan.accumulators = wants->accumulators;
    scan.accumulator_count = wants->accumulator_count;
    if (rc == 0)
        rc = sta_scan_run(&scan, budget, err);
    if (rc == 0)
        rc = take_results(&pass, results, err);
    pass_fini(&pass);
    return rc;
}

void sta_overlap_results_fini(struct sta_overlap_results *results)
{
    void *const all[] = {results->units, results->sums,  results->counts,
                         results->hosts, results->cells, results->exposed};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(results->account, all[i]);
    for (uint32_t s = 0; s < STA_OVERLAP_SETS; s++)
        sta_account_free(results->account, results->concurrency[s]);
    *results = (struct sta_overlap_results){0};
}
