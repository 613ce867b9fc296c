/* A metric of a layer, summed by unit, then described by row. */
#include "analyse/compatible/layer_view.h"

#include <math.h>

#include "analyse/compatible/sum.h"
#include "analyse/exec/budget.h"
#include "common/memory.h"

/* ---- columns */

static bool number_has(const struct sta_layer_view *view, enum sta_layer_measure measure, enum sta_stat stat)
{
    switch (stat) {
    case STA_STAT_NUNIQUE:
        return false;
    case STA_STAT_PER:
        return measure == STA_MEASURE_COUNT || measure == STA_MEASURE_SIZE || measure == STA_MEASURE_TIME;
    case STA_STAT_PCT:
    case STA_STAT_SLOPE:
        return measure == STA_MEASURE_OPS;
    case STA_STAT_Q10:
    case STA_STAT_Q1:
    case STA_STAT_Q25:
    case STA_STAT_Q5:
        return view->quantiles;
    default:
        return true;
    }
}

/* Values of a view type are counted for each metric where the hlm has sets of them, for the layer alone where
 * rows have them. */
static bool counts_axis(const struct sta_layer_view *view, uint32_t metric, enum sta_axis axis)
{
    const struct sta_axes *axes = view->rows.hlm->axes;
    bool is_view = !view->by->logical && view->by->axis == axis;
    if (axis == STA_AXIS_FILE &&
        !sta_layer_has_files(&view->rows.hlm->bound->preset->layers[view->rows.layer]))
        return false;
    return !is_view && (!axes->grouped[axis] || metric == STA_LAYER_ITSELF);
}

bool sta_layer_has_column(const struct sta_layer_view *view, uint32_t metric, enum sta_layer_measure measure,
                          enum sta_stat stat)
{
    const struct sta_layer *layer = &view->rows.hlm->bound->preset->layers[view->rows.layer];
    if (measure == STA_MEASURE_VIEW)
        return stat == STA_STAT_NUNIQUE && view->by->logical && metric == STA_LAYER_ITSELF;
    if (measure >= STA_MEASURE_AXES)
        return stat == STA_STAT_NUNIQUE &&
               counts_axis(view, metric, (enum sta_axis)(measure - STA_MEASURE_AXES));
    bool sized = measure != STA_MEASURE_COUNT && measure != STA_MEASURE_OPS && measure != STA_MEASURE_TIME;
    if (sized && !sta_metric_has_sizes(layer, metric))
        return false;
    return measure >= STA_MEASURE_BINS ? stat == STA_STAT_SUM : number_has(view, measure, stat);
}

static bool is_quantile(enum sta_stat stat)
{
    return stat >= STA_STAT_Q10 && stat <= STA_STAT_Q5;
}

static int make_columns(struct sta_layer_metric *out, const struct sta_layer_view *view, uint32_t metric,
                        struct sta_error *err)
{
    *out = (struct sta_layer_metric){.rows = view->by_rows.count, .pool = {.budget = view->budget}};
    for (int measure = 0; measure < STA_MEASURES; measure++)
        for (int stat = 0; stat < STA_STATS; stat++) {
            if (!sta_layer_has_column(view, metric, (enum sta_layer_measure)measure, (enum sta_stat)stat))
                continue;
            size_t count = out->rows * (is_quantile((enum sta_stat)stat) ? STA_QUANTILE_NUMBERS : 1);
            double *cells = sta_pool_take(&out->pool, count + 1, sizeof *cells, "the view's columns", err);
            if (cells == NULL)
                return err->status;
            out->cells[measure][stat] = cells;
            for (size_t i = 0; i < count; i++)
                cells[i] = NAN;
        }
    return 0;
}

/* ---- units */

/* A metric in one unit: its entries added up.  Whole numbers up to 2^53 are exact. */
struct unit {
    double numbers[STA_MEASURE_NUMBERS];
};

/* The units that have the metric, by row of the view. */
struct units {
    struct unit *items;
    size_t *start;                  /* by row, and one more */
    int64_t (*bins)[STA_SIZE_BINS]; /* by row; NULL: no sizes */
    uint32_t *all;                  /* by row: units, whether or not they have the metric */
};

static void add_entry(struct sta_sum *sums, const struct sta_main_entry *entry)
{
    struct sta_main_ratios ratios = sta_main_ratios(entry);
    sta_sum_add(&sums[STA_MEASURE_BW], ratios.bw);
    sta_sum_add(&sums[STA_MEASURE_COUNT], (double)entry->count);
    sta_sum_add(&sums[STA_MEASURE_INTENSITY], ratios.intensity);
    sta_sum_add(&sums[STA_MEASURE_OPS], ratios.ops);
    sta_sum_add(&sums[STA_MEASURE_SIZE], entry->size == STA_TOO_LARGE ? INFINITY : (double)entry->size);
    sta_sum_add(&sums[STA_MEASURE_TIME], entry->time);
}

