/* Changes of a trace's files, as inotify announces them.
 *
 * DESIGN.  An announcement says only that something has changed.  What, is found by checking a listing's
 * files, as where nothing is announced.  File systems are listed by what is
 * known to announce every change: others, above all network file systems, announce those of this machine
 * alone. */
#include "server/announced.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/files.h"
#include "common/memory.h"

#define CHANGES                                                                                              \
    (IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |     \
     IN_MOVE_SELF | IN_ATTRIB)

static bool announces_all(int fd)
{
    static const uint64_t local[] = {EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                     TMPFS_MAGIC,           RAMFS_MAGIC,     F2FS_SUPER_MAGIC,
                                     OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */};
    struct statfs system;
    bool found = false;
    if (fstatfs(fd, &system) != 0)
        return false;
    for (size_t i = 0; i < STA_COUNT_OF(local); i++)
        found |= (uint64_t)(uint32_t)system.f_type == local[i];
    return found;
}

int sta_announced_open(struct sta_roots *roots, const char *trace_path)
{
    struct sta_error ignored = STA_ERROR_INIT;
    int fd;
    if (sta_roots_open(roots, trace_path, O_PATH, NULL, &fd, &ignored) != STA_OK)
        return -1;
    bool announces = announces_all(fd);
    close(fd);
    return announces ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1;
}

/* By way of the open descriptor, so that the roots are not left. */
static bool watch(int inotify, struct sta_roots *roots, const char *path)
{
    struct sta_error ignored = STA_ERROR_INIT;
    char name[64];
    int fd;
    if (sta_roots_open(roots, path, O_PATH, NULL, &fd, &ignored) != STA_OK)
        return false;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    bool could = announces_all(fd) && inotify_add_watch(inotify, name, CHANGES) >= 0;
    close(fd);
    return could;
}

bool sta_announced_watch(int fd, const struct sta_listing *listing, struct sta_roots *roots,
                         const char *trace_path)
{
    bool could = !listing->links; /* what a link leads to may lie in other folders */
    if (listing->single)
        return watch(fd, roots, trace_path) && could;
    for (size_t i = 0; i < listing->folder_count; i++) {
        char *path = listing->folders[i].path[0] == '\0'
                         ? sta_strdup(trace_path)
                         : sta_path_join(trace_path, listing->folders[i].path);
        could &= watch(fd, roots, path);
        free(path);
    }
    return could && listing->folder_count > 0;
}

bool sta_announced_take(int fd)
{
    char events[4096];
    bool any = false;
    ssize_t got;
    while ((got = read(fd, events, sizeof events)) > 0 || (got < 0 && errno == EINTR))
        any |= got > 0;
    return any;
}
