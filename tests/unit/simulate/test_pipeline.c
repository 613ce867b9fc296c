/* The simulation against a slow one that knows no recurrences: processes that wait for queues, event by
 * event. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "simulate/scenario.h"

#define PIPELINES 1000
#define RANKS 3
#define STEPS 40
#define WORKERS 6

/* ---- random pipelines */

static uint64_t seed;

static int64_t random_below(int64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)limit);
}

static struct sta_model *make_model(uint64_t number)
{
    struct sta_model *model = calloc(1, sizeof *model);
    seed = number * 7919 + 1;
    const size_t ranks = 1 + (size_t)random_below(RANKS);
    const uint32_t steps = 1 + (uint32_t)random_below(STEPS), workers = 1 + (uint32_t)random_below(WORKERS);
    model->loader = STA_LOADER_ROUND_ROBIN;
    model->barrier = ranks > 1 && random_below(2);
    model->workers = workers;
    model->prefetch = 1 + (uint32_t)random_below(4);
    model->most_epochs = 1;
    model->rank_count = model->epoch_count = ranks;
    model->step_count = model->job_count = ranks * steps;
    model->up_count = ranks * workers;
    model->ranks = calloc(ranks, sizeof *model->ranks);
    model->epochs = calloc(ranks, sizeof *model->epochs);
    model->steps = calloc(model->step_count, sizeof *model->steps);
    model->jobs = calloc(model->job_count, sizeof *model->jobs);
    model->ups = calloc(model->up_count, sizeof *model->ups);
    for (size_t r = 0; r < ranks; r++) {
        model->ranks[r] = (struct sta_model_rank){.epoch_first = r,
                                                  .epoch_count = 1,
                                                  .get = random_below(300),
                                                  .hand = random_below(300),
                                                  .busy = random_below(500),
                                                  .wake = random_below(200)};
        model->epochs[r] =
            (struct sta_model_epoch){.start = random_below(1000),
                                     .step_first = r * steps,
                                     .step_count = steps,
                                     .workers = workers,
                                     .ask = random_below(5000),
                                     .tail = random_below(100),
                                     .first_hand = random_below(2) ? STA_WITHOUT : random_below(900),
                                     .pitch = random_below(400),
                                     .up_first = r * workers,
                                     .up_count = workers};
        for (uint32_t w = 0; w < workers; w++)
            model->ups[r * workers + w] = random_below(4000);
        for (uint32_t k = 0; k < steps; k++) {
            const size_t i = r * steps + k;
            const int64_t begun = random_below(100), span = random_below(20000);
            model->steps[i] = (struct sta_model_step){.pre = random_below(50),
                                                      .begun = begun,
                                                      .ended = begun + random_below(8000),
                                                      .checkpoint = random_below(20) ? 0 : random_below(3000),
                                                      .post = random_below(100),
                                                      .job_first = i,
                                                      .job_count = 1};
            model->jobs[i] = (struct sta_model_job){.te = span, .storage = span / 2, .preprocess = span / 4};
        }
    }
    return model;
}

static void free_model(struct sta_model *model)
{
    free(model->ranks);
    free(model->epochs);
    free(model->steps);
    free(model->jobs);
    free(model->ups);
    free(model);
}

static struct sta_scenario random_scenario(void)
{
    static const double factors[] = {1, 1, 0.5, 0, 2, 0.3};
    struct sta_scenario scenario = sta_scenario_unchanged;
    if (random_below(2)) {
        scenario.has_workers = true;
        scenario.workers = 1 + (uint32_t)random_below(WORKERS);
    }
    if (random_below(2))
        scenario.prefetch = 1 + (uint32_t)random_below(4);
    for (size_t f = 0; f < STA_FACTORS; f++)
        scenario.factors[f] = factors[random_below(6)];
    return scenario;
}

/* ---- event by event */

enum kind { INDEX, DONE, ASK, GOT, ENDED, KINDS };

struct event {
    int64_t time;
    enum kind kind;
    size_t rank, step; /* step: of a batch too */
};

/* A worker: the indices that were sent to it, and what it does. */
struct worker {
    size_t queue[STEPS];
    int64_t arrived[STEPS];
    size_t head, tail;
    bool working, worked;
    int64_t ended;
};

struct world {
    const struct sta_model *model;
    const struct sta_scenario *scenario;
    struct event events[RANKS * STEPS * KINDS];
    size_t event_count;
    struct worker workers[RANKS][WORKERS];
    struct sta_simulated_step steps[RANKS][STEPS];
    int64_t ready[RANKS][STEPS]; /* when a batch was made; -1: not yet */
    bool waiting[RANKS][STEPS];
    size_t ended[STEPS]; /* ranks */
    uint32_t n, p;
};

