/* validity.h - the validity bitmap of a column chunk, and compacting the values of the rows that have one. */
#ifndef STA_STORE_VALIDITY_H
#define STA_STORE_VALIDITY_H

#include <stdint.h>
#include "store/store.h"

struct sta_validity {
    uint32_t rows;
    uint32_t count;                         /* of the rows that have a value */
    uint8_t kind;                           /* of all values; 0: they differ in kind, or there are none */
    uint32_t bits[STA_ROW_GROUP_ROWS / 32]; /* a bit per row, low bits first */
};

/** @kinds: per row 0 (no value) or a kind. */
void sta_validity_find(struct sta_validity *validity, const uint8_t *kinds, uint32_t rows);
/** The values (keys) of the rows that have one, in row order.  @kept: room for all rows. */
void sta_validity_compact(const struct sta_validity *validity, const int64_t *values, int64_t *kept);
void sta_validity_compact_keys(const struct sta_validity *validity, const uint16_t *keys, uint16_t *kept);

#endif
