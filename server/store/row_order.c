/* row_order.c - see row_order.h.
 *
 * DESIGN: a radix sort, which is stable and never compares.  What it moves is small: a row's number and 32 bits of its key.  So keys are
 * sorted by their lower halves and, only if they are that far apart, by their upper halves then.  A digit has as many bits as
 * share those of the largest key out evenly: fewer digits than that cost passes, more cost cache.  A digit that all keys share is
 * skipped, and rows that come in order are not sorted at all. */
#include "store/row_order.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/bitpack.h"
#include "store/kernels.h"

#define DIGIT_BITS 11 /* at most */
#define DIGIT_VALUES (1 << DIGIT_BITS)
#define DIGITS ((32 + DIGIT_BITS - 1) / DIGIT_BITS)

bool sta_row_order_reserve(struct sta_row_order *order, uint32_t rows)
{
    if (rows <= order->capacity)
        return true;
    sta_row_order_fini(order);
    order->keys = sta_try_alloc_array(rows, sizeof *order->keys);
    order->position = sta_try_alloc_array(rows, sizeof *order->position);
    order->items = sta_try_alloc_array(rows, sizeof *order->items);
    order->spare = sta_try_alloc_array(rows, sizeof *order->spare);
    if (!order->keys || !order->position || !order->items || !order->spare) {
        sta_row_order_fini(order);
        return false;
    }
    order->capacity = rows;
    return true;
}

void sta_row_order_fini(struct sta_row_order *order)
{
    free(order->keys);
    free(order->position);
    free(order->items);
    free(order->spare);
    *order = (struct sta_row_order){0};
}

/* An item: 32 bits of a row's key, and the row below them. */
static uint64_t item_of(uint64_t key, uint32_t row)
{
    return key << 32 | row;
}

static void move_by_digit(struct sta_row_order *order, uint32_t rows, unsigned shift, uint32_t mask,
                          uint32_t starts[DIGIT_VALUES])
{
    const uint64_t *items = order->items;
    uint64_t *moved = order->spare;
    uint32_t sum = 0;
    if (starts[items[0] >> shift & mask] == rows)
        return;
    for (unsigned d = 0; d <= mask; d++) {
        uint32_t count = starts[d];
        starts[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < rows; i++)
        moved[starts[items[i] >> shift & mask]++] = items[i];
    order->spare = order->items;
    order->items = moved;
}

/* Sorts the items by their keys, the largest of which is given. */
static void sort_items(struct sta_row_order *order, uint32_t rows, uint32_t largest)
{
    uint32_t starts[DIGITS][DIGIT_VALUES];
    unsigned width = STA_MAX(sta_bit_width(largest), 1U), digits = (width + DIGIT_BITS - 1) / DIGIT_BITS;
    unsigned bits = (width + digits - 1) / digits;
    uint32_t mask = (UINT32_C(1) << bits) - 1;
    memset(starts, 0, digits * sizeof *starts);
    for (uint32_t i = 0; i < rows; i++)
        for (unsigned d = 0; d < digits; d++)
            starts[d][order->items[i] >> (32 + d * bits) & mask]++;
    for (unsigned d = 0; d < digits; d++)
        move_by_digit(order, rows, 32 + d * bits, mask, starts[d]);
}

static bool in_order(const int64_t *keys, uint32_t rows)
{
    bool sorted = true;
    for (uint32_t i = 1; i < rows; i++)
        sorted &= keys[i - 1] <= keys[i];
    return sorted;
}

void sta_row_order_sort(struct sta_row_order *order, uint32_t rows)
{
    int64_t first, last;
    if (in_order(order->keys, rows)) {
        for (uint32_t i = 0; i < rows; i++)
            order->position[i] = i;
        return;
    }
    sta_kernels()->range(order->keys, rows, &first, &last);
    uint64_t base = (uint64_t)first, largest = (uint64_t)last - base;
    for (uint32_t i = 0; i < rows; i++)
        order->items[i] = item_of((uint64_t)order->keys[i] - base, i);
    sort_items(order, rows, (uint32_t)STA_MIN(largest, (uint64_t)UINT32_MAX));
    if (largest > UINT32_MAX) {
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t row = (uint32_t)order->items[i];
            order->items[i] = item_of(((uint64_t)order->keys[row] - base) >> 32, row);
        }
        sort_items(order, rows, (uint32_t)(largest >> 32));
    }
    for (uint32_t i = 0; i < rows; i++)
        order->position[(uint32_t)order->items[i]] = i;
}
