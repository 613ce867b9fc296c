/* The pass: what is asked for is made, filled by one scan, and put together. */
#include "analyse/exact/engine.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "analyse/exact/share.h"
#include "analyse/exact/sweep.h"
#include "analyse/views/bounded_sum.h"
#include "common/memory.h"

struct pass {
    struct sta_exact_result *result;
    struct sta_rank_groups groups; /* none unless UNITS are wanted */
    struct sta_event_signatures *signatures;
    struct sta_intake intake;
    struct sta_tallies *tallies;
    struct sta_exact_sweep *sweep;
};

static int take_unordered(void *self, unsigned worker, const struct sta_scan_rows *rows,
                          struct sta_error *err)
{
    return sta_intake_take(self, worker, rows, NULL, NULL, err);
}

/* Row groups of which nothing lies in the bins. */
static bool is_outside(void *context, const struct sta_row_group *row_group)
{
    const struct sta_exact_bins *bins = context;
    return !sta_time_range_meets(&(struct sta_time_range){bins->from, bins->to}, row_group);
}

static bool is_out_of_range(void *context, const struct sta_row_group *row_group)
{
    const struct sta_intake *intake = context;
    return is_outside((void *)intake->bins, row_group) || !sta_time_range_meets(&intake->range, row_group);
}

/* A slice costs some steps for every thread whose long events reach into it: with many threads slices are
 * larger. */
static size_t slice_rows(const struct sta_exact_request *request)
{
    const size_t threads = sta_snapshot_entities(request->bound->query->snapshot)->thread_count;
    if (request->slice_rows != 0)
        return request->slice_rows;
    return STA_MIN(STA_MAX(threads, STA_SLICE_ROWS), STA_SLICE_ROWS * 16);
}

struct sta_scan sta_exact_scan(const struct sta_exact_request *request)
{
    struct sta_scan scan = sta_bound_query_scan(request->bound);
    scan.from = INT64_MIN; /* events that began before the window reach into it */
    scan.to = INT64_MAX;
    scan.skip = is_outside;
    scan.skip_context = (void *)&request->bins;
    return scan;
}

/* Measures a range of time; of one pass the ranges come in their order. */
static int scan(struct pass *pass, struct sta_time_range range, struct sta_error *err)
{
    const struct sta_exact_request *request = pass->intake.request;
    struct sta_accumulator unordered = {&pass->intake, take_unordered};
    struct sta_ordered_consumer ordered = sta_exact_sweep_consumer(pass->sweep);
    struct sta_scan scan = sta_exact_scan(request);
    pass->intake.range = range;
    scan.skip = is_out_of_range;
    scan.skip_context = &pass->intake;
    scan.slice_rows = slice_rows(request);
    if (request->wants & STA_WANT_ORDER) {
        scan.ordered = &ordered;
        scan.ordered_count = 1;
    } else {
        scan.accumulators = &unordered;
        scan.accumulator_count = 1;
    }
    int rc = sta_scan_run(&scan, pass->intake.budget, err);
    return rc == 0 ? sta_exact_sweep_finish(pass->sweep, err) : rc;
}

/* The range of this process, then what others have measured, or cannot. */
static int scan_all(struct pass *pass, struct sta_exact_shared *shared, struct sta_error *err)
{
    int rc = scan(pass, sta_shared_time_range(&shared->time, 0), err);
    for (unsigned rank = 1; rc == 0 && rank < sta_shared_time_count(&shared->time); rank++) {
        rc = sta_exact_shared_take(shared, rank, &pass->intake, pass->tallies, err);
        if (rc == STA_EOUTDATED)
            rc = scan(pass, sta_shared_time_range(&shared->time, rank), err);
    }
    return rc;
}

/* ---- fields */

static int make_fields(struct pass *pass, struct sta_error *err)
{
    const struct sta_exact_request *request = pass->intake.request;
    const struct sta_budget *budget = pass->intake.budget;
    struct sta_exact_result *result = pass->result;
    const struct sta_contribution_counts counts = sta_contributions_count(result->contributions);
    size_t cells = counts.cells * result->bins.count;
    size_t metrics = counts.metric_cells * result->bins.count;
    result->cell_count = counts.cells;
    int rc = sta_budget_memory(budget,
                               sta_fields_bytes(cells, request->wants, false) +
                                   sta_fields_bytes(metrics, request->wants, true),
                               "the rows of this view", err);
    if (rc != 0)
        return rc;
    rc = sta_fields_init(&result->cells, budget->account, cells, request->wants, false, err);
    if (rc == 0)
        rc = sta_fields_init(&result->metrics, budget->account, metrics, request->wants, true, err);
    if (rc == 0 && request->count_bins) {
        result->counts_by_bin = sta_account_calloc(budget->account, result->bins.count + 1,
                                                   sizeof *result->counts_by_bin, "counts by bin", err);
        rc = result->counts_by_bin != NULL ? STA_OK : err->status;
    }
    sta_tallies_set_fields(pass->tallies, &result->cells, &result->metrics);
    return rc;
}

