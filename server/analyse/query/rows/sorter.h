/* sorter.h - records of whole words in ascending order, past a number of bytes by way of the disk (private to
 * query/rows).
 *
 * A record is some words; the first ones are compared as unsigned numbers, one after another, and no two
 * records agree in all of them.  sort_keys.h makes such words of values. */
#ifndef STA_ANALYSE_QUERY_SORTER_H
#define STA_ANALYSE_QUERY_SORTER_H

#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

struct sta_sorter_shape {
    uint32_t words, keys; /* of a record; of it compared */
    uint64_t most;        /* only the first so many are wanted; UINT64_MAX: all */
    unsigned workers;
    uint64_t memory; /* bytes that records may take before runs go to the spill folder */
    const char *spill_folder;
};

struct sta_sorter;
struct sta_sorter *sta_sorter_create(const struct sta_sorter_shape *shape);
void sta_sorter_destroy(struct sta_sorter *sorter); /* NULL allowed */
/** Context: worker @worker, one call at a time each. */
STA_MUSTCHECK int sta_sorter_add(struct sta_sorter *sorter, unsigned worker, const uint64_t *record,
                                 struct sta_error *err);
/** The last of the first shape.most records that a worker has; NULL as long as it may have fewer.  Valid
 * until its next call. */
const uint64_t *sta_sorter_last(const struct sta_sorter *sorter, unsigned worker);
/** No more records come. */
STA_MUSTCHECK int sta_sorter_finish(struct sta_sorter *sorter, struct sta_error *err);
/** The next records, @most at the most, side by side; none at the end. */
STA_MUSTCHECK int sta_sorter_next(struct sta_sorter *sorter, uint64_t *records, size_t most, size_t *count,
                                  struct sta_error *err);
uint64_t sta_sorter_bytes(const struct sta_sorter *sorter);   /* of memory */
uint64_t sta_sorter_spilled(const struct sta_sorter *sorter); /* on disk */

#endif
