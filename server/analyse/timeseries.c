/* The exact time series: one pass fills bins per layer, then a row per bin.
 *
 * Each worker has bins of its own, which are added up after the pass.  Where all workers' bins would not fit the budget, fewer work. */
#include "analyse/timeseries.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/intervals/unions.h"
#include "analyse/question.h"
#include "analyse/scan.h"
#include "common/memory.h"

/* ---- rows to bins */

static struct sta_series_class *meet_class(struct sta_series_run *series, struct sta_series_worker *worker,
                                           uint32_t code)
{
    size_t before = worker->class_capacity;
    STA_GROW(worker->classes, worker->class_capacity, (size_t)code + 1);
    if (worker->class_capacity > before)
        memset(worker->classes + before, 0, (worker->class_capacity - before) * sizeof *worker->classes);
    struct sta_series_class *class = &worker->classes[code];
    if (class->known)
        return class;
    const struct sta_classes *classes = series->bound->classes;
    struct sta_class meaning = sta_classes_get(classes, code);
    uint64_t *slots = sta_alloc_array((size_t)series->layer_count + 1, sizeof *slots);
    *class = (struct sta_series_class){.known = true, .fate = meaning.fate, .cell = STA_NO_CELL};
    class->layers = sta_alloc_array((size_t)series->layer_count + 1, sizeof *class->layers);
    for (size_t l = 0; l < series->bound->preset->layer_count; l++)
        class->layers_in_preset += sta_class_has(&meaning, sta_classes_layer_bit(classes, l));
    for (uint32_t l = 0; l < series->layer_count; l++)
        if (sta_class_has(&meaning, sta_classes_layer_bit(classes, series->layers[l]))) {
            slots[class->layer_count] = sta_slot_key(l, 0);
            class->layers[class->layer_count++] = l;
        }
    if (class->layer_count > 0)
        class->cell = sta_cells_add(series->cells, code, slots, class->layer_count);
    free(slots);
    return class;
}

static void count_fate(struct sta_series_counts *counts, const struct sta_series_class *class)
{
    counts->filtered_by_file += class->fate == STA_FATE_FILE;
    counts->filtered_by_function += class->fate == STA_FATE_FUNCTION;
    counts->unmatched += class->fate == STA_FATE_KEPT && class->layers_in_preset == 0;
    counts->multiple += class->layers_in_preset > 1;
}

/* The columns that the series reads. */
struct columns {
    const int64_t *ts, *dur, *sizes;
    const uint8_t *no_size;
};

static int read_columns(const struct sta_series_run *series, struct sta_column_reader *reader,
                        struct columns *columns, struct sta_error *err)
{
    const struct sta_column_values *ts;
    const struct sta_column_values *dur;
    struct sta_vector size;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_TS, &ts, err);
    if (rc == 0)
        rc = sta_column_reader_physical(reader, STA_COLUMN_DUR, &dur, err);
    if (rc != 0)
        return rc;
    *columns = (struct columns){.ts = ts->integers, .dur = dur->integers};
    if (!(series->ingredients & STA_INGREDIENT_SIZE))
        return 0;
    rc = sta_column_reader_get(reader, STA_LOGICAL_size, &size, err);
    if (rc == 0 && !size.constant) { /* constant: missing everywhere */
        columns->sizes = size.integers;
        columns->no_size = size.missing;
    }
    return rc;
}

static int64_t size_of(const struct columns *columns, uint32_t row)
{
    if (columns->sizes == NULL || (columns->no_size != NULL && columns->no_size[row]))
        return 0;
    return columns->sizes[row];
}

/* @spans: NULL when no metric asks for busy. */
static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_span *spans,
                     uint32_t *span_count, struct sta_error *err)
{
    struct sta_series_run *series = self;
    struct sta_series_worker *worker = &series->workers[number];
    const int64_t begin = series->bins.first * series->bins.g;
    const int64_t end = begin + (int64_t)series->bins.count * series->bins.g;
    struct columns columns;
    int rc = read_columns(series, rows->reader, &columns, err);
    uint32_t made = 0;
    for (uint32_t i = 0; rc == 0 && i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i);
        int64_t ts = columns.ts[row];
        int64_t te = STA_MAX(ts, ts + columns.dur[row]);
        const struct sta_series_class *class = meet_class(series, worker, rows->classes[row]);
        if (ts >= begin && ts < end)
            count_fate(&worker->counts, class);
        else if (ts >= end || te <= begin)
            continue;
        int64_t size = size_of(&columns, row);
        for (uint32_t l = 0; l < class->layer_count; l++)
            sta_series_add(&worker->layers[class->layers[l]], &series->bins, ts, te, size);
        if (spans != NULL && class->cell != STA_NO_CELL && te > ts)
            spans[made++] = (struct sta_span){ts, te, class->cell};
    }
    if (spans != NULL)
        *span_count = made;
    return rc;
}

