/* Exact tables of random traces: every cell against sums over single ticks, the laws of exact.md section 5,
 * and the same bytes however the work is cut. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "common/account.h"
#include "common/memory.h"
#include "scene.h"

static const char *const views[] = {"time_range", "process",   "thread", "host_name", "file_name",
                                    "file_dir",   "func_name", "cat",    "step",      "last"};

static const char *const columns[] = {"count",
                                      "time",
                                      "size",
                                      "size_bin_0_4kib",
                                      "size_bin_64kib_256kib",
                                      "size_bin_256mib_1gib",
                                      "bw",
                                      "ops",
                                      "busy",
                                      "bw_busy",
                                      "busy_process_min",
                                      "busy_process_mean",
                                      "busy_process_max",
                                      "busy_process_sum",
                                      "busy_group_sum",
                                      "exposed_group_sum",
                                      "exposed_group_max",
                                      "hidden_share",
                                      "self_group_sum",
                                      "processes",
                                      "threads",
                                      "hosts",
                                      "files",
                                      "read_count",
                                      "read_time",
                                      "read_size",
                                      "read_bw",
                                      "read_busy",
                                      "close_count",
                                      "close_time",
                                      "close_busy"};

/* NAN where it is missing or there is no such column. */
static double value_at(const struct sta_table *table, const char *name, size_t row)
{
    const struct sta_table_column *column = sta_table_find(table, name);
    if (column == NULL || column->missing[row])
        return NAN;
    return column->type == STA_TYPE_INT ? (double)column->integers[row] : column->numbers[row];
}

static struct sta_table request(const struct scene *scene, const struct made_trace *trace,
                                const struct sta_presets *presets, const char *by, unsigned workers,
                                size_t slice_rows)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = {.workers = workers, .memory = (size_t)1 << 28};
    struct sta_view_query common = scene_query(scene, trace->snapshot, presets);
    struct sta_table_query query = {.common = &common,
                                    .table = by != NULL ? STA_VIEW_FLAT : STA_VIEW_SUMMARY,
                                    .by = by,
                                    .granularity_us = scene->g,
                                    .slice_rows = slice_rows};
    struct sta_table table;
    struct sta_facts facts;
    cr_assert_eq(sta_view_exact(&query, &budget, &table, &facts, &err), 0, "%s", err.text);
    return table;
}

/* ---- every cell */

/* The key of a table's row as slow_key has it. */
static void key_of_row(const struct sta_table *table, const char *by, size_t row, char key[64])
{
    size_t count = strcmp(by, "process") == 0 ? 2 : strcmp(by, "thread") == 0 ? 3 : 1;
    size_t used = 0;
    key[0] = '\0';
    for (size_t c = 0; c < count; c++) {
        const struct sta_table_column *column = &table->columns[c];
        if (c > 0)
            key[used++] = '|';
        key[used] = '\0';
        if (column->missing[row])
            continue;
        if (column->type == STA_TYPE_TEXT)
            used += (size_t)snprintf(key + used, 64 - used, "%s", column->texts[row].bytes);
        else
            used += (size_t)snprintf(key + used, 64 - used, "%ld", (long)column->integers[row]);
    }
}

static void check_cell(const struct slow_place *place, const struct sta_table *table, const char *name,
                       const char *column, size_t row, uint64_t seed)
{
    bool any;
    double wanted = slow_value(place, column, &any);
    double got = value_at(table, name, row);
    if (place->by == NULL && !any && strcmp(column, "count") == 0)
        wanted = 0;
    if (isnan(wanted) || isnan(got))
        cr_assert(isnan(wanted) && isnan(got), "seed %lu by %s key \"%s\" %s: %g, not %g",
                  (unsigned long)seed, place->by, place->key, name, got, wanted);
    else
        cr_assert(fabs(got - wanted) <= 1e-12 * fabs(wanted),
                  "seed %lu by %s key \"%s\" %s: %.17g, not %.17g", (unsigned long)seed, place->by,
                  place->key, name, got, wanted);
}

