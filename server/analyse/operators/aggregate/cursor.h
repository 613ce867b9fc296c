/* cursor.h - the groups of a sorted table, or of a run, which is read piece by piece
 * (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_CURSOR_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_CURSOR_H

#include "analyse/operators/aggregate/order.h"
#include "analyse/operators/aggregate/run.h"

/* The words of one list for the present group, ascending; of texts the ranks. */
struct sta_list_view {
    const uint64_t *words;           /* that are at hand .. */
    size_t count;                    /* .. so many entries .. */
    uint64_t later;                  /* .. and how many follow */
    struct sta_stream_reader reader; /* of a run */
};

struct sta_group_cursor {
    const struct sta_group_order *order;
    const uint8_t *record;       /* of the present group */
    struct sta_list_view *lists; /* by list of the shape */
    /* one of the two */
    const struct sta_sorted_table *table;
    const struct sta_group_run *run;
    struct sta_stream_reader reader;
    size_t taken, at_hand; /* places taken .. at_hand - 1 are at hand; whoever reads counts taken up */
    bool ends;             /* no groups follow those at hand */
    uint64_t *words;
};

/** The groups of a table at places @begin .. @end - 1. */
void sta_group_cursor_init_table(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                                 const struct sta_sorted_table *table, size_t begin, size_t end);
/** All of a run, before its first group.  @buffer: bytes held per stream, at least. */
void sta_group_cursor_init_run(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                               const struct sta_group_run *run, size_t buffer);
void sta_group_cursor_fini(struct sta_group_cursor *cursor);
/** Brings groups to hand in place of those that were taken; none are at hand then when none is left. */
STA_MUSTCHECK int sta_group_cursor_fill(struct sta_group_cursor *cursor, struct sta_error *err);
/** The words of a group at hand of a run. */
const uint64_t *sta_group_cursor_run_words(struct sta_group_cursor *cursor, size_t place);
/** Of any; valid until the next call. */
static inline const uint64_t *sta_group_cursor_words(struct sta_group_cursor *cursor, size_t place)
{
    return cursor->table != NULL ? sta_sorted_words(cursor->table, place)
                                 : sta_group_cursor_run_words(cursor, place);
}
/** Goes to a place.  Those of a run come one after another; unread values of the group before are skipped. */
STA_MUSTCHECK int sta_group_cursor_go(struct sta_group_cursor *cursor, size_t place, struct sta_error *err);
/** Once the words at hand are used up: brings further ones. */
STA_MUSTCHECK int sta_group_cursor_more(struct sta_group_cursor *cursor, size_t list, struct sta_error *err);

#endif
