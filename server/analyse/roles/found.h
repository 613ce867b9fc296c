/* found.h - events that have a role, before they are dealt out to threads (private to roles). */
#ifndef STA_ANALYSE_ROLES_FOUND_H
#define STA_ANALYSE_ROLES_FOUND_H

#include "analyse/analyse.h"

/* One event with what the lists of its thread need. */
struct sta_found_event {
    int64_t ts, te, value;
    uint32_t name, file;   /* codes */
    uint32_t thread, role; /* role: STA_EVENT_READ_INDEX too */
};

/* Those of one row group, in the order of its rows. */
struct sta_found_run {
    uint64_t order; /* segment, row group: runs side by side are in the order of events */
    struct sta_found_event *items;
    size_t count;
};

/* What one worker found. */
struct sta_found {
    struct sta_found_run *runs;
    size_t count, capacity;
    int64_t *began; /* by thread: start of its first event; INT64_MAX: it has none */
    uint8_t *roles; /* by row of the present row group */
};

struct sta_found_set {
    struct sta_found *of_worker;
    unsigned workers;
    struct sta_account *account;
};
void sta_found_set_fini(struct sta_found_set *set);

/** One pass over all events.  The thread of an event is an index into the entities' threads. */
STA_MUSTCHECK int sta_roles_find(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                                 const struct sta_budget *budget, struct sta_found_set *set,
                                 struct sta_error *err);

#endif
