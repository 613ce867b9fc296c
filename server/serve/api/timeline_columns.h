/* timeline_columns.h - the boxes and the density of the timeline as JSON, by columns. */
#ifndef STA_SERVE_TIMELINE_COLUMNS_H
#define STA_SERVE_TIMELINE_COLUMNS_H

#include "analyse/analyse.h"
#include "common/buffer.h"
#include "timeline/timeline.h"

/** A text in quotes, null when it is missing. */
void sta_put_text_value(struct sta_buffer *out, struct sta_text text);
void sta_put_timeline_events(struct sta_buffer *out, const struct sta_timeline_columns *columns);
void sta_put_timeline_density(struct sta_buffer *out, const struct sta_timeline_columns *columns);

#endif
