/* found.h - events that have a role, before they are dealt out to threads, and which role that is (private to
 * roles). */
#ifndef STA_ANALYSE_ROLES_FOUND_H
#define STA_ANALYSE_ROLES_FOUND_H

#include "analyse/analyse.h"

/* ---- the role that category and name give an event */

#define STA_EVENT_READ_INDEX STA_EVENT_ROLES /* of a reader: samples, where nothing else is one */
#define STA_EVENT_NO_ROLE (STA_EVENT_ROLES + 1)

/* What each name and each category could make of an event. */
struct sta_role_classes {
    uint16_t *of_name; /* by code: bits */
    uint16_t *of_cat;  /* by code: bits */
    uint32_t names, cats;
    struct sta_account *account;
};
/** Fini also after a failure.  Return: 0; STA_ELIMIT, STA_EBUSY, STA_ENOMEM of the account. */
STA_MUSTCHECK int sta_role_classes_init(struct sta_role_classes *classes, const struct sta_tables *tables,
                                        struct sta_account *account, struct sta_error *err);
void sta_role_classes_fini(struct sta_role_classes *classes);
/** Of an event: an enum sta_event_role, STA_EVENT_READ_INDEX or STA_EVENT_NO_ROLE.  Codes may be STA_NO_CODE.
 * *fork: it forked a process. */
unsigned sta_role_of(const struct sta_role_classes *classes, uint32_t cat, uint32_t name, bool *fork);

/* ---- events */

/* One event, and whose list it belongs to. */
struct sta_found_event {
    struct sta_role_event event;
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
