/* The two real traces: what the dlio filters drop, and how many events its layers take. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "analyse/layers/classify.h"
#include "built_in.h"
#include "common/memory.h"
#include "decoded_trace.h"

/* Events by layer, then dropped by file and by function. */
static void count_classes(struct sta_classes *classes, struct sta_column_reader *reader,
                          const struct sta_snapshot *snapshot, uint64_t *layers, uint64_t fates[3])
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_classifier *classifier = sta_classifier_create(classes, reader);
    uint32_t *codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *codes);
    for (size_t b = 0; b < sta_snapshot_row_group_count(snapshot); b++) {
        const struct sta_row_group *row_group = sta_snapshot_row_group(snapshot, b);
        sta_column_reader_seek(reader, row_group);
        cr_assert_eq(sta_classifier_run(classifier, NULL, row_group->rows, codes, &err), 0, "%s", err.text);
        for (uint32_t row = 0; row < row_group->rows; row++) {
            struct sta_class class = sta_classes_get(classes, codes[row]);
            fates[class.fate]++;
            for (uint32_t l = 0; l < sta_classes_preset(classes)->layer_count; l++)
                layers[l] += sta_class_has(&class, l);
        }
    }
    free(codes);
    sta_classifier_destroy(classifier);
}

static void expect_counts(const char *name, const uint64_t wanted_layers[12], const uint64_t wanted_fates[3])
{
    struct decoded_trace trace;
    if (!decoded_trace_open(&trace, name)) {
        cr_skip_test("needs shared: the traces are not there");
        return;
    }
    struct sta_error err = STA_ERROR_INIT;
    struct sta_presets *presets = load_built_in(NULL);
    const struct sta_preset *dlio = sta_presets_find(presets, "dlio");
    struct sta_columns_options options = {.presets = presets, .preset = dlio};
    struct sta_columns *columns;
    struct sta_classes *classes;
    uint64_t layers[12] = {0}, fates[3] = {0};
    cr_assert_eq(sta_columns_create(trace.snapshot, &options, &columns, &err), 0, "%s", err.text);
    cr_assert_eq(sta_classes_create(columns, dlio, true, &classes, &err), 0, "%s", err.text);
    struct sta_column_reader *reader = sta_column_reader_create(columns);
    count_classes(classes, reader, trace.snapshot, layers, fates);
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(fates[i], wanted_fates[i], "fate %zu: %lu", i, (unsigned long)fates[i]);
    for (size_t i = 0; i < 12; i++)
        cr_expect_eq(layers[i], wanted_layers[i], "%s: %lu", dlio->layers[i].name, (unsigned long)layers[i]);
    sta_column_reader_destroy(reader);
    sta_classes_destroy(classes);
    sta_columns_destroy(columns);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

Test(real_traces, v100)
{
    expect_counts("unet3d-v100", (uint64_t[12]){8, 40, 200, 160, 808, 96, 4008, 10432, 8, 45, 0, 96},
                  (uint64_t[3]){17565, 0, 474});
}

Test(real_traces, plain_dialect)
{
    expect_counts("unet3d-plain-dialect", (uint64_t[12]){1, 45, 67, 0, 424, 0, 476, 0, 0, 0, 0, 0},
                  (uint64_t[3]){92951, 0, 943});
}
