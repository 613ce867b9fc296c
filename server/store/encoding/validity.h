/* validity.h - the validity bitmap of a column chunk; compacting the values of the rows that have one, and
 * spreading them to their rows again. */
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
/** Sets the bits, all 0 before, of validity->rows rows: each has a value when its key does.  @has: a bit for
 * each of
 * @count keys, low bits first.  @keys: of all rows, below @count. */
void sta_validity_by_key(struct sta_validity *validity, const uint8_t *has, uint32_t count,
                         const uint16_t *keys);
/** The values (keys) of the rows that have one, in row order.  @kept: space for all rows. */
void sta_validity_compact(const struct sta_validity *validity, const int64_t *values, int64_t *kept);
void sta_validity_compact_keys(const struct sta_validity *validity, const uint16_t *keys, uint16_t *kept);

#define STA_VALIDITY_PADDING 3 /* values past the last that must be readable where they are spread from */

/** The values of the rows that have one, each at its row; 0 at the others. */
void sta_validity_spread(const struct sta_validity *validity, const int64_t *kept, int64_t *values);
/** The same of codes; STA_NO_CODE at the others. */
void sta_validity_spread_codes(const struct sta_validity *validity, const int64_t *kept, uint32_t *codes);
/** @missing: 1 of each row that has no value, else 0. */
void sta_validity_missing(const struct sta_validity *validity, uint8_t *missing);

static inline uint32_t sta_validity_has(const struct sta_validity *validity, uint32_t row)
{
    return validity->bits[row / 32] >> (row % 32) & 1;
}

#endif
