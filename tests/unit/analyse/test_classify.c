/* Classes of events: filters, layers, metrics, conditions on single values, layers from categories, the
 * choice of a preset. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/layers/classify.h"
#include "built_in.h"
#include "common/buffer.h"
#include "common/files.h"
#include "common/memory.h"
#include "decoded_trace.h"

#define EVENT(name, cat, args)                                                                               \
    "{\"id\":1,\"name\":\"" name "\",\"cat\":\"" cat                                                         \
    "\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":5,\"ph\":\"X\",\"args\":{" args "}}\n"

/* Everything that is said of each event: fate, then layers with their metrics. */
static char *classify(struct sta_snapshot *snapshot, const struct sta_presets *presets, const char *name,
                      bool filters)
{
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_preset *preset = sta_presets_find(presets, name);
    struct sta_columns_options options = {.presets = presets, .preset = preset};
    struct sta_columns *columns;
    struct sta_classes *classes;
    cr_assert_not_null(preset);
    cr_assert_eq(sta_columns_create(snapshot, &options, &columns, &err), 0, "%s", err.text);
    cr_assert_eq(sta_classes_create(columns, preset, filters, &classes, &err), 0, "%s", err.text);
    struct sta_column_reader *reader = sta_column_reader_create(columns);
    struct sta_classifier *classifier = sta_classifier_create(classes, reader);
    uint32_t *codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *codes);
    const struct sta_row_group *row_group = sta_snapshot_row_group(snapshot, 0);
    for (int again = 0; again < 2; again++) { /* the second time all combinations are known */
        sta_column_reader_seek(reader, row_group);
        cr_assert_eq(sta_classifier_run(classifier, NULL, row_group->rows, codes, &err), 0, "%s", err.text);
    }
    for (uint32_t row = 0; row < row_group->rows; row++) { /* alone it is of the same class */
        uint32_t *alone = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *alone);
        cr_assert_eq(sta_classifier_run(classifier, &row, 1, alone, &err), 0, "%s", err.text);
        cr_expect_eq(alone[row], codes[row], "row %u", row);
        free(alone);
    }
    struct sta_buffer out;
    sta_buffer_init(&out);
    preset = sta_classes_preset(classes);
    for (uint32_t row = 0; row < row_group->rows; row++) {
        struct sta_class class = sta_classes_get(classes, codes[row]);
        sta_put_text(&out, class.fate == STA_FATE_FILE       ? "file"
                           : class.fate == STA_FATE_FUNCTION ? "function"
                                                             : "kept");
        for (size_t l = 0; l < preset->layer_count; l++) {
            if (sta_class_has(&class, l))
                sta_put_format(&out, " %s", preset->layers[l].name);
            for (size_t m = 0; m < preset->layers[l].metric_count; m++) {
                if (sta_class_has(&class, sta_classes_metric_bit(classes, l, m)))
                    sta_put_format(&out, ".%s", preset->layers[l].metrics[m].name);
            }
        }
        sta_put_char(&out, '\n');
    }
    free(codes);
    sta_classifier_destroy(classifier);
    sta_column_reader_destroy(reader);
    sta_classes_destroy(classes);
    sta_columns_destroy(columns);
    return sta_buffer_take_text(&out);
}

static void expect_classes(const char *text, const struct sta_presets *presets, const char *preset,
                           bool filters, const char *wanted)
{
    struct decoded_trace trace;
    decoded_trace_init(&trace, text);
    char *got = classify(trace.snapshot, presets, preset, filters);
    cr_expect_str_eq(got, wanted, "%s:\n%s\nnot\n%s", preset, got, wanted);
    free(got);
    decoded_trace_fini(&trace);
}

static const char dlio_events[] = EVENT("DLIOBenchmark.run", "dlio_benchmark", "")
    EVENT("DLIOBenchmark._train", "dlio_benchmark", "") EVENT("TorchFramework.compute", "AI_FRAMEWORK", "")
        EVENT("loop.iter", "data_loader", "") EVENT("TorchDataset.__getitem__", "data_loader", "")
            EVENT("fork", "posix", "") EVENT("NPZReader.open", "reader", "")
                EVENT("read", "posix", "\"fname\":\"/lustre/data/1.npz\"")
                    EVENT("opendir", "posix", "\"fname\":\"/lustre/data\"")
                        EVENT("fopen", "stdio", "\"fname\":\"/lustre/checkpoint/1\"")
                            EVENT("fsync", "posix", "\"fname\":\"/ssd/checkpoint/1\"")
                                EVENT("close", "posix", "") EVENT("read", "posix", "\"fname\":\"/proc/self\"")
                                    EVENT("NPZReader.next", "reader", "")
                                        EVENT("PyTorchCheckpointing.save_state", "checkpoint", "")
                                            EVENT("NPZReader.next", "reader", "\"fname\":\"/usr/lib/x\"")
                                                EVENT("x", "other", "\"fname\":\"/data/x\"");

