/* Layer view and flat view (exact.md sections 2 and 4): rows by key or by bin of time. */
#include "analyse/exact/choice.h"
#include "analyse/exact/columns.h"
#include "analyse/exact/engine.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

/* Where the rows of a view are found. */
struct rows {
    const struct sta_exact_result *result;
    size_t count;
    uint32_t *keys; /* by row; NULL by time */
    size_t *bins;   /* by row; NULL by key */
    size_t *cells;  /* by wanted index of the layer * count + row: index in the fields; NO_CELL: the layer has
                       no  row there */
    double ticks_per_second;
};

#define NO_CELL SIZE_MAX

/* ---- which rows there are */

static const char WHAT[] = "the rows of this view";

static int find_bins(struct rows *rows, const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_exact_result *result = rows->result;
    const int64_t *events = result->cells.values[STA_FIELD_EVENTS];
    const size_t bins = result->bins.count;
    int rc = STA_OK;
    rows->bins = sta_account_alloc(budget->account, bins + 1, sizeof *rows->bins, WHAT, err);
    if (rows->bins == NULL)
        return err->status;
    for (size_t b = 0; b < bins && rc == 0; b++) {
        bool any = false;
        for (uint32_t l = 0; l < result->shape.wanted_count; l++)
            any |= events[l * bins + b] > 0;
        if (any)
            rows->bins[rows->count++] = b;
        rc = sta_budget_check_step(budget, b, err);
    }
    rows->cells = sta_account_alloc(budget->account, rows->count * result->shape.wanted_count + 1,
                                    sizeof *rows->cells, WHAT, err);
    if (rc != 0 || rows->cells == NULL)
        return err->status;
    for (uint32_t l = 0; l < result->shape.wanted_count; l++)
        for (size_t r = 0; r < rows->count; r++) {
            size_t at = l * bins + rows->bins[r];
            rows->cells[l * rows->count + r] = events[at] > 0 ? at : NO_CELL;
        }
    return STA_OK;
}

/* Each key once, in the order of the view.  Keys are dense numbers; *row_of: by key + 1, so that a missing
 * one has the entry 0, its row; of the account. */
static int list_keys(struct rows *rows, uint32_t **row_of, const struct sta_budget *budget,
                     struct sta_error *err)
{
    const struct sta_exact_result *result = rows->result;
    uint32_t most = 0;
    int rc = STA_OK;
    for (uint32_t p = 0; p < result->cell_count; p++)
        most = STA_MAX(most, sta_contributions_cell(result->contributions, p)->key + 1);
    rows->keys =
        sta_account_alloc(budget->account, (size_t)result->cell_count + 1, sizeof *rows->keys, WHAT, err);
    if (rows->keys != NULL)
        *row_of = sta_account_calloc(budget->account, (size_t)most + 1, sizeof **row_of, WHAT, err);
    if (*row_of == NULL)
        return err->status;
    for (uint32_t p = 0; p < result->cell_count && rc == 0; p++) {
        const uint32_t key = sta_contributions_cell(result->contributions, p)->key;
        if ((*row_of)[key + 1]++ == 0)
            rows->keys[rows->count++] = key;
        rc = sta_budget_check_step(budget, p, err);
    }
    if (rc == 0)
        rc = sta_exact_keys_sort(result->keys, budget, rows->keys, rows->count, err);
    for (size_t r = 0; rc == 0 && r < rows->count; r++)
        (*row_of)[rows->keys[r] + 1] = (uint32_t)r;
    return rc;
}

static int find_keys(struct rows *rows, const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_exact_result *result = rows->result;
    uint32_t *row_of = NULL;
    int rc = list_keys(rows, &row_of, budget, err);
    const size_t cells = rows->count * result->shape.wanted_count;
    if (rc == 0)
        rows->cells = sta_account_alloc(budget->account, cells + 1, sizeof *rows->cells, WHAT, err);
    if (rows->cells != NULL)
        memset(rows->cells, 0xff, cells * sizeof *rows->cells);
    for (uint32_t p = 0; rows->cells != NULL && p < result->cell_count; p++) {
        const struct sta_cell *cell = sta_contributions_cell(result->contributions, p);
        uint32_t of_layer = result->shape.layers[cell->layer].wanted_index;
        rows->cells[of_layer * rows->count + row_of[cell->key + 1]] = p;
    }
    sta_account_free(budget->account, row_of);
    return rows->cells != NULL ? STA_OK : err->status;
}

