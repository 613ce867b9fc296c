/* A preset from its file: description, filters, refinement, detection.  Layers and expressions have files of
 * their own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/preset_build.h"
#include "analyse/layers/conditions.h"
#include "analyse/layers/yaml_checks.h"
#include "analyse/layers/presets.h"
#include "common/memory.h"

void *sta_preset_alloc(struct sta_preset_builder *builder, size_t count, size_t size)
{
    void *array = sta_arena_alloc(&builder->preset->memory, count * size, _Alignof(max_align_t));
    return memset(array, 0, count * size);
}

/* The value of a key that must be a mapping of the allowed keys; *node is NULL when there is none. */
static int mapping_value(struct sta_preset_builder *builder, const char *key, const char *const *allowed,
                         size_t count, const struct sta_yaml_node **node, const struct sta_yaml **yaml)
{
    const struct sta_preset_file *owner;
    *node = sta_preset_file_value(builder->file, key, &owner);
    *yaml = owner->yaml;
    if (sta_yaml_is_null(*node)) {
        *node = NULL;
        return STA_OK;
    }
    return sta_check_keys(*yaml, *node, key, allowed, count, builder->err);
}

static int check_pattern(const struct sta_yaml *yaml, const struct sta_yaml_node *node, struct sta_error *err)
{
    char *text = sta_sprintf("func_name.str.contains(r\"%s\")", node->text);
    struct sta_open_condition condition;
    int status =
        strpbrk(node->text, "\"\n") != NULL
            ? sta_fail(err, STA_EINPUT, "a quotation mark or line break must be written \\x22 or \\n")
            : sta_open_condition_parse(text, &sta_standard_schema, &condition, err);
    free(text);
    if (status != STA_OK)
        return sta_error_wrap(err, "%s:%u: pattern \"%.200s\"", yaml->path, node->line, node->text);
    sta_open_condition_fini(&condition);
    return STA_OK;
}

static int build_drop(struct sta_preset_builder *builder)
{
    static const char *const keys[] = {"files", "functions", "patterns"};
    struct sta_preset *preset = builder->preset;
    const struct sta_yaml_node *node;
    const struct sta_yaml *yaml;
    int status = mapping_value(builder, "drop", keys, STA_COUNT_OF(keys), &node, &yaml);
    if (status != STA_OK || node == NULL)
        return status;
    const struct {
        const char ***texts;
        size_t *count;
    } lists[] = {{&preset->drop_files, &preset->drop_file_count},
                 {&preset->drop_functions, &preset->drop_function_count},
                 {&preset->drop_patterns, &preset->drop_pattern_count}};
    for (size_t i = 0; status == STA_OK && i < STA_COUNT_OF(lists); i++)
        status = sta_check_texts(yaml, sta_yaml_find(node, keys[i]), keys[i], &preset->memory, lists[i].texts,
                                 lists[i].count, builder->err);
    const struct sta_yaml_node *patterns = sta_yaml_find(node, "patterns");
    for (size_t i = 0; status == STA_OK && i < preset->drop_pattern_count; i++)
        status = check_pattern(yaml, patterns->items[i], builder->err);
    return status;
}

static int build_refinement(struct sta_preset_builder *builder, const struct sta_yaml *yaml,
                            const struct sta_yaml_node *node)
{
    static const char *const keys[] = {"contains", "append"};
    const char *texts[STA_COUNT_OF(keys)];
    int status = sta_check_keys(yaml, node, "each of refine: files", keys, STA_COUNT_OF(keys), builder->err);
    for (size_t i = 0; i < STA_COUNT_OF(keys) && status == STA_OK; i++) {
        const struct sta_yaml_node *value;
        status = sta_check_member(yaml, node, "each of refine: files", keys[i], &value, builder->err);
        if (status == STA_OK)
            status = sta_check_text(yaml, value, keys[i], &texts[i], builder->err);
    }
    if (status != STA_OK)
        return status;
    struct sta_preset *preset = builder->preset;
    preset->refinements[preset->refinement_count++] = (struct sta_refinement){texts[0], texts[1]};
    return STA_OK;
}

static int build_refine(struct sta_preset_builder *builder)
{
    static const char *const keys[] = {"categories", "files"};
    struct sta_preset *preset = builder->preset;
    const struct sta_yaml_node *node;
    const struct sta_yaml *yaml;
    int status = mapping_value(builder, "refine", keys, STA_COUNT_OF(keys), &node, &yaml);
    if (status != STA_OK || node == NULL)
        return status;
    status = sta_check_texts(yaml, sta_yaml_find(node, "categories"), "categories", &preset->memory,
                             &preset->refine_categories, &preset->refine_category_count, builder->err);
    const struct sta_yaml_node *files = sta_yaml_find(node, "files");
    if (status == STA_OK)
        status = sta_check_kind(yaml, &files, "files", STA_YAML_SEQUENCE, builder->err);
    if (status != STA_OK || files == NULL)
        return status;
    if (files->count > STA_REFINEMENT_LIMIT)
        return sta_yaml_fail(yaml, files, builder->err, "refine: files may hold at most %d rules, not %zu",
                             STA_REFINEMENT_LIMIT, files->count);
    preset->refinements = sta_preset_alloc(builder, files->count, sizeof *preset->refinements);
    for (size_t i = 0; i < files->count && status == STA_OK; i++)
        status = build_refinement(builder, yaml, files->items[i]);
    return status;
}

