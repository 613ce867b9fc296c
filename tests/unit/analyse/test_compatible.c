/* Tables as the reference computes them: its quirks one by one, on traces of a few lines.  The stored tables
 * of real traces are compared by tests/golden. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "view_tables.h"
#include "built_in.h"
#include "decoded_trace.h"

/* ---- high-level metrics */

Test(compatible, hlm_sums_groups)
{
    struct view_request request = {.table = STA_VIEW_HLM, .views = {"time_range"}};
    expect_view(two_reads, &request,
                "proc_name time_range cat io_cat acc_pat func_name time count size size_bin_0_4kib "
                "size_bin_4kib_16kib file_name",
                "app#n#1#1 0 posix 3 0 close - 1 - - - -|"
                "app#n#1#1 0 posix_reader 1 0 read 0.0005 2 8193 1 1 [\"/data/a\", \"/data/b\"]|"
                "app#n#2#1 3 posix_reader 1 0 read 5e-05 1 - - - [\"/data/a\"]|");
}

Test(compatible, hlm_by_file_drops_what_has_none)
{
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, two_reads);
    struct view_request request = {.table = STA_VIEW_HLM, .views = {"file_name"}};
    struct view_result result = run_view(trace.snapshot, presets, &request);
    char *got = show(&result, "file_name proc_name count time_range");
    cr_expect_str_eq(got, "/data/a app#n#1#1 1 [0]|/data/a app#n#2#1 1 [3]|/data/b app#n#1#1 1 [0]|", "%s",
                     got);
    cr_expect_eq(fact(&result, "keyless"), 1);
    free(got);
    sta_table_fini(&result.table);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

Test(compatible, hlm_of_a_layer_holds_its_rows)
{
    static const char events[] = EVENT("DLIOBenchmark.run", "dlio_benchmark", "1", "0", "9", "")
        EVENT("TorchFramework.compute", "ai_framework", "1", "0", "5", "")
            EVENT("nobody", "elsewhere", "1", "0", "7", "");
    struct view_request all = {.preset = "dlio", .table = STA_VIEW_HLM};
    struct view_request one = {.preset = "dlio", .table = STA_VIEW_HLM, .layer = "compute"};
    expect_view(events, &all, "func_name", "TorchFramework.compute|DLIOBenchmark.run|nobody|");
    expect_view(events, &one, "func_name", "TorchFramework.compute|");
}

/* ---- main view */

Test(compatible, main_view_divides)
{
    struct view_request request = {.table = STA_VIEW_MAIN, .layer = "posix", .views = {"time_range"}};
    /* The close took no time: ops of metadata are infinite.  One event without a file: the layer's set is
     * empty, not read's. */
    expect_view(
        two_reads, &request,
        "proc_name time_range time bw intensity ops read_size metadata_count metadata_time metadata_ops "
        "write_time file_name read_file_name write_file_name",
        "app#n#1#1 0 0.0005 16386000.0 0.0003661662394727206 6000.0 8193 1 - inf - [] "
        "[\"/data/a\", \"/data/b\"] []|"
        "app#n#2#1 3 5e-05 - - 20000.0 - - - - - [\"/data/a\"] [\"/data/a\"] []|");
}

Test(compatible, main_view_without_posix_has_no_sizes)
{
    struct view_request request = {.preset = "dlio", .table = STA_VIEW_MAIN, .layer = "compute"};
    expect_view(two_reads, &request, NULL, "proc_name count ops time time_range");
}

/* ---- layer view */

Test(compatible, by_time_a_process_without_the_metric_counts_as_zero)
{
    struct view_request request = {
        .table = STA_VIEW_LAYER, .layer = "posix", .by = "time_range", .views = {"time_range"}};
    expect_view(readers, &request,
                "time_range write_count_min write_count_mean write_count_max write_count_std",
                "0 - 0.5 1 0.7071067811865476|1 - - - -|");
    expect_view(readers, &request, "count_min count_max count_std count_per size_sum read_size_std",
                "1 2 0.7071067811865476 0.75 60 7.0710678118654755|1 1 0.0 0.25 40 0.0|");
}

