/* A worker's groups.
 *
 * DESIGN.  Where the packed key has few bits it is an index.  Else a hash table holds 32 bits of each hash
 * and the number of the group, whose key and states lie elsewhere.  Its slots lie in buckets of a line of
 * memory, which are compared at once, without a branch; a group whose bucket is full goes to the next.  So a
 * row costs a line each in the table, the keys and the states, which are asked for ahead of time, for all
 * rows of a minibatch.  Keys lie side by side, for those who read them all; states in chunks, so that growing
 * copies none; growing the buckets reads no key. */
#include "analyse/operators/aggregate/table.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate/functions.h"
#include "common/memory.h"

#define CHUNK_BYTES ((size_t)128 << 10) /* at most, unless records are that large */
#define MOST_CHUNK_BITS 16
#define FIRST_BUCKETS 32

static unsigned chunk_bits_for(size_t record)
{
    unsigned bits = 0;
    while (bits < MOST_CHUNK_BITS && (record << (bits + 1)) <= CHUNK_BYTES)
        bits++;
    return bits;
}

static void init_logs(struct sta_group_table *table)
{
    const struct sta_shape *shape = table->shape;
    table->logs = sta_alloc_array(shape->list_count, sizeof *table->logs);
    for (size_t l = 0; l < shape->list_count; l++)
        sta_list_log_init(&table->logs[l], &shape->lists[l]);
}

void sta_group_table_init(struct sta_group_table *table, const struct sta_shape *shape,
                          struct sta_state_arena *arena)
{
    *table =
        (struct sta_group_table){.shape = shape, .arena = arena, .chunk_bits = chunk_bits_for(shape->record)};
    init_logs(table);
}

void sta_group_table_fini(struct sta_group_table *table)
{
    for (size_t l = 0; table->logs != NULL && l < table->shape->list_count; l++)
        sta_list_log_fini(&table->logs[l]);
    free(table->logs);
    sta_free(table->keys);
    free(table->chunks);
    sta_free(table->buckets);
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
static size_t buckets_for(const struct sta_group_table *table, size_t groups)
{
    size_t buckets = STA_MAX(table->bucket_count, (size_t)FIRST_BUCKETS);
    if (sta_key_layout_is_direct(&table->layout))
        return 0;
    while (buckets * STA_BUCKET_SLOTS < groups + groups / 3)
        buckets *= 2;
    return buckets;
}

size_t sta_group_table_bytes(const struct sta_group_table *table, uint32_t rows)
{
    const struct sta_shape *shape = table->shape;
    size_t groups = most_groups(table, rows);
    size_t keys = 2 * table->layout.words * sizeof *table->keys; /* space to grow included */
    size_t in_order = 2 * (table->layout.words + 1) * sizeof(uint64_t);
    size_t bytes = groups * (shape->record + keys + in_order);
    if (sta_key_layout_is_direct(&table->layout))
        bytes += sizeof *table->direct << table->layout.bits;
    bytes += buckets_for(table, groups) * sizeof *table->buckets;
    for (size_t l = 0; l < shape->list_count; l++) {
        const struct sta_list_log *log = &table->logs[l];
        bool may_grow = shape->lists[l].kind != STA_LIST_TERMS;
        bytes += sta_list_log_bytes(log, may_grow ? rows : 0) + log->count * log->width * sizeof(uint64_t);
    }
    return bytes;
}

/* ---- memory */

static int reserve_keys(struct sta_group_table *table, size_t groups)
{
    if (groups <= table->key_capacity)
        return STA_OK;
    size_t capacity = STA_MAX(groups, 2 * table->key_capacity);
    uint64_t *keys = reallocarray(table->keys, capacity, table->layout.words * sizeof *keys);
    if (keys == NULL)
        return STA_ENOMEM;
    table->keys = keys;
    table->key_capacity = capacity;
    return STA_OK;
}

static int add_chunks(struct sta_group_table *table, size_t groups)
{
    while (table->chunk_count << table->chunk_bits < groups) {
        uint8_t *chunk = sta_state_arena_take(table->arena, table->shape->record << table->chunk_bits);
        if (chunk == NULL)
            return STA_ENOMEM;
        STA_GROW(table->chunks, table->chunk_capacity, table->chunk_count + 1);
        table->chunks[table->chunk_count++] = chunk;
    }
    return STA_OK;
}

static void put_slot(struct sta_group_table *table, uint32_t hash, uint32_t group)
{
    uint32_t at = hash;
    unsigned s = 0;
    while (sta_group_bucket(table, at)->groups[STA_BUCKET_SLOTS - 1] != 0)
        at++;
    struct sta_table_bucket *bucket = sta_group_bucket(table, at);
    while (bucket->groups[s] != 0)
        s++;
    bucket->hashes[s] = hash;
    bucket->groups[s] = group + 1;
}

static int grow_buckets(struct sta_group_table *table, size_t count)
{
    struct sta_table_bucket *old = table->buckets;
    const size_t old_count = table->bucket_count;
    struct sta_table_bucket *buckets = sta_array_create(count, sizeof *buckets);
    if (buckets == NULL)
        return STA_ENOMEM;
    memset(buckets, 0, count * sizeof *buckets);
    table->buckets = buckets;
    table->bucket_count = count;
    for (size_t b = 0; b < old_count; b++)
        for (unsigned s = 0; s < STA_BUCKET_SLOTS && old[b].groups[s] != 0; s++)
            put_slot(table, old[b].hashes[s], old[b].groups[s] - 1);
    sta_free(old);
    return STA_OK;
}

int sta_group_table_reserve(struct sta_group_table *table, uint32_t rows, struct sta_error *err)
{
    const struct sta_shape *shape = table->shape;
    size_t groups = most_groups(table, rows);
    size_t buckets = buckets_for(table, groups);
    int rc = reserve_keys(table, groups);
    if (rc == 0)
        rc = add_chunks(table, groups);
    if (rc == 0 && buckets > table->bucket_count)
        rc = grow_buckets(table, buckets);
    if (rc != 0 || groups >= UINT32_MAX)
        return sta_fail(err, STA_ENOMEM, "no memory for %zu groups", groups);
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++)
        if (shape->lists[l].kind != STA_LIST_TERMS)
            rc = sta_list_log_reserve(&table->logs[l], rows, err);
    return rc;
}

