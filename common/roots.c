/* The folders below which files may be read; see the header for why nothing else opens files there. */
#include "common/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"

#define ATTEMPTS 8 /* at a path whose links change while they are followed */

struct root {
    char *path;
    size_t length;    /* of path without a final slash: 0 for the whole disk */
    char *folder;     /* that is held open: path itself, or what a root of one file lies in */
    const char *file; /* name of that one file in the folder, or NULL */
    int fd;
    dev_t device; /* of the folder that is held */
    ino_t inode;
};

struct sta_roots {
    struct root *items;
    size_t count;
    bool beneath;          /* the kernel has openat2 */
    pthread_rwlock_t lock; /* guards the descriptors: written only when a root's folder was replaced */
};

int sta_fail_file(struct sta_error *err, int errno_value, const char *format, ...)
{
    char what[PATH_MAX + 200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    int status = sta_fail_errno(err, errno_value, "%s", what);
    if (errno_value == ENOTDIR) /* what should be a folder above it is none: so it is not there */
        err->status = status = STA_ENOTFOUND;
    if (errno_value == EMFILE || errno_value == ENFILE)
        err->status = status = STA_EBUSY;
    return status;
}

/* ---- opening, below one root */

static int open_beneath(int folder, const char *below, int flags, uint64_t links)
{
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | links};
    return (int)syscall(SYS_openat2, folder, below, &how, sizeof how);
}

/* Opens a folder by a path without links.  Where openat2 is missing, a link in the path is followed. */
static int open_folder(const char *path, bool beneath)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    return beneath ? (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how)
                   : open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The path that an open descriptor has now; free() it.  NULL when the system does not tell. */
static char *path_of(int fd)
{
    char link[40], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    return length > 0 ? sta_strndup(path, (size_t)length) : NULL;
}

/* Without openat2: looks at the path without opening the file, checks where that led to, and only then opens
 * what was looked at.  Return: the descriptor, or -1 and errno: EXDEV for outside. */
static int open_checked(const struct sta_roots *roots, const char *path, int flags)
{
    char link[40];
    int looked = open(path, O_PATH | O_CLOEXEC | (flags & (O_DIRECTORY | O_NOFOLLOW)));
    if (looked < 0)
        return -1;
    char *real = path_of(looked);
    bool inside = real != NULL && sta_roots_contain(roots, real);
    free(real);
    if (inside && (flags & O_PATH) != 0)
        return looked;
    snprintf(link, sizeof link, "/proc/self/fd/%d", looked);
    int fd = inside ? open(link, (flags & ~O_NOFOLLOW) | O_CLOEXEC) : -1;
    int failure = inside ? errno : EXDEV;
    close(looked);
    errno = failure;
    return fd;
}

/* ---- the roots */

static bool root_contains(const struct root *root, const char *path)
{
    char end = strncmp(path, root->path, root->length) == 0 ? path[root->length] : 'x';
    return end == '\0' || (end == '/' && root->file == NULL);
}

static struct root *root_of(const struct sta_roots *roots, const char *path)
{
    for (size_t i = 0; i < roots->count; i++)
        if (root_contains(&roots->items[i], path))
            return &roots->items[i];
    return NULL;
}

bool sta_roots_contain(const struct sta_roots *roots, const char *resolved_path)
{
    return root_of(roots, resolved_path) != NULL;
}

static int hold(struct root *root, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        close(fd);
        return -1;
    }
    if (root->fd >= 0)
        close(root->fd);
    root->fd = fd;
    root->device = st.st_dev;
    root->inode = st.st_ino;
    return 0;
}

/* Whether the root's path leads, without links, to the folder that is held.  A run that is repeated may
 * remove its folder and make it anew: then the new one is held from now on. */
static bool is_in_place(struct sta_roots *roots, struct root *root)
{
    struct stat st;
    if (lstat(root->folder, &st) != 0)
        return false;
    pthread_rwlock_rdlock(&roots->lock);
    bool in_place = st.st_dev == root->device && st.st_ino == root->inode;
    pthread_rwlock_unlock(&roots->lock);
    if (in_place)
        return true;
    pthread_rwlock_wrlock(&roots->lock);
    int fd = open_folder(root->folder, roots->beneath);
    in_place = fd >= 0 && hold(root, fd) == 0;
    pthread_rwlock_unlock(&roots->lock);
    if (in_place)
        sta_log(STA_LOG_INFO, "The folder of a root was replaced by another", "root", root->path, NULL);
    return in_place;
}

static int open_in_root(struct sta_roots *roots, struct root *root, const char *path, int flags)
{
    if (!is_in_place(roots, root))
        return -1;
    if (!roots->beneath)
        return open_checked(roots, path, flags);
    const char *below = root->file != NULL ? root->file : path + root->length;
    below += strspn(below, "/");
    pthread_rwlock_rdlock(&roots->lock);
    int fd = open_beneath(root->fd, *below != '\0' ? below : ".", flags,
                          root->file != NULL ? RESOLVE_NO_SYMLINKS : 0);
    pthread_rwlock_unlock(&roots->lock);
    return fd;
}

