/* dictionary_slots.h - the hash table of a dictionary (private to dictionary*.c).
 *
 * A slot holds half of the hash and code + 1.  That half says where the slot belongs, so that tables are made
 * of the slots of others. */
#ifndef STA_COMMON_DICTIONARY_SLOTS_H
#define STA_COMMON_DICTIONARY_SLOTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    struct table *older;
    size_t capacity;          /* a power of two */
    _Atomic uint64_t slots[]; /* half of the hash, code + 1; 0: empty */
};

static inline size_t sta_dictionary_table_bytes(size_t capacity)
{
    return sizeof(struct table) + capacity * sizeof(uint64_t);
}

static inline uint64_t slot_of(uint64_t hash, uint32_t code)
{
    return hash << 32 | (code + 1);
}

/* Where a slot of the hash belongs, unless others stand there.  Of the hash the half that a slot holds. */
static inline size_t place_of(const struct table *table, uint64_t hash)
{
    return (uint32_t)hash & (table->capacity - 1);
}

static inline size_t empty_slot(const struct table *table, uint64_t hash)
{
    size_t slot = place_of(table, hash);
    while (atomic_load_explicit(&table->slots[slot], memory_order_relaxed) != 0)
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

/* Into a table that nobody sees yet. */
static inline void put_slot(struct table *table, uint64_t held)
{
    atomic_store_explicit(&table->slots[empty_slot(table, held >> 32)], held, memory_order_relaxed);
}

/* The same when several threads put some. */
static inline void claim_slot(struct table *table, uint64_t hash, uint32_t code)
{
    uint64_t empty = 0;
    size_t slot = place_of(table, hash);
    while (!atomic_compare_exchange_strong_explicit(&table->slots[slot], &empty, slot_of(hash, code),
                                                    memory_order_relaxed, memory_order_relaxed)) {
        slot = (slot + 1) & (table->capacity - 1);
        empty = 0;
    }
}

#endif
