/* Which batch was made by whom: samples on the rank itself (inline), batches by workers in turn (round
 * robin), or a pool of workers that share batches. */
#include <stdlib.h>
#include <string.h>

#include "simulate/extract.h"

#define CLOCK_SLACK 500 /* us by which a batch may seem to begin before its index was sent */

static const struct sta_role_event *items_of(const struct sta_share *share)
{
    return share->thread->events[STA_EVENT_ITEM] + share->first;
}

static struct sta_share *shares_of(const struct sta_extraction *extraction, size_t epoch)
{
    return &extraction->shares[extraction->share_first[epoch]];
}

static uint32_t share_count(const struct sta_extraction *extraction, size_t epoch)
{
    return (uint32_t)(extraction->share_first[epoch + 1] - extraction->share_first[epoch]);
}

/* ---- shares */

static int add_shares(struct sta_extraction *extraction, const struct sta_rank_source *source, size_t e,
                      struct sta_error *err)
{
    const struct sta_model_epoch *epoch = &extraction->model->epochs[e];
    extraction->share_first[e] = extraction->share_count;
    for (size_t w = 0; w < source->worker_count; w++) {
        const struct sta_role_thread *thread = source->workers[w];
        const struct sta_role_event *items = thread->events[STA_EVENT_ITEM];
        size_t first = sta_first_event(items, thread->counts[STA_EVENT_ITEM], epoch->start);
        size_t end = sta_first_event(items, thread->counts[STA_EVENT_ITEM], epoch->end);
        if (first >= end)
            continue;
        int rc = STA_ACCOUNT_GROW(extraction->budget->account, extraction->shares, extraction->share_capacity,
                                  extraction->share_count + 1, "workers", err);
        if (rc != STA_OK)
            return rc;
        extraction->shares[extraction->share_count++] = (struct sta_share){thread, first, end - first};
    }
    extraction->share_first[e + 1] = extraction->share_count;
    return STA_OK;
}

/* Where samples are made: by ranks, by workers, or nowhere. */
static int check_makers(const struct sta_extraction *extraction, bool *workers, struct sta_error *err)
{
    size_t by_rank = 0, by_workers = 0;
    for (size_t r = 0; r < extraction->model->rank_count; r++) {
        by_rank += extraction->sources[r].thread->counts[STA_EVENT_ITEM] > 0;
        by_workers += extraction->sources[r].worker_count > 0;
    }
    if (by_rank == 0 && by_workers == 0)
        return sta_model_refuse(
            err, "no-items",
            "there are no events of samples being made (__getitem__, item): how long a batch "
            "takes to make is not known");
    if (by_rank > 0 && by_workers > 0)
        return sta_model_refuse(
            err, "mixed",
            "samples are made both by ranks and by their workers: which batch came from where "
            "is not known");
    *workers = by_workers > 0;
    if (*workers && by_workers < extraction->model->rank_count)
        return sta_model_refuse(err, "no-items", "some ranks have no events of samples being made");
    return STA_OK;
}

int sta_extract_shares(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    bool workers;
    int rc = check_makers(extraction, &workers, err);
    if (rc != STA_OK)
        return rc;
    extraction->share_first = sta_account_calloc(extraction->budget->account, model->epoch_count + 1,
                                                 sizeof *extraction->share_first, "workers", err);
    if (extraction->share_first == NULL)
        return err->status;
    model->loader = workers ? STA_LOADER_POOL : STA_LOADER_INLINE;
    for (size_t r = 0; r < model->rank_count && workers && rc == STA_OK; r++)
        for (uint32_t n = 0; n < model->ranks[r].epoch_count && rc == STA_OK; n++) {
            size_t e = model->ranks[r].epoch_first + n;
            rc = add_shares(extraction, &extraction->sources[r], e, err);
            if (rc == STA_OK && share_count(extraction, e) == 0)
                rc = sta_model_refuse(err, "no-items", "an epoch has steps but no samples");
            model->epochs[e].workers = rc == STA_OK ? share_count(extraction, e) : 0;
            model->workers = STA_MAX(model->workers, model->epochs[e].workers);
        }
    return rc;
}

static void forget_jobs(struct sta_model *model)
{
    model->job_count = 0;
    model->job_file_count = 0;
    for (size_t k = 0; k < model->step_count; k++) {
        model->steps[k].job_first = 0;
        model->steps[k].job_count = 0;
    }
}

/* Steps of an epoch, to be written to. */
static struct sta_model_step *steps_of(const struct sta_extraction *extraction, size_t epoch)
{
    return &extraction->model->steps[extraction->model->epochs[epoch].step_first];
}

/* ---- inline */

