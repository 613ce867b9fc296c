/* Window, filter, facts and limits of summary and time series, on made-up traces in a real store. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "analyse/analyse.h"
#include "common/memory.h"
#include "made_trace.h"

#define LUSTRE "/lustre/data/f1"

/* One rank (10) with a worker (11): compute from 1 s to 3 s, the worker reads from 2 s to 4 s in two
 * calls. */
static const struct made_event rank_events[] = {
    {"a.pfw", 0, 5000000, "DLIOBenchmark.run", "dlio_benchmark", "n1", NULL, 10, 10, {{0}}},
    {"a.pfw", 500000, 4000000, "DLIOBenchmark._train", "dlio_benchmark", "n1", NULL, 10, 10, {{0}}},
    {"a.pfw", 900000, 100, "fork", "posix", "n1", NULL, 10, 10, {{"ret", NULL, 11}}},
    {"a.pfw", 1000000, 2000000, "compute", "ai_framework", "n1", NULL, 10, 10, {{0}}},
    {"b.pfw", 2000000, 1500000, "read", "posix", "n1", LUSTRE, 11, 11, {{"ret", NULL, 3000000}}},
    {"b.pfw", 3000000, 1000000, "read", "posix", "n1", LUSTRE, 11, 12, {{"ret", NULL, 1000000}}},
    {"b.pfw", 4000000, 0, "close", "posix", "n1", LUSTRE, 11, 11, {{"ret", NULL, 0}}},
    {"b.pfw", 4100000, 10, "read", "posix", "n1", "/proc/meminfo", 11, 11, {{"ret", NULL, 100}}},
    {"b.pfw", 4200000, 10, "TorchDataset.__init__", "reader", "n1", NULL, 11, 11, {{0}}},
};

static struct sta_presets *load_presets(void)
{
    static const char *const folders[] = {STA_TEST_CONFIG "/presets"};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_presets *presets;
    cr_assert_eq(sta_presets_load(STA_TEST_CONFIG "/functions.yaml", folders, 1, &presets, &err), 0, "%s",
                 err.text);
    return presets;
}

/* A trace, the presets, and a query that a test goes on to change. */
struct asked {
    struct made_trace trace;
    struct sta_presets *presets;
    struct sta_view_query query;
    struct sta_budget budget;
    struct sta_table table;
    struct sta_facts facts;
    struct sta_error err;
};

static void ask_of(struct asked *asked, const struct made_event *events, size_t count, uint32_t chunk_rows,
                   unsigned workers)
{
    *asked = (struct asked){.err = STA_ERROR_INIT};
    made_trace_init(&asked->trace, events, count, chunk_rows, workers);
    asked->presets = load_presets();
    asked->query = (struct sta_view_query){
        .snapshot = asked->trace.snapshot, .presets = asked->presets, .preset = "dlio", .filters = true};
    asked->budget = (struct sta_budget){.workers = workers, .memory = (size_t)64 << 20};
}

static void ask_of_rank(struct asked *asked)
{
    ask_of(asked, rank_events, STA_COUNT_OF(rank_events), 3, 2);
}

static void done(struct asked *asked)
{
    sta_presets_release(asked->presets);
    made_trace_fini(&asked->trace);
}

static int summary(struct asked *asked)
{
    const struct sta_table_query query = {.common = &asked->query, .table = STA_VIEW_SUMMARY};
    return sta_view_exact(&query, &asked->budget, &asked->table, &asked->facts, &asked->err);
}

static void must_summary(struct asked *asked)
{
    cr_assert_eq(summary(asked), 0, "%s", asked->err.text);
}

static size_t row_of(const struct sta_table *table, const char *layer)
{
    const struct sta_table_column *names = sta_table_find(table, "name");
    for (size_t row = 0; row < table->rows; row++)
        if (strcmp(names->texts[row].bytes, layer) == 0)
            return row;
    cr_assert_fail("no layer %s", layer);
    return 0;
}

static double cell(const struct sta_table *table, const char *column_name, size_t row)
{
    const struct sta_table_column *column = sta_table_find(table, column_name);
    cr_assert_not_null(column, "no column %s", column_name);
    if (column->missing[row])
        return NAN;
    return column->type == STA_TYPE_INT ? (double)column->integers[row] : column->numbers[row];
}

