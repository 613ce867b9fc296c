/* column_cache.h - decoded columns of row groups in memory, each value in as few bytes as it needs (private
 * to store).
 *
 * Decoding a column from disk costs a nanosecond or more per value; widening a narrow number costs a tenth of
 * that.  The cache is least recently used with a minimum residency: a column that was read within it is not
 * evicted, so that one scan over more columns than fit does not evict each column before it is read again. */
#ifndef STA_STORE_COLUMN_CACHE_H
#define STA_STORE_COLUMN_CACHE_H

#include "store/store.h"

struct sta_column_cache; /* any thread */

/* Which column of which row group; a segment's serial is given to no other one. */
struct sta_column_cache_key {
    uint64_t segment;
    uint32_t row_group, column;
};

/** @capacity: its capacity in bytes; @seconds: the minimum residency; @account: is charged, and a column that
 * does not fit in it is not kept. */
struct sta_column_cache *sta_column_cache_create(uint64_t capacity, int64_t seconds,
                                                 struct sta_account *account);
/** Evicts the least recently used columns, even within their minimum residency, until about @bytes are free.
 * Return: how many are. */
size_t sta_column_cache_shrink(struct sta_column_cache *cache, size_t bytes);
void sta_column_cache_destroy(struct sta_column_cache *cache); /* NULL allowed */
/** Drops the columns of segments that are closed, which nobody can ask for again.  @serials: ascending. */
void sta_column_cache_forget(struct sta_column_cache *cache, const uint64_t *serials, size_t count);
/** Fills @values as sta_decode_column does.  Return: false when the column is not there. */
bool sta_column_cache_get(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                          struct sta_column_values *values);
/** Likewise the values of some rows: values[i] is that of rows[i]. */
bool sta_column_cache_get_rows(struct sta_column_cache *cache, struct sta_column_cache_key key,
                               const uint32_t *rows, uint32_t count, struct sta_column_values *values);
/** Clears the marks of rows that fail a test (sta_row_group_test), on the values as they are kept.  @test: in
 * the values that were put.  Return: false, and marks as they were, when the column is not there. */
bool sta_column_cache_test(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                           const struct sta_row_test *test, uint8_t *marks);
/** Keeps a column of a kind that it takes whose values lie in @min .. @max; others are left
 * alone. */
void sta_column_cache_put(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                          int64_t min, int64_t max, const struct sta_column_values *values);

static inline bool sta_column_cache_takes(enum sta_column_kind kind)
{
    return kind == STA_KIND_INT || kind == STA_KIND_BOOL || kind == STA_KIND_CODE;
}
/** The same before anybody asks for it: only where there is space, as what is evicted first. */
void sta_column_cache_warm(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                           int64_t min, int64_t max, const struct sta_column_values *values);
/** Whether the column is not there, and there is space for it if its values take a byte each. */
bool sta_column_cache_fits(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows);
/** Calls @visit for each column that was asked for, or put.  @asked: when it was last, in
 * milliseconds of CLOCK_MONOTONIC.  Context: @visit is called under a lock of the cache. */
void sta_column_cache_each(struct sta_column_cache *cache,
                           void (*visit)(void *context, struct sta_column_cache_key key, int64_t asked),
                           void *context);
struct sta_column_figures sta_column_cache_figures(struct sta_column_cache *cache);

#endif
