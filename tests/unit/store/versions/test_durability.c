/* Crashes at any call, full disks, damaged bytes: the old or the new version, and nothing else.
 *
 * The calls by which the store changes files are replaced by ones that count, and end the process or fail at
 * the n-th. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/files.h"
#include "common/memory.h"
#include "../sample.h"

/* ---- replaced calls */

static _Atomic long calls_left = -1; /* until the process ends; negative: never */
static _Atomic long bytes_left = -1; /* that the disk takes; negative: any */

int fsync(int fd);
int rename(const char *from, const char *to);
int unlink(const char *path);
ssize_t write(int fd, const void *bytes, size_t size);

static void count_call(void)
{
    if (atomic_load(&calls_left) >= 0 && atomic_fetch_sub(&calls_left, 1) == 0)
        _exit(77);
}

int fsync(int fd)
{
    count_call();
    return 0; /* a process that ends loses no page: syncing would only take time here */
}

int rename(const char *from, const char *to)
{
    count_call();
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path)
{
    count_call();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    struct stat st;
    if (atomic_load(&bytes_left) >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        long left = atomic_load(&bytes_left);
        if (left == 0) {
            errno = ENOSPC;
            return -1;
        }
        size = STA_MIN(size, (size_t)left);
        atomic_fetch_sub(&bytes_left, (long)size);
    }
    if (atomic_load(&calls_left) >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (atomic_load(&calls_left) == 0)
            size = size / 2; /* half of it is on the disk when the end comes */
        ssize_t written = syscall(SYS_write, fd, bytes, size);
        count_call();
        return written;
    }
    return syscall(SYS_write, fd, bytes, size);
}

/* ---- crashes */

static const struct sample_shape shape = {.seed = 21, .rows = 6000, .sources = 2, .chunk_rows = 1000};
static const bool first[] = {true, false};

/* Opens the store, refreshes the trace with the second source, ends.  Return: only of a child that was not
 * ended before. */
static void refresh(const char *folder, const char *trace, const struct sample *sample, long calls)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_store *store;
    struct sta_snapshot *base;
    struct sta_writer *writer;
    unsigned cleaned;
    atomic_store(&calls_left, calls);
    if (sta_store_open(folder, &store, &cleaned, &err) != STA_OK ||
        sta_snapshot_open(store, trace, &base, &err) != STA_OK)
        _exit(1);
    const bool second[] = {false, true};
    struct sta_writer_options options = {.workers = 1, .memory = 0};
    if (sta_writer_begin(store, trace, base, NULL, &options, &writer, &err) != STA_OK)
        _exit(2);
    sample_write(sample, writer, 1, second);
    if (sta_writer_publish(writer, &err) != STA_OK)
        _exit(3);
    if (sta_store_put_kept(store, NULL, 0, "name", "value", 5, &err) != STA_OK)
        _exit(4);
    _exit(0);
}

static int run_child(const struct scratch_store *scratch, const struct sample *sample, long calls)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        refresh(scratch->folder, scratch->trace, sample, calls);
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

Test(durability, a_crash_at_any_call_leaves_the_old_or_the_new_version, .timeout = 480)
{
    struct sample sample;
    int ended = 77;
    unsigned old_versions = 0, new_versions = 0;
    sample_init(&sample, &shape);
    for (long calls = 0; ended == 77; calls++) {
        struct scratch_store scratch;
        struct sta_error err = STA_ERROR_INIT;
        unsigned cleaned;
        scratch_open(&scratch);
        struct sta_writer *writer = scratch_begin(&scratch, 1, 0);
        sample_write(&sample, writer, 1, first);
        cr_assert_eq(sta_writer_publish(writer, &err), STA_OK);
        sta_store_close(scratch.store);
        ended = run_child(&scratch, &sample, calls);
        cr_assert(ended == 77 || ended == 0, "child failed at %d", ended);
        cr_assert_eq(sta_store_open(scratch.folder, &scratch.store, &cleaned, &err), STA_OK, "%s", err.text);
        struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
        bool is_new = sta_snapshot_source_count(snapshot) == 2;
        sample_check(&sample, snapshot, is_new ? NULL : first);
        old_versions += !is_new;
        new_versions += is_new;
        sta_snapshot_release(snapshot);
        cr_assert_eq(scratch_reopen(&scratch), 0, "the first start cleaned up all there was");
        scratch_close(&scratch);
    }
    cr_assert_gt(old_versions, 10);
    cr_assert_gt(new_versions, 3);
    sample_fini(&sample);
}

