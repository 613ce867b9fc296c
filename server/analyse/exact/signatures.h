/* signatures.h - event signatures: what a query needs to know of an event's class (private to exact).
 *
 * Classes that differ only in what the query does not request (say, in the refined category) have one
 * signature. */
#ifndef STA_ANALYSE_EXACT_SIGNATURES_H
#define STA_ANALYSE_EXACT_SIGNATURES_H

#include "analyse/layers/classify.h"
#include "analyse/exact/shape.h"
#include "common/buffer.h"

struct sta_event_signature {
    uint32_t number; /* counts up in the order of first sight */
    enum sta_fate fate;
    uint32_t in_layers; /* layers of the preset that take it, asked for or not */
    /* Ascending: wanted layers, the metrics of those, and the unions that it adds to. */
    const uint32_t *layers, *metrics, *unions;
    uint32_t layer_count, metric_count, union_count;
};

struct sta_event_signatures;

/** All borrowed.  @unions: whether unions are needed at all. */
struct sta_event_signatures *sta_event_signatures_create(const struct sta_classes *classes,
                                                         const struct sta_exact_shape *shape, bool unions,
                                                         struct sta_account *account);
void sta_event_signatures_destroy(struct sta_event_signatures *all); /* NULL allowed */
/** The signature of a class; stays where it is.  NULL: its memory was refused.  Context: any thread; takes a
 * lock, so remember it. */
const struct sta_event_signature *sta_event_signatures_of(struct sta_event_signatures *all,
                                                          uint32_t class_code, struct sta_error *err);
/** A signature that was met.  Context: after the pass. */
const struct sta_event_signature *sta_event_signatures_at(const struct sta_event_signatures *all,
                                                          uint32_t number);
/** Puts all signatures that were met, by number, for another process: how many, then each. */
void sta_event_signatures_put(const struct sta_event_signatures *all, struct sta_buffer *out);
/** The signature in this process of the next one that sta_event_signatures_put wrote.  Return: as
 * sta_event_signatures_of; NULL also when the bytes are none. */
const struct sta_event_signature *sta_event_signatures_get(struct sta_event_signatures *all,
                                                           struct sta_cursor *in, struct sta_error *err);

#endif
