/* One pass finds the events of the preset's phases; what they come to is worked out rank by rank. */
#include "findings/phases.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "findings/epochs.h"
#include "analyse/sources/scan.h"
#include "common/memory.h"

static const char WHAT[] = "the epochs and steps of a run";

/* Those that are looked for; the place of each among the sets of the request. */
static const enum sta_phase wanted[] = {STA_PHASE_training, STA_PHASE_epoch, STA_PHASE_compute,
                                        STA_PHASE_step, STA_PHASE_checkpoint};

struct thread {
    int64_t start, end;
    uint64_t events;
    bool steps;
};

struct worker {
    struct thread *threads; /* by code */
    struct sta_phase_event *items;
    size_t count, capacity;
    char padding[64]; /* a cache line of its own */
};

struct pass {
    struct sta_phases *phases;
    const struct sta_run *run;
    struct worker *workers;
    unsigned worker_count;
    uint32_t thread_count;
    uint8_t bits[STA_OVERLAP_SETS]; /* by set: STA_PHASE_BIT of its phase */
    uint32_t step_sets;             /* the set of the steps, if any */
};

/* ---- events */

static int64_t number_at(const struct sta_vector *vector, uint32_t row)
{
    row = vector->constant ? 0 : row;
    return vector->missing != NULL && vector->missing[row] ? STA_NO_NUMBER : vector->integers[row];
}

static uint32_t phases_of(const struct pass *pass, uint32_t mask)
{
    uint32_t bits = 0;
    for (; mask != 0; mask &= mask - 1)
        bits |= pass->bits[__builtin_ctz(mask)];
    return bits;
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct pass *pass = self;
    struct worker *worker = &pass->workers[number];
    struct sta_overlap_events events;
    struct sta_vector epochs, steps;
    bool read = false;
    int rc = sta_overlap_read(&pass->phases->binding, number, rows, &events, err);
    const struct sta_time_range window = sta_overlap_window(&pass->phases->request);
    for (uint32_t i = 0; i < events.count && rc == STA_OK; i++) {
        const uint32_t row = sta_overlap_row(&events, i);
        const struct sta_overlap_part part = sta_part_of(window, events.ts[row], events.dur[row]);
        if (part.outside || events.masks[row] == STA_NOT_THERE)
            continue;
        struct thread *thread = &worker->threads[events.threads[row]];
        thread->start = STA_MIN(thread->start, part.from);
        thread->end = STA_MAX(thread->end, part.to);
        thread->events++;
        thread->steps = thread->steps || ((events.masks[row] & pass->step_sets) != 0 &&
                                          (part.from < part.to || events.dur[row] <= 0));
        if (events.masks[row] == 0 || part.from >= part.to)
            continue;
        if (!read) {
            rc = sta_column_reader_get(rows->reader, STA_LOGICAL_epoch, &epochs, err);
            if (rc == STA_OK)
                rc = sta_column_reader_get(rows->reader, STA_LOGICAL_step, &steps, err);
            read = true;
        }
        if (rc == STA_OK)
            rc = STA_ACCOUNT_GROW(pass->phases->account, worker->items, worker->capacity, worker->count + 1,
                                  WHAT, err);
        if (rc == STA_OK)
            worker->items[worker->count++] =
                (struct sta_phase_event){.rank = events.units[row],
                                         .phases = phases_of(pass, events.masks[row]),
                                         .from = part.from,
                                         .to = part.to,
                                         .epoch = number_at(&epochs, row),
                                         .step = number_at(&steps, row)};
    }
    return rc;
}

static int run_pass(struct pass *pass, struct sta_error *err)
{
    const struct sta_accumulator accumulator = {pass, take_rows};
    struct sta_scan scan = sta_overlap_scan(&pass->phases->request);
    struct sta_account *account = pass->phases->account;
    int rc = STA_OK;
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    for (unsigned w = 0; w < pass->worker_count && rc == STA_OK; w++) {
        struct worker *worker = &pass->workers[w];
        worker->threads =
            sta_account_calloc(account, (size_t)pass->thread_count + 1, sizeof *worker->threads, WHAT, err);
        for (uint32_t t = 0; worker->threads != NULL && t < pass->thread_count; t++)
            worker->threads[t] = (struct thread){.start = INT64_MAX, .end = INT64_MIN};
        rc = worker->threads == NULL ? err->status : STA_OK;
    }
    return rc == STA_OK ? sta_scan_run(&scan, pass->run->budget, err) : rc;
}

