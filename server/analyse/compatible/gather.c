/* Events to aggregations; see gather.h. */
#include "analyse/compatible/gather.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

#define RECENT_SLOTS 4096u

/* What distinct values are taken of.  bin: INT32_MAX at most, so a slot of zeros is recognised by its 0. */
struct occurrence {
    uint32_t signature, proc, file, bin_and_1;
};

/* What a worker knows, and the vectors of one row group. */
struct sta_gather_worker {
    struct sta_combinations combinations;
    int64_t keyless; /* events left out for want of a file */
    uint32_t signatures[STA_VECTOR_ROWS];
    int64_t bins[STA_VECTOR_ROWS], size_bins[STA_VECTOR_ROWS];
    double seconds[STA_VECTOR_ROWS];
    struct occurrence recent[RECENT_SLOTS]; /* by hash, the last one */
    /* Rows that are grouped; of these, whose sizes and files a layer shows; of these, those with a size. */
    uint32_t grouped[STA_VECTOR_ROWS], shown[STA_VECTOR_ROWS], sized[STA_VECTOR_ROWS];
    uint32_t grouped_count, shown_count, sized_count;
    /* Of those that are grouped and shown: those that do not repeat a recent one. */
    uint32_t fresh[STA_VECTOR_ROWS], fresh_shown[STA_VECTOR_ROWS];
    uint32_t fresh_count, fresh_shown_count;
};

/* ---- columns of a row group */

struct columns {
    const uint32_t *names, *cats;
    const int64_t *ts, *dur;
    struct sta_vector procs, files, sizes;
};

static int read_columns(struct sta_column_reader *reader, struct columns *columns, struct sta_error *err)
{
    const struct sta_column_values *names, *cats;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_NAME, &names, err);
    if (rc == 0)
        rc = sta_column_reader_physical(reader, STA_COLUMN_CAT, &cats, err);
    if (rc == 0)
        rc = sta_column_reader_times(reader, &columns->ts, &columns->dur, err);
    if (rc == 0)
        rc = sta_column_reader_get(reader, STA_LOGICAL_proc_name, &columns->procs, err);
    if (rc == 0)
        rc = sta_column_reader_get(reader, STA_LOGICAL_file_name, &columns->files, err);
    if (rc == 0)
        rc = sta_column_reader_get(reader, STA_LOGICAL_size, &columns->sizes, err);
    if (rc != 0)
        return rc;
    if (columns->procs.constant)
        return sta_fail(err, STA_ECORRUPT, "a row group of the store has no threads");
    columns->names = names->codes;
    columns->cats = cats->codes;
    return 0;
}

/* ---- rows */

static int choose_rows(struct sta_gather *gather, struct sta_gather_worker *worker,
                       const struct sta_scan_rows *rows, const struct columns *columns, struct sta_error *err)
{
    struct sta_combinations *combinations = &worker->combinations;
    const bool by_file = gather->hlm->axes->grouped[STA_AXIS_FILE];
    worker->grouped_count = worker->shown_count = worker->sized_count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i), name = columns->names[row], cat = columns->cats[row];
        uint32_t number = sta_composite_map_find(&combinations->numbers, name, cat, rows->classes[row]);
        if (number == STA_NO_CODE) {
            number = (uint32_t)combinations->count;
            int rc =
                sta_combinations_add(combinations, &gather->signatures, name, cat, rows->classes[row], err);
            if (rc != 0)
                return rc;
        }
        struct sta_combination *combination = &combinations->items[number];
        combination->count++;
        if (combination->signature == STA_NO_CODE)
            continue;
        if (by_file && sta_vector_is_missing(&columns->files, row)) {
            worker->keyless++;
            continue;
        }
        worker->signatures[row] = combination->signature;
        worker->grouped[worker->grouped_count++] = row;
        worker->shown[worker->shown_count] = row;
        worker->shown_count += combination->shown;
    }
    return 0;
}

/* The bin of each row; as times ascend, divides only where a bin ends. */
static void find_bins(struct sta_gather_worker *worker, const int64_t *ts, int64_t width)
{
    int64_t bin = 0, from = 0, to = 0;
    for (uint32_t i = 0; i < worker->grouped_count; i++) {
        uint32_t row = worker->grouped[i];
        if (ts[row] < from || ts[row] >= to) {
            bin = ts[row] / width;
            from = bin * width;
            to = from + width;
        }
        worker->bins[row] = bin;
    }
}

static uint32_t code_at(const struct sta_vector *vector, uint32_t row)
{
    return vector->codes[vector->constant ? 0 : row];
}

