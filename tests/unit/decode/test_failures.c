/* Failures to look at files or to read them are no facts about the files.  The system calls that decode makes
 * are replaced here, so that they fail when a test says so. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/files.h"
#include "decoded.h"

#define LINES 60000

static char folder[64];
static const char *failing_name;                                 /* that fstatat does not see */
static int listed_before_failure = -1, read_before_failure = -1; /* calls; -1: none fails */
static bool pread_fails;

static bool is_due(int *calls)
{
    if (*calls == 0)
        errno = EIO;
    else if (*calls > 0)
        --*calls;
    return *calls == 0 && errno == EIO;
}

ssize_t read(int fd, void *bytes, size_t size)
{
    errno = 0;
    bool fails = size > 1000 && is_due(&read_before_failure); /* the test's runner reads less */
    return fails ? -1 : (ssize_t)syscall(SYS_read, fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    errno = EIO;
    return pread_fails ? -1 : (ssize_t)syscall(SYS_pread64, fd, bytes, size, offset);
}

int fstatat(int fd, const char *restrict name, struct stat *restrict st, int flags)
{
    errno = EIO;
    bool fails = failing_name != NULL && strcmp(name, failing_name) == 0;
    return fails ? -1 : (int)syscall(SYS_newfstatat, fd, name, st, flags);
}

/* One entry at a time, and a failure where one is due. */
struct dirent *readdir(DIR *listed)
{
    static struct {
        struct dirent entry;
        char buffer[256];
    } buffer;
    static char bytes[4096];
    static long got, at;
    static DIR *last;
    errno = 0;
    bool fails = is_due(&listed_before_failure);
    if (!fails && (last != listed || at >= got)) {
        got = syscall(SYS_getdents64, dirfd(listed), bytes, sizeof bytes);
        at = 0;
        last = listed;
    }
    if (fails || got <= 0) {
        last = NULL;
        return NULL;
    }
    const struct dirent *entry = (const struct dirent *)(bytes + at);
    memcpy(&buffer, entry, entry->d_reclen);
    at += entry->d_reclen;
    return &buffer.entry;
}

static void write_lines(const char *name, unsigned lines)
{
    struct sta_error err = STA_ERROR_INIT;
    char *path = sta_path_join(folder, name), *slash = strrchr(path, '/');
    *slash = '\0';
    cr_assert_eq(sta_folder_create(path, &err), STA_OK);
    *slash = '/';
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    for (unsigned i = 0; i < lines; i++)
        fprintf(file, "{\"id\":%u,\"name\":\"read\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":5}\n",
                i, i * 10);
    fclose(file);
    free(path);
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/strata-failures-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    write_lines("a.pfw", LINES);
    write_lines("below/b.pfw", 1);
    write_lines("below/c.pfw", 1);
}

static void remove_folder(void)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
}

static int list(struct sta_listing *listing)
{
    struct sta_error err = STA_ERROR_INIT;
    return sta_listing_create(listing, whole_disk(), folder, NULL, &err);
}

static bool is_listed(const struct sta_listing *listing, const char *path)
{
    for (size_t i = 0; i < listing->count; i++)
        if (strcmp(listing->files[i].path, path) == 0)
            return true;
    return false;
}

/* Wherever the listing of a folder breaks off, each file is listed or covered by what could not be. */
Test(failures, a_listing_that_breaks_off_says_where, .init = make_folder, .fini = remove_folder)
{
    static const char *const paths[] = {"a.pfw", "below/b.pfw", "below/c.pfw"};
    unsigned whole = 0, broken = 0, refused = 0;
    for (int calls = 0; calls < 12; calls++) {
        struct sta_listing listing;
        listed_before_failure = calls;
        int status = list(&listing);
        listed_before_failure = -1;
        refused += status == STA_EIO;
        if (status != STA_OK)
            continue;
        for (size_t i = 0; i < STA_COUNT_OF(paths); i++)
            cr_expect(is_listed(&listing, paths[i]) || sta_listing_covers(&listing, paths[i]) != NULL,
                      "%s is lost after %d", paths[i], calls);
        whole += listing.unlisted_count == 0;
        broken += listing.unlisted_count == 1 && strcmp(listing.unlisted[0].path, "below") == 0;
        sta_listing_fini(&listing);
    }
    cr_assert(whole > 0 && broken > 0 && refused > 0, "%u, %u, %u", whole, broken, refused);
}

