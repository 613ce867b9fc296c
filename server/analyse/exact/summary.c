/* The exact summary: the view of one row, turned so that layers are rows (exact.md section 3). */
#include "analyse/exact/choice.h"
#include "analyse/exact/engine.h"
#include "analyse/exact/series_base.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"

#define NAME_SIZE 256
static const char SHARE[] = "time_share";

/* ---- which columns */

struct summary {
    const struct sta_table_query *asked;
    const struct sta_bound_query *bound;
    double ticks_per_second;
    unsigned wants;
    bool adds; /* all that is asked adds up over bins of the base */
};

static bool is_wanted(const struct sta_table_query *asked, const char *name)
{
    bool found = asked->metrics == NULL;
    for (size_t i = 0; !found && i < asked->metric_count; i++)
        found = strcmp(asked->metrics[i], name) == 0;
    return found;
}

static int choose_columns(struct summary *summary, struct sta_error *err)
{
    const struct sta_table_query *asked = summary->asked;
    summary->wants = asked->metrics == NULL ? STA_WANT_ALL : 0;
    summary->adds = asked->metrics != NULL;
    int rc = 0;
    for (size_t i = 0; asked->metrics != NULL && i < asked->metric_count && rc == 0; i++) {
        struct sta_exact_choice choice;
        const char *name = asked->metrics[i];
        rc = sta_exact_choose(summary->bound->preset, NULL,
                              strcmp(name, SHARE) == 0 ? "busy_process_max" : name, &choice, err);
        if (rc == 0) {
            summary->wants |= choice.column->wants;
            summary->adds &= sta_series_base_has(choice.column);
        }
    }
    return rc;
}

/* ---- the table */

static bool any_layer_has(const struct sta_exact_shape *shape, const struct sta_exact_column *column)
{
    for (uint32_t l = 0; l < shape->layer_count; l++)
        if (sta_exact_layer_has(shape, l, column))
            return true;
    return false;
}

static bool has_events(const struct sta_exact_result *result, uint32_t layer)
{
    return result->cells.values[STA_FIELD_EVENTS][layer] > 0;
}

static void put_share(const struct summary *summary, const struct sta_exact_result *result,
                      struct sta_table *table)
{
    const int64_t job_ticks = sta_job_ticks(summary->bound->query->snapshot);
    struct sta_table_column *to = sta_table_add(table, SHARE, STA_TYPE_FLOAT, NULL);
    for (uint32_t l = 0; l < result->shape.layer_count; l++) {
        int64_t longest = result->cells.values[STA_FIELD_PROCESS_MAX][l];
        if (has_events(result, l) && longest != 0 && job_ticks != 0)
            sta_table_set_number(to, l,
                                 ((double)longest / summary->ticks_per_second) /
                                     ((double)job_ticks / summary->ticks_per_second));
    }
}

static void put_column(const struct summary *summary, const struct sta_exact_result *result,
                       const struct sta_exact_column *column, struct sta_table *table)
{
    struct sta_table_column *to =
        sta_table_add(table, column->name, sta_exact_column_type(column), column->unit);
    for (uint32_t l = 0; l < result->shape.layer_count; l++)
        if (has_events(result, l) && sta_exact_layer_has(&result->shape, l, column))
            sta_exact_put(column, &result->cells, l, summary->ticks_per_second, to, l);
        else if (column->field == STA_FIELD_COUNT && column->form == STA_FORM_NUMBER)
            sta_table_set_int(to, l, 0);
}

/* The columns of a metric, which other layers may have too. */
static void put_metric(const struct summary *summary, const struct sta_exact_result *result, uint32_t l,
                       uint32_t m, struct sta_table *table)
{
    const char *metric = result->shape.preset->layers[l].metrics[m].name;
    char name[NAME_SIZE];
    for (size_t i = 0; i < sta_exact_metric_column_count; i++) {
        const struct sta_exact_column *column = &sta_exact_metric_columns[i];
        snprintf(name, sizeof name, "%s_%s", metric, column->name);
        if (!is_wanted(summary->asked, name) || !sta_exact_metric_has(metric, column))
            continue;
        struct sta_table_column *to = sta_table_find(table, name);
        if (to == NULL)
            to = sta_table_add(table, name, sta_exact_column_type(column), column->unit);
        if (has_events(result, l))
            sta_exact_put(column, &result->metrics, result->shape.layers[l].first_metric + m,
                          summary->ticks_per_second, to, l);
    }
}

static void make_table(const struct summary *summary, const struct sta_exact_result *result,
                       struct sta_table *table)
{
    const struct sta_exact_shape *shape = &result->shape;
    sta_table_init(table, shape->layer_count);
    table->row_count = shape->layer_count;
    sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "parent", STA_TYPE_TEXT, NULL);
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        sta_table_set_string(table, &table->columns[0], l, shape->preset->layers[l].name);
        sta_table_set_string(table, &table->columns[1], l, shape->preset->layers[l].parent);
    }
    if (is_wanted(summary->asked, SHARE))
        put_share(summary, result, table);
    for (size_t i = 0; i < sta_exact_column_count; i++)
        if (is_wanted(summary->asked, sta_exact_columns[i].name) &&
            any_layer_has(shape, &sta_exact_columns[i]))
            put_column(summary, result, &sta_exact_columns[i], table);
    for (uint32_t l = 0; l < shape->layer_count; l++)
        for (uint32_t m = 0; m < shape->layers[l].metric_count; m++)
            put_metric(summary, result, l, m, table);
}

/* ---- the query */

/* The window as bins of the base, where it is made of whole ones and the base has all that is asked. */
static bool comes_from_base(const struct summary *summary, struct sta_exact_bins *bins)
{
    const struct sta_bound_query *bound = summary->bound;
    const struct sta_view_query *query = bound->query;
    const int64_t width = sta_series_base_width(bound);
    if (summary->asked->base == NULL || !summary->adds || query->filter != NULL || !query->filters)
        return false;
    int64_t from = STA_MAX(bound->from, 0);
    int64_t end = (sta_job_ticks(query->snapshot) / width + 1) * width;
    int64_t to = STA_MIN(bound->to, end);
    if (from >= to || from % width != 0 || to % width != 0)
        return false;
    *bins = (struct sta_exact_bins){.g = to - from, .count = 1, .from = from, .to = to};
    return true;
}

int sta_exact_summary(const struct sta_table_query *query, const struct sta_bound_query *bound,
                      const struct sta_budget *budget, struct sta_table *table, struct sta_facts *facts,
                      struct sta_error *err)
{
    struct summary summary = {
        .asked = query, .bound = bound, .ticks_per_second = 1e6 * (double)bound->ticks_per_us};
    int rc = choose_columns(&summary, err);
    if (rc != 0)
        return rc;
    struct sta_exact_request request = {
        .bound = bound, .wants = summary.wants, .slice_rows = query->slice_rows};
    struct sta_exact_result result;
    if (comes_from_base(&summary, &request.bins)) {
        rc = sta_series_base_run(query->base, &request, budget, &result, err);
    } else {
        request.bins = sta_exact_bins_one(bound->from, bound->to);
        rc = sta_exact_run(&request, budget, &result, err);
    }
    if (rc == 0) {
        make_table(&summary, &result, table);
        sta_facts_of_trace(facts, bound->query->snapshot);
        sta_exact_facts(&result, table, facts);
    }
    sta_exact_result_fini(&result);
    return rc;
}
