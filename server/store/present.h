/* present.h - which rows of a block have a value, and moving these close together. */
#ifndef STA_STORE_PRESENT_H
#define STA_STORE_PRESENT_H

#include <stdint.h>
#include "store/store.h"

struct sta_present {
    uint32_t rows;
    uint32_t count;                     /* of the rows that have a value */
    uint8_t kind;                       /* of all values; 0: they differ in kind, or there are none */
    uint32_t bits[STA_BLOCK_ROWS / 32]; /* a bit per row, low bits first */
};

/** @kinds: per row 0 (no value) or a kind. */
void sta_present_find(struct sta_present *present, const uint8_t *kinds, uint32_t rows);
/** The values (keys) of the rows that have one, in row order.  @kept: room for all rows. */
void sta_present_keep(const struct sta_present *present, const int64_t *values, int64_t *kept);
void sta_present_keep_keys(const struct sta_present *present, const uint16_t *keys, uint16_t *kept);

#endif
