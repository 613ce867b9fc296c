/* Chunks read ahead: the oldest comes first, a full ring takes none, and no memory is lost or charged twice.
 */
#include <criterion/criterion.h>

#include "decode/chunk_ring.h"

static struct sta_chunk_text make_chunk(struct sta_account *account, uint64_t line)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_chunk_text chunk = {.first_line = line, .account = account};
    chunk.bytes = sta_account_alloc(account, 1, 100, "a chunk", &err);
    return chunk;
}

Test(chunk_ring, the_oldest_comes_first)
{
    struct sta_account memory, *account = &memory;
    sta_account_init(account, 1 << 30, "memory", NULL);
    struct sta_chunk_ring *ring = sta_chunk_ring_create(account);
    struct sta_chunk_text chunk = {.account = account};
    cr_assert(!sta_chunk_ring_take(ring, &chunk));
    for (uint64_t line = 1; line < 100; line += STA_CHUNKS_AHEAD) {
        for (uint64_t i = 0; i < STA_CHUNKS_AHEAD; i++) {
            sta_chunk_text_fini(&chunk);
            chunk = make_chunk(account, line + i);
            cr_assert(sta_chunk_ring_put(ring, &chunk));
        }
        sta_chunk_text_fini(&chunk);
        chunk = make_chunk(account, 1000);
        cr_assert(!sta_chunk_ring_put(ring, &chunk));
        cr_assert_eq(chunk.first_line, 1000, "a full ring leaves the chunk");
        for (uint64_t i = 0; i < STA_CHUNKS_AHEAD; i++) {
            cr_assert(sta_chunk_ring_take(ring, &chunk));
            cr_assert_eq(chunk.first_line, line + i);
        }
        cr_assert(!sta_chunk_ring_take(ring, &chunk));
    }
    sta_chunk_text_fini(&chunk);
    sta_chunk_ring_destroy(ring);
    cr_assert_eq(atomic_load(&account->used), 0);
}

Test(chunk_ring, without_memory_nothing_is_read_ahead)
{
    struct sta_account memory, *account = &memory;
    sta_account_init(account, STA_CHUNK_BYTES, "memory", NULL);
    struct sta_chunk_text chunk = {0};
    struct sta_chunk_ring *ring = sta_chunk_ring_create(account);
    cr_assert_null(ring);
    cr_assert(!sta_chunk_ring_take(ring, &chunk));
    sta_chunk_ring_destroy(ring);
}
