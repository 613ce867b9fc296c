/* The thread that looks for growth of live traces and starts their steps.
 *
 * DESIGN.  Where the system announces changes, the thread waits for that, and looks by itself now and then,
 * since a change through a mapping is not announced; elsewhere it looks at sizes and times every
 * `follow_poll` seconds.  Whatever changed, a step is a job of the kind "follow", at most one per
 * `follow_interval` and trace: many small writes make one version.  The thread itself reads no file. */
#include "server/follow.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"
#include "server/announced.h"
#include "server/library_private.h"

#define SELDOM_NS UINT64_C(10000000000) /* between looks where changes are announced */
#define RESTING 50                      /* times what a look took */
#define AGAIN_NS UINT64_C(100000000)    /* when a step could not be started */

void sta_follow_close(struct sta_live *live)
{
    if (live->announced_fd >= 0)
        close(live->announced_fd);
    live->announced_fd = -1;
}

void sta_live_wake(struct sta_library *library)
{
    uint64_t one = 1;
    if (library->follow.wake_fd >= 0)
        (void)!write(library->follow.wake_fd, &one, sizeof one);
}

/* ---- one trace */

/* What the thread knows of a trace when it attends to it. */
struct attending {
    struct sta_library *library;
    struct sta_live *live;
    const char *path;
    uint64_t now; /* uv_hrtime */
};

static void watch(const struct attending *at, const struct sta_listing *listing)
{
    struct sta_live *live = at->live;
    struct sta_roots *roots = at->library->roots;
    if (live->announced_fd < 0 && !at->library->follow.polls)
        live->announced_fd = sta_announced_open(roots, at->path);
    bool announced =
        live->announced_fd >= 0 && sta_announced_watch(live->announced_fd, listing, roots, at->path);
    uv_mutex_lock(&at->library->lock);
    live->announced = announced;
    uv_mutex_unlock(&at->library->lock);
}

/* Looks at the files of the last listing, and watches its folders. */
static void look(const struct attending *at)
{
    struct sta_live *live = at->live;
    struct sta_library *library = at->library;
    uv_mutex_lock(&library->lock);
    struct sta_listing listing = live->listing;
    bool is_new = live->listing_is_new;
    live->listing = (struct sta_listing){0};
    live->listing_is_new = false;
    uv_mutex_unlock(&library->lock);
    if (is_new)
        watch(at, &listing);
    bool outdated = sta_listing_is_outdated(&listing, library->roots, at->path);
    uint64_t now = uv_hrtime();
    uv_mutex_lock(&library->lock);
    live->changed |= outdated;
    live->look_ns =
        now + STA_MAX(live->announced ? SELDOM_NS : library->follow.poll_ns, RESTING * (now - at->now));
    if (live->listing_is_new) { /* a step has ended meanwhile */
        uv_mutex_unlock(&library->lock);
        sta_listing_fini(&listing);
        return;
    }
    live->listing = listing;
    uv_mutex_unlock(&library->lock);
}

/* Queues a step; after the last one the trace is off the list.  Return: whether that was possible. */
static bool start_step(const struct attending *at, bool last)
{
    struct sta_library *library = at->library;
    struct sta_job_view job;
    char id[STA_JOB_ID_SIZE];
    struct sta_error ignored = STA_ERROR_INIT;
    uv_mutex_lock(&library->changing);
    bool started =
        !sta_jobs_of_trace(library->jobs, at->live->id, &job) &&
        sta_library_start_job(library, at->live->id, last ? "refresh" : "follow", id, &ignored) == STA_OK;
    if (started && last)
        sta_live_forget(library, at->live->id);
    uv_mutex_unlock(&library->changing);
    return started;
}

/* A step is wanted, and due. */
static void take_step(const struct attending *at)
{
    struct sta_live *live = at->live;
    struct sta_library *library = at->library;
    uv_mutex_lock(&library->lock);
    live->changed = false; /* what changes from now on is for the next one */
    live->due_ns = at->now + library->follow.interval_ns;
    uv_mutex_unlock(&library->lock);
    if (start_step(at, false))
        return;
    uv_mutex_lock(&library->lock);
    live->changed = true;
    live->due_ns = at->now + AGAIN_NS;
    uv_mutex_unlock(&library->lock);
}

static void end_quiet(const struct attending *at)
{
    sta_log(STA_LOG_INFO,
            "Follows a trace no longer, since its files have not grown for follow_quiet seconds", "trace",
            at->live->id, "path", at->path, NULL);
    uv_mutex_lock(&at->library->changing);
    sta_live_end(at->library, at->live->id);
    uv_mutex_unlock(&at->library->changing);
}

enum wanted { WANT_NOTHING, WANT_LAST_STEP, WANT_LOOK, WANT_STEP, WANT_END };

