/* whatif.h - a request while it is worked on (private to simulate). */
#ifndef STA_SIMULATE_WHATIF_H
#define STA_SIMULATE_WHATIF_H

#include "simulate/request.h"

struct sta_whatif_work {
    const struct sta_model *model;
    const struct sta_budget *budget;
    struct sta_whatif_request request;
    struct sta_whatif_result *result;
    struct sta_simulation *simulations; /* by worker */
    struct sta_cached_jobs swept_cache;
    struct sta_run_figures *figures; /* by run: baseline, scenarios, sweep, and without end of workers each
                                        combination of its other factors */
    size_t run_count;
    struct sta_check check;
};

static inline double sta_us_seconds(double us)
{
    return us / 1e6;
}

/** Makes the tables of details that are asked for, with the traced rows. */
STA_MUSTCHECK int sta_whatif_open_details(struct sta_whatif_work *whatif, struct sta_error *err);
/** Puts the rows of a run into them.  Context: any thread, each run once. */
void sta_whatif_put_details(struct sta_whatif_work *whatif, const struct sta_simulation *simulation,
                            size_t run);
STA_MUSTCHECK int sta_whatif_put_timeline(struct sta_whatif_work *whatif,
                                          const struct sta_simulation *simulation,
                                          struct sta_job_recorder *recorder, struct sta_error *err);
void sta_whatif_put_scenarios(struct sta_whatif_work *whatif);
/** The sweep and its knees. */
void sta_whatif_put_sweep(struct sta_whatif_work *whatif);
void sta_whatif_put_model(struct sta_whatif_work *whatif);

#endif
