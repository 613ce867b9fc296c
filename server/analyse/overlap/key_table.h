/* key_table.h - tuples of values as dense numbers, exactly: no two tuples share one (private to overlap).
 *
 * A tuple is taken value by value: each value has a number in its column, and each prefix of a tuple, (number
 * of the prefix before, number of the value), has one too; that of the whole is the tuple's. */
#ifndef STA_ANALYSE_OVERLAP_KEY_TABLE_H
#define STA_ANALYSE_OVERLAP_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/map.h"

#define STA_KEY_COLUMNS 16

/* The bits of an integer, number, truth value, or a code of a text. */
struct sta_key_value {
    uint64_t bits;
    bool missing;
};

struct sta_key_column {
    struct sta_map codes; /* bits -> number of the value */
    struct sta_key_value *values;
    size_t value_count, value_capacity;
    uint32_t missing, all_ones; /* numbers of the two values that a map can't hold, plus 1; 0: not seen */
    struct sta_map prefixes;    /* number before and number of the value -> number of the prefix */
    uint64_t *pairs;            /* by number of the prefix: those two */
    size_t pair_count, pair_capacity;
};

/* Not thread-safe. */
struct sta_key_table {
    size_t columns;
    struct sta_key_column items[STA_KEY_COLUMNS];
};

void sta_key_table_init(struct sta_key_table *table, size_t columns);
void sta_key_table_fini(struct sta_key_table *table);
/** The number of a prefix with one more value.  @before: 0 for column 0, else what column - 1 gave.  Numbers
 * count up from 0. */
uint32_t sta_key_table_step(struct sta_key_table *table, size_t column, uint32_t before,
                            struct sta_key_value value);
/** The values of a tuple; room for all columns. */
void sta_key_table_values(const struct sta_key_table *table, uint32_t tuple, struct sta_key_value *values);
/** Number of a whole tuple; 0 when there are no columns. */
uint32_t sta_key_table_intern(struct sta_key_table *table, const struct sta_key_value *values);
/** Bytes held. */
size_t sta_key_table_bytes(const struct sta_key_table *table);
/** Tuples so far; without columns there is always one. */
uint32_t sta_key_table_count(const struct sta_key_table *table);

#endif
