/* library_live.h - live traces: those whose files are still written, and are followed (private to library).
 */
#ifndef STA_SERVER_LIBRARY_LIVE_H
#define STA_SERVER_LIBRARY_LIVE_H

#include "server/ingest.h"
#include "server/library.h"

struct sta_live; /* one of them; counted references */

/** Reads which traces were followed when the store was open last.  Context: once, before all else. */
void sta_library_load_live(struct sta_library *library);
/** Ends the thread that follows, if it was started; no trace is live any more in memory. */
void sta_library_stop_following(struct sta_library *library);

/** From now on the trace is followed; nothing when it is already.  Context: under `changing`. */
STA_MUSTCHECK int sta_live_begin(struct sta_library *library, const char *id, struct sta_error *err);
/** Forgets a trace that is removed.  Context: under `changing`. */
void sta_live_forget(struct sta_library *library, const char *id);
/** Lets the thread that follows look at what there is to do. */
void sta_live_wake(struct sta_library *library);

/** The trace while it is followed, retained; NULL: it is not. */
struct sta_live *sta_live_of(struct sta_library *library, const char *id);
void sta_live_release(struct sta_library *library, struct sta_live *live);
/** What is known of its files' growth: of its job alone, while that runs. */
struct sta_growth *sta_live_growth(struct sta_live *live);
/** Takes what a job found, whatever its end, and decides when the next one is due.  @started_ns: uv_hrtime */
void sta_live_note(struct sta_library *library, struct sta_live *live, uint64_t started_ns,
                   struct sta_ingest_found *found, int status, const struct sta_error *err);
/** Fills in the view's `live` and `state`.  Context: under `lock`. */
void sta_live_describe(const struct sta_library *library, struct sta_trace_view *view);

#endif