/* Under the lock.  What is to be done now; *next: when to attend to it if that is nothing. */
static enum wanted wanted_now(const struct attending *at, uint64_t *next)
{
    const struct sta_live *live = at->live;
    uint64_t quiet = at->library->follow.quiet_ns;
    uint64_t end = quiet > 0 ? live->grown_ns + quiet : UINT64_MAX;
    *next = live->changed ? live->due_ns : STA_MIN(live->look_ns, end);
    if (live->ended)
        return WANT_LAST_STEP;
    if (live->listing_is_new)
        return WANT_LOOK;
    if (*next > at->now)
        return WANT_NOTHING;
    return live->changed ? WANT_STEP : at->now >= end ? WANT_END : WANT_LOOK;
}

/* Return: when to attend to it next. */
static uint64_t attend_listed(struct attending *at)
{
    uint64_t next = 0;
    for (;;) {
        at->now = uv_hrtime();
        uv_mutex_lock(&at->library->lock);
        enum wanted wanted = wanted_now(at, &next);
        uv_mutex_unlock(&at->library->lock);
        switch (wanted) {
        case WANT_NOTHING:
            return next;
        case WANT_LAST_STEP:
            return start_step(at, true) ? UINT64_MAX : at->now + AGAIN_NS;
        case WANT_LOOK:
            look(at);
            break;
        case WANT_STEP:
            take_step(at);
            break;
        case WANT_END:
            end_quiet(at);
            break;
        }
    }
}

static uint64_t attend(struct sta_library *library, struct sta_live *live)
{
    struct sta_trace_entry entry;
    struct sta_error ignored = STA_ERROR_INIT;
    if (sta_store_find(library->store, live->id, &entry, &ignored) != STA_OK)
        return UINT64_MAX; /* it is being removed */
    struct attending at = {library, live, entry.path, 0};
    uint64_t next = attend_listed(&at);
    sta_trace_entry_fini(&entry);
    return next;
}

/* ---- the thread */

/* The traces of the list, retained; free() the array. */
static struct sta_live **retain_all(struct sta_library *library, size_t *count)
{
    *count = 0;
    uv_mutex_lock(&library->lock);
    for (struct sta_live *live = library->live; live != NULL; live = live->next)
        ++*count;
    struct sta_live **all = sta_alloc_array(*count, sizeof(struct sta_live *));
    size_t i = 0;
    for (struct sta_live *live = library->live; live != NULL; live = live->next) {
        live->references++;
        all[i++] = live;
    }
    uv_mutex_unlock(&library->lock);
    return all;
}

/* Until something is announced, somebody wakes the thread, or it is time.  A trace that is due anyway is not
 * waited for. */
static void wait_for_change(struct sta_library *library, struct sta_live *const *all, size_t count,
                            uint64_t until)
{
    struct pollfd *fds = sta_alloc_array(count + 1, sizeof *fds);
    uint64_t now = uv_hrtime(), ignored;
    int timeout = until == UINT64_MAX ? -1
                  : until <= now      ? 0
                                      : (int)STA_MIN((until - now) / 1000000 + 1, UINT64_C(60000));
    fds[count] = (struct pollfd){.fd = library->follow.wake_fd, .events = POLLIN};
    uv_mutex_lock(&library->lock);
    for (size_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = all[i]->changed ? -1 : all[i]->announced_fd, .events = POLLIN};
    uv_mutex_unlock(&library->lock);
    if (poll(fds, count + 1, timeout) > 0) {
        (void)!read(library->follow.wake_fd, &ignored, sizeof ignored);
        for (size_t i = 0; i < count; i++)
            if (fds[i].revents != 0 && sta_announced_take(fds[i].fd)) {
                uv_mutex_lock(&library->lock);
                all[i]->changed = true;
                uv_mutex_unlock(&library->lock);
            }
    }
    free(fds);
}

static void follow_main(void *argument)
{
    struct sta_library *library = argument;
    while (!library->stopping) {
        size_t count;
        uint64_t next = UINT64_MAX;
        struct sta_live **all = retain_all(library, &count);
        for (size_t i = 0; i < count && !library->stopping; i++)
            next = STA_MIN(next, attend(library, all[i]));
        if (!library->stopping)
            wait_for_change(library, all, count, next);
        for (size_t i = 0; i < count; i++)
            sta_live_release(library, all[i]);
        free(all);
    }
}

void sta_follow_start(struct sta_library *library)
{
    library->follow.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    library->follow.runs =
        library->follow.wake_fd >= 0 && uv_thread_create(&library->follow.thread, follow_main, library) == 0;
    if (!library->follow.runs)
        sta_log(STA_LOG_ERROR, "Cannot follow traces: the thread does not start", "cause", strerror(errno),
                NULL);
}

void sta_follow_stop(struct sta_library *library)
{
    sta_library_stop(library);
    if (library->follow.runs)
        uv_thread_join(&library->follow.thread);
    if (library->follow.wake_fd >= 0)
        close(library->follow.wake_fd);
    library->follow.wake_fd = -1;
    library->follow.runs = false;
}
