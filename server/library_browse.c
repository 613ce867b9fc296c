/* Folders and candidate traces inside the allowed roots. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/memory.h"
#include "common/number.h"
#include "decode/decode.h"
#include "server/library_private.h"

#define BROWSE_LIMIT 10000

/* What a path leads to, with all links followed, if it may be shown. */
static bool look_at(struct sta_library *library, const char *path, struct stat *st, char **resolved)
{
    struct sta_error ignored = STA_ERROR_INIT;
    int fd;
    if (sta_roots_open(library->roots, path, O_PATH, resolved, &fd, &ignored) != STA_OK)
        return false;
    bool usable = fstat(fd, st) == 0 && (S_ISDIR(st->st_mode) || S_ISREG(st->st_mode));
    close(fd);
    if (!usable)
        free(*resolved);
    return usable;
}

static void add_entry(struct sta_library *library, const char *path, const struct sta_trace_entry *traces,
                      size_t trace_count, struct sta_browse *browse, const char *name)
{
    struct stat st;
    char *resolved;
    if (sta_utf8_valid_prefix(name, strlen(name)) != strlen(name) || !look_at(library, path, &st, &resolved))
        return;
    bool folder = S_ISDIR(st.st_mode);
    bool candidate = sta_looks_like_trace(library->roots, resolved, folder);
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
    if (strcmp(parent, path) != 0 && sta_roots_contain(library->roots, parent))
        return parent;
    free(parent);
    return NULL;
}

/* Takes over the open folder. */
static int list_folder(struct sta_library *library, int fd, const struct sta_trace_entry *traces,
                       size_t trace_count, struct sta_browse *browse, struct sta_error *err)
{
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        int status = sta_fail_errno(err, errno, "cannot list %s", browse->path);
        close(fd);
        return status;
    }
    browse->entries = sta_alloc_array(BROWSE_LIMIT, sizeof *browse->entries);
    struct dirent *entry;
    for (errno = 0; (entry = readdir(folder)) != NULL; errno = 0) {
        if (entry->d_name[0] == '.')
            continue;
        browse->truncated = browse->count == BROWSE_LIMIT;
        if (browse->truncated)
            break;
        char *path = sta_path_join(browse->path, entry->d_name);
        add_entry(library, path, traces, trace_count, browse, entry->d_name);
        free(path);
    }
    int status =
        entry == NULL && errno != 0 ? sta_fail_errno(err, errno, "cannot list %s", browse->path) : STA_OK;
    closedir(folder);
    qsort(browse->entries, browse->count, sizeof *browse->entries, folders_first);
    return status;
}

static void list_roots(struct sta_library *library, const struct sta_trace_entry *traces, size_t trace_count,
                       struct sta_browse *browse)
{
    browse->entries = sta_alloc_array(sta_roots_count(library->roots), sizeof *browse->entries);
    for (size_t i = 0; i < sta_roots_count(library->roots); i++) {
        const char *path = sta_roots_path(library->roots, i);
        add_entry(library, path, traces, trace_count, browse, path);
    }
}

static int open_folder(struct sta_library *library, const char *path, struct sta_browse *browse, int *fd,
                       struct sta_error *err)
{
    if (path[0] != '/')
        return sta_fail(err, STA_EINPUT, "%s is not an absolute path", path);
    int status =
        sta_roots_open(library->roots, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &browse->path, fd, err);
    if (status == STA_OK)
        browse->parent = parent_of(library, browse->path);
    return status;
}

int sta_library_browse(struct sta_library *library, const char *path, struct sta_browse *browse,
                       struct sta_error *err)
{
    size_t trace_count;
    int fd = -1;
    *browse = (struct sta_browse){0};
    int status = path != NULL ? open_folder(library, path, browse, &fd, err) : STA_OK;
    if (status != STA_OK)
        return status;
    struct sta_trace_entry *traces = sta_store_list(library->store, &trace_count);
    if (path != NULL)
        status = list_folder(library, fd, traces, trace_count, browse, err);
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
