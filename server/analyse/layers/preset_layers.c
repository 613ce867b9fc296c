/* The layers of a preset: names, colours, parents, conditions, derived metrics. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/classify.h"
#include "analyse/layers/conditions.h"
#include "analyse/layers/preset_build.h"
#include "analyse/layers/yaml_checks.h"
#include "analyse/layers/presets.h"
#include "common/memory.h"

/* Notes a condition that reads more than function and category; STA_ELIMIT when there are too many of
 * these. */
static int note_varying(struct sta_preset_builder *builder, const char *text)
{
    for (size_t i = 0; i < builder->varying_count; i++) {
        if (strcmp(builder->varying[i], text) == 0)
            return STA_OK;
    }
    if (builder->varying_count == STA_VARYING_CONDITION_LIMIT)
        return sta_fail(builder->err, STA_ELIMIT,
                        "a preset may have %d different conditions on more than func_name, cat and io_cat",
                        STA_VARYING_CONDITION_LIMIT);
    builder->varying[builder->varying_count++] = text;
    return STA_OK;
}

void sta_preset_check_condition(struct sta_preset_builder *builder, const struct sta_yaml_node *node,
                                const char *key, const char **text)
{
    struct sta_open_condition condition;
    if (sta_check_text(node, key, text, builder->err) != STA_OK)
        return;
    int status = sta_open_condition_parse(*text, &sta_standard_schema, &condition, builder->err);
    if (status == STA_OK) {
        if (!sta_open_condition_is_fixed(&condition))
            status = note_varying(builder, *text);
        sta_open_condition_fini(&condition);
    }
    if (status != STA_OK && builder->err->position < 0)
        sta_error_wrap(builder->err, "%s:%u: %s", node->path, node->line, key);
    else if (status != STA_OK)
        sta_error_wrap(builder->err, "%s:%u: %s, character %lld", node->path, node->line, key,
                       (long long)builder->err->position + 1);
}

/* ---- derived metrics */

static const struct sta_yaml_node *find_metric_set(const struct sta_preset_file *file, const char *name)
{
    for (; file != NULL; file = file->base) {
        const struct sta_yaml_node *sets = sta_yaml_find(file->yaml->root, "metric_sets");
        const struct sta_yaml_node *set =
            sets != NULL && sets->kind == STA_YAML_MAPPING ? sta_yaml_find(sets, name) : NULL;
        if (set != NULL)
            return set;
    }
    return NULL;
}

static void add_metrics(struct sta_preset_builder *builder, struct sta_layer *layer,
                        const struct sta_yaml_node *set)
{
    if (set->kind != STA_YAML_MAPPING) {
        sta_yaml_fail(set, builder->err, "a set of metrics must be a mapping of names to conditions, not %s",
                      sta_yaml_describe(set));
        return;
    }
    layer->metrics = sta_preset_alloc(builder, set->count, sizeof *layer->metrics);
    for (size_t i = 0; i < set->count && sta_preset_note(builder); i++) {
        const char *name, *condition;
        sta_check_name(set->keys[i], "metric", &name, builder->err);
        sta_preset_check_condition(builder, set->items[i], "condition of a metric", &condition);
        if (!sta_preset_failed(builder))
            layer->metrics[layer->metric_count++] = (struct sta_derived_metric){name, condition};
    }
    sta_preset_note(builder);
}

static void build_metrics(struct sta_preset_builder *builder, struct sta_layer *layer,
                          const struct sta_yaml_node *node)
{
    const struct sta_yaml_node *set = node;
    const char *name;
    if (sta_yaml_is_null(node))
        return;
    if (node->kind != STA_YAML_MAPPING) {
        if (sta_check_text(node, "metrics (the name of a metric set, or a mapping)", &name, builder->err) !=
            STA_OK)
            return;
        set = find_metric_set(builder->file, name);
    }
    if (set != NULL)
        add_metrics(builder, layer, set);
    else
        sta_yaml_fail(node, builder->err, "there is no metric set \"%.80s\"", name);
}

/* Sets that no layer names are checked too, so that a mistake in them does not wait for its first use. */
static void check_metric_sets(struct sta_preset_builder *builder)
{
    const struct sta_yaml_node *sets = sta_yaml_find(builder->file->yaml->root, "metric_sets");
    sta_check_kind(&sets, "metric_sets", STA_YAML_MAPPING, builder->err);
    for (size_t i = 0; !sta_preset_failed(builder) && sets != NULL && i < sets->count; i++) {
        struct sta_layer scratch = {0};
        sta_preset_at(builder, "/metric_sets/%s", sets->keys[i]->text);
        add_metrics(builder, &scratch, sets->items[i]);
    }
    builder->varying_count = 0;
}

/* ---- layers */

static bool is_color(const char *text)
{
    return strlen(text) == 7 && text[0] == '#' && strspn(text + 1, "0123456789abcdefABCDEF") == 6;
}

/* A text under @key of a layer, or NULL where it is not given. */
static void optional_text(struct sta_preset_builder *builder, const struct sta_yaml_node *node,
                          const char *key, const char **out)
{
    const struct sta_yaml_node *value = sta_yaml_find(node, key);
    if (!sta_yaml_is_null(value))
        sta_check_text(value, key, out, builder->err);
}

static void build_name(struct sta_preset_builder *builder, struct sta_layer *layer,
                       const struct sta_yaml_node *node)
{
    const struct sta_yaml_node *name;
    const char *text;
    sta_check_member(node, "a layer", "name", &name, builder->err);
    if (sta_check_name(name, "name", &text, builder->err) != STA_OK)
        return;
    layer->name = text;
    for (const struct sta_layer *other = builder->preset->layers; other < layer; other++)
        if (strcmp(other->name, text) == 0)
            sta_yaml_fail(name, builder->err, "there is a layer \"%s\" already", text);
}

