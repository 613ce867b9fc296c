/* request.h - a request for overlap, checked against a trace (private to overlap).
 *
 * overlap.md sections 3 and 4.  Everything that can be wrong with a request is found here, before a row is
 * read. */
#ifndef STA_ANALYSE_OVERLAP_REQUEST_H
#define STA_ANALYSE_OVERLAP_REQUEST_H

#include "analyse/analyse.h"
#include "analyse/layers/classify.h"
#include "analyse/sources/columns.h"
#include "analyse/intervals/sweep.h"
#include "analyse/overlap/scope.h"
#include "analyse/overlap/signatures.h"

#define STA_OVERLAP_SETS STA_SWEEP_SETS
#define STA_OVERLAP_MASK_BITS STA_SWEEP_MASK_BITS /* of a mask: sets, or signatures */

enum sta_overlap_call { STA_OVERLAP_TOTALS, STA_OVERLAP_INTERVALS, STA_OVERLAP_COMPATIBLE };

struct sta_overlap_set {
    const char *name;
    const char *text;                  /* the condition */
    struct sta_expression *expression; /* NULL: it is that of .. */
    uint32_t layer_bit;                /* .. this layer of the classes */
};

/* Columns of intervals: their times, then the keys of the scope. */
enum { STA_INTERVAL_START, STA_INTERVAL_END, STA_INTERVAL_TIME, STA_INTERVAL_KEYS };

struct sta_overlap_order {
    size_t column;
    bool descending;
};

struct sta_overlap_request {
    enum sta_overlap_call call;
    const struct sta_overlap_query *query;
    const struct sta_document *document;
    bool borrows; /* columns and classes are those of the query's bound conditions */
    struct sta_columns *columns;
    struct sta_classes *classes; /* NULL: no preset drops events and no set is a layer */
    int64_t ticks_per_us;

    struct sta_overlap_set sets[STA_OVERLAP_MASK_BITS];
    uint32_t set_count;
    struct sta_set_signatures *signatures; /* the sets are these, and have nothing else; NULL: they are not */
    uint32_t layers_left_out;              /* of a preset with more layers than sets */
    bool first_only; /* COMPATIBLE: an event is in the first set that holds, and in no other */
    struct sta_scope_request scope;
    struct sta_expression *filter;
    int64_t from, to; /* ticks; INT64_MIN, INT64_MAX when open */
    bool exposure, explain;
    int64_t granularity; /* ticks; 0: no series (of COMPATIBLE always set) */
    bool intervals;      /* COMPATIBLE: the variant */

    struct sta_expression *where; /* INTERVALS: over the names of the sets and `idle` */
    struct sta_overlap_order *order;
    size_t order_count;
    uint32_t longest; /* INTERVALS: no more than so many, the longest ones; 0: all */
    uint32_t events;  /* INTERVALS: so many shown of each; 0: none */

    struct sta_arena memory;
};

/** Reads and checks; release also after a failure.  Return: 0, STA_EINPUT or STA_ELIMIT with parameter and
 * position, STA_ENOMEM, STA_ECORRUPT. */
STA_MUSTCHECK int sta_overlap_request_read(struct sta_overlap_request *request,
                                           const struct sta_overlap_query *query, bool listing,
                                           struct sta_error *err);
void sta_overlap_request_release(struct sta_overlap_request *request);

/** As requests and results name scopes that are no expressions; by kind. */
extern const char *const sta_scope_words[];
/** The number of the set of that name; set_count: there is none. */
uint32_t sta_overlap_find_set(const struct sta_overlap_request *request, const char *name);
/** A scan over the request's events: its filter, and the row groups of its window. */
struct sta_scan;
struct sta_scan sta_overlap_scan(const struct sta_overlap_request *request);
/** Ticks as seconds: the nearest double, or next to it when they do not fit 64 bits. */
double sta_overlap_seconds(const struct sta_overlap_request *request, __int128 ticks);

/* ---- the sets, and the preset that a request sees the events with */

/** Binds columns and classes, and reads the sets.  @filters: whether the preset's dropping filters apply.
 * Mistakes: STA_EINPUT with parameter /preset, /sets .. or /layers. */
STA_MUSTCHECK int sta_overlap_bind(struct sta_overlap_request *request, bool filters, struct sta_error *err);

/* Conditions as presets have them, bound once for many queries about the same events. */
struct sta_bound_conditions;
#define STA_BOUND_CONDITIONS STA_SIGNATURE_CONDITIONS

/**
 * sta_bound_conditions_create - columns and classes of a preset whose layers are these conditions
 * @conditions: at most STA_BOUND_CONDITIONS; borrowed, as is @preset
 * @filters: as of sta_overlap_bind; only queries with the same use them
 * Events are classified once, however many passes read them.  Return: as sta_classes_create.
 */
STA_MUSTCHECK int sta_bound_conditions_create(const struct sta_overlap_query *query,
                                              const struct sta_preset *preset, const char *const *conditions,
                                              size_t count, bool filters, struct sta_bound_conditions **bound,
                                              struct sta_error *err);
void sta_bound_conditions_destroy(struct sta_bound_conditions *bound); /* NULL allowed */

/** Puts sets in the order in which DFTracer's analyser tests them (compute, io, app_io), which decides there
 * what an event that satisfies several is. Return: false, and nothing done, when there are others. */
bool sta_overlap_order_phases(struct sta_overlap_request *request);

#endif
