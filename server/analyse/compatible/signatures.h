/* signatures.h - from an event's function, category and class to its signature (private to compatible).
 *
 * A signature is the last key that events are grouped by.  As a text of a dictionary it is a key like any
 * other: bytes that order like category, class of call, function and class. */
#ifndef STA_ANALYSE_COMPATIBLE_SIGNATURES_H
#define STA_ANALYSE_COMPATIBLE_SIGNATURES_H

#include <uv.h>

#include "analyse/compatible/hlm.h"
#include "analyse/layers/composite_map.h"

/* All that occur, by code of their texts; shared by workers. */
struct sta_signatures {
    const struct sta_bound_query *bound;
    const struct sta_hlm_options *options;
    struct sta_account *account;
    struct sta_dictionary *texts;
    struct sta_signature *items;
    size_t count, capacity;
    uv_mutex_t lock;
};
void sta_signatures_init(struct sta_signatures *signatures, const struct sta_bound_query *bound,
                         const struct sta_hlm_options *options, struct sta_account *account);
void sta_signatures_fini(struct sta_signatures *signatures);

/* Events that agree in function, category and class, as a worker meets them. */
struct sta_combination {
    uint32_t class, name, cat;
    uint32_t signature; /* STA_NO_CODE: its events are not grouped */
    bool shown;         /* some layer shows sizes and files of its events */
    int64_t count;      /* events, grouped or not */
};

struct sta_combinations {
    struct sta_composite_map numbers;
    struct sta_combination *items;
    size_t count, capacity;
};
/** @account: charged; that of the signatures. */
void sta_combinations_init(struct sta_combinations *combinations, struct sta_account *account);
void sta_combinations_fini(struct sta_combinations *combinations, struct sta_account *account);
/** Adds one that is new to the worker.  Context: any worker. */
STA_MUSTCHECK int sta_combinations_add(struct sta_combinations *combinations,
                                       struct sta_signatures *signatures, uint32_t name, uint32_t cat,
                                       uint32_t class, struct sta_error *err);

#endif
