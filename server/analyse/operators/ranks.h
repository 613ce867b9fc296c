/* ranks.h - the texts of a key or an argument, which may come from several dictionaries
 * (private to analyse).
 *
 * While rows are taken a text is a number, dictionary << 32 | code: nothing is translated, and one text in
 * two dictionaries is two numbers.  Ranks bring them together at the merge: equal texts have equal ranks, and
 * ranks order like texts. */
#ifndef STA_ANALYSE_OPERATORS_RANKS_H
#define STA_ANALYSE_OPERATORS_RANKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/exec/budget.h"
#include "common/account.h"
#include "common/dictionary.h"

#define STA_MOST_DICTIONARIES 1024 /* most for one key or argument; each trace brings a few */

struct sta_texts {
    _Atomic(const struct sta_dictionary *) dictionaries[STA_MOST_DICTIONARIES];
    _Atomic uint32_t count;
    pthread_mutex_t lock;        /* held to add a dictionary */
    struct sta_account *account; /* of what is kept by text */
    struct sta_dictionary *own;  /* where results lie when there are several; made by sta_texts_close */
    const struct sta_dictionary *results; /* the only one, or own */
};
/** @account: charged with ranks and with texts of results; should be one of sta_account_init_texts. */
struct sta_texts *sta_texts_create(struct sta_account *account);
void sta_texts_destroy(struct sta_texts *texts); /* NULL allowed */
/** Number of a dictionary.  Context: any thread. */
uint32_t sta_texts_dictionary(struct sta_texts *texts, const struct sta_dictionary *dictionary);
/** Says that no further dictionary comes, and fixes the one of the results. */
void sta_texts_close(struct sta_texts *texts);
/** After that: the code of a text in texts->results.  Context: any thread. */
uint32_t sta_texts_result(struct sta_texts *texts, uint64_t number);

static inline struct sta_text sta_texts_get(const struct sta_texts *texts, uint64_t number)
{
    return sta_dictionary_text(atomic_load_explicit(&texts->dictionaries[number >> 32], memory_order_acquire),
                               (uint32_t)number);
}

/** As memcmp: by bytes, which is by code point. */
int sta_texts_compare(const struct sta_texts *texts, uint64_t a, uint64_t b);

/* ---- ranks of the texts that occur */

struct sta_ranks {
    struct sta_texts *texts;
    uint32_t dictionary_count;
    uint32_t **of_code; /* by dictionary, by code: the rank; or, while marking, not 0 where the text occurs */
    uint32_t *code_count; /* by dictionary */
    uint64_t *numbers;    /* by rank: one of the numbers of the text */
    uint32_t count;       /* of ranks */
};
/** Memory for all codes there are now, none of which occurs.  Several threads may mark.
 * Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ENOSPC.  Fini also after a failure. */
STA_MUSTCHECK int sta_ranks_init(struct sta_ranks *ranks, struct sta_texts *texts, struct sta_error *err);
void sta_ranks_fini(struct sta_ranks *ranks);
static inline void sta_ranks_mark(struct sta_ranks *ranks, uint64_t number)
{
    uint32_t *mark = &ranks->of_code[number >> 32][(uint32_t)number];
    if (__atomic_load_n(mark, __ATOMIC_RELAXED) == 0) /* lines that are only read are shared */
        __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
}
void sta_ranks_mark_all(struct sta_ranks *ranks);
/** Ranks what was marked, by one thread.  Return: as init, and what sta_budget_check returns. */
STA_MUSTCHECK int sta_ranks_finalize(struct sta_ranks *ranks, const struct sta_budget *budget,
                                     struct sta_error *err);
static inline uint32_t sta_ranks_of(const struct sta_ranks *ranks, uint64_t number)
{
    return ranks->of_code[number >> 32][(uint32_t)number];
}

#endif