static void check_row(struct slow_place *place, const struct sta_table *table, size_t row, uint64_t seed)
{
    for (int l = 0; l < SCENE_LAYERS; l++)
        for (size_t c = 0; c < STA_COUNT_OF(columns); c++) {
            char *name = place->by != NULL ? sta_sprintf("%s_%s", scene_layers[l], columns[c])
                                           : sta_strdup(columns[c]);
            place->layer = l;
            check_cell(place, table, name, columns[c], place->by != NULL ? row : (size_t)l, seed);
            free(name);
        }
}

/* No row is left out: counts add up to all events that some layer takes. */
static void check_all_are_there(const struct sta_table *table, const struct sta_table *summary, uint64_t seed)
{
    for (int l = 0; l < SCENE_LAYERS; l++) {
        char *name = sta_sprintf("%s_count", scene_layers[l]);
        double sum = 0;
        for (size_t row = 0; row < table->rows; row++)
            sum += isnan(value_at(table, name, row)) ? 0 : value_at(table, name, row);
        cr_assert_eq(sum, value_at(summary, "count", (size_t)l), "seed %lu %s", (unsigned long)seed, name);
        free(name);
    }
}

static void check_view(const struct scene *scene, const struct made_trace *trace,
                       const struct sta_presets *presets, const struct sta_rank_groups *groups,
                       const char *by, uint64_t seed)
{
    struct slow_place place = {.scene = scene,
                               .groups = groups,
                               .entities = sta_snapshot_entities(trace->snapshot),
                               .by = by,
                               .key = ""};
    struct sta_table summary = request(scene, trace, presets, NULL, 1, 7);
    struct sta_table table = request(scene, trace, presets, by, 1 + (unsigned)(seed % 3), 1 + seed % 50);
    char key[64];
    for (size_t row = 0; row < (by != NULL ? table.rows : 1); row++) {
        if (by != NULL)
            key_of_row(&table, by, row, key);
        place.key = by != NULL ? key : "";
        check_row(&place, &table, row, seed);
    }
    if (by != NULL)
        check_all_are_there(&table, &summary, seed);
    sta_table_fini(&table);
    sta_table_fini(&summary);
}

Test(exact, every_cell_equals_sums_over_single_ticks)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct made_trace trace;
        struct sta_rank_groups groups;
        struct sta_error err = STA_ERROR_INIT;
        struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 28};
        scene_make(scene, seed);
        scene_store(scene, &trace, 24, 2);
        cr_assert_eq(sta_rank_groups_init(&groups, trace.snapshot, &budget, &err), 0, "%s", err.text);
        check_view(scene, &trace, presets, &groups, NULL, seed);
        check_view(scene, &trace, presets, &groups, views[seed % STA_COUNT_OF(views)], seed);
        check_view(scene, &trace, presets, &groups, "time_range", seed);
        sta_rank_groups_fini(&groups);
        made_trace_fini(&trace);
    }
    free(scene);
    sta_presets_release(presets);
}

/* ---- however the work is cut */

static void assert_same(const struct sta_table *a, const struct sta_table *b, const char *by, uint64_t seed)
{
    cr_assert_eq(a->column_count, b->column_count);
    cr_assert_eq(a->rows, b->rows);
    for (size_t c = 0; c < a->column_count; c++) {
        const struct sta_table_column *x = &a->columns[c];
        const struct sta_table_column *y = &b->columns[c];
        cr_assert_str_eq(x->name, y->name);
        cr_assert_eq(memcmp(x->missing, y->missing, a->rows), 0, "seed %lu by %s %s", (unsigned long)seed, by,
                     x->name);
        for (size_t row = 0; row < a->rows; row++) {
            if (x->missing[row])
                continue;
            bool same = x->type == STA_TYPE_TEXT ? strcmp(x->texts[row].bytes, y->texts[row].bytes) == 0
                        : x->type == STA_TYPE_INT
                            ? x->integers[row] == y->integers[row]
                            : memcmp(&x->numbers[row], &y->numbers[row], sizeof(double)) == 0;
            cr_assert(same, "seed %lu by %s %s row %zu", (unsigned long)seed, by, x->name, row);
        }
    }
}