Test(compatible, by_process_only_its_rows_take_part)
{
    struct view_request request = {
        .table = STA_VIEW_LAYER, .layer = "posix", .by = "proc_name", .views = {"time_range"}};
    /* time_per is of maxima here. */
    expect_view(readers, &request,
                "proc_name write_count_min write_count_mean time_sum time_per time_range_nunique",
                "app#n#1#1 1 1.0 0.00030000000000000003 0.4 2|app#n#2#1 - - 0.0003 0.6 1|");
}

Test(compatible, distinct_files_and_processes)
{
    struct view_request request = {
        .table = STA_VIEW_LAYER, .layer = "posix", .by = "time_range", .views = {"time_range"}};
    expect_view(readers, &request,
                "proc_name_nunique file_name_nunique read_file_name_nunique write_file_name_nunique",
                "2 2 2 1|1 1 1 0|");
}

Test(compatible, of_several_rows_of_a_process_the_joined_names_count)
{
    /* By time, process 1 comes to "/a/b" and process 2 to "/a" and "/b", joined: one distinct value
     * (quirk). */
    static const char joined[] = EVENT("read", "posix", "1", "0", "1", FILE_("/a/b"))
        EVENT("read", "posix", "2", "0", "1", FILE_("/b")) EVENT("read", "posix", "2", "0", "1", FILE_("/a"));
    struct view_request request = {
        .table = STA_VIEW_LAYER, .layer = "posix", .by = "time_range", .views = {"time_range", "file_name"}};
    expect_view(joined, &request, "file_name_nunique proc_name_nunique", "1 2|");
    /* By host, process 1 in bins 1 and 2 and process 2 in bin 3 come to the same sum of bins. */
    static const char added[] = EVENT("x", "posix", "9", "0", "1", "") EVENT("x", "posix", "1", "1", "1", "")
        EVENT("x", "posix", "1", "2", "1", "") EVENT("x", "posix", "2", "3", "1", "");
    request = (struct view_request){
        .table = STA_VIEW_LAYER, .layer = "posix", .by = "host_name", .views = {"time_range"}};
    expect_view(added, &request, "host_name time_range_nunique proc_name_nunique host_name_nunique",
                "n 2 3 1|");
}

Test(compatible, a_metric_of_calls_without_time_ranks_as_slope_zero)
{
    /* Writes of process 2 took no time: no slope, yet a rank below that of process 1. */
    static const char events[] =
        EVENT("write", "posix", "1", "0", "5", "") EVENT("write", "posix", "2", "0", "0", "");
    struct view_request request = {.table = STA_VIEW_LAYER, .layer = "posix", .by = "proc_name"};
    expect_view(events, &request, "write_ops_slope write_ops_pct ops_slope ops_pct",
                "2.0 1.0 2.0 1.0|- 0.5 - -|");
}

Test(compatible, columns_of_a_layer_view_are_in_order)
{
    struct view_request request = {
        .preset = "dlio", .table = STA_VIEW_LAYER, .layer = "app", .by = "file_dir", .views = {"file_name"}};
    expect_view(
        two_reads, &request, NULL,
        "file_dir count_max count_mean count_min count_per count_std count_sum ops_max ops_mean ops_min "
        "ops_pct "
        "ops_slope ops_std ops_sum time_max time_mean time_min time_per time_std time_sum file_dir_nunique "
        "proc_name_nunique time_range_nunique");
}

Test(compatible, quantiles_are_lists)
{
    struct view_request request = {.table = STA_VIEW_LAYER,
                                   .layer = "posix",
                                   .by = "proc_name",
                                   .views = {"time_range"},
                                   .quantiles = true};
    expect_view(readers, &request, "count_q25_q75_stats write_size_q1_q99_stats",
                "[null, null, null] [30.0, 0.0, 1]|[1.0, 0.0, 1] [null, null, null]|");
}

