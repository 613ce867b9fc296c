/* event_order.h - what the order of all events shows: times without any, clock jumps, repeated events
 * (private to findings). */
#ifndef STA_FINDINGS_EVENT_ORDER_H
#define STA_FINDINGS_EVENT_ORDER_H

#include "findings/phases.h"

#define STA_JUMPS_SHOWN 200

/* An event that ends after the one that it begins in.  Times in ticks. */
struct sta_jump {
    uint32_t thread; /* of the entities, in the order of keys */
    int64_t ts, to;  /* to: cut to the window */
    int64_t around;  /* end of the event around it */
};

struct sta_event_order {
    bool gap;                               /* there is one */
    uint32_t gap_rank;                      /* whose longest time without an event is the longest */
    int64_t gap_from, gap_to;               /* ticks */
    int64_t jumps;                          /* findings.md part 8 */
    struct sta_jump shown[STA_JUMPS_SHOWN]; /* the first of them */
    size_t shown_count;
    int64_t lasting, repeated; /* events of some duration; those that equal an earlier one */
    int64_t copies;            /* of one event, at most */
};

STA_MUSTCHECK int sta_event_order_measure(struct sta_run *run, const struct sta_phases *phases,
                                          struct sta_event_order *order, struct sta_error *err);

#endif
