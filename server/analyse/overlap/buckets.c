/* Sums by bin, (pid, tid) and set; then the largest of each bin.  Each worker has a table of its own, merged
 * after the pass. */
#include "analyse/overlap/buckets.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "common/map.h"
#include "common/memory.h"

struct sums {
    struct sta_map places; /* bin and thread -> place in times */
    uint64_t *keys;        /* by place */
    int64_t *times;        /* by place, then set */
    uint8_t *met;          /* by place, then set: whether it has an event at all */
    size_t count, capacity;
};

struct worker {
    struct sta_overlap_reader *reader;
    struct sums sums;
    int64_t events[STA_OVERLAP_SETS + 1], time[STA_OVERLAP_SETS + 1];
    char padding[64]; /* a cache line of its own */
};

struct adding {
    const struct sta_overlap_request *request;
    const struct sta_budget *budget;
    const struct sta_scope *scope;
    uint32_t *id_of_thread; /* by thread code: number of its (pid, tid) */
    uint32_t ids;
    struct worker *workers;
    _Atomic size_t bytes;
};

/* ---- (pid, tid), whatever the host */

static void number_ids(struct adding *adding)
{
    const struct sta_entities *entities = sta_snapshot_entities(adding->request->question->snapshot);
    struct sta_key_table table;
    sta_key_table_init(&table, 2);
    adding->id_of_thread =
        sta_alloc_array((size_t)entities->thread_code_count + 1, sizeof *adding->id_of_thread);
    for (uint32_t code = 0; code < entities->thread_code_count; code++) {
        if (entities->thread_of_code[code] >= entities->thread_count)
            continue;
        const struct sta_entity_thread *thread = &entities->threads[entities->thread_of_code[code]];
        struct sta_key_value id[] = {{.bits = (uint64_t)thread->pid}, {.bits = (uint64_t)thread->tid}};
        adding->id_of_thread[code] = sta_key_table_intern(&table, id);
    }
    adding->ids = sta_key_table_count(&table);
    sta_key_table_fini(&table);
}

/* ---- sums */

static size_t place_of(struct adding *adding, struct sums *sums, uint64_t key)
{
    bool added;
    size_t sets = adding->request->set_count;
    size_t place = sta_map_intern(&sums->places, key, (uint32_t)sums->count, &added);
    if (!added)
        return place;
    size_t before = sums->capacity;
    STA_GROW(sums->keys, sums->capacity, sums->count + 1);
    if (sums->capacity > before) {
        size_t more = sums->capacity - before;
        sums->times = sta_realloc_array(sums->times, sums->capacity * sets, sizeof *sums->times);
        sums->met = sta_realloc_array(sums->met, sums->capacity * sets, 1);
        memset(sums->times + before * sets, 0, more * sets * sizeof *sums->times);
        memset(sums->met + before * sets, 0, more * sets);
        atomic_fetch_add_explicit(&adding->bytes, more * (sets * 9 + 32), memory_order_relaxed);
    }
    sums->keys[sums->count++] = key;
    return place;
}

static void add_event(struct adding *adding, struct worker *worker, uint64_t key, uint32_t mask, int64_t dur)
{
    size_t sets = adding->request->set_count;
    if (mask == 0) {
        worker->events[sets]++;
        worker->time[sets] += dur;
        return;
    }
    size_t place = place_of(adding, &worker->sums, key);
    for (; mask != 0; mask &= mask - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(mask);
        worker->sums.times[place * sets + s] += dur;
        worker->sums.met[place * sets + s] = 1;
        worker->events[s]++;
        worker->time[s] += dur;
    }
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct adding *adding = self;
    struct worker *worker = &adding->workers[number];
    struct sta_overlap_events events;
    double bytes = (double)atomic_load_explicit(&adding->bytes, memory_order_relaxed);
    bytes += (double)sta_scope_bytes(adding->scope);
    int rc = sta_budget_memory(adding->budget, bytes, "the sums of bins and threads", err);
    if (rc == 0)
        rc = sta_overlap_reader_read(worker->reader, rows, &events, err);
    for (uint32_t i = 0; rc == 0 && i < events.count; i++) {
        uint32_t row = events.selected != NULL ? events.selected[i] : i;
        uint32_t mask = events.masks[row];
        if (mask == STA_NOT_THERE || events.ts[row] < adding->request->from ||
            events.ts[row] >= adding->request->to)
            continue;
        uint64_t key = (uint64_t)events.units[row] << 32 | adding->id_of_thread[events.threads[row]];
        add_event(adding, worker, key, mask, events.dur[row]);
    }
    return rc;
}

/* ---- results */

