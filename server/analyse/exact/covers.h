/* covers.h - what two unions have in common, as both run on (private to exact).
 *
 * No more is needed than their running ends: behind the time that has been reached each goes on without a gap
 * up to its end, so both do up to the earlier one, and whatever moves that adds to it.  A union that gains
 * compares itself with its covers.  A cover lists the unions that reach beyond it: all that it gains is
 * theirs, until it reaches the end of one. */
#ifndef STA_ANALYSE_EXACT_COVERS_H
#define STA_ANALYSE_EXACT_COVERS_H

#include <stddef.h>

#include "analyse/intervals/span.h"

/* A union of a group that others are compared with. */
struct sta_cover {
    struct sta_running_union of;
    int64_t least;  /* no listed union ends before */
    uint32_t first; /* overlap with one that reaches further; STA_END_OF_LIST or 0: there is none */
};

#define STA_END_OF_LIST 1
enum { STA_OF_COMPUTE, STA_OF_CHILDREN, STA_OVERLAPS };

/* A union that is compared, .. */
struct sta_compared_union {
    struct sta_running_union of;
    struct sta_overlap { /* .. and what it and a cover have in common */
        int64_t time;    /* in the present bin; while it is listed, less the cover's total */
        uint32_t cover;
        uint32_t next; /* in the list of the cover; 0: it is not listed */
    } overlaps[STA_OVERLAPS];
};

struct sta_covers {
    struct sta_cover *items; /* by index of a contribution's unions */
    struct sta_compared_union *compared;
    size_t compared_capacity;
};

/** [ts, te) is about to be added to @with, whose overlap with the cover at @index is not listed. */
void sta_covers_compare(struct sta_covers *covers, struct sta_compared_union *with, uint32_t which,
                        uint32_t index, int64_t ts, int64_t te);
/** A cover that is about to gain [from, to) reaches the end of a listed union. */
void sta_covers_settle(struct sta_covers *covers, struct sta_cover *cover, int64_t from, int64_t to);
/** The time of an overlap, which starts anew. */
int64_t sta_covers_take_overlap(const struct sta_covers *covers, struct sta_compared_union *with,
                                uint32_t which);

/** Adds [ts, te) to a cover. */
static inline void sta_covers_add(struct sta_covers *covers, uint32_t index, int64_t ts, int64_t te)
{
    struct sta_cover *cover = &covers->items[index];
    const int64_t to = STA_MAX(te, cover->of.end);
    if (cover->first > STA_END_OF_LIST && to >= cover->least)
        sta_covers_settle(covers, cover, STA_MAX(ts, cover->of.end), to);
    sta_running_union_add(&cover->of, ts, te);
}

#endif
