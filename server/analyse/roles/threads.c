/* Events that were found, by thread and role, in order. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "analyse/sources/rank_groups.h"
#include "analyse/roles/found.h"
#include "common/memory.h"
#include "common/number.h"

static const char WHAT[] = "the events of a data loader";

static int init_threads(struct sta_role_events *events, const struct sta_snapshot *snapshot,
                        const struct sta_found_set *set, const struct sta_budget *budget,
                        struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    const int64_t ticks = sta_snapshot_info(snapshot)->ticks_per_us;
    struct sta_rank_groups groups;
    int rc = sta_rank_groups_init(&groups, snapshot, budget, err);
    if (rc != STA_OK)
        return rc;
    events->threads = sta_account_calloc(events->account, (size_t)entities->thread_count + 1,
                                         sizeof *events->threads, "threads", err);
    for (uint32_t t = 0; events->threads != NULL && t < entities->thread_count; t++) {
        const struct sta_entity_thread *entity = &entities->threads[t];
        struct sta_role_thread *thread = &events->threads[t];
        thread->host = entity->host != STA_NO_CODE ? sta_dictionary_text(entities->hosts, entity->host)
                                                   : (struct sta_text){"", 0};
        thread->host_number = entity->host;
        thread->pid = entity->pid;
        thread->tid = entity->tid;
        thread->group = groups.group_of_process[entity->process];
        thread->began = INT64_MAX;
        for (unsigned w = 0; w < set->workers; w++)
            thread->began = STA_MIN(thread->began, set->of_worker[w].began[t]);
        if (thread->began != INT64_MAX)
            thread->began = sta_floor_divide(thread->began, ticks);
    }
    events->thread_count = entities->thread_count;
    events->group_count = groups.group_count;
    events->file_count = sta_dictionary_count(entities->files);
    sta_rank_groups_fini(&groups);
    return events->threads != NULL ? STA_OK : err->status;
}

/* ---- lists */

#define LISTS (STA_EVENT_ROLES + 1) /* of a thread: by role, and read_index of readers */

/* The runs in the order of events, and where each list of each thread lies among all events. */
struct dealing {
    struct sta_role_events *events;
    const struct sta_budget *budget;
    struct sta_found_run *runs;
    size_t run_count, event_count;
    size_t *ends;           /* by thread and list; list i of thread t is number t * LISTS + i */
    _Atomic size_t doubles; /* that were left out */
};

static int by_order(const void *a, const void *b, void *context)
{
    const struct sta_found_run *x = a, *y = b;
    (void)context;
    return (x->order > y->order) - (x->order < y->order);
}

static int order_runs(struct dealing *dealing, const struct sta_found_set *set, struct sta_error *err)
{
    for (unsigned w = 0; w < set->workers; w++)
        dealing->run_count += set->of_worker[w].count;
    dealing->runs = sta_account_alloc(set->account, dealing->run_count + 1, sizeof *dealing->runs, WHAT, err);
    if (dealing->runs == NULL)
        return err->status;
    size_t at = 0;
    for (unsigned w = 0; w < set->workers; w++)
        for (size_t i = 0; i < set->of_worker[w].count; i++)
            dealing->runs[at++] = set->of_worker[w].runs[i];
    return sta_sort(dealing->budget, dealing->runs, at, sizeof *dealing->runs, by_order, NULL, err);
}

static size_t list_of(const struct sta_found_event *event)
{
    return (size_t)event->thread * LISTS + event->role;
}

/* Where the lists begin: what each list holds is counted, and added up. */
static int place_lists(struct dealing *dealing, struct sta_error *err)
{
    const size_t lists = (size_t)dealing->events->thread_count * LISTS;
    dealing->ends = sta_account_calloc(dealing->budget->account, lists + 1, sizeof *dealing->ends, WHAT, err);
    if (dealing->ends == NULL)
        return err->status;
    for (size_t r = 0; r < dealing->run_count; r++)
        for (size_t i = 0; i < dealing->runs[r].count; i++)
            dealing->ends[list_of(&dealing->runs[r].items[i])]++;
    for (size_t i = 0; i < lists; i++) {
        const size_t count = dealing->ends[i];
        dealing->ends[i] = dealing->event_count;
        dealing->event_count += count;
    }
    return STA_OK;
}

/* Copies every event behind those of its list; then each place in ends is the list's end. */
static int deal(struct dealing *dealing, struct sta_error *err)
{
    struct sta_role_event *all =
        sta_account_alloc(dealing->budget->account, dealing->event_count + 1, sizeof *all, WHAT, err);
    dealing->events->all = all;
    for (size_t r = 0; all != NULL && r < dealing->run_count; r++) {
        if (sta_budget_check(dealing->budget, err) != STA_OK)
            return err->status;
        for (size_t i = 0; i < dealing->runs[r].count; i++) {
            const struct sta_found_event *event = &dealing->runs[r].items[i];
            all[dealing->ends[list_of(event)]++] = event->event;
        }
    }
    return all != NULL ? STA_OK : err->status;
}

