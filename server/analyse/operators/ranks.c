/* Dictionaries of a key or argument, and the order of the texts that occur. */
#include "analyse/operators/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct sta_texts *sta_texts_create(struct sta_account *account)
{
    struct sta_texts *texts = sta_alloc(sizeof *texts);
    texts->account = account;
    pthread_mutex_init(&texts->lock, NULL);
    return texts;
}

void sta_texts_destroy(struct sta_texts *texts)
{
    if (texts == NULL)
        return;
    sta_dictionary_destroy(texts->own);
    pthread_mutex_destroy(&texts->lock);
    free(texts);
}

static uint32_t find(const struct sta_texts *texts, const struct sta_dictionary *dictionary, uint32_t count)
{
    uint32_t number = 0;
    while (number < count &&
           atomic_load_explicit(&texts->dictionaries[number], memory_order_relaxed) != dictionary)
        number++;
    return number;
}

uint32_t sta_texts_dictionary(struct sta_texts *texts, const struct sta_dictionary *dictionary)
{
    uint32_t count = atomic_load_explicit(&texts->count, memory_order_acquire);
    uint32_t number = find(texts, dictionary, count);
    if (number < count)
        return number;
    pthread_mutex_lock(&texts->lock);
    count = atomic_load_explicit(&texts->count, memory_order_relaxed);
    number = find(texts, dictionary, count);
    if (number == count) {
        STA_ASSERT(count < STA_MOST_DICTIONARIES);
        atomic_store_explicit(&texts->dictionaries[count], dictionary, memory_order_release);
        atomic_store_explicit(&texts->count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&texts->lock);
    return number;
}

void sta_texts_close(struct sta_texts *texts)
{
    if (atomic_load(&texts->count) == 1) {
        texts->results = atomic_load(&texts->dictionaries[0]);
        return;
    }
    if (texts->own == NULL)
        texts->own = sta_dictionary_create_in(texts->account);
    texts->results = texts->own;
}

uint32_t sta_texts_result(struct sta_texts *texts, uint64_t number)
{
    if (texts->own == NULL)
        return (uint32_t)number;
    struct sta_text text = sta_texts_get(texts, number);
    return sta_dictionary_intern(texts->own, text.bytes, text.length);
}

int sta_texts_compare(const struct sta_texts *texts, uint64_t a, uint64_t b)
{
    return a == b ? 0 : sta_text_order(sta_texts_get(texts, a), sta_texts_get(texts, b));
}

/* ---- ranks */

int sta_ranks_init(struct sta_ranks *ranks, struct sta_texts *texts, struct sta_error *err)
{
    uint32_t count = atomic_load_explicit(&texts->count, memory_order_acquire);
    *ranks = (struct sta_ranks){.texts = texts, .dictionary_count = count};
    ranks->of_code = sta_alloc_array(count, sizeof *ranks->of_code);
    ranks->code_count = sta_alloc_array(count, sizeof *ranks->code_count);
    for (uint32_t d = 0; d < count; d++) {
        const uint32_t codes = sta_dictionary_count(atomic_load(&texts->dictionaries[d]));
        ranks->of_code[d] =
            sta_account_calloc(texts->account, codes, sizeof **ranks->of_code, "ranks of texts", err);
        if (ranks->of_code[d] == NULL)
            return err->status;
        ranks->code_count[d] = codes;
    }
    return STA_OK;
}

void sta_ranks_fini(struct sta_ranks *ranks)
{
    struct sta_account *account = ranks->texts != NULL ? ranks->texts->account : NULL;
    for (uint32_t d = 0; d < ranks->dictionary_count; d++)
        sta_account_free(account, ranks->of_code[d]);
    free(ranks->of_code);
    free(ranks->code_count);
    sta_account_free(account, ranks->numbers);
    *ranks = (struct sta_ranks){0};
}

void sta_ranks_mark_all(struct sta_ranks *ranks)
{
    for (uint32_t d = 0; d < ranks->dictionary_count; d++)
        for (uint32_t code = 0; code < ranks->code_count[d]; code++)
            ranks->of_code[d][code] = 1;
}

static size_t count_marked(const struct sta_ranks *ranks)
{
    size_t count = 0;
    for (uint32_t d = 0; d < ranks->dictionary_count; d++)
        for (uint32_t code = 0; code < ranks->code_count[d]; code++)
            count += ranks->of_code[d][code] != 0;
    return count;
}

static int list_marked(const struct sta_ranks *ranks, struct sta_numbered_text *items,
                       const struct sta_budget *budget, struct sta_error *err)
{
    for (uint32_t d = 0; d < ranks->dictionary_count; d++)
        for (uint32_t code = 0; code < ranks->code_count[d]; code++) {
            const int rc = sta_budget_check_step(budget, code + 1, err);
            if (rc != 0)
                return rc;
            if (ranks->of_code[d][code] == 0)
                continue;
            const uint64_t number = (uint64_t)d << 32 | code;
            *items++ =
                (struct sta_numbered_text){.number = number, .text = sta_texts_get(ranks->texts, number)};
        }
    return STA_OK;
}

/* Equal texts, which lie side by side, get one rank. */
static int give_ranks(struct sta_ranks *ranks, const struct sta_numbered_text *items, size_t count,
                      const struct sta_budget *budget, struct sta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sta_text_order(items[i - 1].text, items[i].text) != 0)
            ranks->numbers[ranks->count++] = items[i].number;
        ranks->of_code[items[i].number >> 32][(uint32_t)items[i].number] = ranks->count - 1;
        const int rc = sta_budget_check_step(budget, i, err);
        if (rc != 0)
            return rc;
    }
    return STA_OK;
}

int sta_ranks_finalize(struct sta_ranks *ranks, const struct sta_budget *budget, struct sta_error *err)
{
    const size_t count = count_marked(ranks);
    struct sta_account *account = ranks->texts->account;
    struct sta_numbered_text *items = sta_account_alloc(account, count, sizeof *items, "ranks of texts", err);
    if (items == NULL)
        return err->status;
    ranks->numbers = sta_account_alloc(account, count, sizeof *ranks->numbers, "ranks of texts", err);
    int rc = ranks->numbers != NULL ? list_marked(ranks, items, budget, err) : err->status;
    if (rc == 0 && sta_texts_sort(items, count, budget->cancel) != STA_OK)
        rc = sta_budget_check(budget, err);
    if (rc == 0)
        rc = give_ranks(ranks, items, count, budget, err);
    sta_account_free(account, items);
    return rc;
}
