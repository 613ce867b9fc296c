/* partial.h - what a pass over a range of time finds, and how such parts come together (private to overlap).
 *
 * Times and counts add up over ranges; the cell of a unit and a combination is how long it was active in
 * each.  Units have the same numbers in all processes where they follow from threads. */
#ifndef STA_ANALYSE_OVERLAP_PARTIAL_H
#define STA_ANALYSE_OVERLAP_PARTIAL_H

#include "analyse/overlap/pass.h"
#include "analyse/sources/ranges.h"

#define STA_OVERLAP_WHAT "the units and intervals of an overlap"

/* Memory of the account.  Zeroed but for the account: nothing yet. */
struct sta_overlap_partial {
    struct sta_account *account;
    uint32_t unit_count, set_count, thread_count;
    struct sta_host_span *threads; /* by thread code */
    struct sta_host_span *units;   /* by unit, where that does not follow from the threads */
    int64_t *swept;                /* by unit */
    int64_t *events;               /* by unit, then set */
    struct sta_set_sums sets[STA_OVERLAP_MASK_BITS]; /* without events and time, which follow from the rest */
    struct sta_sweep_cell *cells;                    /* by unit, then mask */
    size_t cell_count;
    __int128 *concurrency[STA_OVERLAP_MASK_BITS];
    size_t concurrency_counts[STA_OVERLAP_MASK_BITS];
    struct sta_sweep_exposed *exposed;    /* by set, then set; zeros without exposure */
    struct sta_sweep_crossing *crossings; /* of exposure: events that reach out of the ranges */
    size_t crossing_count;
};

/** Of no events. */
STA_MUSTCHECK int sta_overlap_partial_init(struct sta_overlap_partial *partial,
                                           const struct sta_overlap_binding *binding, struct sta_error *err);
void sta_overlap_partial_fini(struct sta_overlap_partial *partial);
/** One pass over the events of a binding's request that reach into the range.  Return: as of a scan. */
STA_MUSTCHECK int sta_overlap_gather(const struct sta_overlap_binding *binding,
                                     const struct sta_overlap_wants *wants, struct sta_time_range range,
                                     struct sta_overlap_partial *partial, struct sta_error *err);
/** Adds what another range has, of the same request. */
STA_MUSTCHECK int sta_overlap_partial_add(struct sta_overlap_partial *partial,
                                          const struct sta_overlap_partial *other, struct sta_error *err);
/** Results, from all ranges.  Takes over what it can of @partial. */
STA_MUSTCHECK int sta_overlap_take_partial(struct sta_overlap_partial *partial,
                                           const struct sta_overlap_binding *binding,
                                           struct sta_overlap_results *results, struct sta_error *err);

/** As bytes for another process, and back. */
void sta_overlap_partial_put(const struct sta_overlap_partial *partial, struct sta_buffer *out);
STA_MUSTCHECK int sta_overlap_partial_get(struct sta_overlap_partial *partial,
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

#endif
