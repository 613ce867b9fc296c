/* kept.c - small named values beside a version of a trace, or beside the store. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/log.h"
#include "common/memory.h"
#include "store/format/contents_private.h"
#include "store/format/envelope.h"
#include "store/versions/private.h"

/* The folder of a trace's kept values, or the store's. */
static char *folder_of(const struct sta_store *store, const char *trace)
{
    return trace != NULL ? sta_trace_folder(store, trace) : sta_path_join(store->path, "kept");
}

int sta_check_published(const char *folder, const char *trace, uint64_t version, struct sta_error *err)
{
    struct sta_manifest manifest;
    int status = sta_manifest_read(folder, &manifest, err);
    if (status != STA_OK)
        return status;
    if (manifest.version != version)
        status =
            sta_fail(err, STA_ENOTFOUND, "this version of trace %s is no longer the published one", trace);
    sta_manifest_fini(&manifest);
    return status;
}

static int replace(const char *folder, const char *path, const struct sta_buffer *content,
                   struct sta_error *err)
{
    int status = sta_envelope_replace(path, STA_ENVELOPE_KEPT, content, err);
    return status == STA_OK ? sta_folder_sync(folder, err) : status;
}

static int keep_with_trace(struct sta_store *store, const char *trace, uint64_t version, const char *folder,
                           const char *path, const struct sta_buffer *content, struct sta_error *err)
{
    struct sta_known_trace *known = sta_store_hold(store, trace, err);
    if (known == NULL)
        return STA_ENOTFOUND;
    int status =
        sta_check_published(folder, trace, version, err); /* none is published until the value is written */
    if (status == STA_OK)
        status = replace(folder, path, content, err);
    sta_store_let_go(store, known);
    return status;
}

static int keep_with_store(struct sta_store *store, const char *folder, const char *path,
                           const struct sta_buffer *content, struct sta_error *err)
{
    pthread_mutex_lock(&store->keeping);
    int status = replace(folder, path, content, err);
    pthread_mutex_unlock(&store->keeping);
    return status;
}

int sta_store_put_kept(struct sta_store *store, const char *trace, uint64_t version, const char *name,
                       const void *bytes, size_t size, struct sta_error *err)
{
    struct sta_buffer content = {0};
    char *folder = folder_of(store, trace), *path = sta_kept_file(folder, trace ? version : 0, name);
    sta_put_optional(&content, name);
    sta_put(&content, bytes, size);
    int status = trace != NULL ? keep_with_trace(store, trace, version, folder, path, &content, err)
                               : keep_with_store(store, folder, path, &content, err);
    sta_buffer_fini(&content);
    free(path);
    free(folder);
    return status;
}

/* A link, so that whoever reads the value meanwhile still finds it. */
static void carry(const char *folder, const char *name, uint64_t to)
{
    const char *hash = strrchr(name, '-') + 1;
    char *from = sta_path_join(folder, name),
         *path = sta_sprintf("%s/kept-%016llx-%s", folder, (unsigned long long)to, hash);
    if (link(from, path) != 0 && errno != EEXIST)
        sta_log(STA_LOG_DEBUG, "A kept value cannot be carried over, and will be computed again", "file",
                from, "cause", strerror(errno), NULL);
    free(from);
    free(path);
}

void sta_kept_carry(const char *folder, uint64_t from, uint64_t to)
{
    unsigned long long version;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        if (sscanf(entry->d_name, "kept-%16llx-", &version) == 1 && version == from &&
            strchr(entry->d_name, '.') == NULL)
            carry(folder, entry->d_name, to);
    if (entries != NULL)
        closedir(entries);
}

/* Takes the value out of a kept file's content. */
static int unpack(const char *content, size_t content_size, const char *name, char **bytes, size_t *size,
                  struct sta_error *err)
{
    struct sta_cursor in = {.at = (const unsigned char *)content,
                            .end = (const unsigned char *)content + content_size};
    char *kept_name = sta_get_optional(&in);
    bool same = !in.failed && kept_name != NULL && strcmp(kept_name, name) == 0;
    free(kept_name);
    if (!same)
        return sta_fail(err, STA_ENOTFOUND, "nothing is kept as %s", name);
    *size = (size_t)(in.end - in.at);
    *bytes = sta_try_alloc(*size + 1);
    if (*bytes == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory for the %zu bytes kept as %s", *size, name);
    memcpy(*bytes, in.at, *size);
    (*bytes)[*size] = '\0';
    return STA_OK;
}

int sta_store_get_kept(struct sta_store *store, const char *trace, uint64_t version, const char *name,
                       char **bytes, size_t *size, struct sta_error *err)
{
    char *folder = folder_of(store, trace), *path = sta_kept_file(folder, trace ? version : 0, name),
         *content = NULL;
    size_t content_size;
    int status = sta_envelope_read(path, STA_ENVELOPE_KEPT, &content, &content_size, err);
    if (status == STA_OK)
        status = unpack(content, content_size, name, bytes, size, err);
    else if (status == STA_ECORRUPT)
        sta_quarantine(path, err);
    free(content);
    free(path);
    free(folder);
    return status;
}
