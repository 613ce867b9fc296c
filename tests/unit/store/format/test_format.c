/* Stores of earlier programs: format-1/ was written when format 1 was new, and must read the same for
 * ever. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "common/files.h"
#include "../sample.h"

static void copy_file(const char *from, const char *to)
{
    struct sta_error err = STA_ERROR_INIT;
    char *bytes;
    size_t size;
    cr_assert_eq(sta_file_read(from, 1 << 20, &bytes, &size, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_file_publish(to, bytes, size, &err), STA_OK, "%s", err.text);
    free(bytes);
}

static void copy_tree(const char *from, const char *to)
{
    struct sta_error err = STA_ERROR_INIT;
    DIR *entries = opendir(from);
    cr_assert_not_null(entries, "%s", from);
    cr_assert_eq(sta_folder_create(to, &err), STA_OK);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        struct stat st;
        if (entry->d_name[0] == '.')
            continue;
        char *inside = sta_path_join(from, entry->d_name), *copy = sta_path_join(to, entry->d_name);
        cr_assert_eq(stat(inside, &st), 0);
        if (S_ISDIR(st.st_mode))
            copy_tree(inside, copy);
        else
            copy_file(inside, copy);
        free(inside);
        free(copy);
    }
    closedir(entries);
}

Test(format, the_store_of_format_1_reads_as_it_was_written)
{
    struct sta_error err = STA_ERROR_INIT;
    struct scratch_store scratch;
    struct sample sample;
    unsigned cleaned;
    size_t count, size;
    char *bytes;
    snprintf(scratch.folder, sizeof scratch.folder, "/tmp/strata-store-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch.folder));
    copy_tree(STA_TEST_STORE, scratch.folder);
    cr_assert_eq(sta_store_open(scratch.folder, &scratch.store, &cleaned, &err), STA_OK, "%s", err.text);
    cr_assert_eq(cleaned, 0);
    struct sta_trace_entry *entries = sta_store_list(scratch.store, &count);
    cr_assert_eq(count, 1);
    cr_assert_str_eq(entries[0].path, "/runs/a");
    cr_assert_eq(entries[0].kind, STA_TRACE_EVENTS, "there was no other kind");
    memcpy(scratch.trace, entries[0].id, sizeof scratch.trace);
    sta_trace_entry_fini(&entries[0]);
    free(entries);
    sample_init(
        &sample,
        &(struct sample_shape){
            .seed = 1, .rows = 900, .sources = 3, .chunk_rows = 200, .fractions = true, .wild = true});
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    cr_assert_eq(sta_store_get_kept(scratch.store, NULL, 0, "name", &bytes, &size, &err), STA_OK, "%s",
                 err.text);
    cr_assert(size == 5 && memcmp(bytes, "value", 5) == 0);
    free(bytes);
    sample_fini(&sample);
    scratch_close(&scratch);
}
