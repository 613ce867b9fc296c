/* Ranges of a plain file. */
#include "decode/ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "decode/bytes.h"
#include "decode/files_private.h"

#define LOOKED_BYTES (64u << 10)   /* read at once to find the end of a line */
#define MOST_LOOKED (1u << 20)     /* where a line is longer the file is not cut */
#define COUNTED_BYTES (128u << 10) /* read at once to count lines */

static int open_file(struct sta_roots *roots, const char *file, int *fd, struct sta_error *err)
{
    return sta_roots_open(roots, file, O_RDONLY | O_NOCTTY | O_NONBLOCK, NULL, fd, err);
}

static ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    ssize_t n;
    do
        n = pread(fd, bytes, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n;
}

/* ---- cutting */

/* The first byte of a line from @from on.  @end: there is none near. */
static uint64_t find_line(int fd, uint64_t from, uint64_t end)
{
    char bytes[LOOKED_BYTES];
    for (uint64_t at = from - 1; at < STA_MIN(end, from + MOST_LOOKED);) {
        const ssize_t n = read_at(fd, bytes, STA_MIN(sizeof bytes, end - at), at);
        if (n <= 0)
            return end;
        const char *newline = memchr(bytes, '\n', (size_t)n);
        if (newline != NULL)
            return at + (uint64_t)(newline + 1 - bytes);
        at += (uint64_t)n;
    }
    return end;
}

static void cut(struct sta_file_ranges *ranges, int fd, uint64_t begin, uint64_t end, uint64_t bytes)
{
    while (begin < end) {
        const uint64_t next = end - begin < 2 * bytes ? end : find_line(fd, begin + bytes, end);
        ranges->items[ranges->count++] = (struct sta_file_range){begin, next};
        begin = next;
    }
}

static void cut_between(struct sta_file_ranges *ranges, int fd, uint64_t bytes,
                        const struct sta_source_range *done, size_t done_count)
{
    uint64_t begin = 0;
    ranges->items = sta_alloc_array(ranges->found.size / bytes + 2 * done_count + 1, sizeof *ranges->items);
    for (size_t i = 0; i < done_count; i++) {
        cut(ranges, fd, begin, done[i].begin, bytes);
        ranges->items[ranges->count++] = (struct sta_file_range){done[i].begin, done[i].end};
        begin = done[i].end;
    }
    cut(ranges, fd, begin, ranges->found.size, bytes);
}

static bool is_gzip(int fd)
{
    unsigned char magic[2];
    return read_at(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic && magic[0] == 0x1f &&
           magic[1] == 0x8b;
}

int sta_file_ranges_find(struct sta_file_ranges *ranges, struct sta_roots *roots, const char *file,
                         uint64_t bytes, const struct sta_source_range *done, size_t done_count,
                         struct sta_error *err)
{
    struct sta_file_identity identity = {0};
    int fd;
    *ranges = (struct sta_file_ranges){.count = 0};
    int status = open_file(roots, file, &fd, err);
    if (status != STA_OK)
        return status;
    if (!is_gzip(fd))
        status = sta_file_identify(fd, file, 0, &identity, err);
    sta_source_identify(&ranges->found, &identity);
    if (status == STA_OK && (identity.size / bytes > 1 || done_count > 0))
        cut_between(ranges, fd, bytes, done, done_count);
    close(fd);
    return status;
}

void sta_file_ranges_fini(struct sta_file_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct sta_file_ranges){.count = 0};
}

/* ---- reading */

static int count_lines(int fd, const char *file, struct sta_file_range range, const _Atomic bool *cancel,
                       char *bytes, uint64_t *lines, struct sta_error *err)
{
    for (uint64_t at = range.begin; at < range.end;) {
        const ssize_t n = read_at(fd, bytes, STA_MIN((uint64_t)COUNTED_BYTES, range.end - at), at);
        if (n < 0)
            return sta_fail_file(err, errno, "cannot read %s", file);
        if (n == 0)
            return sta_fail(err, STA_EOUTDATED, "%s became shorter while it was read", file);
        *lines += sta_byte_kernels()->count_newlines(bytes, (size_t)n);
        at += (uint64_t)n;
        if (atomic_load(cancel))
            return sta_fail(err, STA_ECANCELLED, "cancelled");
    }
    return STA_OK;
}

int sta_file_range_count_lines(struct sta_roots *roots, const char *file, struct sta_file_range range,
                               const _Atomic bool *cancel, uint64_t *lines, struct sta_error *err)
{
    int fd;
    int status = open_file(roots, file, &fd, err);
    if (status != STA_OK)
        return status;
    char *bytes = sta_alloc(COUNTED_BYTES + STA_BYTES_PADDING);
    *lines = 0;
    status = count_lines(fd, file, range, cancel, bytes, lines, err);
    free(bytes);
    close(fd);
    return status;
}

int sta_file_ranges_check(const struct sta_file_ranges *ranges, struct sta_roots *roots, const char *file,
                          struct sta_error *err)
{
    const struct sta_file_identity before = {.size = ranges->found.size,
                                             .mtime_ns = ranges->found.mtime_ns,
                                             .fingerprint = ranges->found.fingerprint,
                                             .end_fingerprint = ranges->found.resume_fingerprint};
    bool rewritten = false;
    int fd;
    int status = open_file(roots, file, &fd, err);
    if (status != STA_OK)
        return status;
    status = sta_file_was_rewritten(fd, file, &before, &rewritten, err);
    close(fd);
    return status == STA_OK && rewritten
               ? sta_fail(err, STA_EOUTDATED, "%s was rewritten while it was read", file)
               : status;
}
