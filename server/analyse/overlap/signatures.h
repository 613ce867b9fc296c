/* signatures.h - which of many conditions hold for an event, as one set of the sweep (private to overlap and
 * findings).
 *
 * A sweep takes few sets, and each event costs a step for each of its sets.  Of many conditions few
 * combinations occur.  Each that does is a signature, and the sweep's sets are the signatures: an event is of
 * one alone, and a moment's mask says which conditions hold for some event of it.  Signatures are numbered in
 * the order of first sight, which depends on the timing of threads and must not order a result. */
#ifndef STA_ANALYSE_OVERLAP_SIGNATURES_H
#define STA_ANALYSE_OVERLAP_SIGNATURES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyse/intervals/sweep.h"
#include "analyse/layers/classify.h"
#include "analyse/layers/preset_build.h"

#define STA_SIGNATURE_CONDITIONS STA_VARYING_CONDITION_LIMIT /* all may vary, and be one bit each of 64 */

struct sta_set_signatures {
    uint32_t layer_bits[STA_SIGNATURE_CONDITIONS]; /* by condition: that of the classes */
    uint32_t condition_count;
    uint32_t watched; /* so many conditions, the first ones, are reported to consumers of intervals */

    pthread_mutex_t lock;                     /* guards what follows while events are read */
    uint64_t conditions[STA_SWEEP_MASK_BITS]; /* by signature: bit c: condition c holds */
    uint32_t count;
    bool full;                                          /* more occurred than a sweep takes sets */
    uint16_t translation[STA_SWEEP_MASK_BITS / 8][256]; /* to the watched conditions, as of a sweep */
};

/** @watched: at most 16. */
struct sta_set_signatures *sta_set_signatures_create(uint32_t watched);
void sta_set_signatures_destroy(struct sta_set_signatures *signatures); /* NULL allowed */
/** The mask of the events of a class: one bit, or 0 when no condition holds.  Return: 0, or STA_ELIMIT when
 * there are too many signatures.  Context: any thread. */
STA_MUSTCHECK int sta_set_signatures_mask(struct sta_set_signatures *signatures,
                                          const struct sta_class *class, uint32_t *mask,
                                          struct sta_error *err);

/** After the pass: the conditions that hold for some event of a mask's signatures. */
uint64_t sta_set_signatures_conditions(const struct sta_set_signatures *signatures, uint32_t mask);

#endif
