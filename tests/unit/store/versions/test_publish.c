/* Publishing a version: the order in which files reach the disk, and a failure at each call.
 *
 * The calls by which the store changes files are replaced by ones that are recorded, and of which the n-th
 * can fail, once or from there on. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/files.h"
#include "common/memory.h"
#include "../sample.h"

/* ---- replaced calls */

enum call { CREATE, OPEN_FOLDER, WRITE, SYNC, RENAME, UNLINK, CALL_KINDS };

struct recorded {
    enum call call;
    bool by_writer; /* SYNC: of a descriptor that can write, not of one opened later to sync */
    char path[160]; /* RENAME: the new name */
};

static struct recorded record[4096];
static atomic_size_t recorded;
static _Atomic bool recording;
static _Atomic long calls_left = -1; /* until one fails; negative: none does */
static int failure;                  /* errno of the one that fails */
static bool for_good;                /* the calls after it fail as well */
static unsigned failed[CALL_KINDS];

int open(const char *path, int flags, ...);
int fsync(int fd);
int rename(const char *from, const char *to);
int unlink(const char *path);
ssize_t write(int fd, const void *bytes, size_t size);

/* Return: whether the call is to fail. */
static bool note(enum call call, int fd, const char *path)
{
    if (!atomic_load(&recording))
        return false;
    long left = atomic_load(&calls_left) < 0 ? -1 : atomic_fetch_sub(&calls_left, 1);
    if (left == 0) {
        failed[call]++;
        atomic_store(&calls_left, for_good ? 0 : -1);
        errno = failure;
        return true;
    }
    struct recorded *next = &record[atomic_fetch_add(&recorded, 1) % STA_COUNT_OF(record)];
    *next = (struct recorded){.call = call, .by_writer = fd >= 0 && fcntl(fd, F_GETFL) & O_WRONLY};
    snprintf(next->path, sizeof next->path, "%s", path);
    return false;
}

static bool note_fd(enum call call, int fd)
{
    char link[40], path[160] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1) < 0)
        return false;
    bool in_store = strncmp(path, "/tmp/strata-store-", 18) == 0;
    return in_store && note(call, fd, path);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if ((flags & O_CREAT && note(CREATE, -1, path)) || (flags & O_DIRECTORY && note(OPEN_FOLDER, -1, path)))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fsync(int fd)
{
    return note_fd(SYNC, fd) ? -1 : 0; /* no power is lost here: syncing would only take time */
}

int rename(const char *from, const char *to)
{
    return note(RENAME, -1, to) ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path)
{
    return note(UNLINK, -1, path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    return note_fd(WRITE, fd) ? -1 : syscall(SYS_write, fd, bytes, size);
}

static void watch(long calls, int errno_value, bool lasting)
{
    atomic_store(&recorded, 0);
    failure = errno_value;
    for_good = lasting;
    atomic_store(&calls_left, calls);
    atomic_store(&recording, true);
}

/* Return: whether a call failed. */
static bool stop_watching(void)
{
    bool none = atomic_load(&calls_left) > 0;
    atomic_store(&recording, false);
    atomic_store(&calls_left, -1);
    return !none;
}

/* ---- a trace of two sources: the old version has the first, the new one both */

static const struct sample_shape shape = {.seed = 33, .rows = 600, .sources = 2, .chunk_rows = 100};
static const bool first[] = {true, false}, second[] = {false, true};

static void publish_old(struct scratch_store *scratch, const struct sample *sample)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer = scratch_begin(scratch, 1, 0);
    sample_write(sample, writer, 1, first);
    cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
}

/* The version to be holds all, while who opens the trace gets the old one. */
static int look_ahead(const struct scratch_store *scratch, const struct sample *sample,
                      struct sta_writer *writer, struct sta_error *err)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_snapshot *version, *open;
    int status = sta_writer_preview(writer, &version, err);
    if (status != STA_OK) {
        sta_writer_abort(writer);
        return status;
    }
    if (version != NULL)
        sample_check(sample, version, NULL);
    if (sta_snapshot_open(scratch->store, scratch->trace, &open, &ignored) == STA_OK) {
        cr_assert_eq(sta_snapshot_source_count(open), 1);
        sta_snapshot_release(open);
    }
    status = sta_writer_publish(writer, err);
    if (status == STA_OK && version != NULL) {
        cr_assert_eq(sta_snapshot_open(scratch->store, scratch->trace, &open, &ignored), STA_OK);
        cr_assert_eq(open, version, "it is not opened again");
        cr_assert_gt(sta_snapshot_info(open)->store_bytes, 0);
        sta_snapshot_release(open);
    }
    sta_snapshot_release(version);
    return status;
}

static int publish_new(const struct scratch_store *scratch, const struct sample *sample, bool ahead,
                       struct sta_error *err)
{
    struct sta_snapshot *base;
    struct sta_writer *writer;
    struct sta_writer_options options = {.workers = 1, .memory = 64 << 20};
    int status = sta_snapshot_open(scratch->store, scratch->trace, &base, err);
    if (status != STA_OK)
        return status;
    status = sta_writer_begin(scratch->store, scratch->trace, base, NULL, &options, &writer, err);
    sta_snapshot_release(base);
    if (status != STA_OK)
        return status;
    sample_write(sample, writer, 1, second);
    return ahead ? look_ahead(scratch, sample, writer, err) : sta_writer_publish(writer, err);
}

