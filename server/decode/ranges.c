/* Ranges of a file: where it is cut, and what is in them. */
#include "decode/ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "decode/bytes.h"
#include "decode/files_private.h"
#include "decode/source.h"

#define LOOKED_BYTES (64u << 10)   /* read at once to find the end of a line, or a member */
#define MOST_LOOKED (1u << 20)     /* where a line is longer the file is not cut */
#define COUNTED_BYTES (128u << 10) /* read at once, or inflated, to count lines */
#define MOST_PASSED (64u << 20)    /* bytes inflated of what looked like members and was none */
#define NOWHERE UINT64_MAX         /* no member was found */

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
    for (bool first = true; begin < end; first = false) {
        const uint64_t next = end - begin < 2 * bytes ? end
                              : ranges->members       ? begin + bytes
                                                      : find_line(fd, begin + bytes, end);
        ranges->items[ranges->count++] = (struct sta_file_range){.range = {.begin = begin, .end = next},
                                                                 .search = ranges->members && !first};
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
        ranges->items[ranges->count++] =
            (struct sta_file_range){.range = done[i], .state = STA_RANGE_COUNTED, .done = true};
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

/* ---- members */

static struct sta_byte_source *open_members(int fd, uint64_t at, uint64_t size)
{
    struct sta_byte_source *source = sta_gzip_source_create(fd);
    source->consumed = at;
    sta_gzip_source_go_on(source, fd, size);
    return source;
}

/* Adds to *passed the bytes of the file that were inflated for it. */
static bool is_member(int fd, uint64_t at, uint64_t size, char *bytes, const _Atomic bool *cancel,
                      uint64_t *passed)
{
    struct sta_gzip_member member;
    struct sta_byte_source *source = open_members(fd, at, size);
    const enum sta_bytes_state state = sta_gzip_source_pass(source, bytes, COUNTED_BYTES, cancel, &member);
    source->close(source);
    *passed += member.end - at;
    return state == STA_BYTES_OK;
}

/* Where the text has the first bytes of a member; NULL: nowhere. */
static const char *find_magic(const char *at, const char *end)
{
    while (end - at > 2 && (at = memchr(at, 0x1f, (size_t)(end - at - 2))) != NULL) {
        if (at[1] == '\x8b' && at[2] == 8)
            return at;
        at++;
    }
    return NULL;
}

/* The first member that begins in [from, to); NOWHERE: none does, or so much looks like one that to look on
 * would take far longer than to read the file.  @bytes: to work with */
static uint64_t find_member(int fd, uint64_t from, uint64_t to, uint64_t size, char *bytes,
                            const _Atomic bool *cancel)
{
    char looked[LOOKED_BYTES];
    uint64_t passed = 0;
    while (from < to) {
        const ssize_t n = read_at(fd, looked, STA_MIN(sizeof looked, size - from), from);
        if (n <= 3)
            return NOWHERE;
        for (const char *at = looked; (at = find_magic(at, looked + n)) != NULL; at++) {
            const uint64_t begin = from + (uint64_t)(at - looked);
            if (begin >= to || passed > MOST_PASSED || (cancel != NULL && atomic_load(cancel)))
                return NOWHERE;
            if (is_member(fd, begin, size, bytes, cancel, &passed))
                return begin;
        }
        from += (uint64_t)n - 2;
        if (cancel != NULL && atomic_load(cancel))
            return NOWHERE;
    }
    return NOWHERE;
}

/* Whether it is worth while to look for members of a gzip file: whether one begins near the first cut. */
static bool has_members(int fd, uint64_t from, uint64_t size)
{
    char *bytes = sta_alloc(COUNTED_BYTES + STA_BYTES_PADDING);
    const bool has = find_member(fd, from, STA_MIN(from + MOST_LOOKED, size), size, bytes, NULL) != NOWHERE;
    free(bytes);
    return has;
}

/* ---- what is known */

/* Where a range begins that was looked for, now that the one before it ends. */
static bool begins_at(struct sta_file_ranges *ranges, struct sta_file_range *item, uint64_t begin, bool last)
{
    ranges->outdated |= item->done && item->range.begin != begin;
    if (item->range.begin == begin || item->done)
        return true;
    if (item->state == STA_RANGE_BEING_COUNTED)
        return false;
    item->range.begin = begin;
    item->search = false;
    if (item->range.end <= begin && !last)
        item->range.end = begin;
    item->state = item->range.end <= begin ? STA_RANGE_COUNTED : STA_RANGE_NEW;
    item->range.lines = item->range.text = 0;
    return true;
}

static void settle(struct sta_file_ranges *ranges)
{
    for (; ranges->known < ranges->count; ranges->known++) {
        struct sta_file_range *item = &ranges->items[ranges->known], *before = item - 1;
        const bool last = ranges->known + 1 == ranges->count;
        if (ranges->known > 0) {
            if (before->state != STA_RANGE_COUNTED)
                return;
            item->range.lines_before = before->range.lines_before + before->range.lines;
            item->range.text_before = before->range.text_before + before->range.text;
            if (!begins_at(ranges, item, before->range.end, last))
                return;
        }
        if (ranges->members && !last && item->state != STA_RANGE_COUNTED)
            return;
    }
}

size_t sta_file_ranges_to_count(const struct sta_file_ranges *ranges)
{
    size_t i = 0;
    while (i + 1 < ranges->count && ranges->items[i].state != STA_RANGE_NEW)
        i++;
    return i + 1 < ranges->count ? i : ranges->count;
}

void sta_file_ranges_counted(struct sta_file_ranges *ranges, size_t number,
                             const struct sta_source_range *counted)
{
    struct sta_file_range *item = &ranges->items[number];
    item->range.begin = counted->begin;
    item->range.end = counted->end;
    item->range.lines = counted->lines;
    item->range.text = counted->text;
    item->state = STA_RANGE_COUNTED;
    settle(ranges);
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
    ranges->members = is_gzip(fd);
    status = sta_file_identify(fd, file, 0, &identity, err);
    sta_source_identify(&ranges->found, &identity);
    const bool large =
        identity.size / bytes > 1 && (!ranges->members || has_members(fd, bytes, identity.size));
    if (status == STA_OK && (large || done_count > 0)) {
        cut_between(ranges, fd, bytes, done, done_count);
        settle(ranges);
    }
    close(fd);
    return status;
}

void sta_file_ranges_fini(struct sta_file_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct sta_file_ranges){.count = 0};
}

