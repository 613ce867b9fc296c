/* Which files make up a trace.
 *
 * DESIGN.  A list of folders to walk instead of recursion: depth costs neither stack nor descriptors.  Links
 * are followed only when all else has been seen, and lead nowhere that was seen before: so loops end, and a
 * file that a link shows a second time is not counted twice, whichever way the folder lists them.  What
 * cannot be looked at is listed as such, never left out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/dictionary.h"
#include "common/files.h"
#include "common/memory.h"
#include "decode/decode.h"
#include "decode/files_private.h"
#include "decode/formats.h"
#include "decode/source.h"
#include "decode/training_scan.h"

#define SNIFF_BYTES 4096
#define LOOK (O_PATH)
#define READ (O_RDONLY | O_NONBLOCK | O_NOCTTY)
#define BROWSED_FILES 8                /* of a folder are looked into, so that browsing stays quick */
#define SETTLED_NS INT64_C(3000000000) /* longer than the steps in which any file system counts time */

static bool has_trace_name(const char *name)
{
    return sta_kind_by_name(name) != STA_TRACE_UNKNOWN;
}

/* Looks into a file.  Closes it.  Return: a failure to read it, which says nothing about what it is. */
static int sniff(int fd, const char *path, enum sta_trace_kind *kind, struct sta_error *err)
{
    struct sta_byte_source *source;
    char text[SNIFF_BYTES + 1];
    bool gzip;
    size_t size = 0;
    int status = sta_source_open(fd, path, false, NULL, &source, &gzip, err);
    *kind = STA_TRACE_UNKNOWN;
    if (status == STA_OK) {
        enum sta_bytes_state state = STA_BYTES_OK;
        while (state == STA_BYTES_OK && size < SNIFF_BYTES) {
            size_t got;
            state = source->read(source, text + size, SNIFF_BYTES - size, &got);
            size += got;
        }
        if (source->failed)
            status = sta_fail(err, STA_EIO, "%s %s", path, source->reason);
        source->close(source);
        text[size] = '\0';
        *kind = sta_kind_by_content(text, size);
    }
    close(fd);
    return status == STA_EINPUT ? STA_OK : status;
}

/* ---- the walk */

struct walk {
    struct sta_listing *listing;
    struct sta_roots *roots;
    const char *path; /* of the trace */
    const _Atomic bool *cancel;
    struct sta_dictionary *seen; /* devices and inodes of what was visited */
    char **folders, **links;     /* inside the trace: to be walked, to be followed */
    size_t folder_count, folder_capacity, link_count, link_capacity;
};

char *sta_listing_path(const struct sta_listing *listing, const char *trace_path, const char *inside)
{
    return listing->single || inside[0] == '\0' ? sta_strdup(trace_path) : sta_path_join(trace_path, inside);
}

static int open_inside(struct walk *walk, const char *inside, int flags, int *fd, struct sta_error *err)
{
    char *path = sta_listing_path(walk->listing, walk->path, inside);
    int status = sta_roots_open(walk->roots, path, flags, NULL, fd, err);
    free(path);
    return status;
}

static int64_t mtime_of(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* Notes a file or folder.  Return: whether it was not there yet. */
static bool is_new(struct walk *walk, const struct stat *st)
{
    uint64_t identity[2] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino};
    uint32_t before = sta_dictionary_count(walk->seen);
    return sta_dictionary_intern(walk->seen, (const char *)identity, sizeof identity) == before;
}

static void add_file(struct sta_listing *listing, const char *inside, enum sta_trace_kind kind, bool assumed,
                     const struct stat *st)
{
    STA_GROW(listing->files, listing->capacity, listing->count + 1);
    listing->files[listing->count++] = (struct sta_listed_file){.path = sta_strdup(inside),
                                                                .kind = kind,
                                                                .size = (uint64_t)st->st_size,
                                                                .mtime_ns = mtime_of(st),
                                                                .assumed = assumed};
    listing->bytes += (uint64_t)st->st_size;
}

/* Takes note of what could not be looked at.  Return: STA_OK, or the failure when it is this process that
 * lacks something. */
static int add_unlisted(struct walk *walk, const char *inside, bool candidate, const struct sta_error *why,
                        struct sta_error *err)
{
    struct sta_listing *listing = walk->listing;
    if (why->status == STA_ENOMEM || why->status == STA_EBUSY) {
        if (err != why)
            *err = *why;
        return why->status;
    }
    listing->others++;
    if (why->status == STA_ENOTFOUND)
        return STA_OK;
    sta_listing_note(listing, inside, why->text, why->status, candidate);
    return STA_OK;
}

