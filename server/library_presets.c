/* Presets in force: read from their folders, changed by editors, never half.
 *
 * A change is tried on all presets together before a file is touched, since others may extend the one that
 * changes; then the file is published, and what stands in the folders is read as at the start, so that a
 * restart finds the same. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/log.h"
#include "common/memory.h"
#include "server/ingest.h"
#include "server/library_private.h"
#include "findings/findings.h"

static size_t list_folders(const struct sta_preset_folders *folders, const char *list[2])
{
    list[0] = folders->built_in;
    list[1] = folders->own;
    return access(folders->own, F_OK) == 0 ? 2 : 1;
}

/* Adds the rules, which go by the presets' causes; without them presets are of no use either. */
static int add_rules(const struct sta_preset_folders *folders, struct sta_presets **presets,
                     const struct sta_preset_change *change, struct sta_preset_mistakes *mistakes,
                     struct sta_error *err)
{
    if (folders->rules == NULL)
        return STA_OK;
    int status = sta_presets_add_rules(*presets, folders->rules, folders->own_rules, change, mistakes, err);
    if (status != STA_OK) {
        sta_presets_release(*presets);
        *presets = NULL;
    }
    return status;
}

int sta_preset_folders_read(const struct sta_preset_folders *folders, struct sta_presets **presets,
                            struct sta_error *err)
{
    const char *list[2];
    size_t count = list_folders(folders, list);
    int status = sta_presets_load(folders->functions, list, count, presets, err);
    return status == STA_OK ? add_rules(folders, presets, NULL, NULL, err) : status;
}

/* The file of one's own that a message about presets begins with, or NULL; free() it. */
static char *file_at_fault(const char *own, const struct sta_error *err)
{
    char *folder = sta_path_join(own, "");
    size_t length = strlen(folder);
    const char *end = strncmp(err->text, folder, length) == 0 ? strstr(err->text + length, ".yaml:") : NULL;
    bool is_mistake = err->status == STA_EINPUT || err->status == STA_ELIMIT;
    free(folder);
    return is_mistake && end != NULL ? sta_strndup(err->text, (size_t)(end - err->text) + strlen(".yaml"))
                                     : NULL;
}

static bool quarantine(const struct sta_preset_folders *folders, const struct sta_error *why)
{
    char *file = file_at_fault(folders->own, why);
    if (file == NULL && folders->own_rules != NULL)
        file = file_at_fault(folders->own_rules, why);
    if (file == NULL)
        return false;
    char *aside = sta_sprintf("%s.damaged", file);
    bool renamed = rename(file, aside) == 0;
    if (renamed)
        sta_log(STA_LOG_ERROR, "A preset is invalid and was quarantined", "file", file, "cause", why->text,
                "quarantined_as", aside, NULL);
    free(aside);
    free(file);
    return renamed;
}

int sta_preset_folders_recover(const struct sta_preset_folders *folders, struct sta_presets **presets,
                               struct sta_error *err)
{
    int status;
    do
        status = sta_preset_folders_read(folders, presets, err);
    while (status != STA_OK && quarantine(folders, err));
    if (status == STA_OK)
        return STA_OK;
    struct sta_error why = *err;
    struct sta_preset_folders built_in = *folders;
    built_in.own_rules = NULL;
    status = sta_presets_load(folders->functions, &folders->built_in, 1, presets, err);
    if (status == STA_OK)
        status = add_rules(&built_in, presets, NULL, NULL, err);
    if (status == STA_OK)
        sta_log(STA_LOG_ERROR, "Presets of one's own cannot be read: only the built-in ones are in force",
                "folder", folders->own, "cause", why.text, NULL);
    return status;
}

#define ASIDE ".yaml.damaged"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **sta_library_presets_quarantined(const struct sta_library *library, size_t *count)
{
    char **names = NULL;
    size_t capacity = 0;
    *count = 0;
    DIR *folder = opendir(library->folders.own);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name), end = strlen(ASIDE);
        if (length <= end || strcmp(entry->d_name + length - end, ASIDE) != 0)
            continue;
        STA_GROW(names, capacity, *count + 1);
        names[(*count)++] = sta_strdup(entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
    if (*count > 0)
        qsort(names, *count, sizeof *names, compare_names);
    return names;
}

/* ---- in force */

struct sta_presets *sta_library_presets(struct sta_library *library)
{
    uv_mutex_lock(&library->lock);
    struct sta_presets *presets = sta_presets_retain(library->presets);
    uv_mutex_unlock(&library->lock);
    return presets;
}