static void pass_fini(struct pass *pass)
{
    for (unsigned w = 0; w < pass->worker_count; w++) {
        sta_account_free(pass->phases->account, pass->workers[w].threads);
        sta_account_free(pass->phases->account, pass->workers[w].items);
    }
    free(pass->workers);
}

/* ---- what is known of threads, by rank and host */

static void widen(int64_t *start, int64_t *end, const struct thread *thread)
{
    *start = STA_MIN(*start, thread->start);
    *end = STA_MAX(*end, thread->end);
}

static int sum_threads(const struct pass *pass, struct sta_error *err)
{
    struct sta_phases *phases = pass->phases;
    const struct sta_entities *entities = sta_snapshot_entities(pass->run->query.snapshot);
    uint8_t *met = sta_account_calloc(phases->account, (size_t)entities->process_count + 1, 1, WHAT, err);
    phases->host_limit = sta_dictionary_count(entities->hosts);
    phases->of_host = sta_account_alloc(phases->account, (size_t)phases->host_limit + 1,
                                        sizeof *phases->of_host, WHAT, err);
    phases->has_steps = sta_account_calloc(phases->account, (size_t)pass->thread_count + 1, 1, WHAT, err);
    if (met == NULL || phases->of_host == NULL || phases->has_steps == NULL)
        return sta_account_free(phases->account, met), err->status;
    for (uint32_t h = 0; h <= phases->host_limit; h++)
        phases->of_host[h] = (struct sta_host_span){INT64_MAX, INT64_MIN};
    for (unsigned w = 0; w < pass->worker_count; w++)
        for (uint32_t code = 0; code < pass->thread_count; code++) {
            const struct thread *found = &pass->workers[w].threads[code];
            if (found->events == 0)
                continue;
            const struct sta_entity_thread *thread = &entities->threads[entities->thread_of_code[code]];
            struct sta_host_span *host = &phases->of_host[STA_MIN(thread->host, phases->host_limit)];
            struct sta_rank *rank = &phases->ranks[sta_scope_unit_of_thread(phases->binding.scope, code)];
            widen(&rank->start, &rank->end, found);
            phases->hosts += host->start > host->end;
            widen(&host->start, &host->end, found);
            phases->processes += !met[thread->process];
            met[thread->process] = 1;
            phases->events += found->events;
            phases->has_steps[code] |= found->steps;
        }
    sta_account_free(phases->account, met);
    return STA_OK;
}

static int order_ranks(const struct pass *pass, struct sta_error *err)
{
    struct sta_phases *phases = pass->phases;
    phases->order =
        sta_account_alloc(phases->account, (size_t)phases->rank_count + 1, sizeof *phases->order, WHAT, err);
    if (phases->order == NULL)
        return err->status;
    for (uint32_t r = 0; r < phases->rank_count; r++)
        if (phases->ranks[r].start <= phases->ranks[r].end)
            phases->order[phases->order_count++] = r;
    return sta_scope_sort(phases->binding.scope, phases->order, phases->order_count, pass->run->budget, err);
}

/* ---- the events of all workers, by rank */

