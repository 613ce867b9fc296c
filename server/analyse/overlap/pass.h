/* pass.h - the pass over a request's events: which unit and which sets each has, sums, and the sweep (private
 * to overlap). */
#ifndef STA_ANALYSE_OVERLAP_PASS_H
#define STA_ANALYSE_OVERLAP_PASS_H

#include "analyse/intervals/span.h"
#include "analyse/intervals/sweep.h"
#include "analyse/overlap/request.h"
#include "analyse/sources/ranges.h"
#include "analyse/sources/scan.h"

/* ---- events of a row group, as every pass of overlap sees them */

/* What of an event lies in the window. */
struct sta_overlap_part {
    int64_t from, to; /* equal for one that covers nothing */
    bool outside;
};

static inline struct sta_time_range sta_overlap_window(const struct sta_overlap_request *request)
{
    return (struct sta_time_range){request->from, request->to};
}

static inline struct sta_overlap_part sta_part_of(struct sta_time_range window, int64_t ts, int64_t dur)
{
    int64_t te = dur > 0 ? ts + dur : ts;
    struct sta_overlap_part part = {.from = STA_MAX(ts, window.from), .to = STA_MIN(te, window.to)};
    part.outside = (ts < window.from && te <= window.from) || ts >= window.to;
    return part;
}

struct sta_overlap_events {
    const int64_t *ts, *dur; /* by row */
    const uint32_t *units, *threads;
    const uint32_t *masks;    /* sets; STA_NOT_THERE: the preset drops the event */
    const uint32_t *selected; /* rows to look at; NULL: all */
    uint32_t count;
};
#define STA_NOT_THERE UINT32_MAX

/** The number of the i-th row to look at. */
static inline uint32_t sta_overlap_row(const struct sta_overlap_events *events, uint32_t i)
{
    return events->selected != NULL ? events->selected[i] : i;
}

/* What passes over the events of a request share: the sets' programs and the scope. */
struct sta_overlap_binding {
    const struct sta_overlap_request *request;
    const struct sta_budget *budget;
    struct sta_scope *scope;
    struct sta_program *programs[STA_OVERLAP_SETS]; /* NULL for layers */
    struct sta_overlap_reader **readers;            /* by worker; NULL: it has read nothing yet */
};
STA_MUSTCHECK int sta_overlap_binding_init(struct sta_overlap_binding *binding,
                                           const struct sta_overlap_request *request,
                                           const struct sta_budget *budget, struct sta_error *err);
void sta_overlap_binding_fini(struct sta_overlap_binding *binding); /* also after a failure */

/** The events of rows that a scan gives to worker @worker.  Valid until it reads the next ones. */
STA_MUSTCHECK int sta_overlap_read(const struct sta_overlap_binding *binding, unsigned worker,
                                   const struct sta_scan_rows *rows, struct sta_overlap_events *events,
                                   struct sta_error *err);

/* ---- sums and sweep */

struct sta_set_sums {
    int64_t events, instant;
    __int128 time;         /* ticks */
    __int128 instant_size; /* of exposure: parts of bytes, of the events that cover nothing */
};

struct sta_host_span {
    int64_t start, end; /* start > end: none of its events is in the window */
};

/* What a worker finds, a pass over a range of time, or several of these, added up; and what all of them come
 * to.  Memory of the account.  Zeroed but for account and scope: nothing yet. */
struct sta_overlap_results {
    struct sta_account *account;
    struct sta_scope *scope;
    uint32_t unit_limit, set_count, thread_count; /* unit_limit: all numbers of units are below */
    struct sta_host_span *threads;                /* by thread code */
    struct sta_host_span *spans; /* by unit; where it follows from the threads only once all is there */
    int64_t *swept;              /* by unit: sta_sweep_swept */
    int64_t *counts;             /* by unit, then set: events */
    struct sta_set_sums sets[STA_OVERLAP_MASK_BITS];
    struct sta_sweep_cell *cells; /* in no order; once all is there each once, by unit, then mask */
    size_t cell_count;
    struct sta_sweep_concurrency concurrency[STA_SWEEP_SETS]; /* by set; none of signatures */
    struct sta_sweep_exposed *exposed;                        /* by set, then set; zeros without exposure */
    struct sta_sweep_crossing *crossings; /* of exposure: events that reach out of the ranges */
    size_t crossing_count;
    /* Of all ranges. */
    uint32_t *units; /* those that exist, by key */
    uint32_t unit_count;
    uint32_t *processes;         /* by unit: how many have events in it; of scopes from THREAD to JOB */
    struct sta_host_span *hosts; /* by code of the entities' hosts; one more for a missing host */
};

/* What is wanted beside the sums. */
/** Sees events of the pass, on worker @worker.  A failure ends the pass. */
typedef int (*sta_overlap_see)(void *context, unsigned worker, const struct sta_scan_rows *rows,
                               const struct sta_overlap_events *events, struct sta_error *err);

struct sta_overlap_series;

struct sta_overlap_wants {
    sta_sweep_take take; /* of the intervals of the sweep; NULL: not these */
    void *context;
    struct sta_overlap_series *series; /* takes them in place of that; NULL: there is none */
    const uint8_t *classes;            /* by combination of sets, as of sta_sweep_options; NULL: none */
    bool idle;                         /* also those in which no set is active */
    bool exposure;
    bool concurrency;    /* and the time of each set: what events of it add up to */
    sta_overlap_see see; /* of the events that are swept; NULL: nobody */
};

/** One pass over the events of a binding's request.  sta_overlap_results_fini also after a failure. */
STA_MUSTCHECK int sta_overlap_pass(const struct sta_overlap_binding *binding,
                                   const struct sta_overlap_wants *wants, struct sta_overlap_results *results,
                                   struct sta_error *err);
void sta_overlap_results_fini(struct sta_overlap_results *results);

/* ---- hidden and exposed time over bins of time, which a pass gives to a series */

/** For a request with a granularity.  STA_ELIMIT with parameter /granularity when there would be too many
 * bins.  Destroy also after a failure. */
STA_MUSTCHECK int sta_overlap_series_create(const struct sta_overlap_request *request,
                                            const struct sta_budget *budget,
                                            struct sta_overlap_series **series, struct sta_error *err);
void sta_overlap_series_destroy(struct sta_overlap_series *series); /* NULL allowed */
/** A sta_sweep_take; @series: a struct sta_overlap_series *. */
STA_MUSTCHECK int sta_overlap_series_take(void *series, unsigned worker,
                                          const struct sta_sweep_interval *interval, struct sta_error *err);
/** After the pass, as bytes for another process; ends the series. */
STA_MUSTCHECK int sta_overlap_series_put(struct sta_overlap_series *series, struct sta_buffer *out,
                                         struct sta_error *err);
/** Adds what another range of time has, of the same request. */
STA_MUSTCHECK int sta_overlap_series_get(struct sta_overlap_series *series, struct sta_cursor *in,
                                         struct sta_error *err);
/** After the pass: time_range (bin number), time_start (s), then of each bin, summed over units, the busy
 * time of each set and the three parts of each pair; a row for every bin of the window. */
STA_MUSTCHECK int sta_overlap_series_table(struct sta_overlap_series *series, struct sta_table *table,
                                           struct sta_error *err);

#endif
