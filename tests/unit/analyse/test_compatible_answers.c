/* Compatible tables: which events they are made of, presets of one's own, mistakes, and that nothing depends
 * on the number of workers. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asked_view.h"
#include "built_in.h"
#include "common/files.h"
#include "common/memory.h"
#include "decoded_trace.h"

/* ---- which events */

Test(compatible_answers, every_event_is_accounted_for)
{
    static const char events[] = EVENT("read", "posix", "1", "0", "1", FILE_("/dev/null"))
        EVENT("NPZReader.next", "reader", "1", "0", "1", "")
            EVENT("read", "posix", "1", "0", "1", FILE_("/home/x"))
                EVENT("nobody", "elsewhere", "1", "1", "1", "") EVENT("fork", "posix", "1", "2", "1", "");
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, events);
    struct asked asked = {.preset = "dlio", .table = STA_VIEW_FLAT, .by = "proc_name"};
    struct answer answer = ask_of(trace.snapshot, presets, &asked);
    cr_expect_eq(fact(&answer, "total_count"), 5);
    cr_expect_eq(fact(&answer, "filtered_by_file"), 1);
    cr_expect_eq(fact(&answer, "filtered_by_function"), 1);
    cr_expect_eq(fact(&answer, "unmatched"), 1);
    cr_expect_eq(fact(&answer, "taken"), 2);
    cr_expect_eq(fact(&answer, "multiple"), 1, "fork is in data_loader_fork and other_posix");
    sta_table_fini(&answer.table);
    asked = (struct asked){.preset = "dlio", .table = STA_VIEW_MAIN, .layer = "data_loader_fork", .from = 2};
    answer = ask_of(trace.snapshot, presets, &asked);
    cr_expect_eq(fact(&answer, "taken"), 1);
    cr_expect_eq(fact(&answer, "filtered"), 0, "outside the window");
    sta_table_fini(&answer.table);
    asked = (struct asked){.preset = "dlio", .table = STA_VIEW_HLM, .no_filters = true};
    answer = ask_of(trace.snapshot, presets, &asked);
    cr_expect_eq(fact(&answer, "filtered"), 0);
    cr_expect_eq(fact(&answer, "taken") + fact(&answer, "unmatched"), 5);
    sta_table_fini(&answer.table);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

Test(compatible_answers, window_and_filter_choose_events)
{
    struct asked window = {
        .table = STA_VIEW_MAIN, .layer = "posix", .views = {"time_range"}, .from = 1, .to = 3.5};
    struct asked filter = {.table = STA_VIEW_MAIN, .layer = "posix", .filter = "size > 15"};
    expect_view(two_reads, &window, "time_range count", "3 1|");
    expect_view(readers, &filter, "proc_name count", "app#n#1#1 2|app#n#2#1 1|");
}

/* ---- presets of one's own */

static void expect_own(const char *yaml, const struct asked *asked, const char *names, const char *wanted)
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
    struct answer answer = ask_of(trace.snapshot, presets, asked);
    char *got = answer.status == 0 ? show(&answer, names) : sta_strdup(answer.err.text);
    cr_expect(strncmp(got, wanted, strlen(wanted)) == 0, "%s", got);
    free(got);
    sta_table_fini(&answer.table);
    decoded_trace_fini(&trace);
    sta_presets_release(presets);
    free(path);
    cr_assert_eq(sta_tree_remove(folder, &err), 0);
}

Test(compatible_answers, views_of_ones_own_become_texts)
{
    static const char yaml[] =
        "extends: posix\nviews:\n  digits: len(proc_name)\n  letter: file_name.str.replace(\"/\", \"\")\n"
        "  both: func_name\n";
    struct asked digits = {.preset = "own", .table = STA_VIEW_LAYER, .layer = "posix", .by = "digits"};
    struct asked letter = {
        .preset = "own", .table = STA_VIEW_LAYER, .layer = "posix", .by = "letter", .views = {"file_name"}};
    struct asked both = {.preset = "own", .table = STA_VIEW_LAYER, .layer = "posix", .by = "both"};
    expect_own(yaml, &digits, "digits count_sum proc_name_nunique", "9 4 2|");
    expect_own(yaml, &letter, "letter count_sum", "a 2|b 1|c 1|");
    expect_own(yaml, &both, "count_sum",
               "there is no view \"both\" here; allowed: proc_name, digits, host_name, proc_id, thread_id");
}

Test(compatible_answers, a_condition_on_values_splits_no_row)
{
    static const char yaml[] = "layers:\n  - {name: big_posix, condition: size >= 20}\n  - {name: "
                               "rest_posix, condition: size < 20}\n";
    struct asked hlm = {.preset = "own", .table = STA_VIEW_HLM};
    struct asked big = {.preset = "own", .table = STA_VIEW_MAIN, .layer = "big_posix"};
    expect_own(yaml, &hlm, "proc_name func_name count size",
               "app#n#1#1 read 2 50|app#n#1#1 write 1 30|app#n#2#1 read 1 20|");
    expect_own(yaml, &big, "proc_name count size", "app#n#1#1 2 70|app#n#2#1 1 20|");
}

Test(compatible_answers, additional_metrics_need_a_denominator)
{
    static const char yaml[] = "extends: posix\nadditional:\n"
                               "  written: posix_write_size_sum / (posix_read_size_sum + {epsilon})\n"
                               "  seeks: posix_count_sum / (posix_seek_count_sum + {epsilon})\n"
                               "  plain_pct: posix_{T} * 0 + 0.6\n";
    struct asked asked = {.preset = "own", .table = STA_VIEW_FLAT, .by = "proc_name"};
    expect_own(yaml, &asked, "written seeks plain_pct plain_pct_score", "0.599999999988 - 0.6 3|- - 0.6 3|");
    expect_own("extends: posix\nadditional: {x: posix_nothing * 2}\n", &asked, "x",
               "additional metric x: unknown column 'posix_nothing'");
}