static void at(struct world *world, int64_t time, enum kind kind, size_t rank, size_t step)
{
    world->events[world->event_count++] = (struct event){time, kind, rank, step};
}

static int64_t times(int64_t value, double factor)
{
    return factor == 1 ? value : (int64_t)(value * factor + 0.5);
}

static int64_t cost(const struct world *world, size_t rank, size_t step)
{
    const struct sta_model_job *job = &world->model->jobs[world->model->epochs[rank].step_first + step];
    const double *f = world->scenario->factors;
    return times(job->storage, f[STA_FACTOR_STORAGE]) + times(job->preprocess, f[STA_FACTOR_PREPROCESS]) +
           times(job->te - job->storage - job->preprocess, f[STA_FACTOR_OTHER]);
}

static int64_t up(const struct world *world, size_t rank, size_t worker)
{
    const struct sta_model_epoch *epoch = &world->model->epochs[rank];
    size_t last = worker < epoch->up_count ? worker : epoch->up_count - 1;
    int64_t shifted = world->model->ups[epoch->up_first + last] +
                      ((int64_t)world->n - (int64_t)epoch->workers) * epoch->pitch;
    return epoch->start + (shifted > 0 ? shifted : 0);
}

/* A worker that has an index and does nothing begins. */
static void let_work(struct world *world, size_t rank, size_t w)
{
    struct worker *worker = &world->workers[rank][w];
    const struct sta_model_rank *known = &world->model->ranks[rank];
    if (worker->working || worker->head == worker->tail)
        return;
    const size_t batch = worker->queue[worker->head];
    const int64_t arrived = worker->arrived[worker->head++];
    int64_t begin = worker->worked ? worker->ended + known->busy : up(world, rank, w);
    const int64_t seen = worker->worked ? arrived + known->wake : arrived;
    begin = begin > seen ? begin : seen;
    worker->working = worker->worked = true;
    at(world, begin + cost(world, rank, batch), DONE, rank, batch);
}

static void send_index(struct world *world, size_t rank, size_t batch, int64_t time)
{
    struct worker *worker = &world->workers[rank][batch % world->n];
    if (batch >= world->model->epochs[rank].step_count)
        return;
    worker->arrived[worker->tail] = time;
    worker->queue[worker->tail++] = batch;
    let_work(world, rank, batch % world->n);
}

static void hand_over(struct world *world, size_t rank, size_t step)
{
    const struct sta_model_rank *known = &world->model->ranks[rank];
    const int64_t first = world->model->epochs[rank].first_hand;
    const int64_t hand = step > 0 || first == STA_WITHOUT ? known->hand : first;
    const int64_t there = world->steps[rank][step].asked + known->get,
                  waited = world->ready[rank][step] + hand;
    at(world, there > waited ? there : waited, GOT, rank, step);
}

static void release(struct world *world, size_t rank, size_t step, int64_t time)
{
    const struct sta_model_epoch *epoch = &world->model->epochs[rank];
    const struct sta_model_step *own = &world->model->steps[epoch->step_first + step];
    world->steps[rank][step].released = time;
    if (step + 1 < epoch->step_count)
        at(world, time + times(own->checkpoint, world->scenario->factors[STA_FACTOR_CHECKPOINT]) + own->post,
           ASK, rank, step + 1);
}

static void handle(struct world *world, const struct event *event)
{
    const struct sta_model *model = world->model;
    const size_t r = event->rank, k = event->step;
    if (event->kind == INDEX) { /* also of batches behind the last */
        send_index(world, r, k, event->time);
        return;
    }
    const struct sta_model_step *own = &model->steps[model->epochs[r].step_first + k];
    struct sta_simulated_step *step = &world->steps[r][k];
    struct worker *worker = &world->workers[r][k % world->n];
    switch (event->kind) {
    case DONE:
        world->ready[r][k] = event->time;
        worker->working = false;
        worker->ended = event->time;
        if (world->waiting[r][k])
            hand_over(world, r, k);
        let_work(world, r, k % world->n);
        break;
    case ASK:
        step->asked = event->time;
        world->waiting[r][k] = true;
        if (world->ready[r][k] >= 0)
            hand_over(world, r, k);
        break;
    case GOT:
        step->got = event->time;
        at(world, event->time, INDEX, r, k + (size_t)world->p * world->n);
        step->begun = event->time + own->pre;
        at(world, step->begun + times(own->ended - own->begun, world->scenario->factors[STA_FACTOR_COMPUTE]),
           ENDED, r, k);
        break;
    default:
        step->ended = event->time;
        if (!model->barrier)
            release(world, r, k, event->time);
        else if (++world->ended[k] == model->rank_count)
            for (size_t other = 0; other < model->rank_count; other++)
                release(world, other, k, event->time);
    }
}

static bool goes_before(const struct event *a, const struct event *b)
{
    return a->time < b->time;
}