int sta_extract_inline(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    forget_jobs(model);
    model->loader = STA_LOADER_INLINE;
    for (size_t r = 0; r < model->rank_count; r++) {
        const struct sta_role_thread *thread = extraction->sources[r].thread;
        const struct sta_role_event *items = thread->events[STA_EVENT_ITEM];
        const size_t count = thread->counts[STA_EVENT_ITEM];
        for (uint32_t n = 0; n < model->ranks[r].epoch_count; n++) {
            size_t e = model->ranks[r].epoch_first + n;
            for (uint32_t k = 0; k < model->epochs[e].step_count; k++) {
                struct sta_model_step *step = &steps_of(extraction, e)[k];
                size_t first = sta_first_event(items, count, step->asked), end = first;
                while (end < count && items[end].te <= step->begun)
                    end++;
                step->job_first = model->job_count;
                step->job_count = end > first;
                if (end > first &&
                    sta_add_job(extraction, thread, items[first].ts, items[end - 1].te, 0, err) != STA_OK)
                    return err->status;
            }
        }
    }
    return STA_OK;
}

/* ---- round robin: worker j mod W makes batch j whole, as its (j div W)-th run of B samples */

static size_t ended_by(const struct sta_share *share, int64_t time)
{
    const struct sta_role_event *items = items_of(share);
    size_t low = 0, high = share->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].te <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The largest batch size with which the batch of each step exists, and is made when the step gets it; 0:
 * none.  What is too large for one step stays so when it grows, so each step gives a bound. */
static int largest_batch(const struct sta_extraction *extraction, int64_t *batch, struct sta_error *err)
{
    const struct sta_model *model = extraction->model;
    *batch = INT64_MAX;
    for (size_t e = 0; e < model->epoch_count; e++) {
        const struct sta_share *shares = shares_of(extraction, e);
        const uint32_t workers = share_count(extraction, e);
        for (uint32_t j = 0; j < model->epochs[e].step_count; j++) {
            const struct sta_share *share = &shares[j % workers];
            const int64_t run = j / workers, made = (int64_t)ended_by(share, steps_of(extraction, e)[j].got);
            if (made < (int64_t)share->count)
                *batch = STA_MIN(*batch, made / (run + 1));
            else if (run > 0)
                *batch = STA_MIN(*batch, ((int64_t)share->count - 1) / run);
            if (sta_budget_check_step(extraction->budget, j + 1, err) != STA_OK)
                return err->status;
        }
    }
    return STA_OK;
}

static int64_t most_items(const struct sta_extraction *extraction)
{
    size_t most = 0;
    for (size_t i = 0; i < extraction->share_count; i++)
        most = STA_MAX(most, extraction->shares[i].count);
    return (int64_t)most;
}

static int choose_batch(struct sta_extraction *extraction, bool *fits, struct sta_error *err)
{
    int64_t largest;
    int rc = largest_batch(extraction, &largest, err);
    if (rc != STA_OK)
        return rc;
    const int64_t given = extraction->assumed.batch;
    if (given > largest)
        return sta_model_refuse(
            err, "batch", "batches of %lld samples do not fit: one would be made after it was delivered",
            (long long)given);
    extraction->model->batch = given > 0 ? given : STA_MIN(largest, most_items(extraction));
    *fits = extraction->model->batch > 0;
    return STA_OK;
}

static int add_batches(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    forget_jobs(model);
    for (size_t e = 0; e < model->epoch_count; e++) {
        const uint32_t workers = share_count(extraction, e);
        for (uint32_t j = 0; j < model->epochs[e].step_count; j++) {
            const struct sta_share *share = &shares_of(extraction, e)[j % workers];
            const struct sta_role_event *items = items_of(share);
            const size_t first = (size_t)(j / workers) * (size_t)model->batch;
            const size_t end = STA_MIN(first + (size_t)model->batch, share->count);
            struct sta_model_step *step = &steps_of(extraction, e)[j];
            step->job_first = model->job_count;
            step->job_count = 1;
            if (sta_add_job(extraction, share->thread, items[first].ts, items[end - 1].te, j % workers,
                            err) != STA_OK)
                return err->status;
        }
    }
    return STA_OK;
}

/* ---- round robin: how many batches each worker is sent ahead */

#define MOST_PREFETCH 16 /* a deeper one is rather a pool */

/* Of the batches that were begun, delivered or not, how many cannot be had with a prefetch of so many: they
 * begin before their index could have been sent. */
static void count_early(const struct sta_extraction *extraction, uint32_t prefetch, size_t *early,
                        size_t *count)
{
    const struct sta_model *model = extraction->model;
    *early = *count = 0;
    for (size_t e = 0; e < model->epoch_count; e++) {
        const uint32_t workers = share_count(extraction, e);
        const struct sta_model_step *steps = steps_of(extraction, e);
        for (uint32_t w = 0; w < workers; w++) {
            const struct sta_share *share = &shares_of(extraction, e)[w];
            for (size_t run = prefetch; run * (size_t)model->batch < share->count; run++) {
                const size_t sent = (run - prefetch) * workers + w; /* the delivery that sends the index */
                (*count)++;
                *early += sent >= model->epochs[e].step_count ||
                          items_of(share)[run * (size_t)model->batch].ts < steps[sent].got - CLOCK_SLACK;
            }
        }
    }
}

