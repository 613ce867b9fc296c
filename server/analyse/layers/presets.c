/* All presets and the function classes of one reading of the configuration; frozen once loaded, so any thread
 * may look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyse/layers/preset_build.h"
#include "analyse/layers/presets.h"
#include "common/files.h"
#include "common/memory.h"

/* ---- loading */

/* Detected ones by rank, then the one that is taken when none is, then by name. */
static int compare_presets(const void *a, const void *b)
{
    const struct sta_preset *x = *(struct sta_preset *const *)a, *y = *(struct sta_preset *const *)b;
    unsigned rank_x = x->rank - 1, rank_y = y->rank - 1; /* 0, not detected, becomes the largest */
    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    if (x->layers_from_categories != y->layers_from_categories)
        return x->layers_from_categories ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int build_all(struct sta_presets *presets, struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    const struct sta_preset_files *files = &presets->files;
    int status = STA_OK;
    presets->items = sta_alloc_array(files->count, sizeof *presets->items);
    for (size_t i = 0; i < files->count && status == STA_OK; i++) {
        const struct sta_preset_file *file = &files->items[i];
        struct sta_preset *preset;
        status = sta_preset_build(file, &preset, file->changed ? mistakes : NULL, err);
        if (status != STA_OK)
            break;
        presets->fingerprint = XXH64(&file->hash, sizeof file->hash, presets->fingerprint);
        if (file->template || file->overridden)
            sta_preset_destroy(preset); /* built only to find its mistakes */
        else
            presets->items[presets->count++] = preset;
    }
    qsort(presets->items, presets->count, sizeof *presets->items, compare_presets);
    return status;
}

static int load_functions(struct sta_presets *presets, const char *path, struct sta_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    struct sta_yaml *yaml = NULL;
    int status = sta_file_read(path, STA_YAML_BYTES, &bytes, &size, err);
    if (status == STA_OK)
        status = sta_yaml_parse(path, bytes, size, &yaml, err);
    if (status == STA_OK)
        status = sta_functions_init(&presets->functions, yaml->root, err);
    if (status == STA_OK)
        presets->fingerprint = XXH64(bytes, size, 0);
    sta_yaml_destroy(yaml);
    free(bytes);
    return status;
}

/* Of a file that cannot even be read as a preset. */
static void note_reading(const struct sta_preset_change *change, const struct sta_preset_files *files,
                         struct sta_preset_mistakes *mistakes, const struct sta_error *err)
{
    if (mistakes == NULL || files->count == 0 || !files->items[files->count - 1].changed)
        return;
    char *path = sta_sprintf("%s.yaml", change->name);
    sta_preset_add_mistake(mistakes, path, "", err);
    free(path);
}

static int load_presets(struct sta_presets *presets, const char *const *folders, size_t folder_count,
                        const struct sta_preset_change *change, struct sta_preset_mistakes *mistakes,
                        struct sta_error *err)
{
    int status = sta_preset_files_read(&presets->files, folders, folder_count, change, err);
    if (status == STA_OK)
        status = build_all(presets, mistakes, err);
    else
        note_reading(change, &presets->files, mistakes, err);
    for (size_t i = 0; i < presets->count && status == STA_OK; i++) {
        if (presets->items[i]->layers_from_categories)
            return STA_OK;
    }
    return status != STA_OK
               ? status
               : sta_fail(
                     err, STA_EINPUT,
                     "%s: no preset has layers_from_categories: true, which traces get that no other fits",
                     folder_count > 0 ? folders[0] : "presets");
}

int sta_presets_load(const char *functions_file, const char *const *folders, size_t folder_count,
                     struct sta_presets **presets, struct sta_error *err)
{
    return sta_presets_try(functions_file, folders, folder_count, NULL, presets, NULL, err);
}

int sta_presets_try(const char *functions_file, const char *const *folders, size_t folder_count,
                    const struct sta_preset_change *change, struct sta_presets **presets,
                    struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    *err = STA_ERROR_INIT; /* checks do nothing after a failure */
    if (mistakes != NULL)
        mistakes->count = 0;
    struct sta_presets *fresh = sta_alloc(sizeof *fresh);
    atomic_init(&fresh->references, 1);
    int status = load_functions(fresh, functions_file, err);
    if (status == STA_OK)
        status = load_presets(fresh, folders, folder_count, change, mistakes, err);
    if (status != STA_OK) {
        sta_presets_release(fresh);
        fresh = NULL;
    }
    *presets = fresh;
    return status;
}

/* ---- lifetime */

uint32_t sta_preset_layer_number(const struct sta_preset *preset, const char *name)
{
    for (uint32_t l = 0; name != NULL && l < preset->layer_count; l++)
        if (strcmp(preset->layers[l].name, name) == 0)
            return l;
    return STA_NO_LAYER;
}

const struct sta_layer *sta_preset_layer(const struct sta_preset *preset, const char *name)
{
    const uint32_t layer = sta_preset_layer_number(preset, name);
    return layer != STA_NO_LAYER ? &preset->layers[layer] : NULL;
}

void sta_preset_destroy(struct sta_preset *preset)
{
    if (preset == NULL)
        return;
    sta_arena_fini(&preset->memory);
    free(preset);
}

struct sta_presets *sta_presets_retain(struct sta_presets *presets)
{
    atomic_fetch_add(&presets->references, 1);
    return presets;
}

void sta_presets_release(struct sta_presets *presets)
{
    if (presets == NULL || atomic_fetch_sub(&presets->references, 1) != 1)
        return;
    for (size_t i = 0; i < presets->count; i++)
        sta_preset_destroy(presets->items[i]);
    free(presets->items);
    sta_preset_files_fini(&presets->files);
    sta_functions_fini(&presets->functions);
    if (presets->rules != NULL)
        presets->destroy_rules(presets->rules);
    free(presets);
}

/* ---- looking */

uint64_t sta_presets_fingerprint(const struct sta_presets *presets)
{
    return presets->fingerprint;
}

size_t sta_presets_count(const struct sta_presets *presets)
{
    return presets->count;
}

const struct sta_preset *sta_presets_at(const struct sta_presets *presets, size_t index)
{
    STA_ASSERT(index < presets->count);
    return presets->items[index];
}

const struct sta_preset *sta_presets_find(const struct sta_presets *presets, const char *name)
{
    for (size_t i = 0; i < presets->count; i++) {
        if (strcmp(presets->items[i]->name, name) == 0)
            return presets->items[i];
    }
    return NULL;
}

char *sta_presets_names(const struct sta_presets *presets)
{
    const char **names = sta_alloc_array(presets->count + 1, sizeof *names);
    for (size_t i = 0; i < presets->count; i++)
        names[i] = presets->items[i]->name;
    char *joined = sta_join_names(names, sizeof *names, presets->count);
    free(names);
    return joined;
}

const struct sta_chain *sta_preset_chain(const struct sta_preset *preset, const char *name)
{
    for (size_t i = 0; i < preset->chain_count; i++)
        if (strcmp(preset->chains[i].name, name) == 0)
            return &preset->chains[i];
    return NULL;
}

enum sta_io_cat sta_presets_io_cat(const struct sta_presets *presets, const char *function, size_t length)
{
    unsigned class = sta_functions_class(&presets->functions, function, length);
    return class == STA_FUNCTION_UNCLASSIFIED ? STA_IO_OTHER : (enum sta_io_cat) class;
}

bool sta_presets_is_io_category(const struct sta_presets *presets, const char *cat, size_t length)
{
    return sta_dictionary_find(presets->functions.categories, cat, length) != STA_NO_CODE;
}

/* ---- colours that differ to any kind of colour vision (after Okabe and Ito, and Tol), dark enough to be
 * lightened with depth */

#define DEEPEST 3 /* lighter than that is too near to white */

static const uint32_t hues[] = {0x005a8c, 0xb34700, 0x00735a, 0x8a3d6b, 0x8f6200,
                                0x3b2f8f, 0x2f7d32, 0x8f1d3f, 0x2b7a9e, 0x6b6b1f};

static unsigned lighten(unsigned channel, unsigned depth)
{
    return channel + (255 - channel) * depth / (DEEPEST + 2);
}

const char *sta_palette_color(size_t index, unsigned depth, struct sta_arena *memory)
{
    char color[sizeof "#rrggbb"];
    uint32_t hue = hues[index % STA_COUNT_OF(hues)];
    depth = STA_MIN(depth, (unsigned)DEEPEST);
    snprintf(color, sizeof color, "#%02x%02x%02x", lighten(hue >> 16 & 255, depth) & 255,
             lighten(hue >> 8 & 255, depth) & 255, lighten(hue & 255, depth) & 255);
    return sta_arena_copy(memory, color, strlen(color));
}
