/* What the columns of layered tables mean, under both semantics. */
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "analyse/exact/columns.h"
#include "common/memory.h"

/* Where a name of a list stands for more than itself: "*" for any beginning. */
struct definition {
    const char *name, *of, *unit, *formula, *meaning;
};

static const struct definition exact_facts[] = {
    {"job_time", "trace", "s", "largest te - smallest ts",
     "From the first event's start to the last one's end, before any filter."},
    {"events", "trace", NULL, "number of complete events", "All of the trace, before any filter."},
    {"filtered", "answer", NULL, "filtered_by_file + filtered_by_function",
     "Events that the preset's filters drop."},
    {"taken", "answer", NULL, "events - filtered - unmatched", "Events that some layer takes."},
    {"unmatched", "answer", NULL, "number of events", "Events that no filter drops and no layer takes."},
    {"multiple", "answer", NULL, "number of events", "Events that more than one layer takes."},
    {"time_share", "summary", NULL, "busy_process_max / job_time",
     "Share of the job in which the layer's busiest process was at it: not that of the layer, which is busy "
     "/ job_time."},
    {"sums_too_large", "answer", NULL, "number of cells",
     "Cells that are missing since their sum does not fit 64 bits. Not said when there are none."},
};

static const struct definition compatible[] = {
    {"time", "summary", "s", "sum over rows of time_max (by process: largest time_sum)",
     "Of a layer, from the flat view that `by` names."},
    {"count", "summary", NULL, "sum of count_sum", "Events of the layer."},
    {"size", "summary", "B", "sum of size_sum", "Of layers with posix in their name."},
    {"bandwidth", "summary", "B/s", "size / time", "Missing where time is 0 or missing."},
    {"ops", "summary", NULL, "count / time", "Missing where time is 0 or missing."},
    {"num_files", "summary", NULL, "largest file_name_nunique",
     "0 where the view types do not tell files apart."},
    {"num_processes", "summary", NULL, "largest proc_name_nunique",
     "Processes here are threads: host, pid and tid."},
    {"u_time", "summary", "s", "time over the rows with u_<layer>_T > 0, of that column",
     "Time that sums per row leave unhidden by compute."},
    {"overlap", "summary", NULL, "max(0, 1 - u_time / time)",
     "Share of the time that sums per row hide behind compute; exact has hidden_share, from intervals."},
    {"*_sum", "layer view", "of its number", "sum over the processes of a row",
     "A process without the metric counts as 0 where rows are not by process."},
    {"*_min", "layer view", "of its number", "least value of a process", "0 becomes missing."},
    {"*_max", "layer view", "of its number", "largest value of a process", "0 becomes missing."},
    {"*_mean", "layer view", "of its number", "mean over processes", "0 becomes missing."},
    {"*_std", "layer view", "of its number", "sample standard deviation over processes (n - 1)",
     "0 where all are equal, missing for one process."},
    {"*_nunique", "layer view", NULL, "number of distinct values",
     "Of processes, time ranges or files of the row."},
    {"*_per", "layer view", NULL, "sum / total of sums (time by process: max / total of maxima)",
     "The row's share of the layer."},
    {"*_ops_slope", "layer view", NULL, "time_per / count_per",
     "Above 1: calls of the row are slower than the layer's average."},
    {"*_ops_pct", "layer view", NULL, "fractional rank of ops_slope among the rows",
     "Average rank for ties."},
    {"*_bw", "main view", "B/s", "size / time where size > 0",
     "By process and row, before statistics are taken of it."},
    {"*_ops", "main view", NULL, "count / time", "By process and row, before statistics are taken of it."},
    {"*_intensity", "main view", "1/B", "count / size where size > 0", "Calls per byte."},
    {"*_stats", "layer view", NULL, "[mean, population std, number] between two quantiles",
     "With quantile_stats: X_q10_q90_stats and so on; 0 and missing left out."},
    {"*_overhead_time_sum", "flat view", "s", "max(0, T - sum of the children's T)",
     "T is time_sum by process, time_max else: time_sum here."},
    {"*_overhead_time_max", "flat view", "s", "max(0, T - sum of the children's T)",
     "T is time_sum by process, time_max else: time_max here."},
    {"u_*", "flat view", "s", "max(0, column - compute_T)",
     "Time beyond that of compute in the same row; exact has exposed_group_sum, from intervals."},
    {"*_score", "flat view", NULL, "how many of a list of bounds lie below the value",
     "0 or 1 trivial .. 5 critical."},
};

/* ---- rows */

struct listing {
    struct sta_table *table;
    size_t row;
};

static bool is_text(const struct listing *listing, size_t column, size_t row, const char *text)
{
    return strcmp(listing->table->columns[column].texts[row].bytes, text) == 0;
}

/* A definition that fits a name in two ways is put once. */
static void put(struct listing *listing, const char *semantics, const struct definition *definition)
{
    for (size_t row = 0; row < listing->row; row++)
        if (is_text(listing, 0, row, definition->name) && is_text(listing, 1, row, semantics) &&
            is_text(listing, 2, row, definition->of))
            return;
    const char *const cells[] = {definition->name, semantics,           definition->of,
                                 definition->unit, definition->formula, definition->meaning};
    for (size_t i = 0; i < STA_COUNT_OF(cells); i++)
        sta_table_set_string(listing->table, &listing->table->columns[i], listing->row, cells[i]);
    listing->row++;
}

