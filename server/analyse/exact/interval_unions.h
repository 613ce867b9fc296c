/* interval_unions.h - by rank group, the time that others' time is compared with, over a short interval of
 * time (private to exact).
 *
 * Exposed time is a union minus that of the compute layer, self time a union minus that of the children.
 * In a short interval of time such a union has few intervals, and with what lies before each of them beside
 * it, the part of any piece that is covered is a difference. */
#ifndef STA_ANALYSE_EXACT_INTERVAL_UNIONS_H
#define STA_ANALYSE_EXACT_INTERVAL_UNIONS_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/operators/arena.h"
#include "common/account.h"
#include "common/memory.h"

struct sta_interval_union {
    struct sta_union_interval {
        int64_t from, to;
        int64_t before; /* measure of the intervals before it, once the union is whole */
    } * items;          /* disjoint, ascending; a piece of the arena */
    int64_t end;        /* of the last one; INT64_MIN: there is none */
    uint32_t count, capacity;
    uint32_t at; /* the intervals before it end before what is asked now */
};

/* One worker's unions. */
struct sta_interval_unions {
    struct sta_account *account;
    struct sta_state_arena arena;     /* intervals of all unions, until they are cleared */
    size_t arena_blocks;              /* that are charged */
    struct sta_interval_union *items; /* by index: union * groups + group */
    size_t count;
    uint32_t *used; /* those that are not empty */
    size_t used_count, used_capacity;
};

/** @account: borrowed.  Fini also after a failure. */
STA_MUSTCHECK int sta_interval_unions_init(struct sta_interval_unions *unions, size_t count,
                                           struct sta_account *account, struct sta_error *err);
void sta_interval_unions_fini(struct sta_interval_unions *unions);
/** Empties all of them. */
void sta_interval_unions_clear(struct sta_interval_unions *unions);
int sta_interval_unions_grow(struct sta_interval_unions *unions, uint32_t index, struct sta_error *err);
/** Adds [from, to) to a union; calls come in the order of from.  Return: 0, or what a charge returns. */
STA_MUSTCHECK static inline int sta_interval_unions_add(struct sta_interval_unions *unions, uint32_t index,
                                                        int64_t from, int64_t to, struct sta_error *err)
{
    struct sta_interval_union *united = &unions->items[index];
    if (united->count == united->capacity) {
        int rc = sta_interval_unions_grow(unions, index, err);
        if (rc != 0)
            return rc;
    }
    /* Without a branch: whether it lengthens the last interval or begins another one is hard to predict. */
    const uint32_t begins = from > united->end;
    struct sta_union_interval *last = &united->items[united->count - 1 + begins];
    last->from = begins ? from : last->from;
    united->end = last->to = STA_MAX(to, united->end);
    united->count += begins;
    return STA_OK;
}
/** All unions are whole. */
void sta_interval_unions_finish(struct sta_interval_unions *unions);
/** Measure of the part of [from, to) that is covered.  @now: at most @from, and not less than in earlier
 * calls since the clearing. */
int64_t sta_interval_unions_inside(struct sta_interval_unions *unions, uint32_t index, int64_t now,
                                   int64_t from, int64_t to);

#endif