static int layer_name(struct sta_preset_builder *builder, const struct sta_yaml *yaml,
                      const struct sta_yaml_node *node, const char *key, const char **name)
{
    const char *text;
    int status = sta_check_text(yaml, node, key, &text, builder->err);
    if (status != STA_OK)
        return status;
    if (sta_preset_layer(builder->preset, text) == NULL)
        return sta_yaml_fail(yaml, node, builder->err, "%s names \"%.80s\", but %s has no such layer", key,
                             text, builder->file->name);
    *name = text;
    return STA_OK;
}

/* overlap_with, and the layer of detect, which is not inherited: two presets cannot be detected by the same
 * rule. */
static int build_named_layers(struct sta_preset_builder *builder)
{
    struct sta_preset *preset = builder->preset;
    const struct sta_preset_file *owner;
    const struct sta_yaml_node *overlap = sta_preset_file_value(builder->file, "overlap_with", &owner);
    int status = STA_OK;
    if (!sta_yaml_is_null(overlap))
        status = layer_name(builder, owner->yaml, overlap, "overlap_with", &preset->overlap_with);
    status = sta_preset_note(builder, status);
    sta_preset_at(builder, "/detect");
    const struct sta_yaml_node *detect = sta_yaml_find(builder->file->yaml->root, "detect");
    if (status != STA_OK || sta_yaml_is_null(detect))
        return status;
    const struct sta_yaml_node *layer;
    status = sta_check_member(builder->file->yaml, detect, "detect", "layer", &layer, builder->err);
    return status != STA_OK
               ? status
               : layer_name(builder, builder->file->yaml, layer, "detect: layer", &preset->detect_layer);
}

static int build_head(struct sta_preset_builder *builder)
{
    const struct sta_yaml *yaml = builder->file->yaml;
    const struct sta_yaml_node *description = sta_yaml_find(yaml->root, "description");
    const char *text = "";
    int status =
        description != NULL ? sta_check_text(yaml, description, "description", &text, builder->err) : STA_OK;
    builder->preset->name = builder->file->name;
    builder->preset->description = text;
    builder->preset->text = builder->file->text;
    builder->preset->own = builder->file->own;
    const struct sta_preset_file *owner;
    const struct sta_yaml_node *categories =
        sta_preset_file_value(builder->file, "layers_from_categories", &owner);
    if (status == STA_OK && categories != NULL)
        status = sta_check_bool(owner->yaml, categories, "layers_from_categories",
                                &builder->preset->layers_from_categories, builder->err);
    return status;
}

/* ---- mistakes */

void sta_preset_at(struct sta_preset_builder *builder, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(builder->where, sizeof builder->where, format, arguments);
    va_end(arguments);
}

void sta_preset_add_mistake(struct sta_preset_mistakes *mistakes, const char *path, const char *pointer,
                            const struct sta_error *err)
{
    if (mistakes->count == STA_PRESET_MISTAKES)
        return;
    struct sta_preset_mistake *mistake = &mistakes->items[mistakes->count++];
    const char *text = err->text;
    char *end;
    *mistake = (struct sta_preset_mistake){.position = err->position};
    if (strncmp(text, path, strlen(path)) == 0 && text[strlen(path)] == ':') {
        mistake->line = (unsigned)strtoul(text + strlen(path) + 1, &end, 10);
        text = *end == ':' ? end + 1 + strspn(end + 1, " ") : text;
    }
    snprintf(mistake->pointer, sizeof mistake->pointer, "%s", pointer);
    snprintf(mistake->text, sizeof mistake->text, "%.599s", text);
}

int sta_preset_note(struct sta_preset_builder *builder, int status)
{
    if (status == STA_OK || builder->mistakes == NULL)
        return status;
    sta_preset_add_mistake(builder->mistakes, builder->file->yaml->path, builder->where, builder->err);
    *builder->err = STA_ERROR_INIT;
    return STA_OK;
}

/* ---- the whole */

int sta_preset_build(const struct sta_preset_file *file, struct sta_preset **preset,
                     struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    static const struct {
        int (*build)(struct sta_preset_builder *);
        const char *where;
    } steps[] = {{build_head, ""},
                 {build_drop, "/drop"},
                 {build_refine, "/refine"},
                 {sta_preset_build_layers, "/layers"},
                 {build_named_layers, "/overlap_with"},
                 {sta_preset_build_expressions, "/views"},
                 {sta_preset_build_phases, "/phases"},
                 {sta_preset_build_chains, "/attribution"}};
    struct sta_preset_builder builder = {
        .file = file, .preset = sta_alloc(sizeof **preset), .mistakes = mistakes, .err = err};
    int status = STA_OK;
    for (size_t i = 0; i < STA_COUNT_OF(steps) && status == STA_OK; i++) {
        sta_preset_at(&builder, "%s", steps[i].where);
        status = sta_preset_note(&builder, steps[i].build(&builder));
    }
    if (status == STA_OK && mistakes != NULL && mistakes->count > 0)
        status = sta_fail(err, STA_EINPUT, "%s:%u: %s", file->yaml->path, mistakes->items[0].line,
                          mistakes->items[0].text);
    if (status != STA_OK) {
        sta_preset_destroy(builder.preset);
        builder.preset = NULL;
    }
    *preset = builder.preset;
    return status;
}