Test(exact, nothing_changes_with_threads_slices_row_groups_and_files)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct made_trace first, second;
        const char *by = seed % 11 == 0 ? NULL : views[seed % STA_COUNT_OF(views)];
        scene_make(scene, seed * 1000);
        scene_store(scene, &first, SCENE_EVENTS, 1);
        struct sta_table one = request(scene, &first, presets, by, 1, 0);
        scene_shuffle(scene);
        scene_store(scene, &second, 1 + (uint32_t)(seed % 30), 3);
        for (unsigned workers = 1; workers <= 4; workers++) {
            struct sta_table other =
                request(scene, &second, presets, by, workers, 1 + scene_below(scene, 40));
            assert_same(&one, &other, by, seed);
            sta_table_fini(&other);
        }
        sta_table_fini(&one);
        made_trace_fini(&first);
        made_trace_fini(&second);
    }
    free(scene);
    sta_presets_release(presets);
}

/* ---- laws */

static void check_place_laws(const struct sta_table *table, const char *layer, size_t row, uint64_t seed)
{
    static const char *const ascending[] = {"busy", "busy_group_sum", "busy_process_sum", "time"};
    double last = 0;
    char name[64];
    for (size_t i = 0; i < STA_COUNT_OF(ascending); i++) {
        snprintf(name, sizeof name, "%s_%s", layer, ascending[i]);
        double value = value_at(table, name, row);
        cr_assert(isnan(value) || value >= last - 1e-12, "seed %lu %s", (unsigned long)seed, name);
        last = isnan(value) ? last : value;
    }
    snprintf(name, sizeof name, "%s_exposed_group_sum", layer);
    double exposed = value_at(table, name, row);
    snprintf(name, sizeof name, "%s_busy_group_sum", layer);
    cr_assert(isnan(exposed) || exposed <= value_at(table, name, row) + 1e-12, "seed %lu %s",
              (unsigned long)seed, name);
}

/* Columns whose rows add up to the summary in every view, and by time. */
static const char *const additive[] = {"count", "time", "size", "size_bin_0_4kib", "read_size"};
static const char *const additive_by_time[] = {
    "busy", "busy_process_sum", "busy_group_sum", "exposed_group_sum", "self_group_sum", "read_busy"};

static void check_sums(const struct sta_table *table, const struct sta_table *summary,
                       const char *const *names, size_t count, uint64_t seed)
{
    for (int l = 0; l < SCENE_LAYERS; l++)
        for (size_t i = 0; i < count; i++) {
            char name[64];
            double sum = 0;
            snprintf(name, sizeof name, "%s_%s", scene_layers[l], names[i]);
            for (size_t row = 0; row < table->rows; row++)
                sum += isnan(value_at(table, name, row)) ? 0 : value_at(table, name, row);
            double whole = value_at(summary, names[i], (size_t)l);
            cr_assert(fabs(sum - (isnan(whole) ? 0 : whole)) < 1e-9, "seed %lu %s: %.12g, not %.12g",
                      (unsigned long)seed, name, sum, whole);
        }
}

Test(exact, rows_add_up_and_unions_are_ordered)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct made_trace trace;
        scene_make(scene, seed * 31);
        scene_store(scene, &trace, 24, 2);
        struct sta_table summary = request(scene, &trace, presets, NULL, 2, 5);
        for (size_t v = 0; v < STA_COUNT_OF(views); v++) {
            struct sta_table table = request(scene, &trace, presets, views[v], 2, 9);
            for (size_t row = 0; row < table.rows; row++)
                for (int l = 0; l < SCENE_LAYERS; l++)
                    check_place_laws(&table, scene_layers[l], row, seed);
            check_sums(&table, &summary, additive, STA_COUNT_OF(additive), seed);
            if (strcmp(views[v], "time_range") == 0)
                check_sums(&table, &summary, additive_by_time, STA_COUNT_OF(additive_by_time), seed);
            sta_table_fini(&table);
        }
        sta_table_fini(&summary);
        made_trace_fini(&trace);
    }
    free(scene);
    sta_presets_release(presets);
}

/* ---- limits and mistakes */

