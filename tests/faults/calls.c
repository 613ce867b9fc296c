/* calls.c - see calls.h.  An allocation is wrapped where it is the caller's to survive its failure; sta_alloc
 * and its like, for small and bounded needs, end the process by design. */
#include "calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/account.h"
#include "common/memory.h"

static _Atomic bool armed;
static _Atomic long left;
static _Atomic bool failed;
static int failure;
static bool lasting;

void calls_fail_from(unsigned long n, int errno_value, bool for_good)
{
    failure = errno_value;
    lasting = for_good;
    atomic_store(&left, (long)n);
    atomic_store(&failed, false);
    atomic_store(&armed, true);
}

bool calls_work_again(void)
{
    atomic_store(&armed, false);
    return atomic_load(&failed);
}

/* Whether this call is to fail. */
static bool fails(void)
{
    if (!atomic_load(&armed))
        return false;
    long before = atomic_fetch_sub(&left, 1);
    if (before > 0 || (before < 0 && !lasting))
        return false;
    atomic_store(&failed, true);
    errno = failure;
    return true;
}

#define WRAP(type, name, parameters, arguments, failing)                                                     \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters                                                                            \
    {                                                                                                        \
        return fails() ? (failing) : __real_##name arguments;                                                \
    }

WRAP(void *, sta_try_alloc, (size_t size), (size), NULL)
WRAP(void *, sta_try_alloc_array, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL)

/* The others zero what they set on failure: nothing. */
static void *refuse(struct sta_error *err)
{
    sta_fail(err, STA_ENOMEM, "no memory, as this test wants it");
    return NULL;
}
WRAP(void *, sta_account_alloc,
     (struct sta_account * account, size_t count, size_t size, const char *what, struct sta_error *err),
     (account, count, size, what, err), refuse(err))
WRAP(void *, sta_account_calloc,
     (struct sta_account * account, size_t count, size_t size, const char *what, struct sta_error *err),
     (account, count, size, what, err), refuse(err))
WRAP(void *, sta_account_realloc,
     (struct sta_account * account, void *old, size_t count, size_t size, const char *what,
      struct sta_error *err),
     (account, old, count, size, what, err), refuse(err))

WRAP(int, open64, (const char *path, int flags, int mode), (path, flags, mode), -1)
WRAP(ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size), -1)
WRAP(ssize_t, pread64, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at), -1)
WRAP(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size), -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1)
WRAP(int, unlink, (const char *path), (path), -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
WRAP(int, fstat64, (int fd, struct stat *about), (fd, about), -1)
WRAP(DIR *, opendir, (const char *path), (path), NULL)
WRAP(DIR *, fdopendir, (int fd), (fd), NULL)
WRAP(struct dirent *, readdir64, (DIR * folder), (folder), NULL)
WRAP(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset), MAP_FAILED)
WRAP(ssize_t, getrandom, (void *bytes, size_t size, unsigned flags), (bytes, size, flags), -1)

/* No power is lost here: syncing would only take time. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return fails() ? -1 : 0;
}
