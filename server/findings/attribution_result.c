/* An attribution as tables. */
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "findings/attribution_request.h"
#include "findings/epochs.h"
#include "analyse/overlap/tables.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"
#include "findings/findings.h"

static const char *name_of(const struct sta_attribution *asked, uint32_t list)
{
    return list < asked->cause_count ? asked->causes[list] : "untraced";
}

static void set_name(struct sta_table *table, size_t column, size_t row, const char *name)
{
    sta_table_set_text(table, &table->columns[column], row, name, strlen(name));
}

/* ---- causes */

static void put_causes(const struct sta_run *run, const struct sta_attribution *asked,
                       const struct sta_charged *charged, struct sta_table *table)
{
    sta_table_init(table, charged->list_count);
    sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "time", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "share", STA_TYPE_FLOAT, NULL);
    sta_table_add(table, "active", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "intervals", STA_TYPE_INT, NULL);
    sta_table_add(table, "units", STA_TYPE_INT, NULL);
    for (uint32_t l = 0; l < charged->list_count; l++) {
        set_name(table, 0, l, name_of(asked, l));
        sta_table_set_number(&table->columns[1], l, sta_run_seconds(run, charged->time[l]));
        if (charged->target > 0)
            sta_table_set_number(&table->columns[2], l, (double)charged->time[l] / (double)charged->target);
        sta_table_set_number(&table->columns[3], l, sta_run_seconds(run, charged->active[l]));
        sta_table_set_int(&table->columns[4], l, charged->intervals[l]);
        sta_table_set_int(&table->columns[5], l, charged->units[l]);
    }
}

/* ---- the longest intervals of a cause */

/* Puts an interval among the longest so far, which are in their order: by time, then unit, then start. */
static void offer(struct sta_span *best, size_t *count, size_t most, struct sta_span span)
{
    size_t at = *count;
    while (at > 0 && best[at - 1].te - best[at - 1].ts < span.te - span.ts)
        at--;
    if (at == most)
        return;
    *count = STA_MIN(*count + 1, most);
    memmove(best + at + 1, best + at, (*count - 1 - at) * sizeof *best);
    best[at] = span;
}

static int put_longest(const struct sta_run *run, const struct sta_attribution *asked,
                       const struct sta_charged *charged, uint32_t list, struct sta_table *table,
                       struct sta_error *err)
{
    struct sta_span best[101];
    uint32_t units[101];
    size_t count = 0, work = 0;
    const struct sta_joined *joined = &charged->longest[list];
    for (uint32_t i = 0; i < charged->results.unit_count && asked->longest > 0; i++) {
        const uint32_t unit = charged->results.units[i];
        const struct sta_interval *items = joined->items + joined->first[unit];
        for (size_t k = 0; k < joined->counts[unit]; k++)
            offer(best, &count, asked->longest, (struct sta_span){items[k].from, items[k].to, unit, 0});
        if (sta_budget_check_work(run->budget, &work, joined->counts[unit], err) != STA_OK)
            return err->status;
    }
    for (size_t i = 0; i < count; i++)
        units[i] = best[i].cell;
    sta_table_init(table, count);
    sta_scope_put_keys(charged->binding.scope, table, units);
    const size_t first = table->column_count;
    sta_add_seconds(table, "start");
    sta_add_seconds(table, "end");
    sta_add_seconds(table, "time");
    for (size_t i = 0; i < count; i++) {
        sta_table_set_number(&table->columns[first], i, sta_run_seconds(run, best[i].ts));
        sta_table_set_number(&table->columns[first + 1], i, sta_run_seconds(run, best[i].te));
        sta_table_set_number(&table->columns[first + 2], i, sta_run_seconds(run, best[i].te - best[i].ts));
    }
    return STA_OK;
}

/* ---- rows */

static void put_numbers(struct sta_table *table, const char *name, const struct sta_charged_rows *rows,
                        size_t key)
{
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_INT, NULL);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].keys[key] != STA_NO_NUMBER)
            sta_table_set_int(column, i, rows->items[i].keys[key]);
}

