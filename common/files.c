/* Reading, publishing and mapping files. */
#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"

#define REMOVAL_TRIES 100 /* of a tree in which files are still made */

static int read_all(int fd, char *bytes, size_t size, size_t *got)
{
    for (*got = 0; *got < size;) {
        ssize_t n = read(fd, bytes + *got, size - *got);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0)
            break;
        *got += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int sta_file_read(const char *path, size_t limit, char **bytes, size_t *size, struct sta_error *err)
{
    struct stat st;
    int status = STA_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return sta_fail_errno(err, errno, "cannot open %s", path);
    *bytes = NULL;
    if (fstat(fd, &st) != 0)
        status = sta_fail_errno(err, errno, "cannot look at %s", path);
    else if (!S_ISREG(st.st_mode))
        status = sta_fail(err, STA_EINPUT, "%s is not a regular file", path);
    else if ((uint64_t)st.st_size > limit)
        status =
            sta_fail(err, STA_ELIMIT, "%s has %lld bytes, more than %zu", path, (long long)st.st_size, limit);
    else if ((*bytes = sta_try_alloc((size_t)st.st_size + 1)) == NULL)
        status = sta_fail(err, STA_ENOMEM, "cannot hold the %lld bytes of %s", (long long)st.st_size, path);
    else if (read_all(fd, *bytes, (size_t)st.st_size, size) != 0)
        status = sta_fail_errno(err, errno, "cannot read %s", path);
    else
        (*bytes)[*size] = '\0';
    if (status != STA_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    close(fd);
    return status;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR)
            return -1;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int write_beside(const char *beside, const void *bytes, size_t size, struct sta_error *err)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return sta_fail_errno(err, errno, "cannot create %s", beside);
    int status = STA_OK;
    if (write_all(fd, bytes, size) != 0 || fsync(fd) != 0)
        status = sta_fail_errno(err, errno, "cannot write %zu bytes to %s", size, beside);
    if (close(fd) != 0 && status == STA_OK)
        status = sta_fail_errno(err, errno, "cannot write %zu bytes to %s", size, beside);
    return status;
}

int sta_file_replace(const char *path, const void *bytes, size_t size, struct sta_error *err)
{
    char *beside = sta_sprintf("%s.tmp", path);
    int status = write_beside(beside, bytes, size, err);
    if (status == STA_OK && rename(beside, path) != 0)
        status = sta_fail_errno(err, errno, "cannot rename %s over %s", beside, path);
    if (status != STA_OK)
        unlink(beside);
    free(beside);
    return status;
}

int sta_file_publish(const char *path, const void *bytes, size_t size, struct sta_error *err)
{
    int status = sta_file_replace(path, bytes, size, err);
    if (status != STA_OK)
        return status;
    char *folder = sta_strdup(path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    status = sta_folder_sync(slash ? folder : ".", err);
    free(folder);
    return status;
}

int sta_file_create(const char *path, const void *bytes, size_t size, int *fd, struct sta_error *err)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (*fd < 0)
        return sta_fail_errno(err, errno, "cannot create %s", path);
    if (write_all(*fd, bytes, size) == 0) {
        sync_file_range(*fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* a hint: sta_file_finish decides */
        return STA_OK;
    }
    int status = sta_fail_errno(err, errno, "cannot write %zu bytes to %s", size, path);
    close(*fd);
    unlink(path);
    return status;
}

int sta_file_append(const char *path, int fd, const void *bytes, size_t size, struct sta_error *err)
{
    if (write_all(fd, bytes, size) == 0)
        return STA_OK;
    return sta_fail_errno(err, errno, "cannot write %zu bytes to %s", size, path);
}

int sta_file_finish(const char *path, int fd, struct sta_error *err)
{
    int status = fsync(fd) == 0 ? STA_OK : sta_fail_errno(err, errno, "cannot sync %s", path);
    if (close(fd) != 0 && status == STA_OK)
        status = sta_fail_errno(err, errno, "cannot write %s", path);
    return status;
}

int sta_folder_sync(const char *path, struct sta_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return sta_fail_errno(err, errno, "cannot open folder %s", path);
    int status = fsync(fd) == 0 ? STA_OK : sta_fail_errno(err, errno, "cannot sync folder %s", path);
    close(fd);
    return status;
}

int sta_folder_create(const char *path, struct sta_error *err)
{
    if (*path == '\0')
        return sta_fail(err, STA_EIO, "no folder is named");
    char *prefix = sta_strdup(path);
    int status = STA_OK;
    for (char *at = prefix + 1; status == STA_OK; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char held = *at;
        *at = '\0';
        if (mkdir(prefix, 0700) != 0 && errno != EEXIST)
            status = sta_fail_errno(err, errno, "cannot create folder %s", prefix);
        *at = held;
        if (held == '\0')
            break;
    }
    free(prefix);
    struct stat st;
    if (status == STA_OK && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
        status = sta_fail(err, STA_EIO, "%s is not a folder", path);
    return status;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int sta_tree_remove(const char *path, struct sta_error *err)
{
    for (unsigned tries = 0; nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0; tries++) {
        const int cause = errno;
        if (cause == ENOENT && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            break;
        if ((cause != ENOENT && cause != ENOTEMPTY && cause != EEXIST) || tries == REMOVAL_TRIES)
            return sta_fail_errno(err, cause, "cannot remove %s", path);
    }
    return STA_OK;
}

static _Thread_local uint64_t tree_bytes;

static int add_size(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    if (kind == FTW_F)
        tree_bytes += (uint64_t)st->st_size;
    return 0;
}

uint64_t sta_tree_size(const char *path)
{
    tree_bytes = 0;
    nftw(path, add_size, 16, FTW_PHYS);
    return tree_bytes;
}

int sta_map_file(const char *path, struct sta_mapping *mapping, struct sta_error *err)
{
    struct stat st;
    *mapping = (struct sta_mapping){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return sta_fail_errno(err, errno, "cannot open %s", path);
    int status = STA_OK;
    if (fstat(fd, &st) != 0) {
        status = sta_fail_errno(err, errno, "cannot look at %s", path);
    } else if (st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED)
            status = sta_fail_errno(err, errno, "cannot map %s", path);
        else
            *mapping = (struct sta_mapping){bytes, (size_t)st.st_size};
    }
    close(fd);
    return status;
}

void sta_unmap_file(struct sta_mapping *mapping)
{
    if (mapping->bytes != NULL)
        munmap((void *)mapping->bytes, mapping->size);
    *mapping = (struct sta_mapping){0};
}

char *sta_path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    return sta_sprintf("%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
}
