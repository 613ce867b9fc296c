/* predicates.h - the sargable predicates of a condition: those on one column each (private to
 * analyse).
 *
 * They rule out row groups by the zone maps of the store, and rows by tests on the values as they are kept;
 * what they do not say of the condition is left to its program. */
#ifndef STA_ANALYSE_SOURCES_PREDICATES_H
#define STA_ANALYSE_SOURCES_PREDICATES_H

#include "analyse/sources/columns.h"
#include "analyse/expression/expression.h"

struct sta_predicates; /* of a snapshot's columns */

/** @columns: borrowed while it lives. */
struct sta_predicates *sta_predicates_create(const struct sta_columns *columns);
void sta_predicates_destroy(struct sta_predicates *predicates); /* NULL allowed */
/** Adds what every row must satisfy.  @predicate: borrowed; @column: the one it is on, in the columns'
 * own schema. */
void sta_predicates_add(struct sta_predicates *predicates, const struct sta_predicate *predicate,
                        uint32_t column);
/** Whether no row of the row group can satisfy all of them.  @predicates: a struct sta_predicates *, so that
 * this is the skip of a struct sta_scan.  Context: one thread, before any sta_predicates_test. */
bool sta_predicates_rule_out(void *predicates, const struct sta_row_group *row_group);
/**
 * sta_predicates_test - clear the marks (by row, 0 or 1) of rows of the reader's row group that fail
 * @exact: set; whether the rows that keep their mark satisfy all predicates
 * Return: as sta_column_reader_physical.  Context: any thread.
 */
STA_MUSTCHECK int sta_predicates_test(const struct sta_predicates *predicates,
                                      struct sta_column_reader *reader, uint8_t *marks, bool *exact,
                                      struct sta_error *err);

#endif