static int put_units(const struct sta_charged *charged, const struct sta_charged_rows *rows,
                     struct sta_table *table, struct sta_error *err)
{
    uint32_t *units =
        sta_account_alloc(rows->account, rows->count + 1, sizeof *units, "the rows of an attribution", err);
    if (units == NULL)
        return err->status;
    for (size_t i = 0; i < rows->count; i++)
        units[i] = charged->results.units[rows->items[i].keys[0]];
    sta_scope_put_keys(charged->binding.scope, table, units);
    sta_account_free(rows->account, units);
    return STA_OK;
}

static int put_rows(const struct sta_run *run, const struct sta_attribution *asked,
                    const struct sta_charged *charged, const struct sta_charged_rows *rows,
                    struct sta_table *table, struct sta_error *err)
{
    sta_table_init(table, rows->count);
    sta_table_count_in(table, run->budget->account);
    int rc = asked->by & STA_BY_UNIT ? put_units(charged, rows, table, err) : STA_OK;
    if (rc != STA_OK)
        return rc;
    if (asked->by & STA_BY_EPOCH)
        put_numbers(table, "epoch", rows, 1);
    if (asked->by & STA_BY_STEP)
        put_numbers(table, "step", rows, 2);
    if (asked->by & STA_BY_BIN)
        put_numbers(table, "bin", rows, 3);
    const size_t first = table->column_count;
    sta_add_seconds(table, "target");
    for (uint32_t l = 0; l < charged->list_count; l++)
        sta_add_seconds(table, name_of(asked, l));
    for (size_t i = 0; i < rows->count; i++) {
        const int64_t *times = sta_charged_times(rows, &rows->items[i]);
        __int128 target = 0;
        for (uint32_t l = 0; l < charged->list_count; l++) {
            target += times[l];
            sta_table_set_number(&table->columns[first + 1 + l], i, sta_run_seconds(run, times[l]));
        }
        sta_table_set_number(&table->columns[first], i, sta_run_seconds(run, target));
    }
    return sta_budget_check(run->budget, err);
}

/* ---- the blocking chain */

static void put_nodes(const struct sta_run *run, const struct sta_blocking_tree *tree, const __int128 *self,
                      const __int128 *blocked, struct sta_table *table)
{
    sta_table_init(table, tree->count);
    sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "parent", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "blocked", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "self", STA_TYPE_FLOAT, "s");
    for (size_t i = 0; i < tree->count; i++) {
        set_name(table, 0, i, tree->nodes[i]->name);
        if (tree->parents[i] != STA_TREE_ROOT)
            set_name(table, 1, i, tree->nodes[tree->parents[i]]->name);
        sta_table_set_number(&table->columns[2], i, sta_run_seconds(run, blocked[i]));
        sta_table_set_number(&table->columns[3], i, sta_run_seconds(run, self[i]));
    }
}

static void put_path(const struct sta_blocking_tree *tree, size_t node,
                     struct sta_attribution_result *attribution)
{
    attribution->bottleneck = sta_strdup(tree->nodes[node]->name);
    for (size_t at = node; at != STA_TREE_ROOT; at = tree->parents[at])
        attribution->path_count++;
    attribution->path = sta_alloc_array(attribution->path_count, sizeof *attribution->path);
    for (size_t at = node, i = attribution->path_count; at != STA_TREE_ROOT; at = tree->parents[at])
        attribution->path[--i] = sta_strdup(tree->nodes[at]->name);
}

static void put_blocking(const struct sta_run *run, const struct sta_blocking_tree *tree,
                         const struct sta_charged *charged, struct sta_attribution_result *attribution)
{
    __int128 self[STA_OVERLAP_SETS] = {0}, blocked[STA_OVERLAP_SETS] = {0};
    size_t best = tree->causes[0];
    for (size_t c = 0; c < tree->count; c++) { /* causes are in post-order: what is below comes first */
        const size_t node = tree->causes[c];
        self[node] = charged->time[c];
        blocked[node] += self[node];
        if (tree->parents[node] != STA_TREE_ROOT)
            blocked[tree->parents[node]] += blocked[node];
        if (self[node] > self[best])
            best = node;
    }
    if (self[best] > 0)
        put_path(tree, best, attribution);
    attribution->untraced = sta_run_seconds(run, charged->time[tree->count]);
    put_nodes(run, tree, self, blocked, &attribution->nodes);
}

