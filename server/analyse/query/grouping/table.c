/* A worker's groups.
 *
 * DESIGN.  Where the packed key has few bits it is an index.  Else a hash table with open addressing holds 32 bits of each hash and the
 * number of the group; the key stands in the group's record, before its states.  So a row costs one line of memory in the table and one
 * or two in the record, and both are asked for ahead of time, for all rows of a strip.  Records lie in chunks, so that growing copies nothing;
 * growing the slots reads no key. */
#include "analyse/query/grouping/table.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define CHUNK_BYTES ((size_t)128 << 10) /* at most, unless records are that large */
#define MOST_CHUNK_BITS 16
#define FIRST_SLOTS 256
#define FAR_BYTES ((size_t)4 << 20) /* a table of so many does not lie near the processor */

static void init_logs(struct sta_group_table *table)
{
    const struct sta_shape *shape = table->shape;
    table->logs = sta_alloc_array(shape->list_count, sizeof *table->logs);
    for (size_t l = 0; l < shape->list_count; l++)
        sta_list_log_init(&table->logs[l], &shape->lists[l]);
}

void sta_group_table_init(struct sta_group_table *table, const struct sta_shape *shape, struct sta_room *room)
{
    *table = (struct sta_group_table){.shape = shape, .room = room};
    init_logs(table);
}

void sta_group_table_fini(struct sta_group_table *table)
{
    for (size_t l = 0; table->logs != NULL && l < table->shape->list_count; l++)
        sta_list_log_fini(&table->logs[l]);
    free(table->logs);
    free(table->chunks);
    free(table->slots);
    free(table->direct);
    *table = (struct sta_group_table){0};
}

/* ---- sizes */

/* Groups there may be once @rows more were taken. */
static size_t most_groups(const struct sta_group_table *table, uint32_t rows)
{
    size_t most = (size_t)table->count + rows;
    return sta_key_layout_is_direct(&table->layout) ? STA_MIN(most, (size_t)1 << table->layout.bits) : most;
}

/* At least a quarter of the slots stays free. */
static size_t slots_for(const struct sta_group_table *table, size_t groups)
{
    size_t slots = STA_MAX(table->slot_count, (size_t)FIRST_SLOTS);
    if (sta_key_layout_is_direct(&table->layout))
        return 0;
    while (slots < groups + groups / 3)
        slots *= 2;
    return slots;
}

size_t sta_group_table_bytes(const struct sta_group_table *table, uint32_t rows)
{
    const struct sta_shape *shape = table->shape;
    size_t groups = most_groups(table, rows);
    size_t in_order = 2 * (table->layout.words + 1) * sizeof(uint64_t);
    size_t bytes = groups * (table->stride + in_order);
    if (sta_key_layout_is_direct(&table->layout))
        bytes += sizeof *table->direct << table->layout.bits;
    bytes += slots_for(table, groups) * sizeof *table->slots;
    for (size_t l = 0; l < shape->list_count; l++) {
        const struct sta_list_log *log = &table->logs[l];
        bool may_grow = shape->lists[l].kind != STA_LIST_TERMS;
        bytes += sta_list_log_bytes(log, may_grow ? rows : 0) + log->count * log->width * sizeof *log->words;
    }
    return bytes;
}

/* ---- room */

static unsigned chunk_bits_for(size_t stride)
{
    unsigned bits = 0;
    while (bits < MOST_CHUNK_BITS && (stride << (bits + 1)) <= CHUNK_BYTES)
        bits++;
    return bits;
}

static int add_chunks(struct sta_group_table *table, size_t groups)
{
    while (table->chunk_count << table->chunk_bits < groups) {
        uint8_t *chunk = sta_room_take(table->room, table->stride << table->chunk_bits);
        if (chunk == NULL)
            return STA_ENOMEM;
        STA_GROW(table->chunks, table->chunk_capacity, table->chunk_count + 1);
        table->chunks[table->chunk_count++] = chunk;
    }
    return STA_OK;
}

static void put_slot(struct sta_group_table *table, uint32_t hash, uint32_t group)
{
    const size_t mask = table->slot_count - 1;
    size_t slot = hash & mask;
    while (table->slots[slot].group != 0)
        slot = (slot + 1) & mask;
    table->slots[slot] = (struct sta_table_slot){hash, group + 1};
}

