/* span.h - the time that one event covers, as a record in order of time, or as an interval of an answer. */
#ifndef STA_ANALYSE_INTERVALS_SPAN_H
#define STA_ANALYSE_INTERVALS_SPAN_H

#include <stdint.h>

/* Where an interval of an answer, or of a union, lies. */
struct sta_interval {
    int64_t from, to; /* [from, to) in ticks */
};

struct sta_span {
    int64_t ts, te; /* [ts, te) in ticks */
    uint32_t cell;  /* what it counts towards, such as a unit */
    uint32_t mask;  /* of the user's */
};

#endif