/* ---- flat view */

#define RUN(pid, seconds, dur) EVENT("DLIOBenchmark.run", "dlio_benchmark", pid, seconds, dur, "")
#define COMPUTE(pid, seconds, dur) EVENT("TorchFramework.compute", "ai_framework", pid, seconds, dur, "")
#define FETCH(pid, seconds, dur) EVENT("loop.iter", "data_loader", pid, seconds, dur, "")
#define TRAIN(pid, seconds, dur) EVENT("DLIOBenchmark._train", "dlio_benchmark", pid, seconds, dur, "")

static const char training[] = RUN("1", "0", "1000") TRAIN("1", "0", "900") COMPUTE("1", "0", "600")
    FETCH("1", "0", "100") FETCH("1", "1", "400") RUN("2", "0", "800");

Test(compatible, flat_view_joins_layers)
{
    struct view_request request = {
        .preset = "dlio", .table = STA_VIEW_FLAT, .by = "time_range", .views = {"time_range"}};
    expect_view(
        training, &request,
        "time_range app_time_max app_count_sum training_overhead_time_max u_fetch_data_time_max "
        "u_fetch_data_overhead_time_max compute_util compute_util_score fetch_data_util app_time_max_score",
        "0 0.001 2 0.00019999999999999998 0.0 0.0 0.5999994000006 2 0.0999999000001 5|"
        "1 - - - 0.0004 0.0004 - - - -|");
}

Test(compatible, flat_view_by_process_uses_sums)
{
    struct view_request request = {
        .preset = "dlio", .table = STA_VIEW_FLAT, .by = "proc_name", .views = {"time_range"}};
    expect_view(training, &request,
                "proc_name fetch_data_time_sum u_fetch_data_time_sum app_time_sum_score u_app_time_sum",
                "app#n#1#1 0.0005 0.0 3 ?|app#n#2#1 - - 2 ?|");
}

Test(compatible, flat_view_has_no_infinite_numbers)
{
    struct view_request request = {.table = STA_VIEW_FLAT, .by = "proc_name"};
    struct view_request layer = {.table = STA_VIEW_LAYER, .by = "proc_name", .layer = "posix"};
    expect_view(two_reads, &layer, "metadata_ops_max", "inf|-|");
    expect_view(two_reads, &request, "posix_metadata_ops_max", "-|-|");
}

Test(compatible, a_process_without_bytes_of_a_metric_scores_worst)
{
    struct view_request request = {.table = STA_VIEW_FLAT, .by = "proc_name"};
    expect_view(readers, &request,
                "posix_write_intensity_mean_score posix_intensity_mean_score posix_read_intensity_mean",
                "5 5 0.04|5 5 0.05|");
    struct view_request by_host = {.table = STA_VIEW_FLAT, .by = "host_name"};
    expect_view(two_reads, &by_host, "posix_write_intensity_mean_score", "-|");
}

/* ---- summary */

Test(compatible, summary_tells_what_compute_hid)
{
    struct view_request request = {
        .preset = "dlio", .table = STA_VIEW_SUMMARY, .by = "time_range", .views = {"time_range"}};
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, training);
    struct view_result result = run_view(trace.snapshot, presets, &request);
    char *got = show(&result, "name count time u_count u_time overlap num_processes");
    static const char wanted[] = "app 2 0.001 - - - 2|training 1 0.0009 - - - 1|compute 1 0.0006 - - - 1|"
                                 "fetch_data 2 0.0005 1 0.0004 0.19999999999999996 1|";
    cr_expect(strncmp(got, wanted, strlen(wanted)) == 0, "%s", got);
    cr_expect_eq(fact(&result, "layer_count_total"), 6);
    cr_expect_eq(fact(&result, "num_processes"), 2);
    cr_expect_eq(fact(&result, "num_hosts"), 1);
    free(got);
    sta_table_fini(&result.table);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}
