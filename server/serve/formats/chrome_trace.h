/* chrome_trace.h - events in Chrome's trace format, which Perfetto reads too. */
#ifndef STA_SERVE_CHROME_TRACE_H
#define STA_SERVE_CHROME_TRACE_H

#include "analyse/analyse.h"
#include "timeline/timeline.h"

/** Names of processes and tracks, then the events; times in microseconds from the origin. */
void sta_put_chrome_trace(struct sta_buffer *out, const struct sta_timeline_export *export);

#endif
