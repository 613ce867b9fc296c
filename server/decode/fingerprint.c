/* What a file was when it was read, and whether it still is. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/memory.h"
#include "decode/decode.h"
#include "decode/files_private.h"

#define END_BYTES 65536 /* at each end of a file */

/* Return: the bytes read, fewer at the file's end; or -1 and errno. */
static ssize_t read_at(int fd, char *bytes, size_t size, uint64_t offset)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = pread(fd, bytes + got, size - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

/* Hashes of a file's first @size bytes. */
struct hashes {
    uint64_t ends; /* of the first and the last END_BYTES */
    uint64_t end;  /* of the last END_BYTES */
};

/* A failure to read says nothing about the content, so it has no hash. */
static int read_block(int fd, const char *path, uint64_t from, uint64_t to, char *bytes, size_t *size,
                      struct sta_error *err)
{
    ssize_t got = read_at(fd, bytes, (size_t)STA_MIN(to - from, (uint64_t)END_BYTES), from);
    *size = got >= 0 ? (size_t)got : 0;
    return got >= 0 ? STA_OK : sta_fail_file(err, errno, "cannot read %s", path);
}

static int hash_ends(int fd, const char *path, uint64_t size, struct hashes *hashes, struct sta_error *err)
{
    char *bytes = sta_alloc(END_BYTES);
    size_t got;
    int status = read_block(fd, path, 0, size, bytes, &got, err);
    hashes->ends = XXH3_64bits_withSeed(bytes, got, size);
    if (status == STA_OK)
        status = read_block(fd, path, size > END_BYTES ? size - END_BYTES : 0, size, bytes, &got, err);
    hashes->ends = XXH3_64bits_withSeed(bytes, got, hashes->ends);
    hashes->end = XXH3_64bits_withSeed(bytes, got, 0);
    free(bytes);
    return status;
}

static int look_at(int fd, const char *path, struct sta_file_identity *identity, struct sta_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return sta_fail_file(err, errno, "cannot look at %s", path);
    identity->size = (uint64_t)st.st_size;
    identity->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return STA_OK;
}

int sta_file_identify(int fd, const char *path, uint64_t end, struct sta_file_identity *identity,
                      struct sta_error *err)
{
    struct hashes hashes = {0};
    int status = look_at(fd, path, identity, err);
    if (status == STA_OK && end != 0)
        identity->size = STA_MIN(identity->size, end);
    if (status == STA_OK)
        status = hash_ends(fd, path, identity->size, &hashes, err);
    if (status != STA_OK)
        return status;
    identity->fingerprint = hashes.ends;
    identity->end_fingerprint = hashes.end;
    return STA_OK;
}

int sta_file_was_rewritten(int fd, const char *path, const struct sta_file_identity *before, bool *rewritten,
                           struct sta_error *err)
{
    struct sta_file_identity now = {0};
    struct hashes hashes = {0};
    int status = look_at(fd, path, &now, err);
    if (status == STA_OK)
        status = hash_ends(fd, path, before->size, &hashes, err);
    *rewritten = status == STA_OK && (now.size < before->size || hashes.ends != before->fingerprint ||
                                      (now.size == before->size && now.mtime_ns != before->mtime_ns));
    return status;
}

void sta_source_identify(struct sta_source *source, const struct sta_file_identity *identity)
{
    source->size = identity->size;
    source->counts.bytes = identity->size;
    source->mtime_ns = identity->mtime_ns;
    source->fingerprint = identity->fingerprint;
    source->resume_fingerprint = identity->end_fingerprint;
}

/* ---- comparing later */

/* Whether the file's first source->size bytes are what they were. */
static int begins_alike(const struct sta_source *source, int fd, const char *path, bool *alike,
                        struct sta_error *err)
{
    struct hashes hashes = {0};
    int status = hash_ends(fd, path, source->size, &hashes, err);
    *alike =
        status == STA_OK && hashes.ends == source->fingerprint && hashes.end == source->resume_fingerprint;
    return status;
}

int sta_source_check_beginning(const struct sta_source *source, int fd, const char *path,
                               struct sta_error *err)
{
    bool alike;
    int status = begins_alike(source, fd, path, &alike, err);
    if (status != STA_OK || alike)
        return status;
    return sta_fail(err, STA_EOUTDATED, "%s was rewritten since it was looked at", path);
}

static int compare_content(const struct sta_source *source, int fd, const char *path,
                           enum sta_source_change *change, struct sta_error *err)
{
    struct sta_file_identity now = {0};
    bool alike = false;
    int status = look_at(fd, path, &now, err);
    *change = STA_SOURCE_CHANGED;
    if (status != STA_OK || now.size < source->size || (now.size > source->size && !source->resumable))
        return status;
    status = begins_alike(source, fd, path, &alike, err);
    if (status == STA_OK && alike)
        *change = now.size > source->size ? STA_SOURCE_GREW : STA_SOURCE_SAME;
    return status;
}

/* Opens the file's content.  What was rejected because it could not be read stays so while it cannot. */
static int open_and_compare(const struct sta_source *source, struct sta_roots *roots, const char *file,
                            enum sta_source_change *change, struct sta_error *err)
{
    int fd;
    int status = sta_roots_open(roots, file, O_RDONLY | O_NOCTTY | O_NONBLOCK, NULL, &fd, err);
    if (status == STA_EIO && source->state == STA_SOURCE_REJECTED) {
        *change = STA_SOURCE_SAME;
        return STA_OK;
    }
    if (status == STA_OK) {
        status = compare_content(source, fd, file, change, err);
        close(fd);
    }
    return status;
}

int sta_source_compare(const struct sta_source *source, struct sta_roots *roots, const char *file,
                       enum sta_source_change *change, struct sta_error *err)
{
    struct sta_file_identity now = {0};
    int fd;
    *change = STA_SOURCE_CHANGED;
    int status = sta_roots_open(roots, file, O_PATH, NULL, &fd, err);
    if (status == STA_ENOTFOUND)
        *change = STA_SOURCE_GONE;
    if (status != STA_OK)
        return status == STA_ENOTFOUND ? STA_OK : status;
    status = look_at(fd, file, &now, err);
    close(fd);
    if (status != STA_OK || source->state == STA_SOURCE_STALE || source->state == STA_SOURCE_VANISHED)
        return status;
    if (now.size != source->size || now.mtime_ns != source->mtime_ns)
        return open_and_compare(source, roots, file, change, err);
    *change = STA_SOURCE_SAME;
    return STA_OK;
}
