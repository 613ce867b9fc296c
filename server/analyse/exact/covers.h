/* covers.h - by rank group, the time that others' time is compared with, over a short interval of time
 * (private to exact).
 *
 * Exposed time is a union minus that of the compute layer, self time a union minus that of the children.
 * Over a interval the intervals of such a cover are few, and with what lies before each of them beside it,
 * the part of any piece that is covered is a difference. */
#ifndef STA_ANALYSE_EXACT_COVERS_H
#define STA_ANALYSE_EXACT_COVERS_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/operators/arena.h"
#include "common/account.h"
#include "common/memory.h"

struct sta_exact_cover {
    struct sta_cover_interval {
        int64_t from, to;
        int64_t before; /* measure of the intervals before it, once the cover is whole */
    } * items;          /* disjoint, ascending; a piece of the arena */
    int64_t end;        /* of the last one; INT64_MIN: there is none */
    uint32_t count, capacity;
    uint32_t at; /* the intervals before it end before what is asked now */
};

/* One worker's covers. */
struct sta_covers {
    struct sta_account *account;
    struct sta_state_arena arena;  /* intervals of all covers, until they are cleared */
    size_t arena_blocks;           /* that are charged */
    struct sta_exact_cover *items; /* by index: cover * groups + group */
    size_t count;
    uint32_t *used; /* those that are not empty */
    size_t used_count, used_capacity;
};

/** @account: borrowed.  Fini also after a failure. */
STA_MUSTCHECK int sta_covers_init(struct sta_covers *covers, size_t count, struct sta_account *account,
                                  struct sta_error *err);
void sta_covers_fini(struct sta_covers *covers);
/** Empties all of them. */
void sta_covers_clear(struct sta_covers *covers);
int sta_covers_grow(struct sta_covers *covers, uint32_t index, struct sta_error *err);
/** Adds [from, to) to a cover; calls come in the order of from.  Return: 0, or what a charge returns. */
STA_MUSTCHECK static inline int sta_covers_add(struct sta_covers *covers, uint32_t index, int64_t from,
                                               int64_t to, struct sta_error *err)
{
    struct sta_exact_cover *cover = &covers->items[index];
    if (cover->count == cover->capacity) {
        int rc = sta_covers_grow(covers, index, err);
        if (rc != 0)
            return rc;
    }
    /* Without a branch: whether it lengthens the last interval or begins another one is hard to predict. */
    const uint32_t begins = from > cover->end;
    struct sta_cover_interval *last = &cover->items[cover->count - 1 + begins];
    last->from = begins ? from : last->from;
    cover->end = last->to = STA_MAX(to, cover->end);
    cover->count += begins;
    return STA_OK;
}
/** All covers are whole. */
void sta_covers_finish(struct sta_covers *covers);
/** Measure of the part of [from, to) that is covered.  @now: at most @from, and not less than in earlier
 * calls since the clearing. */
int64_t sta_covers_inside(struct sta_covers *covers, uint32_t index, int64_t now, int64_t from, int64_t to);

#endif
