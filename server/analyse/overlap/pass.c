/* Sums by unit and set, records for the sweep, and what they come to.
 *
 * Each worker sums on its own, in arrays by thread code and by unit; counts and times are integers, so that
 * adding them up afterwards gives the same whoever saw which row group.  So does adding what several passes
 * find, each over a range of time. */
#include "analyse/overlap/pass.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/overlap/partial.h"
#include "common/memory.h"

#define WHAT STA_OVERLAP_WHAT

struct worker {
    struct sta_overlap_results found; /* of its counts: those of events that cover nothing, less those that
                                         another range of time counts */
    size_t span_capacity, count_capacity;
    uint32_t rows[STA_ROW_GROUP_ROWS]; /* of the events that cover time in a set */
    uint32_t row_count;
    int64_t *sizes;   /* by row number; exposure only */
    char padding[64]; /* a cache line of its own */
};

struct pass {
    const struct sta_overlap_binding *binding;
    const struct sta_overlap_request *request;
    const struct sta_overlap_wants *wants;
    struct sta_time_range window; /* of the request, and of the range of time */
    struct sta_time_range range;  /* of time; open where the request's window is not cut by it.  What began
                                 before it is counted in another range */
    struct sta_account *account;
    const struct sta_entities *entities;
    struct sta_sweep *sweep;
    struct worker **workers;
    unsigned worker_count;
};

/* ---- events to sums and records */

/* Makes space for the units below @need. */
static int grow_units(const struct pass *pass, struct worker *worker, uint32_t need, struct sta_error *err)
{
    struct sta_overlap_results *found = &worker->found;
    const size_t units = worker->span_capacity, counts = (size_t)need * pass->request->set_count;
    int rc = STA_ACCOUNT_GROW(pass->account, found->spans, worker->span_capacity, need, WHAT, err);
    if (rc == 0)
        sta_host_spans_clear(found->spans, units, worker->span_capacity);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW_ZEROED(pass->account, found->counts, worker->count_capacity, counts, WHAT, err);
    if (rc == 0)
        found->unit_limit = need;
    return rc;
}

static void count_event(struct sta_overlap_results *found, const struct sta_overlap_events *events,
                        uint32_t row, int64_t change)
{
    int64_t *counts = found->counts + (size_t)events->units[row] * found->set_count;
    for (uint32_t mask = events->masks[row]; mask != 0; mask &= mask - 1)
        counts[__builtin_ctz(mask)] += change;
}

static void count_instant(struct worker *worker, const struct sta_overlap_events *events, uint32_t row)
{
    const bool sized = worker->sizes != NULL && events->dur[row] <= 0;
    count_event(&worker->found, events, row, 1);
    for (uint32_t mask = events->masks[row]; mask != 0; mask &= mask - 1) {
        struct sta_set_sums *set = &worker->found.sets[__builtin_ctz(mask)];
        set->instant++;
        if (sized)
            set->instant_size += (__int128)((double)worker->sizes[row] * STA_BYTE_PARTS);
    }
}

/* Takes events into account and lists the rows of those that cover time in a set.  Inline, so that in the
 * usual case nothing is left of what only a window, a filter or another scope asks for. */
static inline void take_some(struct worker *worker, const struct sta_overlap_events *events,
                             struct sta_time_range window, int64_t range_from, bool by_thread, bool all)
{
    const int64_t *ts = events->ts, *dur = events->dur;
    const uint32_t *masks = events->masks, *units = events->units, *codes = events->threads;
    struct sta_host_span *threads = worker->found.threads, *spans = worker->found.spans;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t row = all ? i : sta_overlap_row(events, i);
        struct sta_overlap_part part = sta_part_of(window, ts[row], dur[row]);
        if (part.outside || masks[row] == STA_NOT_THERE)
            continue;
        if (!by_thread)
            sta_host_span_widen(&spans[units[row]], part.from, part.to);
        sta_host_span_widen(&threads[codes[row]], part.from, part.to);
        if (!all && ts[row] < range_from)
            count_event(&worker->found, events, row, -1); /* another range has it */
        if (__builtin_expect(part.from == part.to, 0))
            count_instant(worker, events, row);
        worker->rows[listed] = row;
        listed += masks[row] != 0 && part.from < part.to;
    }
    worker->row_count = listed;
}

