/* The order of texts by their bytes, and the rank of each text of a dictionary in it.
 *
 * DESIGN of the sort: a quicksort with three ways, in place.  A text is compared eight bytes at a time, as a
 * big-endian number, behind what all texts of the range have in common (paths share most of themselves); what
 * is left of it, at most eight bytes, tells a text that ends from one that goes on with zeros.  Texts that
 * equal the pivot go on with the next eight bytes.  Pivots lie at places that no input knows to choose. */
#include <stdatomic.h>
#include <string.h>

#include "common/account.h"
#include "common/dictionary.h"
#include "common/memory.h"

int sta_text_order(struct sta_text a, struct sta_text b)
{
    int order = memcmp(a.bytes, b.bytes, STA_MIN(a.length, b.length));
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* ---- sorting */

static uint64_t head_of(struct sta_text text, uint32_t depth)
{
    unsigned char bytes[8] = {0};
    if (text.length > depth)
        memcpy(bytes, text.bytes + depth, STA_MIN(text.length - depth, sizeof bytes));
    uint64_t head;
    memcpy(&head, bytes, sizeof head);
    return __builtin_bswap64(head);
}

#define FEW_TEXTS 16
#define TEXTS_PER_LOOK 65536 /* between two looks whether the sort is still wanted */

/* Texts that agree in their first @depth bytes; @headed: their heads are those behind. */
struct range {
    struct sta_numbered_text *items;
    size_t count;
    uint32_t depth;
    bool headed;
};

static bool is_cancelled(const _Atomic bool *cancel, size_t step)
{
    return cancel != NULL && step % TEXTS_PER_LOOK == 0 && atomic_load_explicit(cancel, memory_order_relaxed);
}

/* Bytes behind the head's first that belong to the text. */
static uint32_t rest_of(const struct sta_numbered_text *item, uint32_t depth)
{
    return STA_MIN(item->text.length - depth, 8);
}

static int compare_heads(const struct sta_numbered_text *a, const struct sta_numbered_text *b, uint32_t depth)
{
    const uint32_t rest_a = rest_of(a, depth), rest_b = rest_of(b, depth);
    return a->head != b->head ? (a->head > b->head) - (a->head < b->head)
                              : (rest_a > rest_b) - (rest_a < rest_b);
}

/* Moves the depth behind the bytes that all texts of the range have in common. */
static int skip_common(struct range *range, const _Atomic bool *cancel)
{
    const struct sta_text first = range->items[0].text;
    uint32_t common = first.length;
    for (size_t i = 1; i < range->count && common > range->depth; i++) {
        const struct sta_text text = range->items[i].text;
        const uint32_t most = STA_MIN(common, text.length);
        uint32_t same = range->depth;
        while (same < most && first.bytes[same] == text.bytes[same])
            same++;
        common = same;
        if (is_cancelled(cancel, i))
            return STA_ECANCELLED;
    }
    range->depth = common;
    return STA_OK;
}

static int set_heads(struct range *range, const _Atomic bool *cancel)
{
    if (skip_common(range, cancel) != STA_OK)
        return STA_ECANCELLED;
    for (size_t i = 0; i < range->count; i++) {
        range->items[i].head = head_of(range->items[i].text, range->depth);
        if (is_cancelled(cancel, i))
            return STA_ECANCELLED;
    }
    range->headed = true;
    return STA_OK;
}

static void swap_items(struct sta_numbered_text *a, struct sta_numbered_text *b)
{
    const struct sta_numbered_text kept = *a;
    *a = *b;
    *b = kept;
}

/* The middle one of three. */
static struct sta_numbered_text pivot_of(const struct range *range)
{
    const uint64_t scattered = range->count * UINT64_C(0x9e3779b97f4a7c15);
    const struct sta_numbered_text *a = &range->items[(scattered >> 8) % range->count];
    const struct sta_numbered_text *b = &range->items[(scattered >> 24) % range->count];
    const struct sta_numbered_text *c = &range->items[(scattered >> 40) % range->count];
    if (compare_heads(a, b, range->depth) > 0) {
        const struct sta_numbered_text *kept = a;
        a = b;
        b = kept;
    }
    return compare_heads(c, a, range->depth) <= 0 ? *a : compare_heads(c, b, range->depth) >= 0 ? *b : *c;
}

/* @parts: below, like and above the pivot. */
static int split(const struct range *range, struct range parts[3], const _Atomic bool *cancel)
{
    const struct sta_numbered_text pivot = pivot_of(range);
    struct sta_numbered_text *items = range->items;
    size_t low = 0, high = range->count;
    for (size_t i = 0, step = 1; i < high; step++) {
        const int order = compare_heads(&items[i], &pivot, range->depth);
        if (order < 0)
            swap_items(&items[i++], &items[low++]);
        else if (order > 0)
            swap_items(&items[i], &items[--high]);
        else
            i++;
        if (is_cancelled(cancel, step))
            return STA_ECANCELLED;
    }
    const bool ended = rest_of(&pivot, range->depth) < 8; /* then texts like the pivot are all the same */
    parts[0] = (struct range){items, low, range->depth, true};
    parts[1] = (struct range){items + low, ended ? 0 : high - low, range->depth + 8, false};
    parts[2] = (struct range){items + high, range->count - high, range->depth, true};
    return STA_OK;
}

static void sort_few(const struct range *range)
{
    for (size_t i = 1; i < range->count; i++)
        for (size_t k = i; k > 0 && sta_text_order(range->items[k - 1].text, range->items[k].text) > 0; k--)
            swap_items(&range->items[k - 1], &range->items[k]);
}

/* Calls itself for the two smaller parts: no deeper than the logarithm of the count. */
static int sort_range(struct range range, const _Atomic bool *cancel)
{
    while (range.count > FEW_TEXTS) {
        struct range parts[3];
        if ((!range.headed && set_heads(&range, cancel) != STA_OK) || split(&range, parts, cancel) != STA_OK)
            return STA_ECANCELLED;
        size_t largest = parts[0].count >= parts[1].count ? 0 : 1;
        largest = parts[2].count > parts[largest].count ? 2 : largest;
        for (size_t i = 0; i < 3; i++)
            if (i != largest && sort_range(parts[i], cancel) != STA_OK)
                return STA_ECANCELLED;
        range = parts[largest];
    }
    sort_few(&range);
    return is_cancelled(cancel, 0) ? STA_ECANCELLED : STA_OK;
}

int sta_texts_sort(struct sta_numbered_text *texts, size_t count, const _Atomic bool *cancel)
{
    return sort_range((struct range){.items = texts, .count = count}, cancel);
}

/* ---- ranks */

uint32_t *sta_dictionary_ranks(const struct sta_dictionary *dictionary, struct sta_account *account,
                               uint32_t *count, struct sta_error *err)
{
    *count = sta_dictionary_count(dictionary);
    uint32_t *ranks = sta_account_alloc(account, *count, sizeof *ranks, "ranks of texts", err);
    if (ranks == NULL)
        return NULL;
    struct sta_numbered_text *texts =
        sta_account_alloc(account, *count, sizeof *texts, "ranks of texts", err);
    if (texts == NULL) {
        sta_account_free(account, ranks);
        return NULL;
    }
    for (uint32_t code = 0; code < *count; code++)
        texts[code] =
            (struct sta_numbered_text){.number = code, .text = sta_dictionary_text(dictionary, code)};
    STA_ASSERT(sta_texts_sort(texts, *count, NULL) == STA_OK);
    for (uint32_t rank = 0; rank < *count; rank++)
        ranks[texts[rank].number] = rank;
    sta_account_free(account, texts);
    return ranks;
}
