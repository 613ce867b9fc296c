/* Dictionaries: dense codes that stay, for one thread and for many at once. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/buffer.h"
#include "common/dictionary.h"
#include "common/memory.h"
#include "common/parallel.h"

#define TEXTS 100000 /* so that threads share the work where there are many */
#define THREADS 4

Test(dictionary, codes_are_dense_and_texts_stay)
{
    struct sta_dictionary *dictionary = sta_dictionary_create();
    char text[32];
    struct sta_text first = {0};
    for (uint32_t i = 0; i < TEXTS; i++) {
        int length = snprintf(text, sizeof text, "text %u", i);
        cr_assert_eq(sta_dictionary_intern(dictionary, text, (size_t)length), i);
        if (i == 0)
            first = sta_dictionary_text(dictionary, 0);
    }
    cr_assert_eq(sta_dictionary_count(dictionary), TEXTS);
    cr_assert_eq(sta_dictionary_text(dictionary, 0).bytes, first.bytes);
    cr_assert_str_eq(sta_dictionary_text(dictionary, 99999).bytes, "text 99999");
    cr_assert_eq(sta_dictionary_find(dictionary, "text 100000", 11), STA_NO_CODE);
    sta_dictionary_destroy(dictionary);
}

Test(dictionary, appended_texts_are_found_as_if_interned)
{
    enum { FEW = 20000 }; /* no threads share this */
    struct sta_dictionary *dictionary = sta_dictionary_create();
    char text[32];
    for (uint32_t i = 0; i < FEW; i++) {
        int length = snprintf(text, sizeof text, "text %u", i);
        uint32_t code = i % 3 == 0 || i > FEW / 2 ? sta_dictionary_append(dictionary, text, (size_t)length)
                                                  : sta_dictionary_intern(dictionary, text, (size_t)length);
        cr_assert_eq(code, i);
    }
    for (uint32_t i = 0; i < FEW; i++) {
        int length = snprintf(text, sizeof text, "text %u", i);
        cr_assert_eq(sta_dictionary_find(dictionary, text, (size_t)length), i);
        cr_assert_eq(sta_dictionary_intern(dictionary, text, (size_t)length), i);
    }
    cr_assert_eq(sta_dictionary_count(dictionary), FEW);
    sta_dictionary_destroy(dictionary);
}

/* The text of a code, which is large when the context says so. */
static void put_number(const void *context, uint32_t code, struct sta_buffer *out)
{
    const size_t *blanks = context;
    sta_put_format(out, "text %u%*s", code, (int)*blanks, "");
}

static void find_all(void *context, unsigned worker)
{
    const struct sta_dictionary *dictionary = context;
    char text[32];
    for (uint32_t i = worker; i < TEXTS; i += 7) {
        const int length = snprintf(text, sizeof text, "text %u", i);
        STA_ASSERT(sta_dictionary_text(dictionary, i).length == (uint32_t)length);
        STA_ASSERT(strcmp(sta_dictionary_text(dictionary, i).bytes, text) == 0);
        STA_ASSERT(sta_dictionary_find(dictionary, text, (size_t)length) == i);
    }
}

Test(dictionary, texts_left_for_later_are_there_for_whoever_asks)
{
    static const size_t blanks = 0;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    sta_account_init(&account, SIZE_MAX, "memory", NULL);
    struct sta_dictionary *dictionary = sta_dictionary_create_in(&account);
    sta_dictionary_defer(dictionary, TEXTS, put_number, &blanks);
    cr_assert_eq(sta_dictionary_count(dictionary), TEXTS);
    cr_assert_lt(sta_dictionary_bytes(dictionary), 4096, "none is made");
    sta_parallel_run(THREADS, find_all, dictionary);
    cr_assert_eq(sta_dictionary_make(dictionary, &err), STA_OK, "they are there");
    cr_assert_geq(sta_dictionary_bytes(dictionary), TEXTS * (sizeof(struct sta_text) + 10));
    cr_assert_eq(sta_dictionary_intern(dictionary, "another", 7), TEXTS);
    cr_assert_eq(sta_dictionary_append(dictionary, "and one", 7), TEXTS + 1);
    cr_assert_eq(sta_dictionary_find(dictionary, "and one", 7), TEXTS + 1);
    sta_dictionary_destroy(dictionary);
    sta_account_fini(&account);
}

