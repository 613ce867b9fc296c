/* timelines.h - the timelines that were asked for lately, each made once per version of a trace. */
#ifndef STA_SERVE_TIMELINES_H
#define STA_SERVE_TIMELINES_H

#include "analyse/analyse.h"
#include "timeline/timeline.h"

struct sta_timelines;

/** @account: is charged for what is kept; one that it cannot be charged with is not made. */
struct sta_timelines *sta_timelines_create(struct sta_account *account);
/** Nobody may hold or make one. */
void sta_timelines_destroy(struct sta_timelines *timelines);
/** The timeline of a trace's snapshot, held: release it.  Waits for another thread that makes the same one.
 * @give_way: becomes true when somebody else wants it while the caller makes it: then the budget, whose flag
 * of cancelling it is, ends that.  NULL: the caller gives way to nobody.
 *
 * Return: 0, what sta_timeline_create returns, STA_ECANCELLED or STA_ELIMIT of the budget while waiting.
 * Context: a thread that may wait. */
STA_MUSTCHECK int sta_timelines_get(struct sta_timelines *timelines, const char *trace,
                                    struct sta_snapshot *snapshot, _Atomic bool *give_way,
                                    const struct sta_budget *budget, struct sta_timeline **timeline,
                                    struct sta_error *err);
/** Drops those of a trace: they hold on to its files.  One that is being made is not kept. */
void sta_timelines_forget(struct sta_timelines *timelines, const char *trace);
/** Drops what was used longest ago until about so many bytes are free.  Return: how many are. */
size_t sta_timelines_shrink(struct sta_timelines *timelines, size_t bytes);

#endif