static int root_init(struct root *root, const char *path, bool beneath, struct sta_error *err)
{
    struct stat st;
    *root = (struct root){.path = sta_strdup(path), .folder = sta_strdup(path), .fd = -1};
    root->length = strcmp(path, "/") == 0 ? 0 : strlen(path);
    if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        char *slash = strrchr(root->folder, '/');
        root->file = root->path + (slash - root->folder) + 1;
        slash[slash == root->folder] = '\0';
    }
    int fd = open_folder(root->folder, beneath);
    return fd >= 0 && hold(root, fd) == 0 ? STA_OK : sta_fail_file(err, errno, "cannot open %s", path);
}

/* Whether openat2 is there and allowed: containers are known that answer EPERM for what they do not know. */
static bool has_openat2(void)
{
    int fd = open_folder("/", true);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int sta_roots_create(const char *const *paths, size_t count, struct sta_roots **roots, struct sta_error *err)
{
    struct sta_roots *made = sta_alloc(sizeof *made);
    int status = STA_OK;
    made->items = sta_alloc_array(count, sizeof *made->items);
    made->beneath = has_openat2();
    pthread_rwlock_init(&made->lock, NULL);
    while (made->count < count && status == STA_OK) {
        status = root_init(&made->items[made->count], paths[made->count], made->beneath, err);
        made->count++;
    }
    if (status != STA_OK)
        sta_roots_destroy(made);
    else
        *roots = made;
    return status;
}

void sta_roots_destroy(struct sta_roots *roots)
{
    if (roots == NULL)
        return;
    for (size_t i = 0; i < roots->count; i++) {
        if (roots->items[i].fd >= 0)
            close(roots->items[i].fd);
        free(roots->items[i].path);
        free(roots->items[i].folder);
    }
    pthread_rwlock_destroy(&roots->lock);
    free(roots->items);
    free(roots);
}

size_t sta_roots_count(const struct sta_roots *roots)
{
    return roots->count;
}

const char *sta_roots_path(const struct sta_roots *roots, size_t index)
{
    return roots->items[index].path;
}

/* ---- opening, below any */

/* Whether a path that cannot be opened would lie inside a root, judged by the nearest thing above it that is
 * there: a link that leads out of the roots must not tell what is missing or closed behind it. */
static bool would_be_inside(const struct sta_roots *roots, const char *path)
{
    struct stat st;
    const struct root *root = root_of(roots, path);
    if (strstr(path, "/..") != NULL)
        return false;
    if (root != NULL && lstat(root->path, &st) != 0 && errno == ENOENT)
        return true;
    char *above = sta_strdup(path);
    for (char *slash; lstat(above, &st) != 0 && (slash = strrchr(above, '/')) > above;)
        *slash = '\0';
    char *real = realpath(above, NULL);
    bool inside = real != NULL && sta_roots_contain(roots, real);
    free(real);
    free(above);
    return inside;
}

static bool left_roots(int failure)
{
    return failure == EXDEV || failure == ELOOP || failure == EAGAIN;
}

static int fail_to_open(const struct sta_roots *roots, const char *path, int failure, struct sta_error *err)
{
    if (left_roots(failure) || !would_be_inside(roots, path))
        return sta_fail(err, STA_EFORBIDDEN, "%s is not inside a folder that this daemon may read (roots)",
                        path);
    return sta_fail_file(err, failure, "cannot open %s", path);
}

int sta_roots_open(struct sta_roots *roots, const char *path, int flags, char **resolved, int *fd,
                   struct sta_error *err)
{
    char *at = resolved != NULL ? realpath(path, NULL) : sta_strdup(path);
    int failure = at != NULL ? EXDEV : errno;
    bool proven = false; /* the kernel itself found that the path ends inside */
    *fd = -1;
    for (unsigned attempt = 0; attempt < ATTEMPTS && at != NULL; attempt++) {
        struct root *root = root_of(roots, at);
        *fd = root != NULL ? open_in_root(roots, root, at, flags) : -1;
        failure = root != NULL ? errno : EXDEV;
        proven = root != NULL && roots->beneath && !left_roots(failure);
        if (*fd >= 0 || root == NULL || !left_roots(failure))
            break;
        char *leads_to = realpath(at, NULL); /* out of this root by a link, perhaps into another */
        failure = leads_to != NULL ? EXDEV : errno;
        free(at);
        at = leads_to;
    }
    if (*fd >= 0 && resolved != NULL)
        *resolved = at;
    else
        free(at);
    if (*fd >= 0)
        return STA_OK;
    return proven ? sta_fail_file(err, failure, "cannot open %s", path)
                  : fail_to_open(roots, path, failure, err);
}
