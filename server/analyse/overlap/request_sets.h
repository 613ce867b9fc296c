/* request_sets.h - the sets of a request, and the preset that it sees the events with (private to
 * overlap). */
#ifndef STA_ANALYSE_OVERLAP_REQUEST_SETS_H
#define STA_ANALYSE_OVERLAP_REQUEST_SETS_H

#include "analyse/overlap/request.h"

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

/** Puts sets in the order in which the older analyser looks (compute, io, app_io), which decides there what
 * an event that satisfies several is.
 * Return: false, and nothing done, when there are others. */
bool sta_overlap_order_phases(struct sta_overlap_request *request);

#endif
