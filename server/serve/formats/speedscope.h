/* speedscope.h - stacks as the document that the viewer speedscope reads. */
#ifndef STA_SERVE_SPEEDSCOPE_H
#define STA_SERVE_SPEEDSCOPE_H

#include "analyse/analyse.h"
#include "timeline/timeline.h"

#define STA_STACKS_WHAT "the stacks as text, of which depth and min_share leave fewer"

/** A sampled profile for each group; frames are shared and sorted by their bytes.  Return: 0; STA_ELIMIT,
 * STA_EBUSY or STA_ENOMEM when the account of the stacks has no space for the frames or the document; or as
 * sta_budget_check. */
STA_MUSTCHECK int sta_put_speedscope(struct sta_buffer *out, const struct sta_timeline_stacks *stacks,
                                     const struct sta_budget *budget, struct sta_error *err);

#endif