static int grow_slots(struct sta_group_table *table, size_t count)
{
    struct sta_table_slot *old = table->slots;
    const size_t old_count = table->slot_count;
    struct sta_table_slot *slots = sta_room_create_zeroed(count, sizeof *slots);
    if (slots == NULL)
        return STA_ENOMEM;
    table->slots = slots;
    table->slot_count = count;
    for (size_t s = 0; s < old_count; s++)
        if (old[s].group != 0)
            put_slot(table, old[s].hash, old[s].group - 1);
    free(old);
    return STA_OK;
}

int sta_group_table_reserve(struct sta_group_table *table, uint32_t rows, struct sta_error *err)
{
    const struct sta_shape *shape = table->shape;
    size_t groups = most_groups(table, rows);
    size_t slots = slots_for(table, groups);
    int rc = add_chunks(table, groups);
    if (rc == 0 && slots > table->slot_count)
        rc = grow_slots(table, slots);
    if (rc != 0 || groups >= UINT32_MAX)
        return sta_fail(err, STA_ENOMEM, "no memory for %zu groups", groups);
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++)
        if (shape->lists[l].kind != STA_LIST_TERMS)
            rc = sta_list_log_reserve(&table->logs[l], rows, err);
    return rc;
}

static void clear_index(struct sta_group_table *table)
{
    if (table->slots != NULL)
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    if (table->direct != NULL)
        memset(table->direct, 0, sizeof *table->direct << table->layout.bits);
}

void sta_group_table_clear(struct sta_group_table *table)
{
    table->count = 0;
    table->chunk_count = 0;
    clear_index(table);
    for (size_t l = 0; l < table->shape->list_count; l++)
        sta_list_log_clear(&table->logs[l]);
}

void sta_group_table_freeze(struct sta_group_table *table, struct sta_group_table *frozen)
{
    *frozen = *table;
    frozen->slots = NULL;
    frozen->direct = NULL;
    frozen->slot_count = 0;
    table->count = 0;
    table->chunks = NULL;
    table->chunk_count = table->chunk_capacity = 0;
    clear_index(table);
    init_logs(table);
}

size_t sta_group_table_reach(const struct sta_group_table *table)
{
    return table->count * table->stride + table->slot_count * sizeof *table->slots;
}

/* ---- hashes */

static inline uint64_t mix(uint64_t hash)
{
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    return hash * UINT64_C(0xD6E8FEB86659FD93);
}

/* Words of a key lie @step apart. */
static inline uint32_t hash_key(const uint64_t *words, size_t step, unsigned count)
{
    uint64_t hash = mix(words[0]);
    for (unsigned w = 1; w < count; w++)
        hash = mix(hash ^ hash >> 32 ^ words[w * step]);
    return (uint32_t)(hash >> 32);
}

/* ---- layouts */

static void move_key(const struct sta_key_layout *from, const uint64_t *old, const struct sta_key_layout *to,
                     uint64_t *key)
{
    uint64_t made[2 * STA_GROUPING_KEYS] = {0};
    for (size_t k = 0; k < to->count; k++) {
        uint64_t value;
        bool present = sta_key_get(&from->fields[k], old, &value);
        sta_key_put(&to->fields[k], value, present, made);
    }
    memcpy(key, made, to->words * sizeof *key);
}

/* Records of other sizes, in chunks of their own. */
static int move_records(struct sta_group_table *table, const struct sta_key_layout *layout)
{
    struct sta_group_table wide = *table;
    wide.layout = *layout;
    wide.stride = layout->words * sizeof(uint64_t) + table->shape->record;
    wide.chunk_bits = chunk_bits_for(wide.stride);
    wide.chunks = NULL;
    wide.chunk_count = wide.chunk_capacity = 0;
    if (add_chunks(&wide, table->count) != 0) {
        free(wide.chunks);
        return STA_ENOMEM;
    }
    for (uint32_t g = 0; g < table->count; g++) {
        move_key(&table->layout, sta_group_key(table, g), layout, sta_group_key(&wide, g));
        memcpy(sta_group_states(&wide, g), sta_group_states(table, g), table->shape->record);
    }
    free(table->chunks);
    *table = wide;
    return STA_OK;
}

