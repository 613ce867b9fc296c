/* A file is a stream of frames (frames.h), all full; what does not fill one is held in memory.  So the frame
 * of any byte is known, and what comes back from the disk is checked frame by frame.
 */
#include "analyse/operators/spill.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "analyse/operators/frames.h"
#include "common/memory.h"
#include "common/spill_file.h"

struct sta_spill {
    struct sta_spill_file file;
    _Atomic uint64_t frames; /* in the file */
    pthread_mutex_t lock;    /* over the tail, and the step from it to the file */
    uint8_t tail[STA_FRAME_PAYLOAD];
};

#define FRAMES_AT_ONCE 64u

/* Some frames, as the system takes them: a header and a payload each. */
struct frames {
    struct sta_frame_header headers[FRAMES_AT_ONCE];
    struct iovec parts[2 * FRAMES_AT_ONCE];
    unsigned count;
};

static void add_frame(struct frames *frames, void *payload)
{
    struct iovec *parts = &frames->parts[2 * frames->count];
    parts[0] = (struct iovec){&frames->headers[frames->count], sizeof *frames->headers};
    parts[1] = (struct iovec){payload, STA_FRAME_PAYLOAD};
    frames->count++;
}

int sta_spill_create(const char *folder, struct sta_spill **spill, struct sta_error *err)
{
    struct sta_spill_file file;
    int rc = sta_spill_file_open(&file, folder, err);
    if (rc != 0)
        return rc;
    *spill = sta_alloc(sizeof **spill);
    (*spill)->file = file;
    pthread_mutex_init(&(*spill)->lock, NULL);
    return STA_OK;
}

void sta_spill_destroy(struct sta_spill *spill)
{
    if (spill == NULL)
        return;
    sta_spill_file_close(&spill->file);
    pthread_mutex_destroy(&spill->lock);
    free(spill);
}

/* All of some frames to or from the file, from frame @first on. */
static int move_frames(const struct sta_spill *spill, uint64_t first, struct frames *frames, bool writes,
                       struct sta_error *err)
{
    struct iovec *part = frames->parts, *end = part + 2 * (size_t)frames->count;
    off_t at = (off_t)(first * STA_FRAME_BYTES);
    while (part < end) {
        ssize_t n = writes ? pwritev(spill->file.fd, part, (int)(end - part), at)
                           : preadv(spill->file.fd, part, (int)(end - part), at);
        if (n < 0 && errno != EINTR)
            return sta_fail_errno(err, errno,
                                  writes ? "cannot write what does not fit the memory into %s"
                                         : "cannot read what was written into %s",
                                  spill->file.folder);
        if (n == 0)
            return sta_fail(err, STA_EIO, "a file in %s is shorter than what was written",
                            spill->file.folder);
        at += n > 0 ? n : 0;
        for (; part < end && n >= (ssize_t)part->iov_len; part++)
            n -= (ssize_t)part->iov_len;
        if (n > 0) {
            part->iov_base = (char *)part->iov_base + n;
            part->iov_len -= (size_t)n;
        }
    }
    return STA_OK;
}

/* ---- writing */

static int write_frames(struct sta_spill *spill, const uint8_t *bytes, unsigned count, struct sta_error *err)
{
    const uint64_t first = atomic_load_explicit(&spill->frames, memory_order_relaxed);
    struct frames frames;
    frames.count = 0;
    for (unsigned f = 0; f < count; f++) {
        frames.headers[f] = sta_frame_header_of(first + f, bytes, STA_FRAME_PAYLOAD);
        add_frame(&frames, (void *)bytes);
        bytes += STA_FRAME_PAYLOAD;
    }
    int rc = move_frames(spill, first, &frames, true, err);
    pthread_mutex_lock(&spill->lock);
    if (rc == 0)
        atomic_store_explicit(&spill->frames, first + count, memory_order_release);
    pthread_mutex_unlock(&spill->lock);
    return rc;
}

/* Return: bytes of it that were taken. */
static size_t add_to_tail(struct sta_spill *spill, uint64_t at, const uint8_t *bytes, size_t size)
{
    const size_t used = at % STA_FRAME_PAYLOAD;
    const size_t part = STA_MIN(size, STA_FRAME_PAYLOAD - used);
    pthread_mutex_lock(&spill->lock);
    memcpy(spill->tail + used, bytes, part);
    pthread_mutex_unlock(&spill->lock);
    return part;
}