/* Rows that are known before the pass: a cell for each layer, in their order. */
static int make_known_fields(struct pass *pass, struct sta_error *err)
{
    const struct sta_exact_result *result = pass->result;
    if ((double)result->shape.wanted_count * (double)result->bins.count >= UINT32_MAX)
        return sta_fail(err, STA_ELIMIT, "%zu bins of %u layers are too many for one result",
                        result->bins.count, result->shape.wanted_count);
    int rc = STA_OK;
    for (uint32_t l = 0; rc == 0 && l < result->shape.layer_count; l++)
        if (result->shape.layers[l].wanted)
            rc = sta_contributions_add_cell(result->contributions, l, 0, err);
    return rc == 0 ? make_fields(pass, err) : rc;
}

/* ---- sums and distinct files, joined with what the sweep measured by layer and key */

/* Rows are known by layer alone unless the view has keys of its own. */
static uint32_t cell_of(const struct pass *pass, uint32_t layer, uint32_t key)
{
    if (sta_exact_keys_source(pass->result->keys) <= STA_KEY_TIME)
        key = 0;
    return sta_contributions_find_cell(pass->result->contributions, layer, key);
}

static int add_key(void *context, uint32_t number, uint32_t key, size_t bin,
                   const struct sta_additive_sums *sums, struct sta_error *err)
{
    const struct pass *pass = context;
    const struct sta_event_signature *of = sta_event_signatures_at(pass->signatures, number);
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < of->layer_count; i++)
        rc = sta_contributions_add_cell(pass->result->contributions, of->layers[i], key, err);
    return rc;
}

/* The groups of this process, then those of the others. */
static int each_sum(struct pass *pass, const struct sta_exact_shared *shared, sta_additive_add add,
                    struct sta_error *err)
{
    const struct sta_additive *additive = &pass->intake.additive;
    int rc = sta_additive_each(additive, add, pass, err);
    return rc == 0 ? sta_exact_shared_each(shared, additive, add, pass, err) : rc;
}

static void count_fate(struct sta_exact_counts *counts, const struct sta_event_signature *of, int64_t count)
{
    counts->filtered_by_file += of->fate == STA_FATE_FILE ? count : 0;
    counts->filtered_by_function += of->fate == STA_FATE_FUNCTION ? count : 0;
    counts->unmatched += of->fate == STA_FATE_KEPT && of->in_layers == 0 ? count : 0;
    counts->taken += of->in_layers > 0 ? count : 0;
    counts->multiple += of->in_layers > 1 ? count : 0;
}

static void add_to(const struct sta_fields *fields, enum sta_field field, size_t at, int64_t value)
{
    int64_t *values = fields->values[field];
    if (values != NULL)
        values[at] = sta_bounded_add(values[at], value);
}

static void add_sums_to(const struct sta_fields *fields, size_t at, const struct sta_additive_sums *sums)
{
    add_to(fields, STA_FIELD_EVENTS, at, sums->events);
    add_to(fields, STA_FIELD_COUNT, at, sums->count);
    add_to(fields, STA_FIELD_TIME, at, sums->time);
    add_to(fields, STA_FIELD_SIZE, at, sums->size);
    if (sums->size_bin < STA_SIZE_BINS)
        add_to(fields, STA_FIELD_BIN + sums->size_bin, at, sums->count);
}

/* Adds to the rows of the signature's layers, and of their metrics, which are in the order of the layers. */
static void add_to_rows(struct sta_exact_result *result, const struct pass *pass,
                        const struct sta_event_signature *of, uint32_t key, size_t bin,
                        const struct sta_additive_sums *sums)
{
    const size_t bins = result->bins.count;
    const uint32_t metrics = result->metrics.cells > 0 ? of->metric_count : 0;
    uint32_t m = 0;
    for (uint32_t i = 0; i < of->layer_count; i++) {
        const struct sta_exact_shape_layer *layer = &result->shape.layers[of->layers[i]];
        const size_t row = cell_of(pass, of->layers[i], key);
        const struct sta_cell *cell = sta_contributions_cell(result->contributions, (uint32_t)row);
        add_sums_to(&result->cells, row * bins + bin, sums);
        for (; m < metrics && of->metrics[m] < layer->first_metric + layer->metric_count; m++) {
            const size_t metric = cell->first_metric + of->metrics[m] - layer->first_metric;
            add_sums_to(&result->metrics, metric * bins + bin, sums);
        }
    }
}

