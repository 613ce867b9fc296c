/* refiner.h - what a preset makes of files: which are dropped, which refine the category of their events
 * (private to analyse).
 *
 * A file name is searched once for each text that the preset names; its *file class* is the outcome for all
 * of them.  Classes are found when a file is first seen, by whoever sees it: two threads that meet there
 * write the same. */
#ifndef STA_ANALYSE_LAYERS_REFINER_H
#define STA_ANALYSE_LAYERS_REFINER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyse/analyse.h"

/* File classes: bit 0 is always set, bits 1 .. 14 the refinements that apply, bit 15 that the file is
 * dropped. */
#define STA_FILE_CLASS_NONE 1u /* no file, or one that no rule names */
#define STA_FILE_CLASS_DROPPED 0x8000u

struct sta_refiner {
    const struct sta_preset *preset;
    const struct sta_entities *entities;
    _Atomic uint16_t
        *file_classes; /* by reference plus 1, so that that of no file comes first; 0: not yet known */
    struct sta_dictionary *cats; /* those of the tables under their codes, then refined ones */
    uint8_t *refinable;          /* by category of the tables */
    uint32_t cat_count;          /* of the tables */
    struct sta_account *account;
};

/** @preset and @snapshot are borrowed while the refiner lives.  @account: charged; one of its own, since what
 * is refined later may leave a sticky failure.  Return: 0, STA_ELIMIT, STA_EBUSY or STA_ENOMEM. */
STA_MUSTCHECK int sta_refiner_create(const struct sta_preset *preset, const struct sta_snapshot *snapshot,
                                     struct sta_account *account, struct sta_refiner **refiner,
                                     struct sta_error *err);
void sta_refiner_destroy(struct sta_refiner *refiner); /* NULL allowed */

/** Finds the class of a reference that is not yet known; notes it. */
uint32_t sta_refiner_examine(struct sta_refiner *refiner, uint32_t ref);

/** Of ->file_classes that of a reference, which must be below the count of the entities or STA_NO_CODE; 0: it
 * is not yet known.  Without a branch: which events have a file is hard to predict.  Context: any thread. */
static inline uint32_t sta_file_class_known(const _Atomic uint16_t *file_classes, uint32_t ref)
{
    return atomic_load_explicit(&file_classes[(uint32_t)(ref + 1)], memory_order_relaxed);
}

/** Likewise, found when it is not known. */
static inline uint32_t sta_refiner_file_class(struct sta_refiner *refiner, uint32_t ref)
{
    const uint32_t class = sta_file_class_known(refiner->file_classes, ref);
    return class != 0 ? class : sta_refiner_examine(refiner, ref);
}

/** The refined category, as code in ->cats.  Makes text: remember what it returns.  Context: any thread. */
uint32_t sta_refiner_cat(struct sta_refiner *refiner, uint32_t cat, uint32_t file_class);

#endif
