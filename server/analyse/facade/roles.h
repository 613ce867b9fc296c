/* roles.h - the events that a training's data loading shows in: steps, samples, storage calls (public part of
 * analyse.h).
 *
 * Category and name of an event say its role; whatif.md section 1 has the list.  Events come by thread and
 * role, ascending by start, longer ones first; two of the same thread, name, start and duration are one. */
#ifndef STA_ANALYSE_FACADE_ROLES_H
#define STA_ANALYSE_FACADE_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "store/store.h"

struct sta_presets;
struct sta_budget;

enum sta_event_role {
    STA_EVENT_STORAGE,
    STA_EVENT_COMPUTE,
    STA_EVENT_FETCH, /* the rank asks for a batch, and gets it */
    STA_EVENT_YIELD, /* the rank has the batch */
    STA_EVENT_ITEM,  /* a sample is made */
    STA_EVENT_PREPROCESS,
    STA_EVENT_CHECKPOINT,
    STA_EVENT_EPOCH,
    STA_EVENT_FORK, /* also among storage, as any call of category posix */
    STA_EVENT_ROLES
};

struct sta_role_event {
    int64_t ts, te; /* microseconds from the origin */
    int64_t value;  /* storage: bytes read; fork: pid of the child, or 0 */
    uint32_t file;  /* storage: number below file_count, or STA_NO_CODE */
    uint32_t name;  /* code of the snapshot's names, or STA_NO_CODE */
};

struct sta_role_thread {
    struct sta_text host; /* "": missing */
    int64_t pid, tid;     /* STA_NO_ID when missing */
    uint32_t host_number; /* equal where hosts are */
    uint32_t group;       /* rank group (overlap.md) */
    int64_t began;        /* start of its first event, whatever the role; INT64_MAX: it has none */
    struct sta_role_event *events[STA_EVENT_ROLES];
    size_t counts[STA_EVENT_ROLES];
};

struct sta_role_events {
    struct sta_role_thread *threads; /* by host, pid, tid */
    uint32_t thread_count, group_count, file_count;
    uint64_t doubles;           /* events that were left out since an equal one is there */
    bool items_are_read;        /* no event is a sample as such: read_index of readers is taken for it */
    struct sta_role_event *all; /* what the threads' lists point into */
    struct sta_account *account;
};

/**
 * sta_role_events_read - all events that have a role
 * Texts point into @snapshot, which must outlive them.  Memory is charged to the budget's account.
 * Return: 0, STA_ECANCELLED, STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ECORRUPT.  Fini after success.
 */
STA_MUSTCHECK int sta_role_events_read(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                                       const struct sta_budget *budget, struct sta_role_events *events,
                                       struct sta_error *err);
void sta_role_events_fini(struct sta_role_events *events);

#endif
