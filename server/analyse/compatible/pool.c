/* Charged arrays in a list. */
#include "analyse/compatible/pool.h"

#include <string.h>

#include "common/memory.h"

#define ZEROED (16 << 20) /* bytes between two checks */

struct sta_pool_piece {
    struct sta_pool_piece *before;
    _Alignas(max_align_t) unsigned char bytes[];
};

static struct sta_account *account_of(const struct sta_pool *pool)
{
    return pool->budget != NULL ? pool->budget->account : NULL;
}

/* Zeroing a gigabyte takes a tenth of a second. */
static int zero(const struct sta_pool *pool, unsigned char *bytes, size_t count, struct sta_error *err)
{
    int rc = 0;
    for (size_t at = 0, size; rc == 0 && at < count; at += size) {
        size = STA_MIN(count - at, (size_t)ZEROED);
        memset(bytes + at, 0, size);
        rc = pool->budget != NULL ? sta_budget_check(pool->budget, err) : 0;
    }
    return rc;
}

void *sta_pool_take(struct sta_pool *pool, size_t count, size_t size, const char *what, struct sta_error *err)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        sta_fail(err, STA_ENOMEM, "no memory for %s", what);
        return NULL;
    }
    struct sta_pool_piece *piece = sta_account_alloc(account_of(pool), 1, sizeof *piece + bytes, what, err);
    if (piece == NULL)
        return NULL;
    if (zero(pool, piece->bytes, bytes, err) != 0) {
        sta_account_free(account_of(pool), piece);
        return NULL;
    }
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
        sta_account_free(account_of(pool), piece);
    }
    *pool = (struct sta_pool){0};
}
