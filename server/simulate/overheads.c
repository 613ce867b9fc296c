/* The small times around the work: the loader's as one mean per rank; the rank's own per step; start and end
 * per epoch. */
#include <stdlib.h>
#include <string.h>

#include "simulate/extract.h"

#define CLOCK_SLACK 500 /* us: as in loaders.c */

struct mean {
    __int128 sum;
    int64_t count;
};

static void add(struct mean *mean, int64_t value)
{
    mean->sum += value;
    mean->count++;
}

static int64_t mean_of(const struct mean *mean)
{
    if (mean->count == 0)
        return 0;
    return (int64_t)(mean->sum / mean->count - (mean->sum % mean->count < 0));
}

static int64_t mean_or(const struct mean *mean, const struct mean *instead)
{
    return mean_of(mean->count > 0 ? mean : instead);
}

struct overheads {
    struct mean get, hand, fill, busy, wake;
};

/* One rank in one epoch. */
struct part {
    struct sta_extraction *extraction;
    size_t rank, number; /* of the epoch among the rank's */
    struct sta_model_epoch *epoch;
    struct sta_model_step *steps;
    int64_t *first, *last; /* by lane: when its first job begins, when its last one so far ended */
    struct overheads *overheads;
};

/* When a step ends: with a barrier, when the slowest rank has computed. */
static int64_t released(const struct part *part, size_t k)
{
    const struct sta_model *model = part->extraction->model;
    int64_t latest = part->steps[k].ended;
    for (size_t r = 0; model->barrier && r < model->rank_count; r++)
        latest = STA_MAX(latest, sta_model_step(model, sta_model_epoch(model, r, part->number), k)->ended);
    return latest;
}

static int64_t latest_end(const struct part *part)
{
    const struct sta_model *model = part->extraction->model;
    int64_t latest = part->epoch->end;
    for (size_t r = 0; model->barrier && r < model->rank_count; r++)
        latest = STA_MAX(latest, sta_model_epoch(model, r, part->number)->end);
    return latest;
}

static void measure_inline(const struct part *part, size_t k)
{
    const struct sta_model_step *step = &part->steps[k];
    const struct sta_model_job *jobs = part->extraction->model->jobs;
    int64_t rest = step->got - step->asked - (step->job_count > 0 ? sta_job_span(&jobs[step->job_first]) : 0);
    if (k == 0)
        part->epoch->extra = rest;
    else if (step->fetched)
        add(&part->overheads->fill, rest);
}

/* Taking a batch that is there, or waiting for one. */
static void measure_delivery(const struct part *part, size_t k)
{
    const struct sta_model_step *step = &part->steps[k];
    int64_t done = INT64_MIN;
    for (uint32_t i = 0; i < step->job_count; i++)
        done = STA_MAX(done, part->extraction->model->jobs[step->job_first + i].te);
    bool waited = step->job_count > 0 && done > step->asked;
    if (k == 0)
        part->epoch->first_hand = waited ? step->got - done : STA_WITHOUT;
    if (waited && k > 0)
        add(&part->overheads->hand, step->got - done);
    else if (!waited)
        add(&part->overheads->get, step->got - step->asked);
}

/* When the index of a job can have been sent; -1: at the beginning. */
static int64_t sent_at(const struct part *part, size_t k, const struct sta_model_job *job)
{
    const struct sta_model *model = part->extraction->model;
    const size_t ahead = (size_t)model->prefetch * part->epoch->workers;
    if (model->loader == STA_LOADER_ROUND_ROBIN)
        return k >= ahead ? part->steps[k - ahead].got : -1;
    return job->demanded ? part->steps[k].asked : k > 0 ? part->steps[k - 1].got : -1;
}

/* What a worker does between two jobs. */
static void measure_worker(const struct part *part, size_t k, const struct sta_model_job *job)
{
    if (part->last[job->lane] == STA_WITHOUT) {
        part->first[job->lane] = job->ts - part->epoch->start;
    } else {
        const int64_t sent = sent_at(part, k, job), before = part->last[job->lane];
        if (sent <= before)
            add(&part->overheads->busy, job->ts - before);
        else if (job->ts >= sent - CLOCK_SLACK)
            add(&part->overheads->wake, job->ts - sent);
    }
    part->last[job->lane] = job->te;
}

/* What one more worker adds to the start of an epoch: they are forked one after the other.  0 when they live
 * on from before. */
