/* finish.h - from the workers' tables and runs to the sink, in order (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_FINISH_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_FINISH_H

#include "analyse/operators/aggregate/output.h"
#include "analyse/operators/aggregate/worker.h"

/* What a finish works on; all borrowed. */
struct sta_group_finish {
    const struct sta_shape *shape;
    const struct sta_budget *budget;
    const char *spill_folder;
    struct sta_group_worker **workers;
    unsigned worker_count;
    struct sta_group_order order;
    struct sta_group_results results;
    uint64_t groups, spilled, too_large;
};

const struct sta_shape *sta_aggregation_shape(const struct sta_aggregation *grouping);
struct sta_account *sta_aggregation_account(const struct sta_aggregation *grouping);

/** Everything in memory: tables are sorted, cut into ranges of keys, and merged range by range on all
 * cores. */
STA_MUSTCHECK int sta_group_finish_tables(struct sta_group_finish *finish,
                                          const struct sta_aggregation_output *sink, struct sta_error *err);
/** Runs on disk: merged one group after another, in several rounds if they are too many for the memory. */
STA_MUSTCHECK int sta_group_finish_runs(struct sta_group_finish *finish,
                                        const struct sta_aggregation_output *sink, struct sta_error *err);
/** Gives a batch to the sink, so many rows at a time as a vector may have. */
STA_MUSTCHECK int sta_group_finish_emit(struct sta_group_finish *finish, const struct sta_group_batch *batch,
                                        const struct sta_aggregation_output *sink, struct sta_error *err);

#endif
