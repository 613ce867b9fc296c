/* span.h - the time that one event covers, as the interval accumulators take it. */
#ifndef STA_ANALYSE_INTERVALS_SPAN_H
#define STA_ANALYSE_INTERVALS_SPAN_H

#include <stddef.h>
#include <stdint.h>

struct sta_span {
    int64_t ts, te; /* [ts, te) in ticks, ts < te */
    uint32_t cell;  /* what it counts towards; of a sweep the unit .. */
    uint32_t mask;  /* .. and its sets */
};

/** Sorts by ts; equals keep their order.
 * @scratch: room for as many.  Return: where the result is, @spans or @scratch. */
struct sta_span *sta_spans_sort(struct sta_span *spans, struct sta_span *scratch, size_t count);

/** Index of the first span that starts at @ts or later; @spans are in order. */
size_t sta_spans_lower_bound(const struct sta_span *spans, size_t count, int64_t ts);

#endif
