/* Ranks and their workers: of each rank group the one thread that computes, and the others that make
 * samples. */
#include <stdlib.h>
#include <string.h>

#include "simulate/extract.h"

/* Events that overlap on one thread become one, in place: what lies inside another is dropped, and one that
 * ends later than the one before lengthens that. */
static void keep_outermost(struct sta_role_thread *thread, enum sta_event_role role)
{
    struct sta_role_event *events = thread->events[role];
    size_t kept = 0;
    for (size_t i = 0; i < thread->counts[role]; i++) {
        if (kept == 0 || events[i].ts >= events[kept - 1].te)
            events[kept++] = events[i];
        else if (events[i].te > events[kept - 1].te)
            events[kept - 1].te = events[i].te;
    }
    thread->counts[role] = kept;
}

/* A child that a fork returned, and when. */
struct fork_call {
    uint32_t host;
    int64_t child, ts;
};

static int by_child(const void *a, const void *b, void *context)
{
    const struct fork_call *x = a, *y = b;
    (void)context;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->child != y->child)
        return x->child < y->child ? -1 : 1;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

static int collect_forks(const struct sta_extraction *extraction, struct fork_call **forks, size_t *count,
                         struct sta_error *err)
{
    const struct sta_role_events *events = extraction->events;
    *count = 0;
    for (uint32_t t = 0; t < events->thread_count; t++)
        *count += events->threads[t].counts[STA_EVENT_FORK];
    *forks = sta_account_alloc(extraction->budget->account, *count + 1, sizeof **forks, "forks", err);
    if (*forks == NULL)
        return err->status;
    size_t at = 0;
    for (uint32_t t = 0; t < events->thread_count; t++) {
        const struct sta_role_thread *thread = &events->threads[t];
        for (size_t i = 0; i < thread->counts[STA_EVENT_FORK]; i++)
            if (thread->events[STA_EVENT_FORK][i].value > 0)
                (*forks)[at++] =
                    (struct fork_call){thread->host_number, thread->events[STA_EVENT_FORK][i].value,
                                       thread->events[STA_EVENT_FORK][i].ts};
    }
    *count = at;
    return sta_sort(extraction->budget, *forks, at, sizeof **forks, by_child, NULL, err);
}

/* When a thread was forked; INT64_MAX: not known. */
static int64_t forked_at(const struct fork_call *forks, size_t count, const struct sta_role_thread *thread)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool before = forks[middle].host != thread->host_number ? forks[middle].host < thread->host_number
                                                                : forks[middle].child < thread->tid;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < count && forks[low].host == thread->host_number && forks[low].child == thread->tid;
    return found ? forks[low].ts : INT64_MAX;
}

/* A thread that makes samples or computes. */
struct member {
    struct sta_role_thread *thread;
    int64_t forked;
};

/* Groups side by side; in each, who computes first, then workers by fork, tid, pid. */
static int by_group(const void *a, const void *b, void *context)
{
    const struct member *x = a, *y = b;
    const struct sta_role_thread *s = x->thread, *t = y->thread;
    (void)context;
    if (s->group != t->group)
        return s->group < t->group ? -1 : 1;
    bool left = s->counts[STA_EVENT_COMPUTE] > 0, right = t->counts[STA_EVENT_COMPUTE] > 0;
    if (left != right)
        return left ? -1 : 1;
    if (x->forked != y->forked)
        return x->forked < y->forked ? -1 : 1;
    if (s->tid != t->tid)
        return s->tid < t->tid ? -1 : 1;
    return (s->pid > t->pid) - (s->pid < t->pid);
}

static int collect_members(const struct sta_extraction *extraction, struct member **members, size_t *count,
                           struct sta_error *err)
{
    struct sta_role_events *events = extraction->events;
    struct sta_account *account = extraction->budget->account;
    struct fork_call *forks;
    size_t fork_count;
    int rc = collect_forks(extraction, &forks, &fork_count, err);
    *count = 0;
    *members = rc != STA_OK ? NULL
                            : sta_account_alloc(account, (size_t)events->thread_count + 1, sizeof **members,
                                                "threads", err);
    for (uint32_t t = 0; *members != NULL && t < events->thread_count; t++) {
        struct sta_role_thread *thread = &events->threads[t];
        if (thread->counts[STA_EVENT_COMPUTE] > 0 || thread->counts[STA_EVENT_ITEM] > 0)
            (*members)[(*count)++] = (struct member){thread, forked_at(forks, fork_count, thread)};
    }
    sta_account_free(account, forks);
    if (*members == NULL)
        return rc != STA_OK ? rc : err->status;
    return sta_sort(extraction->budget, *members, *count, sizeof **members, by_group, NULL, err);
}

