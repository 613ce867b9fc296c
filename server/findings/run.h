/* run.h - the events that a query about a run is about: a preset, a window, a filter (private to
 * findings).
 *
 * findings.md: every part sees the events that overlap the window and satisfy the filter, cut to the window.
 * The parts ask the overlap's pass, each with sets of its own, through a request that begins like this. */
#ifndef STA_FINDINGS_RUN_H
#define STA_FINDINGS_RUN_H

#include "analyse/overlap/pass.h"

struct sta_run {
    struct sta_overlap_query query;  /* without sets; its request is the frame */
    const struct sta_preset *preset; /* NULL: none */
    const struct sta_budget *budget;
    int64_t ticks_per_us;
    struct sta_bound_conditions *bound; /* NULL: none */
    struct sta_arena memory;
};

/** @query: its request gives preset, filters, from, to, filter, rank_groups; other members are left out.
 * @preset: that of the request.  Borrows all; release with sta_run_fini. */
void sta_run_init(struct sta_run *run, const struct sta_overlap_query *query, const struct sta_preset *preset,
                  const struct sta_budget *budget);
void sta_run_fini(struct sta_run *run);
/** The same for a query whose preset must be named, and whose dropping filters are off unless it says
 * otherwise.  Mistakes: STA_EINPUT with parameter /preset.  Release also after a failure. */
STA_MUSTCHECK int sta_run_open(struct sta_run *run, const struct sta_overlap_query *query,
                               const struct sta_budget *budget, struct sta_error *err);

/** Binds conditions that parts of the run ask for, so that events are classified once.  Where that fails,
 * each part binds its own, and says what is wrong with them. */
void sta_run_bind(struct sta_run *run, const char *const *conditions, size_t count);

/** A request of these events, to which members may be added. */
struct sta_document *sta_run_request(struct sta_run *run);
/** A query about sets of these events.  @sets: borrowed; @request: of sta_run_request. */
struct sta_overlap_query sta_run_query(const struct sta_run *run, struct sta_document *request,
                                       const struct sta_named_expression *sets, size_t count);
/** Adds a member. */
void sta_run_add_text(struct sta_run *run, struct sta_document *request, const char *name, const char *text);

/** Ticks as seconds. */
double sta_run_seconds(const struct sta_run *run, __int128 ticks);

#endif