static void take_events(const struct pass *pass, struct worker *worker,
                        const struct sta_overlap_events *events, const struct sta_row_group *row_group)
{
    static const struct sta_time_range open = {INT64_MIN, INT64_MAX};
    const struct sta_time_range window = pass->window;
    bool whole =
        row_group->ts_min >= window.from && row_group->ts_max < window.to && row_group->te_max <= window.to;
    bool by_thread = sta_overlap_follows_threads(pass->request);
    if (whole && by_thread && events->selected == NULL)
        take_some(worker, events, open, INT64_MIN, true, true);
    else
        take_some(worker, events, window, pass->range.from, by_thread, false);
}

static int read_sizes(struct worker *worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_vector sizes;
    int rc = sta_column_reader_get(rows->reader, STA_LOGICAL_size, &sizes, err);
    for (uint32_t row = 0; row < rows->row_group->rows && rc == 0; row++) {
        const uint32_t at = sizes.constant ? 0 : row;
        worker->sizes[row] = sizes.missing != NULL && sizes.missing[at] ? 0 : sizes.integers[at];
    }
    return rc;
}

static int read_events(void *self, unsigned number, const void *scanned, struct sta_sweep_events *swept,
                       struct sta_error *err)
{
    const struct pass *pass = self;
    const struct sta_scan_rows *rows = scanned;
    struct worker *worker = pass->workers[number];
    struct sta_overlap_events events;
    int rc = sta_overlap_read(pass->binding, number, rows, &events, err);
    if (rc == 0 && worker->sizes != NULL)
        rc = read_sizes(worker, rows, err);
    const uint32_t units = sta_scope_unit_count(pass->binding->scope);
    if (rc == 0)
        rc = grow_units(pass, worker, units, err);
    if (rc == 0 && pass->wants->see != NULL)
        rc = pass->wants->see(pass->wants->context, number, rows, &events, err);
    if (rc != 0)
        return rc;
    take_events(pass, worker, &events, rows->row_group);
    *swept = (struct sta_sweep_events){.rows = {.rows = worker->rows,
                                                .count = worker->row_count,
                                                .ts = events.ts,
                                                .units = events.units,
                                                .unit_limit = units},
                                       .dur = events.dur,
                                       .masks = events.masks,
                                       .sizes = worker->sizes};
    return 0;
}

/* ---- start and end */

static int worker_init(const struct pass *pass, unsigned number, struct sta_error *err)
{
    const uint32_t threads = pass->entities->thread_code_count;
    struct worker *worker = pass->workers[number] = sta_alloc(sizeof *worker);
    worker->sizes = pass->wants->exposure ? sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *worker->sizes) : NULL;
    worker->found = (struct sta_overlap_results){
        .account = pass->account, .set_count = pass->request->set_count, .thread_count = threads};
    worker->found.threads =
        sta_account_alloc(pass->account, (size_t)threads + 1, sizeof *worker->found.threads, WHAT, err);
    if (worker->found.threads == NULL)
        return err->status;
    sta_host_spans_clear(worker->found.threads, 0, threads);
    return 0;
}

static bool is_one_hot(const struct pass *pass)
{
    const bool one = pass->request->signatures != NULL || pass->request->set_count == 1;
    return one && !pass->wants->concurrency && !pass->wants->exposure;
}

static int pass_init(struct pass *pass, struct sta_error *err)
{
    struct sta_sweep_options options = {.read = read_events,
                                        .reader = pass,
                                        .sets = pass->request->set_count,
                                        .budget = pass->binding->budget,
                                        .from = pass->window.from,
                                        .to = pass->window.to,
                                        .one_hot = is_one_hot(pass),
                                        .take = pass->wants->take,
                                        .classes = pass->wants->classes,
                                        .context = pass->wants->context,
                                        .idle = pass->wants->idle,
                                        .concurrency = pass->wants->concurrency,
                                        .exposure = pass->wants->exposure,
                                        .range_from = pass->range.from,
                                        .range_to = pass->range.to};
    int rc = 0;
    if (pass->request->signatures != NULL)
        options.translation = pass->request->signatures->translation;
    if (pass->wants->series != NULL) {
        options.take = sta_overlap_series_take;
        options.context = pass->wants->series;
    }
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
        sta_overlap_results_fini(&worker->found);
        free(worker->sizes);
        free(worker);
    }
    free(pass->workers);
    sta_sweep_destroy(pass->sweep);
}

/* ---- what the pass has found */

