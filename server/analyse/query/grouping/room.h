/* room.h - large arrays (private to grouping). */
#ifndef STA_ANALYSE_QUERY_GROUPING_ROOM_H
#define STA_ANALYSE_QUERY_GROUPING_ROOM_H

#include <stddef.h>

/** An array, not zeroed; free() it.  Large ones lie in huge pages, which spare most of the faults and of the misses of address translation.
 * NULL when memory is short. */
void *sta_room_create(size_t count, size_t size);
/** The same, all zeros. */
void *sta_room_create_zeroed(size_t count, size_t size);

#endif
