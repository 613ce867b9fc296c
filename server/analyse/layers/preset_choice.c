/* Which preset fits a trace: the first whose detection layer takes an event, else the one made from the
 * trace's categories.
 *
 * Most such layers are known by the names of their functions, which few events have, and none of most traces:
 * so the layer's condition is the filter of the scan, which leaves out row groups by their zone maps and
 * classifies only the events that pass it. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/class_counts.h"
#include "analyse/layers/classify_private.h"
#include "analyse/layers/presets.h"
#include "common/buffer.h"
#include "common/memory.h"

/* A preset of nothing but its detection layer, borrowed from the whole one. */
static struct sta_preset only_layer(const struct sta_preset *preset, struct sta_layer *only)
{
    struct sta_preset bare = *preset;
    *only = *sta_preset_layer(preset, preset->detect_layer);
    only->metric_count = 0;
    bare.layers = only;
    bare.layer_count = 1;
    return bare;
}

/* ---- counting */

/* What an event of layer 0 must satisfy, as a filter; NULL: nothing, or it speaks of args that the trace does
 * not have. */
static const struct sta_expression *filter_of(const struct sta_classes *classes)
{
    const uint32_t condition = classes->bits[0].condition;
    if (condition == STA_NO_CONDITION || classes->conditions[condition].open.added > 0)
        return NULL;
    return classes->conditions[condition].open.expression;
}

/* How many events the preset's detection layer takes. */
static int count_matches(const struct sta_presets *presets, const struct sta_preset *preset,
                         struct sta_snapshot *snapshot, const struct sta_budget *budget, uint64_t *events,
                         struct sta_error *err)
{
    struct sta_layer only;
    const struct sta_preset bare = only_layer(preset, &only);
    struct sta_class_counts counts = {0};
    struct sta_scan scan = {.from = INT64_MIN, .to = INT64_MAX};
    int status = sta_class_counts_bind(&counts, presets, snapshot, &bare, err);
    if (status == STA_OK) {
        scan.filter = filter_of(counts.classes);
        status = sta_class_counts_run(&counts, scan, false, NULL, budget, err);
    }
    *events = status == STA_OK ? sta_class_counts_of_bit(&counts, counts.classes, 0) : 0;
    sta_class_counts_fini(&counts);
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