Test(failures, an_entry_that_cannot_be_looked_at_is_not_gone, .init = make_folder, .fini = remove_folder)
{
    static const char *const names[] = {"below", "b.pfw"};
    for (size_t i = 0; i < STA_COUNT_OF(names); i++) {
        struct sta_listing listing;
        failing_name = names[i];
        cr_assert_eq(list(&listing), STA_OK);
        failing_name = NULL;
        const struct sta_unlisted *unlisted = sta_listing_covers(&listing, "below/b.pfw");
        cr_assert_not_null(unlisted);
        cr_assert(unlisted->status == STA_EIO && strstr(unlisted->reason, "Input/output error") != NULL);
        cr_assert_null(sta_listing_covers(&listing, "a.pfw"));
        cr_assert_null(sta_listing_covers(&listing, "below-other"));
        sta_listing_fini(&listing);
    }
}

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    return STA_OK;
}

static int read_file(struct sta_source *source, const char *path, bool known)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_progress progress = {0};
    *source = (struct sta_source){.path = sta_strdup("a.pfw")};
    struct sta_decode_file file = {.file = path, .source = source, .known = known};
    struct sta_decode_request request = {.roots = whole_disk(),
                                         .kind = STA_TRACE_EVENTS,
                                         .files = &file,
                                         .file_count = 1,
                                         .tables = sta_tables_create(NULL),
                                         .workers = 1,
                                         .progress = &progress,
                                         .batch = take_batch};
    int status = sta_decode_run(&request, &err);
    sta_tables_destroy(request.tables);
    return status;
}

static int compare(const struct sta_source *source, const char *path, enum sta_source_change *change)
{
    struct sta_error err = STA_ERROR_INIT;
    return sta_source_compare(source, whole_disk(), path, change, &err);
}

Test(failures, a_file_that_breaks_off_is_read_again_and_loses_nothing, .init = make_folder,
     .fini = remove_folder)
{
    char *path = sta_path_join(folder, "a.pfw");
    struct sta_source source;
    enum sta_source_change change;
    read_before_failure = 1;
    cr_assert_eq(read_file(&source, path, false), STA_OK);
    read_before_failure = -1;
    cr_assert_eq(source.state, STA_SOURCE_TRUNCATED);
    cr_assert_not_null(strstr(source.reason, "Input/output error"), "%s", source.reason);
    cr_assert(source.counts.events > 0 && source.counts.events < LINES);
    cr_assert(compare(&source, path, &change) == STA_OK && change == STA_SOURCE_CHANGED);
    sta_source_fini(&source);
    read_before_failure = 1;
    cr_assert_eq(read_file(&source, path, true), STA_EIO, "it gave all of its events before");
    sta_source_fini(&source);
    free(path);
}

Test(failures, a_fingerprint_that_cannot_be_taken_is_no_change, .init = make_folder, .fini = remove_folder)
{
    char *path = sta_path_join(folder, "a.pfw");
    struct sta_source source;
    enum sta_source_change change;
    cr_assert_eq(read_file(&source, path, false), STA_OK);
    pread_fails = true;
    cr_assert(compare(&source, path, &change) == STA_OK && change == STA_SOURCE_SAME, "nothing is opened");
    cr_assert_eq(utimensat(AT_FDCWD, path, NULL, 0), 0);
    cr_assert_eq(compare(&source, path, &change), STA_EIO);
    pread_fails = false;
    cr_assert(compare(&source, path, &change) == STA_OK && change == STA_SOURCE_SAME);
    sta_source_fini(&source);
    free(path);
}
