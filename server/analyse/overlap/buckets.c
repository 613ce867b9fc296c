/* Sums by bin, (pid, tid) and combination of sets: a plan over the hash aggregation.  Its groups come in the
 * order of bins, then threads, so that one walk through them finds the largest of each bin. */
#include <stdlib.h>

#include "analyse/operators/aggregate.h"
#include "analyse/operators/numbering.h"
#include "analyse/operators/vectors.h"
#include "analyse/overlap/tables.h"
#include "common/memory.h"

static const char WHAT[] = "the sums of bins and threads";

enum { BIN, THREAD, MASK, KEYS };
enum { EVENTS, TIME, SUMS };

struct worker {
    int64_t keys[KEYS][STA_ROW_GROUP_ROWS]; /* by row */
    uint32_t rows[STA_ROW_GROUP_ROWS];
};

struct adding {
    const struct sta_overlap_request *request;
    const struct sta_budget *budget;
    struct sta_overlap_binding binding;
    uint32_t *id_of_thread; /* by thread code: number of its (pid, tid) */
    uint32_t ids;
    struct worker **workers;
    struct sta_aggregation *aggregation;
};

/* ---- (pid, tid), whatever the host */

static int number_ids(struct adding *adding, struct sta_error *err)
{
    static const enum sta_type types[] = {STA_TYPE_INT, STA_TYPE_INT};
    const struct sta_entities *entities = sta_snapshot_entities(adding->request->query->snapshot);
    const uint32_t codes = entities->thread_code_count;
    struct sta_account *account = adding->budget->account;
    adding->id_of_thread = sta_account_calloc(account, (size_t)codes + 1, sizeof(uint32_t), WHAT, err);
    if (adding->id_of_thread == NULL)
        return err->status;
    struct sta_numbering *numbering = sta_numbering_create(types, STA_COUNT_OF(types), adding->budget);
    int rc = 0;
    for (uint32_t code = 0; code < codes && rc == 0; code++) {
        if (entities->thread_of_code[code] >= entities->thread_count)
            continue;
        const struct sta_entity_thread *thread = &entities->threads[entities->thread_of_code[code]];
        const struct sta_vector id[] = {sta_vector_of_integers(&thread->pid),
                                        sta_vector_of_integers(&thread->tid)};
        rc = sta_numbering_take(numbering, 0, id, NULL, 1, &adding->id_of_thread[code], err);
    }
    adding->ids = sta_numbering_count(numbering);
    sta_numbering_destroy(numbering);
    return rc;
}

/* ---- the pass */

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct adding *adding = self;
    const struct sta_overlap_request *request = adding->request;
    struct worker *worker = adding->workers[number];
    struct sta_overlap_events events;
    uint32_t count = 0;
    int rc = sta_overlap_read(&adding->binding, number, rows, &events, err);
    for (uint32_t i = 0; rc == 0 && i < events.count; i++) {
        const uint32_t row = sta_overlap_row(&events, i);
        const int64_t ts = events.ts[row];
        if (events.masks[row] == STA_NOT_THERE || ts < request->from || ts >= request->to)
            continue;
        worker->keys[BIN][row] = ts / request->scope.bin;
        worker->keys[THREAD][row] = adding->id_of_thread[events.threads[row]];
        worker->keys[MASK][row] = events.masks[row];
        worker->rows[count++] = row;
    }
    if (rc != 0 || count == 0)
        return rc;
    struct sta_vector keys[KEYS];
    for (size_t k = 0; k < KEYS; k++)
        keys[k] = sta_vector_of_integers(worker->keys[k]);
    const struct sta_vector durations = sta_vector_of_integers(events.dur);
    const struct sta_aggregation_input input = {
        .count = count, .selected = worker->rows, .keys = keys, .arguments = &durations};
    return sta_aggregation_consume(adding->aggregation, number, &input, err);
}

static int scan_events(struct adding *adding, struct sta_error *err)
{
    static const enum sta_type keys[KEYS] = {STA_TYPE_INT, STA_TYPE_INT, STA_TYPE_INT};
    static const struct sta_primitive sums[SUMS] = {
        [EVENTS] = {.aggregate = STA_AGGREGATE_ROWS},
        [TIME] = {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_INT}}};
    const struct sta_aggregation_spec spec = {
        .keys = keys, .key_count = KEYS, .primitives = sums, .primitive_count = SUMS};
    const unsigned workers = sta_budget_workers(adding->budget);
    struct sta_accumulator accumulator = {adding, take_rows};
    struct sta_scan scan = sta_overlap_scan(adding->request);
    struct sta_overlap_request request = *adding->request;
    request.scope.kind = STA_SCOPE_JOB; /* units are not looked at */
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    adding->workers = sta_alloc_array(workers, sizeof *adding->workers);
    for (unsigned w = 0; w < workers; w++)
        adding->workers[w] = sta_alloc(sizeof **adding->workers);
    int rc = sta_overlap_binding_init(&adding->binding, &request, adding->budget, err);
    if (rc == 0)
        rc = sta_aggregation_create(&spec, adding->budget, NULL, &adding->aggregation, err);
    if (rc == 0)
        rc = sta_scan_run(&scan, adding->budget, err);
    for (unsigned w = 0; w < workers; w++)
        free(adding->workers[w]);
    free(adding->workers);
    sta_overlap_binding_fini(&adding->binding);
    return rc;
}

