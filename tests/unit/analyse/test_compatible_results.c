/* Compatible tables: which events they are made of, presets of one's own, mistakes, and that nothing depends
 * on the number of workers. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view_tables.h"
#include "built_in.h"
#include "common/files.h"
#include "common/memory.h"
#include "decoded_trace.h"

/* ---- which events */

Test(compatible_results, every_event_is_accounted_for)
{
    static const char events[] = EVENT("read", "posix", "1", "0", "1", FILE_("/dev/null"))
        EVENT("NPZReader.next", "reader", "1", "0", "1", "")
            EVENT("read", "posix", "1", "0", "1", FILE_("/home/x"))
                EVENT("nobody", "elsewhere", "1", "1", "1", "") EVENT("fork", "posix", "1", "2", "1", "");
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, events);
    struct view_request request = {.preset = "dlio", .table = STA_VIEW_FLAT, .by = "proc_name"};
    struct view_result result = run_view(trace.snapshot, presets, &request);
    cr_expect_eq(fact(&result, "total_count"), 5);
    cr_expect_eq(fact(&result, "filtered_by_file"), 1);
    cr_expect_eq(fact(&result, "filtered_by_function"), 1);
    cr_expect_eq(fact(&result, "unmatched"), 1);
    cr_expect_eq(fact(&result, "taken"), 2);
    cr_expect_eq(fact(&result, "multiple"), 1, "fork is in data_loader_fork and other_posix");
    sta_table_fini(&result.table);
    request = (struct view_request){
        .preset = "dlio", .table = STA_VIEW_MAIN, .layer = "data_loader_fork", .from = 2};
    result = run_view(trace.snapshot, presets, &request);
    cr_expect_eq(fact(&result, "taken"), 1);
    cr_expect_eq(fact(&result, "filtered"), 0, "outside the window");
    sta_table_fini(&result.table);
    request = (struct view_request){.preset = "dlio", .table = STA_VIEW_HLM, .no_filters = true};
    result = run_view(trace.snapshot, presets, &request);
    cr_expect_eq(fact(&result, "filtered"), 0);
    cr_expect_eq(fact(&result, "taken") + fact(&result, "unmatched"), 5);
    sta_table_fini(&result.table);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

Test(compatible_results, window_and_filter_choose_events)
{
    struct view_request window = {
        .table = STA_VIEW_MAIN, .layer = "posix", .views = {"time_range"}, .from = 1, .to = 3.5};
    struct view_request filter = {.table = STA_VIEW_MAIN, .layer = "posix", .filter = "size > 15"};
    expect_view(two_reads, &window, "time_range count", "3 1|");
    expect_view(readers, &filter, "proc_name count", "app#n#1#1 2|app#n#2#1 1|");
}

/* ---- presets of one's own */

static void expect_own(const char *yaml, const struct view_request *request, const char *names,
                       const char *wanted)
{
    char folder[] = "/tmp/strata-own-XXXXXX";
    struct sta_error err = STA_ERROR_INIT;
    struct decoded_trace trace;
    cr_assert_not_null(mkdtemp(folder));
    char *path = sta_sprintf("%s/own.yaml", folder);
    FILE *file = fopen(path, "w");
    fputs(yaml, file);
    fclose(file);
    struct sta_presets *presets = load_built_in(folder);
    decoded_trace_init(&trace, readers);
    struct view_result result = run_view(trace.snapshot, presets, request);
    char *got = result.status == 0 ? show(&result, names) : sta_strdup(result.err.text);
    cr_expect(strncmp(got, wanted, strlen(wanted)) == 0, "%s", got);
    free(got);
    sta_table_fini(&result.table);
    decoded_trace_fini(&trace);
    sta_presets_release(presets);
    free(path);
    cr_assert_eq(sta_tree_remove(folder, &err), 0);
}

