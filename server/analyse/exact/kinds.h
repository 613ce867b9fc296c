/* kinds.h - classes of events by what they mean to the query (private to exact).
 *
 * Classes that differ only in what the query does not ask for (say, in the refined category) are one
 * kind. */
#ifndef STA_ANALYSE_EXACT_KINDS_H
#define STA_ANALYSE_EXACT_KINDS_H

#include "analyse/layers/classify.h"
#include "analyse/exact/shape.h"
#include "common/buffer.h"

struct sta_kind {
    uint32_t number; /* counts up in the order of first sight */
    enum sta_fate fate;
    uint32_t in_layers; /* layers of the preset that take it, asked for or not */
    /* Ascending: wanted layers, the metrics of those, and the unions that it adds to. */
    const uint32_t *layers, *metrics, *unions;
    uint32_t layer_count, metric_count, union_count;
};

struct sta_kinds;

/** All borrowed.  @unions: whether unions are needed at all. */
struct sta_kinds *sta_kinds_create(const struct sta_classes *classes, const struct sta_exact_shape *shape,
                                   bool unions, struct sta_account *account);
void sta_kinds_destroy(struct sta_kinds *kinds); /* NULL allowed */
/** The kind of a class; stays where it is.  NULL: its memory was refused.  Context: any thread; takes a lock,
 * so remember it. */
const struct sta_kind *sta_kinds_of(struct sta_kinds *kinds, uint32_t class_code, struct sta_error *err);
/** A kind that was met.  Context: after the pass. */
const struct sta_kind *sta_kinds_at(const struct sta_kinds *kinds, uint32_t number);
/** Puts all kinds that were met, by number, for another process: how many, then each.  After the pass. */
void sta_kinds_put(const struct sta_kinds *kinds, struct sta_buffer *out);
/** The kind here that is the next one there.  Return: as sta_kinds_of; NULL also when the bytes are none. */
const struct sta_kind *sta_kinds_get(struct sta_kinds *kinds, struct sta_cursor *in, struct sta_error *err);

#endif
