/* The simulation: epoch by epoch, step by step, all ranks of a step before the next step.
 *
 * A rank asks for a batch, gets it when its workers have made it, computes, and waits for the others where
 * there is a barrier.  What a job costs is scaled by the scenario; when it begins follows from its worker and
 * from when its index was sent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/scenario.h"

#define LATEST INT64_C(1000000000000000000) /* us: times past this are not counted */
#define INLINE_PREFETCH 2                   /* of workers that the traced run did not have */

const struct sta_scenario sta_scenario_unchanged = {.factors = {1, 1, 1, 1, 1}};

/* A rank in the present epoch. */
struct sta_rank_state {
    const struct sta_model_epoch *epoch;
    const struct sta_model_step *steps;   /* its own */
    const struct sta_model_step *source;  /* whose jobs it does */
    struct sta_simulated_step *simulated; /* by step */
    uint32_t workers, prefetch;
    int64_t start, asked;
    int64_t get, hand, first_hand, busy, wake, fill, extra;
    int64_t shift; /* of the start, by another number of workers */
    int64_t *free; /* by worker: when its last job ended; STA_WITHOUT before its first */
    bool live;
};

struct run {
    struct sta_simulation *simulation;
    const struct sta_model *model;
    const struct sta_scenario *scenario;
    const struct sta_cached_jobs *cached;
    struct sta_job_recorder *recorder;
    const struct sta_budget *budget;
    size_t source; /* rank whose jobs all do; SIZE_MAX: each its own */
    bool barrier;
    size_t epoch; /* number of the present one */
    size_t step;
    size_t checked; /* steps so far, for the budget */
};

static int64_t scaled(int64_t value, double factor)
{
    return factor == 1 ? value : (int64_t)floor((double)value * factor + 0.5);
}

static int64_t later(int64_t time, int64_t by)
{
    return STA_MIN(time + by, LATEST);
}

static int64_t cost_of(const struct run *run, size_t number)
{
    const struct sta_model_job *job = &run->model->jobs[number];
    const double *factors = run->scenario->factors;
    const int64_t miss = run->cached != NULL ? run->cached->misses[number] : job->storage;
    const int64_t hit = run->cached != NULL ? run->cached->hits[number] : 0;
    return scaled(miss, factors[STA_FACTOR_STORAGE]) + hit +
           scaled(job->preprocess, factors[STA_FACTOR_PREPROCESS]) +
           scaled(sta_job_span(job) - job->storage - job->preprocess, factors[STA_FACTOR_OTHER]);
}

static int record(const struct run *run, size_t rank, uint32_t lane, int64_t ts, int64_t te,
                  struct sta_error *err)
{
    struct sta_job_recorder *recorder = run->recorder;
    if (recorder == NULL || recorder->rank != rank || recorder->epoch != run->epoch)
        return STA_OK;
    int rc = STA_ACCOUNT_GROW(run->simulation->account, recorder->jobs, recorder->capacity,
                              recorder->count + 1, "the batches of an epoch", err);
    if (rc == STA_OK)
        recorder->jobs[recorder->count++] = (struct sta_simulated_job){lane, (uint32_t)run->step, ts, te};
    return rc;
}

/* ---- workers */

/* When a worker is up: as the traced one of that number, or as the last of them. */
static int64_t up_at(const struct run *run, const struct sta_rank_state *state, uint32_t worker)
{
    const struct sta_model_epoch *epoch = state->epoch;
    int64_t up = epoch->up_count > 0 ? run->model->ups[epoch->up_first + STA_MIN(worker, epoch->up_count - 1)]
                                     : epoch->first;
    for (uint32_t w = 0; run->scenario->endless && w < epoch->up_count; w++)
        up = STA_MIN(up, run->model->ups[epoch->up_first + w]);
    return state->start + STA_MAX(0, up + state->shift);
}

/* One job on a worker, not before @sent.  *end: when it is done. */
static int do_job(const struct run *run, struct sta_rank_state *state, size_t rank, uint32_t worker,
                  size_t job, int64_t sent, int64_t *end, struct sta_error *err)
{
    const int64_t before = run->scenario->endless ? STA_WITHOUT : state->free[worker];
    const int64_t ts = before == STA_WITHOUT ? STA_MAX(up_at(run, state, worker), sent)
                                             : STA_MAX(before + state->busy, sent + state->wake);
    *end = state->free[worker] = later(ts, cost_of(run, job));
    return record(run, rank, worker, ts, *end, err);
}

