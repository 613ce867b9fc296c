/* chunk_ring.h - chunks of a source that were read ahead, the oldest first (private to decode).
 *
 * A ring has no lock of its own: its source's lock is held in every call. */
#ifndef STA_DECODE_CHUNK_RING_H
#define STA_DECODE_CHUNK_RING_H

#include "decode/chunks.h"

/* Enough that nobody waits; with more, text leaves the caches before it is scanned. */
#define STA_CHUNKS_AHEAD 2

struct sta_chunk_ring {
    struct sta_chunk_text chunks[STA_CHUNKS_AHEAD];
    unsigned first, count;
};

/** Return: a ring for the caller to destroy, whose chunks are charged to @account; NULL when that has no
 * memory for as many chunks of the usual size. */
struct sta_chunk_ring *sta_chunk_ring_create(struct sta_account *account);
/** @ring may be NULL. */
void sta_chunk_ring_destroy(struct sta_chunk_ring *ring);

/** Puts the chunk in, and leaves memory to read on into in its place.  Return: false when the ring is full;
 * then the chunk is the caller's as before. */
bool sta_chunk_ring_put(struct sta_chunk_ring *ring, struct sta_chunk_text *chunk);
/** Takes the oldest chunk.  @ring may be NULL, which is as empty.  Return: false when it is empty. */
bool sta_chunk_ring_take(struct sta_chunk_ring *ring, struct sta_chunk_text *chunk);

#endif