Test(classify, dlio_layers_metrics_and_filters)
{
    struct sta_presets *presets = load_built_in(NULL);
    static const char kept[] =
        "kept app\nkept training\nkept compute\nkept fetch_data\nkept data_loader.item\n"
        "kept data_loader_fork other_posix\nkept reader.open\n"
        "kept reader_posix_lustre.data.read\nkept reader_posix_lustre.metadata\n"
        "kept checkpoint_posix_lustre.metadata.open\nkept checkpoint_posix_ssd.sync\n"
        "kept other_posix.metadata.close\n";
    char *with = sta_sprintf("%s%s", kept, "file\nfunction\nfunction\nfile\nkept\n");
    char *without = sta_sprintf(
        "%s%s", kept, "kept other_posix.data.read\nkept reader\nkept checkpoint\nkept reader\nkept\n");
    expect_classes(dlio_events, presets, "dlio", true, with);
    expect_classes(dlio_events, presets, "dlio", false, without);
    free(with);
    free(without);
    sta_presets_release(presets);
}

Test(classify, conditions_on_single_values_join_the_class)
{
    struct sta_error err = STA_ERROR_INIT;
    char folder[] = "/tmp/strata-classify-XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    char *path = sta_path_join(folder, "mine.yaml");
    FILE *file = fopen(path, "w");
    fputs("layers:\n"
          "  - name: big\n    condition: size > 100\n    metrics: {data: file_name.str.endswith(\".npz\")}\n"
          "  - name: deep\n    condition: args.depth >= 3 | args.nowhere == \"x\"\n"
          "  - name: both\n    condition: size > 100 & cat == \"POSIX\"\n"
          "  - name: shallow\n    condition: ~(args.depth >= 3)\n",
          file);
    fclose(file);
    struct sta_presets *presets = load_built_in(folder);
    expect_classes(EVENT("read", "posix", "\"ret\":101,\"fname\":\"/a.npz\"")
                       EVENT("read", "posix", "\"ret\":100,\"depth\":3")
                           EVENT("read", "stdio", "\"ret\":200,\"depth\":2,\"fname\":\"/b\"")
                               EVENT("read", "posix", "\"ret\":500,\"depth\":9,\"fname\":\"/c.npz\"")
                                   EVENT("read", "posix", "\"ret\":102,\"fname\":\"/a.npz\""),
                   presets, "mine", true,
                   "kept big.data both shallow\nkept deep\nkept big shallow\nkept big.data deep both\nkept "
                   "big.data both shallow\n");
    expect_classes(EVENT("read", "posix", "\"ret\":5"), presets, "mine", true, "kept shallow\n");
    sta_presets_release(presets);
    cr_assert_eq(sta_tree_remove(folder, &err), 0, "%s", err.text);
    free(path);
}

Test(classify, a_condition_that_does_not_fit_the_trace_names_its_layer)
{
    struct sta_error err = STA_ERROR_INIT;
    struct decoded_trace trace;
    char folder[] = "/tmp/strata-classify-XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    char *path = sta_path_join(folder, "mine.yaml");
    FILE *file = fopen(path, "w");
    fputs("layers:\n  - name: deep\n    condition: args.depth > 3\n", file);
    fclose(file);
    struct sta_presets *presets = load_built_in(folder);
    const struct sta_preset *mine = sta_presets_find(presets, "mine");
    decoded_trace_init(&trace, EVENT("a", "b", "\"depth\":\"far\""));
    struct sta_columns_options options = {.presets = presets, .preset = mine};
    struct sta_columns *columns;
    struct sta_classes *classes;
    cr_assert_eq(sta_columns_create(trace.snapshot, &options, &columns, &err), 0, "%s", err.text);
    cr_assert_eq(sta_classes_create(columns, mine, true, &classes, &err), STA_EINPUT);
    cr_expect_not_null(strstr(err.text, "preset mine: layer deep: \"args.depth > 3\": "), "%s", err.text);
    sta_columns_destroy(columns);
    decoded_trace_fini(&trace);
    sta_presets_release(presets);
    cr_assert_eq(sta_tree_remove(folder, &err), 0, "%s", err.text);
    free(path);
}

Test(classify, categories_with_dots_nest)
{
    struct sta_presets *presets = load_built_in(NULL);
    expect_classes(EVENT("a", "ai.data.io", "") EVENT("a", "ai", "") EVENT("a", "AI.data", "")
                       EVENT("a", "ai-x", "") EVENT("a", "posix", "\"fname\":\"/proc/x\"")
                           EVENT("DLIOBenchmark.__init__", "app", "") EVENT("a", "", "")
                               EVENT("a", "we\\\"ird\\\\", ""),
                   presets, "generic", true,
                   "kept app_2 ai ai.data ai.data.io\nkept app_2 ai\nkept app_2 ai ai.data\nkept app_2 ai-x\n"
                   "kept app_2 posix\nkept app_2 app\nkept app_2\nkept app_2 we\"ird\\\n");
    sta_presets_release(presets);
}