static void deliver(const struct run *run, const struct sta_rank_state *state, bool any, int64_t ready)
{
    struct sta_simulated_step *step = &state->simulated[run->step];
    const int64_t hand = run->step > 0 ? state->hand : state->first_hand;
    step->got = step->asked + state->get;
    if (any)
        step->got = STA_MAX(step->got, ready + hand);
}

static int run_round_robin(const struct run *run, struct sta_rank_state *state, size_t rank,
                           struct sta_error *err)
{
    const struct sta_model_step *source = &state->source[run->step];
    const size_t ahead = (size_t)state->prefetch * state->workers;
    const bool waits = run->step >= ahead && !run->scenario->endless;
    const int64_t sent = waits ? state->simulated[run->step - ahead].got : -1;
    int64_t ready = 0;
    for (uint32_t i = 0; i < source->job_count; i++)
        if (do_job(run, state, rank, (uint32_t)(run->step % state->workers), source->job_first + i, sent,
                   &ready, err) != STA_OK)
            return err->status;
    deliver(run, state, source->job_count > 0, ready);
    return STA_OK;
}

/* The worker that is free first; the lowest number of several. */
static uint32_t first_free(const struct run *run, const struct sta_rank_state *state)
{
    uint32_t best = 0;
    int64_t best_time = INT64_MAX;
    for (uint32_t w = 0; w < state->workers; w++) {
        int64_t time = state->free[w] != STA_WITHOUT ? state->free[w] : up_at(run, state, w);
        if (time < best_time) {
            best_time = time;
            best = w;
        }
    }
    return best;
}

static int64_t pool_sent(const struct run *run, const struct sta_rank_state *state,
                         const struct sta_model_job *job)
{
    const size_t k = run->step;
    if (run->scenario->prefetch > 0)
        return k >= state->prefetch ? state->simulated[k - state->prefetch].got : -1;
    if (job->demanded)
        return state->simulated[k].asked;
    return k > 0 ? state->simulated[k - 1].got : -1;
}

static int run_pool(const struct run *run, struct sta_rank_state *state, size_t rank, struct sta_error *err)
{
    const struct sta_model_step *source = &state->source[run->step];
    int64_t ready = INT64_MIN;
    for (uint32_t i = 0; i < source->job_count; i++) {
        const struct sta_model_job *job = &run->model->jobs[source->job_first + i];
        bool traced = state->workers == state->epoch->workers && job->lane < state->workers;
        int64_t end;
        if (do_job(run, state, rank, traced ? job->lane : first_free(run, state), source->job_first + i,
                   pool_sent(run, state, job), &end, err) != STA_OK)
            return err->status;
        ready = STA_MAX(ready, end);
    }
    deliver(run, state, source->job_count > 0, ready);
    return STA_OK;
}

static int run_inline(const struct run *run, struct sta_rank_state *state, size_t rank, struct sta_error *err)
{
    const struct sta_model_step *source = &state->source[run->step];
    struct sta_simulated_step *step = &state->simulated[run->step];
    int64_t at = step->asked;
    for (uint32_t i = 0; i < source->job_count; i++) {
        const int64_t end = later(at, cost_of(run, source->job_first + i));
        if (record(run, rank, 0, at, end, err) != STA_OK)
            return err->status;
        at = end;
    }
    if (run->model->loader != STA_LOADER_INLINE)
        step->got = at + state->busy;
    else
        step->got = at + (run->step == 0 ? state->extra : state->fill);
    return STA_OK;
}

static int run_step(const struct run *run, struct sta_rank_state *state, size_t rank, struct sta_error *err)
{
    struct sta_simulated_step *step = &state->simulated[run->step];
    const struct sta_model_step *own = &state->steps[run->step];
    step->asked = state->asked;
    int rc = state->workers == 0                     ? run_inline(run, state, rank, err)
             : run->model->loader == STA_LOADER_POOL ? run_pool(run, state, rank, err)
                                                     : run_round_robin(run, state, rank, err);
    step->begun = step->got + own->pre;
    step->ended = step->begun + scaled(own->ended - own->begun, run->scenario->factors[STA_FACTOR_COMPUTE]);
    if (rc == STA_OK && step->ended >= LATEST)
        rc = sta_fail(err, STA_ELIMIT, "the simulated times grow past what can be counted");
    return rc;
}

/* ---- all ranks */