static void clear_index(struct sta_group_table *table)
{
    if (table->buckets != NULL)
        memset(table->buckets, 0, table->bucket_count * sizeof *table->buckets);
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

void sta_group_table_seal(struct sta_group_table *table, struct sta_group_table *sealed)
{
    *sealed = *table;
    sealed->buckets = NULL;
    sealed->direct = NULL;
    sealed->bucket_count = 0;
    table->count = 0;
    table->keys = NULL;
    table->key_capacity = 0;
    table->chunks = NULL;
    table->chunk_count = table->chunk_capacity = 0;
    clear_index(table);
    init_logs(table);
}

size_t sta_group_table_working_set(const struct sta_group_table *table)
{
    const size_t group = table->shape->record + table->layout.words * sizeof *table->keys;
    return table->count * group + table->bucket_count * sizeof *table->buckets;
}

/* ---- layouts */

static void move_key(const struct sta_key_layout *from, const uint64_t *old, const struct sta_key_layout *to,
                     uint64_t *key)
{
    uint64_t made[2 * STA_MOST_KEY_FIELDS] = {0};
    for (size_t k = 0; k < to->count; k++) {
        uint64_t value;
        bool present = sta_key_get(&from->fields[k], old, &value);
        sta_key_put(&to->fields[k], value, present, made);
    }
    memcpy(key, made, to->words * sizeof *key);
}

static int move_keys(struct sta_group_table *table, const struct sta_key_layout *layout)
{
    const size_t capacity = STA_MAX(table->key_capacity, (size_t)1);
    uint64_t *keys = sta_try_alloc_array(capacity, layout->words * sizeof *keys);
    if (keys == NULL)
        return STA_ENOMEM;
    for (uint32_t g = 0; g < table->count; g++)
        move_key(&table->layout, sta_group_key(table, g), layout, keys + (size_t)g * layout->words);
    sta_free(table->keys);
    table->keys = keys;
    table->key_capacity = capacity;
    table->layout = *layout;
    return STA_OK;
}

/* Finds all groups anew. */
static int index_groups(struct sta_group_table *table)
{
    const unsigned words = table->layout.words;
    sta_free(table->buckets);
    free(table->direct);
    table->buckets = NULL;
    table->direct = NULL;
    table->bucket_count = 0;
    if (sta_key_layout_is_direct(&table->layout)) {
        table->direct = calloc((size_t)1 << table->layout.bits, sizeof *table->direct);
        for (uint32_t g = 0; table->direct != NULL && g < table->count; g++)
            table->direct[sta_group_key(table, g)[0]] = g + 1;
        return table->direct != NULL ? STA_OK : STA_ENOMEM;
    }
    if (grow_buckets(table, buckets_for(table, table->count)) != 0)
        return STA_ENOMEM;
    for (uint32_t g = 0; g < table->count; g++)
        put_slot(table, sta_group_hash(sta_group_key(table, g), 1, words), g);
    return STA_OK;
}

int sta_group_table_relayout(struct sta_group_table *table, const struct sta_key_layout *layout,
                             struct sta_error *err)
{
    int rc = move_keys(table, layout);
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
    memset(sta_group_states(table, group), 0, table->shape->record);
    return group;
}

uint32_t sta_group_table_add_direct(struct sta_group_table *table, uint64_t key)
{
    uint32_t group = add_group(table, &key, 0);
    table->direct[key] = group + 1;
    return group;
}

uint32_t sta_group_table_find(struct sta_group_table *table, const uint64_t *words, uint32_t hash)
{
    for (uint32_t at = hash;; at++) {
        struct sta_table_bucket *bucket = sta_group_bucket(table, at);
        unsigned s = 0;
        for (; s < STA_BUCKET_SLOTS && bucket->groups[s] != 0; s++)
            if (bucket->hashes[s] == hash &&
                sta_group_has_key(table, bucket->groups[s] - 1, words, table->layout.words))
                return bucket->groups[s] - 1;
        if (s < STA_BUCKET_SLOTS) {
            bucket->hashes[s] = hash;
            bucket->groups[s] = table->count + 1;
            return add_group(table, words, STA_MINIBATCH_ROWS);
        }
    }
}

void sta_group_table_unite(struct sta_group_table *table, uint32_t group, const uint8_t *record,
                           struct sta_exact_terms *terms)
{
    const struct sta_shape *shape = table->shape;
    uint8_t *states = sta_group_states(table, group);
    for (size_t f = 0; f < shape->call_count; f++) {
        const struct sta_agg_call *call = &shape->calls[f];
        call->function->merge(call, states + call->offset, record + call->offset, terms);
        for (size_t t = 0; t < terms->count; t++)
            sta_list_log_add(&table->logs[call->list], group, &terms->terms[t]);
        terms->count = 0;
    }
}
