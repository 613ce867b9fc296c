/* Files without names: the bytes go when the last who holds the file is gone, so a crash leaves nothing
 * behind.
 *
 * All files of the process together never grow beyond what is still free beside them, so what is spilled
 * takes at most half of the space that was free, however many questions spill. */
#include "analyse/operators/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/files.h"
#include "common/memory.h"

#define LOOK_BYTES ((uint64_t)16 << 20) /* how much is written between two looks at the free space */

static _Atomic uint64_t spilled_in_all; /* bytes of all files there are */

struct sta_spill {
    int fd;
    char *folder;          /* for messages */
    uint64_t looked;       /* size at the last look; of the one who writes */
    _Atomic uint64_t size; /* readers on other threads see what was written before */
};

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

int sta_spill_create(const char *folder, struct sta_spill **spill, struct sta_error *err)
{
    int rc = sta_folder_create(folder, err);
    if (rc != 0)
        return rc;
    int fd = open_nameless(folder);
    if (fd < 0)
        return sta_fail_errno(err, errno, "cannot create a file in %s", folder);
    *spill = sta_alloc(sizeof **spill);
    (*spill)->fd = fd;
    (*spill)->folder = sta_strdup(folder);
    return STA_OK;
}

void sta_spill_destroy(struct sta_spill *spill)
{
    if (spill == NULL)
        return;
    close(spill->fd);
    atomic_fetch_sub(&spilled_in_all, atomic_load(&spill->size));
    free(spill->folder);
    free(spill);
}

static int look_at_free_space(struct sta_spill *spill, uint64_t size, struct sta_error *err)
{
    struct statvfs disk;
    const uint64_t in_all = atomic_load(&spilled_in_all);
    if (size < spill->looked + LOOK_BYTES || fstatvfs(spill->fd, &disk) != 0)
        return STA_OK;
    spill->looked = size;
    if (in_all <= (uint64_t)disk.f_bavail * disk.f_frsize)
        return STA_OK;
    return sta_fail(
        err, STA_ENOSPC,
        "what does not fit the memory of this and other questions takes %.1f GiB in %s already, which "
        "is half of the space that was free; narrow it by from and to, or by a filter",
        (double)in_all / 1073741824, spill->folder);
}

int sta_spill_write(struct sta_spill *spill, const void *bytes, size_t size, struct sta_error *err)
{
    uint64_t at = atomic_load_explicit(&spill->size, memory_order_relaxed);
    int rc = look_at_free_space(spill, at + size, err);
    if (rc != 0)
        return rc;
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(spill->fd, (const char *)bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno != EINTR)
            return sta_fail_errno(err, errno, "cannot write %zu more bytes into %s", size - done,
                                  spill->folder);
        done += n > 0 ? (size_t)n : 0;
    }
    atomic_fetch_add(&spilled_in_all, size);
    atomic_store_explicit(&spill->size, at + size, memory_order_release);
    return STA_OK;
}

int sta_spill_read(const struct sta_spill *spill, uint64_t offset, void *bytes, size_t size,
                   struct sta_error *err)
{
    STA_ASSERT(offset + size <= sta_spill_size(spill));
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(spill->fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno != EINTR)
            return sta_fail_errno(err, errno, "cannot read what was written into %s", spill->folder);
        if (n == 0)
            return sta_fail(err, STA_EIO, "a file in %s is shorter than what was written", spill->folder);
        done += n > 0 ? (size_t)n : 0;
    }
    return STA_OK;
}

uint64_t sta_spill_size(const struct sta_spill *spill)
{
    return atomic_load_explicit(&spill->size, memory_order_acquire);
}
