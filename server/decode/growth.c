/* How far files that are still being written are complete.
 *
 * DESIGN.  A tail per file remembers where its complete part ends, so that a look costs as much as was added.
 * Of a gzip file nobody can tell where members end without inflating them: the inflater of a member that has
 * not ended yet is kept for the next look.  An inflater is some 90 KiB, so the number of those kept is
 * limited; a file whose inflater was dropped is inflated again from the end of its complete part. */
#include "decode/growth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/dictionary.h"
#include "common/memory.h"
#include "decode/chunks.h"
#include "decode/formats.h"
#include "decode/source.h"

#define OPEN_INFLATERS 256
#define BACKWARD_BYTES 65536        /* read at once when looking for a line's end */
#define INFLATED_BYTES (256u << 10) /* given at once by an inflater, and dropped */

struct tail {
    uint64_t complete; /* bytes */
    uint64_t looked;   /* of a plain file: no line ends between `complete` and here */
    uint64_t turn;     /* of the last look */
    uint64_t inode;
    struct sta_byte_source
        *inflater; /* in the member that begins at `complete` or behind; NULL: none is kept */
    bool counted;  /* the inflater is, in the account */
};

struct sta_growth {
    struct sta_account *account; /* of kept inflaters */
    struct sta_dictionary *paths;
    struct tail *tails; /* by code of the path */
    size_t capacity;
    unsigned inflaters;
    uint64_t turn, bytes;
    char *scratch;
};

struct sta_growth *sta_growth_create(struct sta_account *account)
{
    struct sta_growth *growth = sta_alloc(sizeof *growth);
    growth->account = account;
    growth->paths = sta_dictionary_create();
    growth->scratch = sta_alloc(INFLATED_BYTES);
    return growth;
}

static void drop_inflater(struct sta_growth *growth, struct tail *tail)
{
    if (tail->inflater == NULL)
        return;
    tail->inflater->close(tail->inflater);
    tail->inflater = NULL;
    growth->inflaters--;
    if (tail->counted)
        sta_account_release(growth->account, sta_gzip_source_bytes());
    tail->counted = false;
}

void sta_growth_destroy(struct sta_growth *growth)
{
    if (growth == NULL)
        return;
    for (uint32_t i = 0; i < sta_dictionary_count(growth->paths); i++)
        drop_inflater(growth, &growth->tails[i]);
    sta_dictionary_destroy(growth->paths);
    free(growth->tails);
    free(growth->scratch);
    free(growth);
}

uint64_t sta_growth_bytes(const struct sta_growth *growth)
{
    return growth->bytes;
}

static struct tail *find_tail(struct sta_growth *growth, const char *path)
{
    uint32_t count = sta_dictionary_count(growth->paths);
    uint32_t code = sta_dictionary_intern(growth->paths, path, strlen(path));
    if (code == count) {
        STA_GROW(growth->tails, growth->capacity, (size_t)count + 1);
        growth->tails[code] = (struct tail){0};
    }
    return &growth->tails[code];
}

void sta_growth_forget(struct sta_growth *growth, const char *path)
{
    struct tail *tail = find_tail(growth, path);
    drop_inflater(growth, tail);
    *tail = (struct tail){0};
}

/* ---- plain files */

/* Looks for the last line's end between two bytes.  *end: the byte behind it, or as it was.  Return: whether
 * that could be read. */
static bool find_line_end(struct sta_growth *growth, int fd, uint64_t from, uint64_t to, uint64_t *end)
{
    while (to > from) {
        size_t size = (size_t)STA_MIN(to - from, (uint64_t)BACKWARD_BYTES);
        ssize_t got = pread(fd, growth->scratch, size, (off_t)(to - size));
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)size)
            return false;
        growth->bytes += size;
        const char *newline = memrchr(growth->scratch, '\n', size);
        if (newline != NULL) {
            *end = to - size + (uint64_t)(newline + 1 - growth->scratch);
            return true;
        }
        to -= size;
    }
    return true;
}

/* A record of a length that none has is damage, which is for who reads it. */
static bool pass_records(struct sta_growth *growth, int fd, uint64_t size, struct tail *tail)
{
    char length[STA_RECORD_LENGTH];
    while (size - tail->complete >= STA_RECORD_LENGTH) {
        if (pread(fd, length, sizeof length, (off_t)tail->complete) != (ssize_t)sizeof length)
            return false;
        growth->bytes += sizeof length;
        uint64_t payload = sta_record_length(length);
        if (payload > STA_RECORD_LIMIT)
            return false;
        if (size - tail->complete - STA_RECORD_LENGTH < payload)
            break;
        tail->complete += STA_RECORD_LENGTH + payload;
    }
    return true;
}

static bool look_at_plain(struct sta_growth *growth, int fd, uint64_t size, enum sta_framing framing,
                          struct tail *tail)
{
    if (framing == STA_FRAMING_RECORDS)
        return pass_records(growth, fd, size, tail);
    uint64_t from = STA_MAX(tail->complete, tail->looked);
    bool could = find_line_end(growth, fd, STA_MIN(from, size), size, &tail->complete);
    tail->looked = size;
    return could;
}