/* ---- mistakes and limits */

static void expect_mistake(const struct asked *asked, int status, const char *parameter, const char *part)
{
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, readers);
    struct answer answer = ask_of(trace.snapshot, presets, asked);
    cr_expect_eq(answer.status, status, "%s", answer.err.text);
    cr_expect_str_eq(answer.err.parameter, parameter);
    cr_expect_not_null(strstr(answer.err.text, part), "%s", answer.err.text);
    cr_expect_null(answer.table.columns);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

Test(compatible_answers, mistakes_name_what_is_allowed)
{
    expect_mistake(&(struct asked){.table = STA_VIEW_MAIN, .layer = "posx"}, STA_EINPUT, "/layer",
                   "no layer \"posx\" here; allowed: posix");
    expect_mistake(&(struct asked){.table = STA_VIEW_FLAT, .by = "file_dir"}, STA_EINPUT, "/by",
                   "allowed: proc_name, host_name, proc_id, thread_id");
    expect_mistake(
        &(struct asked){.table = STA_VIEW_FLAT, .by = "file_dirs", .views = {"file_name", "time_range"}},
        STA_EINPUT, "/by",
        "allowed: file_name, proc_name, time_range, file_dir, file_pattern, host_name, proc_id, thread_id");
    expect_mistake(&(struct asked){.table = STA_VIEW_HLM, .views = {"cat"}}, STA_EINPUT, "/views",
                   "no view type \"cat\" here; allowed: file_name, proc_name, time_range");
    expect_mistake(&(struct asked){.table = STA_VIEW_FLAT, .by = "proc_name", .granularity_us = -1},
                   STA_EINPUT, "/granularity", "from 1 microsecond");
}

Test(compatible_answers, memory_is_limited)
{
    expect_mistake(&(struct asked){.table = STA_VIEW_HLM, .memory = 1000}, STA_ELIMIT, "", "query_memory");
}

Test(compatible_answers, bins_without_events_take_no_memory)
{
    struct asked asked = {.table = STA_VIEW_HLM,
                          .granularity_us = 1, /* of a second: a million bins */
                          .memory = 1 << 20};
    expect_view(readers, &asked, "proc_name func_name count time_range",
                "app#n#1#1 read 2 [0, 1000000]|app#n#1#1 write 1 [0]|app#n#2#1 read 1 [0]|");
    asked.views[0] = "time_range";
    expect_view(readers, &asked, "proc_name time_range func_name count",
                "app#n#1#1 0 read 1|app#n#1#1 0 write 1|app#n#1#1 1000000 read 1|app#n#2#1 0 read 1|");
}

Test(compatible_answers, a_trace_without_events_of_the_layers_gives_headers)
{
    struct asked asked = {.preset = "ai",
                          .table = STA_VIEW_LAYER,
                          .layer = "comm",
                          .by = "time_range",
                          .views = {"time_range"}};
    expect_view(readers, &asked, "time_range count_sum", "");
    asked.table = STA_VIEW_MAIN;
    expect_view(readers, &asked, NULL, "proc_name time_range count ops time");
}

/* ---- workers, memory, cancellation */

static const enum sta_view_table tables[] = {STA_VIEW_HLM, STA_VIEW_MAIN, STA_VIEW_LAYER, STA_VIEW_FLAT,
                                             STA_VIEW_SUMMARY};

/* A table of a real trace, by time. */
static struct asked ask_of_real(enum sta_view_table table)
{
    return (struct asked){.preset = "dlio",
                          .table = table,
                          .layer = table == STA_VIEW_MAIN || table == STA_VIEW_LAYER ? "reader_posix_lustre"
                                                                                     : NULL,
                          .by = "time_range",
                          .views = {"time_range"},
                          .quantiles = true};
}

static char *show_real(const struct decoded_trace *trace, const struct sta_presets *presets,
                       const struct asked *asked)
{
    struct answer answer = ask_of(trace->snapshot, presets, asked);
    cr_assert_eq(answer.status, 0, "%s", answer.err.text);
    char *text = show_all(&answer.table);
    sta_table_fini(&answer.table);
    return text;
}

Test(compatible_answers, nothing_depends_on_workers_and_memory)
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
        struct asked asked = ask_of_real(tables[t]);
        char *plain = show_real(&trace, presets, &asked);
        /* The folder is made when something is spilled. */
        char *spill = sta_sprintf("%s/%zu", folder, t);
        asked.spill_folder = spill;
        for (asked.workers = 1; asked.workers <= 5; asked.workers += 2) {
            asked.memory = (size_t)4 << 20;
            char *text = show_real(&trace, presets, &asked);
            cr_expect_str_eq(text, plain, "table %zu with %u workers", t, asked.workers);
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

Test(compatible_answers, every_table_can_be_cancelled)
{
    static const _Atomic bool cancel = true;
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, readers);
    for (size_t t = 0; t < STA_COUNT_OF(tables); t++) {
        struct asked asked = {.table = tables[t], .layer = "posix", .by = "proc_name", .cancel = &cancel};
        cr_expect_eq(ask_of(trace.snapshot, presets, &asked).status, STA_ECANCELLED, "table %zu", t);
    }
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}