static void build_looks(struct sta_preset_builder *builder, struct sta_layer *layer,
                        const struct sta_yaml_node *node)
{
    struct sta_preset *preset = builder->preset;
    layer->label = layer->name;
    optional_text(builder, node, "label", &layer->label);
    optional_text(builder, node, "color", &layer->color);
    if (layer->color == NULL)
        layer->color = sta_palette_color((size_t)(layer - preset->layers), 0, &preset->memory);
    else if (!is_color(layer->color))
        sta_yaml_fail(sta_yaml_find(node, "color"), builder->err,
                      "color must be \"#rrggbb\" in quotes, not \"%.80s\"", layer->color);
}

/* The layer of a number; what is wrong with its condition does not keep its metrics from being looked at. */
static void build_layer(struct sta_preset_builder *builder, const struct sta_yaml_node *node, size_t number)
{
    static const char *const keys[] = {"name", "label", "color", "parent", "condition", "metrics"};
    struct sta_layer *layer = &builder->preset->layers[builder->preset->layer_count++];
    sta_preset_at(builder, "/layers/%zu", number);
    if (sta_check_keys(node, "a layer", keys, STA_COUNT_OF(keys), builder->err) != STA_OK)
        return;
    build_name(builder, layer, node);
    if (sta_preset_failed(builder))
        return;
    build_looks(builder, layer, node);
    optional_text(builder, node, "parent", &layer->parent);
    if (sta_preset_failed(builder))
        return;
    const struct sta_yaml_node *condition = sta_yaml_find(node, "condition");
    sta_preset_at(builder, "/layers/%zu/condition", number);
    if (!sta_yaml_is_null(condition))
        sta_preset_check_condition(builder, condition, "condition", &layer->condition);
    if (!sta_preset_note(builder))
        return;
    sta_preset_at(builder, "/layers/%zu/metrics", number);
    build_metrics(builder, layer, sta_yaml_find(node, "metrics"));
}

/* From a layer up to one without a parent. */
static void check_ancestors(struct sta_preset_builder *builder, const struct sta_yaml_node *layers, size_t at)
{
    const struct sta_preset *preset = builder->preset;
    for (size_t steps = 0; preset->layers[at].parent != NULL && !sta_preset_failed(builder); steps++) {
        const struct sta_yaml_node *parent = sta_yaml_find(layers->items[at], "parent");
        const struct sta_layer *layer = &preset->layers[at], *next = sta_preset_layer(preset, layer->parent);
        if (next == NULL && steps > 0 && builder->mistakes != NULL)
            return; /* said of the layer that names it */
        if (next == NULL)
            sta_yaml_fail(parent, builder->err, "parent \"%.80s\" of layer %s is no layer of this preset",
                          layer->parent, layer->name);
        else if (steps == preset->layer_count)
            sta_yaml_fail(parent, builder->err, "the parents of layer %s go round in a circle", layer->name);
        else
            at = (size_t)(next - preset->layers);
    }
}

static void check_parents(struct sta_preset_builder *builder, const struct sta_yaml_node *layers)
{
    for (size_t i = 0; i < builder->preset->layer_count && !sta_preset_failed(builder); i++) {
        sta_preset_at(builder, "/layers/%zu/parent", i);
        check_ancestors(builder, layers, i);
        sta_preset_note(builder);
    }
}

static void check_amounts(struct sta_preset_builder *builder, const struct sta_yaml_node *layers)
{
    size_t bits = builder->preset->layer_count;
    for (size_t i = 0; i < builder->preset->layer_count; i++)
        bits += builder->preset->layers[i].metric_count;
    if (bits > STA_CLASS_BITS)
        sta_yaml_fail(layers, builder->err,
                      "layers and their metrics are %zu together; at most %d are allowed", bits,
                      STA_CLASS_BITS);
}

static void check_count(const struct sta_preset_builder *builder, const struct sta_yaml_node *layers,
                        size_t count)
{
    const bool from_categories = builder->preset->layers_from_categories;
    if (count > 0 && from_categories)
        sta_yaml_fail(layers, builder->err, "a preset has layers or layers_from_categories, not both");
    else if (count == 0 && !from_categories && !builder->file->template)
        sta_yaml_fail(layers, builder->err,
                      "a preset needs layers, layers_from_categories: true, or template: true");
    else if (count > STA_LAYER_LIMIT)
        sta_yaml_fail(layers, builder->err, "a preset may have %d layers, not %zu", STA_LAYER_LIMIT, count);
}

void sta_preset_build_layers(struct sta_preset_builder *builder)
{
    struct sta_preset *preset = builder->preset;
    check_metric_sets(builder);
    const struct sta_yaml_node *layers = sta_preset_file_value(builder->file, "layers");
    if (sta_check_kind(&layers, "layers", STA_YAML_SEQUENCE, builder->err) != STA_OK)
        return;
    const size_t count = layers != NULL ? layers->count : 0;
    check_count(builder, layers != NULL ? layers : builder->file->yaml->root, count);
    if (sta_preset_failed(builder))
        return;
    sta_preset_at(builder, "/layers");
    preset->layers = sta_preset_alloc(builder, count, sizeof *preset->layers);
    for (size_t i = 0; i < count && !sta_preset_failed(builder); i++) {
        build_layer(builder, layers->items[i], i);
        if (sta_preset_note(builder) &&
            preset->layers[i].name == NULL) /* what is checked next goes by names */
            preset->layers[i].name = "";
    }
    if (count > 0)
        check_parents(builder, layers);
    if (!sta_preset_failed(builder))
        check_amounts(builder, layers);
}