/* ---- gzip files */

/* Drops the inflater that was used longest ago. */
static void make_place(struct sta_growth *growth)
{
    struct tail *oldest = NULL;
    for (uint32_t i = 0; i < sta_dictionary_count(growth->paths); i++) {
        struct tail *tail = &growth->tails[i];
        if (tail->inflater != NULL && (oldest == NULL || tail->turn < oldest->turn))
            oldest = tail;
    }
    drop_inflater(growth, oldest);
}

static void keep_inflater(struct sta_growth *growth, struct tail *tail, int fd)
{
    if (growth->inflaters == OPEN_INFLATERS)
        make_place(growth);
    tail->inflater = sta_gzip_source_create(fd);
    tail->inflater->consumed = tail->complete;
    growth->inflaters++;
}

/* What is complete before damaged data stays so. */
static int look_at_gzip(struct sta_growth *growth, int fd, uint64_t size, enum sta_framing framing,
                        struct tail *tail, const _Atomic bool *cancel, struct sta_error *err)
{
    if (tail->inflater == NULL)
        keep_inflater(growth, tail, fd);
    uint64_t before = tail->inflater->consumed;
    sta_gzip_source_go_on(tail->inflater, fd, size);
    enum sta_bytes_state state = STA_BYTES_OK;
    bool cancelled = false;
    while (state == STA_BYTES_OK && !cancelled) {
        size_t got;
        state = tail->inflater->read(tail->inflater, growth->scratch, INFLATED_BYTES, &got);
        cancelled = cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed);
    }
    growth->bytes += tail->inflater->consumed - before;
    tail->complete =
        STA_MAX(tail->complete, sta_gzip_source_whole(tail->inflater, framing == STA_FRAMING_LINES));
    if (cancelled)
        return sta_fail(err, STA_ECANCELLED, "cancelled");
    const bool keep = state != STA_BYTES_END && sta_gzip_source_pause(tail->inflater);
    if (keep && !tail->counted)
        tail->counted = sta_account_try_charge(growth->account, sta_gzip_source_bytes());
    if (!keep || !tail->counted)
        drop_inflater(growth, tail);
    return STA_OK;
}

/* ---- a look */

/* The tail begins anew when the file is another, and where the file was read to when that is further. */
static void place_tail(struct sta_growth *growth, struct tail *tail, const struct stat *st, bool gzip,
                       const struct sta_source *source)
{
    uint64_t read = source == NULL ? 0 : gzip ? source->size : source->counts.json_bytes;
    uint64_t reached = tail->inflater != NULL ? tail->inflater->consumed : tail->complete;
    bool same = tail->inode == (uint64_t)st->st_ino && (uint64_t)st->st_size >= reached;
    if (same && tail->complete >= read && (gzip || source != NULL))
        return;
    drop_inflater(growth, tail);
    *tail = (struct tail){.complete = read, .inode = (uint64_t)st->st_ino, .turn = tail->turn};
}

static int look_at_file(struct sta_growth *growth, int fd, const char *file, enum sta_framing framing,
                        const struct sta_source *source, struct tail *tail, const _Atomic bool *cancel,
                        uint64_t *complete, struct sta_error *err)
{
    struct stat st;
    struct sta_byte_source *bytes;
    struct sta_error ignored = STA_ERROR_INIT;
    bool gzip;
    if (sta_source_open(fd, file, framing == STA_FRAMING_LINES, NULL, &bytes, &gzip, &ignored) != STA_OK)
        return STA_OK;
    bytes->close(bytes);
    if (fstat(fd, &st) != 0)
        return STA_OK;
    uint64_t size = (uint64_t)st.st_size;
    place_tail(growth, tail, &st, gzip, source);
    if (size < tail->complete) /* it is shorter than what was read of it: who compares it finds out */
        return STA_OK;
    int status = STA_OK;
    bool could = true;
    if (gzip)
        status = look_at_gzip(growth, fd, size, framing, tail, cancel, err);
    else
        could = look_at_plain(growth, fd, size, framing, tail);
    *complete = could ? tail->complete : UINT64_MAX;
    return status;
}

int sta_growth_look(struct sta_growth *growth, struct sta_roots *roots, const char *path, const char *file,
                    enum sta_trace_kind kind, const struct sta_source *source, const _Atomic bool *cancel,
                    uint64_t *complete, struct sta_error *err)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct tail *tail = find_tail(growth, path);
    int fd;
    *complete = UINT64_MAX;
    tail->turn = ++growth->turn;
    if (sta_roots_open(roots, file, O_RDONLY | O_NOCTTY | O_NONBLOCK, NULL, &fd, &ignored) != STA_OK)
        return STA_OK;
    int status =
        look_at_file(growth, fd, file, sta_trace_format(kind)->framing, source, tail, cancel, complete, err);
    close(fd);
    return status;
}