static void run_world(struct world *world)
{
    const struct sta_model *model = world->model;
    for (size_t r = 0; r < model->rank_count; r++) {
        const struct sta_model_epoch *epoch = &model->epochs[r];
        int64_t ask = epoch->ask + ((int64_t)world->n - (int64_t)epoch->workers) * epoch->pitch;
        for (size_t k = 0; k < epoch->step_count; k++)
            world->ready[r][k] = -1;
        for (size_t batch = 0; batch < (size_t)world->p * world->n; batch++)
            send_index(world, r, batch, -1);
        at(world, epoch->start + (ask > 0 ? ask : 0), ASK, r, 0);
    }
    while (world->event_count > 0) {
        size_t next = 0;
        for (size_t i = 1; i < world->event_count; i++)
            if (goes_before(&world->events[i], &world->events[next]))
                next = i;
        struct event event = world->events[next];
        world->events[next] = world->events[--world->event_count];
        handle(world, &event);
    }
}

/* ---- both */

static const struct sta_budget budget = {.workers = 1, .memory = 1 << 30};

static int64_t train_time(const struct sta_model *model, const struct sta_scenario *scenario,
                          struct sta_simulation *simulation)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_run_figures figures;
    cr_assert_eq(sta_simulation_init(simulation, model, NULL, &err), 0);
    cr_assert_eq(sta_simulate(simulation, scenario, NULL, NULL, &budget, &err), 0, "%s", err.text);
    cr_assert_eq(sta_figures_of(simulation, &budget, &figures, &err), 0);
    return figures.train;
}

static void compare(uint64_t number)
{
    struct sta_model *model = make_model(number);
    struct sta_scenario scenario = random_scenario();
    struct world *world = calloc(1, sizeof *world);
    struct sta_simulation simulation;
    world->model = model;
    world->scenario = &scenario;
    world->n = scenario.has_workers ? scenario.workers : model->workers;
    world->p = scenario.prefetch > 0 ? scenario.prefetch : model->prefetch;
    run_world(world);
    (void)train_time(model, &scenario, &simulation);
    for (size_t r = 0; r < model->rank_count; r++)
        for (size_t k = 0; k < model->epochs[r].step_count; k++) {
            const struct sta_simulated_step *fast = &simulation.steps[model->epochs[r].step_first + k];
            const struct sta_simulated_step *slow = &world->steps[r][k];
            cr_assert(fast->asked == slow->asked && fast->got == slow->got && fast->ended == slow->ended &&
                          fast->released == slow->released,
                      "pipeline %lu, rank %zu, step %zu: asked %ld, got %ld, ended %ld; event by event %ld, "
                      "%ld, %ld",
                      number, r, k, fast->asked, fast->got, fast->ended, slow->asked, slow->got, slow->ended);
        }
    sta_simulation_fini(&simulation);
    free(world);
    free_model(model);
}

Test(pipeline, is_what_queues_do_event_by_event)
{
    for (uint64_t number = 0; number < PIPELINES; number++)
        compare(number);
}

Test(pipeline, faster_storage_is_never_slower)
{
    for (uint64_t number = 0; number < 300; number++) {
        struct sta_model *model = make_model(number);
        int64_t before = INT64_MAX;
        for (int step = 4; step >= 0; step--) {
            struct sta_scenario scenario = sta_scenario_unchanged;
            struct sta_simulation simulation;
            scenario.factors[STA_FACTOR_STORAGE] = step * 0.5;
            int64_t time = train_time(model, &scenario, &simulation);
            cr_assert(time <= before, "pipeline %lu: storage %g", number, step * 0.5);
            before = time;
            sta_simulation_fini(&simulation);
        }
        free_model(model);
    }
}

static int64_t time_of(const struct sta_model *model, struct sta_scenario scenario)
{
    struct sta_simulation simulation;
    int64_t time = train_time(model, &scenario, &simulation);
    sta_simulation_fini(&simulation);
    return time;
}

/* Of batches that cost the same.  Where they do not, the turn of a worker may bring two long ones to it: four
 * batches of 2, 1, 1, 2 take two workers 3 (2 + 1 and 1 + 2) and three workers 4 (2 + 2, 1 and 1). */