static void rows_fini(struct rows *rows, struct sta_account *account)
{
    sta_account_free(account, rows->keys);
    sta_account_free(account, rows->bins);
    sta_account_free(account, rows->cells);
}

/* ---- the table */

static void put_key(const struct rows *rows, struct sta_table *table)
{
    const struct sta_exact_bins *bins = &rows->result->bins;
    if (rows->keys != NULL) {
        sta_exact_keys_put(rows->result->keys, rows->keys, rows->count, table);
        return;
    }
    struct sta_table_column *column = sta_table_add(table, "time_range", STA_TYPE_INT, NULL);
    for (size_t r = 0; r < rows->count; r++)
        sta_table_set_int(column, r, sta_bin_number(bins, rows->bins[r]));
}

#define OF_LAYER UINT32_MAX /* instead of the index of a metric */

/* A column of the layer, or of its metric at @index; by time the cells of metrics are as those of layers,
 * one after another. */
static void put_column(const struct rows *rows, uint32_t layer, uint32_t index,
                       const struct sta_exact_column *column, const char *name, struct sta_table *table)
{
    const struct sta_exact_result *result = rows->result;
    const struct sta_fields *fields = index == OF_LAYER ? &result->cells : &result->metrics;
    const size_t *cells = rows->cells + result->shape.layers[layer].wanted_index * rows->count;
    const size_t bins = result->bins.count;
    struct sta_table_column *to = sta_table_add(table, name, sta_exact_column_type(column), column->unit);
    for (size_t r = 0; r < rows->count; r++) {
        size_t at = cells[r];
        if (at == NO_CELL)
            continue;
        if (index != OF_LAYER) {
            const uint32_t cell = (uint32_t)(at / bins);
            at = (sta_contributions_cell(result->contributions, cell)->first_metric + index) * bins +
                 at % bins;
        }
        sta_exact_put(column, fields, at, rows->ticks_per_second, to, r);
    }
}

/* @prefix: "" or "<layer>_". */
static int put_layer(const struct rows *rows, uint32_t l, const char *prefix, const struct sta_budget *budget,
                     struct sta_table *table, struct sta_error *err)
{
    const struct sta_exact_shape *shape = &rows->result->shape;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sta_exact_column_count; i++) {
        const struct sta_exact_column *column = &sta_exact_columns[i];
        if (!sta_exact_layer_has(shape, l, column))
            continue;
        char *name = sta_sprintf("%s%s", prefix, column->name);
        put_column(rows, l, OF_LAYER, column, name, table);
        free(name);
        rc = sta_budget_check(budget, err);
    }
    for (uint32_t m = 0; rc == 0 && m < shape->layers[l].metric_count; m++) {
        const char *metric = shape->preset->layers[l].metrics[m].name;
        for (size_t i = 0; i < sta_exact_metric_column_count; i++) {
            const struct sta_exact_column *column = &sta_exact_metric_columns[i];
            if (!sta_exact_metric_has(metric, column))
                continue;
            char *name = sta_sprintf("%s%s_%s", prefix, metric, column->name);
            put_column(rows, l, m, column, name, table);
            free(name);
        }
        rc = sta_budget_check(budget, err);
    }
    return rc;
}

static int make_table(const struct rows *rows, bool flat, const struct sta_budget *budget,
                      struct sta_table *table, struct sta_error *err)
{
    const struct sta_exact_shape *shape = &rows->result->shape;
    sta_table_init(table, rows->count);
    table->row_count = rows->count;
    put_key(rows, table);
    int rc = 0;
    for (uint32_t l = 0; rc == 0 && l < shape->layer_count; l++) {
        if (!shape->layers[l].wanted)
            continue;
        char *prefix = flat ? sta_sprintf("%s_", shape->preset->layers[l].name) : sta_strdup("");
        rc = put_layer(rows, l, prefix, budget, table, err);
        free(prefix);
    }
    if (rc != 0)
        sta_table_fini(table);
    return rc;
}

