/* The tables of a result. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulate/whatif.h"

/* ---- figures of runs: the same columns for scenarios and sweeps */

/* By how much the time of a run may be off: the largest error of an epoch, and what contention could add to
 * workers that the trace did not have. */
static double margin_of(const struct sta_whatif_work *whatif, const struct sta_scenario *scenario,
                        const struct sta_run_figures *figures)
{
    const struct sta_contention *contention = &whatif->result->contention;
    double error = whatif->check.epoch_error_max;
    if (contention->significant && scenario->has_workers) {
        double more = fabs((double)scenario->workers - (double)whatif->model->workers);
        error += fmin(1, contention->growth * more);
    }
    return sta_us_seconds((double)figures->train * error);
}

static void add_numbers(struct sta_table *table, const char *name, const char *unit, const double *values)
{
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_FLOAT, unit);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_number(column, row, values[row]);
}

enum { TRAIN, EPOCH, STEP, STALL, STALL_MOST, BARRIER, COMPUTE, AU, SPEEDUP, MARGIN, RUN_COLUMNS };
static const struct {
    const char *name, *unit;
} run_columns[RUN_COLUMNS] = {
    [TRAIN] = {"train_time", "s"},     [EPOCH] = {"epoch_time", "s"},
    [STEP] = {"step_time", "s"},       [STALL] = {"stall", "s"},
    [STALL_MOST] = {"stall_max", "s"}, [BARRIER] = {"barrier_wait", "s"},
    [COMPUTE] = {"compute", "s"},      [AU] = {"au", "ratio"},
    [SPEEDUP] = {"speedup", "ratio"},  [MARGIN] = {"train_time_margin", "s"},
};

static double figure(const struct sta_whatif_work *whatif, size_t run, const struct sta_scenario *scenario,
                     int column)
{
    const struct sta_run_figures *figures = &whatif->figures[run];
    switch (column) {
    case TRAIN:
        return sta_us_seconds((double)figures->train);
    case EPOCH:
        return sta_us_seconds(figures->epoch_mean);
    case STEP:
        return sta_us_seconds((double)figures->step_median);
    case STALL:
        return sta_us_seconds(figures->stall);
    case STALL_MOST:
        return sta_us_seconds((double)figures->stall_most);
    case BARRIER:
        return sta_us_seconds(figures->barrier);
    case COMPUTE:
        return sta_us_seconds(figures->compute);
    case AU:
        return figures->au;
    case SPEEDUP:
        return figures->train != 0 ? (double)whatif->figures[0].train / (double)figures->train : NAN;
    default:
        return whatif->check.predicted_steps > 0 ? margin_of(whatif, scenario, figures) : NAN;
    }
}

static void add_run_columns(const struct sta_whatif_work *whatif, struct sta_table *table, size_t first_run)
{
    const struct sta_whatif_request *request = &whatif->request;
    for (int c = 0; c < RUN_COLUMNS; c++) {
        struct sta_table_column *column =
            sta_table_add(table, run_columns[c].name, STA_TYPE_FLOAT, run_columns[c].unit);
        for (size_t row = 0; row < table->rows; row++) {
            const size_t run = first_run + row;
            const struct sta_scenario scenario =
                run == 0 ? sta_scenario_unchanged
                : run <= request->scenario_count
                    ? request->scenarios[run - 1]
                    : sta_sweep_scenario(&request->sweep, run - 1 - request->scenario_count);
            sta_table_set_number(column, row, figure(whatif, run, &scenario, c));
        }
    }
}

static const char *run_name(const struct sta_whatif_work *whatif, size_t run)
{
    return run == 0 ? "baseline" : whatif->request.scenarios[run - 1].name;
}

void sta_whatif_put_scenarios(struct sta_whatif_work *whatif)
{
    struct sta_table *table = &whatif->result->tables[STA_WHATIF_SCENARIOS];
    sta_table_init(table, 1 + whatif->request.scenario_count);
    struct sta_table_column *names = sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    for (size_t run = 0; run < table->rows; run++)
        sta_table_set_text(table, names, run, run_name(whatif, run), strlen(run_name(whatif, run)));
    add_run_columns(whatif, table, 0);
}

/* ---- sweep and knees */

