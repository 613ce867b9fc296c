/* attribution_request.h - the member `attribution` of a request (private to findings). */
#ifndef STA_FINDINGS_ATTRIBUTION_REQUEST_H
#define STA_FINDINGS_ATTRIBUTION_REQUEST_H

#include "findings/attribution.h"

/** Mistakes: STA_EINPUT with a parameter below /attribution, or /sets.  sta_attribution_fini also after a
 * failure. */
STA_MUSTCHECK int sta_attribution_read(struct sta_run *run, const struct sta_document *request,
                                       struct sta_attribution *asked, struct sta_error *err);

#endif