/* A table takes 9 bytes a cell. */
static int check_table(const struct rows *rows, const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_exact_shape *shape = &rows->result->shape;
    double columns = 3 + (double)shape->wanted_count * (double)sta_exact_column_count +
                     (double)shape->metric_count * (double)sta_exact_metric_column_count;
    return sta_budget_memory(budget, columns * 9 * (double)rows->count, "the table", err);
}

/* ---- the query */

static int choose_layer(const struct sta_bound_query *bound, const char *name, bool *wanted,
                        struct sta_error *err)
{
    if (name == NULL)
        return sta_fail_at(err, STA_EINPUT, "/layer", "a layer view needs a layer");
    uint32_t layer;
    int rc = sta_exact_layer(bound, name, &layer, err);
    if (rc == 0)
        wanted[layer] = true;
    return rc;
}

static int choose_bins(const struct sta_bound_query *bound, const struct sta_table_query *query,
                       struct sta_exact_bins *bins, struct sta_error *err)
{
    *bins = sta_exact_bins_one(bound->from, bound->to);
    if (strcmp(query->by, "time_range") != 0)
        return 0;
    int64_t g;
    int rc = sta_bin_width(bound, query->granularity_us, &g, err);
    if (rc == 0)
        *bins = sta_exact_bins_by_time(bound, g);
    return rc;
}

static int run(const struct sta_exact_request *request, bool flat, const struct sta_budget *budget,
               struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    struct sta_exact_result result;
    int rc = sta_exact_run(request, budget, &result, err);
    if (rc == 0) {
        struct rows rows = {.result = &result,
                            .ticks_per_second = 1e6 * (double)request->bound->ticks_per_us};
        if (sta_exact_keys_source(result.keys) == STA_KEY_TIME)
            rc = find_bins(&rows, budget, err);
        else
            rc = find_keys(&rows, budget, err);
        if (rc == 0)
            rc = check_table(&rows, budget, err);
        if (rc == 0)
            rc = make_table(&rows, flat, budget, table, err);
        rows_fini(&rows, budget->account);
    }
    if (rc == 0) {
        sta_facts_of_trace(facts, request->bound->query->snapshot);
        sta_exact_facts(&result, table, facts);
    }
    sta_exact_result_fini(&result);
    return rc;
}

static int make_view(const struct sta_table_query *query, const struct sta_bound_query *bound,
                     const struct sta_budget *budget, struct sta_table *table, struct sta_facts *facts,
                     struct sta_error *err)
{
    const bool flat = query->table == STA_VIEW_FLAT;
    bool *wanted = sta_alloc_array(bound->preset->layer_count + 1, sizeof *wanted);
    struct sta_exact_request request = {.bound = bound,
                                        .by = query->by,
                                        .layers = flat ? NULL : wanted,
                                        .wants = STA_WANT_ALL,
                                        .slice_rows = query->slice_rows,
                                        .rows_only = true};
    int rc = flat ? 0 : choose_layer(bound, query->layer, wanted, err);
    if (rc == 0)
        rc = choose_bins(bound, query, &request.bins, err);
    if (rc == 0)
        rc = run(&request, flat, budget, table, facts, err);
    free(wanted);
    return rc;
}

int sta_view_exact(const struct sta_table_query *query, const struct sta_budget *budget,
                   struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    struct sta_bound_query bound;
    facts->count = 0;
    if (query->table == STA_VIEW_HLM || query->table == STA_VIEW_MAIN)
        return sta_fail_at(
            err, STA_EINPUT, "/semantics",
            "high-level metrics and the main view are steps of the compatible computation: ask for them with "
            "semantics=compatible; exact has the layer view, the flat view and the summary");
    int rc = sta_view_query_bind(&bound, query->common, err);
    if (rc == 0)
        rc = (query->table == STA_VIEW_SUMMARY ? sta_exact_summary : make_view)(query, &bound, budget, table,
                                                                                facts, err);
    sta_bound_query_release(&bound);
    return rc;
}