/* One group: its rank, unless it has none; *lost counts threads without one. */
static int take_group(struct sta_extraction *extraction, const struct member *members, size_t count,
                      size_t *lost, size_t *used, struct sta_error *err)
{
    struct sta_role_thread *first = members[0].thread;
    if (first->counts[STA_EVENT_COMPUTE] == 0) {
        *lost += count;
        return STA_OK;
    }
    if (count > 1 && members[1].thread->counts[STA_EVENT_COMPUTE] > 0)
        return sta_model_refuse(
            err, "compute-threads",
            "the process group of pid %lld computes in several threads: which of them waits for "
            "data is not known",
            (long long)first->pid);
    struct sta_rank_source *source = &extraction->sources[extraction->model->rank_count++];
    *source = (struct sta_rank_source){first, &extraction->workers[*used], 0};
    for (size_t i = 1; i < count; i++)
        source->workers[source->worker_count++] = members[i].thread;
    *used += source->worker_count;
    return STA_OK;
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct sta_role_thread *x = ((const struct sta_rank_source *)a)->thread;
    const struct sta_role_thread *y = ((const struct sta_rank_source *)b)->thread;
    (void)context;
    int hosts = sta_text_order(x->host, y->host);
    if (hosts != 0)
        return hosts;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static int take_groups(struct sta_extraction *extraction, const struct member *members, size_t count,
                       struct sta_error *err)
{
    size_t lost = 0, used = 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && members[end].thread->group == members[first].thread->group)
            end++;
        if (take_group(extraction, members + first, end - first, &lost, &used, err) != STA_OK)
            return err->status;
    }
    if (extraction->model->rank_count == 0)
        return sta_model_refuse(
            err, "no-compute",
            "there are no compute events: the model needs the time that each step computes");
    if (lost > 0)
        return sta_model_refuse(
            err, "orphans",
            "%zu threads make samples but belong to no process that computes (no parent is "
            "stated and no fork was seen)",
            lost);
    return STA_OK;
}

static int name_ranks(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    model->ranks = sta_account_calloc(model->account, model->rank_count, sizeof *model->ranks, "ranks", err);
    if (model->ranks == NULL)
        return err->status;
    for (size_t r = 0; r < model->rank_count; r++) {
        const struct sta_role_thread *thread = extraction->sources[r].thread;
        model->ranks[r] = (struct sta_model_rank){
            .host_number = thread->host_number, .pid = thread->pid, .tid = thread->tid};
        if (thread->host_number != STA_NO_CODE)
            model->ranks[r].host = sta_strndup(thread->host.bytes, thread->host.length);
    }
    return STA_OK;
}

int sta_extract_ranks(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_role_events *events = extraction->events;
    struct sta_account *account = extraction->budget->account;
    struct member *members;
    size_t count;
    static const enum sta_event_role merged[] = {STA_EVENT_COMPUTE, STA_EVENT_ITEM, STA_EVENT_EPOCH};
    for (uint32_t t = 0; t < events->thread_count; t++)
        for (size_t i = 0; i < STA_COUNT_OF(merged); i++)
            keep_outermost(&events->threads[t], merged[i]);
    int rc = collect_members(extraction, &members, &count, err);
    if (rc == STA_OK) {
        extraction->sources =
            sta_account_calloc(account, count + 1, sizeof *extraction->sources, "ranks", err);
        extraction->workers =
            sta_account_calloc(account, count + 1, sizeof *extraction->workers, "workers", err);
        rc = extraction->sources == NULL || extraction->workers == NULL
                 ? err->status
                 : take_groups(extraction, members, count, err);
    }
    sta_account_free(account, members);
    if (rc == STA_OK)
        rc = sta_sort(extraction->budget, extraction->sources, extraction->model->rank_count,
                      sizeof *extraction->sources, by_rank, NULL, err);
    return rc == STA_OK ? name_ranks(extraction, err) : rc;
}
