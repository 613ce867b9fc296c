/* Chunks that were read ahead.  They change places with the reader's own, so that the memory of each is used
 * again and no text is copied. */
#include "decode/chunk_ring.h"

#include <stdlib.h>

#include "common/memory.h"

struct sta_chunk_ring *sta_chunk_ring_create(struct sta_account *account)
{
    struct sta_error refused = STA_ERROR_INIT;
    if (sta_account_check(account, STA_CHUNKS_AHEAD * STA_CHUNK_BYTES, "chunks read ahead", &refused) !=
        STA_OK)
        return NULL;
    struct sta_chunk_ring *ring = sta_alloc(sizeof *ring);
    for (size_t i = 0; i < STA_CHUNKS_AHEAD; i++)
        ring->chunks[i].account = account;
    return ring;
}

void sta_chunk_ring_destroy(struct sta_chunk_ring *ring)
{
    if (ring == NULL)
        return;
    for (size_t i = 0; i < STA_CHUNKS_AHEAD; i++)
        sta_chunk_text_fini(&ring->chunks[i]);
    free(ring);
}

static void swap(struct sta_chunk_text *a, struct sta_chunk_text *b)
{
    struct sta_chunk_text kept = *a;
    *a = *b;
    *b = kept;
}

bool sta_chunk_ring_put(struct sta_chunk_ring *ring, struct sta_chunk_text *chunk)
{
    if (ring->count == STA_CHUNKS_AHEAD)
        return false;
    swap(&ring->chunks[(ring->first + ring->count++) % STA_CHUNKS_AHEAD], chunk);
    return true;
}

bool sta_chunk_ring_take(struct sta_chunk_ring *ring, struct sta_chunk_text *chunk)
{
    if (ring == NULL || ring->count == 0)
        return false;
    swap(&ring->chunks[ring->first], chunk);
    ring->first = (ring->first + 1) % STA_CHUNKS_AHEAD;
    ring->count--;
    return true;
}
