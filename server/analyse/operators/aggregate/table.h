/* table.h - one worker's groups: from packed keys to records (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_TABLE_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_TABLE_H

#include "analyse/operators/aggregate/lists.h"
#include "analyse/operators/arena.h"
#include "analyse/operators/aggregate/record.h"

/* Groups whose hashes end alike; a line of memory.  Filled from the front. */
#define STA_BUCKET_SLOTS 8u
struct sta_table_bucket {
    uint32_t hashes[STA_BUCKET_SLOTS];
    uint32_t groups[STA_BUCKET_SLOTS]; /* + 1; 0: free */
};

struct sta_group_table {
    const struct sta_shape *shape;
    struct sta_key_layout layout; /* of no words: none yet */
    uint32_t count;
    uint64_t *keys;                /* layout.words for each group */
    size_t key_capacity;           /* groups */
    struct sta_state_arena *arena; /* where records lie; borrowed */
    uint8_t **chunks; /* of records, the states of a group each, 2^chunk_bits of them; they never move */
    size_t chunk_count, chunk_capacity;
    unsigned chunk_bits;
    struct sta_table_bucket *buckets;
    size_t bucket_count;       /* a power of two; 0 while keys are indexes */
    uint32_t *direct;          /* group + 1 by key; or NULL */
    struct sta_list_log *logs; /* by list of the shape */
};

void sta_group_table_init(struct sta_group_table *table, const struct sta_shape *shape,
                          struct sta_state_arena *arena);
void sta_group_table_fini(struct sta_group_table *table);
/** Bytes that it holds once @rows more rows are in it, what bringing it in order will take included. */
size_t sta_group_table_bytes(const struct sta_group_table *table, uint32_t rows);
/** Reserves space for them.  Return: 0 or STA_ENOMEM. */
STA_MUSTCHECK int sta_group_table_reserve(struct sta_group_table *table, uint32_t rows,
                                          struct sta_error *err);
/** Takes on a layout that holds all keys that are there. */
STA_MUSTCHECK int sta_group_table_relayout(struct sta_group_table *table, const struct sta_key_layout *layout,
                                           struct sta_error *err);
/** The group of a packed key, whose words lie STA_MINIBATCH_ROWS apart; a new one is added, for which there
 * must be space. */
uint32_t sta_group_table_find(struct sta_group_table *table, const uint64_t *words, uint32_t hash);
/** Adds a group whose key is an index, likewise. */
uint32_t sta_group_table_add_direct(struct sta_group_table *table, uint64_t key);
/** Unites the states of a group with those of another record; what exact sums put out goes to their lists.
 * @terms: scratch, empty between calls. */
void sta_group_table_unite(struct sta_group_table *table, uint32_t group, const uint8_t *record,
                           struct sta_exact_terms *terms);
/** Removes all groups; the caller resets the arena of their states. */
void sta_group_table_clear(struct sta_group_table *table);
/** Moves all groups to @sealed, which takes no rows any more. */
void sta_group_table_seal(struct sta_group_table *table, struct sta_group_table *sealed);
/** Bytes of the groups alone, and of finding them. */
size_t sta_group_table_working_set(const struct sta_group_table *table);

static inline uint64_t sta_group_mix(uint64_t hash)
{
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    return hash * UINT64_C(0xD6E8FEB86659FD93);
}

/** Hash of a key whose words lie @step apart. */
static inline uint32_t sta_group_hash(const uint64_t *words, size_t step, unsigned count)
{
    uint64_t hash = sta_group_mix(words[0]);
    for (unsigned w = 1; w < count; w++)
        hash = sta_group_mix(hash ^ hash >> 32 ^ words[w * step]);
    return (uint32_t)(hash >> 32);
}

static inline struct sta_table_bucket *sta_group_bucket(const struct sta_group_table *table, uint32_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static inline uint64_t *sta_group_key(const struct sta_group_table *table, uint32_t group)
{
    return table->keys + (size_t)group * table->layout.words;
}

static inline uint8_t *sta_group_states(const struct sta_group_table *table, uint32_t group)
{
    const uint32_t inside = group & ((1u << table->chunk_bits) - 1);
    return table->chunks[group >> table->chunk_bits] + inside * table->shape->record;
}

/** Whether a group has a key whose words lie STA_MINIBATCH_ROWS apart.  @count: of words. */
static inline bool sta_group_has_key(const struct sta_group_table *table, uint32_t group,
                                     const uint64_t *words, unsigned count)
{
    const uint64_t *key = sta_group_key(table, group);
    bool same = true;
    for (unsigned w = 0; w < count; w++)
        same = same && key[w] == words[(size_t)w * STA_MINIBATCH_ROWS];
    return same;
}

/** Asks for the lines of memory that a record begins and ends in. */
STA_PREFETCHES sta_group_prefetch(const struct sta_group_table *table, uint32_t group)
{
    const uint8_t *record = sta_group_states(table, group);
    __builtin_prefetch(record, 1);
    __builtin_prefetch(record + table->shape->record - 1, 1);
}

#endif
