/* Which preset fits a trace: the first whose tell-tale layer takes an event, else the one made from the
 * trace's categories.
 *
 * Most such layers are known by the names of their functions, which few blocks have, and no block of most
 * traces: so the names that the condition admits are found first, and blocks without any of them are not
 * read. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/class_counts.h"
#include "analyse/layers/classify_private.h"
#include "common/buffer.h"
#include "common/account.h"
#include "common/memory.h"

/* A preset of nothing but the layer that tells, borrowed from the whole one. */
static struct sta_preset only_layer(const struct sta_preset *preset, struct sta_layer *only)
{
    struct sta_preset bare = *preset;
    for (size_t i = 0; i < preset->layer_count; i++) {
        if (strcmp(preset->layers[i].name, preset->detect_layer) == 0)
            *only = preset->layers[i];
    }
    only->metric_count = 0;
    bare.layers = only;
    bare.layer_count = 1;
    return bare;
}

/* ---- blocks that cannot matter */

struct admitted {
    const struct sta_snapshot *snapshot;
    uint8_t *names; /* by code + 1, so that a missing one has the entry 0; NULL: the condition asks nothing of
                       names */
    bool any;
};

/* What the condition of layer 0 asks of func_name alone, or NULL. */
static const struct sta_predicate *predicate_on_name(const struct sta_classes *classes)
{
    uint32_t condition = classes->bits[0].condition;
    size_t count = 0;
    const struct sta_predicate *predicates =
        condition != STA_NO_CONDITION
            ? sta_expression_predicates(classes->conditions[condition].open.expression, &count)
            : NULL;
    for (size_t i = 0; i < count; i++) {
        if (predicates[i].column == STA_LOGICAL_func_name && predicates[i].kind == STA_PREDICATE_TEXT)
            return &predicates[i];
    }
    return NULL;
}

static int find_admitted(const struct sta_columns *columns, const struct sta_classes *classes,
                         struct admitted *admitted, struct sta_error *err)
{
    const struct sta_dictionary *names = sta_columns_texts(columns, STA_LOGICAL_func_name);
    const struct sta_predicate *predicate = predicate_on_name(classes);
    *admitted = (struct admitted){.snapshot = sta_columns_snapshot(columns), .any = predicate == NULL};
    if (predicate == NULL)
        return STA_OK;
    uint32_t count = sta_dictionary_count(names);
    admitted->names =
        sta_account_calloc(sta_columns_account(columns), (size_t)count + 1, 1, "names of functions", err);
    if (admitted->names == NULL)
        return err->status;
    struct sta_evaluator *evaluator = sta_evaluator_create();
    int status = STA_OK;
    for (uint32_t i = 0; i <= count && status == STA_OK; i++) {
        uint32_t code = i - 1; /* STA_NO_CODE first */
        bool admits = false;
        status = sta_predicate_admits(predicate, evaluator, names, &code, 1, &admits, err);
        admitted->names[i] = admits;
        admitted->any |= admits;
    }
    sta_evaluator_destroy(evaluator);
    return status;
}

static bool cannot_match(void *context, const struct sta_block *block)
{
    const struct admitted *admitted = context;
    struct sta_column_stats stats;
    if (admitted->names == NULL)
        return false;
    sta_block_stats(admitted->snapshot, block, STA_COLUMN_NAME, &stats);
    if (!stats.listed || (stats.missing > 0 && admitted->names[0]))
        return false;
    for (uint32_t i = 0; i < stats.code_count; i++) {
        if (admitted->names[stats.codes[i] + 1])
            return false;
    }
    return true;
}

/* ---- counting */

static uint64_t sum_matches(const struct sta_classes *classes, const struct sta_class_counts *counts)
{
    uint64_t events = 0;
    for (uint32_t code = 0; code < sta_classes_count(classes); code++) {
        struct sta_class class = sta_classes_get(classes, code);
        if (sta_class_has(&class, 0))
            events += sta_class_counts_total(counts, code);
    }
    return events;
}