/* Whether workers waited for an index in more than a tenth of the steps: then the prefetch is seen. */
static bool workers_waited(const struct sta_extraction *extraction, uint32_t prefetch)
{
    const struct sta_model *model = extraction->model;
    size_t waited = 0, count = 0;
    for (size_t e = 0; e < model->epoch_count; e++) {
        const uint32_t workers = share_count(extraction, e);
        const struct sta_model_step *steps = steps_of(extraction, e);
        for (size_t j = (size_t)prefetch * workers; j < model->epochs[e].step_count; j++) {
            count++;
            waited +=
                steps[j - (size_t)prefetch * workers].got > model->jobs[steps[j - workers].job_first].te;
        }
    }
    return waited * 10 > count;
}

static int choose_prefetch(struct sta_extraction *extraction, bool *fits, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    uint32_t least = 0;
    size_t early = 1, count = 0;
    while (early * 10 > count && least <= MOST_PREFETCH) {
        count_early(extraction, ++least, &early, &count);
        if (sta_budget_check(extraction->budget, err) != STA_OK)
            return err->status;
    }
    model->prefetch = least;
    model->prefetch_source =
        workers_waited(extraction, least) ? STA_PREFETCH_INFERRED : STA_PREFETCH_AT_LEAST;
    if (extraction->assumed.prefetch > 0) {
        model->prefetch = extraction->assumed.prefetch;
        model->prefetch_source = STA_PREFETCH_GIVEN;
    } else if (model->prefetch_source == STA_PREFETCH_AT_LEAST && least < 2) {
        model->prefetch = 2; /* the default of PyTorch */
        model->prefetch_source = STA_PREFETCH_DEFAULT;
    }
    *fits = extraction->assumed.prefetch > 0 || least <= MOST_PREFETCH;
    return STA_OK;
}

int sta_extract_round_robin(struct sta_extraction *extraction, bool *fits, struct sta_error *err)
{
    extraction->model->loader = STA_LOADER_ROUND_ROBIN;
    int rc = choose_batch(extraction, fits, err);
    if (rc == STA_OK && *fits)
        rc = add_batches(extraction, err);
    if (rc == STA_OK && *fits)
        rc = choose_prefetch(extraction, fits, err);
    return rc;
}

/* ---- pool: batch k is what ends between the deliveries of k - 1 and k */

struct sample {
    const struct sta_role_thread *thread;
    int64_t ts, te;
    uint32_t lane, step;
};

static int by_step(const void *a, const void *b, void *context)
{
    const struct sample *x = a, *y = b;
    (void)context;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* The first step that gets its batch at @time or later; their number: none. */
static uint32_t step_served(const struct sta_model_step *steps, uint32_t count, int64_t time)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (steps[middle].got < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int collect_samples(const struct sta_extraction *extraction, size_t e, struct sample **samples,
                           size_t *count, struct sta_error *err)
{
    const struct sta_model_epoch *epoch = &extraction->model->epochs[e];
    size_t capacity = 0;
    for (uint32_t w = 0; w < epoch->workers; w++)
        capacity += shares_of(extraction, e)[w].count;
    *count = 0;
    *samples = sta_account_alloc(extraction->budget->account, capacity + 1, sizeof **samples, "samples", err);
    if (*samples == NULL)
        return err->status;
    for (uint32_t w = 0; w < epoch->workers; w++) {
        const struct sta_share *share = &shares_of(extraction, e)[w];
        for (size_t i = 0; i < share->count; i++) {
            const struct sta_role_event *item = &items_of(share)[i];
            uint32_t step = step_served(steps_of(extraction, e), epoch->step_count, item->te);
            if (step < epoch->step_count)
                (*samples)[(*count)++] = (struct sample){share->thread, item->ts, item->te, w, step};
        }
    }
    return sta_sort(extraction->budget, *samples, *count, sizeof **samples, by_step, NULL, err);
}

static int pool_epoch(struct sta_extraction *extraction, size_t e, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    struct sample *samples;
    size_t count;
    int rc = collect_samples(extraction, e, &samples, &count, err);
    for (size_t i = 0; i < count && rc == STA_OK; i++) {
        struct sta_model_step *step = &steps_of(extraction, e)[samples[i].step];
        if (step->job_count++ == 0)
            step->job_first = model->job_count;
        rc = sta_add_job(extraction, samples[i].thread, samples[i].ts, samples[i].te, samples[i].lane, err);
        if (rc == STA_OK)
            model->jobs[model->job_count - 1].demanded = samples[i].ts >= step->asked;
    }
    sta_account_free(extraction->budget->account, samples);
    return rc;
}

int sta_extract_pool(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    forget_jobs(model);
    model->loader = STA_LOADER_POOL;
    model->batch = 0;
    model->prefetch = 0;
    model->prefetch_source = STA_PREFETCH_NONE;
    for (size_t e = 0; e < model->epoch_count; e++)
        if (pool_epoch(extraction, e, err) != STA_OK)
            return err->status;
    return STA_OK;
}