static double of_layer(const struct asked *asked, const char *layer, const char *column)
{
    return cell(&asked->table, column, row_of(&asked->table, layer));
}

static double fact(const struct asked *asked, const char *name)
{
    for (size_t i = 0; i < asked->facts.count; i++)
        if (strcmp(asked->facts.items[i].name, name) == 0)
            return asked->facts.items[i].is_number ? asked->facts.items[i].number
                                                   : (double)asked->facts.items[i].integer;
    cr_assert_fail("no fact %s", name);
    return 0;
}

/* ---- summary */

Test(scan, a_workers_reading_is_hidden_by_its_ranks_compute)
{
    struct asked asked;
    ask_of_rank(&asked);
    must_summary(&asked);
    cr_assert_float_eq(of_layer(&asked, "reader_posix_lustre", "busy"), 2.0, 1e-12);
    cr_assert_float_eq(of_layer(&asked, "reader_posix_lustre", "time"), 2.5, 1e-12);
    cr_assert_float_eq(of_layer(&asked, "reader_posix_lustre", "exposed_group_sum"), 1.0, 1e-12);
    cr_assert_float_eq(of_layer(&asked, "reader_posix_lustre", "hidden_share"), 0.5, 1e-12);
    cr_assert_float_eq(of_layer(&asked, "reader_posix_lustre", "bw_busy"), 2e6, 1e-6);
    cr_assert_eq(of_layer(&asked, "reader_posix_lustre", "count"), 3);
    cr_assert_eq(of_layer(&asked, "reader_posix_lustre", "close_count"), 1);
    cr_assert_eq(of_layer(&asked, "reader_posix_lustre", "files"), 1);
    cr_assert_float_eq(of_layer(&asked, "training", "self_group_sum"), 2.0, 1e-12);
    cr_assert(isnan(of_layer(&asked, "training", "exposed_group_sum")),
              "an ancestor of compute has no exposed time");
    cr_assert_eq(of_layer(&asked, "checkpoint", "count"), 0);
    cr_assert(isnan(of_layer(&asked, "checkpoint", "time")));
    sta_table_fini(&asked.table);
    done(&asked);
}

Test(scan, facts_tell_of_the_whole_trace_and_of_what_the_preset_dropped)
{
    struct asked asked;
    ask_of_rank(&asked);
    asked.query.filter = "pid == 11";
    must_summary(&asked);
    cr_assert_eq(fact(&asked, "events"), STA_COUNT_OF(rank_events));
    cr_assert_float_eq(fact(&asked, "job_time"), 5.0, 1e-12);
    cr_assert_eq(fact(&asked, "processes"), 2);
    cr_assert_eq(fact(&asked, "threads"), 3);
    cr_assert_eq(fact(&asked, "files"), 2);
    cr_assert_eq(fact(&asked, "filtered_by_file"), 1);
    cr_assert_eq(fact(&asked, "filtered_by_function"), 1);
    cr_assert_eq(fact(&asked, "filtered"), 2);
    sta_table_fini(&asked.table);
    asked.query.filters = false;
    must_summary(&asked);
    cr_assert_eq(fact(&asked, "filtered"), 0);
    cr_assert_eq(of_layer(&asked, "reader", "count"), 1);
    sta_table_fini(&asked.table);
    done(&asked);
}

Test(scan, a_window_cuts_events_as_a_bin_does)
{
    struct asked asked;
    ask_of_rank(&asked);
    asked.query.has_from = asked.query.has_to = true;
    asked.query.from = 2.0;
    asked.query.to = 3.0;
    must_summary(&asked);
    cr_assert_eq(of_layer(&asked, "reader_posix_lustre", "count"), 1);
    cr_assert_float_eq(of_layer(&asked, "reader_posix_lustre", "busy"), 1.0, 1e-12);
    cr_assert_eq(of_layer(&asked, "reader_posix_lustre", "size"), 2000000);
    cr_assert_float_eq(of_layer(&asked, "reader_posix_lustre", "exposed_group_sum"), 0.0, 1e-12);
    cr_assert_eq(of_layer(&asked, "app", "count"), 0, "it is counted where it starts");
    cr_assert_float_eq(of_layer(&asked, "app", "time"), 1.0, 1e-12);
    cr_assert_eq(of_layer(&asked, "app", "processes"), 1);
    cr_assert(isnan(of_layer(&asked, "data_loader_fork", "busy")), "nothing of it lies in the window");
    cr_assert_eq(fact(&asked, "unmatched"), 0);
    sta_table_fini(&asked.table);
    done(&asked);
}

