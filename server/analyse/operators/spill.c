/* A file is a stream of frames (frames.h), all full; what does not fill one is held in memory.  So the frame
 * of any byte is known, and what is read from the disk is checked frame by frame. */
#include "analyse/operators/spill.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/operators/frames.h"
#include "common/memory.h"
#include "common/spill_file.h"

#define FRAMES_AT_ONCE 16u /* that are written and read: so many that the call costs little beside them */

struct frame {
    struct sta_frame_header header;
    uint8_t payload[STA_FRAME_PAYLOAD];
};
_Static_assert(sizeof(struct frame) == STA_FRAME_BYTES, "frames lie side by side");

struct sta_spill {
    struct sta_spill_file file;
    _Atomic uint64_t frames; /* in the file */
    pthread_mutex_t lock;    /* over the tail, and the step from it to the file */
    struct frame tail[FRAMES_AT_ONCE];
};

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
static int move_frames(const struct sta_spill *spill, uint64_t first, struct frame *frames, size_t count,
                       bool writes, struct sta_error *err)
{
    char *bytes = (char *)frames, *end = (char *)(frames + count);
    off_t at = (off_t)(first * STA_FRAME_BYTES);
    while (bytes < end) {
        const size_t size = (size_t)(end - bytes);
        ssize_t n = writes ? pwrite(spill->file.fd, bytes, size, at) : pread(spill->file.fd, bytes, size, at);
        if (n < 0 && errno != EINTR)
            return sta_fail_errno(err, errno,
                                  writes ? "cannot write what does not fit the memory into %s"
                                         : "cannot read what was written into %s",
                                  spill->file.folder);
        if (n == 0)
            return sta_fail(err, STA_EIO, "a file in %s is shorter than what was written",
                            spill->file.folder);
        at += n > 0 ? n : 0;
        bytes += n > 0 ? n : 0;
    }
    return STA_OK;
}

/* ---- writing */

/* The first frames of the tail are full: they become the last ones of the file. */
static int write_tail(struct sta_spill *spill, size_t count, struct sta_error *err)
{
    const uint64_t first = atomic_load_explicit(&spill->frames, memory_order_relaxed);
    struct frame *tail = spill->tail;
    for (size_t f = 0; f < count; f++)
        tail[f].header = sta_frame_header_of(first + f, tail[f].payload, STA_FRAME_PAYLOAD);
    int rc = move_frames(spill, first, tail, count, true, err);
    if (rc != 0)
        return rc;
    pthread_mutex_lock(&spill->lock);
    if (count < FRAMES_AT_ONCE)
        tail[0] = tail[count];
    atomic_store_explicit(&spill->frames, first + count, memory_order_release);
    pthread_mutex_unlock(&spill->lock);
    return STA_OK;
}

int sta_spill_write(struct sta_spill *spill, const void *bytes, size_t size, struct sta_error *err)
{
    const uint8_t *from = bytes, *end = from + size;
    size_t used = atomic_load_explicit(&spill->file.size, memory_order_relaxed) % STA_FRAME_PAYLOAD;
    int rc = sta_spill_file_check(&spill->file, size, err);
    while (rc == 0 && from < end) {
        const size_t inside = used % STA_FRAME_PAYLOAD;
        const size_t part = STA_MIN((size_t)(end - from), STA_FRAME_PAYLOAD - inside);
        pthread_mutex_lock(&spill->lock);
        memcpy(spill->tail[used / STA_FRAME_PAYLOAD].payload + inside, from, part);
        pthread_mutex_unlock(&spill->lock);
        from += part;
        used += part;
        const size_t full = used / STA_FRAME_PAYLOAD;
        if (full == FRAMES_AT_ONCE || (full > 0 && from == end)) {
            rc = write_tail(spill, full, err);
            used %= STA_FRAME_PAYLOAD;
        }
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
    const uint64_t frame = offset / STA_FRAME_PAYLOAD;
    const size_t inside = offset % STA_FRAME_PAYLOAD;
    size_t part = 0;
    pthread_mutex_lock(&spill->lock);
    const uint64_t first = atomic_load_explicit(&spill->frames, memory_order_relaxed);
    if (frame >= first) {
        part = STA_MIN(size, STA_FRAME_PAYLOAD - inside);
        memcpy(bytes, spill->tail[frame - first].payload + inside, part);
    }
    pthread_mutex_unlock(&spill->lock);
    return part;
}

/* Bytes of frames in the file, which has @frame_end of them; of some frames at most.  *done: how many. */
static int read_frames(const struct sta_spill *spill, uint64_t offset, uint8_t *bytes, size_t size,
                       uint64_t frame_end, size_t *done, struct sta_error *err)
{
    struct frame frames[FRAMES_AT_ONCE];
    const uint64_t first = offset / STA_FRAME_PAYLOAD, behind = offset + size;
    const uint64_t last = STA_MIN((behind - 1) / STA_FRAME_PAYLOAD, frame_end - 1);
    const size_t count = (size_t)STA_MIN(last + 1 - first, (uint64_t)FRAMES_AT_ONCE);
    int rc = move_frames(spill, first, frames, count, false, err);
    *done = 0;
    for (size_t f = 0; rc == 0 && f < count; f++) {
        const uint64_t from = offset + *done, to = STA_MIN((first + f + 1) * STA_FRAME_PAYLOAD, behind);
        if (!sta_frame_is_whole(&frames[f].header, first + f, frames[f].payload))
            return sta_fail(err, STA_EIO, "what was written into %s came back damaged", spill->file.folder);
        memcpy(bytes + *done, frames[f].payload + from % STA_FRAME_PAYLOAD, (size_t)(to - from));
        *done += (size_t)(to - from);
    }
    return rc;
}

int sta_spill_read(const struct sta_spill *spill, uint64_t offset, void *bytes, size_t size,
                   struct sta_error *err)
{
    uint8_t *to = bytes;
    int rc = STA_OK;
    STA_ASSERT(offset + size <= sta_spill_size(spill));
    for (size_t done = 0, part = 0; rc == 0 && done < size; done += part) {
        const uint64_t at = offset + done;
        const uint64_t frames = atomic_load_explicit(&spill->frames, memory_order_acquire);
        if (at / STA_FRAME_PAYLOAD >= frames)
            part = read_tail((struct sta_spill *)spill, at, to + done, size - done);
        else
            rc = read_frames(spill, at, to + done, size - done, frames, &part, err);
    }
    return rc;
}

uint64_t sta_spill_size(const struct sta_spill *spill)
{
    return atomic_load_explicit(&spill->file.size, memory_order_acquire);
}