/* ---- the whole */

static int put_result(struct sta_run *run, struct sta_attribution *asked, struct sta_charged *charged,
                      struct sta_attribution_result *attribution, struct sta_error *err)
{
    struct sta_charged_rows rows = {.account = run->budget->account};
    struct sta_phases phases = {.account = run->budget->account};
    const bool phased = (asked->by & STA_BY_EPOCH) != 0;
    int rc = phased ? sta_phases_read(run, &phases, err) : STA_OK;
    if (rc == STA_OK)
        rc = sta_charge(run, asked, phased ? &phases : NULL, charged, &rows, err);
    if (rc == STA_OK)
        rc = put_rows(run, asked, charged, &rows, &attribution->rows, err);
    sta_charged_rows_fini(&rows);
    sta_phases_fini(&phases);
    if (rc != STA_OK)
        return rc;
    attribution->scope = sta_overlap_scope_json(&charged->request);
    attribution->target = sta_strdup(asked->target);
    attribution->time = sta_run_seconds(run, charged->target);
    attribution->units = charged->results.unit_count;
    attribution->layered = asked->layered;
    put_causes(run, asked, charged, &attribution->causes);
    attribution->longest = sta_alloc_array(charged->list_count, sizeof *attribution->longest);
    for (uint32_t l = 0; l < charged->list_count && rc == STA_OK; l++)
        rc = put_longest(run, asked, charged, l, &attribution->longest[l], err);
    if (rc == STA_OK && asked->layered)
        put_blocking(run, &asked->tree, charged, attribution);
    return rc;
}

/* Epochs are of ranks. */
static int check_scope(const struct sta_attribution *asked, const struct sta_charged *charged,
                       struct sta_error *err)
{
    if ((asked->by & STA_BY_EPOCH) == 0 || charged->request.scope.kind == STA_SCOPE_RANK_GROUP)
        return STA_OK;
    sta_fail(err, STA_EINPUT, "epochs and steps are those of ranks: take the scope rank_group");
    return sta_at(err, "/attribution/by", -1);
}

static int find_preset(const struct sta_overlap_query *query, const struct sta_preset **preset,
                       struct sta_error *err)
{
    const struct sta_document *name = sta_document_member(query->request, "preset");
    *preset = NULL;
    if (name == NULL || name->type != STA_DOCUMENT_TEXT)
        return STA_OK;
    return sta_view_query_preset(query->presets, name->text.bytes, preset, err);
}

int sta_attribution_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                        struct sta_attribution_result *attribution, struct sta_error *err)
{
    struct sta_run run;
    struct sta_attribution asked;
    struct sta_charged charged = {0};
    const struct sta_preset *preset;
    *attribution = (struct sta_attribution_result){0};
    int rc = find_preset(query, &preset, err);
    if (rc != STA_OK)
        return rc;
    sta_run_init(&run, query, preset, budget);
    rc = sta_attribution_read(&run, query->request, &asked, err);
    if (rc == STA_OK)
        rc = sta_charge_bind(&run, &asked, query->request, &charged, err);
    if (rc == STA_OK)
        rc = check_scope(&asked, &charged, err);
    if (rc == STA_OK)
        rc = put_result(&run, &asked, &charged, attribution, err);
    sta_charged_fini(&charged);
    sta_attribution_fini(&asked);
    sta_run_fini(&run);
    if (rc != STA_OK)
        sta_attribution_result_fini(attribution);
    return rc;
}

void sta_attribution_result_fini(struct sta_attribution_result *attribution)
{
    for (size_t c = 0; attribution->longest != NULL && c < attribution->causes.rows; c++)
        sta_table_fini(&attribution->longest[c]);
    for (size_t i = 0; i < attribution->path_count; i++)
        free(attribution->path[i]);
    sta_table_fini(&attribution->causes);
    sta_table_fini(&attribution->rows);
    sta_table_fini(&attribution->nodes);
    free(attribution->longest);
    free(attribution->path);
    free(attribution->bottleneck);
    free(attribution->target);
    free(attribution->scope);
    *attribution = (struct sta_attribution_result){0};
}
