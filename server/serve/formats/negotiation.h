/* negotiation.h - in which form a table is sent, and what its file is called. */
#ifndef STA_SERVE_NEGOTIATION_H
#define STA_SERVE_NEGOTIATION_H

#include "serve/responses/views.h"

/** Makes the form that the Accept header prefers the default of the parameter format, where the route has
 * one and the request does not name one.  Nothing that fits: JSON, as without the header. */
void sta_negotiation_choose(struct sta_call *call);

/** The value of the parameter called format that the route has; NULL: it has none. */
const char *sta_negotiation_format(const struct sta_call *call);

/** Adds Content-Disposition to a success that is no JSON: "attachment; filename="unet3d-summary.csv"".
 * Context: HTTP thread; the view is read. */
void sta_negotiation_name(struct sta_call *call, const struct sta_view *view);

#endif