Test(pipeline, more_workers_may_be_slower_where_batches_differ)
{
    struct sta_model_job jobs[] = {{.te = 2}, {.te = 1}, {.te = 1}, {.te = 2}};
    struct sta_model_step steps[4] = {0};
    struct sta_model_rank rank = {.epoch_count = 1};
    int64_t up = 0;
    struct sta_model_epoch epoch = {.step_count = 4, .workers = 2, .first_hand = STA_WITHOUT, .up_count = 1};
    struct sta_model model = {.loader = STA_LOADER_ROUND_ROBIN,
                              .workers = 2,
                              .prefetch = 2,
                              .most_epochs = 1,
                              .ranks = &rank,
                              .epochs = &epoch,
                              .steps = steps,
                              .jobs = jobs,
                              .ups = &up,
                              .rank_count = 1,
                              .epoch_count = 1,
                              .step_count = 4,
                              .job_count = 4,
                              .up_count = 1};
    struct sta_scenario scenario = sta_scenario_unchanged;
    for (size_t k = 0; k < 4; k++) {
        steps[k].job_first = k;
        steps[k].job_count = 1;
    }
    scenario.has_workers = true;
    scenario.workers = 2;
    cr_assert_eq(time_of(&model, scenario), 3);
    scenario.workers = 3;
    cr_assert_eq(time_of(&model, scenario), 4);
    scenario.endless = true;
    cr_assert_eq(time_of(&model, scenario), 2);
}

Test(pipeline, more_workers_without_start_up_are_never_slower_for_equal_batches)
{
    for (uint64_t number = 0; number < 300; number++) {
        struct sta_model *model = make_model(number);
        int64_t before = INT64_MAX;
        memset(model->ups, 0, model->up_count * sizeof *model->ups);
        for (size_t r = 0; r < model->rank_count; r++)
            model->epochs[r].pitch = 0;
        for (size_t j = 0; j < model->job_count; j++)
            model->jobs[j] = (struct sta_model_job){.te = 9000, .storage = 4000};
        for (uint32_t workers = 1; workers <= WORKERS; workers++) {
            struct sta_scenario scenario = sta_scenario_unchanged;
            struct sta_simulation simulation;
            scenario.has_workers = true;
            scenario.workers = workers;
            int64_t time = train_time(model, &scenario, &simulation);
            cr_assert(time <= before, "pipeline %lu: %u workers", number, workers);
            before = time;
            sta_simulation_fini(&simulation);
        }
        free_model(model);
    }
}

Test(pipeline, no_number_of_workers_is_faster_than_without_end)
{
    for (uint64_t number = 0; number < 300; number++) {
        struct sta_model *model = make_model(number);
        struct sta_scenario scenario = random_scenario();
        scenario.has_workers = scenario.endless = true;
        const int64_t endless = time_of(model, scenario);
        scenario.endless = false;
        for (scenario.workers = 1; scenario.workers <= 2 * STEPS; scenario.workers++)
            cr_assert(time_of(model, scenario) >= endless, "pipeline %lu: %u workers", number,
                      scenario.workers);
        free_model(model);
    }
}

/* As many workers as batches are without end, where start-up is left out. */
Test(pipeline, a_worker_for_each_batch_is_without_end)
{
    for (uint64_t number = 0; number < 300; number++) {
        struct sta_model *model = make_model(number);
        struct sta_scenario scenario = sta_scenario_unchanged;
        memset(model->ups, 0, model->up_count * sizeof *model->ups);
        for (size_t r = 0; r < model->rank_count; r++)
            model->epochs[r].pitch = 0;
        scenario.has_workers = scenario.endless = true;
        const int64_t endless = time_of(model, scenario);
        scenario.endless = false;
        scenario.workers = STEPS;
        cr_assert_eq(time_of(model, scenario), endless, "pipeline %lu", number);
        free_model(model);
    }
}

Test(pipeline, the_scenario_as_it_was_is_the_reproduction)
{
    for (uint64_t number = 0; number < 300; number++) {
        struct sta_model *model = make_model(number);
        struct sta_scenario said = sta_scenario_unchanged;
        struct sta_simulation a, b;
        said.has_workers = said.has_barrier = true;
        said.workers = model->workers;
        said.prefetch = model->prefetch;
        said.barrier = model->barrier;
        cr_assert_eq(train_time(model, &sta_scenario_unchanged, &a), train_time(model, &said, &b));
        cr_assert_arr_eq(a.steps, b.steps, model->step_count * sizeof *a.steps);
        sta_simulation_fini(&a);
        sta_simulation_fini(&b);
        free_model(model);
    }
}

Test(pipeline, times_that_cannot_be_counted_are_refused)
{
    struct sta_model *model = make_model(3);
    struct sta_scenario scenario = sta_scenario_unchanged;
    struct sta_simulation simulation;
    struct sta_error err = STA_ERROR_INIT;
    scenario.factors[STA_FACTOR_COMPUTE] = 100;
    for (size_t k = 0; k < model->step_count; k++)
        model->steps[k].ended = model->steps[k].begun + INT64_C(4000000000000000);
    cr_assert_eq(sta_simulation_init(&simulation, model, NULL, &err), 0);
    int rc = sta_simulate(&simulation, &scenario, NULL, NULL, &budget, &err);
    cr_assert(model->epochs[0].step_count < 3 || rc == STA_ELIMIT);
    sta_simulation_fini(&simulation);
    free_model(model);
}
