/* Files open only below the roots, whatever links are put in their place; with openat2 and without. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/files.h"
#include "common/memory.h"
#include "common/roots.h"

/* A folder with two roots, one and two, and one beside them, out. */
static char folder[64];
static struct sta_roots *roots;

static char *in(const char *name)
{
    return sta_path_join(folder, name);
}

static void put(const char *name, const char *text)
{
    char *path = in(name);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fputs(text, file) >= 0);
    fclose(file);
    free(path);
}

static void make_folder(const char *name)
{
    struct sta_error err = STA_ERROR_INIT;
    char *path = in(name);
    cr_assert_eq(sta_folder_create(path, &err), STA_OK);
    free(path);
}

static void make_link(const char *target, const char *name)
{
    char *path = in(name);
    unlink(path);
    cr_assert_eq(symlink(target, path), 0);
    free(path);
}

static void make_roots(void)
{
    static const char *const names[] = {"one", "two", "single.pfw"};
    struct sta_error err = STA_ERROR_INIT;
    char *paths[STA_COUNT_OF(names)];
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        paths[i] = in(names[i]);
    cr_assert_eq(sta_roots_create((const char *const *)paths, STA_COUNT_OF(names), &roots, &err), STA_OK,
                 "%s", err.text);
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        free(paths[i]);
}

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/strata-roots-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    make_folder("one/deep");
    make_folder("two");
    make_folder("out");
    put("one/deep/file", "inside");
    put("two/file", "inside");
    put("out/file", "outside");
    put("out/secret", "outside");
    put("single.pfw", "inside");
    put("beside.pfw", "outside");
    make_roots();
}

/* As on a kernel before 5.6: openat2 is no system call. */
static void begin_without_openat2(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = STA_COUNT_OF(filter), .filter = filter};
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    begin();
}

static void end(void)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_roots_destroy(roots);
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
}

/* The first letter of what opens at a path: 'i' for inside, 'o' for outside; or 0 and the status. */
static char letter(const char *name, int *status)
{
    struct sta_error err = STA_ERROR_INIT;
    char first = 0, *path = in(name);
    int fd;
    *status = sta_roots_open(roots, path, O_RDONLY, NULL, &fd, &err);
    if (*status == STA_OK) {
        cr_assert_eq(read(fd, &first, 1), 1, "%s", name);
        close(fd);
    } else {
        char *wanted = sta_sprintf("%s is not inside a folder that this daemon may read (roots)", path);
        cr_assert(*status != STA_EFORBIDDEN || strcmp(err.text, wanted) == 0, "%s", err.text);
        free(wanted);
    }
    free(path);
    return first;
}

static void expect(const char *name, int wanted)
{
    int status;
    char first = letter(name, &status);
    cr_expect_eq(status, wanted, "%s: %s, not %s", name, sta_status_name(status), sta_status_name(wanted));
    cr_expect(status != STA_OK || first == 'i', "%s", name);
}

/* @dangling: the status of a link to what is missing inside. */
static void links_lead_nowhere_else(int dangling)
{
    char *two = in("two"), *out = in("out"), *two_file = in("two/file"), *out_file = in("out/file");
    make_link("deep", "one/relative");
    make_link(two, "one/other-root");
    make_link(two_file, "one/file-of-other-root");
    make_link("../two/file", "one/upward");
    make_link(out, "one/away");
    make_link(out_file, "one/file-away");
    make_link("../out/file", "one/upward-away");
    make_link("away/file", "one/by-steps");
    make_link("loop", "one/loop");
    make_link("missing", "one/dangling");
    make_link("/proc/self/root", "one/magic");
    expect("one/deep/file", STA_OK);
    expect("one/relative/file", STA_OK);
    expect("one/other-root/file", STA_OK);
    expect("one/file-of-other-root", STA_OK);
    expect("one/upward", STA_OK);
    expect("one/deep/../../two/file", STA_OK);
    expect("single.pfw", STA_OK);
    static const char *const closed[] = {
        "one/away/file", "one/file-away",  "one/upward-away",      "one/by-steps", "one/away/missing",
        "out/file",      "out/missing",    "one/../out/file",      "one/loop",     "one/deep/../../out/file",
        "beside.pfw",    "single.pfw.not", "one/magic/etc/passwd",
    };
    for (size_t i = 0; i < STA_COUNT_OF(closed); i++)
        expect(closed[i], STA_EFORBIDDEN);
    expect("one/missing", STA_ENOTFOUND);
    expect("one/dangling", dangling);
    expect("one/deep/file/below", STA_ENOTFOUND);
    free(two);
    free(out);
    free(two_file);
    free(out_file);
}