static struct definition of_column(const struct sta_exact_column *column, const char *name, const char *of)
{
    return (struct definition){name, of, column->unit, column->formula, column->meaning};
}

/* ---- names */

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name);
    size_t least = strlen(ending);
    return length > least && strcmp(name + length - least, ending) == 0;
}

static bool fits(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    if (pattern[0] == '*') /* "*_ops_pct" is also what a layer's own column is called, "ops_pct" */
        return ends_with(name, pattern + 1) || strcmp(pattern + 2, name) == 0;
    if (pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0 && name[length - 1] != '\0';
    return strcmp(pattern, name) == 0;
}

/* Whether @name is @prefix, "_", and then some more. */
static const char *behind(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && name[length] == '_' ? name + length + 1 : NULL;
}

static bool is_metric(const struct sta_presets *presets, const char *name, size_t length)
{
    for (size_t p = 0; p < sta_presets_count(presets); p++) {
        const struct sta_preset *preset = sta_presets_at(presets, p);
        for (size_t l = 0; l < preset->layer_count; l++)
            for (size_t m = 0; m < preset->layers[l].metric_count; m++) {
                const char *metric = preset->layers[l].metrics[m].name;
                if (strlen(metric) == length && strncmp(metric, name, length) == 0)
                    return true;
            }
    }
    return false;
}

/* "read_bw": column bw of the derived metric read. */
static bool is_metric_column(const struct sta_presets *presets, const struct sta_exact_column *column,
                             const char *name)
{
    char *ending = sta_sprintf("_%s", column->name);
    bool fit = ends_with(name, ending) && is_metric(presets, name, strlen(name) - strlen(ending));
    free(ending);
    return fit;
}

/* ---- the list, or what of it a name fits */

/* @name: NULL: all. */
static void list(struct listing *listing, const struct sta_presets *presets, const char *name)
{
    for (size_t i = 0; i < sta_exact_column_count; i++) {
        struct definition of = of_column(&sta_exact_columns[i], sta_exact_columns[i].name, "layer");
        if (name == NULL || fits(of.name, name))
            put(listing, "exact", &of);
    }
    for (size_t i = 0; i < sta_exact_metric_column_count; i++) {
        const struct sta_exact_column *column = &sta_exact_metric_columns[i];
        char *pattern = sta_sprintf("*_%s", column->name);
        struct definition of = of_column(column, pattern, "derived metric");
        if (name == NULL || is_metric_column(presets, column, name))
            put(listing, "exact", &of);
        free(pattern);
    }
    for (size_t i = 0; i < STA_COUNT_OF(exact_facts); i++)
        if (name == NULL || fits(exact_facts[i].name, name))
            put(listing, "exact", &exact_facts[i]);
    for (size_t i = 0; i < STA_COUNT_OF(compatible); i++)
        if (name == NULL || fits(compatible[i].name, name))
            put(listing, "compatible", &compatible[i]);
}

/* Additional metrics of presets, of the name or all. */
static void list_additional(struct listing *listing, const struct sta_presets *presets, const char *name)
{
    for (size_t p = 0; p < sta_presets_count(presets); p++) {
        const struct sta_preset *preset = sta_presets_at(presets, p);
        for (size_t i = 0; i < preset->additional_count; i++) {
            const struct sta_named_expression *metric = &preset->additional[i];
            char *of = sta_sprintf("flat view of preset %s", preset->name);
            struct definition definition = {
                metric->name, of, NULL, metric->expression,
                "An additional metric of the preset; {T} is time_sum by process, time_max else."};
            if (name == NULL || strcmp(metric->name, name) == 0)
                put(listing, "compatible", &definition);
            free(of);
        }
    }
}

/* The name without the layer that it begins with; the longest such layer counts. */
static const char *without_layer(const struct sta_presets *presets, const char *name)
{
    const char *shortest = NULL;
    for (size_t p = 0; p < sta_presets_count(presets); p++) {
        const struct sta_preset *preset = sta_presets_at(presets, p);
        for (size_t l = 0; l < preset->layer_count; l++) {
            const char *rest = behind(name, preset->layers[l].name);
            if (rest != NULL && (shortest == NULL || rest > shortest))
                shortest = rest;
        }
    }
    return shortest;
}

static size_t most_rows(const struct sta_presets *presets)
{
    size_t rows = sta_exact_column_count + sta_exact_metric_column_count + STA_COUNT_OF(exact_facts) +
                  STA_COUNT_OF(compatible);
    for (size_t p = 0; p < sta_presets_count(presets); p++)
        rows += sta_presets_at(presets, p)->additional_count;
    return rows;
}

void sta_metrics_explain(const struct sta_presets *presets, const char *name, struct sta_table *table)
{
    static const char *const columns[] = {"name", "semantics", "of", "unit", "formula", "meaning"};
    struct listing listing = {.table = table};
    sta_table_init(table, most_rows(presets));
    for (size_t i = 0; i < STA_COUNT_OF(columns); i++)
        sta_table_add(table, columns[i], STA_TYPE_TEXT, NULL);
    list(&listing, presets, name);
    list_additional(&listing, presets, name);
    const char *rest = name != NULL ? without_layer(presets, name) : NULL;
    if (rest != NULL)
        list(&listing, presets, rest);
    table->rows = table->row_count = listing.row;
}
