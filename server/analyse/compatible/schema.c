/* Columns of layer and flat views. */
#include "analyse/compatible/schema.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static const struct {
    const char *name, *unit;
    bool integer;
} numbers[STA_MEASURE_NUMBERS] = {
    [STA_MEASURE_BW] = {"bw", "B/s", false},
    [STA_MEASURE_COUNT] = {"count", NULL, true},
    [STA_MEASURE_INTENSITY] = {"intensity", NULL, false},
    [STA_MEASURE_OPS] = {"ops", NULL, false},
    [STA_MEASURE_SIZE] = {"size", "B", true},
    [STA_MEASURE_TIME] = {"time", "s", false},
};

static const char *const stat_names[STA_STATS] = {[STA_STAT_MAX] = "max",
                                                  [STA_STAT_MEAN] = "mean",
                                                  [STA_STAT_MIN] = "min",
                                                  [STA_STAT_NUNIQUE] = "nunique",
                                                  [STA_STAT_PCT] = "pct",
                                                  [STA_STAT_PER] = "per",
                                                  [STA_STAT_Q10] = "q10_q90_stats",
                                                  [STA_STAT_Q1] = "q1_q99_stats",
                                                  [STA_STAT_Q25] = "q25_q75_stats",
                                                  [STA_STAT_Q5] = "q5_q95_stats",
                                                  [STA_STAT_SLOPE] = "slope",
                                                  [STA_STAT_STD] = "std",
                                                  [STA_STAT_SUM] = "sum"};

const char *sta_measure_name(enum sta_layer_measure measure, const struct sta_by *by)
{
    if (measure < STA_MEASURE_NUMBERS)
        return numbers[measure].name;
    if (measure < STA_MEASURE_AXES)
        return sta_size_bin_names[measure - STA_MEASURE_BINS];
    return measure < STA_MEASURE_VIEW ? sta_axis_names[measure - STA_MEASURE_AXES] : by->name;
}

const char *sta_measure_unit(enum sta_layer_measure measure)
{
    return measure < STA_MEASURE_NUMBERS ? numbers[measure].unit : NULL;
}

bool sta_measure_is_integer(enum sta_layer_measure measure)
{
    return measure >= STA_MEASURE_NUMBERS || numbers[measure].integer;
}

char *sta_metric_prefix(const struct sta_layer *layer, uint32_t metric)
{
    return metric == STA_LAYER_ITSELF ? sta_strdup("") : sta_sprintf("%s_", layer->metrics[metric].name);
}

/* Which columns the flat view scores. */
static bool is_scored(enum sta_layer_measure measure, enum sta_stat stat)
{
    return stat == STA_STAT_PCT || stat == STA_STAT_PER || stat == STA_STAT_SLOPE ||
           (measure == STA_MEASURE_INTENSITY && stat == STA_STAT_MEAN);
}

void sta_view_columns_append(struct sta_view_columns *columns, const struct sta_view_column *column)
{
    STA_GROW(columns->items, columns->capacity, columns->count + 1);
    columns->items[columns->count++] = *column;
}

void sta_view_columns_add(struct sta_view_columns *columns, const struct sta_layer_view *view,
                          uint32_t metric, const char *prefix, bool scores)
{
    char *metric_prefix = sta_metric_prefix(&view->rows.hlm->bound->preset->layers[view->rows.layer], metric);
    for (int m = 0; m < STA_MEASURES; m++)
        for (int s = 0; s < STA_STATS; s++) {
            struct sta_view_column column = {.layer = view->rows.layer,
                                             .metric = metric,
                                             .measure = (enum sta_layer_measure)m,
                                             .stat = (enum sta_stat)s};
            if (!sta_layer_has_column(view, metric, column.measure, column.stat))
                continue;
            column.name = sta_sprintf("%s%s%s_%s", prefix, metric_prefix,
                                      sta_measure_name(column.measure, view->by), stat_names[s]);
            column.stem = strlen(column.name) - strlen(stat_names[s]) - 1;
            sta_view_columns_append(columns, &column);
            column.score = true;
            column.name = scores && is_scored(column.measure, column.stat)
                              ? sta_sprintf("%s_score", column.name)
                              : NULL;
            if (column.name != NULL)
                sta_view_columns_append(columns, &column);
        }
    free(metric_prefix);
}

void sta_view_columns_fini(struct sta_view_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->items[i].name);
    free(columns->items);
    *columns = (struct sta_view_columns){0};
}

enum sta_type sta_view_column_type(const struct sta_view_column *column)
{
    if (column->score || column->stat == STA_STAT_NUNIQUE)
        return STA_TYPE_INT;
    if (column->stat >= STA_STAT_Q10 && column->stat <= STA_STAT_Q5)
        return STA_TYPE_LIST;
    bool whole = column->stat == STA_STAT_SUM || column->stat == STA_STAT_MIN || column->stat == STA_STAT_MAX;
    return whole && sta_measure_is_integer(column->measure) ? STA_TYPE_INT : STA_TYPE_FLOAT;
}

const char *sta_view_column_unit(const struct sta_view_column *column)
{
    switch (column->stat) {
    case STA_STAT_MAX:
    case STA_STAT_MEAN:
    case STA_STAT_MIN:
    case STA_STAT_STD:
    case STA_STAT_SUM:
        return column->score ? NULL : sta_measure_unit(column->measure);
    default:
        return NULL;
    }
}

void sta_view_add_key(struct sta_table *table, const struct sta_by *by, const struct sta_axes *axes,
                      const uint32_t *values)
{
    bool is_time = by->axis == STA_AXIS_TIME;
    struct sta_table_column *column =
        sta_table_add(table, by->name, is_time ? STA_TYPE_INT : STA_TYPE_TEXT, NULL);
    for (size_t row = 0; row < table->rows; row++) {
        if (is_time) {
            sta_table_set_int(column, row, axes->values[STA_AXIS_TIME][values[row]]);
            continue;
        }
        struct sta_text text = sta_by_text(by, axes, values[row]);
        sta_table_set_text(table, column, row, text.bytes, text.length);
    }
}