static int update(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    return take_rows(self, worker, rows, NULL, NULL, err);
}

static bool is_outside(void *context, const struct sta_block *block)
{
    const struct sta_series_run *series = context;
    const int64_t begin = series->bins.first * series->bins.g;
    const int64_t end = begin + (int64_t)series->bins.count * series->bins.g;
    return block->ts_min >= end || (block->te_max <= begin && block->ts_max < begin);
}

/* ---- busy */

static void take_piece(void *context, unsigned worker, uint32_t slot, int64_t from, int64_t to)
{
    struct sta_series_run *series = context;
    sta_cover_add(&series->workers[worker].layers[slot].busy, &series->bins, from, to);
}

static void prepare(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_prepare(((struct sta_series_run *)self)->unions, worker, slice);
}

static void carry(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_carry(((struct sta_series_run *)self)->unions, worker, slice);
}

static void measure(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_measure(((struct sta_series_run *)self)->unions, worker, slice);
}

/* Slot l is that of layer l: the first cell names them in order. */
static void make_unions(struct sta_series_run *series)
{
    uint64_t *slots = sta_alloc_array((size_t)series->layer_count + 1, sizeof *slots);
    for (uint32_t l = 0; l < series->layer_count; l++)
        slots[l] = sta_slot_key(l, 0);
    series->cells = sta_cells_create();
    sta_cells_add(series->cells, UINT64_MAX - 1, slots, series->layer_count);
    series->unions = sta_unions_create(series->cells, series->worker_count, take_piece, series);
    free(slots);
}

/* ---- bins of the workers */

static size_t arrays_per_layer(const struct sta_series_run *series)
{
    return 2 + (series->ingredients & STA_INGREDIENT_TIME ? 2 : 0) +
           (series->ingredients & STA_INGREDIENT_BUSY ? 2 : 0) +
           (series->ingredients & STA_INGREDIENT_SIZE ? 1 : 0);
}

static size_t numbers_per_worker(const struct sta_series_run *series)
{
    return (series->bins.count + 1) * arrays_per_layer(series) * series->layer_count;
}

static void share_out(const struct sta_series_run *series, struct sta_series_sums *sums, int64_t **memory)
{
    int64_t **const all[] = {&sums->starts,     &sums->touched,     &sums->time.parts, &sums->time.inside,
                             &sums->busy.parts, &sums->busy.inside, &sums->sizes};
    static const unsigned wanted_by[] = {0,
                                         0,
                                         STA_INGREDIENT_TIME,
                                         STA_INGREDIENT_TIME,
                                         STA_INGREDIENT_BUSY,
                                         STA_INGREDIENT_BUSY,
                                         STA_INGREDIENT_SIZE};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++) {
        if (wanted_by[i] != 0 && !(series->ingredients & wanted_by[i]))
            continue;
        *all[i] = *memory;
        *memory += series->bins.count + 1;
    }
}

static int make_workers(struct sta_series_run *series, const struct sta_budget *budget, struct sta_error *err)
{
    size_t numbers = numbers_per_worker(series);
    double bytes = (double)numbers * sizeof(int64_t);
    int rc = sta_budget_memory(budget, bytes, "the bins of a time series", err);
    if (rc != 0)
        return rc;
    double fitting = bytes > 0 ? (double)budget->memory / bytes : sta_budget_workers(budget);
    series->worker_count =
        fitting < sta_budget_workers(budget) ? (unsigned)fitting : sta_budget_workers(budget);
    series->workers = sta_alloc_array(series->worker_count, sizeof *series->workers);
    for (unsigned w = 0; w < series->worker_count; w++) {
        struct sta_series_worker *worker = &series->workers[w];
        worker->layers = sta_alloc_array((size_t)series->layer_count + 1, sizeof *worker->layers);
        worker->memory = sta_alloc_array(numbers + 1, sizeof *worker->memory);
        int64_t *memory = worker->memory;
        for (uint32_t l = 0; l < series->layer_count; l++)
            share_out(series, &worker->layers[l], &memory);
    }
    return 0;
}

