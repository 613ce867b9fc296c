/* gather.h - records of one kind, put into the order of the stream (private to dasf). */
#ifndef STA_DASF_GATHER_H
#define STA_DASF_GATHER_H

#include "analyse/analyse.h"

struct dasf_gathering {
    const char *items;               /* in any order */
    size_t count, size, position_at; /* items; bytes of one; of its uint32_t position in it */
    uint32_t *at;                    /* by position: zero, and zero again afterwards */
    uint64_t positions;              /* above those of all items */
};

/** Copies the items to @out by ascending position.  Of several with one position one is copied.
 * *copied: how many */
STA_MUSTCHECK int dasf_gather(const struct dasf_gathering *gathering, void *out, size_t *copied,
                              const struct sta_budget *budget, struct sta_error *err);

#endif
