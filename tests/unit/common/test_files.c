/* Files: publishing leaves the old or the new content, and nothing beside it. */
#include <criterion/criterion.h>
#include <pthread.h>
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

/* Somebody who adds files and takes them away again, and then is done. */
static void *come_and_go(void *begin)
{
    char path[128];
    pthread_barrier_wait(begin);
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        unlink(path);
        snprintf(path, sizeof path, "%s/new-%d", folder, i);
        FILE *file = fopen(path, "w");
        if (file != NULL)
            fclose(file);
        if (i % 3 > 0)
            unlink(path);
    }
    return NULL;
}

Test(files, a_tree_is_removed_though_files_in_it_come_and_go, .init = make_folder, .fini = remove_folder)
{
    struct sta_error err = STA_ERROR_INIT;
    pthread_barrier_t begin;
    pthread_t other;
    char path[128];
    pthread_barrier_init(&begin, NULL, 2);
    for (int round = 0; round < 100; round++) {
        cr_assert_eq(sta_folder_create(folder, &err), STA_OK);
        for (int i = 0; i < 200; i++) {
            snprintf(path, sizeof path, "%s/%d", folder, i);
            cr_assert_eq(sta_file_publish(path, "", 0, &err), STA_OK);
        }
        cr_assert_eq(pthread_create(&other, NULL, come_and_go, &begin), 0);
        pthread_barrier_wait(&begin);
        cr_assert_eq(sta_tree_remove(folder, &err), STA_OK, "%s", err.text);
        cr_assert_neq(access(folder, F_OK), 0, "something of it is left");
        pthread_join(other, NULL);
    }
    pthread_barrier_destroy(&begin);
}
