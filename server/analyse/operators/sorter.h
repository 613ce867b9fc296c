/* sorter.h - records brought in order, the first ones of them or all, past a number of bytes by way of the
 * disk (private to analyse).
 *
 * A record is some 64-bit words that are compared one after another as unsigned numbers: the packed keys of a
 * row (keys.h) and what tells rows apart, so that no two records are equal.
 *
 * A sink of records: any worker may consume, sta_sorter_finish ends that, then one thread takes the records
 * in order. */
#ifndef STA_ANALYSE_OPERATORS_SORTER_H
#define STA_ANALYSE_OPERATORS_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/operators/radix.h"

struct sta_budget;

struct sta_sorter_spec {
    unsigned words;  /* of a record */
    uint64_t limit;  /* only the first so many are wanted; UINT64_MAX: all */
    uint64_t memory; /* bytes that records may take before runs go to the spill folder */
    const char *spill_folder;
    const struct sta_budget *budget; /* borrowed while the sorter lives */
};

struct sta_sorter;
struct sta_sorter *sta_sorter_create(const struct sta_sorter_spec *spec);
void sta_sorter_destroy(struct sta_sorter *sorter); /* NULL allowed */
/** @records: @count of them, side by side; copied.  Context: worker @worker, one call at a time each. */
STA_MUSTCHECK int sta_sorter_consume(struct sta_sorter *sorter, unsigned worker, const uint64_t *records,
                                     size_t count, struct sta_error *err);
/** A record behind which none is among the first spec.limit ones: to leave out rows before records are made
 * of them.  @record: space for one.  Return: false as long as there is no such bound.  Context: any thread.
 */
bool sta_sorter_bound(struct sta_sorter *sorter, uint64_t *record);
/** No more records come. */
STA_MUSTCHECK int sta_sorter_finish(struct sta_sorter *sorter, struct sta_error *err);
/** The next records, at most @most; *count is 0 at the end.  *records: valid until the next call. */
STA_MUSTCHECK int sta_sorter_next(struct sta_sorter *sorter, size_t most, const uint64_t **records,
                                  size_t *count, struct sta_error *err);
uint64_t sta_sorter_spilled(const struct sta_sorter *sorter); /* bytes on disk */

#endif