Test(scan, adjoining_windows_add_up_to_the_whole)
{
    static const char *const columns[] = {
        "count", "time", "size", "busy", "busy_group_sum", "exposed_group_sum", "close_count", "read_busy"};
    static const double edges[] = {0, 0.7, 2.6, 3.2, 6};
    struct asked asked;
    double parts[STA_COUNT_OF(columns)] = {0};
    ask_of_rank(&asked);
    asked.query.has_from = asked.query.has_to = true;
    for (size_t w = 0; w + 1 < STA_COUNT_OF(edges); w++) {
        asked.query.from = edges[w];
        asked.query.to = edges[w + 1];
        must_summary(&asked);
        for (size_t c = 0; c < STA_COUNT_OF(columns); c++) {
            double value = of_layer(&asked, "reader_posix_lustre", columns[c]);
            parts[c] += isnan(value) ? 0 : value;
        }
        sta_table_fini(&asked.table);
    }
    asked.query.has_from = asked.query.has_to = false;
    must_summary(&asked);
    for (size_t c = 0; c < STA_COUNT_OF(columns); c++)
        cr_assert_float_eq(parts[c], of_layer(&asked, "reader_posix_lustre", columns[c]), 1e-9, "%s",
                           columns[c]);
    sta_table_fini(&asked.table);
    done(&asked);
}

Test(scan, a_filter_sees_the_refined_category)
{
    struct asked asked;
    ask_of_rank(&asked);
    asked.query.filter = "cat == \"posix_reader_lustre\" and size > 2000000";
    must_summary(&asked);
    cr_assert_eq(of_layer(&asked, "reader_posix_lustre", "count"), 1);
    cr_assert_eq(of_layer(&asked, "reader_posix_lustre", "size"), 3000000);
    cr_assert_eq(of_layer(&asked, "compute", "count"), 0);
    sta_table_fini(&asked.table);
    done(&asked);
}

/* ---- mistakes and limits */

Test(scan, mistakes_name_the_parameter_and_the_position)
{
    struct asked asked;
    ask_of_rank(&asked);
    asked.query.filter = "pid == 11 and sise > 3";
    cr_assert_eq(summary(&asked), STA_EINPUT);
    cr_assert_str_eq(asked.err.parameter, "/filter");
    cr_assert_eq(asked.err.position, 14);
    asked.query.filter = NULL;
    asked.query.preset = "dilo";
    cr_assert_eq(summary(&asked), STA_EINPUT);
    cr_assert_str_eq(asked.err.parameter, "/preset");
    cr_assert_not_null(strstr(asked.err.text, "dlio"), "%s", asked.err.text);
    asked.query.preset = "dlio";
    asked.query.has_from = asked.query.has_to = true;
    asked.query.from = 3;
    asked.query.to = 1;
    cr_assert_eq(summary(&asked), STA_EINPUT);
    cr_assert_str_eq(asked.err.parameter, "/to");
    done(&asked);
}

Test(scan, a_query_past_its_deadline_or_cancelled_ends)
{
    struct asked asked;
    _Atomic bool cancel = true;
    ask_of_rank(&asked);
    asked.budget.deadline_ns = uv_hrtime() - 1;
    cr_assert_eq(summary(&asked), STA_ELIMIT);
    asked.budget.deadline_ns = 0;
    asked.budget.cancel = &cancel;
    cr_assert_eq(summary(&asked), STA_ECANCELLED);
    done(&asked);
}

/* ---- time series */

