/* Which files make up a trace. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/files.h"
#include "common/memory.h"
#include "decode/decode.h"
#include "decode/source.h"

#define FOLDERS_DEEP 64
#define SNIFF_BYTES 4096

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool has_trace_name(const char *name)
{
    return ends_with(name, ".pfw") || ends_with(name, ".pfw.gz");
}

/* Whether a file begins like a trace: blanks or brackets, then an object that says its "ph". */
static bool begins_like_trace(const char *path)
{
    struct sta_byte_source *source;
    struct sta_error ignored = STA_ERROR_INIT;
    char text[SNIFF_BYTES + 1];
    bool gzip;
    size_t size = 0;
    if (sta_source_open(path, 0, &source, &gzip, &ignored) != STA_OK)
        return false;
    enum sta_bytes_state state = STA_BYTES_OK;
    while (state == STA_BYTES_OK && size < SNIFF_BYTES) {
        size_t got;
        state = source->read(source, text + size, SNIFF_BYTES - size, &got);
        size += got;
    }
    source->close(source);
    text[size] = '\0';
    const char *at = text + (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    at += strspn(at, " \t\r\n[,");
    return *at == '{' && memmem(at, (size_t)(text + size - at), "\"ph\"", 4) != NULL;
}

/* ---- the walk */

struct walk {
    struct sta_listing *listing;
    sta_path_allowed allowed;
    void *context;
    struct {
        dev_t device;
        ino_t inode;
    } above[FOLDERS_DEEP]; /* the folders from the top to here, so that a loop of links ends */
    unsigned depth;
};

static void add_file(struct sta_listing *listing, const char *inside, const struct stat *st)
{
    STA_GROW(listing->files, listing->capacity, listing->count + 1);
    listing->files[listing->count++] = (struct sta_listed_file){
        .path = sta_strdup(inside),
        .size = (uint64_t)st->st_size,
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
    };
    listing->bytes += (uint64_t)st->st_size;
}

/* What a name of a folder stands for, links followed; false for what must not be read or is not there. */
static bool look_at(const struct walk *walk, const char *path, struct stat *st)
{
    if (lstat(path, st) != 0)
        return false;
    if (!S_ISLNK(st->st_mode))
        return true;
    char *resolved = realpath(path, NULL);
    bool good = resolved != NULL && walk->allowed(walk->context, resolved) && stat(resolved, st) == 0;
    free(resolved);
    return good;
}

static bool is_above(const struct walk *walk, const struct stat *st)
{
    for (unsigned i = 0; i < walk->depth; i++)
        if (walk->above[i].device == st->st_dev && walk->above[i].inode == st->st_ino)
            return true;
    return false;
}

static int walk_folder(struct walk *walk, const char *path, const char *inside, const struct stat *st,
                       struct sta_error *err);

static int walk_entry(struct walk *walk, const char *folder, const char *inside, const char *name,
                      struct sta_error *err)
{
    struct stat st;
    int status = STA_OK;
    char *path = sta_path_join(folder, name);
    char *below = inside[0] == '\0' ? sta_strdup(name) : sta_path_join(inside, name);
    if (!look_at(walk, path, &st))
        walk->listing->others++;
    else if (S_ISDIR(st.st_mode))
        status = walk_folder(walk, path, below, &st, err);
    else if (S_ISREG(st.st_mode) && (has_trace_name(name) || begins_like_trace(path)))
        add_file(walk->listing, below, &st);
    else
        walk->listing->others++;
    free(below);
    free(path);
    return status;
}

static int walk_folder(struct walk *walk, const char *path, const char *inside, const struct stat *st,
                       struct sta_error *err)
{
    if (is_above(walk, st) || walk->depth == FOLDERS_DEEP)
        return STA_OK;
    DIR *folder = opendir(path);
    if (folder == NULL && walk->depth > 0 && errno == EACCES) {
        walk->listing->others++;
        return STA_OK;
    }
    if (folder == NULL)
        return sta_fail_errno(err, errno, "cannot list %s", path);
    walk->above[walk->depth].device = st->st_dev;
    walk->above[walk->depth++].inode = st->st_ino;
    int status = STA_OK;
    for (struct dirent *entry = readdir(folder); entry != NULL && status == STA_OK; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = walk_entry(walk, path, inside, entry->d_name, err);
    walk->depth--;
    closedir(folder);
    return status;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct sta_listed_file *)left)->path,
                  ((const struct sta_listed_file *)right)->path);
}

int sta_listing_create(struct sta_listing *listing, const char *path, sta_path_allowed allowed, void *context,
                       struct sta_error *err)
{
    struct walk walk = {.listing = listing, .allowed = allowed, .context = context};
    struct stat st;
    int status = STA_OK;
    *listing = (struct sta_listing){0};
    if (stat(path, &st) != 0)
        return sta_fail_errno(err, errno, "cannot look at %s", path);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (S_ISDIR(st.st_mode))
        status = walk_folder(&walk, path, "", &st, err);
    else if (S_ISREG(st.st_mode) && (has_trace_name(name) || begins_like_trace(path)))
        add_file(listing, name, &st);
    else
        listing->others = 1;
    if (status != STA_OK)
        sta_listing_fini(listing);
    else if (listing->count > 1)
        qsort(listing->files, listing->count, sizeof *listing->files, by_path);
    return status;
}

void sta_listing_fini(struct sta_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->files[i].path);
    free(listing->files);
    *listing = (struct sta_listing){0};
}

bool sta_looks_like_trace(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    if (S_ISREG(st.st_mode))
        return has_trace_name(path) || begins_like_trace(path);
    DIR *folder = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    bool found = false;
    if (folder == NULL)
        return false;
    for (struct dirent *entry = readdir(folder); entry != NULL && !found; entry = readdir(folder))
        found = entry->d_type != DT_DIR && has_trace_name(entry->d_name);
    closedir(folder);
    return found;
}