/* Finds all groups anew. */
static int index_groups(struct sta_group_table *table)
{
    const unsigned words = table->layout.words;
    free(table->slots);
    free(table->direct);
    table->slots = NULL;
    table->direct = NULL;
    table->slot_count = 0;
    if (sta_key_layout_is_direct(&table->layout)) {
        table->direct = calloc((size_t)1 << table->layout.bits, sizeof *table->direct);
        for (uint32_t g = 0; table->direct != NULL && g < table->count; g++)
            table->direct[sta_group_key(table, g)[0]] = g + 1;
        return table->direct != NULL ? STA_OK : STA_ENOMEM;
    }
    if (grow_slots(table, slots_for(table, table->count)) != 0)
        return STA_ENOMEM;
    for (uint32_t g = 0; g < table->count; g++)
        put_slot(table, hash_key(sta_group_key(table, g), 1, words), g);
    return STA_OK;
}

int sta_group_table_relayout(struct sta_group_table *table, const struct sta_key_layout *layout,
                             struct sta_error *err)
{
    int rc = STA_OK;
    if (layout->words != table->layout.words) {
        rc = move_records(table, layout);
    } else {
        for (uint32_t g = 0; g < table->count; g++)
            move_key(&table->layout, sta_group_key(table, g), layout, sta_group_key(table, g));
        table->layout = *layout;
    }
    if (rc == 0)
        rc = index_groups(table);
    return rc == 0 ? STA_OK : sta_fail(err, STA_ENOMEM, "no memory to find %u groups", table->count);
}

/* ---- rows to groups */

static uint32_t add_group(struct sta_group_table *table, const uint64_t *words, size_t step)
{
    uint32_t group = table->count++;
    uint64_t *key = sta_group_key(table, group);
    for (unsigned w = 0; w < table->layout.words; w++)
        key[w] = words[w * step];
    memset(key + table->layout.words, 0, table->shape->record);
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

static inline bool has_key(const uint64_t *key, const uint64_t *words, unsigned count)
{
    bool same = true;
    for (unsigned w = 0; w < count; w++)
        same = same && key[w] == words[(size_t)w * STA_GROUPING_STRIP];
    return same;
}

/* Asks for the slots of a strip, then for the records that they most likely lead to. */
STA_ASKS_AHEAD ask_ahead(const struct sta_group_table *table, const uint32_t *hashes, uint32_t count)
{
    const struct sta_table_slot *slots = table->slots;
    const size_t mask = table->slot_count - 1;
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&slots[hashes[i] & mask]);
    for (uint32_t i = 0; i < count; i++) {
        const struct sta_table_slot *slot = &slots[hashes[i] & mask];
        if (slot->group != 0)
            sta_group_ask(table, slot->group - 1);
    }
}

/* @width: words of the key; a constant where this is inlined. */
static inline void find_hashed(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                               uint32_t *groups, const unsigned width)
{
    struct sta_table_slot *slots = table->slots;
    const size_t mask = table->slot_count - 1;
    uint32_t hashes[STA_GROUPING_STRIP];
    for (uint32_t i = 0; i < count; i++)
        hashes[i] = hash_key(&words[i], STA_GROUPING_STRIP, width);
    if (sta_group_table_reach(table) > FAR_BYTES)
        ask_ahead(table, hashes, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t hash = hashes[i];
        size_t at = hash & mask;
        while (
            slots[at].group != 0 &&
            !(slots[at].hash == hash && has_key(sta_group_key(table, slots[at].group - 1), &words[i], width)))
            at = (at + 1) & mask;
        if (slots[at].group == 0)
            slots[at] = (struct sta_table_slot){hash, add_group(table, &words[i], STA_GROUPING_STRIP) + 1};
        groups[i] = slots[at].group - 1;
    }
}

void sta_group_table_find(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                          uint32_t *groups)
{
    if (table->direct != NULL)
        find_directly(table, words, count, groups);
    else if (table->layout.words == 1)
        find_hashed(table, words, count, groups, 1);
    else
        find_hashed(table, words, count, groups, table->layout.words);
}

void sta_group_table_locate(const struct sta_group_table *table, const uint32_t *groups, uint32_t count,
                            uint8_t **states)
{
    for (uint32_t i = 0; i < count; i++)
        states[i] = sta_group_states(table, groups[i]);
}
