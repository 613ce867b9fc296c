/* shelf.h - columns of blocks that were decoded lately, with as few bytes a value as they need (private to
 * store).
 *
 * To undo what makes a column small on disk costs a nanosecond or more for each value; to widen a narrow
 * number costs a tenth of that.  What was not asked for longest makes room, but not while it is in use: a
 * question that needs more than there is room for finds a part of it each time, where nothing would be left
 * of it if each column made the next one go. */
#ifndef STA_STORE_SHELF_H
#define STA_STORE_SHELF_H

#include "store/store.h"

struct sta_column_shelf; /* any thread */

/* Which column of which block; a segment's serial is given to no other one. */
struct sta_column_shelf_key {
    uint64_t segment;
    uint32_t block, column;
};

/** @room: bytes that it may take; @seconds: what was asked for within them stays; @account: is charged, and a
 * column for which it has no room is not kept. */
struct sta_column_shelf *sta_column_shelf_create(uint64_t room, int64_t seconds, struct sta_account *account);
/** Drops what was used longest ago, however lately that was, until about so many bytes are free.  Return: how
 * many are. */
size_t sta_column_shelf_shrink(struct sta_column_shelf *shelf, size_t bytes);
void sta_column_shelf_destroy(struct sta_column_shelf *shelf); /* NULL allowed */
/** Drops the columns of segments that are closed, which nobody can ask for again.  @serials: ascending. */
void sta_column_shelf_forget(struct sta_column_shelf *shelf, const uint64_t *serials, size_t count);
/** Fills @values as sta_decode_column does.  Return: false when the column is not there. */
bool sta_column_shelf_get(struct sta_column_shelf *shelf, struct sta_column_shelf_key key, uint32_t rows,
                          struct sta_column_values *values);
/** Keeps a column of integers, conditions or codes whose values lie in @min .. @max; others are left
 * alone. */
void sta_column_shelf_put(struct sta_column_shelf *shelf, struct sta_column_shelf_key key, uint32_t rows,
                          int64_t min, int64_t max, const struct sta_column_values *values);

#endif
