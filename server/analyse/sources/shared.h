/* shared.h - what queries that other processes work on have in common, as bytes (private to analyse).
 *
 * DESIGN.  The bytes say what the request says, not what was planned: every process makes the same plan of
 * it, against the same version and presets. */
#ifndef STA_ANALYSE_SOURCES_SHARED_H
#define STA_ANALYSE_SOURCES_SHARED_H

#include "analyse/analyse.h"
#include "analyse/sources/ranges.h"

/* What a query is: its first four bytes. */
enum sta_shared_kind { STA_SHARED_GROUPS, STA_SHARED_EXACT, STA_SHARED_OVERLAP, STA_SHARED_ROWS };

void sta_shared_put_trace(struct sta_buffer *out, const struct sta_snapshot *snapshot);
/** The version that the bytes name, retained.  Return: 0, STA_ECORRUPT, or what @host says. */
STA_MUSTCHECK int sta_shared_get_trace(const struct sta_share_host *host, struct sta_cursor *in,
                                       struct sta_snapshot **snapshot, struct sta_error *err);

/** A text, or none. */
void sta_shared_put_text(struct sta_buffer *out, const char *text);
/** Into @memory; NULL: none. */
const char *sta_shared_get_text(struct sta_cursor *in, struct sta_arena *memory);

/** A double, bit by bit. */
void sta_shared_put_number(struct sta_buffer *out, double number);
double sta_shared_get_number(struct sta_cursor *in);

/** A number below @limit; a failure of the cursor when it is not. */
uint64_t sta_shared_get_index(struct sta_cursor *in, uint64_t limit);

/** STA_ECORRUPT: the bytes are none that this program writes. */
int sta_shared_fail(struct sta_error *err);

/* A query of which each process measures a range of time.  All zero: no other process takes part. */
struct sta_shared_time {
    const struct sta_budget *budget;
    struct sta_shared *query;      /* NULL: no other process takes part */
    struct sta_time_range *ranges; /* by rank */
};

/** Asks the other processes of the budget.  @shared: stays as it was, all zero, when one range would be
 * most of @scan, or the query cannot be sent. */
void sta_shared_time_send(struct sta_shared_time *shared, const struct sta_budget *budget,
                          const struct sta_scan *scan, const struct sta_buffer *query);
/** Ends the work of other processes on it. */
void sta_shared_time_end(struct sta_shared_time *shared);
unsigned sta_shared_time_count(const struct sta_shared_time *shared); /* of ranges; 1: it is not shared */
struct sta_time_range sta_shared_time_range(const struct sta_shared_time *shared, unsigned rank);
/** The state of rank @rank; *state: valid until the end.  Return: 0; STA_EOUTDATED: its range is to be
 * measured here; STA_ECANCELLED, STA_ELIMIT. */
STA_MUSTCHECK int sta_shared_time_take(const struct sta_shared_time *shared, unsigned rank,
                                       struct sta_cursor *state, struct sta_error *err);

#endif
