/* Numbers for tuples: a table of groups for each worker, and one for all. */
#include "analyse/operators/numbering.h"

#include <pthread.h>
#include <stdlib.h>

#include "analyse/operators/aggregate/worker.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

static const char WHAT[] = "the units of a result";

/* Values lie in arrays that never move, each twice as large as the one before: reading takes no lock. */
#define FIRST_CHUNK_BITS 10
#define CHUNKS (33 - FIRST_CHUNK_BITS)

struct place {
    unsigned chunk;
    size_t inside;
};

static struct place place_of(uint32_t number)
{
    const uint64_t from_one = ((uint64_t)number >> FIRST_CHUNK_BITS) + 1;
    const unsigned chunk = 63 - (unsigned)__builtin_clzll(from_one);
    const uint64_t before = ((UINT64_C(1) << chunk) - 1) << FIRST_CHUNK_BITS;
    return (struct place){chunk, number - before};
}

struct local {
    struct sta_group_worker table;
    uint32_t *numbers; /* by group */
    size_t known, capacity;
    size_t charged; /* bytes of the table */
};

struct sta_numbering {
    struct sta_shape shape;
    struct sta_account *account;
    struct local **locals; /* by worker */
    unsigned worker_count;
    struct sta_dictionary *texts[STA_NUMBERING_KEYS]; /* TEXT: of the numbers' values */

    pthread_mutex_t lock; /* guards what follows */
    struct sta_group_worker all;
    size_t charged;
    struct sta_key_value *chunks[CHUNKS]; /* values, key by key of a number */
    _Atomic uint32_t count;
};

struct sta_numbering *sta_numbering_create(const enum sta_type *types, size_t key_count,
                                           const struct sta_budget *budget)
{
    struct sta_numbering *numbering = sta_alloc(sizeof *numbering);
    const struct sta_aggregation_spec spec = {.keys = types, .key_count = key_count, .keep_missing = true};
    STA_ASSERT(key_count >= 1 && key_count <= STA_NUMBERING_KEYS);
    sta_shape_init(&numbering->shape, &spec, NULL);
    numbering->account = budget->account;
    numbering->worker_count = sta_budget_workers(budget);
    numbering->locals = sta_alloc_array(numbering->worker_count, sizeof *numbering->locals);
    for (unsigned w = 0; w < numbering->worker_count; w++) {
        numbering->locals[w] = sta_alloc(sizeof **numbering->locals);
        sta_group_worker_init(&numbering->locals[w]->table, &numbering->shape, NULL, NULL);
    }
    sta_group_worker_init(&numbering->all, &numbering->shape, NULL, NULL);
    pthread_mutex_init(&numbering->lock, NULL);
    for (size_t k = 0; k < key_count; k++)
        if (types[k] == STA_TYPE_TEXT)
            numbering->texts[k] = sta_dictionary_create_in(budget->account);
    return numbering;
}

void sta_numbering_destroy(struct sta_numbering *numbering)
{
    if (numbering == NULL)
        return;
    for (unsigned w = 0; w < numbering->worker_count; w++) {
        struct local *local = numbering->locals[w];
        sta_group_worker_fini(&local->table);
        sta_account_free(numbering->account, local->numbers);
        sta_account_release(numbering->account, local->charged);
        free(local);
    }
    free(numbering->locals);
    sta_group_worker_fini(&numbering->all);
    sta_account_release(numbering->account, numbering->charged);
    for (size_t c = 0; c < CHUNKS; c++)
        sta_account_free(numbering->account, numbering->chunks[c]);
    for (size_t k = 0; k < numbering->shape.key_count; k++)
        sta_dictionary_destroy(numbering->texts[k]);
    sta_shape_fini(&numbering->shape);
    pthread_mutex_destroy(&numbering->lock);
    free(numbering);
}

/* Counts what a table has grown by; whether it is too much is asked once per morsel. */
static void charge(struct sta_account *account, const struct sta_group_worker *table, size_t *charged)
{
    const size_t bytes = sta_group_table_bytes(&table->table, 0);
    if (bytes > *charged) {
        sta_account_overdraw(account, bytes - *charged);
        *charged = bytes;
    }
}

/* ---- tuples that are new to a worker */

/* The values of some rows as columns, texts as codes of the numbering's dictionaries. */
struct fresh {
    struct sta_vector keys[STA_NUMBERING_KEYS];
    struct {
        int64_t values[STA_MINIBATCH_ROWS];
        uint8_t missing[STA_MINIBATCH_ROWS];
    } columns[];
};

static void gather_texts(struct sta_dictionary *own, const struct sta_vector *vector, uint32_t count,
                         uint32_t *codes)
{
    for (uint32_t i = 0; i < count; i++) {
        if (codes[i] == STA_NO_CODE)
            continue;
        struct sta_text text = sta_dictionary_text(vector->texts, codes[i]);
        codes[i] = sta_dictionary_intern(own, text.bytes, text.length);
    }
}