static int fails(const struct sta_table_query *query, size_t memory, struct sta_error *err)
{
    struct sta_budget budget = {.workers = 1, .memory = memory};
    struct sta_table table;
    struct sta_facts facts;
    int rc = sta_view_exact(query, &budget, &table, &facts, err);
    if (rc == 0)
        sta_table_fini(&table);
    return rc;
}

Test(exact, more_memory_than_a_query_may_hold_is_a_limit_that_names_the_setting)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    struct made_trace trace;
    struct sta_error err = STA_ERROR_INIT;
    scene_make(scene, 5);
    scene_store(scene, &trace, 24, 1);
    struct sta_view_query common = scene_query(scene, trace.snapshot, presets);
    for (size_t v = 0; v < STA_COUNT_OF(views); v++) {
        struct sta_table_query query = {
            .common = &common, .table = STA_VIEW_FLAT, .by = views[v], .granularity_us = 1};
        cr_assert_eq(fails(&query, 1000, &err), STA_ELIMIT, "%s", views[v]);
        cr_assert_not_null(strstr(err.text, "query_memory"), "%s", err.text);
    }
    made_trace_fini(&trace);
    free(scene);
    sta_presets_release(presets);
}

/* Asks within an account of so many bytes.  What is charged is released in any case. */
static int asked_within(const struct sta_table_query *query, size_t limit, struct sta_error *err)
{
    struct sta_account account;
    struct sta_table table;
    struct sta_facts facts;
    sta_account_init(&account, limit, "query_memory", NULL);
    struct sta_budget budget = {.workers = 2, .memory = (size_t)1 << 28, .account = &account};
    int rc = sta_view_exact(query, &budget, &table, &facts, err);
    if (rc == 0)
        sta_table_fini(&table);
    sta_account_fini(&account); /* aborts when something is left */
    return rc;
}

Test(exact, memory_that_is_refused_at_any_place_is_a_limit_and_contributions_nothing, .timeout = 480)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    struct made_trace trace;
    scene_make(scene, 7);
    scene_store(scene, &trace, 24, 1);
    struct sta_view_query common = scene_query(scene, trace.snapshot, presets);
    for (size_t v = 0; v < STA_COUNT_OF(views); v++) {
        struct sta_table_query query = {
            .common = &common, .table = STA_VIEW_FLAT, .by = views[v], .granularity_us = 1000};
        int rc = STA_ELIMIT;
        for (size_t limit = 500; rc != 0; limit += limit / 8) {
            struct sta_error err = STA_ERROR_INIT;
            rc = asked_within(&query, limit, &err);
            cr_assert(rc == 0 || rc == STA_ELIMIT, "%s within %zu bytes: %d %s", views[v], limit, rc,
                      err.text);
            cr_assert(rc == 0 || strstr(err.text, "query_memory") != NULL, "%s", err.text);
            cr_assert_lt(limit, (size_t)1 << 28, "%s: %s", views[v], err.text);
        }
    }
    made_trace_fini(&trace);
    free(scene);
    sta_presets_release(presets);
}

Test(exact, mistakes_name_what_there_is)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    struct made_trace trace;
    struct sta_error err = STA_ERROR_INIT;
    scene_make(scene, 6);
    scene_store(scene, &trace, 24, 1);
    struct sta_view_query common = scene_query(scene, trace.snapshot, presets);
    struct sta_table_query query = {
        .common = &common, .table = STA_VIEW_LAYER, .layer = "nope", .by = "process", .granularity_us = 1};
    cr_assert_eq(fails(&query, 1 << 28, &err), STA_EINPUT);
    cr_assert(strstr(err.text, "reader") != NULL && strcmp(err.parameter, "/layer") == 0, "%s", err.text);
    query.layer = "io";
    query.by = "colour";
    cr_assert_eq(fails(&query, 1 << 28, &err), STA_EINPUT);
    cr_assert(strstr(err.text, "last") != NULL && strcmp(err.parameter, "/by") == 0, "%s", err.text);
    query.table = STA_VIEW_HLM;
    cr_assert_eq(fails(&query, 1 << 28, &err), STA_EINPUT);
    cr_assert(strstr(err.text, "compatible") != NULL, "%s", err.text);
    made_trace_fini(&trace);
    free(scene);
    sta_presets_release(presets);
}