/* What a worker of the sweep found, which keeps its memory. */
static struct sta_overlap_results swept_by(const struct pass *pass, unsigned worker)
{
    const struct sta_sweep_found found = sta_sweep_found(pass->sweep, worker);
    struct sta_overlap_results results = {.unit_limit = found.units,
                                          .counts = found.events,
                                          .cells = found.cells,
                                          .cell_count = found.cell_count,
                                          .exposed = found.exposed,
                                          .crossings = found.crossings,
                                          .crossing_count = found.crossing_count};
    memcpy(results.concurrency, found.concurrency, sizeof results.concurrency);
    return results;
}

static int take_results(const struct pass *pass, struct sta_overlap_results *results, struct sta_error *err)
{
    int rc = sta_overlap_results_init(results, pass->binding, err);
    for (unsigned w = 0; rc == 0 && w < pass->worker_count; w++) {
        const struct sta_overlap_results swept = swept_by(pass, w);
        rc = sta_overlap_results_add(results, &pass->workers[w]->found, err);
        if (rc == 0)
            rc = sta_overlap_results_add(results, &swept, err);
    }
    for (uint32_t u = 0; rc == 0 && u < results->unit_limit; u++)
        results->swept[u] = sta_sweep_swept(pass->sweep, u);
    return rc;
}

static int scan(struct pass *pass, struct sta_error *err)
{
    struct sta_overlap_request windowed = *pass->request;
    windowed.from = pass->window.from;
    windowed.to = pass->window.to;
    const struct sta_ordered_consumer sweep = sta_sweep_consumer(pass->sweep);
    struct sta_scan scan = sta_overlap_scan(&windowed);
    scan.ordered = &sweep;
    scan.ordered_count = 1;
    return sta_scan_run(&scan, pass->binding->budget, err);
}

int sta_overlap_gather(const struct sta_overlap_binding *binding, const struct sta_overlap_wants *wants,
                       struct sta_time_range range, struct sta_overlap_results *results,
                       struct sta_error *err)
{
    const struct sta_budget *budget = binding->budget;
    const struct sta_overlap_request *request = binding->request;
    struct pass pass = {.binding = binding,
                        .request = request,
                        .wants = wants,
                        .window = {STA_MAX(request->from, range.from), STA_MIN(request->to, range.to)},
                        .range = {range.from > request->from ? range.from : INT64_MIN,
                                  range.to < request->to ? range.to : INT64_MAX},
                        .account = budget->account,
                        .entities = sta_snapshot_entities(request->query->snapshot),
                        .worker_count = sta_budget_workers(budget)};
    if (pass.window.from >= pass.window.to && request->from < request->to)
        return sta_overlap_results_init(results, binding, err); /* the range lies outside the request's */
    int rc = pass_init(&pass, err);
    if (rc == 0)
        rc = scan(&pass, err);
    if (rc == 0)
        rc = take_results(&pass, results, err);
    pass_fini(&pass);
    return rc;
}

/* The range of this process, then what others have found, or cannot. */
static int gather_all(const struct sta_overlap_binding *binding, const struct sta_overlap_wants *wants,
                      const struct sta_shared_time *shared, struct sta_overlap_results *results,
                      struct sta_error *err)
{
    int rc = sta_overlap_gather(binding, wants, sta_shared_time_range(shared, 0), results, err);
    for (unsigned rank = 1; rc == 0 && rank < sta_shared_time_count(shared); rank++) {
        struct sta_overlap_results other = {.account = binding->budget->account};
        rc = sta_overlap_shared_take(shared, rank, binding, wants, &other, err);
        if (rc == STA_EOUTDATED)
            rc = sta_overlap_gather(binding, wants, sta_shared_time_range(shared, rank), &other, err);
        if (rc == 0)
            rc = sta_overlap_results_add(results, &other, err);
        sta_overlap_results_fini(&other);
    }
    return rc;
}

int sta_overlap_pass(const struct sta_overlap_binding *binding, const struct sta_overlap_wants *wants,
                     struct sta_overlap_results *results, struct sta_error *err)
{
    struct sta_shared_time shared = {.query = NULL};
    sta_overlap_share(&shared, binding, wants);
    *results = (struct sta_overlap_results){.account = binding->budget->account, .scope = binding->scope};
    int rc = gather_all(binding, wants, &shared, results, err);
    if (rc == 0)
        rc = sta_overlap_results_finish(results, binding, err);
    sta_shared_time_end(&shared);
    return rc;
}
