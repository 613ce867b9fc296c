/* numbering.h - tuples of keys as dense numbers: equal ones share a number, no others do (private to
 * analyse).
 *
 * For what works by unit, where a unit is a tuple of values: threads, processes, groups of an expression.
 * The tables are those of the hash aggregation.  Each worker has one of its own, without a lock; a tuple that
 * is new to a worker gets its number for all of them under one.  Numbers count up from 0 in the order in
 * which tuples are met, so they depend on who is first; a missing value is a value like others. */
#ifndef STA_ANALYSE_OPERATORS_NUMBERING_H
#define STA_ANALYSE_OPERATORS_NUMBERING_H

#include "analyse/exec/budget.h"
#include "analyse/operators/vectors.h"

struct sta_numbering;

/** @types: of the keys, 1 to STA_NUMBERING_KEYS; of a text any dictionaries may come.  @budget: borrowed;
 * memory is charged to its account. */
#define STA_NUMBERING_KEYS 16
struct sta_numbering *sta_numbering_create(const enum sta_type *types, size_t key_count,
                                           const struct sta_budget *budget);
void sta_numbering_destroy(struct sta_numbering *numbering); /* NULL allowed */

/**
 * sta_numbering_take - the numbers of rows
 * @keys: a vector for each key.  @selected: row numbers; NULL: 0 .. @count - 1
 * @numbers: by row number
 * Context: worker @worker, one call at a time each.
 */
STA_MUSTCHECK int sta_numbering_take(struct sta_numbering *numbering, unsigned worker,
                                     const struct sta_vector *keys, const uint32_t *selected, uint32_t count,
                                     uint32_t *numbers, struct sta_error *err);

/** How many numbers there are: those that a worker was given are among them.  Context: any thread. */
uint32_t sta_numbering_count(const struct sta_numbering *numbering);

/** A key of a tuple; codes are those of sta_numbering_texts.  @number: one that the caller was given, or
 * after all is taken.  Context: any thread. */
struct sta_key_value sta_numbering_value(const struct sta_numbering *numbering, uint32_t number, size_t key);
const struct sta_dictionary *sta_numbering_texts(const struct sta_numbering *numbering, size_t key);

#endif
