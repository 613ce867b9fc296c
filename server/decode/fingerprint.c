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

static size_t read_at(int fd, char *bytes, size_t size, uint64_t offset)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = pread(fd, bytes + got, size - got, (off_t)(offset + got));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            break;
        got += n > 0 ? (size_t)n : 0;
    }
    return got;
}

static uint64_t hash_range(int fd, uint64_t from, uint64_t to, uint64_t seed)
{
    char *bytes = sta_alloc(END_BYTES);
    size_t got = read_at(fd, bytes, (size_t)STA_MIN(to - from, (uint64_t)END_BYTES), from);
    uint64_t hash = XXH3_64bits_withSeed(bytes, got, seed);
    free(bytes);
    return hash;
}

/* Of the last END_BYTES before @size. */
static uint64_t hash_end(int fd, uint64_t size, uint64_t seed)
{
    return hash_range(fd, size > END_BYTES ? size - END_BYTES : 0, size, seed);
}

/* Of both ends of the first @size bytes. */
static uint64_t hash_ends(int fd, uint64_t size)
{
    return hash_end(fd, size, hash_range(fd, 0, size, size));
}

void sta_source_identify(struct sta_source *source, const char *file, uint64_t size, int64_t mtime_ns)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    source->size = size;
    source->counts.bytes = size;
    source->mtime_ns = mtime_ns;
    if (fd < 0)
        return;
    source->fingerprint = hash_ends(fd, size);
    source->resume_fingerprint = hash_end(fd, size, 0);
    close(fd);
}

static enum sta_source_change compare_content(const struct sta_source *source, int fd, uint64_t size)
{
    if (size == source->size)
        return hash_ends(fd, size) == source->fingerprint ? STA_SOURCE_SAME : STA_SOURCE_CHANGED;
    bool grew = size > source->size && source->resumable &&
                hash_ends(fd, source->size) == source->fingerprint &&
                hash_end(fd, source->size, 0) == source->resume_fingerprint;
    return grew ? STA_SOURCE_GREW : STA_SOURCE_CHANGED;
}

enum sta_source_change sta_source_compare(const struct sta_source *source, const char *file)
{
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return source->state == STA_SOURCE_REJECTED ? STA_SOURCE_SAME : STA_SOURCE_CHANGED;
    enum sta_source_change change = STA_SOURCE_CHANGED;
    if (fstat(fd, &st) == 0) {
        int64_t mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        bool same = (uint64_t)st.st_size == source->size && mtime_ns == source->mtime_ns;
        change = same ? STA_SOURCE_SAME : compare_content(source, fd, (uint64_t)st.st_size);
    }
    close(fd);
    return change;
}
