/* Live traces: which are followed, and what is known of each.
 *
 * DESIGN.  A live trace is brought up to date in steps: small ingests, as jobs, of what is complete of its
 * files. So a step excludes all else that writes the trace, and a version is published as ever.  The record
 * here says when the next step is due; follow.c starts it.  Which traces are live is kept with the store, so
 * that following goes on after a restart.  A trace that is no longer followed stays in the list until the job
 * is queued that reads what is left: lines without an end, members that were cut. */
#include "server/library_live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/memory.h"
#include "server/follow.h"
#include "server/library_private.h"

#define KEPT_NAME "live"
#define RESTING 3 /* times what a step took: the share of time that following takes */
#define LONGEST_REST_NS UINT64_C(5000000000) /* also after a first ingest of minutes */
#define BUSY_NS UINT64_C(300000000)          /* when another writes the trace */
#define MOST_FAILURES 5                      /* the pause doubles with each */

/* ---- the list */

static struct sta_live *find(const struct sta_library *library, const char *id)
{
    struct sta_live *live = library->live;
    while (live != NULL && strcmp(live->id, id) != 0)
        live = live->next;
    return live;
}

static struct sta_live *add(struct sta_library *library, const char *id, int64_t since_us)
{
    struct sta_live *live = sta_alloc(sizeof *live);
    *live = (struct sta_live){.references = 1,
                              .since_us = since_us,
                              .growth = sta_growth_create(library->account),
                              .announced_fd = -1,
                              .changed = true,
                              .grown_ns = uv_hrtime(),
                              .clock_paths = sta_dictionary_create()};
    snprintf(live->id, sizeof live->id, "%s", id);
    live->next = library->live;
    library->live = live;
    return live;
}

static void destroy(struct sta_live *live)
{
    sta_follow_close(live);
    sta_growth_destroy(live->growth);
    sta_listing_fini(&live->listing);
    sta_dictionary_destroy(live->clock_paths);
    free(live->clocks);
    free(live->problem);
    free(live);
}

struct sta_live *sta_live_of(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    struct sta_live *live = find(library, id);
    if (live != NULL && live->ended)
        live = NULL;
    if (live != NULL)
        live->references++;
    uv_mutex_unlock(&library->lock);
    return live;
}

bool sta_library_is_live(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    bool live = find(library, id) != NULL;
    uv_mutex_unlock(&library->lock);
    return live;
}

void sta_live_release(struct sta_library *library, struct sta_live *live)
{
    uv_mutex_lock(&library->lock);
    bool last = --live->references == 0;
    uv_mutex_unlock(&library->lock);
    if (last)
        destroy(live);
}

struct sta_growth *sta_live_growth(struct sta_live *live)
{
    return live->growth;
}

/* Takes it off the list.  Return: whether it was there. */
static bool take_off(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    struct sta_live **at = &library->live;
    while (*at != NULL && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    struct sta_live *live = *at;
    if (live != NULL)
        *at = live->next;
    uv_mutex_unlock(&library->lock);
    if (live != NULL)
        sta_live_release(library, live);
    return live != NULL;
}

/* ---- kept with the store: a line for each, "ID SINCE ENDED" */

static int keep(struct sta_library *library, struct sta_error *err)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    uv_mutex_lock(&library->lock);
    for (const struct sta_live *live = library->live; live != NULL; live = live->next)
        sta_put_format(&text, "%s %" PRId64 " %d\n", live->id, live->since_us, live->ended);
    uv_mutex_unlock(&library->lock);
    int status = sta_store_put_kept(library->store, NULL, 0, KEPT_NAME, text.data != NULL ? text.data : "",
                                    text.size, err);
    sta_buffer_fini(&text);
    return status;
}

static void keep_or_log(struct sta_library *library)
{
    struct sta_error err = STA_ERROR_INIT;
    if (keep(library, &err) != STA_OK)
        sta_log(STA_LOG_ERROR, "Cannot keep which traces are followed", "cause", err.text, NULL);
}

static void load_line(struct sta_library *library, const char *line)
{
    char id[STA_TRACE_ID_SIZE];
    int64_t since_us;
    int ended;
    struct sta_trace_entry entry;
    struct sta_error ignored = STA_ERROR_INIT;
    if (sscanf(line, "%16s %" SCNd64 " %d", id, &since_us, &ended) != 3 ||
        sta_store_find(library->store, id, &entry, &ignored) != STA_OK)
        return; /* removed, as the last thing before the daemon ended */
    sta_trace_entry_fini(&entry);
    add(library, id, since_us)->ended = ended != 0;
    sta_log(STA_LOG_INFO, "Goes on following a trace", "trace", id, NULL);
}

void sta_library_load_live(struct sta_library *library)
{
    char *text = NULL;
    size_t size;
    struct sta_error err = STA_ERROR_INIT;
    int status = sta_store_get_kept(library->store, NULL, 0, KEPT_NAME, &text, &size, &err);
    if (status == STA_OK) {
        char *all = sta_strndup(text, size), *rest = all;
        for (char *line; (line = strsep(&rest, "\n")) != NULL;)
            load_line(library, line);
        free(all);
        free(text);
    } else if (status != STA_ENOTFOUND) {
        sta_log(STA_LOG_ERROR, "Cannot read which traces were followed", "cause", err.text, NULL);
    }
}

void sta_library_stop_following(struct sta_library *library)
{
    sta_follow_stop(library);
    while (library->live != NULL)
        (void)take_off(library, library->live->id);
}

/* ---- beginning and ending */