static void add_text(char ***texts, size_t *count, size_t *capacity, const char *text)
{
    STA_GROW(*texts, *capacity, *count + 1);
    (*texts)[(*count)++] = sta_strdup(text);
}

static int take_file(struct walk *walk, const char *inside, const struct stat *st, struct sta_error *err)
{
    struct sta_error why = STA_ERROR_INIT;
    enum sta_trace_kind kind = S_ISREG(st->st_mode) ? sta_kind_by_name(inside) : STA_TRACE_UNKNOWN;
    int fd, status = STA_OK;
    bool assumed = false;
    if (S_ISREG(st->st_mode) && kind == STA_TRACE_UNKNOWN) {
        status = open_inside(walk, inside, READ, &fd, &why);
        if (status == STA_OK)
            status = sniff(fd, inside, &kind, &why);
        assumed = kind == STA_TRACE_UNKNOWN;
        if (assumed)
            kind = sta_kind_by_usual_name(inside);
    }
    if (status != STA_OK)
        return add_unlisted(walk, inside, false, &why, err);
    if (kind != STA_TRACE_UNKNOWN)
        add_file(walk->listing, inside, kind, assumed, st);
    else
        walk->listing->others++;
    return STA_OK;
}

static int take_entry(struct walk *walk, int folder, const char *inside, const char *name,
                      struct sta_error *err)
{
    struct stat st;
    struct sta_error why = STA_ERROR_INIT;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        sta_fail_file(&why, errno, "cannot look at %s", inside);
        return add_unlisted(walk, inside, has_trace_name(name), &why, err);
    }
    walk->listing->links |= S_ISLNK(st.st_mode);
    if (S_ISLNK(st.st_mode))
        add_text(&walk->links, &walk->link_count, &walk->link_capacity, inside);
    else if (S_ISDIR(st.st_mode))
        add_text(&walk->folders, &walk->folder_count, &walk->folder_capacity, inside);
    if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode))
        return STA_OK;
    is_new(walk, &st);
    return take_file(walk, inside, &st, err);
}

static int read_entries(struct walk *walk, DIR *folder, const char *inside, struct sta_error *err)
{
    int status = STA_OK;
    while (status == STA_OK) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL)
            return errno == 0 ? STA_OK : sta_fail_file(err, errno, "cannot list %s", inside);
        if (walk->cancel != NULL && atomic_load_explicit(walk->cancel, memory_order_relaxed))
            return sta_fail(err, STA_ECANCELLED, "cancelled");
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        char *below = inside[0] == '\0' ? sta_strdup(name) : sta_path_join(inside, name);
        status = take_entry(walk, dirfd(folder), below, name, err);
        free(below);
    }
    return status;
}

/* What tells later whether names came or went.  A folder that changed just now may change once more without
 * its time telling. */
static void note_folder(struct sta_listing *listing, const char *inside, const struct stat *st)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    STA_GROW(listing->folders, listing->folder_capacity, listing->folder_count + 1);
    listing->folders[listing->folder_count++] =
        (struct sta_listed_folder){.path = sta_strdup(inside),
                                   .device = (uint64_t)st->st_dev,
                                   .inode = (uint64_t)st->st_ino,
                                   .mtime_ns = mtime_of(st),
                                   .settled = now_ns - mtime_of(st) > SETTLED_NS};
}

/* Lists one folder.  A failure is the folder's. */
static int walk_folder(struct walk *walk, const char *inside, struct sta_error *err)
{
    struct stat st;
    int fd;
    int status = open_inside(walk, inside, READ | O_DIRECTORY, &fd, err);
    if (status != STA_OK)
        return status;
    bool looked = fstat(fd, &st) == 0, known = looked && !is_new(walk, &st);
    DIR *folder = looked && !known ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        status = known ? STA_OK : sta_fail_file(err, errno, "cannot look at %s", inside);
        close(fd);
        return status;
    }
    note_folder(walk->listing, inside, &st);
    status = read_entries(walk, folder, inside, err);
    closedir(folder);
    return status;
}

