/* Which files of a folder are a trace's: by content, through links, however deep. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "decoded.h"
#include "folder.h"

Test(listing, listings_find_traces_by_content_and_follow_links_only_inside, .init = make_folder,
     .fini = remove_folder)
{
    struct sta_listing listing;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer text = make_lines(0, 3);
    char *below = sta_path_join(folder, "below/deep");
    char *loop = sta_path_join(folder, "below/loop");
    cr_assert_eq(sta_folder_create(below, &err), STA_OK);
    cr_assert_eq(symlink(folder, loop), 0);
    write_file("below/deep/b.pfw", text.data, text.size, "w");
    write_file("a.txt", text.data, text.size, "w");
    write_file("notes.txt", "hello", 5, "w");
    write_member("c.json.gz", text.data, text.size, "w");
    cr_assert_eq(sta_listing_create(&listing, whole_disk(), folder, NULL, &err), STA_OK, "%s", err.text);
    cr_assert_eq(listing.count, 3);
    cr_assert_str_eq(listing.files[0].path, "a.txt");
    cr_assert_str_eq(listing.files[1].path, "below/deep/b.pfw");
    cr_assert_str_eq(listing.files[2].path, "c.json.gz");
    sta_listing_fini(&listing);
    free(below);
    free(loop);
    sta_buffer_fini(&text);
}

Test(listing, a_file_that_links_show_again_is_listed_once, .init = make_folder, .fini = remove_folder)
{
    static const char *const links[][2] = {
        {"real", "a-folder"}, {"real/t.pfw", "b.pfw"}, {"nowhere", "c.pfw"}};
    struct sta_listing listing;
    struct sta_error err = STA_ERROR_INIT;
    char *real = sta_path_join(folder, "real");
    cr_assert_eq(sta_folder_create(real, &err), STA_OK);
    write_file("real/t.pfw", "[\n", 2, "w");
    for (size_t i = 0; i < STA_COUNT_OF(links); i++) {
        char *target = sta_path_join(folder, links[i][0]);
        char *link = sta_path_join(folder, links[i][1]);
        cr_assert_eq(symlink(target, link), 0);
        free(target);
        free(link);
    }
    cr_assert_eq(sta_listing_create(&listing, whole_disk(), folder, NULL, &err), STA_OK);
    cr_assert_eq(listing.count, 1);
    cr_assert_str_eq(listing.files[0].path, "real/t.pfw");
    sta_listing_fini(&listing);
    free(real);
}

/* Deeper than a path may be long, and than a process may have files open. */
Test(listing, a_deep_tree_is_walked_as_far_as_paths_reach, .init = make_folder, .fini = remove_folder)
{
    struct sta_listing listing;
    struct sta_error err = STA_ERROR_INIT;
    write_file("a.pfw", "[\n", 2, "w");
    int fd = open(folder, O_DIRECTORY);
    for (unsigned depth = 0; depth < 3000; depth++) {
        cr_assert_eq(mkdirat(fd, "d", 0700), 0);
        int below = openat(fd, "d", O_DIRECTORY);
        close(fd);
        fd = below;
    }
    close(fd);
    cr_assert_eq(sta_listing_create(&listing, whole_disk(), folder, NULL, &err), STA_OK, "%s", err.text);
    cr_assert_eq(listing.count, 1);
    cr_assert_eq(listing.unlisted_count, 1);
    cr_assert_not_null(strstr(listing.unlisted[0].reason, "too long"), "%s", listing.unlisted[0].reason);
    cr_assert(listing.unlisted[0].candidate && listing.folder_count > 1000);
    sta_listing_fini(&listing);
    char *command = sta_sprintf("rm -rf %s/d", folder);
    cr_assert_eq(system(command), 0);
    free(command);
}