Test(durability, what_a_crash_left_is_counted)
{
    struct scratch_store scratch;
    struct sample sample;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    static const char *const left[] = {
        "traces/%s/000000ff.segment",  "traces/%s/manifest.tmp", "traces/%s/000000fe.tables",
        "traces/0123456789abcdef%.0s", "kept/x.tmp%.0s",         "format.tmp%.0s"};
    struct sta_error err = STA_ERROR_INIT;
    for (size_t i = 0; i < STA_COUNT_OF(left); i++) {
        char inside[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(inside, sizeof inside, left[i], scratch.trace);
#pragma GCC diagnostic pop
        char *path = sta_path_join(scratch.folder, inside);
        cr_assert_eq(sta_file_publish(path, "x", 1, &err), STA_OK);
        free(path);
    }
    cr_assert_eq(scratch_reopen(&scratch), STA_COUNT_OF(left));
    cr_assert_eq(scratch_reopen(&scratch), 0);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
    sample_fini(&sample);
}

/* ---- a full disk */

Test(durability, a_full_disk_names_the_file_and_leaves_nothing, .timeout = 480)
{
    struct scratch_store scratch;
    struct sample sample;
    unsigned failures = 0;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    for (long capacity = 0; capacity < 1000000; capacity = capacity * 3 / 2 + 100) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_writer *writer = scratch_begin(&scratch, 1, 64 << 20);
        sample_write(&sample, writer, 1, NULL);
        atomic_store(&bytes_left, capacity);
        int status = sta_writer_publish(writer, &err);
        atomic_store(&bytes_left, -1);
        if (status == STA_OK)
            break;
        failures++;
        cr_assert_eq(status, STA_ENOSPC, "%s", err.text);
        cr_assert(strstr(err.text, scratch.trace) && strstr(err.text, "No space left"), "%s", err.text);
        cr_assert_eq(scratch_file_count(&scratch), 1, "the catalogue entry alone");
    }
    cr_assert_gt(failures, 3);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(durability, a_full_disk_while_sealing_leaves_nothing)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    struct sta_writer *writer = scratch_begin(&scratch, 1, 0);
    uint32_t source = sta_writer_add_source(writer, "a");
    struct sta_batch batch;
    sta_batch_init(&batch);
    sta_batch_reserve(&batch, 1);
    batch.ts[0] = batch.dur[0] = 1;
    batch.name[0] = batch.cat[0] = batch.file[0] = STA_NO_CODE;
    batch.thread[0] = 0;
    batch.count = 1;
    atomic_store(&bytes_left, 10);
    cr_assert_eq(sta_writer_add(writer, 0, source, &batch, &err), STA_ENOSPC);
    atomic_store(&bytes_left, -1);
    sta_writer_abort(writer);
    sta_batch_fini(&batch);
    cr_assert_eq(scratch_file_count(&scratch), 1);
    scratch_close(&scratch);
}

/* ---- damage */

static void flip(const char *path, long offset)
{
    unsigned char byte;
    int fd = open(path, O_RDWR);
    cr_assert(fd >= 0);
    off_t at = offset >= 0 ? offset : lseek(fd, 0, SEEK_END) + offset;
    cr_assert_eq(pread(fd, &byte, 1, at), 1);
    byte ^= 4;
    cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

Test(durability, a_damaged_segment_is_set_aside_and_counted)
{
    struct sample sample;
    static const long offsets[] = {0, 9, 50, 85, -1, -100};
    sample_init(&sample, &shape);
    for (size_t i = 0; i < STA_COUNT_OF(offsets); i++) {
        struct scratch_store scratch;
        scratch_open(&scratch);
        scratch_publish(&scratch, &sample, 1, 0);
        char *segment = scratch_file(&scratch, ".segment", 0);
        flip(segment, offsets[i]);
        struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
        cr_assert_eq(sta_snapshot_info(snapshot)->damaged, 1);
        cr_assert_eq(sta_snapshot_info(snapshot)->events, sample.count - 1000);
        sta_snapshot_release(snapshot);
        char *aside = scratch_file(&scratch, ".damaged", 0);
        cr_assert_not_null(aside);
        cr_assert_eq(scratch_reopen(&scratch), 0);
        snapshot = scratch_snapshot(&scratch);
        cr_assert_eq(sta_snapshot_info(snapshot)->damaged, 1, "also after a restart");
        sta_snapshot_release(snapshot);
        scratch_publish(&scratch, &sample, 1, 0);
        cr_assert_neq(access(aside, F_OK), 0, "a new version needs it no more");
        snapshot = scratch_snapshot(&scratch);
        sample_check(&sample, snapshot, NULL);
        sta_snapshot_release(snapshot);
        free(aside);
        free(segment);
        scratch_close(&scratch);
    }
    sample_fini(&sample);
}

Test(durability, a_damaged_row_group_fails_its_read_with_a_sentence)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    char *segment = scratch_file(&scratch, ".segment", 0);
    flip(segment, 100); /* in the first payload, that of the names */
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    uint32_t *codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *codes);
    struct sta_column_values values = {.codes = codes};
    cr_assert_eq(
        sta_row_group_read(snapshot, sta_snapshot_row_group(snapshot, 0), STA_COLUMN_NAME, &values, &err),
        STA_ECORRUPT);
    cr_assert(strstr(err.text, "damaged") && strstr(err.text, scratch.trace), "%s", err.text);
    free(codes);
    free(segment);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
    sample_fini(&sample);
}