Test(compatible_results, views_of_ones_own_become_texts)
{
    static const char yaml[] =
        "extends: posix\nviews:\n  digits: len(proc_name)\n  letter: file_name.str.replace(\"/\", \"\")\n"
        "  both: func_name\n";
    struct view_request digits = {.preset = "own", .table = STA_VIEW_LAYER, .layer = "posix", .by = "digits"};
    struct view_request letter = {
        .preset = "own", .table = STA_VIEW_LAYER, .layer = "posix", .by = "letter", .views = {"file_name"}};
    struct view_request both = {.preset = "own", .table = STA_VIEW_LAYER, .layer = "posix", .by = "both"};
    expect_own(yaml, &digits, "digits count_sum proc_name_nunique", "9 4 2|");
    expect_own(yaml, &letter, "letter count_sum", "a 2|b 1|c 1|");
    expect_own(yaml, &both, "count_sum",
               "there is no view \"both\" here; allowed: proc_name, digits, host_name, proc_id, thread_id");
}

Test(compatible_results, a_condition_on_values_splits_no_row)
{
    static const char yaml[] = "layers:\n  - {name: big_posix, condition: size >= 20}\n  - {name: "
                               "rest_posix, condition: size < 20}\n";
    struct view_request hlm = {.preset = "own", .table = STA_VIEW_HLM};
    struct view_request big = {.preset = "own", .table = STA_VIEW_MAIN, .layer = "big_posix"};
    expect_own(yaml, &hlm, "proc_name func_name count size",
               "app#n#1#1 read 2 50|app#n#1#1 write 1 30|app#n#2#1 read 1 20|");
    expect_own(yaml, &big, "proc_name count size", "app#n#1#1 2 70|app#n#2#1 1 20|");
}

Test(compatible_results, additional_metrics_need_a_denominator)
{
    static const char yaml[] = "extends: posix\nadditional:\n"
                               "  written: posix_write_size_sum / (posix_read_size_sum + {epsilon})\n"
                               "  seeks: posix_count_sum / (posix_seek_count_sum + {epsilon})\n"
                               "  plain_pct: posix_{T} * 0 + 0.6\n";
    struct view_request request = {.preset = "own", .table = STA_VIEW_FLAT, .by = "proc_name"};
    expect_own(yaml, &request, "written seeks plain_pct plain_pct_score",
               "0.599999999988 - 0.6 3|- - 0.6 3|");
    expect_own("extends: posix\nadditional: {x: posix_nothing * 2}\n", &request, "x",
               "additional metric x: unknown column 'posix_nothing'");
}

/* ---- mistakes and limits */

static void expect_mistake(const struct view_request *request, int status, const char *parameter,
                           const char *part)
{
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, readers);
    struct view_result result = run_view(trace.snapshot, presets, request);
    cr_expect_eq(result.status, status, "%s", result.err.text);
    cr_expect_str_eq(result.err.parameter, parameter);
    cr_expect_not_null(strstr(result.err.text, part), "%s", result.err.text);
    cr_expect_null(result.table.columns);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

Test(compatible_results, mistakes_name_what_is_allowed)
{
    expect_mistake(&(struct view_request){.table = STA_VIEW_MAIN, .layer = "posx"}, STA_EINPUT, "/layer",
                   "no layer \"posx\" here; allowed: posix");
    expect_mistake(&(struct view_request){.table = STA_VIEW_FLAT, .by = "file_dir"}, STA_EINPUT, "/by",
                   "allowed: proc_name, host_name, proc_id, thread_id");
    expect_mistake(
        &(struct view_request){
            .table = STA_VIEW_FLAT, .by = "file_dirs", .views = {"file_name", "time_range"}},
        STA_EINPUT, "/by",
        "allowed: file_name, proc_name, time_range, file_dir, file_pattern, host_name, proc_id, thread_id");
    expect_mistake(&(struct view_request){.table = STA_VIEW_HLM, .views = {"cat"}}, STA_EINPUT, "/views",
                   "no view type \"cat\" here; allowed: file_name, proc_name, time_range");
    expect_mistake(&(struct view_request){.table = STA_VIEW_FLAT, .by = "proc_name", .granularity_us = -1},
                   STA_EINPUT, "/granularity", "from 1 microsecond");
}