/* ---- counting */

static int count_lines(int fd, const char *file, const _Atomic bool *cancel, char *bytes,
                       struct sta_source_range *range, struct sta_error *err)
{
    for (uint64_t at = range->begin; at < range->end && !atomic_load(cancel);) {
        const ssize_t n = read_at(fd, bytes, STA_MIN((uint64_t)COUNTED_BYTES, range->end - at), at);
        if (n < 0)
            return sta_fail_file(err, errno, "cannot read %s", file);
        if (n == 0)
            return sta_fail(err, STA_EOUTDATED, "%s became shorter while it was read", file);
        range->lines += sta_count_newlines(bytes, (size_t)n);
        range->text += (uint64_t)n;
        at += (uint64_t)n;
    }
    return STA_OK;
}

/* Passes members until one ends a line that begins at a byte or behind, or ends there.  Return: where it
 * ends; NOWHERE. */
static uint64_t pass_members(struct sta_byte_source *source, uint64_t until, char *bytes,
                             const _Atomic bool *cancel, struct sta_source_range *range)
{
    struct sta_gzip_member member;
    while (sta_gzip_source_pass(source, bytes, COUNTED_BYTES, cancel, &member) == STA_BYTES_OK) {
        range->lines += member.lines;
        range->text += member.text;
        if ((member.begin >= until || member.end == until) && member.ends_line)
            return member.end;
    }
    return NOWHERE;
}

static void count_members(int fd, uint64_t size, bool search, const _Atomic bool *cancel, char *bytes,
                          struct sta_source_range *range)
{
    const uint64_t nominal = range->end;
    if (search)
        range->begin = find_member(fd, range->begin, STA_MIN(nominal, size), size, bytes, cancel);
    if (range->begin == NOWHERE)
        return;
    struct sta_byte_source *source = open_members(fd, range->begin, size);
    if (search)
        range->begin = pass_members(source, 0, bytes, cancel, &(struct sta_source_range){.begin = 0});
    if (range->begin != NOWHERE)
        range->end = pass_members(source, nominal, bytes, cancel, range);
    range->end = STA_MIN(range->end, size);
    source->close(source);
}

int sta_file_range_count(struct sta_roots *roots, const char *file, bool search, const _Atomic bool *cancel,
                         struct sta_source_range *range, struct sta_error *err)
{
    struct stat now;
    int fd;
    int status = open_file(roots, file, &fd, err);
    if (status != STA_OK)
        return status;
    char *bytes = sta_alloc(COUNTED_BYTES + STA_BYTES_PADDING);
    range->lines = range->text = 0;
    if (!is_gzip(fd))
        status = count_lines(fd, file, cancel, bytes, range, err);
    else if (fstat(fd, &now) == 0)
        count_members(fd, (uint64_t)now.st_size, search, cancel, bytes, range);
    else
        status = sta_fail_file(err, errno, "cannot look at %s", file);
    if (status == STA_OK && atomic_load(cancel))
        status = sta_fail(err, STA_ECANCELLED, "cancelled");
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