static void add_swept_columns(const struct sta_scenario_sweep *sweep, struct sta_table *table)
{
    for (unsigned i = 0; i < STA_SWEEPABLES; i++) {
        if (sweep->values[i] == NULL)
            continue;
        bool whole = i == STA_SWEEP_WORKERS || i == STA_SWEEP_PREFETCH;
        struct sta_table_column *column =
            sta_table_add(table, sta_sweepable_name(i), whole ? STA_TYPE_INT : STA_TYPE_FLOAT, NULL);
        for (size_t row = 0; row < table->rows; row++) {
            double value = sta_sweep_value(sweep, i, row);
            if (whole)
                sta_table_set_int(column, row, (int64_t)value);
            else
                sta_table_set_number(column, row, value);
        }
    }
}

/* Combinations that differ in their workers alone: workers are the first factor, so they lie @groups
 * apart. */
struct knee {
    size_t group, groups, points;
    int64_t workers; /* the fewest from which no larger number is 1 % faster */
    int64_t train;
    int64_t endless; /* what no number of workers is faster than */
};

static int64_t train_at(const struct sta_whatif_work *whatif, const struct knee *knee, size_t point)
{
    return whatif->figures[1 + whatif->request.scenario_count + point * knee->groups + knee->group].train;
}

static int64_t workers_at(const struct sta_whatif_work *whatif, const struct knee *knee, size_t point)
{
    return (int64_t)sta_sweep_value(&whatif->request.sweep, STA_SWEEP_WORKERS,
                                    point * knee->groups + knee->group);
}

/* Whether no larger number of workers is 1 % faster than those of a point. */
static bool is_enough(const struct sta_whatif_work *whatif, const struct knee *knee, size_t point)
{
    const double time = sta_us_seconds((double)train_at(whatif, knee, point));
    for (size_t other = 0; other < knee->points; other++)
        if (workers_at(whatif, knee, other) > workers_at(whatif, knee, point) &&
            !(time < 1.01 * sta_us_seconds((double)train_at(whatif, knee, other))))
            return false;
    return true;
}

static void find_knee(const struct sta_whatif_work *whatif, struct knee *knee)
{
    knee->workers = INT64_MAX;
    knee->endless = train_at(whatif, knee, knee->points); /* these runs come behind the sweep's */
    for (size_t point = 0; point < knee->points; point++) {
        const int64_t workers = workers_at(whatif, knee, point), train = train_at(whatif, knee, point);
        if (workers < knee->workers && is_enough(whatif, knee, point)) {
            knee->workers = workers;
            knee->train = train;
        }
    }
}

static void put_sentence(struct sta_table *table, struct sta_table_column *column, size_t row,
                         const struct knee *knee)
{
    char text[240];
    const char *plural = knee->workers == 1 ? " reaches" : "s reach";
    /* without workers a rank makes its own samples, which may be faster */
    double share = knee->train > knee->endless ? 100 * (double)knee->endless / (double)knee->train : 100;
    snprintf(text, sizeof text,
             "%lld worker%s %.0f %% of what infinitely many would: %.2f s instead of %.2f s",
             (long long)knee->workers, plural, floor(share), sta_us_seconds((double)knee->train),
             sta_us_seconds((double)knee->endless));
    sta_table_set_text(table, column, row, text, strlen(text));
}

static void put_knees(struct sta_whatif_work *whatif)
{
    const struct sta_scenario_sweep *sweep = &whatif->request.sweep;
    struct sta_table *table = &whatif->result->knee;
    const size_t groups = sta_sweep_groups(sweep), points = sweep->count / groups;
    sta_table_init(table, groups);
    for (unsigned i = STA_SWEEP_WORKERS + 1; i < STA_SWEEPABLES; i++) {
        if (sweep->values[i] == NULL)
            continue;
        bool whole = i == STA_SWEEP_PREFETCH;
        struct sta_table_column *column =
            sta_table_add(table, sta_sweepable_name(i), whole ? STA_TYPE_INT : STA_TYPE_FLOAT, NULL);
        for (size_t g = 0; g < groups; g++) {
            if (whole)
                sta_table_set_int(column, g, (int64_t)sta_sweep_value(sweep, i, g));
            else
                sta_table_set_number(column, g, sta_sweep_value(sweep, i, g));
        }
    }
    (void)sta_table_add(table, "workers", STA_TYPE_INT, NULL);
    (void)sta_table_add(table, "train_time", STA_TYPE_FLOAT, "s");
    (void)sta_table_add(table, "train_time_infinite", STA_TYPE_FLOAT, "s");
    (void)sta_table_add(table, "sentence", STA_TYPE_TEXT, NULL);
    for (size_t g = 0; g < groups; g++) {
        struct knee knee = {.group = g, .groups = groups, .points = points};
        find_knee(whatif, &knee);
        sta_table_set_int(sta_table_find(table, "workers"), g, knee.workers);
        sta_table_set_number(sta_table_find(table, "train_time"), g, sta_us_seconds((double)knee.train));
        sta_table_set_number(sta_table_find(table, "train_time_infinite"), g,
                             sta_us_seconds((double)knee.endless));
        put_sentence(table, sta_table_find(table, "sentence"), g, &knee);
    }
}

