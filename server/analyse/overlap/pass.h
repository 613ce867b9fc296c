/* pass.h - the pass over a request's events: which unit and which sets each has, sums, and the sweep (private
 * to overlap). */
#ifndef STA_ANALYSE_OVERLAP_PASS_H
#define STA_ANALYSE_OVERLAP_PASS_H

#include "analyse/intervals/sweep.h"
#include "analyse/overlap/request.h"
#include "analyse/scan.h"

/* ---- events of a block, as every pass of overlap sees them */

/* What of an event lies in the window. */
struct sta_part {
    int64_t from, to; /* equal for one that covers nothing */
    bool outside;
};

/* A stretch of time [from, to) in ticks; open: INT64_MIN, INT64_MAX. */
struct sta_window {
    int64_t from, to;
};

static inline struct sta_window sta_overlap_window(const struct sta_overlap_request *request)
{
    return (struct sta_window){request->from, request->to};
}

static inline struct sta_part sta_part_of(struct sta_window window, int64_t ts, int64_t dur)
{
    int64_t te = dur > 0 ? ts + dur : ts;
    struct sta_part part = {.from = STA_MAX(ts, window.from), .to = STA_MIN(te, window.to)};
    part.outside = (ts < window.from && te <= window.from) || ts >= window.to;
    return part;
}

/* One thread's way through the events: their sets and units. */
struct sta_overlap_reader;

struct sta_overlap_events {
    const int64_t *ts, *dur; /* by row */
    const uint32_t *units, *threads;
    const uint32_t *masks;    /* sets; STA_NOT_THERE: the preset drops the event */
    const uint32_t *selected; /* rows to look at; NULL: all */
    uint32_t count;
};
#define STA_NOT_THERE UINT32_MAX

/* What the readers of a pass share: the sets' programs and the scope. */
struct sta_overlap_binding {
    const struct sta_overlap_request *request;
    const struct sta_budget *budget;
    struct sta_scope *scope;
    struct sta_program *programs[STA_OVERLAP_SETS]; /* NULL for layers */
};
STA_MUSTCHECK int sta_overlap_binding_init(struct sta_overlap_binding *binding,
                                           const struct sta_overlap_request *request,
                                           const struct sta_budget *budget, struct sta_error *err);
void sta_overlap_binding_fini(struct sta_overlap_binding *binding); /* also after a failure */

struct sta_overlap_reader *sta_overlap_reader_create(const struct sta_overlap_binding *binding);
void sta_overlap_reader_destroy(struct sta_overlap_reader *reader); /* NULL allowed; before the binding */
/** The events of rows that a scan gives.  Valid until the next call. */
STA_MUSTCHECK int sta_overlap_reader_read(struct sta_overlap_reader *reader, const struct sta_scan_rows *rows,
                                          struct sta_overlap_events *events, struct sta_error *err);

/* ---- sums and sweep */

struct sta_unit_sums {
    int64_t start, end; /* ticks; of all its events; start > end: it has none */
    int64_t *events;    /* by set */
};

struct sta_set_sums {
    int64_t events, instant, time; /* ticks */
};

struct sta_host_span {
    int64_t start, end; /* start > end: none of its events is in the window */
};

struct sta_overlap_results {
    struct sta_scope *scope;
    uint32_t *units; /* those that exist, by key */
    uint32_t unit_count;
    struct sta_unit_sums *sums; /* by unit number, as is .. */
    uint32_t *processes;        /* .. how many processes have events in it */
    int64_t *counts;            /* memory of sums[].events */
    struct sta_set_sums sets[STA_OVERLAP_SETS];
    int64_t *swept;               /* by unit number: sta_sweep_swept */
    struct sta_host_span *hosts;  /* by code of the entities' hosts; one more for a missing host */
    struct sta_sweep_cell *cells; /* by unit, then mask */
    size_t cell_count;
    int64_t *crowds[STA_OVERLAP_SETS]; /* by number of active events, from 1 */
    size_t crowd_counts[STA_OVERLAP_SETS];
};

/**
 * sta_overlap_pass - one pass over the events of a binding's request
 * @stretches: who takes the stretches of the sweep (take NULL: the sums are enough), and how many bytes that
 * holds, for the budget
 */
struct sta_overlap_stretches {
    sta_sweep_take take;
    size_t (*bytes)(const void *context);
    void *context;
    bool idle; /* also those in which no set is active */
};
STA_MUSTCHECK int sta_overlap_pass(const struct sta_overlap_binding *binding,
                                   const struct sta_overlap_stretches *stretches,
                                   const struct sta_budget *budget, struct sta_overlap_results *results,
                                   struct sta_error *err);
void sta_overlap_results_fini(struct sta_overlap_results *results);

#endif