/* Adds the entries of one unit.  Return: whether it has any. */
static bool add_unit(struct unit *unit, const struct sta_layer_view *view,
                     const struct sta_main_metric *metric, uint32_t number, int64_t *bins)
{
    const struct sta_by_rows *by_rows = &view->by_rows;
    struct sta_sum sums[STA_MEASURE_NUMBERS] = {{0}};
    bool any = false;
    for (uint32_t i = by_rows->unit_start[number]; i < by_rows->unit_start[number + 1]; i++) {
        uint32_t entry = metric->entry_of_row[by_rows->order[i]];
        if (entry == STA_NO_ENTRY)
            continue;
        any = true;
        add_entry(sums, &metric->entries[entry]);
        for (int b = 0; bins != NULL && b < STA_SIZE_BINS; b++)
            bins[b] += metric->bins[entry][b];
    }
    for (int n = 0; any && n < STA_MEASURE_NUMBERS; n++)
        unit->numbers[n] = sums[n].sum;
    return any;
}

static int units_init(struct units *units, const struct sta_layer_view *view,
                      const struct sta_main_metric *metric, struct sta_pool *pool, struct sta_error *err)
{
    static const char what[] = "the units of a view";
    const struct sta_by_rows *by_rows = &view->by_rows;
    size_t count = 0;
    *units = (struct units){.items = sta_pool_take(pool, metric->count + 1, sizeof *units->items, what, err),
                            .start = sta_pool_take(pool, by_rows->count + 1, sizeof *units->start, what, err),
                            .all = sta_pool_take(pool, by_rows->count + 1, sizeof *units->all, what, err)};
    if (metric->bins != NULL)
        units->bins = sta_pool_take(pool, by_rows->count + 1, sizeof *units->bins, what, err);
    if (units->items == NULL || units->start == NULL || units->all == NULL ||
        (metric->bins != NULL && units->bins == NULL))
        return err->status;
    for (size_t row = 0; row < by_rows->count; row++) {
        units->start[row] = count;
        units->all[row] = by_rows->value_start[row + 1] - by_rows->value_start[row];
        for (uint32_t u = by_rows->value_start[row]; u < by_rows->value_start[row + 1]; u++) {
            if (sta_budget_check_step(view->budget, u, err) != 0)
                return err->status;
            count += add_unit(&units->items[count], view, metric, u,
                              units->bins != NULL ? units->bins[row] : NULL);
        }
    }
    units->start[by_rows->count] = count;
    return 0;
}

/* ---- numbers */

/* @values: one for each unit; @start: one for each row, and one more */
static int describe(struct sta_layer_metric *out, const struct sta_layer_view *view,
                    const struct units *units, enum sta_layer_measure measure, double *values, size_t *start,
                    struct sta_error *err)
{
    size_t count = 0;
    for (size_t row = 0; row < out->rows; row++) {
        start[row] = count;
        for (size_t u = units->start[row]; u < units->start[row + 1]; u++) {
            values[count] = units->items[u].numbers[measure];
            count += values[count] != 0;
        }
    }
    start[out->rows] = count;
    struct sta_layer_values of = {.values = values,
                                  .start = start,
                                  .units = sta_by_units_are_rows(view->by) ? NULL : units->all,
                                  .rows = out->rows};
    return sta_layer_statistics(out->cells[measure], &of, view->budget, err);
}

static int describe_all(struct sta_layer_metric *out, const struct sta_layer_view *view,
                        const struct units *units, struct sta_pool *pool, struct sta_error *err)
{
    double *values =
        sta_pool_take(pool, units->start[out->rows] + 1, sizeof *values, "the numbers of a view", err);
    size_t *start = sta_pool_take(pool, out->rows + 1, sizeof *start, "the numbers of a view", err);
    int rc = values == NULL || start == NULL ? err->status : 0;
    for (int measure = 0; rc == 0 && measure < STA_MEASURE_NUMBERS; measure++)
        if (out->cells[measure][STA_STAT_SUM] != NULL)
            rc = describe(out, view, units, (enum sta_layer_measure)measure, values, start, err);
    for (int b = 0; units->bins != NULL && b < STA_SIZE_BINS; b++)
        for (size_t row = 0; row < out->rows; row++)
            if (units->bins[row][b] != 0)
                out->cells[STA_MEASURE_BINS + b][STA_STAT_SUM][row] = (double)units->bins[row][b];
    return rc;
}

/* ---- all of it */

int sta_layer_metric_init(struct sta_layer_metric *out, const struct sta_layer_view *view, uint32_t number,
                          struct sta_error *err)
{
    struct sta_main_metric metric = {0};
    struct units units;
    int rc = make_columns(out, view, number, err);
    if (rc == 0)
        rc = sta_main_metric_init(&metric, &view->rows, number, view->budget, err);
    if (rc == 0)
        rc = units_init(&units, view, &metric, &metric.pool, err);
    if (rc == 0)
        rc = describe_all(out, view, &units, &metric.pool, err);
    if (rc == 0)
        rc = sta_layer_shares(out, view->by->axis == STA_AXIS_PROC, number != STA_LAYER_ITSELF, view->budget,
                              err);
    if (rc == 0)
        rc = sta_layer_distinct(out, view, &metric, err);
    sta_pool_fini(&metric.pool);
    return rc;
}
