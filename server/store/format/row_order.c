/* row_order.c - see row_order.h.
 *
 * DESIGN: a radix sort, which is stable and never compares.  What it moves is small: a row's number and 32
 * bits of its key.  So keys are sorted by their lower halves and, only if they are that far apart, by their
 * upper halves then.  A digit has as many bits as share those of the largest key out evenly: fewer digits
 * than that cost passes, more cost cache.  A digit that all keys share is skipped, the last one gives the
 * positions, and rows that come in order are not sorted at all. */
#include "store/format/row_order.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/encoding/bitpack.h"
#include "store/encoding/kernels.h"

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

struct digit {
    unsigned shift;
    uint32_t mask;
    uint32_t starts[DIGIT_VALUES]; /* how many items have each value, then where they go */
};

static uint32_t value_of(const struct digit *digit, uint64_t item)
{
    return item >> digit->shift & digit->mask;
}

static void find_starts(struct digit *digit)
{
    uint32_t sum = 0;
    for (uint32_t d = 0; d <= digit->mask; d++) {
        uint32_t count = digit->starts[d];
        digit->starts[d] = sum;
        sum += count;
    }
}

static void move_by_digit(struct sta_row_order *order, uint32_t rows, struct digit *digit)
{
    const uint64_t *items = order->items;
    uint64_t *moved = order->spare;
    if (digit->starts[value_of(digit, items[0])] == rows)
        return;
    find_starts(digit);
    for (uint32_t i = 0; i < rows; i++)
        moved[digit->starts[value_of(digit, items[i])]++] = items[i];
    order->spare = order->items;
    order->items = moved;
}

static void place_by_digit(const struct sta_row_order *order, uint32_t rows, struct digit *digit)
{
    const uint64_t *items = order->items;
    uint32_t *position = order->position;
    find_starts(digit);
    for (uint32_t i = 0; i < rows; i++)
        position[(uint32_t)items[i]] = digit->starts[value_of(digit, items[i])]++;
}

/* Return: how many digits the keys of the items have, of which @largest is the largest. */
static unsigned count_digits(const uint64_t *items, uint32_t rows, uint32_t largest,
                             struct digit digits[DIGITS])
{
    unsigned width = STA_MAX(sta_bit_width(largest), 1U), count = (width + DIGIT_BITS - 1) / DIGIT_BITS;
    unsigned bits = (width + count - 1) / count;
    for (unsigned d = 0; d < count; d++) {
        digits[d].shift = 32 + d * bits;
        digits[d].mask = (UINT32_C(1) << bits) - 1;
        memset(digits[d].starts, 0, (digits[d].mask + 1) * sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < rows; i++)
        for (unsigned d = 0; d < count; d++)
            digits[d].starts[value_of(&digits[d], items[i])]++;
    return count;
}

static bool in_order(const int64_t *keys, uint32_t rows)
{
    for (uint32_t i = 1; i < rows; i++)
        if (keys[i - 1] > keys[i])
            return false;
    return true;
}

void sta_row_order_sort(struct sta_row_order *order, uint32_t rows)
{
    struct digit digits[DIGITS];
    int64_t first, last;
    if (in_order(order->keys, rows)) {
        for (uint32_t i = 0; i < rows; i++)
            order->position[i] = i;
        return;
    }
    sta_kernels()->words64->residual_range(order->keys, rows, &first, &last);
    uint64_t base = (uint64_t)first, largest = (uint64_t)last - base;
    for (uint32_t i = 0; i < rows; i++)
        order->items[i] = item_of((uint64_t)order->keys[i] - base, i);
    unsigned count =
        count_digits(order->items, rows, (uint32_t)STA_MIN(largest, (uint64_t)UINT32_MAX), digits);
    if (largest > UINT32_MAX) {
        for (unsigned d = 0; d < count; d++)
            move_by_digit(order, rows, &digits[d]);
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t row = (uint32_t)order->items[i];
            order->items[i] = item_of(((uint64_t)order->keys[row] - base) >> 32, row);
        }
        count = count_digits(order->items, rows, (uint32_t)(largest >> 32), digits);
    }
    for (unsigned d = 0; d + 1 < count; d++)
        move_by_digit(order, rows, &digits[d]);
    place_by_digit(order, rows, &digits[count - 1]);
}
