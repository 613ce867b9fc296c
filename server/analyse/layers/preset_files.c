/* Preset files: found, read, and tied to what they extend.
 *
 * A file that extends its own name extends the one that it overrides, so that a lab's dlio.yaml can say
 * `extends: dlio`. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyse/layers/preset_files.h"
#include "analyse/layers/yaml_checks.h"
#include "common/files.h"
#include "common/memory.h"
#include "common/number.h"

#define EXTENDS_DEPTH 8

static const char *const preset_keys[] = {
    "template", "description", "extends",     "detect",     "overlap_with",
    "drop",     "refine",      "metric_sets", "layers",     "layers_from_categories",
    "views",    "additional",  "phases",      "attribution"};

/* The name without ".yaml", or 0 when the file is none. */
static size_t stem_length(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && name[0] != '.' && strcmp(name + length - 5, ".yaml") == 0 ? length - 5 : 0;
}

static int is_preset_file(const struct dirent *entry)
{
    return stem_length(entry->d_name) > 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int check_file_name(const char *path, const char *name, size_t length, struct sta_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (strspn(name, letters) < length || length > 64)
        return sta_fail(
            err, STA_EINPUT,
            "%s: a preset's file name must be made of letters, digits, _ and -, at most 64, before .yaml",
            path);
    return STA_OK;
}

/* rank and layer of `detect`; the layer is looked at when the preset is built. */
static int read_detect(struct sta_preset_file *file, struct sta_error *err)
{
    static const char *const keys[] = {"layer", "rank"};
    const struct sta_yaml_node *detect = sta_yaml_find(file->yaml->root, "detect");
    if (sta_yaml_is_null(detect))
        return STA_OK;
    const struct sta_yaml_node *rank;
    const char *text;
    int64_t value;
    sta_check_keys(detect, "detect", keys, STA_COUNT_OF(keys), err);
    sta_check_member(detect, "detect", "rank", &rank, err);
    if (sta_check_text(rank, "rank", &text, err) != STA_OK)
        return err->status;
    if (!sta_parse_int(text, strlen(text), &value) || value < 1 || value > 1000)
        return sta_yaml_fail(rank, err, "rank must be an integer from 1 to 1000, not \"%.80s\"", text);
    file->rank = (unsigned)value;
    return STA_OK;
}

/* Parses what file->text holds; @path names it in messages. */
static int parse_file(struct sta_preset_file *file, const char *path, size_t size, struct sta_error *err)
{
    file->hash = XXH64(file->text, size, XXH64(file->name, strlen(file->name), 0));
    int status = sta_yaml_parse(path, file->text, size, &file->yaml, err);
    if (status == STA_OK)
        status = sta_check_keys(file->yaml->root, "a preset", preset_keys, STA_COUNT_OF(preset_keys), err);
    const struct sta_yaml_node *template =
        status == STA_OK ? sta_yaml_find(file->yaml->root, "template") : NULL;
    if (template != NULL)
        status = sta_check_bool(template, "template", &file->template, err);
    return status == STA_OK ? read_detect(file, err) : status;
}

/* A place for the preset of a file name; @path names it in messages. */
static int new_file(struct sta_preset_files *files, const char *path, const char *name,
                    struct sta_preset_file **file, struct sta_error *err)
{
    size_t length = stem_length(name);
    int status = check_file_name(path, name, length, err);
    if (status == STA_OK && files->count == STA_PRESET_FILES)
        status = sta_fail(err, STA_ELIMIT, "%s: more than %d preset files", path, STA_PRESET_FILES);
    if (status != STA_OK)
        return status;
    STA_GROW(files->items, files->capacity, files->count + 1);
    *file = &files->items[files->count++];
    **file = (struct sta_preset_file){.name = sta_strndup(name, length)};
    return STA_OK;
}

static int add_file(struct sta_preset_files *files, const char *folder, const char *name, bool own,
                    struct sta_error *err)
{
    char *path = sta_path_join(folder, name);
    struct sta_preset_file *file;
    size_t size = 0;
    int status = new_file(files, path, name, &file, err);
    if (status == STA_OK) {
        file->own = own;
        status = sta_file_read(path, STA_YAML_BYTES, &file->text, &size, err);
    }
    if (status == STA_OK)
        status = parse_file(file, path, size, err);
    free(path);
    return status;
}

static int add_change(struct sta_preset_files *files, const struct sta_preset_change *change,
                      struct sta_error *err)
{
    char *name = sta_sprintf("%s.yaml", change->name);
    struct sta_preset_file *file;
    int status = stem_length(name) == 0
                     ? sta_fail(err, STA_EINPUT, "a preset's name must not be empty or begin with a dot")
                     : new_file(files, name, name, &file, err);
    if (status == STA_OK) {
        file->own = file->changed = true;
        file->text = sta_strndup(change->text, change->size);
        status = parse_file(file, name, change->size, err);
    }
    free(name);
    return status;
}

static bool is_replaced(const struct sta_preset_change *change, const char *name, bool own)
{
    size_t length = stem_length(name);
    return own && change != NULL && strlen(change->name) == length &&
           strncmp(change->name, name, length) == 0;
}

static int read_folder(struct sta_preset_files *files, const char *folder, bool own,
                       const struct sta_preset_change *change, struct sta_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_preset_file, by_bytes);
    if (count < 0)
        return sta_fail_errno(err, errno, "cannot read the folder of presets %s", folder);
    int status = STA_OK;
    for (int i = 0; i < count; i++) {
        if (status == STA_OK && !is_replaced(change, entries[i]->d_name, own))
            status = add_file(files, folder, entries[i]->d_name, own, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* The last file of a name that is not @except or what overrides it. */
static const struct sta_preset_file *find_base(const struct sta_preset_files *files, const char *name,
                                               const struct sta_preset_file *except)
{
    size_t i = strcmp(name, except->name) == 0 ? (size_t)(except - files->items) : files->count;
    while (i-- > 0) {
        if (strcmp(files->items[i].name, name) == 0)
            return &files->items[i];
    }
    return NULL;
}

static int tie(const struct sta_preset_files *files, struct sta_preset_file *file, struct sta_error *err)
{
    const struct sta_yaml_node *extends = sta_yaml_find(file->yaml->root, "extends");
    if (sta_yaml_is_null(extends))
        return STA_OK;
    const char *name;
    int status = sta_check_text(extends, "extends", &name, err);
    if (status != STA_OK)
        return status;
    file->base = find_base(files, name, file);
    if (file->base == NULL)
        return sta_yaml_fail(
            extends, err, "extends \"%.80s\", but there is no other preset or template of that name", name);
    return STA_OK;
}

static int check_chain(const struct sta_preset_file *file, struct sta_error *err)
{
    unsigned depth = 0;
    for (const struct sta_preset_file *at = file->base; at != NULL; at = at->base) {
        if (++depth > EXTENDS_DEPTH)
            return sta_yaml_fail(sta_yaml_find(file->yaml->root, "extends"), err,
                                 "extends goes round in a circle or over more than %d files", EXTENDS_DEPTH);
    }
    return STA_OK;
}

int sta_preset_files_read(struct sta_preset_files *files, const char *const *folders, size_t folder_count,
                          const struct sta_preset_change *change, struct sta_error *err)
{
    *files = (struct sta_preset_files){0};
    int status = STA_OK;
    for (size_t i = 0; i < folder_count && status == STA_OK; i++)
        status = read_folder(files, folders[i], i > 0, change, err);
    if (status == STA_OK && change != NULL && change->text != NULL)
        status = add_change(files, change, err);
    for (size_t i = 0; i < files->count && status == STA_OK; i++) {
        struct sta_preset_file *file = &files->items[i];
        for (size_t later = i + 1; later < files->count; later++)
            file->overridden |= strcmp(files->items[later].name, file->name) == 0;
        status = tie(files, file, err);
    }
    for (size_t i = 0; i < files->count && status == STA_OK; i++)
        status = check_chain(&files->items[i], err);
    return status;
}

void sta_preset_files_fini(struct sta_preset_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        sta_yaml_destroy(files->items[i].yaml);
        free(files->items[i].name);
        free(files->items[i].text);
    }
    free(files->items);
}

const struct sta_yaml_node *sta_preset_file_value(const struct sta_preset_file *file, const char *key)
{
    const struct sta_yaml_node *node = NULL;
    for (; node == NULL && file != NULL; file = file->base)
        node = sta_yaml_find(file->yaml->root, key);
    return node;
}
