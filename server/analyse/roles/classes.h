/* classes.h - the role that category and name give an event (private to roles). */
#ifndef STA_ANALYSE_ROLES_CLASSES_H
#define STA_ANALYSE_ROLES_CLASSES_H

#include "analyse/analyse.h"

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

#endif