static void gather(const struct sta_numbering *numbering, const struct sta_vector *keys, const uint32_t *rows,
                   uint32_t count, struct fresh *fresh)
{
    for (size_t k = 0; k < numbering->shape.key_count; k++) {
        int64_t *values = fresh->columns[k].values;
        bool missing = sta_vector_gather(&keys[k], rows, count, values, fresh->columns[k].missing);
        fresh->keys[k] =
            (struct sta_vector){.type = numbering->shape.key_types[k], .texts = numbering->texts[k]};
        sta_vector_point(&fresh->keys[k], values);
        for (uint32_t i = 0; i < count && numbering->shape.key_types[k] == STA_TYPE_FLOAT; i++)
            ((double *)(void *)values)[i] += 0.0; /* -0.0 is 0.0 */
        if (numbering->shape.key_types[k] == STA_TYPE_TEXT)
            gather_texts(numbering->texts[k], &keys[k], count, (uint32_t *)(void *)values);
        else if (missing)
            fresh->keys[k].missing = fresh->columns[k].missing;
    }
}

/* Under the lock. */
static int add_number(struct sta_numbering *numbering, const struct fresh *fresh, uint32_t row,
                      struct sta_error *err)
{
    const struct place place = place_of(numbering->count);
    const size_t keys = numbering->shape.key_count;
    struct sta_key_value **chunk = &numbering->chunks[place.chunk];
    if (*chunk == NULL)
        *chunk = sta_account_alloc(numbering->account, keys << (FIRST_CHUNK_BITS + place.chunk),
                                   sizeof **chunk, WHAT, err);
    if (*chunk == NULL)
        return err->status;
    for (size_t k = 0; k < keys; k++)
        (*chunk)[place.inside * keys + k] = sta_vector_value(&fresh->keys[k], row);
    numbering->count++;
    return 0;
}

/* The numbers of the tuples in the first @count rows. */
static int meet(struct sta_numbering *numbering, const struct fresh *fresh, uint32_t count, uint32_t *numbers,
                struct sta_error *err)
{
    const struct sta_aggregation_input rows = {.count = count, .keys = fresh->keys};
    struct sta_group_worker *all = &numbering->all;
    pthread_mutex_lock(&numbering->lock);
    sta_group_worker_see(all, &rows);
    int rc = sta_group_worker_number(all, &rows, (struct sta_minibatch){.count = count}, err);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        numbers[i] = all->groups[i];
        if (numbers[i] == numbering->count)
            rc = add_number(numbering, fresh, i, err);
    }
    charge(numbering->account, all, &numbering->charged);
    pthread_mutex_unlock(&numbering->lock);
    return rc;
}

/* Numbers the groups of a minibatch that are new to the worker's table, in the order of rows. */
static int number_fresh(struct sta_numbering *numbering, struct local *local, const struct sta_vector *keys,
                        const struct sta_minibatch *minibatch, struct sta_error *err)
{
    const size_t key_count = numbering->shape.key_count;
    uint32_t rows[STA_MINIBATCH_ROWS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < minibatch->count; i++)
        if (local->table.groups[i] == local->known + count)
            rows[count++] = sta_minibatch_row(minibatch, i);
    STA_ASSERT(local->known + count == local->table.table.count);
    if (count == 0)
        return 0;
    struct fresh *fresh = sta_alloc(sizeof *fresh + key_count * sizeof *fresh->columns);
    int rc = STA_ACCOUNT_GROW(numbering->account, local->numbers, local->capacity, local->known + count, WHAT,
                              err);
    gather(numbering, keys, rows, count, fresh);
    if (rc == 0)
        rc = meet(numbering, fresh, count, local->numbers + local->known, err);
    local->known += rc == 0 ? count : 0;
    free(fresh);
    charge(numbering->account, &local->table, &local->charged);
    return rc;
}

/* ---- rows */

int sta_numbering_take(struct sta_numbering *numbering, unsigned worker, const struct sta_vector *keys,
                       const uint32_t *selected, uint32_t count, uint32_t *numbers, struct sta_error *err)
{
    struct local *local = numbering->locals[worker];
    const struct sta_aggregation_input rows = {.count = count, .selected = selected, .keys = keys};
    int rc = 0;
    sta_group_worker_see(&local->table, &rows);
    for (uint32_t first = 0; first < count && rc == 0; first += STA_MINIBATCH_ROWS) {
        const struct sta_minibatch minibatch = {.count = STA_MIN(STA_MINIBATCH_ROWS, count - first),
                                                .first = first,
                                                .rows = selected != NULL ? selected + first : NULL};
        rc = sta_group_worker_number(&local->table, &rows, minibatch, err);
        if (rc == 0)
            rc = number_fresh(numbering, local, keys, &minibatch, err);
        for (uint32_t i = 0; i < minibatch.count && rc == 0; i++)
            numbers[sta_minibatch_row(&minibatch, i)] = local->numbers[local->table.groups[i]];
    }
    return rc;
}

uint32_t sta_numbering_count(const struct sta_numbering *numbering)
{
    return numbering->count;
}

struct sta_key_value sta_numbering_value(const struct sta_numbering *numbering, uint32_t number, size_t key)
{
    const struct place place = place_of(number);
    return numbering->chunks[place.chunk][place.inside * numbering->shape.key_count + key];
}

const struct sta_dictionary *sta_numbering_texts(const struct sta_numbering *numbering, size_t key)
{
    return numbering->texts[key];
}
