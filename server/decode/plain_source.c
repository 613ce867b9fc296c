/* Bytes of a file as they are, and the choice between this and gzip. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "decode/source.h"

struct plain_source {
    struct sta_byte_source base;
    int fd;
};

static enum sta_bytes_state plain_read(struct sta_byte_source *base, char *out, size_t room, size_t *got)
{
    struct plain_source *source = (struct plain_source *)base;
    ssize_t n;
    *got = 0;
    do
        n = read(source->fd, out, room);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        char text[96] = "";
        snprintf(base->reason, sizeof base->reason, "cannot be read past byte %llu: %s",
                 (unsigned long long)base->consumed, strerror_r(errno, text, sizeof text));
        return STA_BYTES_CUT;
    }
    *got = (size_t)n;
    base->consumed += (uint64_t)n;
    return n == 0 ? STA_BYTES_END : STA_BYTES_OK;
}

static void plain_close(struct sta_byte_source *base)
{
    close(((struct plain_source *)base)->fd);
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

int sta_source_open(const char *path, uint64_t offset, struct sta_byte_source **source, bool *gzip,
                    struct sta_error *err)
{
    unsigned char magic[2] = {0, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return sta_fail_errno(err, errno, "cannot open %s", path);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *gzip = pread(fd, magic, sizeof magic, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    if (lseek(fd, (off_t)offset, SEEK_SET) < 0) {
        int status =
            sta_fail_errno(err, errno, "cannot go to byte %llu of %s", (unsigned long long)offset, path);
        close(fd);
        return status;
    }
    *source = *gzip ? sta_gzip_source_create(fd) : sta_plain_source_create(fd);
    (*source)->consumed = offset;
    return STA_OK;
}
