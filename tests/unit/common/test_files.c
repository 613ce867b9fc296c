/* Files: publishing leaves the old or the new content, and nothing beside it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/strata-files-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
    cr_assert_neq(access(folder, F_OK), 0);
}

Test(files, publish_replaces_whole, .init = make_folder, .fini = remove_folder)
{
    struct sta_error err = STA_ERROR_INIT;
    char *path = sta_path_join(folder, "file");
    char *bytes;
    size_t size;
    cr_assert_eq(sta_file_publish(path, "old", 3, &err), STA_OK);
    cr_assert_eq(sta_file_publish(path, "newer", 5, &err), STA_OK);
    cr_assert_eq(sta_file_read(path, 100, &bytes, &size, &err), STA_OK);
    cr_assert_str_eq(bytes, "newer");
    cr_assert_eq(sta_tree_size(folder), 5);
    free(bytes);
    free(path);
}

Test(files, reading_has_a_limit_and_names_the_file, .init = make_folder, .fini = remove_folder)
{
    struct sta_error err = STA_ERROR_INIT;
    char *path = sta_path_join(folder, "file");
    char *bytes;
    size_t size;
    cr_assert_eq(sta_file_publish(path, "12345", 5, &err), STA_OK);
    cr_assert_eq(sta_file_read(path, 4, &bytes, &size, &err), STA_ELIMIT);
    cr_assert_not_null(strstr(err.text, path));
    free(path);
    path = sta_path_join(folder, "missing");
    cr_assert_eq(sta_file_read(path, 4, &bytes, &size, &err), STA_ENOTFOUND);
    free(path);
}

Test(files, folders_are_created_with_their_parents, .init = make_folder, .fini = remove_folder)
{
    struct sta_error err = STA_ERROR_INIT;
    char *path = sta_path_join(folder, "a/b/c");
    cr_assert_eq(sta_folder_create(path, &err), STA_OK);
    cr_assert_eq(sta_folder_create(path, &err), STA_OK, "again is no failure");
    free(path);
    path = sta_path_join(folder, "file");
    cr_assert_eq(sta_file_publish(path, "x", 1, &err), STA_OK);
    cr_assert_neq(sta_folder_create(path, &err), STA_OK, "a file is no folder");
    cr_assert_neq(sta_folder_create("", &err), STA_OK, "no name is no folder");
    free(path);
}