/* Adds all workers' bins into those of the first, and turns differences into values. */
static void merge(struct sta_series_run *series)
{
    struct sta_series_worker *first = &series->workers[0];
    size_t numbers = numbers_per_worker(series);
    for (unsigned w = 1; w < series->worker_count; w++) {
        const struct sta_series_worker *worker = &series->workers[w];
        for (size_t i = 0; i < numbers; i++)
            first->memory[i] += worker->memory[i];
        first->counts.filtered_by_file += worker->counts.filtered_by_file;
        first->counts.filtered_by_function += worker->counts.filtered_by_function;
        first->counts.unmatched += worker->counts.unmatched;
        first->counts.multiple += worker->counts.multiple;
    }
    for (uint32_t l = 0; l < series->layer_count; l++) {
        struct sta_series_sums *sums = &first->layers[l];
        for (size_t b = 1; b < series->bins.count; b++)
            sums->touched[b] += sums->touched[b - 1];
        if (sums->time.parts != NULL)
            sta_cover_finish(&sums->time, &series->bins);
        if (sums->busy.parts != NULL)
            sta_cover_finish(&sums->busy, &series->bins);
    }
}

/* ---- start and end */

static void say_facts(const struct sta_series_run *series, struct sta_facts *facts)
{
    const struct sta_series_counts *counts = &series->workers[0].counts;
    sta_facts_of_trace(facts, series->bound->question->snapshot);
    sta_facts_number(facts, "granularity", "s", sta_seconds(series->bins.g, series->bound->ticks_per_us));
    sta_facts_int(facts, "filtered", counts->filtered_by_file + counts->filtered_by_function);
    sta_facts_int(facts, "filtered_by_file", counts->filtered_by_file);
    sta_facts_int(facts, "filtered_by_function", counts->filtered_by_function);
    sta_facts_int(facts, "unmatched", counts->unmatched);
    sta_facts_int(facts, "multiple", counts->multiple);
}

static int scan_bins(struct sta_series_run *series, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_budget own = *budget;
    own.workers = series->worker_count;
    struct sta_accumulator unordered = {series, update};
    struct sta_ordered_accumulator ordered = {series, take_rows, prepare, carry, measure};
    struct sta_scan scan = sta_question_scan(series->bound);
    scan.from = INT64_MIN; /* the window picks bins, not events */
    scan.to = INT64_MAX;
    scan.skip = is_outside;
    scan.skip_context = series;
    if (series->ingredients & STA_INGREDIENT_BUSY) {
        scan.ordered = &ordered;
    } else {
        scan.accumulators = &unordered;
        scan.accumulator_count = 1;
    }
    return sta_scan_run(&scan, &own, err);
}

static void series_fini(struct sta_series_run *series)
{
    for (unsigned w = 0; w < series->worker_count; w++) {
        for (size_t c = 0; c < series->workers[w].class_capacity; c++)
            free(series->workers[w].classes[c].layers);
        free(series->workers[w].classes);
        free(series->workers[w].layers);
        free(series->workers[w].memory);
    }
    free(series->workers);
    sta_unions_destroy(series->unions);
    sta_cells_destroy(series->cells);
    free(series->metrics);
    free(series->layers);
}

static int run(struct sta_series_run *series, const struct sta_budget *budget, struct sta_table *table,
               struct sta_facts *facts, struct sta_error *err)
{
    int rc = sta_series_choose(series, err);
    if (rc == 0)
        rc = make_workers(series, budget, err);
    if (rc != 0)
        return rc;
    make_unions(series);
    rc = scan_bins(series, budget, err);
    if (rc != 0)
        return rc;
    merge(series);
    sta_series_table(series, table);
    say_facts(series, facts);
    return 0;
}

int sta_timeseries_exact(const struct sta_question *question, const struct sta_series *asked,
                         const struct sta_budget *budget, struct sta_table *table, struct sta_facts *facts,
                         struct sta_error *err)
{
    struct sta_bound_question bound;
    facts->count = 0;
    int rc = sta_question_bind(&bound, question, err);
    if (rc == 0) {
        struct sta_series_run series = {.bound = &bound, .asked = asked};
        rc = run(&series, budget, table, facts, err);
        series_fini(&series);
    }
    sta_question_release(&bound);
    return rc;
}