static void begin_epoch(const struct run *run, struct sta_rank_state *state, size_t r, int64_t start)
{
    const struct sta_model *model = run->model;
    const struct sta_model_rank *rank = &model->ranks[r];
    state->live = run->epoch < rank->epoch_count;
    if (!state->live)
        return;
    const size_t source = run->source != SIZE_MAX ? run->source : r;
    const struct sta_model_epoch *epoch = sta_model_epoch(model, r, run->epoch);
    const bool inlined = model->loader == STA_LOADER_INLINE;
    state->epoch = epoch;
    state->steps = &model->steps[epoch->step_first];
    state->source = &model->steps[sta_model_epoch(model, source, run->epoch)->step_first];
    state->simulated = &run->simulation->steps[epoch->step_first];
    state->workers = run->scenario->endless       ? 1
                     : run->scenario->has_workers ? run->scenario->workers
                                                  : epoch->workers;
    state->prefetch = run->scenario->prefetch > 0 ? run->scenario->prefetch
                      : inlined                   ? INLINE_PREFETCH
                                                  : model->prefetch;
    state->shift = ((int64_t)state->workers - (int64_t)epoch->workers) * epoch->pitch;
    state->start = start;
    state->asked = start + STA_MAX(0, epoch->ask + state->shift);
    state->get = inlined ? 0 : rank->get;
    state->hand = inlined ? rank->fill : rank->hand;
    state->first_hand = inlined || epoch->first_hand == STA_WITHOUT ? state->hand : epoch->first_hand;
    state->busy = rank->busy;
    state->wake = rank->wake;
    state->fill = rank->fill;
    state->extra = epoch->extra;
    for (uint32_t w = 0; w < state->workers; w++)
        state->free[w] = STA_WITHOUT;
}

/* Step run->step of all ranks that have one.  *any: some had. */
static int run_all(struct run *run, bool *any, struct sta_error *err)
{
    struct sta_rank_state *states = run->simulation->states;
    const size_t ranks = run->model->rank_count, k = run->step;
    int64_t slowest = INT64_MIN;
    *any = false;
    for (size_t r = 0; r < ranks; r++) {
        if (!states[r].live || k >= states[r].epoch->step_count)
            continue;
        *any = true;
        if (run_step(run, &states[r], r, err) != STA_OK ||
            sta_budget_check_step(run->budget, ++run->checked, err) != STA_OK)
            return err->status;
        slowest = STA_MAX(slowest, states[r].simulated[k].ended);
    }
    for (size_t r = 0; r < ranks; r++) {
        if (!states[r].live || k >= states[r].epoch->step_count)
            continue;
        struct sta_simulated_step *step = &states[r].simulated[k];
        step->released = run->barrier ? slowest : step->ended;
        states[r].asked = later(step->released, scaled(states[r].steps[k].checkpoint,
                                                       run->scenario->factors[STA_FACTOR_CHECKPOINT]) +
                                                    states[r].steps[k].post);
    }
    return STA_OK;
}

/* Ends the epoch of all ranks, and says when the next ones begin. */
static void end_epoch(struct run *run)
{
    struct sta_rank_state *states = run->simulation->states;
    const struct sta_model *model = run->model;
    int64_t latest = INT64_MIN;
    for (size_t r = 0; r < model->rank_count; r++) {
        if (!states[r].live)
            continue;
        run->simulation->epochs[model->ranks[r].epoch_first + run->epoch] =
            (struct sta_simulated_epoch){states[r].start, states[r].asked};
        latest = STA_MAX(latest, states[r].asked);
    }
    for (size_t r = 0; r < model->rank_count; r++)
        if (states[r].live)
            states[r].start = (run->barrier ? latest : states[r].asked) + states[r].epoch->gap;
}

static int run_epochs(struct run *run, struct sta_error *err)
{
    struct sta_rank_state *states = run->simulation->states;
    const struct sta_model *model = run->model;
    for (run->epoch = 0; run->epoch < model->most_epochs; run->epoch++) {
        bool any = true;
        for (size_t r = 0; r < model->rank_count; r++)
            begin_epoch(run, &states[r], r,
                        run->epoch == 0 ? sta_model_epoch(model, r, 0)->start : states[r].start);
        for (run->step = 0; any; run->step++)
            if (run_all(run, &any, err) != STA_OK)
                return err->status;
        end_epoch(run);
    }
    return STA_OK;
}

