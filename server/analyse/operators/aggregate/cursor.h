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
    size_t at_hand; /* groups of the run that are in memory: places 0 .. at_hand - 1; 0 at the end .. */
    size_t taken;   /* .. of which whoever reads has gone through so many .. */
    bool ends;      /* .. and that none follows */
    uint64_t *words;
};

void sta_group_cursor_init_table(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                                 const struct sta_sorted_table *table);
/** All of a run, before its first group.  @buffer: bytes held per stream, at least. */
void sta_group_cursor_init_run(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                               const struct sta_group_run *run, size_t buffer);
void sta_group_cursor_fini(struct sta_group_cursor *cursor);
/** Of a run: replaces the groups that were taken by those that follow. */
STA_MUSTCHECK int sta_group_cursor_fill(struct sta_group_cursor *cursor, struct sta_error *err);
/** The words of a group of a run that is at hand; valid until the next call. */
const uint64_t *sta_group_cursor_words(struct sta_group_cursor *cursor, size_t place);
/** To a place.  Those of a run come one after another; values of the group before that were not looked at are
 * passed over. */
STA_MUSTCHECK int sta_group_cursor_go(struct sta_group_cursor *cursor, size_t place, struct sta_error *err);
/** Once the words at hand are used up: brings further ones. */
STA_MUSTCHECK int sta_group_cursor_more(struct sta_group_cursor *cursor, size_t list, struct sta_error *err);

#endif