Test(classify, layers_from_categories_are_a_bounded_tree)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_presets *presets = load_built_in(NULL);
    struct sta_buffer text;
    struct decoded_trace trace;
    sta_buffer_init(&text);
    for (int i = 0; i < 300; i++)
        sta_put_format(&text, "{\"name\":\"a\",\"cat\":\"c%03d.x\",\"ts\":1,\"dur\":5,\"ph\":\"X\"}\n", i);
    char *lines = sta_buffer_take_text(&text);
    decoded_trace_init(&trace, lines);
    const struct sta_preset *generic = sta_presets_find(presets, "generic");
    struct sta_columns_options options = {.presets = presets, .preset = generic};
    struct sta_columns *columns;
    struct sta_classes *classes;
    cr_assert_eq(sta_columns_create(trace.snapshot, &options, &columns, &err), 0, "%s", err.text);
    cr_assert_eq(sta_classes_create(columns, generic, true, &classes, &err), 0, "%s", err.text);
    const struct sta_preset *bound = sta_classes_preset(classes);
    cr_expect_eq(bound->layer_count, 256);
    cr_expect_str_eq(bound->layers[0].name, "app");
    cr_expect_str_eq(bound->layers[1].name, "c000");
    cr_expect_str_eq(bound->layers[1].parent, "app");
    cr_expect_str_eq(bound->layers[255].name, "c254");
    cr_expect_not_null(strstr(bound->description, "; 345 further categories have no layer of their own"),
                       "%s", bound->description);
    sta_classes_destroy(classes);
    sta_columns_destroy(columns);
    decoded_trace_fini(&trace);
    free(lines);
    sta_presets_release(presets);
}

/* ---- which preset, and the report */

static void expect_choice(const char *text, const char *preset, const char *reason)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = {.workers = 2, .memory = 1 << 26};
    struct sta_presets *presets = load_built_in(NULL);
    struct decoded_trace trace;
    const char *name;
    char *why;
    decoded_trace_init(&trace, text);
    cr_assert_eq(sta_preset_choose(presets, trace.snapshot, &budget, &name, &why, &err), 0, "%s", err.text);
    cr_expect_str_eq(name, preset);
    cr_expect_str_eq(why, reason);
    free(why);
    decoded_trace_fini(&trace);
    sta_presets_release(presets);
}

Test(choice, the_first_preset_whose_layer_takes_an_event)
{
    expect_choice(dlio_events, "dlio", "1 event matches layer app of dlio");
    expect_choice(EVENT("ai_root", "ai", "") EVENT("ai_root", "ai", "") EVENT("read", "posix", ""), "ai",
                  "2 events match layer app of ai");
    expect_choice(EVENT("read", "posix", "") EVENT("x", "y", ""), "posix",
                  "1 event matches layer posix of posix");
    expect_choice(EVENT("read", "posix", "\"fname\":\"/proc/x\""), "generic",
                  "no event matches layer app of dlio or ai or layer posix of posix");
}

Test(report, events_are_accounted_for_and_unknown_functions_named)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = {.workers = 3, .memory = 1 << 26};
    struct sta_presets *presets = load_built_in(NULL);
    struct decoded_trace trace;
    struct sta_content_report report;
    char *text = sta_sprintf("%s%s", dlio_events,
                             EVENT("pread64", "posix", "") EVENT("vfork", "posix", "")
                                 EVENT("pread64", "stdio", "") EVENT("acos", "posix", ""));
    decoded_trace_init(&trace, text);
    cr_assert_eq(sta_content_report(presets, trace.snapshot, &budget, &report, &err), 0, "%s", err.text);
    cr_assert_eq(report.preset_count, 5);
    for (size_t i = 0; i < 4; i++) {
        const struct sta_preset_ledger *ledger = &report.presets[i];
        cr_expect_str_eq(ledger->preset, sta_presets_at(presets, i)->name);
        cr_expect_eq(ledger->kept, i < 3 ? 17 : 21);
        cr_expect_eq(ledger->dropped_by_file, i < 3 ? 2 : 0);
        cr_expect_eq(ledger->dropped_by_function, i < 3 ? 2 : 0);
    }
    cr_assert_eq(report.unclassified_count, 3);
    cr_expect_str_eq(report.unclassified[0].function, "pread64");
    cr_expect_eq(report.unclassified[0].count, 2);
    cr_expect_str_eq(report.unclassified[1].function, "acos");
    cr_expect_str_eq(report.unclassified[2].function, "vfork");
    sta_content_report_fini(&report);
    decoded_trace_fini(&trace);
    sta_presets_release(presets);
    free(text);
}

Test(classify, a_trace_without_categories_has_the_outermost_layer_only)
{
    struct sta_presets *presets = load_built_in(NULL);
    expect_classes("{\"name\":\"a\",\"ts\":1,\"dur\":5,\"ph\":\"X\"}\n", presets, "generic", true,
                   "kept app\n");
    expect_classes("{\"ts\":1,\"dur\":5,\"ph\":\"X\"}\n", presets, "dlio", true, "kept\n");
    sta_presets_release(presets);
}