static void merge(struct adding *adding, struct worker *into, const struct worker *from)
{
    size_t sets = adding->request->set_count;
    for (size_t i = 0; i < from->sums.count; i++) {
        size_t place = place_of(adding, &into->sums, from->sums.keys[i]);
        for (size_t s = 0; s < sets; s++) {
            into->sums.times[place * sets + s] += from->sums.times[i * sets + s];
            into->sums.met[place * sets + s] |= from->sums.met[i * sets + s];
        }
    }
    for (size_t s = 0; s <= sets; s++) {
        into->events[s] += from->events[s];
        into->time[s] += from->time[s];
    }
}

/* The largest sum of each bin and set; no sum counts as 0. */
static int64_t *largest_by_bin(const struct adding *adding, const struct sums *sums, uint32_t bins)
{
    size_t sets = adding->request->set_count;
    int64_t *largest = sta_alloc_array((size_t)bins * sets + 1, sizeof *largest);
    for (size_t i = 0; i < sums->count; i++) {
        int64_t *bin = largest + (sums->keys[i] >> 32) * sets;
        for (size_t s = 0; s < sets; s++)
            bin[s] = STA_MAX(bin[s], sums->times[i * sets + s]);
    }
    return largest;
}

static void count_threads(const struct adding *adding, const struct sums *sums, struct sta_buckets *buckets)
{
    size_t sets = adding->request->set_count;
    uint8_t *seen = sta_alloc_array((size_t)adding->ids * sets + 1, 1);
    for (size_t i = 0; i < sums->count; i++)
        for (size_t s = 0; s < sets; s++) {
            uint8_t *mark = &seen[(uint32_t)sums->keys[i] * sets + s];
            buckets->threads[s] += sums->met[i * sets + s] && !*mark;
            *mark |= sums->met[i * sets + s];
        }
    free(seen);
}

static void subtract(const int64_t *largest, uint32_t bins, struct sta_buckets *buckets)
{
    for (uint32_t bin = 0; bin < bins; bin++) {
        const int64_t *times = largest + (size_t)bin * buckets->sets;
        for (uint32_t a = 0; a < buckets->sets; a++) {
            buckets->total[a] += times[a];
            for (uint32_t b = 0; b < buckets->sets; b++)
                buckets->minus[a][b] += STA_MAX(times[a] - times[b], 0);
        }
    }
}

static void take_results(struct adding *adding, unsigned workers, uint32_t bins, struct sta_buckets *buckets)
{
    struct worker *first = &adding->workers[0];
    for (unsigned w = 1; w < workers; w++)
        merge(adding, first, &adding->workers[w]);
    *buckets = (struct sta_buckets){.sets = adding->request->set_count, .bins = bins};
    memcpy(buckets->events, first->events, (buckets->sets + 1) * sizeof *first->events);
    memcpy(buckets->time, first->time, (buckets->sets + 1) * sizeof *first->time);
    int64_t *largest = largest_by_bin(adding, &first->sums, bins);
    subtract(largest, bins, buckets);
    free(largest);
    count_threads(adding, &first->sums, buckets);
}

static int scan_events(struct adding *adding, const struct sta_overlap_binding *binding, unsigned workers,
                       struct sta_error *err)
{
    struct sta_accumulator accumulator = {adding, take_rows};
    struct sta_scan scan = sta_overlap_scan(adding->request);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    for (unsigned w = 0; w < workers; w++)
        adding->workers[w].reader = sta_overlap_reader_create(binding);
    int rc = sta_scan_run(&scan, adding->budget, err);
    for (unsigned w = 0; w < workers; w++)
        sta_overlap_reader_destroy(adding->workers[w].reader);
    return rc;
}

int sta_buckets_measure(const struct sta_overlap_request *request, const struct sta_budget *budget,
                        struct sta_buckets *buckets, struct sta_error *err)
{
    unsigned workers = sta_budget_workers(budget);
    struct adding adding = {
        .request = request, .budget = budget, .workers = sta_alloc_array(workers, sizeof *adding.workers)};
    struct sta_overlap_binding binding;
    number_ids(&adding);
    int rc = sta_overlap_binding_init(&binding, request, budget, err);
    adding.scope = binding.scope;
    if (rc == 0)
        rc = scan_events(&adding, &binding, workers, err);
    if (rc == 0)
        take_results(&adding, workers, sta_scope_unit_count(binding.scope), buckets);
    for (unsigned w = 0; w < workers; w++) {
        sta_map_fini(&adding.workers[w].sums.places);
        free(adding.workers[w].sums.keys);
        free(adding.workers[w].sums.times);
        free(adding.workers[w].sums.met);
    }
    free(adding.workers);
    free(adding.id_of_thread);
    sta_overlap_binding_fini(&binding);
    return rc;
}
