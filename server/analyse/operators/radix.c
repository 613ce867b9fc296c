/* Radix sorts, least significant digit first.
 *
 * DESIGN.  Only the bits in which items differ are looked at, in as few digits of the same width as possible:
 * small numbers and narrow ranges, of which traces are full, take two or three rounds.  Few items are sorted
 * by insertion.  One loop for each kind of item, made by a macro, since the speed lies in the compiler
 * knowing its size. */
#include "analyse/operators/radix.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/arena.h"

#define FEW 48    /* insertion is faster below */
#define MANY 8192 /* from here on wide digits are worth their counters */
#define NARROW_DIGIT 8
#define WIDE_DIGIT 11

/* How the bits are cut. */
struct digits {
    unsigned rounds, width, shift;
};

/* @differing: bits in which some items differ. */
static struct digits cut(uint64_t differing, size_t count)
{
    struct digits digits = {0};
    if (differing == 0)
        return digits;
    const unsigned widest = count >= MANY ? WIDE_DIGIT : NARROW_DIGIT;
    digits.shift = (unsigned)__builtin_ctzll(differing);
    unsigned bits = 64 - (unsigned)__builtin_clzll(differing) - digits.shift;
    digits.rounds = (bits + widest - 1) / widest;
    digits.width = (bits + digits.rounds - 1) / digits.rounds;
    return digits;
}

static unsigned digit_of(uint64_t word, const struct digits *digits, unsigned round)
{
    return (unsigned)(word >> (digits->shift + round * digits->width)) & ((1u << digits->width) - 1);
}

static void to_places(size_t *counts, size_t values)
{
    size_t at = 0;
    for (size_t v = 0; v < values; v++) {
        size_t here = counts[v];
        counts[v] = at;
        at += here;
    }
}

#define DEFINE_INSERTION(name, type, IS_LESS)                                                                \
    static void name(type *items, size_t count)                                                              \
    {                                                                                                        \
        for (size_t i = 1; i < count; i++) {                                                                 \
            const type item = items[i];                                                                      \
            size_t at = i;                                                                                   \
            for (; at > 0 && IS_LESS(item, items[at - 1]); at--)                                             \
                items[at] = items[at - 1];                                                                   \
            items[at] = item;                                                                                \
        }                                                                                                    \
    }

/* FIELD: the word of an item that counts. */
#define DEFINE_ROUNDS(name, type, FIELD)                                                                     \
    static type *name(type *items, type *scratch, size_t count)                                              \
    {                                                                                                        \
        size_t places[1u << WIDE_DIGIT];                                                                     \
        uint64_t differing = 0;                                                                              \
        for (size_t i = 0; i < count; i++)                                                                   \
            differing |= items[i] FIELD ^ items[0] FIELD;                                                    \
        const struct digits digits = cut(differing, count);                                                  \
        type *from = items;                                                                                  \
        type *to = scratch;                                                                                  \
        for (unsigned r = 0; r < digits.rounds; r++) {                                                       \
            memset(places, 0, sizeof *places << digits.width);                                               \
            for (size_t i = 0; i < count; i++)                                                               \
                places[digit_of(from[i] FIELD, &digits, r)]++;                                               \
            to_places(places, (size_t)1 << digits.width);                                                    \
            for (size_t i = 0; i < count; i++)                                                               \
                to[places[digit_of(from[i] FIELD, &digits, r)]++] = from[i];                                 \
            type *other = from;                                                                              \
            from = to;                                                                                       \
            to = other;                                                                                      \
        }                                                                                                    \
        return from;                                                                                         \
    }

/* A word to sort by, and what it belongs to: an entry of one word. */
struct pair {
    uint64_t word, item;
};

#define PAIR_LESS(a, b) ((a).word < (b).word)
#define WORD_LESS(a, b) ((a) < (b))
#define TWINS_LESS(a, b) ((a).major < (b).major || ((a).major == (b).major && (a).minor < (b).minor))

DEFINE_INSERTION(insert_pairs, struct pair, PAIR_LESS)
DEFINE_INSERTION(insert_words, uint64_t, WORD_LESS)
DEFINE_INSERTION(insert_twins, struct sta_word_pair, TWINS_LESS)
DEFINE_ROUNDS(pair_rounds, struct pair, .word)
DEFINE_ROUNDS(word_rounds, uint64_t, )
DEFINE_ROUNDS(minor_rounds, struct sta_word_pair, .minor)
DEFINE_ROUNDS(major_rounds, struct sta_word_pair, .major)

static struct pair *sort_pairs(struct pair *pairs, struct pair *scratch, size_t count)
{
    if (count > FEW)
        return pair_rounds(pairs, scratch, count);
    insert_pairs(pairs, count);
    return pairs;
}

void sta_radix_sort_words(uint64_t *words, uint64_t *scratch, size_t count)
{
    if (count <= FEW)
        insert_words(words, count);
    else if (word_rounds(words, scratch, count) != words)
        memcpy(words, scratch, count * sizeof *words);
}

void sta_radix_sort_pairs(struct sta_word_pair *twins, struct sta_word_pair *scratch, size_t count)
{
    if (count <= FEW) {
        insert_twins(twins, count);
        return;
    }
    struct sta_word_pair *by_minor = minor_rounds(twins, scratch, count);
    struct sta_word_pair *sorted = major_rounds(by_minor, by_minor == twins ? scratch : twins, count);
    if (sorted != twins)
        memcpy(twins, sorted, count * sizeof *twins);
}

/* ---- entries */

struct long_entries {
    const uint64_t *entries;
    unsigned words;
};

/* Sorts pairs of a word and the number of its entry, whose words before it are equal.  Return: where they are
 * then. */
static struct pair *sort_by_word(const struct long_entries *all, struct pair *pairs, struct pair *scratch,
                                 size_t count, unsigned word)
{
    struct pair *sorted = sort_pairs(pairs, scratch, count);
    struct pair *spare = sorted == pairs ? scratch : pairs;
    if (word + 1 == all->words)
        return sorted;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && sorted[end].word == sorted[first].word;)
            end++;
        if (end - first == 1)
            continue;
        for (size_t i = first; i < end; i++)
            sorted[i].word = all->entries[sorted[i].item * (all->words + 1) + word + 1];
        struct pair *range = sort_by_word(all, sorted + first, spare + first, end - first, word + 1);
        if (range != sorted + first)
            memcpy(sorted + first, range, (end - first) * sizeof *range);
    }
    return sorted;
}

static uint64_t *sort_long(uint64_t *entries, uint64_t *scratch, size_t count, unsigned words)
{
    const struct long_entries all = {entries, words};
    const size_t step = words + 1;
    struct pair *pairs = sta_array_create(count, 2 * sizeof *pairs);
    if (pairs == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct pair){entries[i * step], i};
    const struct pair *sorted = sort_by_word(&all, pairs, pairs + count, count, 0);
    for (size_t i = 0; i < count; i++)
        memcpy(&scratch[i * step], &entries[sorted[i].item * step], step * sizeof *entries);
    free(pairs);
    return scratch;
}

uint64_t *sta_radix_sort_entries(uint64_t *entries, uint64_t *scratch, size_t count, unsigned words)
{
    if (words > 1)
        return sort_long(entries, scratch, count, words);
    return (uint64_t *)sort_pairs((struct pair *)entries, (struct pair *)scratch, count);
}
