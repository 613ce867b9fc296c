/* The order of texts by their bytes, and the rank of each text of a dictionary in it.
 *
 * DESIGN of the sort: a text is compared eight bytes at a time, as a big-endian number, behind what all texts
 * of the range have in common (paths share most of themselves).  Ranges that stay equal are sorted by the
 * next eight bytes. */
#include <stdlib.h>
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

static int compare_items(const void *left, const void *right)
{
    const struct sta_numbered_text *a = left;
    const struct sta_numbered_text *b = right;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    return 0;
}

static int compare_whole_items(const void *left, const void *right)
{
    return sta_text_order(((const struct sta_numbered_text *)left)->text,
                          ((const struct sta_numbered_text *)right)->text);
}

/* Bytes that all texts of the range have in common, at least @depth. */
static uint32_t common_prefix(const struct sta_numbered_text *items, size_t count, uint32_t depth)
{
    struct sta_text first = items[0].text;
    uint32_t common = first.length;
    for (size_t i = 1; i < count && common > depth; i++) {
        struct sta_text text = items[i].text;
        uint32_t most = STA_MIN(common, text.length);
        uint32_t same = depth;
        while (same < most && first.bytes[same] == text.bytes[same])
            same++;
        common = same;
    }
    return STA_MAX(common, depth);
}

#define FEW_TEXTS 16
#define DEEPEST 8 /* ranges that stay equal longer are compared as a whole */

static void sort_items(struct sta_numbered_text *items, size_t count, uint32_t depth, unsigned level)
{
    if (count < 2)
        return;
    if (count <= FEW_TEXTS || level == DEEPEST) {
        qsort(items, count, sizeof *items, compare_whole_items);
        return;
    }
    depth = common_prefix(items, count, depth);
    for (size_t i = 0; i < count; i++)
        items[i].head = head_of(items[i].text, depth);
    qsort(items, count, sizeof *items, compare_items);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && items[end].head == items[begin].head;)
            end++;
        /* Zeros behind the end of a text look like zeros inside another: such ranges are for the whole
         * comparison. */
        bool may_end = (items[begin].head & 0xff) == 0;
        if (end - begin > 1)
            sort_items(items + begin, end - begin, depth + (may_end ? 0 : 8), may_end ? DEEPEST : level + 1);
    }
}

void sta_texts_sort(struct sta_numbered_text *texts, size_t count)
{
    sort_items(texts, count, 0, 0);
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
    sta_texts_sort(texts, *count);
    for (uint32_t rank = 0; rank < *count; rank++)
        ranks[texts[rank].number] = rank;
    sta_account_free(account, texts);
    return ranks;
}