Test(dictionary, texts_left_for_later_come_before_those_that_are_new)
{
    static const size_t blanks = 0;
    struct sta_dictionary *interned = sta_dictionary_create(), *appended = sta_dictionary_create(),
                          *none = sta_dictionary_create();
    sta_dictionary_defer(interned, 3, put_number, &blanks);
    sta_dictionary_defer(appended, 40, put_number, &blanks);
    sta_dictionary_defer(none, 0, put_number, &blanks);
    cr_assert_eq(sta_dictionary_intern(interned, "text 2", 6), 2);
    cr_assert_eq(sta_dictionary_intern(interned, "text 3", 6), 3);
    cr_assert_eq(sta_dictionary_append(appended, "text 40", 7), 40);
    cr_assert_str_eq(sta_dictionary_text(appended, 39).bytes, "text 39");
    cr_assert_eq(sta_dictionary_intern(none, "text 0", 6), 0);
    sta_dictionary_destroy(interned);
    sta_dictionary_destroy(appended);
    sta_dictionary_destroy(none);
}

/* 100 texts of 100 kB in an account of 4 MiB. */
static struct sta_dictionary *defer_more_than_fits(struct sta_account *account)
{
    static const size_t blanks = 100000;
    sta_account_init(account, 4 << 20, "memory", NULL);
    struct sta_dictionary *dictionary = sta_dictionary_create_in(account);
    sta_dictionary_defer(dictionary, 100, put_number, &blanks);
    return dictionary;
}

Test(dictionary, texts_left_for_later_are_refused_until_there_is_memory)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    struct sta_dictionary *dictionary = defer_more_than_fits(&account);
    const size_t before = account.used;
    cr_assert_eq(sta_dictionary_make(dictionary, &err), STA_ELIMIT);
    cr_assert(strstr(err.text, "memory") != NULL, "%s", err.text);
    cr_assert_eq(account.used, before);
    cr_assert_eq(sta_account_failure(&account, &err), STA_OK, "it can be asked again");
    account.limit = 40 << 20;
    cr_assert_eq(sta_dictionary_make(dictionary, &err), STA_OK);
    cr_assert_eq(sta_dictionary_text(dictionary, 99).length, 100007);
    sta_dictionary_destroy(dictionary);
    sta_account_fini(&account);
}

Test(dictionary, who_asks_for_refused_texts_gets_empty_ones_and_a_failure)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    struct sta_dictionary *dictionary = defer_more_than_fits(&account);
    cr_assert_eq(sta_dictionary_text(dictionary, 50).length, 0);
    cr_assert_eq(sta_account_failure(&account, &err), STA_ELIMIT);
    cr_assert_eq(sta_dictionary_find(dictionary, "text", 4), STA_NO_CODE);
    cr_assert_eq(sta_dictionary_intern(dictionary, "text", 4), 0);
    cr_assert_eq(sta_dictionary_append(dictionary, "text", 4), 0);
    cr_assert_eq(sta_dictionary_count(dictionary), 100);
    sta_dictionary_destroy(dictionary);
    sta_account_fini(&account);
}

struct singles {
    struct sta_dictionary *dictionary;
    uint32_t codes[THREADS][TEXTS];
};

/* Some at once, each thread from another one on. */
static void intern_singles(void *context, unsigned worker)
{
    enum { SOME = 50 };
    struct singles *singles = context;
    uint32_t members[SOME], codes[SOME];
    for (uint32_t first = 0; first < TEXTS; first += SOME) {
        for (uint32_t i = 0; i < SOME; i++)
            members[i] = (first + i + worker * (TEXTS / THREADS)) % TEXTS;
        sta_dictionary_intern_singles(singles->dictionary, members, SOME, codes);
        for (uint32_t i = 0; i < SOME; i++) {
            STA_ASSERT(sta_dictionary_find_single(singles->dictionary, members[i]) == codes[i]);
            singles->codes[worker][members[i]] = codes[i];
        }
    }
}

