/* Files without names, and what all of them take. */
#include "common/spill_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/files.h"
#include "common/memory.h"

#define LOOK_BYTES ((uint64_t)16 << 20) /* how much is written between two looks at the free space */

static _Atomic uint64_t spilled_in_all; /* bytes of all files there are */

/* Where the file system has no O_TMPFILE, a name that is there for a moment. */
static int open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char *path = sta_sprintf("%s/spill-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

int sta_spill_file_open(struct sta_spill_file *file, const char *folder, struct sta_error *err)
{
    int rc = sta_folder_create(folder, err);
    if (rc != 0)
        return rc;
    int fd = open_nameless(folder);
    if (fd < 0)
        return sta_fail_errno(err, errno, "cannot create a file in %s", folder);
    *file = (struct sta_spill_file){.fd = fd, .folder = sta_strdup(folder)};
    return STA_OK;
}

void sta_spill_file_close(struct sta_spill_file *file)
{
    close(file->fd);
    atomic_fetch_sub(&spilled_in_all, atomic_load(&file->size));
    free(file->folder);
}

int sta_spill_file_check(struct sta_spill_file *file, uint64_t more, struct sta_error *err)
{
    struct statvfs disk;
    const uint64_t in_all = atomic_load(&spilled_in_all), size = atomic_load(&file->size) + more;
    if (size < file->looked + LOOK_BYTES || fstatvfs(file->fd, &disk) != 0)
        return STA_OK;
    file->looked = size;
    if (in_all <= (uint64_t)disk.f_bavail * disk.f_frsize)
        return STA_OK;
    return sta_fail(
        err, STA_ENOSPC,
        "what does not fit the memory of this and other queries takes %.1f GiB in %s already, which "
        "is half of the space that was free; narrow it by from and to, or by a filter",
        (double)in_all / 1073741824, file->folder);
}

void sta_spill_file_grown(struct sta_spill_file *file, uint64_t more)
{
    atomic_fetch_add(&spilled_in_all, more);
    atomic_fetch_add_explicit(&file->size, more, memory_order_release);
}