/* Under `editing`: between reading the folders and putting what was read in force nobody may change them. */
static int reload(struct sta_library *library, struct sta_error *err)
{
    struct sta_presets *fresh;
    int status = sta_preset_folders_read(&library->folders, &fresh, err);
    if (status != STA_OK)
        return status;
    uv_mutex_lock(&library->lock);
    struct sta_presets *old = library->presets;
    library->presets = fresh;
    uv_mutex_unlock(&library->lock);
    sta_presets_release(old);
    return STA_OK;
}

int sta_library_reload_presets(struct sta_library *library, struct sta_error *err)
{
    uv_mutex_lock(&library->editing);
    int status = reload(library, err);
    uv_mutex_unlock(&library->editing);
    return status;
}

/* ---- changes */

/* Whether a mistake is in a file that is there, or in all of them together; then without the folder's path,
 * which is not for who asks. */
static bool is_of_others(const char *const *folders, size_t count, struct sta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(folders[i]);
        if (strncmp(err->text, folders[i], length) != 0)
            continue;
        const char *rest = err->text + length + strspn(err->text + length, "/: ");
        memmove(err->text, rest, strlen(rest) + 1);
        return true;
    }
    return false;
}

int sta_library_try_preset(struct sta_library *library, const struct sta_preset_change *change,
                           struct sta_presets **presets, struct sta_preset_mistakes *mistakes,
                           struct sta_error *err)
{
    const char *list[2];
    size_t count = list_folders(&library->folders, list);
    int status = sta_presets_try(library->folders.functions, list, count, change, presets, mistakes, err);
    if (status == STA_EINPUT && is_of_others(list, count, err) && change->text != NULL) {
        sta_error_wrap(err, "With this preset others make no sense");
        sta_at(err, "/yaml", -1);
    }
    return status == STA_OK ? add_rules(&library->folders, presets, NULL, NULL, err) : status;
}

static char *file_of(const struct sta_library *library, const char *name)
{
    char *file = sta_sprintf("%s/%s.yaml", library->folders.own, name);
    return file;
}

static int publish(const struct sta_library *library, const struct sta_preset_change *change, bool *created,
                   struct sta_error *err)
{
    int status = sta_folder_create(library->folders.own, err);
    if (status != STA_OK)
        return status;
    char *file = file_of(library, change->name);
    *created = access(file, F_OK) != 0;
    status = sta_file_publish(file, change->text, change->size, err);
    free(file);
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "Cannot keep the preset");
}

/* Puts in force what stands in the folders after a change.  Also after one that failed: the file may have
 * been changed and only its folder not synced. */
static int reload_after(struct sta_library *library, int status, struct sta_error *err)
{
    struct sta_error why = STA_ERROR_INIT;
    int reloaded = reload(library, &why);
    if (status == STA_OK && reloaded != STA_OK)
        *err = why;
    return status == STA_OK ? reloaded : status;
}

int sta_library_put_preset(struct sta_library *library, const struct sta_preset_change *change, bool *created,
                           struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    struct sta_presets *tried;
    uv_mutex_lock(&library->editing);
    int status = sta_library_try_preset(library, change, &tried, mistakes, err);
    if (status == STA_OK) {
        sta_presets_release(tried);
        status = reload_after(library, publish(library, change, created, err), err);
    }
    uv_mutex_unlock(&library->editing);
    return status;
}

static int remove_file(const struct sta_library *library, const char *name, struct sta_error *err)
{
    char *file = file_of(library, name);
    int status = unlink(file) == 0 ? sta_folder_sync(library->folders.own, err)
                                   : sta_fail_errno(err, errno, "Cannot remove the preset");
    free(file);
    return status;
}

static int check_removal(struct sta_library *library, const char *name, struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(library);
    const struct sta_preset *preset = sta_presets_find(presets, name);
    char *file = file_of(library, name);
    bool own = strchr(name, '/') == NULL && access(file, F_OK) == 0;
    bool known = preset != NULL;
    free(file);
    sta_presets_release(presets);
    if (own)
        return STA_OK;
    return known ? sta_fail(err, STA_EFORBIDDEN,
                            "Preset %s is built in and stays; put one of that name to override it", name)
                 : sta_fail(err, STA_ENOTFOUND, "There is no preset \"%.60s\"", name);
}

/* Traces for which the preset was chosen that is gone get the one that fits now, as they would at a
 * refresh. */