void sta_whatif_put_sweep(struct sta_whatif_work *whatif)
{
    const struct sta_scenario_sweep *sweep = &whatif->request.sweep;
    struct sta_table *table = &whatif->result->tables[STA_WHATIF_SWEEP];
    if (sweep->count == 0)
        return;
    sta_table_init(table, sweep->count);
    add_swept_columns(sweep, table);
    add_run_columns(whatif, table, 1 + whatif->request.scenario_count);
    if (sweep->values[STA_SWEEP_WORKERS] != NULL)
        put_knees(whatif);
}

/* ---- the model */

static const char *source_name(enum sta_prefetch_source source)
{
    static const char *const names[] = {[STA_PREFETCH_NONE] = NULL,
                                        [STA_PREFETCH_INFERRED] = "inferred",
                                        [STA_PREFETCH_AT_LEAST] = "at least",
                                        [STA_PREFETCH_DEFAULT] = "default",
                                        [STA_PREFETCH_GIVEN] = "given"};
    return names[source];
}

static void put_overheads(const struct sta_model *model, struct sta_table *table)
{
    static const char *const names[] = {"get", "hand", "busy", "wake", "fill"};
    sta_table_init(table, model->rank_count);
    struct sta_table_column *column = sta_table_add(table, "pid", STA_TYPE_INT, NULL);
    for (size_t r = 0; r < model->rank_count; r++)
        if (model->ranks[r].pid != STA_NO_ID)
            sta_table_set_int(column, r, model->ranks[r].pid);
    for (size_t i = 0; i < STA_COUNT_OF(names); i++) {
        column = sta_table_add(table, names[i], STA_TYPE_FLOAT, "s");
        for (size_t r = 0; r < model->rank_count; r++) {
            const struct sta_model_rank *rank = &model->ranks[r];
            const int64_t values[] = {rank->get, rank->hand, rank->busy, rank->wake, rank->fill};
            sta_table_set_number(column, r, sta_us_seconds((double)values[i]));
        }
    }
}

static void put_work(const struct sta_model *model, struct sta_table *table)
{
    enum { PRODUCTION, STORAGE, PREPROCESS, COMPUTING, CHECKPOINT, TAILS, STARTS, SUMS };
    static const char *const names[SUMS] = {"production", "storage", "preprocess", "compute",
                                            "checkpoint", "tails",   "starts"};
    __int128 sums[SUMS] = {0};
    for (size_t i = 0; i < model->job_count; i++) {
        sums[PRODUCTION] += sta_job_span(&model->jobs[i]);
        sums[STORAGE] += model->jobs[i].storage;
        sums[PREPROCESS] += model->jobs[i].preprocess;
    }
    for (size_t k = 0; k < model->step_count; k++) {
        sums[COMPUTING] += model->steps[k].ended - model->steps[k].begun;
        sums[CHECKPOINT] += model->steps[k].checkpoint;
    }
    for (size_t e = 0; e < model->epoch_count; e++) {
        sums[TAILS] += model->epochs[e].tail;
        sums[STARTS] += model->epochs[e].ask;
    }
    sta_table_init(table, 1);
    sta_table_set_int(sta_table_add(table, "jobs", STA_TYPE_INT, NULL), 0, (int64_t)model->job_count);
    for (size_t i = 0; i < SUMS; i++) {
        double value = sta_us_seconds((double)sums[i]);
        add_numbers(table, names[i], "s", &value);
    }
}

void sta_whatif_put_model(struct sta_whatif_work *whatif)
{
    static const char *const loaders[] = {
        [STA_LOADER_INLINE] = "inline", [STA_LOADER_ROUND_ROBIN] = "round_robin", [STA_LOADER_POOL] = "pool"};
    const struct sta_model *model = whatif->model;
    struct sta_model_summary *summary = &whatif->result->model;
    *summary = (struct sta_model_summary){.loader = loaders[model->loader],
                                          .ranks = (int64_t)model->rank_count,
                                          .epochs = model->most_epochs,
                                          .steps = (int64_t)model->step_count,
                                          .workers = model->workers,
                                          .batch = model->batch,
                                          .prefetch = model->prefetch,
                                          .prefetch_source = source_name(model->prefetch_source),
                                          .barrier = model->barrier};
    put_overheads(model, &summary->overheads);
    put_work(model, &summary->work);
}