static int series(struct asked *asked, int64_t granularity_us, uint32_t max_points)
{
    static const char *const metrics[] = {"count", "time", "size", "bw", "ops", "busy", "bw_busy"};
    const struct sta_series wanted = {.metrics = metrics,
                                      .metric_count = STA_COUNT_OF(metrics),
                                      .granularity_us = granularity_us,
                                      .max_points = max_points};
    return sta_timeseries_exact(&asked->query, &wanted, &asked->budget, &asked->table, &asked->facts,
                                &asked->err);
}

static double column_sum(const struct sta_table *table, const char *column)
{
    double sum = 0;
    for (size_t row = 0; row < table->rows; row++) {
        double value = cell(table, column, row);
        sum += isnan(value) ? 0 : value;
    }
    return sum;
}

Test(scan, bins_of_a_series_add_up_to_the_summary)
{
    static const char *const layers[] = {"app", "training", "compute", "reader_posix_lustre",
                                         "data_loader_fork"};
    static const char *const columns[] = {"count", "time", "size", "busy"};
    for (int64_t g = 70000; g < 6000000; g = g * 5 / 3) {
        struct asked asked;
        ask_of_rank(&asked);
        cr_assert_eq(series(&asked, g, 0), 0, "%s", asked.err.text);
        struct sta_table bins = asked.table;
        must_summary(&asked);
        for (size_t l = 0; l < STA_COUNT_OF(layers); l++)
            for (size_t c = 0; c < STA_COUNT_OF(columns); c++) {
                char name[64];
                snprintf(name, sizeof name, "%s_%s", layers[l], columns[c]);
                double whole = of_layer(&asked, layers[l], columns[c]);
                cr_assert_float_eq(column_sum(&bins, name), whole, 1e-9, "%s by %ld us", name, (long)g);
            }
        sta_table_fini(&bins);
        sta_table_fini(&asked.table);
        done(&asked);
    }
}

Test(scan, each_bin_of_the_window_is_a_row_and_untouched_ones_are_missing)
{
    struct asked asked;
    ask_of_rank(&asked);
    asked.query.has_from = asked.query.has_to = true;
    asked.query.from = 2.5;
    asked.query.to = 4.5;
    cr_assert_eq(series(&asked, 1000000, 0), 0, "%s", asked.err.text);
    cr_assert_eq(asked.table.rows, 3);
    cr_assert_eq(cell(&asked.table, "time_range", 0), 2);
    cr_assert_eq(cell(&asked.table, "time_start", 0), 2.0);
    cr_assert_float_eq(cell(&asked.table, "compute_busy", 0), 1.0, 1e-12); /* began before the window */
    cr_assert_eq(cell(&asked.table, "compute_count", 0), 0);
    cr_assert(isnan(cell(&asked.table, "compute_busy", 1)));
    cr_assert_float_eq(cell(&asked.table, "reader_posix_lustre_time", 1), 1.5, 1e-12);
    cr_assert_float_eq(cell(&asked.table, "reader_posix_lustre_busy", 1), 1.0, 1e-12);
    cr_assert_eq(cell(&asked.table, "reader_posix_lustre_size", 1), 2000000);
    cr_assert_eq(cell(&asked.table, "reader_posix_lustre_count", 2), 1); /* the instant close */
    cr_assert_eq(cell(&asked.table, "reader_posix_lustre_busy", 2), 0);
    sta_table_fini(&asked.table);
    done(&asked);
}

Test(scan, max_points_makes_bins_wider_by_whole_factors)
{
    struct asked asked;
    ask_of_rank(&asked);
    cr_assert_eq(series(&asked, 1000, 100), 0, "%s", asked.err.text);
    cr_assert_leq(asked.table.rows, 100);
    cr_assert_geq(asked.table.rows, 90);
    double factor = fact(&asked, "granularity") / 0.001;
    cr_assert_float_eq(factor, round(factor), 1e-9);
    sta_table_fini(&asked.table);
    cr_assert_eq(series(&asked, 1, 0), STA_ELIMIT);
    cr_assert_str_eq(asked.err.parameter, "/granularity");
    cr_assert_eq(series(&asked, 0, 0), STA_EINPUT);
    done(&asked);
}

