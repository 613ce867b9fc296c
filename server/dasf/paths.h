/* paths.h - the chosen tasks in an order in which each comes behind its inputs (private to dasf). */
#ifndef STA_DASF_PATHS_H
#define STA_DASF_PATHS_H

#include "dasf/stream.h"

/** *order: the nodes of the chosen tasks, sta_account_free it.  Return: STA_ELIMIT when they depend on each
 * other in a circle, with the tasks of one. */
STA_MUSTCHECK int dasf_topological(const struct dasf_request *request, uint32_t **order, size_t *count,
                                   struct sta_error *err);

/* Intervals in which a worker ran something, merged: of all workers, worker after worker. */
struct dasf_runs {
    int64_t *begins, *ends; /* ns, ascending; disjoint and not touching inside of a worker */
    int64_t *before;        /* what the worker ran before each */
    size_t *first;          /* by worker; one more than there are */
};
STA_MUSTCHECK int dasf_runs_create(const struct dasf_request *request, struct dasf_runs *runs,
                                   struct sta_error *err);
void dasf_runs_fini(const struct dasf_request *request, struct dasf_runs *runs);
/** How long the worker ran something in from .. to. */
int64_t dasf_runs_time(const struct dasf_runs *runs, uint32_t worker, int64_t from, int64_t to);

#endif
