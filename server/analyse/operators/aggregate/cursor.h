/* cursor.h - the groups of a sorted table, at any place, or of a run, one after another
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
    const uint64_t *words; /* of the present group of a run; NULL at the end */
    const uint8_t *record;
    struct sta_list_view *lists; /* by list of the shape */
    /* one of the two */
    const struct sta_sorted_table *table;
    const struct sta_group_run *run;
    struct sta_stream_reader reader;
    uint64_t *own_words;
};

void sta_group_cursor_init_table(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                                 const struct sta_sorted_table *table);
/** To a place of a table. */
void sta_group_cursor_go(struct sta_group_cursor *cursor, uint32_t place);
/** All of a run, before its first group.  @buffer: bytes held per stream, at least. */
void sta_group_cursor_init_run(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                               const struct sta_group_run *run, size_t buffer);
void sta_group_cursor_fini(struct sta_group_cursor *cursor);
/** To the next group of a run.  Values of the present one that were not looked at are passed over. */
STA_MUSTCHECK int sta_group_cursor_next(struct sta_group_cursor *cursor, struct sta_error *err);
/** Once the words at hand are used up: brings further ones. */
STA_MUSTCHECK int sta_group_cursor_more(struct sta_group_cursor *cursor, size_t list, struct sta_error *err);

#endif
