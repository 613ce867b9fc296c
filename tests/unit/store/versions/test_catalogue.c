/* The store folder: one process at a time, a format of its own, traces that are remembered, values that are
 * kept. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/account.h"
#include "common/build_id.h"
#include "common/files.h"
#include "common/memory.h"
#include "../sample.h"
#include "store/disk.h"

/* Files whose name ends so cannot be opened, or renamed: 0, they can. */
static const char *failing_name = "";
static int open_failure, rename_failure;

int open(const char *path, int flags, ...);
int rename(const char *from, const char *to);

static bool is_failing(const char *path)
{
    size_t length = strlen(path), tail = strlen(failing_name);
    return tail > 0 && length >= tail && strcmp(path + length - tail, failing_name) == 0;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if (open_failure != 0 && is_failing(path)) {
        errno = open_failure;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int rename(const char *from, const char *to)
{
    if (rename_failure != 0 && is_failing(from)) {
        errno = rename_failure;
        return -1;
    }
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

Test(catalogue, a_second_process_is_told_who_has_it)
{
    struct scratch_store scratch;
    char expected[64];
    scratch_open(&scratch);
    snprintf(expected, sizeof expected, "process %ld", (long)getpid());
    pid_t child = fork();
    if (child == 0) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_store *store;
        unsigned cleaned;
        int status = sta_store_open(scratch.folder, &store, &cleaned, &err);
        _exit(status == STA_EBUSY && strstr(err.text, expected) ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    scratch_close(&scratch);
}

Test(catalogue, a_newer_format_is_left_untouched)
{
    char folder[] = "/tmp/strata-store-XXXXXX";
    struct sta_error err = STA_ERROR_INIT;
    struct sta_store *store;
    unsigned cleaned;
    cr_assert_not_null(mkdtemp(folder));
    char *format = sta_path_join(folder, "format"), *lock = sta_path_join(folder, "lock");
    cr_assert_eq(sta_file_publish(format, "strata store 3\n", 15, &err), STA_OK);
    cr_assert_eq(sta_store_open(folder, &store, &cleaned, &err), STA_ENEWER);
    cr_assert_neq(access(lock, F_OK), 0);
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
    free(format);
    free(lock);
}

/* Programs of the older format must not take the files that are written from now on for damaged ones. */
Test(catalogue, a_store_of_the_older_format_becomes_one_of_this)
{
    char folder[] = "/tmp/strata-store-XXXXXX", *text;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_store *store;
    unsigned cleaned;
    size_t size;
    cr_assert_not_null(mkdtemp(folder));
    char *format = sta_path_join(folder, "format");
    cr_assert_eq(sta_file_publish(format, "strata store 1\n", 15, &err), STA_OK);
    cr_assert_eq(sta_store_open(folder, &store, &cleaned, &err), STA_OK);
    sta_store_close(store);
    cr_assert_eq(sta_file_read(format, 100, &text, &size, &err), STA_OK);
    cr_expect_str_eq(text, "strata store 2\n");
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
    free(text);
    free(format);
}

Test(catalogue, only_the_owner_may_look)
{
    struct scratch_store scratch;
    struct stat st;
    scratch_open(&scratch);
    cr_assert_eq(stat(scratch.folder, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0700);
    scratch_close(&scratch);
}

static void rename_and_tag(void *context, struct sta_trace_entry *entry)
{
    free(entry->name);
    entry->name = sta_strdup("renamed");
    entry->tags = sta_realloc_array(entry->tags, 2, sizeof(char *));
    entry->tags[0] = sta_strdup("first");
    entry->tags[1] = sta_strdup("");
    entry->tag_count = 2;
    entry->kind = STA_TRACE_DASF;
    entry->failure = sta_strdup("the disk was full");
}

Test(catalogue, entries_last_and_change)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    cr_assert_eq(sta_store_update(scratch.store, scratch.trace, rename_and_tag, NULL, &err), STA_OK);
    char path[] = "/runs/b", name[] = "b";
    struct sta_trace_entry second = {.path = path, .name = name, .created_us = 3};
    cr_assert_eq(sta_store_add(scratch.store, &second, &err), STA_OK);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    size_t count;
    struct sta_trace_entry *entries = sta_store_list(scratch.store, &count);
    cr_assert_eq(count, 2);
    cr_assert_str_eq(entries[0].name, "b", "created first");
    cr_assert_str_eq(entries[1].name, "renamed");
    cr_assert_str_eq(entries[1].failure, "the disk was full");
    cr_assert_null(entries[1].preset);
    cr_assert(entries[0].kind == STA_TRACE_UNKNOWN && entries[1].kind == STA_TRACE_DASF);
    cr_assert(entries[1].tag_count == 2 && strcmp(entries[1].tags[0], "first") == 0 &&
              entries[1].tags[1][0] == '\0');
    for (size_t i = 0; i < count; i++)
        sta_trace_entry_fini(&entries[i]);
    free(entries);
    scratch_close(&scratch);
}

Test(catalogue, a_removed_trace_is_gone_but_for_who_reads_it)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry;
    scratch_open(&scratch);
    sample_init(&sample, &(struct sample_shape){.seed = 1, .rows = 20000, .sources = 2, .chunk_rows = 5000});
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    cr_assert_eq(sta_store_remove(scratch.store, scratch.trace, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_store_find(scratch.store, scratch.trace, &entry, &err), STA_ENOTFOUND);
    cr_assert_eq(scratch_file_count(&scratch), 0);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    cr_assert_eq(sta_store_remove(scratch.store, scratch.trace, &err), STA_ENOTFOUND);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    scratch_close(&scratch);
    sample_fini(&sample);
}

static void put_and_get(struct scratch_store *scratch, const char *trace, uint64_t version)
{
    struct sta_error err = STA_ERROR_INIT;
    char *bytes;
    size_t size;
    cr_assert_eq(sta_store_get_kept(scratch->store, trace, version, "a/b", &bytes, &size, &err),
                 STA_ENOTFOUND);
    cr_assert_eq(sta_store_put_kept(scratch->store, trace, version, "a/b", "one", 3, &err), STA_OK, "%s",
                 err.text);
    cr_assert_eq(sta_store_put_kept(scratch->store, trace, version, "a/b", "x\0y", 3, &err), STA_OK);
    cr_assert_eq(sta_store_put_kept(scratch->store, trace, version, "", NULL, 0, &err), STA_OK);
    cr_assert_eq(scratch_reopen(scratch), 0);
    cr_assert_eq(sta_store_get_kept(scratch->store, trace, version, "a/b", &bytes, &size, &err), STA_OK, "%s",
                 err.text);
    cr_assert(size == 3 && memcmp(bytes, "x\0y", 3) == 0);
    free(bytes);
    cr_assert_eq(sta_store_get_kept(scratch->store, trace, version, "", &bytes, &size, &err), STA_OK);
    cr_assert_eq(size, 0);
    free(bytes);
}

Test(catalogue, values_are_kept_with_a_version_or_the_store)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    char *bytes;
    size_t size;
    scratch_open(&scratch);
    sample_init(&sample, &(struct sample_shape){.seed = 1, .rows = 100, .sources = 1, .chunk_rows = 50});
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    uint64_t version = sta_snapshot_info(snapshot)->version;
    sta_snapshot_release(snapshot);
    put_and_get(&scratch, scratch.trace, version);
    put_and_get(&scratch, NULL, 0);
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    cr_assert_eq(sta_store_get_kept(scratch.store, scratch.trace, version, "a/b", &bytes, &size, &err),
                 STA_ENOTFOUND);
    cr_assert_eq(sta_store_put_kept(scratch.store, scratch.trace, version, "late", "x", 1, &err),
                 STA_ENOTFOUND);
    cr_assert_eq(sta_store_get_kept(scratch.store, NULL, 0, "a/b", &bytes, &size, &err), STA_OK);
    free(bytes);
    scratch_close(&scratch);
    sample_fini(&sample);
}

/* ---- a fact needs proof */

static const struct sample_shape small = {.seed = 5, .rows = 300, .sources = 2, .chunk_rows = 100};

Test(catalogue, a_trace_whose_entry_cannot_be_read_is_left_untouched)
{
    static const int errnos[] = {EIO, ENOMEM, EMFILE, EACCES};
    for (size_t i = 0; i < STA_COUNT_OF(errnos); i++) {
        struct scratch_store scratch;
        struct sample sample;
        struct sta_error err = STA_ERROR_INIT;
        struct sta_trace_entry entry;
        scratch_open(&scratch);
        sample_init(&sample, &small);
        scratch_publish(&scratch, &sample, 1, 0);
        unsigned files = scratch_file_count(&scratch);
        failing_name = "/entry";
        open_failure = errnos[i];
        cr_assert_eq(scratch_reopen(&scratch), 0);
        open_failure = 0;
        cr_assert_eq(sta_store_find(scratch.store, scratch.trace, &entry, &err), STA_ENOTFOUND);
        cr_assert_eq(scratch_file_count(&scratch), files);
        cr_assert_null(scratch_file(&scratch, ".damaged", 0), "nothing says that it is damaged");
        cr_assert_eq(scratch_reopen(&scratch), 0);
        struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
        sample_check(&sample, snapshot, NULL);
        sta_snapshot_release(snapshot);
        scratch_close(&scratch);
        sample_fini(&sample);
    }
}

/* Gives the entry another version of the format, with a header that is whole. */
static void put_version(const char *path, uint32_t version)
{
    struct sta_disk_envelope header;
    int fd = open(path, O_RDWR);
    cr_assert_eq(pread(fd, &header, sizeof header, 0), sizeof header);
    header.version = version;
    header.header_checksum = XXH3_64bits(&header, offsetof(struct sta_disk_envelope, header_checksum));
    cr_assert_eq(pwrite(fd, &header, sizeof header, 0), sizeof header);
    close(fd);
}

Test(catalogue, a_trace_of_a_newer_format_is_left_untouched)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry;
    scratch_open(&scratch);
    sample_init(&sample, &small);
    scratch_publish(&scratch, &sample, 1, 0);
    unsigned files = scratch_file_count(&scratch);
    char *path = scratch_file(&scratch, "entry", 0);
    put_version(path, STA_DISK_VERSION + 1);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    cr_assert_eq(sta_store_find(scratch.store, scratch.trace, &entry, &err), STA_ENOTFOUND);
    cr_assert_eq(scratch_file_count(&scratch), files);
    cr_assert_null(scratch_file(&scratch, ".damaged", 0));
    put_version(path, STA_DISK_VERSION);
    scratch_reopen(&scratch);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    free(path);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(catalogue, a_damaged_entry_that_cannot_be_set_aside_costs_no_file)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    sample_init(&sample, &small);
    scratch_publish(&scratch, &sample, 1, 0);
    unsigned files = scratch_file_count(&scratch);
    char *path = scratch_file(&scratch, "entry", 0);
    cr_assert_eq(sta_file_publish(path, "garbage", 7, &err), STA_OK);
    failing_name = "/entry";
    rename_failure = EROFS;
    scratch_reopen(&scratch);
    rename_failure = 0;
    cr_assert_eq(scratch_file_count(&scratch), files);
    free(path);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(catalogue, what_is_no_trace_is_left_untouched)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    char *copy = sta_sprintf("%s/traces/%s.bak", scratch.folder, scratch.trace),
         *file = sta_path_join(copy, "00000000.segment");
    cr_assert_eq(sta_folder_create(copy, &err), STA_OK);
    cr_assert_eq(sta_file_publish(file, "x", 1, &err), STA_OK);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    cr_assert_eq(access(file, F_OK), 0, "somebody's copy of a trace is not ours to remove");
    free(copy);
    free(file);
    scratch_close(&scratch);
}

Test(catalogue, permissions_of_a_folder_that_was_there_stay)
{
    struct scratch_store scratch;
    struct stat st;
    scratch_open(&scratch);
    cr_assert_eq(chmod(scratch.folder, 0750), 0);
    scratch_reopen(&scratch);
    cr_assert_eq(stat(scratch.folder, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0750);
    scratch_close(&scratch);
}

/* ---- a trace that is about to go */

Test(catalogue, a_retired_trace_is_there_for_its_removal_alone)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry;
    struct sta_snapshot *snapshot;
    struct sta_writer *second;
    struct sta_writer_options options = {.workers = 1, .memory = 1 << 20};
    scratch_open(&scratch);
    sample_init(&sample, &small);
    struct sta_writer *writer = scratch_begin(&scratch, 1, 0);
    sample_write(&sample, writer, 1, NULL);
    cr_assert_eq(sta_store_retire(scratch.store, scratch.trace, &err), STA_OK);
    cr_assert_eq(sta_store_retire(scratch.store, scratch.trace, &err), STA_ENOTFOUND);
    cr_assert_eq(sta_store_find(scratch.store, scratch.trace, &entry, &err), STA_ENOTFOUND);
    cr_assert_eq(sta_store_update(scratch.store, scratch.trace, rename_and_tag, NULL, &err), STA_ENOTFOUND,
                 "a change does not bring it back");
    cr_assert_eq(sta_snapshot_open(scratch.store, scratch.trace, &snapshot, &err), STA_ENOTFOUND);
    cr_assert_eq(sta_writer_begin(scratch.store, scratch.trace, NULL, NULL, &options, &second, &err),
                 STA_ENOTFOUND);
    cr_assert_eq(sta_writer_publish(writer, &err), STA_ENOTFOUND, "what was at work on it comes too late");
    cr_assert_eq(scratch_file_count(&scratch), 1, "the entry alone");
    cr_assert_eq(sta_store_remove(scratch.store, scratch.trace, &err), STA_OK, "%s", err.text);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(catalogue, a_trace_that_is_written_is_not_removed)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    sample_init(&sample, &small);
    struct sta_writer *writer = scratch_begin(&scratch, 1, 0);
    sample_write(&sample, writer, 1, NULL);
    cr_assert_eq(sta_store_remove(scratch.store, scratch.trace, &err), STA_EBUSY);
    cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
    sample_fini(&sample);
}

/* Parents that are no process, too few, too many. */
static void expect_none_of(struct scratch_store *scratch, const char *kept, const void *bytes, size_t size)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot = scratch_snapshot(scratch);
    const uint64_t version = sta_snapshot_info(snapshot)->version;
    sta_snapshot_release(snapshot);
    cr_assert_eq(sta_store_put_kept(scratch->store, scratch->trace, version, kept, bytes, size, &err), STA_OK,
                 "%s", err.text);
    scratch_reopen(scratch);
    snapshot = scratch_snapshot(scratch);
    cr_assert_null(sta_snapshot_parents(snapshot), "%zu bytes", size);
    sta_snapshot_release(snapshot);
}

Test(catalogue, parents_of_processes_are_kept_with_a_version)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    char name[80];
    scratch_open(&scratch);
    sample_init(&sample, &(struct sample_shape){.seed = 5, .rows = 500, .sources = 1, .chunk_rows = 50});
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    const uint32_t count = sta_snapshot_entities(snapshot)->process_count;
    uint32_t *parents = malloc(count * sizeof *parents);
    uint32_t *found =
        sta_account_alloc(sta_snapshot_account(snapshot), count, sizeof *found, "the parents", &err);
    unsigned char *bytes = calloc(count + 1, 1);
    cr_assert(count > 1 && count < 127);
    for (uint32_t p = 0; p < count; p++)
        parents[p] = found[p] = p > 0 ? p - 1 : UINT32_MAX;
    cr_assert_null(sta_snapshot_parents(snapshot));
    cr_assert_eq(sta_snapshot_keep_parents(snapshot, found), found);
    sta_snapshot_release(snapshot);
    scratch_reopen(&scratch);
    snapshot = scratch_snapshot(&scratch);
    const uint32_t *kept = sta_snapshot_parents(snapshot);
    cr_assert(kept != NULL && memcmp(kept, parents, count * sizeof *parents) == 0);
    cr_assert_eq(sta_snapshot_parents(snapshot), kept);
    sta_snapshot_release(snapshot);

    snprintf(name, sizeof name, "parents-%s", sta_build_id());
    expect_none_of(&scratch, name, bytes, count - 1);
    expect_none_of(&scratch, name, bytes, count + 1);
    bytes[1] = (unsigned char)(count + 1);
    expect_none_of(&scratch, name, bytes, count);
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    snapshot = scratch_snapshot(&scratch);
    cr_assert_null(sta_snapshot_parents(snapshot), "a new version has other events");
    sta_snapshot_release(snapshot);
    free(parents);
    free(bytes);
    scratch_close(&scratch);
    sample_fini(&sample);
}