static void choose_again(struct sta_library *library, const char *gone)
{
    size_t count;
    struct sta_presets *presets = sta_library_presets(library);
    struct sta_ingest ingest = {.store = library->store,
                                .presets = presets,
                                .workers = library->workers,
                                .memory = library->memory,
                                .account = library->account};
    struct sta_trace_entry *entries = sta_store_list(library->store, &count);
    bool built_in = sta_presets_find(presets, gone) != NULL; /* which the one that is gone had overridden */
    for (size_t i = 0; i < count; i++) {
        struct sta_error err = STA_ERROR_INIT;
        bool chosen = !built_in && entries[i].preset != NULL && strcmp(entries[i].preset, gone) == 0;
        if (chosen && sta_ingest_choose_preset(&ingest, entries[i].id, &err) != STA_OK)
            sta_log(STA_LOG_WARNING, "Cannot choose a preset for a trace whose preset is gone", "trace",
                    entries[i].id, "cause", err.text, NULL);
        sta_trace_entry_fini(&entries[i]);
    }
    free(entries);
    sta_presets_release(presets);
}

int sta_library_delete_preset(struct sta_library *library, const char *name, struct sta_error *err)
{
    struct sta_preset_change change = {.name = name};
    struct sta_presets *tried;
    uv_mutex_lock(&library->editing);
    int status = check_removal(library, name, err);
    if (status == STA_OK) {
        status = sta_library_try_preset(library, &change, &tried, NULL, err);
        if (status == STA_OK)
            sta_presets_release(tried);
        else
            sta_error_wrap(err, "Without preset %s others make no sense", name);
    }
    if (status == STA_OK)
        status = reload_after(library, remove_file(library, name, err), err);
    uv_mutex_unlock(&library->editing);
    if (status == STA_OK)
        choose_again(library, name);
    return status;
}

/* ---- rules */

static char *file_of_rule(const struct sta_library *library, const char *id)
{
    return sta_sprintf("%s/%s.yaml", library->folders.own_rules, id);
}

/* The configuration with a rule changed. */
static int try_rule(const struct sta_library *library, const struct sta_preset_change *change,
                    struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    const char *list[2];
    struct sta_presets *presets;
    size_t count = list_folders(&library->folders, list);
    int status = sta_presets_load(library->folders.functions, list, count, &presets, err);
    if (status == STA_OK)
        status = add_rules(&library->folders, &presets, change, mistakes, err);
    if (status == STA_OK)
        sta_presets_release(presets);
    return status;
}

static int publish_rule(const struct sta_library *library, const struct sta_preset_change *change,
                        bool *created, struct sta_error *err)
{
    int status = sta_folder_create(library->folders.own_rules, err);
    if (status != STA_OK)
        return status;
    char *file = file_of_rule(library, change->name);
    *created = access(file, F_OK) != 0;
    status = sta_file_publish(file, change->text, change->size, err);
    free(file);
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "Cannot keep the rule");
}

static bool is_rule_name(const char *id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return id[0] != '\0' && strlen(id) <= 64 && strspn(id, letters) == strlen(id);
}

int sta_library_put_rule(struct sta_library *library, const struct sta_preset_change *change, bool *created,
                         struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    if (!is_rule_name(change->name))
        return sta_fail(err, STA_EINPUT, "a rule's id is made of letters, digits and _, 64 at most");
    uv_mutex_lock(&library->editing);
    int status = try_rule(library, change, mistakes, err);
    if (status == STA_OK)
        status = reload_after(library, publish_rule(library, change, created, err), err);
    uv_mutex_unlock(&library->editing);
    return status;
}

/* Whether a rule is there, and one's own. */
static int check_rule(struct sta_library *library, const char *id, struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(library);
    char *file = file_of_rule(library, id);
    bool own = is_rule_name(id) && access(file, F_OK) == 0, known = false;
    for (size_t i = 0; i < sta_rule_count(presets); i++)
        known = known || strcmp(sta_rule_at(presets, i).id, id) == 0;
    free(file);
    sta_presets_release(presets);
    if (own)
        return STA_OK;
    return known ? sta_fail(err, STA_EFORBIDDEN,
                            "Rule %s is built in, or in a file of several: disable it there", id)
                 : sta_fail(err, STA_ENOTFOUND, "There is no rule \"%.60s\"", id);
}

int sta_library_delete_rule(struct sta_library *library, const char *id, struct sta_error *err)
{
    const struct sta_preset_change change = {.name = id};
    uv_mutex_lock(&library->editing);
    int status = check_rule(library, id, err);
    if (status == STA_OK)
        status = try_rule(library, &change, NULL, err);
    if (status == STA_OK) {
        char *file = file_of_rule(library, id);
        int removed = unlink(file) == 0 ? sta_folder_sync(library->folders.own_rules, err)
                                        : sta_fail_errno(err, errno, "Cannot remove the rule");
        free(file);
        status = reload_after(library, removed, err);
    }
    uv_mutex_unlock(&library->editing);
    return status;
}
