/* A short list in LRU order.  A thread that makes a timeline puts a mark into it, for which others wait.  One
 * that no request needs is made at low priority: others do not wait for it, but cancel it and make their own.
 */
#include "serve/responses/timelines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/memory.h"
#include "timeline/timeline.h"

#define KEPT 16
#define LOOK_MS 50 /* between two looks at the budget of one who waits */

struct kept {
    char trace[STA_TRACE_ID_SIZE];
    const struct sta_snapshot *snapshot; /* a name alone while the timeline, which holds it, is not there */
    uint64_t version;
    struct sta_timeline *timeline; /* NULL: being made */
    bool forgotten;                /* while it is made: not to be kept */
    _Atomic bool *give_way;        /* while it is made by one who gives way: ends that; else NULL */
};

struct sta_timelines {
    struct sta_account *account;
    pthread_mutex_t lock;
    pthread_cond_t made;
    struct kept items[KEPT];
    size_t count;
};

struct sta_timelines *sta_timelines_create(struct sta_account *account)
{
    struct sta_timelines *timelines = sta_alloc(sizeof *timelines);
    timelines->account = account;
    pthread_mutex_init(&timelines->lock, NULL);
    pthread_cond_init(&timelines->made, NULL);
    return timelines;
}

void sta_timelines_destroy(struct sta_timelines *timelines)
{
    (void)sta_timelines_shrink(timelines, SIZE_MAX);
    STA_ASSERT(timelines->count == 0);
    pthread_cond_destroy(&timelines->made);
    pthread_mutex_destroy(&timelines->lock);
    free(timelines);
}

static struct kept remove_item(struct sta_timelines *timelines, size_t at)
{
    struct kept item = timelines->items[at];
    timelines->count--;
    memmove(&timelines->items[at], &timelines->items[at + 1], (timelines->count - at) * sizeof item);
    return item;
}

static void put_first(struct sta_timelines *timelines, struct kept item)
{
    memmove(&timelines->items[1], &timelines->items[0], timelines->count * sizeof item);
    timelines->items[0] = item;
    timelines->count++;
}

/* Index of a snapshot's item, or count. */
static size_t find(const struct sta_timelines *timelines, const struct sta_snapshot *snapshot)
{
    size_t at = 0;
    uint64_t version = sta_snapshot_info(snapshot)->version;
    while (at < timelines->count &&
           (timelines->items[at].snapshot != snapshot || timelines->items[at].version != version))
        at++;
    return at;
}

/* Takes out the one that was used longest ago and is made; NULL: there is none. */
static struct sta_timeline *take_oldest(struct sta_timelines *timelines)
{
    for (size_t at = timelines->count; at-- > 0;)
        if (timelines->items[at].timeline != NULL)
            return remove_item(timelines, at).timeline;
    return NULL;
}

/* Waits a moment for those who make one.  Holds the lock before and after, but not while the budget is looked
 * at: an account that is short of memory shrinks these timelines, which takes the lock. */
static int wait_a_moment(struct sta_timelines *timelines, const struct sta_budget *budget,
                         struct sta_error *err)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&timelines->made, &timelines->lock, &until);
    pthread_mutex_unlock(&timelines->lock);
    int rc = sta_budget_check(budget, err);
    pthread_mutex_lock(&timelines->lock);
    return rc;
}

/* Waits for who makes an item, or, with @at = count, for a free place. */
static int wait_for(struct sta_timelines *timelines, size_t at, bool gives_way,
                    const struct sta_budget *budget, struct sta_error *err)
{
    if (at < timelines->count && timelines->items[at].give_way != NULL && !gives_way)
        atomic_store(timelines->items[at].give_way, true);
    return wait_a_moment(timelines, budget, err);
}

/* Finds a timeline, held, or puts a mark that the caller makes it (*timeline NULL). */
static int claim(struct sta_timelines *timelines, const char *trace, struct sta_snapshot *snapshot,
                 _Atomic bool *give_way, const struct sta_budget *budget, struct sta_timeline **timeline,
                 struct sta_error *err)
{
    struct sta_timeline *dropped = NULL;
    int rc = 0;
    *timeline = NULL;
    pthread_mutex_lock(&timelines->lock);
    size_t at = find(timelines, snapshot);
    while (rc == 0 && (at < timelines->count ? timelines->items[at].timeline == NULL
                                             : timelines->count == KEPT && dropped == NULL)) {
        if (at == timelines->count && (dropped = take_oldest(timelines)) != NULL)
            break;
        rc = wait_for(timelines, at, give_way != NULL, budget, err);
        at = find(timelines, snapshot);
    }
    if (rc == 0) {
        at = find(timelines, snapshot);
        struct kept item = {
            .snapshot = snapshot, .version = sta_snapshot_info(snapshot)->version, .give_way = give_way};
        snprintf(item.trace, sizeof item.trace, "%s", trace);
        if (at < timelines->count) {
            item = remove_item(timelines, at);
            *timeline = sta_timeline_retain(item.timeline);
        }
        put_first(timelines, item);
    }
    pthread_mutex_unlock(&timelines->lock);
    sta_timeline_release(dropped);
    return rc;
}

int sta_timelines_get(struct sta_timelines *timelines, const char *trace, struct sta_snapshot *snapshot,
                      _Atomic bool *give_way, const struct sta_budget *budget, struct sta_timeline **timeline,
                      struct sta_error *err)
{
    int rc = claim(timelines, trace, snapshot, give_way, budget, timeline, err);
    if (rc != 0 || *timeline != NULL)
        return rc;
    rc = sta_timeline_create(snapshot, timelines->account, budget, timeline, err);
    pthread_mutex_lock(&timelines->lock);
    size_t at = find(timelines, snapshot);
    STA_ASSERT(at < timelines->count);
    timelines->items[at].give_way = NULL;
    if (rc == 0 && !timelines->items[at].forgotten)
        timelines->items[at].timeline = sta_timeline_retain(*timeline);
    else
        remove_item(timelines, at);
    pthread_cond_broadcast(&timelines->made);
    pthread_mutex_unlock(&timelines->lock);
    return rc;
}

static struct sta_timeline *take_one(struct sta_timelines *timelines)
{
    pthread_mutex_lock(&timelines->lock);
    struct sta_timeline *timeline = take_oldest(timelines);
    pthread_mutex_unlock(&timelines->lock);
    return timeline;
}

/* Takes out a made one of a trace, and marks those that are being made; NULL: there is none. */
static struct sta_timeline *take_of_trace(struct sta_timelines *timelines, const char *trace)
{
    struct sta_timeline *timeline = NULL;
    pthread_mutex_lock(&timelines->lock);
    for (size_t at = timelines->count; at-- > 0 && timeline == NULL;) {
        if (strcmp(timelines->items[at].trace, trace) != 0)
            continue;
        if (timelines->items[at].timeline != NULL)
            timeline = remove_item(timelines, at).timeline;
        else
            timelines->items[at].forgotten = true;
    }
    pthread_mutex_unlock(&timelines->lock);
    return timeline;
}

void sta_timelines_forget(struct sta_timelines *timelines, const char *trace)
{
    for (struct sta_timeline *timeline; (timeline = take_of_trace(timelines, trace)) != NULL;)
        sta_timeline_release(timeline);
}

size_t sta_timelines_shrink(struct sta_timelines *timelines, size_t bytes)
{
    size_t freed = 0;
    for (struct sta_timeline *timeline; freed < bytes && (timeline = take_one(timelines)) != NULL;) {
        freed += sta_timeline_bytes(timeline);
        sta_timeline_release(timeline);
    }
    return freed;
}
