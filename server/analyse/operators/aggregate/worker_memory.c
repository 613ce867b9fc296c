/* The memory of a worker: tables that are sealed, and runs.
 *
 * DESIGN.  A table that outgrows the processor's cache is sealed, and a new one begun: where keys move on
 * with time, as in traces they do, old groups are not met again, and none of the work leaves the cache.
 * Where they do come again, which a sample of the keys of sealed tables tells, the table is left to grow
 * instead, since sealing would only make the same groups many times over.  When all tables together reach
 * the worker's share of the memory, each is brought in order and written out. */
#include "analyse/operators/aggregate/worker.h"

#include <stdlib.h>

#include "common/memory.h"

/* ---- sealing */

#define WORKING_SET_FACTOR 4
#define CHARGE_STEP ((size_t)64 << 10)
#define LONG_LIST ((size_t)4 << 20) /* values */
#define SAMPLE_STEP 128u            /* of so many hashes one is sampled */
#define SAMPLE_BITS 20              /* of a hash: the number of its bit */

struct overlap {
    uint32_t sampled, known;
};

/* A hash of the sample among the sealed keys. */
static void sample_key(struct overlap *overlap, uint32_t hash, uint8_t *bits, bool add)
{
    uint8_t *byte = &bits[hash >> (32 - SAMPLE_BITS) >> 3];
    uint8_t bit = (uint8_t)(1u << (hash >> (32 - SAMPLE_BITS) & 7));
    overlap->sampled++;
    overlap->known += (*byte & bit) != 0;
    *byte |= add ? bit : 0;
}

/* Looks up the sampled keys of the table among the sealed ones; with @add they join them.  A group is in the
 * bucket that the low bits of its hash say, unless that was full; so samples lie a step apart. */
static struct overlap sample_keys(const struct sta_group_table *table, uint8_t *bits, bool add)
{
    struct overlap overlap = {0};
    for (size_t b = 0; b < table->bucket_count; b += SAMPLE_STEP) {
        const struct sta_table_bucket *bucket = &table->buckets[b];
        for (unsigned s = 0; s < STA_BUCKET_SLOTS && bucket->groups[s] != 0; s++)
            if (bucket->hashes[s] % SAMPLE_STEP == 0)
                sample_key(&overlap, bucket->hashes[s], bits, add);
    }
    return overlap;
}

static void seal(struct sta_group_worker *worker)
{
    struct sta_group_table *table = &worker->table;
    worker->sealed_bytes += sta_group_table_bytes(table, 0) - table->bucket_count * sizeof *table->buckets;
    STA_GROW(worker->sealed, worker->sealed_capacity, worker->sealed_count + 1);
    sta_group_table_seal(table, &worker->sealed[worker->sealed_count++]);
}

/* Whether so many values are listed that sorting them, which cannot be cancelled, takes long. */
static bool has_long_lists(const struct sta_group_table *table)
{
    bool any = false;
    for (size_t l = 0; l < table->shape->list_count; l++)
        any = any || table->logs[l].count >= LONG_LIST;
    return any;
}

static void seal_or_grow(struct sta_group_worker *worker)
{
    struct sta_group_table *table = &worker->table;
    if (has_long_lists(table)) {
        seal(worker);
        return;
    }
    if (table->direct != NULL || sta_group_table_working_set(table) <= worker->working_set)
        return;
    if (worker->sealed_keys == NULL)
        worker->sealed_keys = sta_alloc((size_t)1 << (SAMPLE_BITS - 3));
    struct overlap overlap = sample_keys(table, worker->sealed_keys, false);
    if (overlap.known * 4 > overlap.sampled) {
        worker->working_set *= WORKING_SET_FACTOR;
        return;
    }
    sample_keys(table, worker->sealed_keys, true);
    seal(worker);
}

/* ---- memory */

/* Charges are made in steps, since a few bytes more are needed for every minibatch. */
static int charge(struct sta_group_worker *worker, size_t bytes, struct sta_error *err)
{
    const size_t whole = (bytes + CHARGE_STEP - 1) / CHARGE_STEP * CHARGE_STEP;
    if (bytes <= worker->charged)
        return STA_OK;
    int rc = sta_account_charge(worker->account, whole - worker->charged, "groups", err);
    worker->charged = rc == 0 ? whole : worker->charged;
    return rc;
}

static int make_memory(struct sta_group_worker *worker, size_t bytes, struct sta_error *err)
{
    const struct sta_group_limits *limits = worker->limits;
    if (limits->spill_folder != NULL)
        return sta_group_worker_spill(worker, err);
    return sta_fail(err, STA_ELIMIT,
                    "memory for groups would take more than %.0f MiB; one query may hold %.0f MiB for them "
                    "(setting query_memory); narrow it by from and to, or by a filter",
                    (double)bytes * limits->workers / 1048576,
                    (double)limits->memory * limits->workers / 1048576);
}

int sta_group_worker_make_space(struct sta_group_worker *worker, uint32_t rows, struct sta_error *err)
{
    const struct sta_group_limits *limits = worker->limits;
    int rc = STA_OK;
    if (limits->most_groups == 0) /* else tables are left whole, so that their groups can be counted */
        seal_or_grow(worker);
    size_t bytes = worker->sealed_bytes + sta_group_table_bytes(&worker->table, rows);
    const bool any = worker->table.count + worker->sealed_count > 0;
    if (bytes <= limits->memory || !any)
        rc = charge(worker, bytes, err);
    if (any && (bytes > limits->memory || (rc != 0 && limits->spill_folder != NULL))) {
        rc = make_memory(worker, bytes, err);
        bytes = sta_group_table_bytes(&worker->table, rows);
        if (rc == 0)
            rc = charge(worker, bytes, err);
    }
    worker->memory = STA_MAX(worker->memory, bytes);
    return rc == 0 ? sta_group_table_reserve(&worker->table, rows, err) : rc;
}

/* ---- runs */

static int spill_table(struct sta_group_worker *worker, struct sta_group_table *table, struct sta_error *err)
{
    STA_GROW(worker->runs, worker->run_capacity, worker->run_count + 1);
    int rc = table->count > 0 ? sta_run_write_table(table, worker->budget, worker->spill,
                                                    &worker->runs[worker->run_count], err)
                              : STA_OK;
    worker->run_count += rc == 0 && table->count > 0;
    return rc;
}

int sta_group_worker_spill(struct sta_group_worker *worker, struct sta_error *err)
{
    int rc = STA_OK;
    if (worker->spill == NULL && worker->table.count + worker->sealed_count > 0)
        rc = sta_spill_create(worker->limits->spill_folder, &worker->spill, err);
    for (size_t t = 0; rc == 0 && t <= worker->sealed_count; t++)
        rc = spill_table(worker, sta_group_worker_table(worker, t), err);
    if (rc != 0)
        return rc;
    for (size_t t = 0; t < worker->sealed_count; t++)
        sta_group_table_fini(&worker->sealed[t]);
    worker->sealed_count = 0;
    worker->sealed_bytes = 0;
    sta_group_table_clear(&worker->table);
    sta_state_arena_reset(&worker->arena);
    return STA_OK;
}
