/* Radix sorts, a byte at a time, least significant first.
 *
 * DESIGN.  One pass counts the values of all bytes; a byte in which no two items differ is left out, so that the small numbers and
 * narrow ranges that traces are full of take two or three rounds.  Few items are sorted by insertion.  One loop for each kind of item, made by
 * a macro, since the speed lies in the compiler knowing its size. */
#include "analyse/query/grouping/sort.h"

#include <stdbool.h>
#include <string.h>

#include "common/memory.h"

#define BYTES 8
#define VALUES 256
#define FEW 48 /* insertion is faster below */

/* Turns counts into first places; false when all items share the value. */
static bool to_places(size_t places[VALUES], size_t count)
{
    size_t at = 0;
    for (unsigned v = 0; v < VALUES; v++) {
        size_t here = places[v];
        if (here == count)
            return false;
        places[v] = at;
        at += here;
    }
    return true;
}

/* FIELD: the word of an item that counts. */
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

#define DEFINE_ROUNDS(name, type, FIELD)                                                                     \
    static type *name(type *items, type *scratch, size_t count)                                              \
    {                                                                                                        \
        size_t places[BYTES][VALUES];                                                                        \
        memset(places, 0, sizeof places);                                                                    \
        for (size_t i = 0; i < count; i++)                                                                   \
            for (unsigned b = 0; b < BYTES; b++)                                                             \
                places[b][items[i] FIELD >> (8 * b) & 0xff]++;                                               \
        type *from = items;                                                                                  \
        type *to = scratch;                                                                                  \
        for (unsigned b = 0; b < BYTES; b++) {                                                               \
            if (!to_places(places[b], count))                                                                \
                continue;                                                                                    \
            for (size_t i = 0; i < count; i++)                                                               \
                to[places[b][from[i] FIELD >> (8 * b) & 0xff]++] = from[i];                                  \
            type *other = from;                                                                              \
            from = to;                                                                                       \
            to = other;                                                                                      \
        }                                                                                                    \
        return from;                                                                                         \
    }

#define PAIR_LESS(a, b) ((a).word < (b).word)
#define WORD_LESS(a, b) ((a) < (b))
#define TWINS_LESS(a, b) ((a).major < (b).major || ((a).major == (b).major && (a).minor < (b).minor))

DEFINE_INSERTION(insert_pairs, struct sta_sort_pair, PAIR_LESS)
DEFINE_INSERTION(insert_words, uint64_t, WORD_LESS)
DEFINE_INSERTION(insert_twins, struct sta_sort_twins, TWINS_LESS)
DEFINE_ROUNDS(pair_rounds, struct sta_sort_pair, .word)
DEFINE_ROUNDS(word_rounds, uint64_t, )
DEFINE_ROUNDS(minor_rounds, struct sta_sort_twins, .minor)
DEFINE_ROUNDS(major_rounds, struct sta_sort_twins, .major)

struct sta_sort_pair *sta_sort_pairs(struct sta_sort_pair *pairs, struct sta_sort_pair *scratch, size_t count)
{
    if (count > FEW)
        return pair_rounds(pairs, scratch, count);
    insert_pairs(pairs, count);
    return pairs;
}

void sta_sort_words(uint64_t *words, uint64_t *scratch, size_t count)
{
    if (count <= FEW)
        insert_words(words, count);
    else if (word_rounds(words, scratch, count) != words)
        memcpy(words, scratch, count * sizeof *words);
}

void sta_sort_twins(struct sta_sort_twins *twins, struct sta_sort_twins *scratch, size_t count)
{
    if (count <= FEW) {
        insert_twins(twins, count);
        return;
    }
    struct sta_sort_twins *by_minor = minor_rounds(twins, scratch, count);
    struct sta_sort_twins *sorted = major_rounds(by_minor, by_minor == twins ? scratch : twins, count);
    if (sorted != twins)
        memcpy(twins, sorted, count * sizeof *twins);
}
