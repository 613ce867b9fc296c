/* top.h - which row groups and rows may be among the first of an order (private to query/rows).
 *
 * Workers that look for the first rows share the bound of their sorter: no row behind it is among them.  Row
 * groups come in the order of the least record that they can have, by their statistics, so that the first
 * ones bring the bound down and most others are never read.  Where many rows agree in the only key, as sizes
 * do, those of later row groups come behind the bound by their time.
 *
 * The sorter drops rows behind its bound, too, but their whole records must have been made: without a look at
 * the first key alone an order by an expression takes 2.1 times the instructions, one by a text 1.7 times. */
#ifndef STA_ANALYSE_QUERY_TOP_H
#define STA_ANALYSE_QUERY_TOP_H

#include "analyse/operators/sorter.h"
#include "analyse/query/rows/plain.h"

struct sta_top {
    const struct sta_plain *plain;
    struct sta_sorter *sorter;
    struct sta_sort_layout first; /* the first key alone */
    const uint64_t *after;        /* a row to start behind, or NULL */
    uint64_t *parts; /* ascending: a record that none of the rows of a part comes before, and its number */
};
struct sta_top_local; /* scratch of one thread */

/** @sorter, @after: borrowed.  Fini also after a failure. */
STA_MUSTCHECK int sta_top_init(struct sta_top *top, const struct sta_plain *plain, struct sta_sorter *sorter,
                               const uint64_t *after, struct sta_error *err);
void sta_top_fini(struct sta_top *top);
struct sta_top_local *sta_top_local_create(const struct sta_top *top);
void sta_top_local_destroy(struct sta_top_local *local); /* NULL allowed */
/** The part to look at as number @number.  Return: false when no row of it is wanted. */
bool sta_top_part(const struct sta_top *top, struct sta_top_local *local, size_t number, size_t *part);
/** Tests of rows of a part that by their first key may be among the first, before any value is decoded; they
 * live until the next call.  Return: NULL when there are none. */
const struct sta_column_tests *sta_top_tests(const struct sta_top *top, struct sta_top_local *local,
                                             size_t part);
/** Drops rows of a state that by their first key are not among the first.  @key: its values.  @kept: space
 * for all rows. */
STA_MUSTCHECK int sta_top_narrow(const struct sta_top *top, struct sta_top_local *local,
                                 struct sta_pipeline_state *state, const struct sta_vector *key,
                                 uint32_t *kept, struct sta_error *err);

#endif
