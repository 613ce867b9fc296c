/* The store folder: one process at a time, a format of its own, traces that are remembered, values that are
 * kept. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/files.h"
#include "common/memory.h"
#include "sample.h"

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
    cr_assert_eq(sta_file_publish(format, "strata store 2\n", 15, &err), STA_OK);
    cr_assert_eq(sta_store_open(folder, &store, &cleaned, &err), STA_ENEWER);
    cr_assert_neq(access(lock, F_OK), 0);
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
    free(format);
    free(lock);
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

static void keep_and_recall(struct scratch_store *scratch, const char *trace, uint64_t version)
{
    struct sta_error err = STA_ERROR_INIT;
    char *bytes;
    size_t size;
    cr_assert_eq(sta_store_recall(scratch->store, trace, version, "a/b", &bytes, &size, &err), STA_ENOTFOUND);
    cr_assert_eq(sta_store_keep(scratch->store, trace, version, "a/b", "one", 3, &err), STA_OK, "%s",
                 err.text);
    cr_assert_eq(sta_store_keep(scratch->store, trace, version, "a/b", "x\0y", 3, &err), STA_OK);
    cr_assert_eq(sta_store_keep(scratch->store, trace, version, "", NULL, 0, &err), STA_OK);
    cr_assert_eq(scratch_reopen(scratch), 0);
    cr_assert_eq(sta_store_recall(scratch->store, trace, version, "a/b", &bytes, &size, &err), STA_OK, "%s",
                 err.text);
    cr_assert(size == 3 && memcmp(bytes, "x\0y", 3) == 0);
    free(bytes);
    cr_assert_eq(sta_store_recall(scratch->store, trace, version, "", &bytes, &size, &err), STA_OK);
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
    keep_and_recall(&scratch, scratch.trace, version);
    keep_and_recall(&scratch, NULL, 0);
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    cr_assert_eq(sta_store_recall(scratch.store, scratch.trace, version, "a/b", &bytes, &size, &err),
                 STA_ENOTFOUND);
    cr_assert_eq(sta_store_keep(scratch.store, scratch.trace, version, "late", "x", 1, &err), STA_ENOTFOUND);
    cr_assert_eq(sta_store_recall(scratch.store, NULL, 0, "a/b", &bytes, &size, &err), STA_OK);
    free(bytes);
    scratch_close(&scratch);
    sample_fini(&sample);
}
