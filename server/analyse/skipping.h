/* skipping.h - which blocks no row of can satisfy a condition, by their statistics (private to analyse). */
#ifndef STA_ANALYSE_SKIPPING_H
#define STA_ANALYSE_SKIPPING_H

#include "analyse/columns.h"
#include "analyse/expression/expression.h"

struct sta_skipping; /* of one thread */

/** @columns: borrowed while it lives. */
struct sta_skipping *sta_skipping_create(const struct sta_columns *columns);
void sta_skipping_destroy(struct sta_skipping *skipping); /* NULL allowed */
/** Adds what every row must satisfy.  @demand: borrowed; @column: the one it speaks of, in the columns' own
 * schema. */
void sta_skipping_demand(struct sta_skipping *skipping, const struct sta_demand *demand, uint32_t column);
/** Whether no row of the block can satisfy all demands.  @skipping: a struct sta_skipping *, so that this is
 * the skip of a struct sta_scan. */
bool sta_skipping_rules_out(void *skipping, const struct sta_block *block);

#endif