Test(dictionary, lists_of_one_text_are_found_by_its_code)
{
    struct singles *singles = calloc(1, sizeof *singles);
    struct sta_dictionary *dictionary = singles->dictionary = sta_dictionary_create();
    sta_dictionary_index_singles(dictionary);
    cr_assert_eq(sta_dictionary_find_single(dictionary, 7), STA_NO_CODE);
    cr_assert_eq(sta_dictionary_intern(dictionary, "[]", 2), 0);
    sta_parallel_run(THREADS, intern_singles, singles);
    cr_assert_eq(sta_dictionary_count(dictionary), 1 + TEXTS, "each is there once");
    for (uint32_t member = 0; member < TEXTS; member++) {
        const struct sta_text list = sta_dictionary_text(dictionary, singles->codes[0][member]);
        cr_assert(list.length == 5 && list.bytes[0] == '\xff' && memcmp(list.bytes + 1, &member, 4) == 0);
        for (unsigned worker = 1; worker < THREADS; worker++)
            cr_assert_eq(singles->codes[worker][member], singles->codes[0][member]);
    }
    cr_assert_eq(sta_dictionary_intern(dictionary, "another", 7), 1 + TEXTS, "the table is of the others");
    cr_assert_eq(sta_dictionary_find(dictionary, "[]", 2), 0);
    sta_dictionary_destroy(dictionary);
    free(singles);
}

Test(dictionary, lists_of_one_text_that_are_refused_are_a_failure)
{
    uint32_t code, member = 1 << 22; /* far on: its place takes more than there is */
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    sta_account_init(&account, 1 << 20, "memory", NULL);
    struct sta_dictionary *dictionary = sta_dictionary_create_in(&account);
    sta_dictionary_index_singles(dictionary);
    sta_dictionary_intern_singles(dictionary, &member, 1, &code);
    cr_assert_eq(code, 0);
    cr_assert_eq(sta_dictionary_text(dictionary, 0).length, 5);
    cr_assert_eq(sta_account_failure(&account, &err), STA_ELIMIT);
    sta_dictionary_destroy(dictionary);
    cr_assert_eq(account.used, 0);
    sta_account_fini(&account);
}

Test(dictionary, many_are_found_as_one_is)
{
    struct sta_dictionary *dictionary = sta_dictionary_create();
    static char buffer[TEXTS][16];
    static struct sta_text texts[TEXTS];
    static uint32_t codes[TEXTS];
    for (uint32_t i = 0; i < TEXTS; i++) {
        texts[i] =
            (struct sta_text){buffer[i], (uint32_t)snprintf(buffer[i], sizeof buffer[i], "text %u", i)};
        if (i % 3 == 0)
            sta_dictionary_intern(dictionary, texts[i].bytes, texts[i].length);
    }
    sta_dictionary_find_many(dictionary, texts, TEXTS, codes);
    for (uint32_t i = 0; i < TEXTS; i++)
        cr_assert_eq(codes[i], sta_dictionary_find(dictionary, texts[i].bytes, texts[i].length));
    sta_dictionary_destroy(dictionary);
}

/* Some are there already, some new, some twice among the new. */
Test(dictionary, many_are_interned_as_one_is)
{
    struct sta_dictionary *dictionary = sta_dictionary_create();
    static struct sta_dictionary_cache cache;
    enum { COUNT = 5000, KINDS = 1700 };
    static struct sta_text texts[COUNT];
    static uint64_t hashes[COUNT];
    static uint32_t codes[COUNT];
    char name[32];
    sta_dictionary_cache_init(&cache, dictionary);
    for (unsigned i = 0; i < COUNT; i++) {
        int length = snprintf(name, sizeof name, "text %u", i * 7 % KINDS);
        texts[i] = (struct sta_text){strdup(name), (uint32_t)length};
        if (i % 5 == 0 && i < KINDS)
            sta_dictionary_intern(dictionary, name, (size_t)length);
        (void)sta_dictionary_cache_find(&cache, texts[i].bytes, texts[i].length, &hashes[i]);
    }
    sta_dictionary_cache_intern_many(&cache, texts, hashes, COUNT, codes);
    cr_assert_eq(sta_dictionary_count(dictionary), KINDS);
    for (unsigned i = 0; i < COUNT; i++) {
        cr_assert_eq(codes[i], sta_dictionary_find(dictionary, texts[i].bytes, texts[i].length));
        cr_assert_eq(codes[i], sta_dictionary_cache_intern(&cache, texts[i].bytes, texts[i].length));
        free((char *)(uintptr_t)texts[i].bytes);
    }
    sta_dictionary_destroy(dictionary);
}

