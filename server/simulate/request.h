/* request.h - a request as it was read (private to simulate). */
#ifndef STA_SIMULATE_REQUEST_H
#define STA_SIMULATE_REQUEST_H

#include "simulate/scenario.h"

enum sta_sweepable {
    STA_SWEEP_WORKERS,
    STA_SWEEP_PREFETCH,
    STA_SWEEP_FACTORS,
    STA_SWEEPABLES = STA_SWEEP_FACTORS + STA_FACTORS
};
const char *sta_sweepable_name(unsigned sweepable); /* STA_SWEEP_WORKERS .. */

struct sta_scenario_sweep {
    const struct sta_document *values[STA_SWEEPABLES]; /* lists; NULL: not swept */
    struct sta_scenario base;
    bool asked, has_keys;
    size_t count; /* of combinations */
};

struct sta_whatif_request {
    struct sta_scenario *scenarios;
    size_t scenario_count;
    struct sta_scenario_sweep sweep;
    bool ranks, epochs, steps;
    const struct sta_document *timeline; /* NULL: not asked for */
    struct sta_arena memory;
};
/** Mistakes: STA_EINPUT with parameter.  Fini after success. */
STA_MUSTCHECK int sta_whatif_request_read(const struct sta_document *request, struct sta_whatif_request *read,
                                          struct sta_error *err);
void sta_whatif_request_fini(struct sta_whatif_request *read);

/** Scenario of a combination of the sweep, first factor slowest. */
struct sta_scenario sta_sweep_scenario(const struct sta_scenario_sweep *sweep, size_t combination);
/** Combinations of the factors other than workers, which lie so far apart from number to number of workers; 0
 * when workers are not swept. */
size_t sta_sweep_groups(const struct sta_scenario_sweep *sweep);
/** The value of a swept factor in a combination. */
double sta_sweep_value(const struct sta_scenario_sweep *sweep, unsigned sweepable, size_t combination);

/** STA_EINPUT, with a parameter that is a path such as scenarios[0].workers. */
int sta_bad(struct sta_error *err, const char *parameter, const char *format, ...) STA_PRINTF(3, 4);

#endif