Test(roots, links_lead_nowhere_else, .init = begin, .fini = end)
{
    links_lead_nowhere_else(STA_ENOTFOUND);
}

Test(roots, links_lead_nowhere_else_without_openat2, .init = begin_without_openat2, .fini = end)
{
    links_lead_nowhere_else(STA_EFORBIDDEN);
}

static _Atomic bool swapping;

/* Exchanges the folder for a link that leads outside, and back, without a moment in which neither is there.
 */
static void *swap_for_links(void *unused)
{
    char *place = in("one/deep"), *link = in("one/link"), *out = in("out");
    cr_assert_eq(symlink(out, link), 0);
    while (atomic_load(&swapping))
        cr_assert_eq(syscall(SYS_renameat2, AT_FDCWD, place, AT_FDCWD, link, 2 /* RENAME_EXCHANGE */), 0);
    free(place);
    free(link);
    free(out);
    return NULL;
}

static void no_moment_lets_out(void)
{
    pthread_t swapper;
    unsigned opened = 0, refused = 0;
    atomic_store(&swapping, true);
    cr_assert_eq(pthread_create(&swapper, NULL, swap_for_links, NULL), 0);
    for (unsigned i = 0; i < 20000 || ((opened == 0 || refused == 0) && i < 10000000); i++) {
        int status;
        char first = letter("one/deep/file", &status);
        opened += status == STA_OK;
        refused += status == STA_EFORBIDDEN;
        if (first == 'o')
            cr_assert_fail("a file outside was opened");
        cr_assert(status == STA_OK || status == STA_EFORBIDDEN, "%s", sta_status_name(status));
    }
    atomic_store(&swapping, false);
    pthread_join(swapper, NULL);
    cr_assert(opened > 0 && refused > 0, "%u opened, %u refused", opened, refused);
}

Test(roots, no_moment_lets_out, .init = begin, .fini = end)
{
    no_moment_lets_out();
}

Test(roots, no_moment_lets_out_without_openat2, .init = begin_without_openat2, .fini = end)
{
    no_moment_lets_out();
}

Test(roots, a_root_that_is_made_anew_is_followed_but_no_link, .init = begin, .fini = end)
{
    char *one = in("one"), *old = in("old"), *out = in("out");
    cr_assert_eq(rename(one, old), 0);
    expect("one/deep/file", STA_ENOTFOUND);
    make_link(out, "one");
    expect("one/file", STA_EFORBIDDEN);
    expect("one/secret", STA_EFORBIDDEN);
    cr_assert_eq(unlink(one), 0);
    make_folder("one");
    expect("one/deep/file", STA_ENOTFOUND);
    put("one/fresh", "inside");
    expect("one/fresh", STA_OK);
    free(one);
    free(old);
    free(out);
}

Test(roots, the_resolved_path_is_told, .init = begin, .fini = end)
{
    struct sta_error err = STA_ERROR_INIT;
    char *path = in("one/deep/.././/deep/file"), *wanted = in("one/deep/file"), *resolved;
    int fd;
    cr_assert_eq(sta_roots_open(roots, path, O_PATH, &resolved, &fd, &err), STA_OK, "%s", err.text);
    cr_expect_str_eq(resolved, wanted);
    close(fd);
    free(resolved);
    free(path);
    free(wanted);
}

Test(roots, the_whole_disk_may_be_a_root)
{
    struct sta_error err = STA_ERROR_INIT;
    int fd;
    cr_assert_eq(sta_roots_create((const char *const[]){"/"}, 1, &roots, &err), STA_OK);
    cr_assert_eq(sta_roots_open(roots, "/etc/passwd", O_RDONLY, NULL, &fd, &err), STA_OK, "%s", err.text);
    close(fd);
    cr_assert_eq(sta_roots_open(roots, "/", O_RDONLY, NULL, &fd, &err), STA_OK, "%s", err.text);
    close(fd);
    sta_roots_destroy(roots);
}