enum { LARGE = 300000, GROUP = 50 }; /* so many that memory is made ready ahead; interned at once */

struct interning {
    struct sta_dictionary *dictionary;
    _Atomic uint32_t next;
};

static void intern_large(void *context, unsigned worker)
{
    struct interning *interning = context;
    struct sta_dictionary_cache *cache = sta_alloc(sizeof *cache);
    char bytes[GROUP][32];
    struct sta_text texts[GROUP];
    uint64_t hashes[GROUP];
    uint32_t codes[GROUP];
    sta_dictionary_cache_init(cache, interning->dictionary);
    for (uint32_t first; (first = atomic_fetch_add(&interning->next, GROUP / 2)) < LARGE;) {
        for (uint32_t i = 0; i < GROUP; i++) { /* half of them are another thread's too */
            const int length = snprintf(bytes[i], sizeof bytes[i], "a text of some bytes %u", first + i);
            texts[i] = (struct sta_text){bytes[i], (uint32_t)length};
            (void)sta_dictionary_cache_find(cache, bytes[i], (size_t)length, &hashes[i]);
        }
        sta_dictionary_cache_intern_many(cache, texts, hashes, GROUP, codes);
    }
    free(cache);
    (void)worker;
}

static struct sta_dictionary *intern_large_in(struct sta_account *account, unsigned threads)
{
    struct interning interning = {.dictionary = sta_dictionary_create_in(account)};
    sta_parallel_run(threads, intern_large, &interning);
    return interning.dictionary;
}

Test(dictionary, a_large_one_has_each_text_once_and_counts_its_memory)
{
    struct sta_account account;
    char text[32];
    sta_account_init(&account, SIZE_MAX, "memory", NULL);
    struct sta_dictionary *dictionary = intern_large_in(&account, THREADS);
    cr_assert_eq(sta_dictionary_count(dictionary), LARGE + GROUP / 2);
    for (uint32_t i = 0; i < LARGE + GROUP / 2; i++) {
        const int length = snprintf(text, sizeof text, "a text of some bytes %u", i);
        const uint32_t code = sta_dictionary_find(dictionary, text, (size_t)length);
        cr_assert(code != STA_NO_CODE && strcmp(sta_dictionary_text(dictionary, code).bytes, text) == 0);
    }
    cr_assert_eq(sta_dictionary_bytes(dictionary), account.used);
    sta_dictionary_destroy(dictionary);
    sta_account_fini(&account);
}

/* Several threads may meet a refusal and still keep all: a text that one of them could not keep is kept by
 * the next who has it, in memory that another had just made ready. */
static void intern_within(struct sta_account *account, unsigned threads)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_dictionary_destroy(intern_large_in(account, threads));
    const size_t most = account->peak;
    for (size_t limit = most / 4; limit < most; limit += most / 8) {
        account->limit = limit;
        struct sta_dictionary *dictionary = intern_large_in(account, threads);
        const bool all = sta_dictionary_count(dictionary) == LARGE + GROUP / 2;
        const bool refused = sta_account_failure(account, &err) != STA_OK;
        cr_assert(threads == 1 ? all != refused : all || refused, "at %zu of %zu", limit, most);
        cr_assert_leq(account->used, limit + threads * STA_HUGE_PAGE,
                      "each thread's last piece may be rounded up");
        sta_dictionary_destroy(dictionary);
        account->failing = 0;
    }
}

