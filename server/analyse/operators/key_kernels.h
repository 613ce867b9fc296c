/* key_kernels.h - loops over the rows of a minibatch, compiled for the instruction set of the machine
 * (private to analyse). */
#ifndef STA_ANALYSE_OPERATORS_KEY_KERNELS_H
#define STA_ANALYSE_OPERATORS_KEY_KERNELS_H

#include "analyse/operators/aggregate/table.h"

struct sta_key_kernels {
    /**
     * pack - the words of a minibatch's keys
     * @dictionaries: by key, the number of a TEXT vector's dictionary
     * @words: word w of row i at [w * STA_MINIBATCH_ROWS + i]
     * Return: whether all values fit the layout; if not, @words are undefined.
     */
    bool (*pack)(const struct sta_key_layout *layout, const struct sta_vector *keys,
                 const uint32_t *dictionaries, const struct sta_minibatch *minibatch, uint64_t *words);
    /** Widens a range to a minibatch's values. */
    void (*measure)(const struct sta_vector *key, uint32_t dictionary, const struct sta_minibatch *minibatch,
                    struct sta_key_range *range);
    /** Leaves out rows of which a key is missing.  @kept: space for STA_MINIBATCH_ROWS rows; used only if
     * there are such. */
    void (*drop_missing)(const struct sta_vector *keys, size_t count, struct sta_minibatch *minibatch,
                         uint32_t *kept);
    /** The groups of packed keys, by row; new ones are added, for which there must be space. */
    void (*find)(struct sta_group_table *table, const uint64_t *words, uint32_t count, uint32_t *groups);
    /** Least and greatest of at least one. */
    void (*range)(const uint32_t *groups, uint32_t count, uint32_t *low, uint32_t *high);
    /** The sum of integers.  Return: whether all of them lie in -@limit .. @limit - 1, a power of two. */
    bool (*sum)(const uint64_t *values, uint32_t count, uint64_t limit, uint64_t *total);
    /** The same of those that are marked and not missing.  @missing: NULL: none is. */
    bool (*sum_marked)(const int64_t *values, const uint8_t *missing, const uint8_t *marks, uint32_t count,
                       uint64_t limit, uint64_t *total);
    /** The values of a minibatch's rows, 0 in place of missing ones.  @missing: NULL: none is. */
    void (*integers)(const int64_t *values, const uint8_t *missing, const struct sta_minibatch *minibatch,
                     uint64_t *words);
};
extern const struct sta_key_kernels sta_key_kernels_portable, sta_key_kernels_avx2;

/** The best for this processor. */
static inline const struct sta_key_kernels *sta_key_kernels_here(void)
{
#ifdef STA_HAVE_AVX2
    if (__builtin_cpu_supports("avx2"))
        return &sta_key_kernels_avx2;
#endif
    return &sta_key_kernels_portable;
}

#endif