/* ---- the order of syncs */

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length >= tail && strcmp(path + length - tail, end) == 0;
}

/* Place of the first such call from @from on, or of none the end. */
static size_t find_call(size_t from, enum call call, const char *path)
{
    while (from < recorded && (record[from].call != call || !ends_in(record[from].path, path)))
        from++;
    return from;
}

static void check_synced(size_t created, size_t before)
{
    const char *path = record[created].path;
    size_t written = find_call(created, WRITE, path), synced = find_call(created, SYNC, path);
    for (size_t again = written; again < recorded; again = find_call(again + 1, WRITE, path))
        written = again;
    cr_assert(written < synced && synced < before, "%s is synced after it is written, and in time", path);
    cr_assert(record[synced].by_writer, "%s is synced by the descriptor that wrote it", path);
}

static void check_order(bool ahead)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    publish_old(&scratch, &sample);
    watch(-1, 0, false);
    cr_assert_eq(publish_new(&scratch, &sample, ahead, &err), STA_OK, "%s", err.text);
    stop_watching();
    size_t renamed = find_call(0, RENAME, "/manifest"), last_created = 0, created = 0;
    cr_assert_lt(renamed, recorded);
    for (size_t i = 0; (i = find_call(i, CREATE, "")) < recorded; i++) {
        check_synced(i, renamed);
        last_created = ends_in(record[i].path, ".tmp") ? last_created : i;
        created++;
    }
    cr_assert_geq(created, 4, "a segment, tables, sources, the manifest");
    size_t folder_synced = find_call(last_created, SYNC, scratch.trace);
    cr_assert_lt(folder_synced, renamed, "the names of new files are on the disk before the manifest's");
    size_t synced_again = find_call(renamed, SYNC, scratch.trace), removed = find_call(0, UNLINK, "");
    cr_assert(renamed < synced_again && synced_again < removed,
              "files of the old version stay until the new one is sure");
    cr_assert_lt(removed, recorded);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(publish, nothing_is_named_before_it_is_on_the_disk)
{
    check_order(false);
}

Test(publish, nor_where_the_version_is_looked_at_before)
{
    check_order(true);
}

/* ---- a failure at each call */

static unsigned old_versions, new_versions;

static bool check_version(struct scratch_store *scratch, const struct sample *sample)
{
    struct sta_snapshot *snapshot = scratch_snapshot(scratch);
    bool is_new = sta_snapshot_source_count(snapshot) == 2;
    cr_assert_eq(sta_snapshot_info(snapshot)->damaged, 0);
    sample_check(sample, snapshot, is_new ? NULL : first);
    sta_snapshot_release(snapshot);
    return is_new;
}

/* Return: whether so many calls were made that one failed. */
static bool fail_at(long calls, int errno_value, bool lasting, bool ahead, const struct sample *sample)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    publish_old(&scratch, sample);
    watch(calls, errno_value, lasting);
    int status = publish_new(&scratch, sample, ahead, &err);
    bool one_failed = stop_watching();
    bool is_new = check_version(&scratch, sample);
    cr_assert(is_new || status != STA_OK, "it says that it has not been published");
    if (status != STA_OK)
        cr_assert_not_null(strstr(err.text, scratch.trace), "%s", err.text);
    scratch_reopen(&scratch);
    cr_assert_eq(check_version(&scratch, sample), is_new, "also after a restart");
    cr_assert_eq(scratch_reopen(&scratch), 0, "the first start removed what was left");
    if (!is_new)
        cr_assert_eq(publish_new(&scratch, sample, ahead, &err), STA_OK, "%s", err.text);
    cr_assert(check_version(&scratch, sample), "and it can be published when the disk is well again");
    old_versions += !is_new;
    new_versions += is_new && status != STA_OK;
    scratch_close(&scratch);
    return one_failed;
}

static void fail_everywhere(bool ahead)
{
    static const int errnos[] = {EIO, ENOSPC, EMFILE};
    struct sample sample;
    sample_init(&sample, &shape);
    for (size_t e = 0; e < STA_COUNT_OF(errnos); e++)
        for (int lasting = 0; lasting < 2; lasting++)
            for (long calls = 0; fail_at(calls, errnos[e], lasting, ahead, &sample);)
                calls++;
    for (unsigned call = 0; call < CALL_KINDS; call++)
        cr_assert_gt(failed[call], 0, "a call of kind %u failed", call);
    cr_assert_gt(old_versions, 30);
    cr_assert_gt(new_versions, 3, "published, but its folder could not be synced");
    sample_fini(&sample);
}

Test(publish, a_failure_at_any_call_leaves_the_old_or_the_new_version, .timeout = 800)
{
    fail_everywhere(false);
}

Test(publish, also_where_the_version_is_looked_at_before, .timeout = 800)
{
    fail_everywhere(true);
}
