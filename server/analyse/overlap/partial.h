/* partial.h - what a pass over a range of time finds, how such parts come together, and which other processes
 * measure (private to overlap).
 *
 * Times and counts add up over ranges; the cell of a unit and a combination is how long it was active in
 * each.  Units have the same numbers in all processes where they follow from threads. */
#ifndef STA_ANALYSE_OVERLAP_PARTIAL_H
#define STA_ANALYSE_OVERLAP_PARTIAL_H

#include "analyse/exec/peers.h"
#include "analyse/overlap/pass.h"
#include "analyse/sources/shared.h"

#define STA_OVERLAP_WHAT "the units and intervals of an overlap"

/** Of no events.  sta_overlap_results_fini also after a failure. */
STA_MUSTCHECK int sta_overlap_results_init(struct sta_overlap_results *results,
                                           const struct sta_overlap_binding *binding, struct sta_error *err);
/** One pass over the events of a binding's request that reach into the range.  Return: as of a scan. */
STA_MUSTCHECK int sta_overlap_gather(const struct sta_overlap_binding *binding,
                                     const struct sta_overlap_wants *wants, struct sta_time_range range,
                                     struct sta_overlap_results *results, struct sta_error *err);
/** Adds what another range has, or a worker, of the same request: of units below its limit; arrays that it
 * does not have are left out. */
STA_MUSTCHECK int sta_overlap_results_add(struct sta_overlap_results *results,
                                          const struct sta_overlap_results *other, struct sta_error *err);
/** What the ranges that were added come to: all there are. */
STA_MUSTCHECK int sta_overlap_results_finish(struct sta_overlap_results *results,
                                             const struct sta_overlap_binding *binding,
                                             struct sta_error *err);

/** What a range has, as bytes for another process, and back. */
void sta_overlap_results_put(const struct sta_overlap_results *results, struct sta_buffer *out);
STA_MUSTCHECK int sta_overlap_results_get(struct sta_overlap_results *results,
                                          const struct sta_overlap_binding *binding, struct sta_cursor *in,
                                          struct sta_error *err);

/** Whether a unit's span is that of its threads. */
static inline bool sta_overlap_follows_threads(const struct sta_overlap_request *request)
{
    return request->scope.kind <= STA_SCOPE_JOB;
}

static inline void sta_host_spans_clear(struct sta_host_span *spans, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        spans[i] = (struct sta_host_span){INT64_MAX, INT64_MIN};
}

static inline void sta_host_span_widen(struct sta_host_span *span, int64_t from, int64_t to)
{
    if (from < span->start)
        span->start = from;
    span->end = STA_MAX(span->end, to);
}

/* ---- an overlap that several processes measure: each a range of time */

/** Sends it to the other processes of the budget, if there are any and it saves time; not for single
 * intervals and units that do not follow from threads. */
void sta_overlap_share(struct sta_shared_time *shared, const struct sta_overlap_binding *binding,
                       const struct sta_overlap_wants *wants);
/** What rank @rank has found; its part of a series is added to that of @wants.  Return: 0; STA_EOUTDATED: its
 * range is to be measured here; STA_ECORRUPT; STA_ECANCELLED, STA_ELIMIT; what a charge returns. */
STA_MUSTCHECK int sta_overlap_shared_take(const struct sta_shared_time *shared, unsigned rank,
                                          const struct sta_overlap_binding *binding,
                                          const struct sta_overlap_wants *wants,
                                          struct sta_overlap_results *results, struct sta_error *err);

/** sta_share_work of an overlap. */
STA_MUSTCHECK int sta_overlap_share_work(const struct sta_share_host *host, struct sta_cursor *query,
                                         const struct sta_stripe *stripe, const struct sta_budget *budget,
                                         struct sta_buffer *state, struct sta_error *err);

#endif
