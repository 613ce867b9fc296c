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

const struct sta_yaml_node *sta_preset_mapping(struct sta_preset_builder *builder, const char *key)
{
    const struct sta_yaml_node *node = sta_preset_file_value(builder->file, key);
    return sta_check_kind(&node, key, STA_YAML_MAPPING, builder->err) == STA_OK ? node : NULL;
}

/* The value of a key that must be a mapping of the allowed keys; NULL when there is none. */
static const struct sta_yaml_node *mapping_value(struct sta_preset_builder *builder, const char *key,
                                                 const char *const *allowed, size_t count)
{
    const struct sta_yaml_node *node = sta_preset_file_value(builder->file, key);
    if (sta_yaml_is_null(node) || sta_check_keys(node, key, allowed, count, builder->err) != STA_OK)
        return NULL;
    return node;
}

static void check_pattern(const struct sta_yaml_node *node, struct sta_error *err)
{
    char *text = sta_sprintf("func_name.str.contains(r\"%s\")", node->text);
    struct sta_open_condition condition;
    int status =
        strpbrk(node->text, "\"\n") != NULL
            ? sta_fail(err, STA_EINPUT, "a quotation mark or line break must be written \\x22 or \\n")
            : sta_open_condition_parse(text, &sta_standard_schema, &condition, err);
    free(text);
    if (status == STA_OK)
        sta_open_condition_fini(&condition);
    else
        sta_error_wrap(err, "%s:%u: pattern \"%.200s\"", node->path, node->line, node->text);
}

static void build_drop(struct sta_preset_builder *builder)
{
    static const char *const keys[] = {"files", "functions", "patterns"};
    struct sta_preset *preset = builder->preset;
    const struct {
        const char ***texts;
        size_t *count;
    } lists[] = {{&preset->drop_files, &preset->drop_file_count},
                 {&preset->drop_functions, &preset->drop_function_count},
                 {&preset->drop_patterns, &preset->drop_pattern_count}};
    const struct sta_yaml_node *node = mapping_value(builder, "drop", keys, STA_COUNT_OF(keys));
    if (node == NULL)
        return;
    for (size_t i = 0; i < STA_COUNT_OF(lists); i++)
        sta_check_texts(sta_yaml_find(node, keys[i]), keys[i], &preset->memory, lists[i].texts,
                        lists[i].count, builder->err);
    const struct sta_yaml_node *patterns = sta_yaml_find(node, "patterns");
    for (size_t i = 0; !sta_preset_failed(builder) && i < preset->drop_pattern_count; i++)
        check_pattern(patterns->items[i], builder->err);
}

static void build_refinement(struct sta_preset_builder *builder, const struct sta_yaml_node *node)
{
    static const char *const keys[] = {"contains", "append"};
    struct sta_preset *preset = builder->preset;
    const char *texts[STA_COUNT_OF(keys)];
    sta_check_keys(node, "each of refine: files", keys, STA_COUNT_OF(keys), builder->err);
    for (size_t i = 0; i < STA_COUNT_OF(keys); i++) {
        const struct sta_yaml_node *value;
        sta_check_member(node, "each of refine: files", keys[i], &value, builder->err);
        sta_check_text(value, keys[i], &texts[i], builder->err);
    }
    if (!sta_preset_failed(builder))
        preset->refinements[preset->refinement_count++] = (struct sta_refinement){texts[0], texts[1]};
}

static void build_refine(struct sta_preset_builder *builder)
{
    static const char *const keys[] = {"categories", "files"};
    struct sta_preset *preset = builder->preset;
    const struct sta_yaml_node *node = mapping_value(builder, "refine", keys, STA_COUNT_OF(keys));
    if (node == NULL)
        return;
    sta_check_texts(sta_yaml_find(node, "categories"), "categories", &preset->memory,
                    &preset->refine_categories, &preset->refine_category_count, builder->err);
    const struct sta_yaml_node *files = sta_yaml_find(node, "files");
    if (sta_check_kind(&files, "files", STA_YAML_SEQUENCE, builder->err) != STA_OK || files == NULL)
        return;
    if (files->count > STA_REFINEMENT_LIMIT)
        sta_yaml_fail(files, builder->err, "refine: files may hold at most %d rules, not %zu",
                      STA_REFINEMENT_LIMIT, files->count);
    preset->refinements = sta_preset_alloc(builder, files->count, sizeof *preset->refinements);
    for (size_t i = 0; i < files->count && !sta_preset_failed(builder); i++)
        build_refinement(builder, files->items[i]);
}

