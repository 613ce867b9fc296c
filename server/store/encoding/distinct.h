/* distinct.h - the distinct values of one row group, and each value's place among them. */
#ifndef STA_STORE_DISTINCT_H
#define STA_STORE_DISTINCT_H

#include <stdbool.h>
#include <stdint.h>
#include "store/encoding/codec.h"
#include "store/disk.h"
#include "store/store.h"

#define STA_DISTINCT_SLOTS (STA_KEYS_LIMIT * 2)

struct sta_distinct {
    uint32_t count;
    int64_t values[STA_KEYS_LIMIT];     /* ascending */
    uint16_t index[STA_ROW_GROUP_ROWS]; /* of each value: its place in `values`, once these were asked for */
    /* private */
    bool hashed;
    uint32_t first; /* what stands for the smallest value; where they were not hashed, as with the next */
    bool dense;     /* every value from the smallest to the largest is there */
    uint16_t place[STA_DISTINCT_SLOTS]; /* by value - min; by provisional place */
    struct {
        int64_t value;
        uint32_t stamp;
        uint32_t place;
    } slots[STA_DISTINCT_SLOTS];
    uint32_t stamp;
};

/** Finds them; false (and nothing else) when there are more than @limit (at most STA_KEYS_LIMIT).
 * Context: one thread per struct, zeroed at first. */
bool sta_distinct_find(struct sta_distinct *distinct, const struct sta_values *values, uint32_t limit);
/** Sets the index of the values that were found last, once. */
void sta_distinct_index(struct sta_distinct *distinct, const struct sta_values *values);

#endif
