/* request_sets.h - the sets of a request, and the preset that it sees the events with (private to
 * overlap). */
#ifndef STA_ANALYSE_OVERLAP_REQUEST_SETS_H
#define STA_ANALYSE_OVERLAP_REQUEST_SETS_H

#include "analyse/overlap/request.h"

/** Binds columns and classes, and reads the sets.  @filters: whether the preset's dropping filters apply.
 * Mistakes: STA_EINPUT with parameter /preset, /sets .. or /layers. */
STA_MUSTCHECK int sta_overlap_bind(struct sta_overlap_request *request, bool filters, struct sta_error *err);

/** Puts sets in the order in which the older analyser looks (compute, io, app_io), which decides there what
 * an event that satisfies several is.
 * Return: false, and nothing done, when there are others. */
bool sta_overlap_order_phases(struct sta_overlap_request *request);

#endif