/* Whether a recent row of this worker had the same values, whatever its row group. */
static bool repeats(struct sta_gather_worker *worker, const struct occurrence *occurrence)
{
    uint64_t mixed =
        ((uint64_t)occurrence->proc << 32 | occurrence->file) * UINT64_C(0x9e3779b97f4a7c15) ^
        ((uint64_t)occurrence->signature << 32 | occurrence->bin_and_1) * UINT64_C(0xd6e8feb86659fd93);
    struct occurrence *slot = &worker->recent[(mixed ^ mixed >> 29) >> 20 & (RECENT_SLOTS - 1)];
    bool same = slot->signature == occurrence->signature && slot->proc == occurrence->proc &&
                slot->file == occurrence->file && slot->bin_and_1 == occurrence->bin_and_1;
    *slot = *occurrence;
    return same;
}

/* Distinct values are the same without rows that repeat others: in a traced training run, three of five. */
static void choose_fresh(struct sta_gather_worker *worker, const struct columns *columns)
{
    uint32_t shown = 0;
    worker->fresh_count = worker->fresh_shown_count = 0;
    for (uint32_t i = 0; i < worker->grouped_count; i++) {
        uint32_t row = worker->grouped[i];
        bool is_shown = shown < worker->shown_count && worker->shown[shown] == row;
        struct occurrence occurrence = {.signature = worker->signatures[row],
                                        .proc = code_at(&columns->procs, row),
                                        .file = code_at(&columns->files, row),
                                        .bin_and_1 = (uint32_t)worker->bins[row] + 1};
        shown += is_shown;
        if (repeats(worker, &occurrence))
            continue;
        worker->fresh[worker->fresh_count++] = row;
        worker->fresh_shown[worker->fresh_shown_count] = row;
        worker->fresh_shown_count += is_shown;
    }
}

static void measure_rows(const struct sta_gather *gather, struct sta_gather_worker *worker,
                         const struct columns *columns)
{
    const double ticks = 1e6 * (double)gather->hlm->bound->ticks_per_us; /* of a second */
    find_bins(worker, columns->ts, gather->hlm->axes->bin_ticks);
    choose_fresh(worker, columns);
    for (uint32_t i = 0; i < worker->grouped_count; i++)
        worker->seconds[worker->grouped[i]] = (double)columns->dur[worker->grouped[i]] / ticks;
    for (uint32_t i = 0; !columns->sizes.constant && i < worker->shown_count; i++) {
        uint32_t row = worker->shown[i];
        if (sta_vector_is_missing(&columns->sizes, row))
            continue;
        worker->size_bins[row] = sta_size_bin(columns->sizes.integers[row]);
        worker->sized[worker->sized_count++] = row;
    }
}

static int consume(struct sta_gather *gather, unsigned number, const struct columns *columns,
                   struct sta_error *err)
{
    struct sta_gather_worker *worker = gather->workers[number];
    const struct sta_vector of_axis[STA_AXES] = {columns->files, columns->procs,
                                                 sta_vector_of_integers(worker->bins)};
    const struct sta_vector seconds = {.type = STA_TYPE_FLOAT, .numbers = worker->seconds};
    struct sta_vector keys[STA_GATHER_MOST_KEYS];
    size_t count = 0;
    for (int axis = 0; axis < STA_AXES; axis++)
        if (gather->hlm->axes->grouped[axis])
            keys[count++] = of_axis[axis];
    keys[count++] = (struct sta_vector){
        .type = STA_TYPE_TEXT, .codes = worker->signatures, .texts = gather->signatures.texts};
    int rc = STA_OK;
    for (int g = 0; rc == 0 && g < STA_GATHERS; g++) {
        struct sta_aggregation_input input = {
            .count = worker->grouped_count, .selected = worker->grouped, .keys = keys, .arguments = &seconds};
        if (g == STA_GATHER_SIZES) {
            keys[count] = sta_vector_of_integers(worker->size_bins);
            input.count = worker->sized_count;
            input.selected = worker->sized;
            input.arguments = &columns->sizes;
        } else if (g >= STA_GATHER_AXES) {
            keys[count] = of_axis[g - STA_GATHER_AXES];
            bool files = g == STA_GATHER_AXES + STA_AXIS_FILE;
            input.count = files ? worker->fresh_shown_count : worker->fresh_count;
            input.selected = files ? worker->fresh_shown : worker->fresh;
        }
        if (gather->aggregations[g] != NULL && input.count > 0)
            rc = sta_aggregation_consume(gather->aggregations[g], number, &input, err);
    }
    return rc;
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_gather *gather = self;
    struct columns columns;
    int rc = read_columns(rows->reader, &columns, err);
    if (rc == 0)
        rc = choose_rows(gather, gather->workers[number], rows, &columns, err);
    if (rc != 0)
        return rc;
    measure_rows(gather, gather->workers[number], &columns);
    return consume(gather, number, &columns, err);
}

/* ---- what became of the events */

