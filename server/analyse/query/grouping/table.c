/* A worker's groups.
 *
 * DESIGN.  Where the packed key has few bits it is an index.  Else a hash table with open addressing holds keys of one word in its slots, so
 * that a row costs one line of memory there and one in its record; both are asked for ahead of time, a strip of rows at once.  Keys of
 * several words are found by their hash and compared beside.  Records and keys grow by remapping, not copying. */
#include "analyse/query/grouping/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyse/query/grouping/sort.h"
#include "common/memory.h"

#define DIRECT_BITS 16 /* widest key that is an index */
#define FIRST_GROUPS 64
#define AHEAD 24 /* rows between asking for a slot and looking at it */
#define HUGE_BYTES ((size_t)4 << 20)

void sta_group_table_init(struct sta_group_table *table, const struct sta_shape *shape)
{
    *table = (struct sta_group_table){.shape = shape};
    table->logs = sta_alloc_array(shape->list_count, sizeof *table->logs);
    for (size_t l = 0; l < shape->list_count; l++)
        sta_list_log_init(&table->logs[l], &shape->lists[l]);
}

void sta_group_table_fini(struct sta_group_table *table)
{
    for (size_t l = 0; table->logs != NULL && l < table->shape->list_count; l++)
        sta_list_log_fini(&table->logs[l]);
    free(table->logs);
    free(table->keys);
    free(table->records);
    free(table->slots);
    free(table->direct);
    *table = (struct sta_group_table){0};
}

/* ---- room */

static bool is_direct(const struct sta_key_layout *layout)
{
    return layout->words == 1 && layout->bits <= DIRECT_BITS;
}

/* Groups for which there is room once @rows more fit. */
static size_t capacity_for(const struct sta_group_table *table, uint32_t rows)
{
    size_t need = (size_t)table->count + rows;
    if (is_direct(&table->layout))
        need = STA_MIN(need, (size_t)1 << table->layout.bits);
    size_t capacity = STA_MAX(table->capacity, (uint32_t)FIRST_GROUPS);
    while (capacity < need)
        capacity *= 2;
    return capacity;
}

/* Half of the slots stay free. */
static size_t slots_for(const struct sta_key_layout *layout, size_t capacity)
{
    return is_direct(layout) ? 0 : capacity * 2;
}

static size_t direct_for(const struct sta_key_layout *layout)
{
    return is_direct(layout) ? (size_t)1 << layout->bits : 0;
}

size_t sta_group_table_bytes(const struct sta_group_table *table, uint32_t rows)
{
    size_t capacity = capacity_for(table, rows);
    size_t in_order = 2 * sizeof(struct sta_sort_pair) + table->layout.words * sizeof(uint64_t);
    size_t bytes = capacity * (table->layout.words * sizeof *table->keys + table->shape->record) +
                   slots_for(&table->layout, capacity) * sizeof *table->slots +
                   direct_for(&table->layout) * sizeof *table->direct +
                   ((size_t)table->count + rows) * in_order;
    for (size_t l = 0; l < table->shape->list_count; l++) {
        const struct sta_list_log *log = &table->logs[l];
        bool may_grow = table->shape->lists[l].kind != STA_LIST_TERMS;
        bytes += sta_list_log_bytes(log, may_grow ? rows : 0) + log->count * log->width * sizeof *log->words;
    }
    return bytes;
}

/* Large tables are touched all over: huge pages spare most of the misses of address translation. */
static void *grow_array(void *old, size_t count, size_t size)
{
    void *grown = reallocarray(old, count, size);
    uintptr_t page = (uintptr_t)grown & ~(uintptr_t)4095;
    if (grown != NULL && count * size >= HUGE_BYTES)
        (void)madvise((void *)page, count * size, MADV_HUGEPAGE);
    return grown;
}

