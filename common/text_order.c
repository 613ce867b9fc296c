/* The order of texts by their bytes, and the rank of each text of a dictionary in it. */
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

static int compare_by_text(const void *left, const void *right, void *context)
{
    struct sta_text a = sta_dictionary_text(context, *(const uint32_t *)left);
    struct sta_text b = sta_dictionary_text(context, *(const uint32_t *)right);
    return sta_text_order(a, b);
}

uint32_t *sta_dictionary_ranks(const struct sta_dictionary *dictionary, struct sta_account *account,
                               uint32_t *count, struct sta_error *err)
{
    *count = sta_dictionary_count(dictionary);
    uint32_t *ranks = sta_account_alloc(account, *count, sizeof *ranks, "ranks of texts", err);
    if (ranks == NULL)
        return NULL;
    uint32_t *codes = sta_account_alloc(account, *count, sizeof *codes, "ranks of texts", err);
    if (codes == NULL) {
        sta_account_free(account, ranks);
        return NULL;
    }
    for (uint32_t code = 0; code < *count; code++)
        codes[code] = code;
    qsort_r(codes, *count, sizeof *codes, compare_by_text, (void *)dictionary);
    for (uint32_t rank = 0; rank < *count; rank++)
        ranks[codes[rank]] = rank;
    sta_account_free(account, codes);
    return ranks;
}
