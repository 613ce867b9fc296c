/* table.h - one worker's groups: from packed keys to records (private to grouping). */
#ifndef STA_ANALYSE_QUERY_GROUPING_TABLE_H
#define STA_ANALYSE_QUERY_GROUPING_TABLE_H

#include "analyse/query/grouping/lists.h"
#include "analyse/query/grouping/shape.h"

struct sta_table_slot {
    uint64_t key;   /* of one word; of several their hash */
    uint32_t group; /* + 1; 0: free */
};

struct sta_group_table {
    const struct sta_shape *shape;
    struct sta_key_layout layout;
    uint32_t count, capacity;
    uint64_t *keys;   /* layout.words a group */
    uint8_t *records; /* shape->record a group */
    struct sta_table_slot *slots;
    size_t slot_count;         /* a power of two; 0 while keys index directly */
    uint32_t *direct;          /* group + 1 by key */
    size_t direct_count;       /* a power of two, or 0 */
    struct sta_list_log *logs; /* by list of the shape */
};

void sta_group_table_init(struct sta_group_table *table, const struct sta_shape *shape);
void sta_group_table_fini(struct sta_group_table *table);
/** Bytes that it holds once there is room for @rows more rows, what bringing it in order will take included. */
size_t sta_group_table_bytes(const struct sta_group_table *table, uint32_t rows);
/** Makes that room.  Return: 0 or STA_ENOMEM. */
STA_MUSTCHECK int sta_group_table_reserve(struct sta_group_table *table, uint32_t rows,
                                          struct sta_error *err);
/** Takes on a layout that holds all keys that are there. */
STA_MUSTCHECK int sta_group_table_relayout(struct sta_group_table *table, const struct sta_key_layout *layout,
                                           struct sta_error *err);
/** Groups of packed keys, as sta_keys_pack leaves them; new ones are added, for which there must be room. */
void sta_group_table_find(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                          uint32_t *groups);
/** Forgets all groups, keeps the memory. */
void sta_group_table_clear(struct sta_group_table *table);

static inline uint8_t *sta_group_record(const struct sta_group_table *table, uint32_t group)
{
    return table->records + group * table->shape->record;
}

#endif
