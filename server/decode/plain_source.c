/* Bytes of a file as they are, and the choice between this and gzip. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/roots.h"
#include "decode/source.h"

#define PEEKED_BYTES 4096 /* of a file, to see what it is */

struct plain_source {
    struct sta_byte_source base;
    int fd;
};

void sta_source_fail(struct sta_byte_source *source, uint64_t byte, int errno_value)
{
    char text[96] = "";
    source->failed = true;
    snprintf(source->reason, sizeof source->reason, "cannot be read past byte %llu: %s",
             (unsigned long long)byte, strerror_r(errno_value, text, sizeof text));
}

static enum sta_bytes_state plain_read(struct sta_byte_source *base, char *out, size_t capacity, size_t *got)
{
    struct plain_source *source = (struct plain_source *)base;
    ssize_t n;
    *got = 0;
    if (base->consumed == base->file_size)
        return STA_BYTES_END;
    do
        n = read(source->fd, out, STA_MIN(capacity, base->file_size - base->consumed));
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        sta_source_fail(base, base->consumed, errno);
        return STA_BYTES_CUT;
    }
    if (n == 0) {
        snprintf(base->reason, sizeof base->reason, "ended at byte %llu while it was read",
                 (unsigned long long)base->consumed);
        return STA_BYTES_CUT;
    }
    *got = (size_t)n;
    base->consumed += (uint64_t)n;
    return STA_BYTES_OK;
}

static void plain_close(struct sta_byte_source *base)
{
    free(base);
}

struct sta_byte_source *sta_plain_source_create(int fd)
{
    struct plain_source *source = sta_alloc(sizeof *source);
    source->base.read = plain_read;
    source->base.close = plain_close;
    source->fd = fd;
    return &source->base;
}

/* Whether a file that is no gzip is no text either: a zero byte, and no beginning of an object or a list. */
static bool is_binary(const char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size && (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r')))
        at++;
    return at < size && bytes[at] != '{' && bytes[at] != '[' && memchr(bytes, '\0', size) != NULL;
}

static int look_at_content(int fd, const char *path, bool text, bool *gzip, struct sta_error *err)
{
    char bytes[PEEKED_BYTES];
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n < 0)
        return sta_fail_file(err, errno, "cannot read %s", path);
    *gzip = n >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
    if (text && !*gzip && is_binary(bytes, (size_t)n))
        return sta_fail(err, STA_EINPUT, "%s is neither text nor gzip", path);
    return STA_OK;
}

/* Where reading goes on.  Of a plain file, a last line that was not whole comes once more. */
static uint64_t resume_offset(const struct sta_source *resume, bool gzip)
{
    if (resume == NULL)
        return 0;
    return gzip ? resume->size : resume->counts.json_bytes;
}

int sta_source_open(int fd, const char *path, bool text, const struct sta_source *resume,
                    struct sta_byte_source **source, bool *gzip, struct sta_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return sta_fail_file(err, errno, "cannot look at %s", path);
    if (!S_ISREG(st.st_mode))
        return sta_fail(err, STA_EINPUT, "%s is not a regular file", path);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    int status = look_at_content(fd, path, text, gzip, err);
    if (status != STA_OK)
        return status;
    uint64_t offset = resume_offset(resume, *gzip);
    if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
        return sta_fail_file(err, errno, "cannot go to byte %llu of %s", (unsigned long long)offset, path);
    *source = *gzip ? sta_gzip_source_create(fd) : sta_plain_source_create(fd);
    (*source)->consumed = offset;
    (*source)->file_size = STA_MAX((uint64_t)st.st_size, offset);
    return STA_OK;
}

int sta_source_begin_at(struct sta_byte_source *source, int fd, uint64_t byte, const char *path,
                        struct sta_error *err)
{
    if (lseek(fd, (off_t)byte, SEEK_SET) < 0)
        return sta_fail_file(err, errno, "cannot go to byte %llu of %s", (unsigned long long)byte, path);
    source->consumed = byte;
    source->file_size = STA_MAX(source->file_size, byte);
    return STA_OK;
}