Test(dictionary, what_is_made_ready_ahead_is_no_failure_when_it_is_refused)
{
    static const unsigned threads[] = {1, THREADS};
    for (size_t i = 0; i < 2; i++) {
        struct sta_account account;
        sta_account_init(&account, SIZE_MAX, "memory", NULL);
        intern_within(&account, threads[i]);
        sta_account_fini(&account);
    }
}

Test(dictionary, texts_may_hold_zeros_and_be_empty)
{
    struct sta_dictionary *dictionary = sta_dictionary_create();
    uint32_t empty = sta_dictionary_intern(dictionary, "", 0);
    uint32_t zero = sta_dictionary_intern(dictionary, "\0", 1);
    uint32_t longer = sta_dictionary_intern(dictionary, "\0a", 2);
    cr_assert(empty != zero && zero != longer);
    cr_assert_eq(sta_dictionary_text(dictionary, longer).length, 2);
    sta_dictionary_destroy(dictionary);
}

Test(dictionary, ranks_follow_byte_order)
{
    struct sta_dictionary *dictionary = sta_dictionary_create();
    static const char *const texts[] = {"b", "", "ab", "a", "\xc3\xa9", "B"};
    static const uint32_t expected[] = {4, 0, 3, 2, 5, 1};
    uint32_t count;
    for (size_t i = 0; i < 6; i++)
        sta_dictionary_intern(dictionary, texts[i], strlen(texts[i]));
    struct sta_error err = STA_ERROR_INIT;
    uint32_t *ranks = sta_dictionary_ranks(dictionary, NULL, &count, &err);
    cr_assert_eq(count, 6);
    for (size_t i = 0; i < 6; i++)
        cr_assert_eq(ranks[i], expected[i], "%s", texts[i]);
    free(ranks);
    sta_dictionary_destroy(dictionary);
}

/* Texts of few bytes, zeros among them, most with a long prefix in common: many are equal, or prefixes. */
static struct sta_numbered_text *awkward_texts(size_t count, char *bytes, size_t most)
{
    static const char letters[] = {0, 'a', 'a', 'b', '\xff'};
    struct sta_numbered_text *texts = calloc(count, sizeof *texts);
    srand(11);
    for (size_t i = 0; i < count; i++) {
        char *text = bytes + i * most;
        const size_t same = i % 3 == 0 ? 0 : most / 2, length = same + (size_t)rand() % (most - same);
        for (size_t k = 0; k < length; k++)
            text[k] = k < same ? 'p' : letters[(size_t)rand() % sizeof letters];
        texts[i] = (struct sta_numbered_text){.number = i, .text = {text, (uint32_t)length}};
    }
    return texts;
}

Test(dictionary, texts_are_sorted_by_bytes_then_length)
{
    enum { COUNT = 20000, MOST = 40 };
    char *bytes = calloc(COUNT, MOST);
    bool *met = calloc(COUNT, sizeof *met);
    struct sta_numbered_text *texts = awkward_texts(COUNT, bytes, MOST);
    cr_assert_eq(sta_texts_sort(texts, COUNT, NULL), STA_OK);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert(i == 0 || sta_text_order(texts[i - 1].text, texts[i].text) <= 0, "%zu", i);
        cr_assert(!met[texts[i].number] && texts[i].text.bytes == bytes + texts[i].number * MOST);
        met[texts[i].number] = true;
    }
    free(texts);
    free(met);
    free(bytes);
}

Test(dictionary, a_sort_that_is_cancelled_says_so)
{
    enum { COUNT = 1000, MOST = 40 };
    char *bytes = calloc(COUNT, MOST);
    struct sta_numbered_text *texts = awkward_texts(COUNT, bytes, MOST);
    const _Atomic bool cancel = true;
    cr_assert_eq(sta_texts_sort(texts, COUNT, &cancel), STA_ECANCELLED);
    free(texts);
    free(bytes);
}

struct interned {
    struct sta_dictionary *dictionary;
    uint32_t codes[THREADS][TEXTS];
};