static uint64_t hash_words(const uint64_t *words, size_t step, unsigned count)
{
    uint64_t hash = 0;
    for (unsigned w = 0; w < count; w++) {
        hash = (hash ^ words[w * step]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

static size_t slot_of(uint64_t hash, size_t mask)
{
    return (hash * UINT64_C(0xD6E8FEB86659FD93)) >> 24 & mask;
}

static void put_slot(struct sta_group_table *table, uint64_t key, uint64_t hash, uint32_t group)
{
    size_t mask = table->slot_count - 1;
    size_t slot = slot_of(hash, mask);
    while (table->slots[slot].group != 0)
        slot = (slot + 1) & mask;
    table->slots[slot] = (struct sta_table_slot){key, group + 1};
}

/* What slots hold of a key. */
static uint64_t slot_key(const struct sta_group_table *table, const uint64_t *key, uint64_t hash)
{
    return table->layout.words == 1 ? key[0] : hash;
}

static int rebuild_slots(struct sta_group_table *table, size_t capacity)
{
    const unsigned words = table->layout.words;
    free(table->slots);
    free(table->direct);
    table->slot_count = slots_for(&table->layout, capacity);
    table->direct_count = direct_for(&table->layout);
    table->direct = table->direct_count > 0 ? calloc(table->direct_count, sizeof *table->direct) : NULL;
    table->slots = table->slot_count > 0 ? grow_array(NULL, table->slot_count, sizeof *table->slots) : NULL;
    if (table->direct == NULL && table->slots == NULL)
        return STA_ENOMEM;
    if (table->slots != NULL)
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    for (uint32_t g = 0; g < table->count; g++) {
        const uint64_t *key = &table->keys[(size_t)g * words];
        uint64_t hash = hash_words(key, 1, words);
        if (table->direct != NULL)
            table->direct[key[0]] = g + 1;
        else
            put_slot(table, slot_key(table, key, hash), hash, g);
    }
    return STA_OK;
}

static int grow_groups(struct sta_group_table *table, size_t capacity)
{
    uint64_t *keys = grow_array(table->keys, capacity, table->layout.words * sizeof *keys);
    table->keys = keys != NULL ? keys : table->keys;
    uint8_t *records =
        grow_array(table->records, capacity, table->shape->record + (table->shape->record == 0));
    table->records = records != NULL ? records : table->records;
    if (keys == NULL || records == NULL)
        return STA_ENOMEM;
    table->capacity = (uint32_t)capacity;
    return rebuild_slots(table, capacity);
}

int sta_group_table_reserve(struct sta_group_table *table, uint32_t rows, struct sta_error *err)
{
    size_t capacity = capacity_for(table, rows);
    if ((capacity > table->capacity || (table->slots == NULL && table->direct == NULL)) &&
        grow_groups(table, capacity) != 0)
        return sta_fail(err, STA_ENOMEM, "no memory for %zu groups", capacity);
    for (size_t l = 0; l < table->shape->list_count; l++) {
        int rc = 0;
        if (table->shape->lists[l].kind != STA_LIST_TERMS)
            rc = sta_list_log_reserve(&table->logs[l], rows, err);
        if (rc != 0)
            return rc;
    }
    return STA_OK;
}

int sta_group_table_relayout(struct sta_group_table *table, const struct sta_key_layout *layout,
                             struct sta_error *err)
{
    uint64_t *keys = grow_array(NULL, STA_MAX(table->capacity, 1u), layout->words * sizeof *keys);
    if (keys == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory for the keys of %u groups", table->capacity);
    memset(keys, 0, (size_t)table->count * layout->words * sizeof *keys);
    for (uint32_t g = 0; g < table->count; g++)
        for (size_t k = 0; k < layout->count; k++) {
            uint64_t value;
            bool present =
                sta_key_get(&table->layout.fields[k], &table->keys[(size_t)g * table->layout.words], &value);
            sta_key_put(&layout->fields[k], value, present, &keys[(size_t)g * layout->words]);
        }
    free(table->keys);
    table->keys = keys;
    table->layout = *layout;
    if (rebuild_slots(table, STA_MAX(table->capacity, 1u)) != 0)
        return sta_fail(err, STA_ENOMEM, "no memory to find %u groups", table->count);
    return STA_OK;
}

void sta_group_table_clear(struct sta_group_table *table)
{
    table->count = 0;
    if (table->slots != NULL)
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    if (table->direct != NULL)
        memset(table->direct, 0, table->direct_count * sizeof *table->direct);
    for (size_t l = 0; l < table->shape->list_count; l++)
        sta_list_log_clear(&table->logs[l]);
}

/* ---- rows to groups */

static uint32_t add_group(struct sta_group_table *table, const uint64_t *words, size_t step)
{
    uint32_t group = table->count++;
    STA_ASSERT(group < table->capacity);
    for (unsigned w = 0; w < table->layout.words; w++)
        table->keys[(size_t)group * table->layout.words + w] = words[w * step];
    memset(sta_group_record(table, group), 0, table->shape->record);
    return group;
}

static void find_directly(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                          uint32_t *groups)
{
    uint32_t *direct = table->direct;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t held = direct[words[i]];
        if (held == 0)
            held = direct[words[i]] = add_group(table, &words[i], STA_GROUPING_STRIP) + 1;
        groups[i] = held - 1;
    }
}

static void find_words(struct sta_group_table *table, const uint64_t *words, uint32_t count, uint32_t *groups)
{
    struct sta_table_slot *slots = table->slots;
    const size_t mask = table->slot_count - 1;
    uint32_t wanted[STA_GROUPING_STRIP + AHEAD];
    for (uint32_t i = 0; i < count; i++)
        wanted[i] = (uint32_t)slot_of(hash_words(&words[i], 1, 1), mask);
    for (uint32_t i = 0; i < AHEAD; i++)
        wanted[count + i] = wanted[count - 1];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = words[i];
        size_t slot = wanted[i];
        __builtin_prefetch(&slots[wanted[i + AHEAD]]);
        while (slots[slot].group != 0 && slots[slot].key != key)
            slot = (slot + 1) & mask;
        if (slots[slot].group == 0)
            slots[slot] = (struct sta_table_slot){key, add_group(table, &words[i], STA_GROUPING_STRIP) + 1};
        groups[i] = slots[slot].group - 1;
        __builtin_prefetch(sta_group_record(table, groups[i]), 1);
    }
}

static bool has_key(const struct sta_group_table *table, uint32_t group, const uint64_t *words)
{
    for (unsigned w = 0; w < table->layout.words; w++)
        if (table->keys[(size_t)group * table->layout.words + w] != words[(size_t)w * STA_GROUPING_STRIP])
            return false;
    return true;
}

static void find_long_words(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                            uint32_t *groups)
{
    struct sta_table_slot *slots = table->slots;
    const size_t mask = table->slot_count - 1;
    uint64_t hashes[STA_GROUPING_STRIP];
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = hash_words(&words[i], STA_GROUPING_STRIP, table->layout.words);
        __builtin_prefetch(&slots[slot_of(hashes[i], mask)]);
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t slot = slot_of(hashes[i], mask);
        while (slots[slot].group != 0 &&
               !(slots[slot].key == hashes[i] && has_key(table, slots[slot].group - 1, &words[i])))
            slot = (slot + 1) & mask;
        if (slots[slot].group == 0)
            slots[slot] =
                (struct sta_table_slot){hashes[i], add_group(table, &words[i], STA_GROUPING_STRIP) + 1};
        groups[i] = slots[slot].group - 1;
        __builtin_prefetch(sta_group_record(table, groups[i]), 1);
    }
}

void sta_group_table_find(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                          uint32_t *groups)
{
    if (count == 0)
        return;
    if (table->direct != NULL)
        find_directly(table, words, count, groups);
    else if (table->layout.words == 1)
        find_words(table, words, count, groups);
    else
        find_long_words(table, words, count, groups);
}