/* The folders found so far and those found in them, until there are no more. */
static int walk_folders(struct walk *walk, struct sta_error *err)
{
    int status = STA_OK;
    while (status == STA_OK && walk->folder_count > 0) {
        char *inside = walk->folders[--walk->folder_count];
        struct sta_error why = STA_ERROR_INIT;
        status = walk_folder(walk, inside, &why);
        if (status == STA_ECANCELLED)
            *err = why;
        else if (status != STA_OK)
            status = add_unlisted(walk, inside, true, &why, err);
        free(inside);
    }
    return status;
}

static int follow_link(struct walk *walk, const char *inside, struct sta_error *err)
{
    struct stat st;
    struct sta_error why = STA_ERROR_INIT;
    int fd;
    int status = open_inside(walk, inside, LOOK, &fd, &why);
    if (status == STA_OK) {
        if (fstat(fd, &st) != 0)
            status = sta_fail_file(&why, errno, "cannot look at %s", inside);
        close(fd);
    }
    if (status != STA_OK)
        return add_unlisted(walk, inside, has_trace_name(inside), &why, err);
    if (S_ISDIR(st.st_mode)) {
        add_text(&walk->folders, &walk->folder_count, &walk->folder_capacity, inside);
        return walk_folders(walk, err);
    }
    return is_new(walk, &st) ? take_file(walk, inside, &st, err) : STA_OK;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

/* The links met so far, then those met behind them, until there are no more. */
static int follow_links(struct walk *walk, struct sta_error *err)
{
    int status = STA_OK;
    while (status == STA_OK && walk->link_count > 0) {
        char **links = walk->links;
        size_t count = walk->link_count;
        walk->links = NULL;
        walk->link_count = walk->link_capacity = 0;
        qsort(links, count, sizeof *links, by_text);
        for (size_t i = 0; i < count && status == STA_OK; i++)
            status = follow_link(walk, links[i], err);
        free_texts(links, count);
    }
    return status;
}

/* ---- the listing */

static int list_folder(struct walk *walk, struct sta_error *err)
{
    walk->seen = sta_dictionary_create();
    int status = walk_folder(walk, "", err);
    if (status == STA_OK)
        status = walk_folders(walk, err);
    if (status == STA_OK)
        status = follow_links(walk, err);
    free_texts(walk->folders, walk->folder_count);
    free_texts(walk->links, walk->link_count);
    sta_dictionary_destroy(walk->seen);
    return status;
}

static int list_single(struct walk *walk, const struct stat *st, struct sta_error *err)
{
    const char *slash = strrchr(walk->path, '/');
    walk->listing->single = true;
    int status = take_file(walk, slash != NULL ? slash + 1 : walk->path, st, err);
    return status == STA_OK && walk->listing->unlisted_count > 0
               ? sta_fail(err, walk->listing->unlisted[0].status, "%s", walk->listing->unlisted[0].reason)
               : status;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct sta_listed_file *)left)->path,
                  ((const struct sta_listed_file *)right)->path);
}

int sta_listing_create(struct sta_listing *listing, struct sta_roots *roots, const char *path,
                       const _Atomic bool *cancel, struct sta_error *err)
{
    struct walk walk = {.listing = listing, .roots = roots, .path = path, .cancel = cancel};
    struct stat st;
    int fd;
    *listing = (struct sta_listing){0};
    int status = sta_roots_open(roots, path, LOOK, NULL, &fd, err);
    if (status != STA_OK)
        return status;
    if (fstat(fd, &st) != 0)
        status = sta_fail_file(err, errno, "cannot look at %s", path);
    else
        status = S_ISDIR(st.st_mode) ? list_folder(&walk, err) : list_single(&walk, &st, err);
    close(fd);
    if (status != STA_OK)
        sta_listing_fini(listing);
    else if (listing->count > 1)
        qsort(listing->files, listing->count, sizeof *listing->files, by_path);
    if (status == STA_OK)
        sta_listing_leave_out(listing);
    return status;
}

void sta_listing_fini(struct sta_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->files[i].path);
    for (size_t i = 0; i < listing->unlisted_count; i++) {
        free(listing->unlisted[i].path);
        free(listing->unlisted[i].reason);
    }
    for (size_t i = 0; i < listing->folder_count; i++)
        free(listing->folders[i].path);
    free(listing->files);
    free(listing->unlisted);
    free(listing->folders);
    *listing = (struct sta_listing){0};
}

