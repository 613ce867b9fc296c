/* Epochs and steps of a rank, from what its thread computes and fetches. */
#include <stdlib.h>
#include <string.h>

#include "simulate/extract.h"

size_t sta_first_event(const struct sta_role_event *events, size_t count, int64_t ts)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (events[middle].ts < ts)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is looked at of a rank's thread, step by step. */
struct rank_reader {
    struct sta_extraction *extraction;
    const struct sta_role_thread *thread;
    int64_t *yields; /* when yields end, ascending */
    size_t yield_count;
    struct sta_role_event *checkpoints; /* united */
    size_t checkpoint_count;
};

static int by_time(const void *a, const void *b, void *context)
{
    const int64_t *x = a, *y = b;
    (void)context;
    return (*x > *y) - (*x < *y);
}

static int open_reader(struct rank_reader *reader, struct sta_extraction *extraction,
                       const struct sta_role_thread *thread, struct sta_error *err)
{
    struct sta_account *account = extraction->budget->account;
    const size_t yields = thread->counts[STA_EVENT_YIELD], checkpoints = thread->counts[STA_EVENT_CHECKPOINT];
    *reader = (struct rank_reader){.extraction = extraction, .thread = thread};
    reader->yields = sta_account_alloc(account, yields + 1, sizeof *reader->yields, "steps", err);
    if (reader->yields != NULL)
        reader->checkpoints =
            sta_account_alloc(account, checkpoints + 1, sizeof *reader->checkpoints, "steps", err);
    if (reader->checkpoints == NULL)
        return err->status;
    for (size_t i = 0; i < yields; i++)
        reader->yields[reader->yield_count++] = thread->events[STA_EVENT_YIELD][i].te;
    for (size_t i = 0; i < checkpoints; i++) {
        const struct sta_role_event *event = &thread->events[STA_EVENT_CHECKPOINT][i];
        const size_t count = reader->checkpoint_count;
        if (count > 0 && event->ts <= reader->checkpoints[count - 1].te)
            reader->checkpoints[count - 1].te = STA_MAX(reader->checkpoints[count - 1].te, event->te);
        else
            reader->checkpoints[reader->checkpoint_count++] = *event;
    }
    return sta_sort(extraction->budget, reader->yields, yields, sizeof *reader->yields, by_time, NULL, err);
}

static void close_reader(struct rank_reader *reader)
{
    sta_account_free(reader->extraction->budget->account, reader->yields);
    sta_account_free(reader->extraction->budget->account, reader->checkpoints);
}

/* The last fetch that lies in [from, to]. */
static const struct sta_role_event *last_fetch(const struct sta_role_thread *thread, int64_t from, int64_t to)
{
    const struct sta_role_event *fetches = thread->events[STA_EVENT_FETCH];
    size_t i = sta_first_event(fetches, thread->counts[STA_EVENT_FETCH], to + 1);
    while (i > 0 && fetches[i - 1].ts >= from)
        if (fetches[--i].te <= to)
            return &fetches[i];
    return NULL;
}

/* The latest end of a yield in (from, to]; without one @from. */
static int64_t last_yield(const struct rank_reader *reader, int64_t from, int64_t to)
{
    size_t low = 0, high = reader->yield_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reader->yields[middle] <= to)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && reader->yields[low - 1] > from ? reader->yields[low - 1] : from;
}

static int64_t checkpoint_time(const struct rank_reader *reader, int64_t from, int64_t to)
{
    size_t i = sta_first_event(reader->checkpoints, reader->checkpoint_count, from);
    int64_t sum = 0;
    if (i > 0)
        i--;
    for (; i < reader->checkpoint_count && reader->checkpoints[i].ts < to; i++) {
        int64_t begin = STA_MAX(reader->checkpoints[i].ts, from),
                end = STA_MIN(reader->checkpoints[i].te, to);
        sum += STA_MAX(end - begin, 0);
    }
    return sum;
}

static int add_step(struct sta_model *model, const struct rank_reader *reader,
                    const struct sta_role_event *compute, int64_t before, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(model->account, model->steps, model->step_capacity, model->step_count + 1,
                              "the steps of a training", err);
    if (rc != STA_OK)
        return rc;
    const struct sta_role_event *fetch = last_fetch(reader->thread, before, compute->ts);
    model->steps[model->step_count++] =
        (struct sta_model_step){.begun = compute->ts,
                                .ended = compute->te,
                                .fetched = fetch != NULL,
                                .asked = fetch != NULL ? fetch->ts : last_yield(reader, before, compute->ts),
                                .got = fetch != NULL ? fetch->te : compute->ts};
    return STA_OK;
}