/* How many of the trace's row groups can be read. */
static unsigned read_row_groups(const struct sta_snapshot *snapshot)
{
    unsigned good = 0;
    int64_t *times = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *times);
    for (size_t b = 0; b < sta_snapshot_row_group_count(snapshot); b++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_column_values values = {.integers = times};
        int status =
            sta_row_group_read(snapshot, sta_snapshot_row_group(snapshot, b), STA_COLUMN_TS, &values, &err);
        cr_assert(status == STA_OK || status == STA_ECORRUPT, "%s", err.text);
        good += status == STA_OK;
    }
    free(times);
    return good;
}

#if defined(__has_feature)
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define HAS_THREAD_SANITIZER 0
#endif

Test(durability, a_segment_that_is_cut_while_it_is_open_is_damaged)
{
#if HAS_THREAD_SANITIZER
    cr_skip_test("needs signals: the thread sanitizer does not follow a jump out of a copy");
#endif
    static const off_t sizes[] = {0, 100, 4096};
    struct sample sample;
    sample_init(&sample, &(struct sample_shape){.seed = 8, .rows = 60000, .sources = 2, .chunk_rows = 30000});
    for (size_t i = 0; i < STA_COUNT_OF(sizes); i++) {
        struct scratch_store scratch;
        scratch_open(&scratch);
        scratch_publish(&scratch, &sample, 1, 0);
        struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
        unsigned all = read_row_groups(snapshot);
        char *segment = scratch_file(&scratch, ".segment", 0);
        cr_assert_eq(truncate(segment, sizes[i]), 0);
        unsigned left = read_row_groups(snapshot);
        cr_assert(0 < left && left < all, "%u of %u", left, all);
        sta_snapshot_release(snapshot);
        snapshot = scratch_snapshot(&scratch);
        cr_assert_eq(sta_snapshot_info(snapshot)->damaged, 1);
        cr_assert_eq(sta_snapshot_info(snapshot)->events + sta_snapshot_info(snapshot)->missing_events,
                     sample.count);
        sta_snapshot_release(snapshot);
        free(segment);
        scratch_close(&scratch);
    }
    sample_fini(&sample);
}

Test(durability, damaged_tables_sources_or_manifest_fail_the_open)
{
    static const char *const suffixes[] = {".tables", ".sources", "manifest"};
    static const long offsets[] = {3, 50, -1};
    struct sample sample;
    sample_init(&sample, &shape);
    for (size_t i = 0; i < STA_COUNT_OF(suffixes); i++)
        for (size_t o = 0; o < STA_COUNT_OF(offsets); o++) {
            struct scratch_store scratch;
            struct sta_error err = STA_ERROR_INIT;
            struct sta_snapshot *snapshot;
            scratch_open(&scratch);
            scratch_publish(&scratch, &sample, 1, 64 << 20);
            char *path = scratch_file(&scratch, suffixes[i], 0);
            flip(path, offsets[o]);
            cr_assert_eq(sta_snapshot_open(scratch.store, scratch.trace, &snapshot, &err), STA_ECORRUPT, "%s",
                         suffixes[i]);
            cr_assert_not_null(strstr(err.text, path), "%s", err.text);
            scratch_reopen(&scratch);
            cr_assert_eq(sta_snapshot_open(scratch.store, scratch.trace, &snapshot, &err), STA_ECORRUPT);
            scratch_publish(&scratch, &sample, 1, 64 << 20); /* rebuilt from the source */
            snapshot = scratch_snapshot(&scratch);
            sample_check(&sample, snapshot, NULL);
            sta_snapshot_release(snapshot);
            free(path);
            scratch_close(&scratch);
        }
    sample_fini(&sample);
}

Test(durability, a_damaged_entry_costs_one_trace)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry;
    scratch_open(&scratch);
    char path[] = "/runs/b", name[] = "b";
    struct sta_trace_entry second = {.path = path, .name = name, .created_us = 3};
    cr_assert_eq(sta_store_add(scratch.store, &second, &err), STA_OK);
    char *file = scratch_file(&scratch, "entry", 0);
    flip(file, 60);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    cr_assert_eq(sta_store_find(scratch.store, scratch.trace, &entry, &err), STA_ENOTFOUND);
    cr_assert_eq(sta_store_find(scratch.store, second.id, &entry, &err), STA_OK);
    sta_trace_entry_fini(&entry);
    free(file);
    scratch_close(&scratch);
}
