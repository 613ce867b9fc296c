/* Charged arrays in a list. */
#include "analyse/compatible/pool.h"

struct sta_pool_piece {
    struct sta_pool_piece *before;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *sta_pool_take(struct sta_pool *pool, size_t count, size_t size, const char *what, struct sta_error *err)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        sta_fail(err, STA_ENOMEM, "no memory for %s", what);
        return NULL;
    }
    struct sta_pool_piece *piece = sta_account_calloc(pool->account, 1, sizeof *piece + bytes, what, err);
    if (piece == NULL)
        return NULL;
    piece->before = pool->last;
    pool->last = piece;
    pool->bytes += bytes;
    return piece->bytes;
}

void sta_pool_fini(struct sta_pool *pool)
{
    while (pool->last != NULL) {
        struct sta_pool_piece *piece = pool->last;
        pool->last = piece->before;
        sta_account_free(pool->account, piece);
    }
    *pool = (struct sta_pool){0};
}