static int by_time(const void *a, const void *b, void *context)
{
    const struct sta_role_event *x = a, *y = b;
    (void)context;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->te < y->te) - (x->te > y->te); /* longer ones first */
}

static bool is_sorted(const struct sta_role_event *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (by_time(&list[i - 1], &list[i], NULL) > 0)
            return false;
    return true;
}

/* How far back an equal event is looked for among those of the same start and end. */
#define DOUBLE_DISTANCE 64

/* An equal event was there before: forked processes write what was in their parent's buffer again. */
static bool is_double(const struct sta_role_event *kept, size_t count, const struct sta_role_event *event)
{
    for (size_t i = count; i > 0 && count - i < DOUBLE_DISTANCE; i--) {
        if (kept[i - 1].ts != event->ts || kept[i - 1].te != event->te)
            return false;
        if (kept[i - 1].name == event->name)
            return true;
    }
    return false;
}

static size_t drop_doubles(struct sta_role_event *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_double(list, kept, &list[i]))
            list[kept++] = list[i];
    return kept;
}

/* Puts one list in order.  Forks are doubles as calls of storage already. */
static int finish_list(struct dealing *dealing, uint32_t thread, unsigned list, struct sta_error *err)
{
    struct sta_role_events *events = dealing->events;
    const size_t number = (size_t)thread * LISTS + list;
    const size_t first = number > 0 ? dealing->ends[number - 1] : 0, count = dealing->ends[number] - first;
    const bool read = list == STA_EVENT_READ_INDEX;
    const unsigned role = read ? STA_EVENT_ITEM : list;
    if (count == 0 || (read && !events->items_are_read))
        return STA_OK;
    struct sta_role_event *items = &events->all[first];
    int rc = is_sorted(items, count)
                 ? STA_OK
                 : sta_sort(dealing->budget, items, count, sizeof *items, by_time, NULL, err);
    if (rc != STA_OK)
        return rc;
    const size_t kept = drop_doubles(items, count);
    if (list != STA_EVENT_FORK)
        atomic_fetch_add(&dealing->doubles, count - kept);
    events->threads[thread].events[role] = items;
    events->threads[thread].counts[role] = kept;
    return STA_OK;
}

static int finish_thread(void *context, unsigned worker, size_t thread, struct sta_error *err)
{
    int rc = STA_OK;
    (void)worker;
    for (unsigned list = 0; list < LISTS && rc == STA_OK; list++)
        rc = finish_list(context, (uint32_t)thread, list, err);
    return rc;
}

/* Whether no event is a sample, but some are reads of a reader. */
static bool items_are_read(const struct dealing *dealing)
{
    size_t items = 0, reads = 0;
    for (uint32_t t = 0; t < dealing->events->thread_count; t++) {
        const size_t *ends = &dealing->ends[(size_t)t * LISTS];
        items += ends[STA_EVENT_ITEM] - ends[STA_EVENT_ITEM - 1];
        reads += ends[STA_EVENT_READ_INDEX] - ends[STA_EVENT_READ_INDEX - 1];
    }
    return items == 0 && reads > 0;
}

static int deal_out(struct sta_role_events *events, struct sta_found_set *set,
                    const struct sta_budget *budget, struct sta_error *err)
{
    struct dealing dealing = {.events = events, .budget = budget};
    int rc = order_runs(&dealing, set, err);
    if (rc == STA_OK)
        rc = place_lists(&dealing, err);
    if (rc == STA_OK)
        rc = deal(&dealing, err);
    sta_found_set_fini(set);
    if (rc == STA_OK) {
        events->items_are_read = items_are_read(&dealing);
        rc = sta_tasks_run(budget, events->thread_count, finish_thread, &dealing, err);
    }
    events->doubles = dealing.doubles;
    sta_account_free(events->account, dealing.runs);
    sta_account_free(events->account, dealing.ends);
    return rc;
}

int sta_role_events_read(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                         const struct sta_budget *budget, struct sta_role_events *events,
                         struct sta_error *err)
{
    struct sta_found_set set;
    *events = (struct sta_role_events){.account = budget->account};
    int rc = sta_roles_find(snapshot, presets, budget, &set, err);
    if (rc != STA_OK)
        return rc;
    rc = init_threads(events, snapshot, &set, budget, err);
    if (rc == STA_OK)
        rc = deal_out(events, &set, budget, err);
    sta_found_set_fini(&set);
    if (rc != STA_OK)
        sta_role_events_fini(events);
    return rc;
}

void sta_role_events_fini(struct sta_role_events *events)
{
    sta_account_free(events->account, events->threads);
    sta_account_free(events->account, events->all);
    *events = (struct sta_role_events){0};
}
