/* span.h - the time that one event covers, as a record in order of time, or as an interval of a result. */
#ifndef STA_ANALYSE_INTERVALS_SPAN_H
#define STA_ANALYSE_INTERVALS_SPAN_H

#include <stdint.h>

#include "common/memory.h"

/* Where an interval of a result, or of a union, lies. */
struct sta_interval {
    int64_t from, to; /* [from, to) in ticks */
};

struct sta_span {
    int64_t ts, te; /* [ts, te) in ticks */
    uint32_t cell;  /* what it counts towards, such as a unit */
    uint32_t mask;  /* of the user's */
};

/* A union of intervals that come in the order of their starts: it needs its end alone.  Zeroed: of none, from
 * 0 on. */
struct sta_running_union {
    int64_t end;
    int64_t idle; /* the time up to the end that it does not cover */
};

static inline void sta_running_union_add(struct sta_running_union *united, int64_t from, int64_t to)
{
    const int64_t end = united->end;
    united->idle += STA_MAX(from, end) - end;
    united->end = STA_MAX(to, end);
}

/** How long it is. */
static inline int64_t sta_running_union_total(const struct sta_running_union *united)
{
    return united->end - united->idle;
}

/** How long it is; it goes on from its end as if there had been nothing. */
static inline int64_t sta_running_union_take(struct sta_running_union *united)
{
    const int64_t total = sta_running_union_total(united);
    united->idle = united->end;
    return total;
}

#endif
