/* spans.h - the time that an event covers, as a record of the ordered operator (private to exact).
 *
 * Millions go through memory between the worker that reads them and the one that measures them, so that a
 * length takes 32 bits; the few events that are longer are listed apart. */
#ifndef STA_ANALYSE_EXACT_SPANS_H
#define STA_ANALYSE_EXACT_SPANS_H

#include <uv.h>

#include "analyse/exact/segmented.h"

#define STA_LONG_SPAN UINT32_MAX /* as a length: the contribution is a number in the list of long spans */

struct sta_exact_span {
    int64_t ts; /* ticks */
    uint32_t length, contribution;
};

struct sta_long_span {
    int64_t te;
    uint32_t contribution;
};

struct sta_long_spans {
    uv_mutex_t lock;
    struct sta_segmented items; /* struct sta_long_span */
};

static inline void sta_long_spans_init(struct sta_long_spans *spans, struct sta_account *account)
{
    *spans = (struct sta_long_spans){.items = {.size = sizeof(struct sta_long_span), .account = account}};
    STA_ASSERT(uv_mutex_init(&spans->lock) == 0);
}

static inline void sta_long_spans_fini(struct sta_long_spans *spans)
{
    sta_segmented_fini(&spans->items);
    uv_mutex_destroy(&spans->lock);
}

/** Lists @span, which ends at @te.  Return: 0, or what a charge returns.  Context: any thread. */
STA_MUSTCHECK static inline int sta_long_spans_add(struct sta_long_spans *spans, struct sta_exact_span *span,
                                                   int64_t te, struct sta_error *err)
{
    uv_mutex_lock(&spans->lock);
    const uint32_t number = spans->items.count;
    struct sta_long_span *fresh = sta_segmented_add(&spans->items, err);
    if (fresh != NULL)
        *fresh = (struct sta_long_span){te, span->contribution};
    uv_mutex_unlock(&spans->lock);
    span->length = STA_LONG_SPAN;
    span->contribution = number;
    return fresh != NULL ? STA_OK : err->status;
}

/** Of @first and spans behind it in order of time: one that ends by this time, by its length as it stands,
 * has that length and ends by @to; nearly all that end by @to do.  Of others it is to be found out. */
static inline int64_t sta_exact_spans_sure_end(const struct sta_exact_span *first, int64_t to)
{
    return STA_MIN(to, first->ts + STA_LONG_SPAN - 1);
}

/** End and contribution of a span. */
static inline struct sta_long_span sta_exact_span_whole(const struct sta_long_spans *spans,
                                                        const struct sta_exact_span *span)
{
    if (span->length == STA_LONG_SPAN)
        return *(const struct sta_long_span *)sta_segmented_at(&spans->items, span->contribution);
    return (struct sta_long_span){span->ts + span->length, span->contribution};
}

#endif