static int add_sums(void *context, uint32_t number, uint32_t key, size_t bin,
                    const struct sta_additive_sums *sums, struct sta_error *err)
{
    const struct pass *pass = context;
    struct sta_exact_result *result = pass->result;
    const struct sta_event_signature *of = sta_event_signatures_at(pass->signatures, number);
    count_fate(&result->counts, of, sums->count);
    if (result->counts_by_bin != NULL)
        count_fate(&result->counts_by_bin[bin], of, sums->count);
    add_to_rows(result, pass, of, key, bin, sums);
    return STA_OK;
}

static void add_file(void *context, uint32_t layer, uint32_t key, size_t bin)
{
    const struct pass *pass = context;
    const struct sta_exact_result *result = pass->result;
    size_t row = cell_of(pass, layer, key);
    result->cells.values[STA_FIELD_FILES][row * result->bins.count + bin]++;
}

/* ---- all of it */

/* Everything from the events to the fields. */
static int fill(struct pass *pass, struct sta_exact_shared *shared, struct sta_error *err)
{
    const bool known = sta_exact_keys_source(pass->result->keys) <= STA_KEY_TIME;
    int rc = known ? make_known_fields(pass, err) : STA_OK;
    if (rc == 0)
        rc = scan_all(pass, shared, err);
    if (rc == 0)
        rc = sta_additive_end(&pass->intake.additive, err);
    if (rc == 0 && !known)
        rc = each_sum(pass, shared, add_key, err);
    if (rc == 0 && !known)
        rc = make_fields(pass, err);
    if (rc != 0)
        return rc;
    sta_tallies_finish(pass->tallies);
    rc = each_sum(pass, shared, add_sums, err);
    if (rc == 0 && pass->intake.request->wants & STA_WANT_FILES)
        rc = sta_files_each(&pass->intake.files, add_file, pass, err);
    return rc;
}

/* ---- start and end */

#define MANY_BINS 4096

/* Whether it is worth a pass over the events to know which bins have any: with fewer events than bins some
 * have none, and what is kept of very many bins is more than a pass costs. */
static bool should_look(const struct sta_exact_request *request)
{
    uint64_t events = sta_snapshot_info(request->bound->query->snapshot)->events;
    return request->rows_only && request->bins.count >= STA_MIN(events, (uint64_t)MANY_BINS);
}

static void begin_intake(struct pass *pass, const struct sta_exact_request *request,
                         const struct sta_budget *budget)
{
    struct sta_exact_result *result = pass->result;
    const struct sta_entities *entities = sta_snapshot_entities(request->bound->query->snapshot);
    const enum sta_key_source source = sta_exact_keys_source(result->keys);
    const bool units = (request->wants & STA_WANT_UNITS) != 0;
    const struct sta_contributions_options options = {.shape = &result->shape,
                                                      .entities = entities,
                                                      .groups = &pass->groups,
                                                      .wants = request->wants,
                                                      .by_thread = units || source == STA_KEY_THREAD,
                                                      .keyed = source == STA_KEY_VALUE,
                                                      .few_cells = source <= STA_KEY_TIME,
                                                      .account = budget->account};
    result->contributions = sta_contributions_create(&options);
    pass->tallies = sta_tallies_create(result->contributions, &result->bins, budget->account);
    pass->intake = (struct sta_intake){.request = request,
                                       .budget = budget,
                                       .entities = entities,
                                       .bins = &result->bins,
                                       .signatures = pass->signatures,
                                       .keys = result->keys,
                                       .contributions = result->contributions,
                                       .worker_count = sta_budget_workers(budget)};
    pass->sweep = sta_exact_sweep_create(&pass->intake, pass->tallies);
}