static void count_events(const struct sta_gather *gather, const struct sta_combination *combination,
                         struct sta_hlm_counts *counts)
{
    const struct sta_bound_query *bound = gather->hlm->bound;
    const uint32_t asked = gather->signatures.options->layer;
    struct sta_class class = sta_classes_get(bound->classes, combination->class);
    const int64_t count = combination->count;
    size_t layers = 0;
    bool taken = false;
    for (size_t l = 0; l < bound->preset->layer_count; l++) {
        bool has = sta_class_has(&class, l);
        layers += has;
        counts->of_layer[l] += has ? count : 0;
        taken |= has && (asked == STA_NO_LAYER || asked == l);
    }
    sta_fate_counts_add(&counts->fates, class.fate, layers, count);
    counts->taken += taken ? count : 0;
    if (class.fate == STA_FATE_KEPT && (combination->name == STA_NO_CODE || combination->cat == STA_NO_CODE))
        counts->keyless += count;
}

void sta_gather_count(const struct sta_gather *gather, struct sta_hlm_counts *counts)
{
    for (unsigned w = 0; w < gather->worker_count; w++) {
        const struct sta_gather_worker *worker = gather->workers[w];
        counts->keyless += worker->keyless;
        for (size_t i = 0; i < worker->combinations.count; i++)
            count_events(gather, &worker->combinations.items[i], counts);
    }
}

/* ---- all of it */

static int create_aggregations(struct sta_gather *gather, struct sta_error *err)
{
    static const struct sta_primitive times[] = {{.aggregate = STA_AGGREGATE_ROWS},
                                                 {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_FLOAT}}};
    static const struct sta_primitive sizes[] = {{.aggregate = STA_AGGREGATE_ROWS},
                                                 {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_INT}}};
    const bool *grouped = gather->hlm->axes->grouped;
    enum sta_type keys[STA_GATHER_MOST_KEYS];
    struct sta_budget share = *gather->budget;
    for (int axis = 0; axis < STA_AXES; axis++)
        if (grouped[axis])
            keys[gather->key_count++] = axis == STA_AXIS_TIME ? STA_TYPE_INT : STA_TYPE_TEXT;
    const size_t further = 1 + STA_AXES - gather->key_count;
    keys[gather->key_count++] = STA_TYPE_TEXT;
    int rc = STA_OK;
    for (int g = 0; rc == 0 && g < STA_GATHERS; g++) {
        if (g >= STA_GATHER_AXES && grouped[g - STA_GATHER_AXES])
            continue;
        keys[gather->key_count] = g == STA_GATHER_AXES + STA_AXIS_FILE ? STA_TYPE_TEXT : STA_TYPE_INT;
        struct sta_aggregation_spec spec = {.keys = keys,
                                            .key_count = gather->key_count + (g != STA_GATHER_TIMES),
                                            .keep_missing = g == STA_GATHER_AXES + STA_AXIS_FILE,
                                            .primitives = g == STA_GATHER_SIZES ? sizes : times,
                                            .primitive_count = g < STA_GATHER_AXES ? 2 : 0};
        /* A quarter for the groups, one for all by a further key, half for what is made of them. */
        share.memory = gather->budget->memory / 4 / (g == STA_GATHER_TIMES ? 1 : further);
        rc = sta_aggregation_create(&spec, &share, share.spill_folder, &gather->aggregations[g], err);
    }
    return rc;
}

int sta_gather_run(struct sta_gather *gather, struct sta_hlm *hlm, const struct sta_hlm_options *options,
                   const struct sta_budget *budget, struct sta_error *err)
{
    *gather = (struct sta_gather){.hlm = hlm, .budget = budget, .worker_count = sta_budget_workers(budget)};
    sta_signatures_init(&gather->signatures, hlm->bound, options, budget->account);
    gather->workers = sta_alloc_array(gather->worker_count, sizeof *gather->workers);
    for (unsigned w = 0; w < gather->worker_count; w++) {
        gather->workers[w] = sta_alloc(sizeof **gather->workers);
        sta_combinations_init(&gather->workers[w]->combinations, gather->signatures.account);
    }
    struct sta_accumulator accumulator = {gather, take_rows};
    struct sta_scan scan = sta_bound_query_scan(hlm->bound);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    int rc = create_aggregations(gather, err);
    return rc == 0 ? sta_scan_run(&scan, budget, err) : rc;
}

void sta_gather_fini(struct sta_gather *gather)
{
    for (int g = 0; g < STA_GATHERS; g++)
        sta_aggregation_destroy(gather->aggregations[g]);
    for (unsigned w = 0; w < gather->worker_count; w++) {
        sta_combinations_fini(&gather->workers[w]->combinations, gather->budget->account);
        free(gather->workers[w]);
    }
    free(gather->workers);
    sta_signatures_fini(&gather->signatures);
    *gather = (struct sta_gather){0};
}
