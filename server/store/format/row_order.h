/* row_order.h - where each row goes when rows are put in the order of a key. */
#ifndef STA_STORE_ROW_ORDER_H
#define STA_STORE_ROW_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct sta_row_order {
    int64_t *keys;           /* by row; filled by the caller */
    uint32_t *position;      /* by row: its place */
    uint64_t *items, *spare; /* private */
    uint32_t capacity;
};

/** False when memory is short. */
bool sta_row_order_reserve(struct sta_row_order *order, uint32_t rows);
/** Sets the positions of rows 0 .. @rows - 1 (at least one) by their keys; rows of equal keys keep their
 * order. */
void sta_row_order_sort(struct sta_row_order *order, uint32_t rows);
void sta_row_order_fini(struct sta_row_order *order);

#endif