int sta_live_begin(struct sta_library *library, const char *id, struct sta_error *err)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uv_mutex_lock(&library->lock);
    struct sta_live *live = find(library, id);
    bool followed = live != NULL && !live->ended;
    if (live == NULL)
        live = add(library, id, (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    live->ended = false;
    live->changed = true;
    if (!followed)
        live->grown_ns = uv_hrtime();
    uv_mutex_unlock(&library->lock);
    if (followed)
        return STA_OK;
    int status = keep(library, err);
    if (status != STA_OK)
        (void)take_off(library, id);
    sta_live_wake(library);
    return status;
}

void sta_live_end(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    struct sta_live *live = find(library, id);
    bool ends = live != NULL && !live->ended;
    if (ends)
        live->ended = true;
    uv_mutex_unlock(&library->lock);
    if (!ends)
        return;
    keep_or_log(library);
    sta_live_wake(library);
}

void sta_live_forget(struct sta_library *library, const char *id)
{
    if (take_off(library, id))
        keep_or_log(library);
}

/* ---- what a step found */

/* Under the lock. */
static void note_clocks(struct sta_live *live, const struct sta_ingest_found *found)
{
    for (size_t i = 0; i < found->clock_count; i++) {
        const struct sta_file_clock *clock = &found->clocks[i];
        uint32_t count = sta_dictionary_count(live->clock_paths);
        if (clock->latest_us == INT64_MIN)
            continue;
        uint32_t code = sta_dictionary_intern(live->clock_paths, clock->path, strlen(clock->path));
        if (code == count) {
            STA_GROW(live->clocks, live->clock_capacity, (size_t)count + 1);
            live->clocks[code] = INT64_MIN;
        }
        live->clocks[code] = STA_MAX(live->clocks[code], clock->latest_us);
    }
}

/* Under the lock.  Takes the listing over. */
static void note_listing(struct sta_live *live, struct sta_ingest_found *found, uint64_t now)
{
    if (found->listing.count == 0 && found->listing.folder_count == 0)
        return;
    if (found->published || found->listing.bytes != live->seen_bytes)
        live->grown_ns = now;
    live->seen_bytes = found->listing.bytes;
    sta_listing_fini(&live->listing);
    live->listing = found->listing;
    live->listing_is_new = true;
    found->listing = (struct sta_listing){0};
}

/* Under the lock.  Return: whether there is a problem that was none before. */
static bool note_end(struct sta_live *live, int status, const struct sta_error *err)
{
    bool failed = status != STA_OK && status != STA_EBUSY && status != STA_ECANCELLED;
    bool fresh = failed && (live->problem == NULL || strcmp(live->problem, err->text) != 0);
    live->failures = failed ? STA_MIN(live->failures + 1, MOST_FAILURES) : 0;
    live->changed |= status != STA_OK;
    if (status == STA_OK || failed) {
        free(live->problem);
        live->problem = failed ? sta_strdup(err->text) : NULL;
    }
    return fresh;
}

void sta_live_note(struct sta_library *library, struct sta_live *live, uint64_t started_ns,
                   struct sta_ingest_found *found, int status, const struct sta_error *err)
{
    uint64_t now = uv_hrtime(), interval = library->follow.interval_ns;
    uint64_t rest = STA_MIN(RESTING * (now - started_ns), LONGEST_REST_NS);
    if (found->rewritten > 0)
        sta_log(STA_LOG_WARNING, "Files of a trace that is followed were rewritten; they are read again",
                "trace", live->id, "files", sta_log_int((int64_t)found->rewritten), NULL);
    uv_mutex_lock(&library->lock);
    note_listing(live, found, now);
    note_clocks(live, found);
    bool has_problem = note_end(live, status, err);
    live->rewritten += found->rewritten;
    live->due_ns = STA_MAX(started_ns + (interval << live->failures), now + rest);
    if (status == STA_EBUSY)
        live->due_ns = now + BUSY_NS;
    uv_mutex_unlock(&library->lock);
    if (has_problem)
        sta_log(STA_LOG_WARNING, "A trace that is followed cannot be brought up to date", "trace", live->id,
                "cause", err->text, NULL);
    sta_live_wake(library);
}

/* ---- views */

/* When the earliest of the files' last events begins: up to there the trace is complete. */
static void describe_clock(const struct sta_live *live, struct sta_live_view *view)
{
    view->clock_us = INT64_MIN;
    for (uint32_t i = 0; i < sta_dictionary_count(live->clock_paths); i++) {
        if (view->slowest != NULL && live->clocks[i] >= view->clock_us)
            continue;
        view->clock_us = live->clocks[i];
        free(view->slowest);
        view->slowest = sta_strdup(sta_dictionary_text(live->clock_paths, i).bytes);
    }
}

void sta_live_describe(const struct sta_library *library, struct sta_trace_view *view)
{
    const struct sta_live *live = find(library, view->entry.id);
    if (live == NULL)
        return;
    bool working = view->state == STA_TRACE_INGESTING;
    if (!working)
        view->state = live->ended || !view->published ? STA_TRACE_INGESTING : STA_TRACE_READY;
    if (live->ended)
        return;
    view->live = (struct sta_live_view){.live = true,
                                        .announced = live->announced,
                                        .since_us = live->since_us,
                                        .behind = live->seen_bytes - STA_MIN(view->bytes, live->seen_bytes),
                                        .rewritten = live->rewritten,
                                        .problem = live->problem ? sta_strdup(live->problem) : NULL};
    describe_clock(live, &view->live);
}