int sta_listing_kind(const struct sta_listing *listing, enum sta_trace_kind *kind, struct sta_error *err)
{
    const struct sta_listed_file *first = &listing->files[0];
    *kind = first->kind;
    for (size_t i = 1; i < listing->count; i++)
        if (listing->files[i].kind != first->kind)
            return sta_fail(err, STA_EINPUT,
                            "it holds files of two kinds of traces: %s is one of kind \"%s\", %s of kind "
                            "\"%s\"; register folders or files of one kind each",
                            first->path, sta_trace_kind_name(first->kind), listing->files[i].path,
                            sta_trace_kind_name(listing->files[i].kind));
    return STA_OK;
}

const struct sta_unlisted *sta_listing_covers(const struct sta_listing *listing, const char *inside)
{
    for (size_t i = 0; i < listing->unlisted_count; i++) {
        const struct sta_unlisted *unlisted = &listing->unlisted[i];
        size_t length = strlen(unlisted->path);
        if (strncmp(inside, unlisted->path, length) == 0 && (inside[length] == '\0' || inside[length] == '/'))
            return unlisted;
    }
    return NULL;
}

bool sta_listing_names_changed(const struct sta_listed_folder *folders, size_t count, struct sta_roots *roots,
                               const char *trace_path)
{
    bool changed = false;
    for (size_t i = 0; i < count && !changed; i++) {
        const struct sta_listed_folder *folder = &folders[i];
        struct sta_error ignored = STA_ERROR_INIT;
        struct stat st = {0};
        char *path =
            folder->path[0] == '\0' ? sta_strdup(trace_path) : sta_path_join(trace_path, folder->path);
        int fd;
        changed = !folder->settled || sta_roots_open(roots, path, LOOK, NULL, &fd, &ignored) != STA_OK;
        if (!changed) {
            changed = fstat(fd, &st) != 0 || (uint64_t)st.st_dev != folder->device ||
                      (uint64_t)st.st_ino != folder->inode || mtime_of(&st) != folder->mtime_ns;
            close(fd);
        }
        free(path);
    }
    return changed;
}

bool sta_listing_is_outdated(const struct sta_listing *listing, struct sta_roots *roots,
                             const char *trace_path)
{
    bool changed = sta_listing_names_changed(listing->folders, listing->folder_count, roots, trace_path);
    for (size_t i = 0; i < listing->count && !changed; i++) {
        const struct sta_listed_file *file = &listing->files[i];
        struct sta_error ignored = STA_ERROR_INIT;
        struct stat st;
        char *path = sta_listing_path(listing, trace_path, file->path);
        int fd;
        changed = sta_roots_open(roots, path, LOOK, NULL, &fd, &ignored) != STA_OK;
        if (!changed) {
            changed =
                fstat(fd, &st) != 0 || (uint64_t)st.st_size != file->size || mtime_of(&st) != file->mtime_ns;
            close(fd);
        }
        free(path);
    }
    return changed;
}

/* ---- browsing */

/* Looks into a file of an open folder, if it is a regular one. */
static bool begins_like_trace(int folder, const char *name)
{
    struct sta_error ignored = STA_ERROR_INIT;
    enum sta_trace_kind kind;
    struct stat st;
    int fd = openat(folder, name, READ | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return false;
    }
    return sniff(fd, name, &kind, &ignored) == STA_OK && kind != STA_TRACE_UNKNOWN;
}

/* By the names of its files, else by the beginnings of the first few.  Closes the folder. */
static bool holds_trace_files(int fd)
{
    DIR *folder = fdopendir(fd);
    bool found = false;
    unsigned looked = 0;
    if (folder == NULL) {
        close(fd);
        return false;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL && !found; entry = readdir(folder))
        found =
            entry->d_type != DT_DIR && (has_trace_name(entry->d_name) ||
                                        (looked++ < BROWSED_FILES && begins_like_trace(fd, entry->d_name)));
    closedir(folder);
    return found;
}

bool sta_looks_like_trace(struct sta_roots *roots, const char *path, bool folder)
{
    struct sta_error ignored = STA_ERROR_INIT;
    enum sta_trace_kind kind;
    int fd;
    if (!folder && has_trace_name(path))
        return true;
    if (sta_roots_open(roots, path, READ | (folder ? O_DIRECTORY : 0), NULL, &fd, &ignored) != STA_OK)
        return false;
    if (folder)
        return holds_trace_files(fd);
    return sniff(fd, path, &kind, &ignored) == STA_OK && kind != STA_TRACE_UNKNOWN;
}