/* NULL, and a failure, if there is no such layer. */
static const char *layer_name(struct sta_preset_builder *builder, const struct sta_yaml_node *node,
                              const char *key)
{
    const char *text;
    if (sta_check_text(node, key, &text, builder->err) != STA_OK)
        return NULL;
    if (sta_preset_layer(builder->preset, text) != NULL)
        return text;
    sta_yaml_fail(node, builder->err, "%s names \"%.80s\", but %s has no such layer", key, text,
                  builder->file->name);
    return NULL;
}

/* overlap_with, and the layer of detect, which is not inherited: two presets cannot be detected by the same
 * rule. */
static void build_named_layers(struct sta_preset_builder *builder)
{
    const struct sta_yaml_node *overlap = sta_preset_file_value(builder->file, "overlap_with");
    const struct sta_yaml_node *layer, *detect = sta_yaml_find(builder->file->yaml->root, "detect");
    if (!sta_yaml_is_null(overlap))
        builder->preset->overlap_with = layer_name(builder, overlap, "overlap_with");
    sta_preset_note(builder);
    sta_preset_at(builder, "/detect");
    if (sta_yaml_is_null(detect))
        return;
    sta_check_member(detect, "detect", "layer", &layer, builder->err);
    builder->preset->detect_layer = layer_name(builder, layer, "detect: layer");
}

static void build_head(struct sta_preset_builder *builder)
{
    const struct sta_preset_file *file = builder->file;
    struct sta_preset *preset = builder->preset;
    const struct sta_yaml_node *description = sta_yaml_find(file->yaml->root, "description");
    const struct sta_yaml_node *categories = sta_preset_file_value(file, "layers_from_categories");
    preset->name = file->name;
    preset->description = "";
    preset->text = file->text;
    preset->own = file->own;
    preset->rank = file->rank;
    if (description != NULL)
        sta_check_text(description, "description", &preset->description, builder->err);
    if (categories != NULL)
        sta_check_bool(categories, "layers_from_categories", &preset->layers_from_categories, builder->err);
}

/* ---- mistakes */

void sta_preset_at(struct sta_preset_builder *builder, const char *format, ...)
{
    va_list arguments;
    if (sta_preset_failed(builder))
        return;
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

bool sta_preset_note(struct sta_preset_builder *builder)
{
    if (sta_preset_failed(builder) && builder->mistakes != NULL) {
        sta_preset_add_mistake(builder->mistakes, builder->file->yaml->root->path, builder->where,
                               builder->err);
        *builder->err = STA_ERROR_INIT;
    }
    return !sta_preset_failed(builder);
}

/* ---- the whole */

int sta_preset_build(const struct sta_preset_file *file, struct sta_preset **preset,
                     struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    static const struct {
        void (*build)(struct sta_preset_builder *);
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
    bool good = true;
    for (size_t i = 0; i < STA_COUNT_OF(steps) && good; i++) {
        sta_preset_at(&builder, "%s", steps[i].where);
        steps[i].build(&builder);
        good = sta_preset_note(&builder);
    }
    if (good && mistakes != NULL && mistakes->count > 0)
        sta_fail(err, STA_EINPUT, "%s:%u: %s", file->yaml->root->path, mistakes->items[0].line,
                 mistakes->items[0].text);
    if (sta_preset_failed(&builder)) {
        sta_preset_destroy(builder.preset);
        builder.preset = NULL;
    }
    *preset = builder.preset;
    return err->status;
}
