/* unions.h - the overlap of two unions of intervals, added up while both grow (private to exact).
 *
 * The running ends suffice: from the current time on each union is without a gap up to its end, so their
 * overlap reaches up to the earlier end, and grows when that end moves.  A union that grows is compared with
 * those of its group.  A group's union lists the unions that reach beyond it: all that it grows by overlaps
 * them, until it reaches the end of one. */
#ifndef STA_ANALYSE_EXACT_UNIONS_H
#define STA_ANALYSE_EXACT_UNIONS_H

#include <stddef.h>

#include "analyse/intervals/span.h"

/* A union of a group that others are compared with. */
struct sta_group_union {
    struct sta_running_union of;
    int64_t least;  /* no listed union ends before */
    uint32_t first; /* overlap with one that reaches further; STA_END_OF_LIST or 0: there is none */
};

#define STA_END_OF_LIST 1
enum { STA_OF_COMPUTE, STA_OF_CHILDREN, STA_OVERLAPS };

/* A union that is compared, .. */
struct sta_compared_union {
    struct sta_running_union of;
    struct sta_overlap {   /* .. and the time that it has in common with a group's union */
        int64_t time;      /* in the present bin; while it is listed, less the total of the group's union */
        uint32_t of_group; /* index of the group's union */
        uint32_t next;     /* in the list of the group's union; 0: it is not listed */
    } overlaps[STA_OVERLAPS];
};

struct sta_unions {
    struct sta_group_union *items; /* by index of a contribution's unions */
    struct sta_compared_union *compared;
    size_t compared_capacity;
};

/** [ts, te) is about to be added to @with, whose overlap with the group's union at @index is not listed. */
void sta_unions_compare(struct sta_unions *unions, struct sta_compared_union *with, uint32_t which,
                        uint32_t index, int64_t ts, int64_t te);
/** A group's union that is about to grow by [from, to) reaches the end of a listed union. */
void sta_unions_pass_end(struct sta_unions *unions, struct sta_group_union *of_group, int64_t from,
                         int64_t to);
/** The time of an overlap, which starts anew. */
int64_t sta_unions_take_overlap(const struct sta_unions *unions, struct sta_compared_union *with,
                                uint32_t which);

/** Adds [ts, te) to a group's union. */
static inline void sta_unions_add(struct sta_unions *unions, uint32_t index, int64_t ts, int64_t te)
{
    struct sta_group_union *of_group = &unions->items[index];
    const int64_t to = STA_MAX(te, of_group->of.end);
    if (of_group->first > STA_END_OF_LIST && to >= of_group->least)
        sta_unions_pass_end(unions, of_group, STA_MAX(ts, of_group->of.end), to);
    sta_running_union_add(&of_group->of, ts, te);
}

#endif
