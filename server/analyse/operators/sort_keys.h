/* sort_keys.h - the keys of an order packed into records that compare like them (private to analyse).
 *
 * Values are packed as in keys.h, as few bits each as their range takes, so that a record of a few keys is
 * two or three words.  Missing values come last in both directions.  Texts are packed by rank (ranks.h), so
 * all of them must be known before the first record is made. */
#ifndef STA_ANALYSE_OPERATORS_SORT_KEYS_H
#define STA_ANALYSE_OPERATORS_SORT_KEYS_H

#include "analyse/operators/keys.h"
#include "analyse/operators/ranks.h"

struct sta_sort_key {
    enum sta_type type;
    bool descending;
    bool required;                 /* every row has a value */
    struct sta_key_range range;    /* INT: of all values; any is false: none is known to be there */
    const struct sta_ranks *ranks; /* TEXT; settled */
};
/** An integer of which nothing is known. */
struct sta_key_range sta_key_range_any_integer(void);

/* How keys lie in a record. */
struct sta_sort_layout {
    struct sta_sort_key *keys;
    size_t count;
    struct sta_key_layout *parts; /* of STA_SORT_PART_KEYS keys each, one behind the other */
    size_t part_count;
    unsigned words; /* of a record */
};
#define STA_SORT_PART_KEYS 16u

/** @keys: copied; their ranks are borrowed. */
void sta_sort_layout_init(struct sta_sort_layout *layout, const struct sta_sort_key *keys, size_t count);
void sta_sort_layout_fini(struct sta_sort_layout *layout);

struct sta_sort_encoder; /* scratch of one thread */
struct sta_sort_encoder *sta_sort_encoder_create(const struct sta_sort_layout *layout);
void sta_sort_encoder_destroy(struct sta_sort_encoder *encoder); /* NULL allowed */
/**
 * sta_sort_pack - the records of some rows
 * @vectors: by key
 * @rows: their numbers in the vectors; NULL: @first .. @first + @count - 1
 * @records: those of row i at [i * @stride]
 * Return: 0; STA_ECORRUPT when a value lies outside of the range that its key was said to have.
 */
STA_MUSTCHECK int sta_sort_pack(struct sta_sort_encoder *encoder, const struct sta_vector *vectors,
                                const uint32_t *rows, uint32_t first, uint32_t count, uint64_t *records,
                                size_t stride, struct sta_error *err);
/** The values of an INT that some records hold, each @stride words behind the one before.  @missing: 1 where
 * there is none; NULL when all have one.  Return: whether one has none. */
bool sta_sort_layout_integers(const struct sta_sort_layout *layout, size_t key, const uint64_t *records,
                              size_t stride, size_t count, int64_t *values, uint8_t *missing);
/** Puts a single value into a record, 0 before: INT as it is, BOOL 0 or 1, FLOAT as sta_order_number, TEXT by
 * rank. */
void sta_sort_layout_put(const struct sta_sort_layout *layout, size_t key, uint64_t value, bool present,
                         uint64_t *record);

#endif