static int compare_events(const void *a, const void *b, void *context)
{
    const struct sta_phase_event *x = a, *y = b;
    (void)context;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to > y->to ? -1 : 1;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static int gather(const struct pass *pass, struct sta_phase_event **items, size_t *count,
                  struct sta_error *err)
{
    size_t all = 0;
    for (unsigned w = 0; w < pass->worker_count; w++)
        all += pass->workers[w].count;
    *items = sta_account_alloc(pass->phases->account, all + 1, sizeof **items, WHAT, err);
    *count = 0;
    if (*items == NULL)
        return err->status;
    for (unsigned w = 0; w < pass->worker_count; w++) {
        const struct worker *worker = &pass->workers[w];
        if (worker->count > 0)
            memcpy(*items + *count, worker->items, worker->count * sizeof **items);
        *count += worker->count;
    }
    return sta_sort(pass->run->budget, *items, *count, sizeof **items, compare_events, NULL, err);
}

static int build_ranks(const struct pass *pass, struct sta_error *err)
{
    struct sta_phases *phases = pass->phases;
    struct sta_phase_event *items = NULL;
    size_t count;
    int rc = gather(pass, &items, &count, err);
    for (size_t first = 0, end; first < count && rc == STA_OK; first = end) {
        for (end = first; end < count && items[end].rank == items[first].rank;)
            end++;
        rc = sta_rank_build(&phases->ranks[items[first].rank], items + first, end - first, phases->account,
                            err);
        if (rc == STA_OK)
            rc = sta_budget_check(pass->run->budget, err);
    }
    sta_account_free(phases->account, items);
    return rc == STA_OK ? sta_epoch_numbers(phases, err) : rc;
}

/* ---- the whole */

/* Names of the sets mean nothing: the request has no condition on them. */
static char set_name[] = "phase", nothing[] = "false";

static int bind(struct sta_run *run, struct pass *pass, struct sta_error *err)
{
    struct sta_phases *phases = pass->phases;
    struct sta_named_expression *sets =
        sta_arena_alloc(&run->memory, sizeof *sets * STA_COUNT_OF(wanted), _Alignof(max_align_t));
    size_t count = 0;
    for (size_t i = 0; i < STA_COUNT_OF(wanted); i++) {
        const char *text = run->preset != NULL ? run->preset->phases[wanted[i]] : NULL;
        if (text == NULL)
            continue;
        pass->bits[count] = STA_PHASE_BIT(wanted[i]);
        if (wanted[i] == STA_PHASE_step)
            pass->step_sets = 1u << count;
        sets[count++] = (struct sta_named_expression){set_name, text};
    }
    if (count == 0)
        sets[count++] = (struct sta_named_expression){set_name, nothing};
    struct sta_overlap_query *query = sta_arena_alloc(&run->memory, sizeof *query, _Alignof(max_align_t));
    *query = sta_run_query(run, sta_run_request(run), sets, count);
    int rc = sta_overlap_request_read(&phases->request, query, false, err);
    return rc == STA_OK ? sta_overlap_binding_init(&phases->binding, &phases->request, run->budget, err) : rc;
}

int sta_phases_read(struct sta_run *run, struct sta_phases *phases, struct sta_error *err)
{
    *phases = (struct sta_phases){.account = run->budget->account};
    struct pass pass = {.phases = phases,
                        .run = run,
                        .worker_count = sta_budget_workers(run->budget),
                        .thread_count = sta_snapshot_entities(run->query.snapshot)->thread_code_count};
    pass.workers = sta_alloc_array(pass.worker_count, sizeof *pass.workers);
    int rc = bind(run, &pass, err);
    if (rc == STA_OK)
        rc = run_pass(&pass, err);
    if (rc == STA_OK) {
        phases->rank_count = sta_scope_unit_count(phases->binding.scope);
        phases->ranks = sta_account_calloc(phases->account, (size_t)phases->rank_count + 1,
                                           sizeof *phases->ranks, WHAT, err);
        rc = phases->ranks == NULL ? err->status : STA_OK;
    }
    for (uint32_t r = 0; r < phases->rank_count && rc == STA_OK; r++) {
        phases->ranks[r].start = INT64_MAX;
        phases->ranks[r].end = INT64_MIN;
    }
    if (rc == STA_OK)
        rc = sum_threads(&pass, err);
    if (rc == STA_OK)
        rc = order_ranks(&pass, err);
    if (rc == STA_OK)
        rc = build_ranks(&pass, err);
    pass_fini(&pass);
    return rc;
}

void sta_phases_fini(struct sta_phases *phases)
{
    for (uint32_t r = 0; phases->ranks != NULL && r < phases->rank_count; r++) {
        struct sta_rank *rank = &phases->ranks[r];
        void *const parts[] = {rank->compute.items, rank->training.items, rank->checkpoint.items,
                               rank->epochs, rank->steps};
        for (size_t i = 0; i < STA_COUNT_OF(parts); i++)
            sta_account_free(phases->account, parts[i]);
    }
    void *const all[] = {phases->ranks, phases->order, phases->numbers, phases->of_host, phases->has_steps};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(phases->account, all[i]);
    sta_overlap_binding_fini(&phases->binding);
    sta_overlap_request_release(&phases->request);
    *phases = (struct sta_phases){0};
}
