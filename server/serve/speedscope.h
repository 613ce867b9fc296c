/* speedscope.h - stacks as the document that the viewer speedscope reads. */
#ifndef STA_SERVE_SPEEDSCOPE_H
#define STA_SERVE_SPEEDSCOPE_H

#include "analyse/analyse.h"

/** A sampled profile for each group; frames are shared and sorted by their bytes. */
void sta_put_speedscope(struct sta_buffer *out, const struct sta_timeline_stacks *stacks);

#endif
