/* keys.h - the keys of a row as few 64-bit words (private to analyse).
 *
 * Each key has a field of bits: integers as the distance from a base, numbers as bits that order like them,
 * texts as the number of their dictionary and their code.  A missing value is all ones, behind every other.
 * Fields fill the words from the top in the order of the keys, so words compare like keys if the values
 * inside do.
 *
 * A worker's layout covers what it has seen so far and is made anew when a value does not fit; the layout of
 * the merge covers exactly what occurs, with ranks in place of codes, and its order is that of the result. */
#ifndef STA_ANALYSE_OPERATORS_KEYS_H
#define STA_ANALYSE_OPERATORS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/expression/expression.h"

#define STA_MOST_KEY_FIELDS 20 /* most keys: those of a request, and what histogram adds */
#define STA_DIRECT_BITS 16     /* keys of so few bits are an index */

/* The values that a layout must hold, of one key. */
struct sta_key_range {
    bool any;              /* one that is not missing; else the rest means nothing */
    int64_t low, high;     /* INT */
    uint32_t codes;        /* TEXT: codes are below .. */
    uint32_t dictionaries; /* .. and numbers of dictionaries below */
};
void sta_key_range_unite(struct sta_key_range *range, const struct sta_key_range *other);

struct sta_key_field {
    enum sta_type type;
    uint8_t word, shift, bits;
    uint8_t code_bits; /* TEXT: of the code; above it the number of the dictionary */
    bool flagged;      /* INT that needs all of a word: one bit more, before it, is 1 where missing */
    bool required;     /* INT: no row lacks a value, so none of the bits' values says that */
    uint8_t flag_word, flag_shift;
    uint64_t flip; /* all ones of a descending field: values are inverted .. */
    uint64_t base; /* .. then INT: subtracted */
};

struct sta_key_layout {
    struct sta_key_field fields[STA_MOST_KEY_FIELDS];
    size_t count;
    unsigned words; /* at least 1 */
    unsigned bits;  /* used of the last word, from the bottom */
};

static inline bool sta_key_layout_is_direct(const struct sta_key_layout *layout)
{
    return layout->words == 1 && layout->bits <= STA_DIRECT_BITS;
}

static inline uint64_t sta_low_bits(unsigned bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

/* A key, and how it is to be ordered. */
struct sta_key_order {
    enum sta_type type;
    bool descending; /* no TEXT */
    bool required;
    struct sta_key_range range;
};
/** The least layout for some keys; missing values come last in both directions. */
void sta_key_layout_init(struct sta_key_layout *layout, const struct sta_key_order *orders, size_t count);
/** One with space for values that may follow, as far as that takes no further word and leaves an index an
 * index; integers get it on the side to which they have grown.  @before: the layout so far; NULL: none. */
void sta_key_layout_init_widened(struct sta_key_layout *layout, const struct sta_key_order *orders,
                                 size_t count, const struct sta_key_layout *before);
/** What the layout holds of a key. */
struct sta_key_range sta_key_layout_range(const struct sta_key_layout *layout, size_t key);

/* A single value: INT as it is, BOOL 0 or 1, FLOAT as sta_order_number, TEXT dictionary << 32 | code.
 * Return: whether there is one. */
static inline bool sta_key_get(const struct sta_key_field *field, const uint64_t *words, uint64_t *value)
{
    uint64_t ones = sta_low_bits(field->bits);
    uint64_t held = words[field->word] >> field->shift & ones;
    bool missing =
        field->flagged ? words[field->flag_word] >> field->flag_shift & 1 : held == ones && !field->required;
    if (field->type == STA_TYPE_INT)
        held = (held + field->base) ^ field->flip;
    else if (field->type == STA_TYPE_TEXT)
        held = held >> field->code_bits << 32 | (held & sta_low_bits(field->code_bits));
    else
        held ^= field->type == STA_TYPE_BOOL ? field->flip & 1 : field->flip;
    *value = held;
    return !missing;
}
/** Into words that are 0 there.  @present: whether there is a value. */
void sta_key_put(const struct sta_key_field *field, uint64_t value, bool present, uint64_t *words);

/* Some rows of the vectors of a batch. */
struct sta_minibatch {
    uint32_t count, first;
    const uint32_t *rows; /* their numbers; NULL: first, first + 1 .. */
};

static inline uint32_t sta_minibatch_row(const struct sta_minibatch *minibatch, uint32_t i)
{
    return minibatch->rows != NULL ? minibatch->rows[i] : minibatch->first + i;
}

/* ---- values as words that order like them */

static inline uint64_t sta_order_integer(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

static inline int64_t sta_unorder_integer(uint64_t word)
{
    return (int64_t)(word ^ (UINT64_C(1) << 63));
}

static inline uint64_t sta_bits_of(double number)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double sta_number_of(uint64_t bits)
{
    double number;
    __builtin_memcpy(&number, &bits, sizeof number);
    return number;
}

/** Of a finite number; -0.0 counts as 0.0. */
static inline uint64_t sta_order_number(double value)
{
    const uint64_t bits = sta_bits_of(value + 0.0);
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(1) << 63);
}

static inline double sta_unorder_number(uint64_t word)
{
    return sta_number_of(word ^ ((uint64_t)((int64_t)~word >> 63) | UINT64_C(1) << 63));
}

#endif
