/* scenario.h - what is to be different, and the run as it would have been (private to simulate). */
#ifndef STA_SIMULATE_SCENARIO_H
#define STA_SIMULATE_SCENARIO_H

#include "simulate/model.h"

#define STA_SCENARIO_WORKERS 256
#define STA_SCENARIO_PREFETCH 1024
#define STA_CACHE_SPEED INT64_C(10000000000) /* B/s at which a page cache is read, unless it is said */

enum sta_factor {
    STA_FACTOR_STORAGE,
    STA_FACTOR_PREPROCESS,
    STA_FACTOR_OTHER,
    STA_FACTOR_COMPUTE,
    STA_FACTOR_CHECKPOINT,
    STA_FACTORS
};

struct sta_scenario {
    const char *name;            /* borrowed */
    bool has_workers;            /* else as many as in the trace */
    uint32_t workers;            /* 0: samples are made on the rank itself */
    bool endless;                /* a worker for each job, all up as early as one alone would be: no number of
                                    workers is faster */
    uint32_t prefetch;           /* 0: as in the trace */
    double factors[STA_FACTORS]; /* 1: as in the trace; 0: no time */
    bool has_cache;
    int64_t cache_bytes, cache_speed;
    bool median; /* every rank gets the jobs of the rank in the middle */
    bool has_barrier, barrier;
};
extern const struct sta_scenario sta_scenario_unchanged;

struct sta_simulated_step {
    int64_t asked, got, begun, ended, released;
};

struct sta_simulated_epoch {
    int64_t start, end;
};

/* A job as it was simulated. */
struct sta_simulated_job {
    uint32_t lane, step;
    int64_t ts, te;
};

/* Jobs of one epoch of one rank, for who wants to see them. */
struct sta_job_recorder {
    size_t rank, epoch;
    struct sta_simulated_job *jobs;
    size_t count, capacity;
};

/* The times of jobs under a page cache, by job of the model. */
struct sta_cached_jobs {
    int64_t *misses, *hits; /* storage time that is left; time of reading from the cache */
    struct sta_account *account;
};
/** LRU by file on each host: what was last read in an earlier epoch and is still there is read from the
 * cache. */
STA_MUSTCHECK int sta_cache_simulate(const struct sta_model *model, int64_t bytes, int64_t speed,
                                     const struct sta_budget *budget, struct sta_cached_jobs *cached,
                                     struct sta_error *err);
void sta_cached_jobs_fini(struct sta_cached_jobs *cached);

/* One thread's memory for a simulation, used again for the next one. */
struct sta_simulation {
    const struct sta_model *model;
    struct sta_simulated_step *steps;   /* by step of the model */
    struct sta_simulated_epoch *epochs; /* by epoch of the model */
    int64_t *free;                      /* by rank, by worker: when its last job ended */
    struct sta_rank_state *states;      /* by rank */
    uint64_t *words, *scratch;          /* for medians: by step */
    struct sta_account *account;
};
STA_MUSTCHECK int sta_simulation_init(struct sta_simulation *simulation, const struct sta_model *model,
                                      struct sta_account *account, struct sta_error *err);
void sta_simulation_fini(struct sta_simulation *simulation);

/** Whether the trace allows the scenario.  Refuses shape. */
STA_MUSTCHECK int sta_scenario_check(const struct sta_model *model, const struct sta_scenario *scenario,
                                     struct sta_error *err);
/**
 * sta_simulate - the run under a scenario, which was checked
 * @cached: of its cache; NULL without one.  @recorder: NULL: jobs are not kept
 * Cost: some ten nanoseconds per job and step.  Return: 0; STA_ELIMIT when times grow past what can be
 * counted; of the budget.
 */
STA_MUSTCHECK int sta_simulate(struct sta_simulation *simulation, const struct sta_scenario *scenario,
                               const struct sta_cached_jobs *cached, struct sta_job_recorder *recorder,
                               const struct sta_budget *budget, struct sta_error *err);

/* ---- figures of a run, traced or simulated; microseconds */

struct sta_run_figures {
    int64_t train;                      /* first start to last end */
    double epoch_mean;                  /* of all epochs of all ranks */
    int64_t step_median;                /* the lower one */
    double stall, barrier, compute, au; /* means of ranks; au: computing by time in epochs */
    double stall_total;
    int64_t stall_most;
};
struct sta_rank_figures {
    int64_t stall, barrier, compute, time;
};
STA_MUSTCHECK int sta_figures_of(struct sta_simulation *simulation, const struct sta_budget *budget,
                                 struct sta_run_figures *figures, struct sta_error *err);
struct sta_rank_figures sta_figures_of_rank(const struct sta_simulation *simulation, size_t rank);

/* How well the run as it was is reproduced.  Errors are relative. */
struct sta_check {
    int64_t train_traced, train_modelled;
    double train_error, epoch_error_mean, epoch_error_max, step_error_median, step_error_p90;
    double stall_traced, stall_modelled; /* us, summed over ranks */
    int64_t predicted_steps;             /* 0: nothing is predicted, so nothing is proven */
    bool reproduced;
};
/** @simulation: of the scenario without changes. */
STA_MUSTCHECK int sta_check_model(struct sta_simulation *simulation, const struct sta_budget *budget,
                                  struct sta_check *check, struct sta_error *err);

#endif
