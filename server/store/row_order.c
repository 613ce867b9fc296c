/* row_order.c - see row_order.h.
 *
 * DESIGN: a radix sort by eleven bits at a time, which is stable and never compares.  One pass counts all digits; a digit that all
 * keys share is skipped, and rows that come in order are not sorted at all. */
#include "store/row_order.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"

#define DIGIT_BITS 11
#define DIGIT_VALUES (1 << DIGIT_BITS)
#define DIGITS ((64 + DIGIT_BITS - 1) / DIGIT_BITS)

bool sta_row_order_reserve(struct sta_row_order *order, uint32_t rows)
{
    if (rows <= order->capacity)
        return true;
    sta_row_order_fini(order);
    order->items = sta_try_alloc_array(rows, sizeof *order->items);
    order->spare = sta_try_alloc_array(rows, sizeof *order->spare);
    order->position = sta_try_alloc_array(rows, sizeof *order->position);
    if (order->items == NULL || order->spare == NULL || order->position == NULL) {
        sta_row_order_fini(order);
        return false;
    }
    order->capacity = rows;
    return true;
}

void sta_row_order_fini(struct sta_row_order *order)
{
    free(order->items);
    free(order->spare);
    free(order->position);
    *order = (struct sta_row_order){0};
}

static unsigned digit_of(uint64_t key, unsigned digit)
{
    return key >> (digit * DIGIT_BITS) & (DIGIT_VALUES - 1);
}

/* Return: digits that the largest key needs; 0 when the rows are in order. */
static unsigned digits_needed(const struct sta_row_item *items, uint32_t rows)
{
    uint64_t largest = 0;
    bool sorted = true;
    for (uint32_t i = 0; i < rows; i++) {
        sorted &= items[i].key >= largest;
        largest = STA_MAX(largest, items[i].key);
    }
    unsigned digits = 0;
    while (!sorted && digits < DIGITS && largest >> (digits * DIGIT_BITS) != 0)
        digits++;
    return digits;
}

static void move_by_digit(struct sta_row_order *order, uint32_t rows, unsigned digit,
                          uint32_t starts[DIGIT_VALUES])
{
    uint32_t sum = 0;
    if (starts[digit_of(order->items[0].key, digit)] == rows)
        return;
    for (unsigned d = 0; d < DIGIT_VALUES; d++) {
        uint32_t count = starts[d];
        starts[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < rows; i++)
        order->spare[starts[digit_of(order->items[i].key, digit)]++] = order->items[i];
    struct sta_row_item *sorted = order->spare;
    order->spare = order->items;
    order->items = sorted;
}

void sta_row_order_sort(struct sta_row_order *order, uint32_t rows)
{
    uint32_t starts[DIGITS][DIGIT_VALUES];
    unsigned digits = digits_needed(order->items, rows);
    memset(starts, 0, digits * sizeof *starts);
    for (uint32_t i = 0; digits > 0 && i < rows; i++)
        for (unsigned d = 0; d < digits; d++)
            starts[d][digit_of(order->items[i].key, d)]++;
    for (unsigned d = 0; d < digits; d++)
        move_by_digit(order, rows, d, starts[d]);
    for (uint32_t i = 0; i < rows; i++)
        order->position[order->items[i].row] = i;
}
