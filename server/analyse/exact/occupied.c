/* Bins with events, as runs: each worker lists those of its events, and joins what touches now and then.
 *
 * Events come nearly in order of time, so most of them lengthen the run before. */
#include "analyse/exact/engine.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

#define JOIN_FROM ((size_t)1 << 16) /* runs, below which repetitions are no burden */

static const char WHAT[] = "the bins that have events";

struct worker {
    struct sta_word_pair *runs; /* number of the first bin, number of the last */
    size_t count, capacity;
    size_t joined; /* of the first ones, which are in order and do not touch */
    const struct sta_event_signature **signatures; /* by class; NULL: not yet met */
    size_t class_capacity;
};

struct occupied {
    const struct sta_exact_request *request;
    struct sta_event_signatures *signatures;
    const struct sta_budget *budget;
    struct worker *workers;
};

/* ---- runs */

/* Adds a run; ones that touch the last become part of it. */
static void append(struct sta_word_pair *runs, size_t *count, struct sta_word_pair run)
{
    struct sta_word_pair *last = *count > 0 ? &runs[*count - 1] : NULL;
    if (last != NULL && run.major >= last->major && run.major <= last->minor + 1)
        last->minor = STA_MAX(last->minor, run.minor);
    else
        runs[(*count)++] = run;
}

static int join(struct worker *worker, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_word_pair *scratch =
        sta_account_alloc(budget->account, worker->count + 1, sizeof *scratch, WHAT, err);
    if (scratch == NULL)
        return err->status;
    int rc = sta_radix_failed(sta_radix_sort_pairs(worker->runs, scratch, worker->count, budget->cancel),
                              "intervals of time", worker->count, err);
    sta_account_free(budget->account, scratch);
    if (rc != 0)
        return rc;
    size_t count = worker->count;
    worker->count = 0;
    for (size_t i = 0; i < count; i++)
        append(worker->runs, &worker->count, worker->runs[i]);
    worker->joined = worker->count;
    return 0;
}

/* ---- rows */

static int meet_class(struct occupied *occupied, struct worker *worker, uint32_t class, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW_ZEROED(occupied->budget->account, worker->signatures, worker->class_capacity,
                                     (size_t) class + 1, WHAT, err);
    if (rc == 0)
        worker->signatures[class] = sta_event_signatures_of(occupied->signatures, class, err);
    return rc != 0 || worker->signatures[class] != NULL ? rc : err->status;
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct occupied *occupied = self;
    struct worker *worker = &occupied->workers[number];
    const struct sta_exact_bins *bins = &occupied->request->bins;
    const int64_t *ts, *dur;
    int rc = sta_column_reader_times(rows->reader, &ts, &dur, err);
    if (rc != 0)
        return rc;
    rc = STA_ACCOUNT_GROW(occupied->budget->account, worker->runs, worker->capacity,
                          worker->count + rows->count, WHAT, err);
    for (uint32_t i = 0; rc == 0 && i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i);
        int64_t at = ts[row];
        struct sta_exact_part part;
        const uint32_t class = rows->classes[row];
        if (!sta_exact_part_of(bins, at, at + STA_MAX(dur[row], 0), &part))
            continue;
        if (class >= worker->class_capacity || worker->signatures[class] == NULL)
            rc = meet_class(occupied, worker, class, err);
        if (rc != 0 || worker->signatures[class]->layer_count == 0)
            continue;
        uint64_t low = (uint64_t)(part.from / bins->g);
        uint64_t high = part.to > part.from ? (uint64_t)((part.to - 1) / bins->g) : low;
        append(worker->runs, &worker->count, (struct sta_word_pair){low, high});
    }
    if (rc == 0 && worker->count >= JOIN_FROM && worker->count >= 2 * worker->joined)
        rc = join(worker, occupied->budget, err);
    return rc;
}

/* ---- all of them */

static int collect(struct occupied *occupied, unsigned workers, struct sta_error *err)
{
    struct worker *all = &occupied->workers[0];
    for (unsigned w = 1; w < workers; w++) {
        const struct worker *worker = &occupied->workers[w];
        int rc = STA_ACCOUNT_GROW(occupied->budget->account, all->runs, all->capacity,
                                  all->count + worker->count, WHAT, err);
        if (rc != 0)
            return rc;
        for (size_t i = 0; i < worker->count; i++)
            all->runs[all->count++] = worker->runs[i];
    }
    return join(all, occupied->budget, err);
}

static int number_bins(const struct worker *all, const struct sta_budget *budget, struct sta_exact_bins *bins,
                       struct sta_bin_run **made, struct sta_error *err)
{
    struct sta_bin_run *runs = *made =
        sta_account_alloc(budget->account, all->count + 1, sizeof *runs, WHAT, err);
    if (runs == NULL)
        return err->status;
    bins->runs = runs;
    bins->run_count = all->count;
    bins->count = 0;
    for (size_t i = 0; i < all->count; i++) {
        runs[i] = (struct sta_bin_run){(int64_t)all->runs[i].major, bins->count};
        bins->count += (size_t)(all->runs[i].minor - all->runs[i].major) + 1;
    }
    return STA_OK;
}

int sta_exact_occupied(const struct sta_exact_request *request, struct sta_event_signatures *signatures,
                       const struct sta_budget *budget, struct sta_exact_bins *bins,
                       struct sta_bin_run **runs, struct sta_error *err)
{
    unsigned workers = sta_budget_workers(budget);
    struct occupied occupied = {.request = request, .signatures = signatures, .budget = budget};
    struct sta_accumulator accumulator = {&occupied, take_rows};
    struct sta_scan scan = sta_exact_scan(request);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    occupied.workers = sta_alloc_array(workers, sizeof *occupied.workers);
    int rc = sta_scan_run(&scan, budget, err);
    if (rc == 0)
        rc = collect(&occupied, workers, err);
    if (rc == 0)
        rc = number_bins(&occupied.workers[0], budget, bins, runs, err);
    for (unsigned w = 0; w < workers; w++) {
        sta_account_free(budget->account, occupied.workers[w].runs);
        sta_account_free(budget->account, occupied.workers[w].signatures);
    }
    free(occupied.workers);
    return rc;
}
