/* Columns and layers by name, widths of bins. */
#include "analyse/exact/choice.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/layers/presets.h"
#include "common/buffer.h"

static int fail_metric(const char *name, struct sta_error *err)
{
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t i = 0; i < sta_exact_column_count; i++)
        sta_put_format(&names, "%s, ", sta_exact_columns[i].name);
    for (size_t i = 0; i < sta_exact_metric_column_count; i++)
        sta_put_format(&names, "%sM_%s", i > 0 ? ", " : "", sta_exact_metric_columns[i].name);
    sta_put_char(&names, '\0');
    sta_fail_at(err, STA_EINPUT, "/metrics",
                "there is no metric \"%.100s\"; there are %s, M being a derived metric of a layer asked for",
                name, names.data);
    sta_buffer_fini(&names);
    return err->status;
}

static bool find_column(const char *name, struct sta_exact_choice *choice)
{
    size_t c = 0;
    while (c < sta_exact_column_count && strcmp(sta_exact_columns[c].name, name) != 0)
        c++;
    choice->column = c < sta_exact_column_count ? &sta_exact_columns[c] : NULL;
    choice->metric = NULL;
    return choice->column != NULL;
}

static bool find_metric_column(const struct sta_layer *layer, const char *name,
                               struct sta_exact_choice *choice)
{
    for (size_t m = 0; m < layer->metric_count; m++) {
        const char *metric = layer->metrics[m].name;
        size_t length = strlen(metric);
        if (strncmp(name, metric, length) != 0 || name[length] != '_')
            continue;
        for (size_t c = 0; c < sta_exact_metric_column_count; c++) {
            const struct sta_exact_column *column = &sta_exact_metric_columns[c];
            if (strcmp(column->name, name + length + 1) != 0 || !sta_exact_metric_has(metric, column))
                continue;
            *choice = (struct sta_exact_choice){column, metric};
            return true;
        }
    }
    return false;
}

int sta_exact_choose(const struct sta_preset *preset, const bool *layers, const char *name,
                     struct sta_exact_choice *choice, struct sta_error *err)
{
    bool found = find_column(name, choice);
    for (size_t l = 0; !found && l < preset->layer_count; l++)
        found = (layers == NULL || layers[l]) && find_metric_column(&preset->layers[l], name, choice);
    return found ? 0 : fail_metric(name, err);
}

int sta_exact_layer(const struct sta_bound_query *bound, const char *name, uint32_t *layer,
                    struct sta_error *err)
{
    const struct sta_preset *preset = bound->preset;
    *layer = sta_preset_layer_number(preset, name);
    if (*layer != STA_NO_LAYER)
        return 0;
    char *names = sta_join_names(preset->layers, sizeof *preset->layers, preset->layer_count);
    sta_fail_at(err, STA_EINPUT, "/layer", "preset %s has no layer \"%.100s\"; it has %.900s", preset->name,
                name, names);
    free(names);
    return err->status;
}
