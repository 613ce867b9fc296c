/* Folders and candidate traces inside the allowed roots. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/files.h"
#include "common/memory.h"
#include "common/number.h"
#include "decode/decode.h"
#include "server/library_private.h"

#define BROWSE_LIMIT 10000

static void look_at(struct sta_library *library, const char *path, const struct sta_trace_entry *traces,
                    size_t trace_count, struct sta_browse *browse, const char *name)
{
    struct stat st;
    char *resolved = realpath(path, NULL);
    bool usable = resolved != NULL && sta_library_allowed(library, resolved) && stat(resolved, &st) == 0 &&
                  (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) &&
                  sta_utf8_valid_prefix(name, strlen(name)) == strlen(name);
    bool folder = usable && S_ISDIR(st.st_mode);
    bool candidate = usable && sta_looks_like_trace(resolved);
    if (folder || candidate) {
        struct sta_browse_entry *entry = &browse->entries[browse->count++];
        *entry = (struct sta_browse_entry){
            .name = sta_strdup(name),
            .folder = folder,
            .candidate = candidate,
            .size = folder ? 0 : (uint64_t)st.st_size,
            .mtime_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000,
        };
        for (size_t i = 0; i < trace_count; i++)
            if (strcmp(traces[i].path, resolved) == 0)
                memcpy(entry->trace, traces[i].id, sizeof entry->trace);
    }
    free(resolved);
}

static int folders_first(const void *left, const void *right)
{
    const struct sta_browse_entry *a = left;
    const struct sta_browse_entry *b = right;
    return a->folder != b->folder ? (int)b->folder - (int)a->folder : strcmp(a->name, b->name);
}

static char *parent_of(struct sta_library *library, const char *path)
{
    char *parent = sta_strdup(path);
    char *slash = strrchr(parent, '/');
    if (slash != NULL)
        slash[slash == parent ? 1 : 0] = '\0';
    if (strcmp(parent, path) != 0 && sta_library_allowed(library, parent))
        return parent;
    free(parent);
    return NULL;
}

static int list_folder(struct sta_library *library, const struct sta_trace_entry *traces, size_t trace_count,
                       struct sta_browse *browse, struct sta_error *err)
{
    DIR *folder = opendir(browse->path);
    if (folder == NULL)
        return sta_fail_errno(err, errno, "cannot list %s", browse->path);
    browse->entries = sta_alloc_array(BROWSE_LIMIT, sizeof *browse->entries);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        browse->truncated = browse->count == BROWSE_LIMIT;
        if (browse->truncated)
            break;
        char *path = sta_path_join(browse->path, entry->d_name);
        look_at(library, path, traces, trace_count, browse, entry->d_name);
        free(path);
    }
    closedir(folder);
    qsort(browse->entries, browse->count, sizeof *browse->entries, folders_first);
    return STA_OK;
}

static void list_roots(struct sta_library *library, const struct sta_trace_entry *traces, size_t trace_count,
                       struct sta_browse *browse)
{
    browse->entries = sta_alloc_array(library->root_count, sizeof *browse->entries);
    for (size_t i = 0; i < library->root_count; i++)
        look_at(library, library->roots[i], traces, trace_count, browse, library->roots[i]);
}

int sta_library_browse(struct sta_library *library, const char *path, struct sta_browse *browse,
                       struct sta_error *err)
{
    size_t trace_count;
    int status = STA_OK;
    *browse = (struct sta_browse){0};
    if (path != NULL) {
        status = sta_library_resolve(library, path, &browse->path, err);
        if (status != STA_OK)
            return status;
        browse->parent = parent_of(library, browse->path);
    }
    struct sta_trace_entry *traces = sta_store_list(library->store, &trace_count);
    if (path != NULL)
        status = list_folder(library, traces, trace_count, browse, err);
    else
        list_roots(library, traces, trace_count, browse);
    for (size_t i = 0; i < trace_count; i++)
        sta_trace_entry_fini(&traces[i]);
    free(traces);
    if (status != STA_OK)
        sta_browse_fini(browse);
    return status;
}

void sta_browse_fini(struct sta_browse *browse)
{
    for (size_t i = 0; i < browse->count; i++)
        free(browse->entries[i].name);
    free(browse->entries);
    free(browse->path);
    free(browse->parent);
    *browse = (struct sta_browse){0};
}
