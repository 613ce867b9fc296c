/* keys.h - which row of a view an event belongs to (private to exact).
 *
 * A key is a number for what a row is named by: an index of the store's entities, or the code of a value.
 * The number of a missing value is STA_NO_CODE.  Values are numbered in the order of first sight; rows are
 * ordered by the values themselves. */
#ifndef STA_ANALYSE_EXACT_KEYS_H
#define STA_ANALYSE_EXACT_KEYS_H

#include "analyse/views/bound_query.h"
#include "common/table.h"

enum sta_key_source {
    STA_KEY_NONE,   /* one row, of key 0 */
    STA_KEY_TIME,   /* rows are bins; all have key 0 */
    STA_KEY_THREAD, /* follows from the thread of an event */
    STA_KEY_VALUE   /* of an expression */
};

struct sta_exact_keys;

/**
 * sta_exact_keys_create - what a view is by
 * @by: name of a view of exact.md section 2 or of the preset; NULL: one row
 * STA_EINPUT with parameter /by, naming what there is, or when the preset's expression does not fit the
 * trace.  @bound: borrowed.
 */
STA_MUSTCHECK int sta_exact_keys_create(const struct sta_bound_query *bound, const char *by, unsigned workers,
                                        struct sta_exact_keys **keys, struct sta_error *err);
void sta_exact_keys_destroy(struct sta_exact_keys *keys); /* NULL allowed */

enum sta_key_source sta_exact_keys_source(const struct sta_exact_keys *keys);
/** THREAD: by index of a thread in the entities, its key. */
const uint32_t *sta_exact_keys_of_threads(const struct sta_exact_keys *keys);
/** VALUE: by row of the reader's present row group, its key.  Context: worker @worker. */
STA_MUSTCHECK int sta_exact_keys_read(struct sta_exact_keys *keys, unsigned worker,
                                      struct sta_column_reader *reader, const uint32_t **codes,
                                      struct sta_error *err);

/** VALUE: puts all values by key, for another process; else nothing.  After the pass. */
void sta_exact_keys_put_values(const struct sta_exact_keys *keys, struct sta_buffer *out);
/**
 * sta_exact_keys_get_values - the keys here of values that another process has put
 * @codes: by key there; NULL unless by VALUE; of @account.  @count: how many
 */
STA_MUSTCHECK int sta_exact_keys_get_values(struct sta_exact_keys *keys, struct sta_cursor *in,
                                            struct sta_account *account, uint32_t **codes, uint32_t *count,
                                            struct sta_error *err);

/** Orders distinct keys as the rows of the view stand: ascending, missing last.  Return: as sta_sort. */
STA_MUSTCHECK int sta_exact_keys_sort(const struct sta_exact_keys *keys, const struct sta_budget *budget,
                                      uint32_t *codes, size_t count, struct sta_error *err);
/** Adds the key columns of a view that is not by time, for @table's rows. */
void sta_exact_keys_put(const struct sta_exact_keys *keys, const uint32_t *codes, size_t count,
                        struct sta_table *table);

#endif
