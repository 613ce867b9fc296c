/* frames.h - words as frames of packed bits, of which those far larger than the others are exceptions. */
#ifndef STA_STORE_FRAMES_H
#define STA_STORE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include "common/buffer.h"
#include "store/disk.h"
#include "store/store.h"

#define STA_FRAMES (STA_ROW_GROUP_ROWS / STA_PACK_FRAME)

/* Words to pack. */
struct sta_words {
    const void *words;
    uint32_t count;
    bool wide; /* they have 64 bits, else 32 */
};

/* What was chosen for the frames of some words. */
struct sta_frames {
    bool patched; /* some frame has exceptions */
    struct {
        uint8_t width;
        uint16_t exceptions;
        uint64_t min;
    } frames[STA_FRAMES];
};

/** Chooses every frame's minimum and width.  Return: the bytes that they will take at most. */
size_t sta_frames_choose(struct sta_frames *frames, const struct sta_words *words);
/** Appends the frames of the words that they were chosen for: of layout PATCHED if they are patched, else
 * PACKED. */
void sta_frames_put(const struct sta_frames *frames, const struct sta_words *words, struct sta_buffer *out);

#endif