/* Makes what the pass needs; it stays where it is.  Fini in any case. */
static int pass_init(struct pass *pass, const struct sta_exact_request *request,
                     const struct sta_budget *budget, struct sta_exact_result *result, struct sta_error *err)
{
    const struct sta_bound_query *bound = request->bound;
    const bool units = (request->wants & STA_WANT_UNITS) != 0;
    *pass = (struct pass){.result = result};
    *result = (struct sta_exact_result){.bins = request->bins, .account = budget->account};
    sta_exact_shape_init(&result->shape, bound->preset, request->layers);
    int rc = sta_exact_keys_create(bound, request->by, sta_budget_workers(budget), &result->keys, err);
    if (rc == 0 && units)
        rc = sta_rank_groups_init(&pass->groups, bound->query->snapshot, budget, err);
    pass->signatures = sta_event_signatures_create(bound->classes, &result->shape, units, budget->account);
    if (rc == 0 && should_look(request))
        rc = sta_exact_occupied(request, pass->signatures, budget, &result->bins, &result->runs, err);
    if (rc != 0)
        return rc;
    begin_intake(pass, request, budget);
    return sta_intake_init(&pass->intake, err);
}

static void pass_fini(struct pass *pass)
{
    sta_intake_fini(&pass->intake);
    sta_exact_sweep_destroy(pass->sweep);
    sta_tallies_destroy(pass->tallies);
    sta_event_signatures_destroy(pass->signatures);
    sta_rank_groups_fini(&pass->groups);
}

int sta_exact_run(const struct sta_exact_request *request, const struct sta_budget *budget,
                  struct sta_exact_result *result, struct sta_error *err)
{
    struct pass pass;
    struct sta_exact_shared shared = {.parts = NULL};
    int rc = pass_init(&pass, request, budget, result, err);
    if (rc == 0 && result->runs == NULL)
        sta_exact_share(&shared, request, budget);
    if (rc == 0)
        rc = fill(&pass, &shared, err);
    sta_exact_shared_end(&shared);
    pass_fini(&pass);
    return rc;
}

int sta_exact_gather(const struct sta_exact_request *request, const struct sta_stripe *stripe,
                     const struct sta_budget *budget, struct sta_buffer *state, struct sta_error *err)
{
    struct pass pass;
    struct sta_exact_result none;
    struct sta_buffer tallies = {.account = budget->account};
    struct sta_time_range range;
    const struct sta_scan all = sta_exact_scan(request);
    int rc = pass_init(&pass, request, budget, &none, err);
    if (rc == 0)
        rc = sta_time_range_of(&all, stripe, budget->account, &range, err);
    if (rc == 0) {
        sta_tallies_put_into(pass.tallies, &tallies);
        rc = scan(&pass, range, err);
    }
    if (rc == 0)
        rc = sta_exact_put_state(&pass.intake, &tallies, state, err);
    sta_buffer_fini(&tallies);
    pass_fini(&pass);
    sta_exact_result_fini(&none);
    return rc;
}

void sta_exact_result_fini(struct sta_exact_result *result)
{
    sta_fields_fini(&result->cells);
    sta_fields_fini(&result->metrics);
    sta_contributions_destroy(result->contributions);
    sta_exact_keys_destroy(result->keys);
    sta_exact_shape_fini(&result->shape);
    sta_account_free(result->account, result->counts_by_bin);
    sta_account_free(result->account, result->runs);
}

/* ---- what every query needs */

struct sta_exact_bins sta_exact_bins_by_time(const struct sta_bound_query *bound, int64_t g)
{
    const struct sta_snapshot *snapshot = bound->query->snapshot;
    int64_t last = sta_last_start(snapshot); /* maybe an instant at the very end */
    last = STA_MAX(last, sta_job_ticks(snapshot) - 1);
    int64_t from = STA_MAX(bound->from, 0);
    int64_t to = bound->to == INT64_MAX ? last : STA_MIN(bound->to - 1, last);
    struct sta_exact_bins bins = {.g = g, .first = from / g, .from = from};
    if (from > to) /* no bin, and no event lies in it */
        return (struct sta_exact_bins){.g = g, .first = from / g, .from = INT64_MAX, .to = INT64_MAX};
    bins.count = (size_t)(to / g - bins.first) + 1;
    bins.to = bound->to == INT64_MAX ? (to / g + 1) * g : STA_MIN(bound->to, (to / g + 1) * g);
    return bins;
}

void sta_exact_facts(const struct sta_exact_result *result, const struct sta_table *table,
                     struct sta_facts *facts)
{
    const struct sta_exact_counts *counts = &result->counts;
    sta_facts_int(facts, "filtered", counts->filtered_by_file + counts->filtered_by_function);
    sta_facts_int(facts, "filtered_by_file", counts->filtered_by_file);
    sta_facts_int(facts, "filtered_by_function", counts->filtered_by_function);
    sta_facts_int(facts, "taken", counts->taken);
    sta_facts_int(facts, "unmatched", counts->unmatched);
    sta_facts_int(facts, "multiple", counts->multiple);
    sta_facts_of_sums(facts, table);
}