Test(scan, a_series_of_one_layer_has_plain_names_and_an_unknown_layer_is_a_mistake)
{
    static const char *const layers[] = {"compute"};
    static const char *const unknown[] = {"comptue"};
    static const char *const metrics[] = {"count"};
    struct asked asked;
    struct sta_series wanted = {
        .layers = layers, .layer_count = 1, .metrics = metrics, .metric_count = 1, .granularity_us = 1000000};
    ask_of_rank(&asked);
    cr_assert_eq(
        sta_timeseries_exact(&asked.query, &wanted, &asked.budget, &asked.table, &asked.facts, &asked.err), 0,
        "%s", asked.err.text);
    cr_assert_eq(column_sum(&asked.table, "count"), 1);
    sta_table_fini(&asked.table);
    wanted.layers = unknown;
    cr_assert_eq(
        sta_timeseries_exact(&asked.query, &wanted, &asked.budget, &asked.table, &asked.facts, &asked.err),
        STA_EINPUT);
    cr_assert_str_eq(asked.err.parameter, "/layer");
    done(&asked);
}

/* ---- the same for any number of workers and segments */

static struct made_event *many_events(size_t count)
{
    static const char *const names[] = {
        "read", "write", "open64", "compute", "DLIOBenchmark._train", "TorchDataset.__getitem__"};
    static const char *const cats[] = {"posix",        "posix",          "posix",
                                       "ai_framework", "dlio_benchmark", "data_loader"};
    static const char *const files[] = {"/lustre/data/a", "/lustre/data/b", "/lustre/checkpoint/c",
                                        "/etc/passwd", NULL};
    struct made_event *events = sta_alloc_array(count, sizeof *events);
    uint64_t state = 99;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t random = (uint32_t)(state >> 33);
        uint32_t kind = random % 6;
        events[i] = (struct made_event){.source = i < count / 2 ? "a.pfw" : "b.pfw",
                                        .ts = (int64_t)(i % (count / 2)) * 37 + random % 5000,
                                        .dur = random % 97 == 0 ? 90000 : random % 700,
                                        .name = names[kind],
                                        .cat = cats[kind],
                                        .host = random % 11 == 0 ? NULL : "n1",
                                        .file = kind < 3 ? files[random % 5] : NULL,
                                        .pid = 10 + random % 5,
                                        .tid = random % 13};
        if (kind < 2)
            events[i].args[0] = (struct made_arg){"ret", NULL, random % 100000};
    }
    return events;
}

static void assert_same(const struct sta_table *a, const struct sta_table *b)
{
    cr_assert_eq(a->rows, b->rows);
    cr_assert_eq(a->column_count, b->column_count);
    for (size_t c = 0; c < a->column_count; c++) {
        cr_assert_eq(memcmp(a->columns[c].missing, b->columns[c].missing, a->rows), 0, "%s",
                     a->columns[c].name);
        for (size_t row = 0; row < a->rows && a->columns[c].type != STA_TYPE_TEXT; row++) {
            double left = cell(a, a->columns[c].name, row);
            double right = cell(b, b->columns[c].name, row);
            cr_assert(isnan(left) || memcmp(&left, &right, sizeof left) == 0, "%s row %zu",
                      a->columns[c].name, row);
        }
    }
}

Test(scan, answers_do_not_depend_on_workers_or_on_how_events_are_stored)
{
    enum { COUNT = 60000 };
    struct made_event *events = many_events(COUNT);
    struct asked first;
    ask_of(&first, events, COUNT, COUNT, 1);
    must_summary(&first);
    struct sta_table summary_table = first.table;
    cr_assert_eq(series(&first, 10000, 0), 0, "%s", first.err.text);
    for (unsigned workers = 1; workers <= 4; workers++) {
        struct asked again;
        ask_of(&again, events, COUNT, 1 + workers * 777, workers);
        must_summary(&again);
        assert_same(&summary_table, &again.table);
        sta_table_fini(&again.table);
        cr_assert_eq(series(&again, 10000, 0), 0, "%s", again.err.text);
        assert_same(&first.table, &again.table);
        sta_table_fini(&again.table);
        done(&again);
    }
    sta_table_fini(&summary_table);
    sta_table_fini(&first.table);
    done(&first);
    free(events);
}