static int count_layer(const struct sta_columns *columns, struct sta_classes *classes,
                       const struct sta_budget *budget, uint64_t *events, struct sta_error *err)
{
    struct admitted admitted;
    int status = find_admitted(columns, classes, &admitted, err);
    *events = 0;
    if (status == STA_OK && admitted.any) {
        struct sta_class_counts counts;
        status = sta_class_counts_init(&counts, budget, err);
        struct sta_accumulator accumulator = sta_class_counts_accumulator(&counts);
        struct sta_scan scan = {.columns = columns,
                                .classes = classes,
                                .from = INT64_MIN,
                                .to = INT64_MAX,
                                .accumulators = &accumulator,
                                .accumulator_count = 1,
                                .skip = cannot_match,
                                .skip_context = &admitted};
        if (status == STA_OK)
            status = sta_scan_run(&scan, budget, err);
        if (status == STA_OK)
            status = sta_class_counts_finish(&counts, err);
        *events = status == STA_OK ? sum_matches(classes, &counts) : 0;
        sta_class_counts_fini(&counts);
    }
    sta_account_free(sta_columns_account(columns), admitted.names);
    return status;
}

/* How many events the preset's tell-tale layer takes. */
static int count_matches(const struct sta_presets *presets, const struct sta_preset *preset,
                         struct sta_snapshot *snapshot, const struct sta_budget *budget, uint64_t *events,
                         struct sta_error *err)
{
    struct sta_layer only = {0};
    struct sta_preset bare = only_layer(preset, &only);
    struct sta_columns_options options = {.presets = presets, .preset = &bare};
    struct sta_columns *columns = NULL;
    struct sta_classes *classes = NULL;
    int status = sta_columns_create(snapshot, &options, &columns, err);
    if (status == STA_OK)
        status = sta_classes_create(columns, &bare, true, &classes, err);
    if (status == STA_OK)
        status = count_layer(columns, classes, budget, events, err);
    sta_classes_destroy(classes);
    sta_columns_destroy(columns);
    return status;
}

/* "no event matches layer app of dlio or ai or layer posix of posix" */
static char *none_matches(const struct sta_presets *presets)
{
    struct sta_buffer text;
    const char *layer = NULL;
    sta_buffer_init(&text);
    sta_put_text(&text, "no event matches");
    for (size_t i = 0; i < sta_presets_count(presets); i++) {
        const struct sta_preset *preset = sta_presets_at(presets, i);
        if (preset->detect_layer == NULL)
            continue;
        sta_put_text(&text, layer != NULL ? " or" : "");
        if (layer == NULL || strcmp(layer, preset->detect_layer) != 0)
            sta_put_format(&text, " layer %s of", preset->detect_layer);
        sta_put_format(&text, " %s", preset->name);
        layer = preset->detect_layer;
    }
    if (layer == NULL)
        sta_put_text(&text, " any layer: no preset says by which it is detected");
    return sta_buffer_take_text(&text);
}

static const struct sta_preset *fallback(const struct sta_presets *presets)
{
    size_t i = 0;
    while (!sta_presets_at(presets, i)
                ->layers_from_categories) /* the loading of presets made sure that there is one */
        i++;
    return sta_presets_at(presets, i);
}

int sta_preset_choose(const struct sta_presets *presets, struct sta_snapshot *snapshot,
                      const struct sta_budget *budget, const char **name, char **why, struct sta_error *err)
{
    for (size_t i = 0; i < sta_presets_count(presets); i++) {
        const struct sta_preset *preset = sta_presets_at(presets, i);
        uint64_t events;
        if (preset->detect_layer == NULL)
            continue;
        int status = count_matches(presets, preset, snapshot, budget, &events, err);
        if (status != STA_OK)
            return sta_error_wrap(err, "cannot find the preset that fits");
        if (events == 0)
            continue;
        *name = preset->name;
        *why = sta_sprintf("%llu event%s layer %s of %s", (unsigned long long)events,
                           events == 1 ? " matches" : "s match", preset->detect_layer, preset->name);
        return STA_OK;
    }
    *name = fallback(presets)->name;
    *why = none_matches(presets);
    return STA_OK;
}