Test(compatible_results, memory_is_limited)
{
    expect_mistake(&(struct view_request){.table = STA_VIEW_HLM, .memory = 1000}, STA_ELIMIT, "",
                   "query_memory");
}

Test(compatible_results, bins_without_events_take_no_memory)
{
    struct view_request request = {.table = STA_VIEW_HLM,
                                   .granularity_us = 1, /* of a second: a million bins */
                                   .memory = 1 << 20};
    expect_view(readers, &request, "proc_name func_name count time_range",
                "app#n#1#1 read 2 [0, 1000000]|app#n#1#1 write 1 [0]|app#n#2#1 read 1 [0]|");
    request.views[0] = "time_range";
    expect_view(readers, &request, "proc_name time_range func_name count",
                "app#n#1#1 0 read 1|app#n#1#1 0 write 1|app#n#1#1 1000000 read 1|app#n#2#1 0 read 1|");
}

Test(compatible_results, a_trace_without_events_of_the_layers_gives_headers)
{
    struct view_request request = {.preset = "ai",
                                   .table = STA_VIEW_LAYER,
                                   .layer = "comm",
                                   .by = "time_range",
                                   .views = {"time_range"}};
    expect_view(readers, &request, "time_range count_sum", "");
    request.table = STA_VIEW_MAIN;
    expect_view(readers, &request, NULL, "proc_name time_range count ops time");
}

/* ---- workers, memory, cancellation */

static const enum sta_view_table tables[] = {STA_VIEW_HLM, STA_VIEW_MAIN, STA_VIEW_LAYER, STA_VIEW_FLAT,
                                             STA_VIEW_SUMMARY};

/* A table of a real trace, by time. */
static struct view_request ask_of_real(enum sta_view_table table)
{
    return (struct view_request){
        .preset = "dlio",
        .table = table,
        .layer = table == STA_VIEW_MAIN || table == STA_VIEW_LAYER ? "reader_posix_lustre" : NULL,
        .by = "time_range",
        .views = {"time_range"},
        .quantiles = true};
}

static char *show_real(const struct decoded_trace *trace, const struct sta_presets *presets,
                       const struct view_request *request)
{
    struct view_result result = run_view(trace->snapshot, presets, request);
    cr_assert_eq(result.status, 0, "%s", result.err.text);
    char *text = show_all(&result.table);
    sta_table_fini(&result.table);
    return text;
}

Test(compatible_results, nothing_depends_on_workers_and_memory)
{
    char folder[] = "/tmp/strata-spill-XXXXXX";
    struct sta_error err = STA_ERROR_INIT;
    struct decoded_trace trace;
    if (!decoded_trace_open(&trace, "unet3d-v100")) {
        cr_skip_test("needs shared: the traces are not there");
        return;
    }
    struct sta_presets *presets = load_built_in(NULL);
    cr_assert_not_null(mkdtemp(folder));
    for (size_t t = 0; t < STA_COUNT_OF(tables); t++) {
        struct view_request request = ask_of_real(tables[t]);
        char *plain = show_real(&trace, presets, &request);
        /* The folder is made when something is spilled. */
        char *spill = sta_sprintf("%s/%zu", folder, t);
        request.spill_folder = spill;
        for (request.workers = 1; request.workers <= 5; request.workers += 2) {
            request.memory = (size_t)4 << 20;
            char *text = show_real(&trace, presets, &request);
            cr_expect_str_eq(text, plain, "table %zu with %u workers", t, request.workers);
            free(text);
        }
        cr_expect_eq(access(spill, F_OK), 0, "table %zu was not spilled", t);
        free(spill);
        free(plain);
    }
    cr_assert_eq(sta_tree_remove(folder, &err), 0);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

Test(compatible_results, every_table_can_be_cancelled)
{
    static const _Atomic bool cancel = true;
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, readers);
    for (size_t t = 0; t < STA_COUNT_OF(tables); t++) {
        struct view_request request = {
            .table = tables[t], .layer = "posix", .by = "proc_name", .cancel = &cancel};
        cr_expect_eq(run_view(trace.snapshot, presets, &request).status, STA_ECANCELLED, "table %zu", t);
    }
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}
