/* Which files make up a trace. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/dictionary.h"
#include "common/files.h"
#include "common/memory.h"
#include "decode/decode.h"
#include "decode/source.h"

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

/* DESIGN.  Links are followed only when all else has been seen, and lead nowhere that was seen before: so
 * loops end, and a file that a link shows a second time is not counted twice, whichever way the folder lists
 * them. */
struct walk {
    struct sta_listing *listing;
    sta_path_allowed allowed;
    void *context;
    struct sta_dictionary *seen; /* devices and inodes of what was visited */
    struct link {
        char *path, *inside;
    } * links; /* met so far */
    size_t link_count, link_capacity;
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

/* Notes a file or folder.  Return: whether it was not there yet. */
static bool is_new(struct walk *walk, const struct stat *st)
{
    uint64_t identity[2] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino};
    uint32_t before = sta_dictionary_count(walk->seen);
    return sta_dictionary_intern(walk->seen, (const char *)identity, sizeof identity) == before;
}

static void take_file(struct walk *walk, const char *path, const char *inside, const struct stat *st)
{
    if (S_ISREG(st->st_mode) && (has_trace_name(inside) || begins_like_trace(path)))
        add_file(walk->listing, inside, st);
    else
        walk->listing->others++;
}

static int walk_folder(struct walk *walk, const char *path, const char *inside, bool top,
                       struct sta_error *err);

/* Takes over both paths. */
static int walk_entry(struct walk *walk, char *path, char *inside, struct sta_error *err)
{
    struct stat st;
    int status = STA_OK;
    if (lstat(path, &st) != 0) {
        walk->listing->others++;
    } else if (S_ISLNK(st.st_mode)) {
        STA_GROW(walk->links, walk->link_capacity, walk->link_count + 1);
        walk->links[walk->link_count++] = (struct link){path, inside};
        return STA_OK;
    } else if (!S_ISDIR(st.st_mode)) {
        is_new(walk, &st);
        take_file(walk, path, inside, &st);
    } else if (is_new(walk, &st)) {
        status = walk_folder(walk, path, inside, false, err);
    }
    free(path);
    free(inside);
    return status;
}

static int walk_folder(struct walk *walk, const char *path, const char *inside, bool top,
                       struct sta_error *err)
{
    DIR *folder = opendir(path);
    if (folder == NULL && !top && errno == EACCES) {
        walk->listing->others++;
        return STA_OK;
    }
    if (folder == NULL)
        return sta_fail_errno(err, errno, "cannot list %s", path);
    int status = STA_OK;
    for (struct dirent *entry = readdir(folder); entry != NULL && status == STA_OK; entry = readdir(folder)) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            status = walk_entry(walk, sta_path_join(path, name),
                                inside[0] == '\0' ? sta_strdup(name) : sta_path_join(inside, name), err);
    }
    closedir(folder);
    return status;
}

static int follow_link(struct walk *walk, const struct link *link, struct sta_error *err)
{
    struct stat st;
    char *resolved = realpath(link->path, NULL);
    bool good = resolved != NULL && walk->allowed(walk->context, resolved) && stat(resolved, &st) == 0;
    free(resolved);
    if (!good)
        walk->listing->others++;
    if (!good || !is_new(walk, &st))
        return STA_OK;
    if (S_ISDIR(st.st_mode))
        return walk_folder(walk, link->path, link->inside, false, err);
    take_file(walk, link->path, link->inside, &st);
    return STA_OK;
}

static int by_inside(const void *left, const void *right)
{
    return strcmp(((const struct link *)left)->inside, ((const struct link *)right)->inside);
}

/* The links met so far, then those met behind them, until there are no more. */
static int follow_links(struct walk *walk, struct sta_error *err)
{
    int status = STA_OK;
    while (walk->link_count > 0) {
        struct link *links = walk->links;
        size_t count = walk->link_count;
        walk->links = NULL;
        walk->link_count = walk->link_capacity = 0;
        qsort(links, count, sizeof *links, by_inside);
        for (size_t i = 0; i < count; i++) {
            if (status == STA_OK)
                status = follow_link(walk, &links[i], err);
            free(links[i].path);
            free(links[i].inside);
        }
        free(links);
    }
    return status;
}

static int walk_trace(struct walk *walk, const char *path, const struct stat *st, struct sta_error *err)
{
    walk->seen = sta_dictionary_create();
    is_new(walk, st);
    int status = walk_folder(walk, path, "", true, err);
    if (status == STA_OK)
        status = follow_links(walk, err);
    for (size_t i = 0; i < walk->link_count; i++) {
        free(walk->links[i].path);
        free(walk->links[i].inside);
    }
    free(walk->links);
    sta_dictionary_destroy(walk->seen);
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
        status = walk_trace(&walk, path, &st, err);
    else
        take_file(&walk, path, name, &st);
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