/* Every thread interns the same texts in another order, through a cache of its own. */
static void intern_all(void *context, unsigned worker)
{
    struct interned *interned = context;
    struct sta_dictionary_cache *cache = malloc(sizeof *cache);
    char text[32];
    sta_dictionary_cache_init(cache, interned->dictionary);
    for (uint32_t i = 0; i < TEXTS; i++) {
        uint32_t which = (i * 7919u + worker * 12345u) % TEXTS;
        int length = snprintf(text, sizeof text, "%u", which);
        interned->codes[worker][which] = sta_dictionary_cache_intern(cache, text, (size_t)length);
    }
    free(cache);
}

Test(dictionary, threads_agree)
{
    struct interned *interned = calloc(1, sizeof *interned);
    interned->dictionary = sta_dictionary_create();
    sta_parallel_run(THREADS, intern_all, interned);
    cr_assert_eq(sta_dictionary_count(interned->dictionary), TEXTS);
    for (uint32_t i = 0; i < TEXTS; i++) {
        char text[32];
        snprintf(text, sizeof text, "%u", i);
        for (unsigned worker = 1; worker < THREADS; worker++)
            cr_assert_eq(interned->codes[worker][i], interned->codes[0][i]);
        cr_assert_str_eq(sta_dictionary_text(interned->dictionary, interned->codes[0][i]).bytes, text);
    }
    sta_dictionary_destroy(interned->dictionary);
    free(interned);
}

/* ---- memory that is refused */

Test(dictionary, a_text_that_does_not_fit_is_a_failure_of_the_account)
{
    struct sta_account account;
    char text[32];
    for (size_t limit = 0; limit < (size_t)1 << 20; limit += limit / 3 + 1000) {
        struct sta_error err = STA_ERROR_INIT;
        sta_account_init(&account, limit, "memory", NULL);
        struct sta_dictionary *dictionary = sta_dictionary_create_in(&account);
        for (uint32_t i = 0; i < TEXTS; i++) {
            const size_t length = (size_t)snprintf(text, sizeof text, "text %u", i);
            const uint32_t code = i % 2 ? sta_dictionary_intern(dictionary, text, length)
                                        : sta_dictionary_append(dictionary, text, length);
            cr_assert_lt(code, sta_dictionary_count(dictionary));
            if (sta_account_failure(&account, &err) == STA_OK)
                cr_assert_eq(code, i);
        }
        cr_assert_eq(err.status, STA_ELIMIT);
        cr_assert_eq(sta_account_check(&account, 0, "rows", &err), STA_ELIMIT);
        cr_assert_leq(sta_dictionary_count(dictionary), TEXTS);
        for (uint32_t i = 0; i < sta_dictionary_count(dictionary); i += 97) {
            const struct sta_text kept = sta_dictionary_text(dictionary, i);
            cr_assert_neq(sta_dictionary_find(dictionary, kept.bytes, kept.length), STA_NO_CODE);
        }
        sta_dictionary_destroy(dictionary);
        sta_account_fini(&account);
    }
}

Test(dictionary, appended_texts_are_found_without_memory_for_a_table)
{
    struct sta_account account;
    char text[32];
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, (size_t)1 << 30, "memory", NULL);
    struct sta_dictionary *dictionary = sta_dictionary_create_in(&account);
    for (uint32_t i = 0; i < 1000; i++)
        sta_dictionary_append(dictionary, text, (size_t)snprintf(text, sizeof text, "text %u", i));
    account.limit = account.used;
    cr_assert_eq(sta_dictionary_find(dictionary, "text 999", 8), 999);
    cr_assert_eq(sta_dictionary_find(dictionary, "text 1000", 9), STA_NO_CODE);
    struct sta_text two[] = {{"text 3", 6}, {"none", 4}};
    uint32_t codes[2];
    sta_dictionary_find_many(dictionary, two, 2, codes);
    cr_assert(codes[0] == 3 && codes[1] == STA_NO_CODE);
    cr_assert_eq(sta_account_failure(&account, &err), STA_OK, "looking up changes nothing");
    sta_dictionary_destroy(dictionary);
    sta_account_fini(&account);
}