static int64_t pitch_of(const struct part *part)
{
    const struct sta_extraction *extraction = part->extraction;
    const struct sta_model_epoch *epoch = part->epoch;
    const struct sta_role_thread *rank = extraction->sources[part->rank].thread;
    const size_t e = extraction->model->ranks[part->rank].epoch_first + part->number;
    const struct sta_share *shares = &extraction->shares[extraction->share_first[e]];
    if (epoch->workers == 0)
        return 0;
    for (uint32_t w = 0; w < epoch->workers; w++)
        if (shares[w].thread->began < epoch->start)
            return 0;
    const struct sta_role_event *forks = rank->events[STA_EVENT_FORK];
    const size_t count = rank->counts[STA_EVENT_FORK];
    int64_t first = 0, last = 0, found = 0;
    for (size_t i = sta_first_event(forks, count, epoch->start); i < count && forks[i].ts < epoch->end; i++) {
        bool own = false;
        for (uint32_t w = 0; w < epoch->workers && !own; w++)
            own = shares[w].thread->pid == forks[i].value || shares[w].thread->tid == forks[i].value;
        if (!own)
            continue;
        first = found++ == 0 ? forks[i].ts : first;
        last = forks[i].ts;
    }
    return found > 1 ? sta_floor_divide(last - first, found - 1)
                     : sta_floor_divide(epoch->ask, epoch->workers);
}

static int put_ups(const struct part *part, uint32_t lanes, struct sta_error *err)
{
    struct sta_model *model = part->extraction->model;
    int rc = STA_ACCOUNT_GROW(model->account, model->ups, model->up_capacity, model->up_count + lanes,
                              "workers", err);
    if (rc != STA_OK)
        return rc;
    part->epoch->up_first = model->up_count;
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (part->last[lane] != STA_WITHOUT)
            model->ups[model->up_count++] = part->first[lane];
    part->epoch->up_count = (uint32_t)(model->up_count - part->epoch->up_first);
    return STA_OK;
}

static void measure_steps(const struct part *part)
{
    const struct sta_model *model = part->extraction->model;
    struct sta_model_epoch *epoch = part->epoch;
    for (size_t k = 0; k < epoch->step_count; k++) {
        struct sta_model_step *step = &part->steps[k];
        step->pre = step->begun - step->got;
        step->post = k + 1 < epoch->step_count
                         ? STA_MAX(0, step[1].asked - released(part, k) - step->checkpoint)
                         : epoch->tail;
        if (model->loader == STA_LOADER_INLINE) {
            measure_inline(part, k);
            continue;
        }
        measure_delivery(part, k);
        for (uint32_t i = 0; i < step->job_count; i++)
            measure_worker(part, k, &model->jobs[step->job_first + i]);
    }
}

static int measure_epoch(struct part *part, struct sta_error *err)
{
    struct sta_model *model = part->extraction->model;
    struct sta_model_epoch *epoch = part->epoch;
    const struct sta_model_step *last = &part->steps[epoch->step_count - 1];
    const uint32_t lanes = epoch->workers;
    struct sta_account *account = part->extraction->budget->account;
    part->first = sta_account_alloc(account, (size_t)lanes * 2 + 1, sizeof *part->first, "workers", err);
    if (part->first == NULL)
        return err->status;
    part->last = part->first + lanes;
    for (uint32_t lane = 0; lane < lanes; lane++)
        part->last[lane] = STA_WITHOUT;
    epoch->ask = part->steps[0].asked - epoch->start;
    epoch->tail = STA_MAX(0, epoch->end - released(part, epoch->step_count - 1) - last->checkpoint);
    epoch->first =
        part->steps[0].job_count > 0 ? model->jobs[part->steps[0].job_first].ts - epoch->start : epoch->ask;
    measure_steps(part);
    int rc = put_ups(part, lanes, err);
    epoch->pitch = pitch_of(part);
    if (part->number + 1 < model->ranks[part->rank].epoch_count)
        epoch->gap = STA_MAX(0, epoch[1].start - latest_end(part));
    sta_account_free(account, part->first);
    return rc;
}

int sta_extract_overheads(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    model->up_count = 0;
    for (size_t r = 0; r < model->rank_count; r++) {
        struct sta_model_rank *rank = &model->ranks[r];
        struct overheads overheads = {0};
        for (uint32_t n = 0; n < rank->epoch_count; n++) {
            struct sta_model_epoch *epoch = &model->epochs[rank->epoch_first + n];
            struct part part = {.extraction = extraction,
                                .rank = r,
                                .number = n,
                                .epoch = epoch,
                                .steps = &model->steps[epoch->step_first],
                                .overheads = &overheads};
            if (measure_epoch(&part, err) != STA_OK || sta_budget_check(extraction->budget, err) != STA_OK)
                return err->status;
        }
        rank->get = mean_of(&overheads.get);
        rank->hand = mean_or(&overheads.hand, &overheads.get);
        rank->fill = mean_of(&overheads.fill);
        rank->wake = mean_or(&overheads.wake, &overheads.busy);
        rank->busy = overheads.busy.count > 0 ? mean_of(&overheads.busy) : STA_MAX(0, rank->wake);
    }
    return STA_OK;
}
