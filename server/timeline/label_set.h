/* label_set.h - the texts that occur in a result, sorted, with their colours (private to timeline). */
#ifndef STA_TIMELINE_LABEL_SET_H
#define STA_TIMELINE_LABEL_SET_H

#include "common/dictionary.h"
#include "common/map.h"
#include "analyse/exec/budget.h"

/* Codes of one dictionary; STA_NO_CODE is a missing text, which goes last. */
struct sta_label_set {
    const struct sta_budget *budget;
    const struct sta_dictionary *texts; /* borrowed */
    struct sta_map slots;               /* code -> number in the order of first sight */
    uint32_t *codes;                    /* by number; once sorted, in order */
    uint32_t *places;                   /* by number: place in the order, once sorted */
    size_t count, capacity;
};

void sta_label_set_init(struct sta_label_set *set, const struct sta_dictionary *texts,
                        const struct sta_budget *budget);
void sta_label_set_fini(struct sta_label_set *set);
/** *slot: number of a code, which is added if it was not there. */
STA_MUSTCHECK int sta_label_set_add(struct sta_label_set *set, uint32_t code, uint32_t *slot,
                                    struct sta_error *err);
/** No more are added: sorts by text. */
STA_MUSTCHECK int sta_label_set_sort(struct sta_label_set *set, struct sta_error *err);
/** Place of a code that was added, in the order. */
uint32_t sta_label_set_place(const struct sta_label_set *set, uint32_t code);
/** By place: the texts (bytes NULL where missing) and their colours; charged to the budget's account. */
STA_MUSTCHECK int sta_label_set_take(const struct sta_label_set *set, struct sta_text **texts,
                                     int64_t **colors, struct sta_error *err);

/** Colour index of a text: FNV-1a of 32 bits modulo 24; -1 of a missing one. */
int64_t sta_label_color(struct sta_text text);

#endif