/* An epoch with the computations that begin in it; none: no epoch. */
static int add_epoch(const struct rank_reader *reader, struct sta_model_rank *rank, int64_t ts, int64_t te,
                     struct sta_error *err)
{
    struct sta_model *model = reader->extraction->model;
    const struct sta_role_event *computes = reader->thread->events[STA_EVENT_COMPUTE];
    const size_t count = reader->thread->counts[STA_EVENT_COMPUTE];
    size_t i = sta_first_event(computes, count, ts);
    if (i == count || computes[i].ts >= te)
        return STA_OK;
    int rc = STA_ACCOUNT_GROW(model->account, model->epochs, model->epoch_capacity, model->epoch_count + 1,
                              "the epochs of a training", err);
    if (rc != STA_OK)
        return rc;
    struct sta_model_epoch epoch = {.start = ts, .end = te, .step_first = model->step_count};
    for (int64_t before = ts; rc == STA_OK && i < count && computes[i].ts < te; i++) {
        rc = add_step(model, reader, &computes[i], before, err);
        before = computes[i].te;
        epoch.end = STA_MAX(epoch.end, before);
        if (rc == STA_OK)
            rc = sta_budget_check_step(reader->extraction->budget, i, err);
    }
    epoch.step_count = (uint32_t)(model->step_count - epoch.step_first);
    for (size_t k = epoch.step_first; rc == STA_OK && k < model->step_count; k++) {
        struct sta_model_step *step = &model->steps[k];
        step->checkpoint = checkpoint_time(reader, step->ended,
                                           k + 1 < model->step_count ? model->steps[k + 1].asked : epoch.end);
    }
    model->epochs[model->epoch_count++] = epoch;
    rank->epoch_count++;
    return rc;
}

/* Without epoch events one epoch holds all that there is. */
static int add_only_epoch(const struct rank_reader *reader, struct sta_model_rank *rank,
                          struct sta_error *err)
{
    const struct sta_role_thread *thread = reader->thread;
    const size_t count = thread->counts[STA_EVENT_COMPUTE];
    const struct sta_role_event *computes = thread->events[STA_EVENT_COMPUTE];
    int64_t first = computes[0].ts;
    if (thread->counts[STA_EVENT_FETCH] > 0)
        first = STA_MIN(first, thread->events[STA_EVENT_FETCH][0].ts);
    if (thread->counts[STA_EVENT_ITEM] > 0)
        first = STA_MIN(first, thread->events[STA_EVENT_ITEM][0].ts);
    return add_epoch(reader, rank, first, computes[count - 1].te, err);
}

static int add_rank(struct sta_extraction *extraction, size_t r, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    const struct sta_role_thread *thread = extraction->sources[r].thread;
    struct sta_model_rank *rank = &model->ranks[r];
    struct rank_reader reader;
    rank->epoch_first = model->epoch_count;
    int rc = open_reader(&reader, extraction, thread, err);
    if (rc == STA_OK && thread->counts[STA_EVENT_EPOCH] == 0)
        rc = add_only_epoch(&reader, rank, err);
    for (size_t i = 0; i < thread->counts[STA_EVENT_EPOCH] && rc == STA_OK; i++)
        rc = add_epoch(&reader, rank, thread->events[STA_EVENT_EPOCH][i].ts,
                       thread->events[STA_EVENT_EPOCH][i].te, err);
    close_reader(&reader);
    if (rc == STA_OK && rank->epoch_count == 0)
        rc = sta_model_refuse(err, "no-steps", "the rank of pid %lld computes in none of its epochs",
                              (long long)rank->pid);
    model->most_epochs = STA_MAX(model->most_epochs, rank->epoch_count);
    return rc;
}

/* Whether ranks leave each step together: the spread of their next requests is below a quarter of the spread
 * of the ends of their computations. */
static bool has_barrier(const struct sta_model *model)
{
    __int128 ends = 0, requests = 0;
    if (model->rank_count < 2 || !sta_model_is_even(model))
        return false;
    for (uint32_t n = 0; n < model->most_epochs; n++)
        for (uint32_t k = 0; k + 1 < sta_model_epoch(model, 0, n)->step_count; k++) {
            int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {INT64_MIN, INT64_MIN};
            for (size_t r = 0; r < model->rank_count; r++) {
                const struct sta_model_step *step = sta_model_step(model, sta_model_epoch(model, r, n), k);
                const int64_t times[2] = {step->ended, step[1].asked};
                for (int i = 0; i < 2; i++) {
                    low[i] = STA_MIN(low[i], times[i]);
                    high[i] = STA_MAX(high[i], times[i]);
                }
            }
            ends += high[0] - low[0];
            requests += high[1] - low[1];
        }
    return ends > 0 && 4 * requests <= ends;
}

int sta_extract_steps(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    for (size_t r = 0; r < model->rank_count; r++)
        if (add_rank(extraction, r, err) != STA_OK)
            return err->status;
    model->barrier = has_barrier(model);
    return STA_OK;
}