/* The rank in the middle by the time of its jobs; the lower one of two. */
struct work {
    int64_t time;
    size_t rank;
};

static int by_work(const void *a, const void *b, void *context)
{
    const struct work *x = a, *y = b;
    (void)context;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int median_rank(const struct run *run, size_t *rank, struct sta_error *err)
{
    const struct sta_model *model = run->model;
    struct work *works =
        sta_account_calloc(run->simulation->account, model->rank_count, sizeof *works, "ranks", err);
    if (works == NULL)
        return err->status;
    for (size_t r = 0; r < model->rank_count; r++) {
        works[r].rank = r;
        for (uint32_t n = 0; n < model->ranks[r].epoch_count; n++) {
            const struct sta_model_epoch *epoch = sta_model_epoch(model, r, n);
            for (uint32_t k = 0; k < epoch->step_count; k++) {
                const struct sta_model_step *step = sta_model_step(model, epoch, k);
                for (uint32_t i = 0; i < step->job_count; i++)
                    works[r].time = later(works[r].time, sta_job_span(&model->jobs[step->job_first + i]));
            }
        }
    }
    int rc = sta_sort(run->budget, works, model->rank_count, sizeof *works, by_work, NULL, err);
    *rank = works[sta_lower_middle(model->rank_count)].rank;
    sta_account_free(run->simulation->account, works);
    return rc;
}

int sta_scenario_check(const struct sta_model *model, const struct sta_scenario *scenario,
                       struct sta_error *err)
{
    bool barrier = scenario->has_barrier ? scenario->barrier : model->barrier;
    if ((barrier || scenario->median) && model->rank_count > 1 && !sta_model_is_even(model))
        return sta_model_refuse(
            err, "shape",
            "ranks differ in epochs or steps: neither a barrier nor the median rank is defined");
    return STA_OK;
}

int sta_simulate(struct sta_simulation *simulation, const struct sta_scenario *scenario,
                 const struct sta_cached_jobs *cached, struct sta_job_recorder *recorder,
                 const struct sta_budget *budget, struct sta_error *err)
{
    struct run run = {.simulation = simulation,
                      .model = simulation->model,
                      .scenario = scenario,
                      .cached = cached,
                      .recorder = recorder,
                      .budget = budget,
                      .source = SIZE_MAX,
                      .barrier = scenario->has_barrier ? scenario->barrier : simulation->model->barrier};
    int rc = scenario->median ? median_rank(&run, &run.source, err) : STA_OK;
    return rc == STA_OK ? run_epochs(&run, err) : rc;
}

/* ---- memory */

int sta_simulation_init(struct sta_simulation *simulation, const struct sta_model *model,
                        struct sta_account *account, struct sta_error *err)
{
    const size_t workers = STA_MAX(model->workers, STA_SCENARIO_WORKERS);
    const size_t words = STA_MAX(model->step_count, model->epoch_count) + 1;
    *simulation = (struct sta_simulation){.model = model, .account = account};
    const struct {
        void **array;
        size_t count, size;
    } parts[] = {
        {(void **)&simulation->steps, model->step_count, sizeof *simulation->steps},
        {(void **)&simulation->epochs, model->epoch_count, sizeof *simulation->epochs},
        {(void **)&simulation->free, model->rank_count * workers, sizeof *simulation->free},
        {(void **)&simulation->states, model->rank_count, sizeof *simulation->states},
        {(void **)&simulation->words, words, sizeof *simulation->words},
        {(void **)&simulation->scratch, words, sizeof *simulation->scratch},
    };
    for (size_t i = 0; i < STA_COUNT_OF(parts); i++) {
        *parts[i].array =
            sta_account_calloc(account, STA_MAX(parts[i].count, 1), parts[i].size, "a simulation", err);
        if (*parts[i].array == NULL) {
            sta_simulation_fini(simulation);
            return err->status;
        }
    }
    for (size_t r = 0; r < model->rank_count; r++)
        simulation->states[r].free = &simulation->free[r * workers];
    return STA_OK;
}

void sta_simulation_fini(struct sta_simulation *simulation)
{
    void *const arrays[] = {simulation->steps,  simulation->epochs, simulation->free,
                            simulation->states, simulation->words,  simulation->scratch};
    for (size_t i = 0; i < STA_COUNT_OF(arrays); i++)
        sta_account_free(simulation->account, arrays[i]);
    *simulation = (struct sta_simulation){0};
}