int sta_spill_write(struct sta_spill *spill, const void *bytes, size_t size, struct sta_error *err)
{
    const uint64_t start = atomic_load_explicit(&spill->file.size, memory_order_relaxed);
    const uint8_t *from = bytes;
    uint64_t at = start;
    int rc = sta_spill_file_check(&spill->file, size, err);
    for (const uint8_t *end = from + size; rc == 0 && from < end;) {
        size_t part = (size_t)(end - from) / STA_FRAME_PAYLOAD;
        part = STA_MIN(part, (size_t)FRAMES_AT_ONCE);
        if (at % STA_FRAME_PAYLOAD == 0 && part > 0) {
            rc = write_frames(spill, from, (unsigned)part, err);
            part *= STA_FRAME_PAYLOAD;
        } else {
            part = add_to_tail(spill, at, from, (size_t)(end - from));
            if ((at + part) % STA_FRAME_PAYLOAD == 0)
                rc = write_frames(spill, spill->tail, 1, err);
        }
        from += part;
        at += part;
    }
    if (rc != 0)
        return rc;
    sta_spill_file_grown(&spill->file, size);
    return STA_OK;
}

/* ---- reading */

/* Bytes that are not in the file yet.  Return: how many; 0: they are there by now. */
static size_t read_tail(struct sta_spill *spill, uint64_t offset, uint8_t *bytes, size_t size)
{
    const size_t inside = offset % STA_FRAME_PAYLOAD;
    size_t part = 0;
    pthread_mutex_lock(&spill->lock);
    if (offset / STA_FRAME_PAYLOAD == atomic_load_explicit(&spill->frames, memory_order_relaxed)) {
        part = STA_MIN(size, STA_FRAME_PAYLOAD - inside);
        memcpy(bytes, spill->tail + inside, part);
    }
    pthread_mutex_unlock(&spill->lock);
    return part;
}

/* Bytes of frames in the file, some frames at most: those of which all is wanted go to their place at once.
 */
static int read_frames(const struct sta_spill *spill, uint64_t offset, uint8_t *bytes, size_t size,
                       uint64_t frame_end, size_t *done, struct sta_error *err)
{
    const uint64_t first = offset / STA_FRAME_PAYLOAD;
    const uint64_t last = STA_MIN((offset + size - 1) / STA_FRAME_PAYLOAD, frame_end - 1);
    const uint64_t end = STA_MIN(last + 1, first + FRAMES_AT_ONCE);
    const size_t inside = offset % STA_FRAME_PAYLOAD;
    uint8_t edges[2][STA_FRAME_PAYLOAD]; /* frames of which some is wanted: the first and the last */
    struct frames frames;
    frames.count = 0;
    for (uint64_t f = first; f < end; f++) {
        const bool whole = f * STA_FRAME_PAYLOAD >= offset && (f + 1) * STA_FRAME_PAYLOAD <= offset + size;
        add_frame(&frames, whole ? bytes + (f * STA_FRAME_PAYLOAD - offset) : edges[f != first]);
    }
    int rc = move_frames(spill, first, &frames, false, err);
    if (rc != 0)
        return rc;
    *done = (size_t)(STA_MIN(end * STA_FRAME_PAYLOAD, offset + size) - offset);
    for (uint64_t f = first; f < end; f++) {
        const uint64_t from = f * STA_FRAME_PAYLOAD;
        const bool whole = from >= offset && from + STA_FRAME_PAYLOAD <= offset + size;
        const uint8_t *payload = whole ? bytes + (from - offset) : edges[f != first];
        if (!sta_frame_is_whole(&frames.headers[f - first], f, payload))
            return sta_fail(err, STA_EIO, "what was written into %s came back damaged", spill->file.folder);
        if (!whole && f == first)
            memcpy(bytes, payload + inside, STA_MIN(size, STA_FRAME_PAYLOAD - inside));
        else if (!whole)
            memcpy(bytes + (from - offset), payload, (size_t)(offset + size - from));
    }
    return STA_OK;
}

int sta_spill_read(const struct sta_spill *spill, uint64_t offset, void *bytes, size_t size,
                   struct sta_error *err)
{
    uint8_t *to = bytes;
    STA_ASSERT(offset + size <= sta_spill_size(spill));
    for (size_t done = 0; done < size;) {
        const uint64_t at = offset + done;
        const uint64_t frames = atomic_load_explicit(&spill->frames, memory_order_acquire);
        size_t part = 0;
        int rc = STA_OK;
        if (at / STA_FRAME_PAYLOAD >= frames)
            part = read_tail((struct sta_spill *)spill, at, to + done, size - done);
        else
            rc = read_frames(spill, at, to + done, size - done, frames, &part, err);
        if (rc != 0)
            return rc;
        done += part;
    }
    return STA_OK;
}

uint64_t sta_spill_size(const struct sta_spill *spill)
{
    return atomic_load_explicit(&spill->file.size, memory_order_acquire);
}