/* ---- results */

/* The bin, and the thread in it, whose groups are being walked through. */
struct walk {
    struct sta_buckets *buckets;
    uint32_t *met; /* by number of a (pid, tid): sets of which it has events */
    int64_t bin, thread;
    __int128 sums[STA_OVERLAP_SETS];    /* of the thread */
    __int128 largest[STA_OVERLAP_SETS]; /* of the bin; no sum counts as 0 */
};

static void end_thread(struct walk *walk)
{
    for (uint32_t s = 0; s < walk->buckets->sets; s++) {
        walk->largest[s] = STA_MAX(walk->largest[s], walk->sums[s]);
        walk->sums[s] = 0;
    }
}

static void end_bin(struct walk *walk)
{
    struct sta_buckets *buckets = walk->buckets;
    end_thread(walk);
    for (uint32_t a = 0; a < buckets->sets; a++) {
        buckets->total[a] += walk->largest[a];
        for (uint32_t b = 0; b < buckets->sets; b++)
            buckets->minus[a][b] += STA_MAX(walk->largest[a] - walk->largest[b], 0);
    }
    for (uint32_t s = 0; s < buckets->sets; s++)
        walk->largest[s] = 0;
}

static void add_group(struct walk *walk, const struct sta_aggregation_table *table, uint64_t row)
{
    struct sta_buckets *buckets = walk->buckets;
    const int64_t bin = table->keys[BIN].integers[row], thread = table->keys[THREAD].integers[row];
    const uint32_t mask = (uint32_t)table->keys[MASK].integers[row];
    const int64_t events = table->values[EVENTS].integers[row], time = table->values[TIME].integers[row];
    if (bin != walk->bin)
        end_bin(walk);
    else if (thread != walk->thread)
        end_thread(walk);
    walk->bin = bin;
    walk->thread = thread;
    if (mask == 0) {
        buckets->events[buckets->sets] += events;
        buckets->time[buckets->sets] += time;
    }
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const uint32_t s = (uint32_t)__builtin_ctz(rest);
        walk->sums[s] += time;
        buckets->events[s] += events;
        buckets->time[s] += time;
        buckets->threads[s] += !(walk->met[thread] >> s & 1);
    }
    walk->met[thread] |= mask;
}

static int take_results(const struct adding *adding, struct sta_buckets *buckets, struct sta_error *err)
{
    struct sta_account *account = adding->budget->account;
    struct sta_aggregation_table table;
    struct walk walk = {
        .buckets = buckets,
        .met = sta_account_calloc(account, (size_t)adding->ids + 1, sizeof(uint32_t), WHAT, err)};
    if (walk.met == NULL)
        return err->status;
    int rc = sta_aggregation_collect(adding->aggregation, &table, err);
    for (uint64_t row = 0; rc == 0 && row < table.rows; row++) {
        add_group(&walk, &table, row);
        rc = sta_budget_check_step(adding->budget, row, err);
    }
    end_bin(&walk);
    sta_aggregation_table_fini(&table);
    sta_account_free(account, walk.met);
    if (rc == 0 && sta_aggregation_figures(adding->aggregation).too_large > 0)
        rc = sta_fail(err, STA_ELIMIT, "durations of a bin add up to more than 64 bits hold");
    return rc;
}

int sta_buckets_measure(const struct sta_overlap_request *request, const struct sta_budget *budget,
                        struct sta_buckets *buckets, struct sta_error *err)
{
    struct adding adding = {.request = request, .budget = budget};
    *buckets = (struct sta_buckets){.sets = request->set_count};
    int rc = number_ids(&adding, err);
    if (rc == 0)
        rc = scan_events(&adding, err);
    if (rc == 0)
        rc = take_results(&adding, buckets, err);
    sta_aggregation_destroy(adding.aggregation);
    sta_account_free(budget->account, adding.id_of_thread);
    return rc;
}
