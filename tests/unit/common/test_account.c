/* Accounts: charges fit or are refused whole, and what was charged is released. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/account.h"
#include "common/dictionary.h"
#include "common/map.h"

Test(account, a_charge_must_fit_in_the_account_and_in_its_parents)
{
    struct sta_account all, one;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&all, 1000, "memory", NULL);
    sta_account_init(&one, 5000, "query_memory", &all);
    cr_assert_eq(sta_account_charge(&one, 600, "rows", &err), STA_OK);
    cr_assert_eq(sta_account_charge(&one, 600, "rows", &err), STA_ELIMIT);
    cr_assert(strstr(err.text, "memory for rows") && strstr(err.text, "(setting memory)"), "%s", err.text);
    cr_assert_eq(one.used, 600, "a refused charge leaves nothing behind");
    cr_assert_eq(all.used, 600);
    sta_account_release(&one, 600);
    cr_assert_eq(all.peak, 600);
    sta_account_fini(&one);
    sta_account_fini(&all);
}

Test(account, memory_is_charged_until_it_is_freed)
{
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, 1 << 20, "memory", NULL);
    int *numbers = sta_account_calloc(&account, 100, sizeof *numbers, "numbers", &err);
    cr_assert(numbers != NULL && account.used >= 400 && numbers[99] == 0);
    numbers[99] = 7;
    numbers = sta_account_realloc(&account, numbers, 1000, sizeof *numbers, "numbers", &err);
    cr_assert(numbers != NULL && account.used >= 4000 && account.used < 8000 && numbers[99] == 7);
    cr_assert_null(sta_account_realloc(&account, numbers, 1 << 20, sizeof *numbers, "numbers", &err));
    cr_assert_eq(numbers[99], 7, "what does not fit leaves the old memory as it is");
    cr_assert_null(sta_account_alloc(&account, SIZE_MAX, 2, "numbers", &err));
    sta_account_free(&account, numbers);
    sta_account_fini(&account);
}

struct cache {
    struct sta_account *account;
    size_t holds;
};

static bool drop_half(void *context, size_t bytes, bool yields)
{
    struct cache *cache = context;
    size_t dropped = (cache->holds + 1) / 2;
    sta_account_release(cache->account, dropped);
    cache->holds -= dropped;
    return dropped > 0;
}

Test(account, what_can_be_made_again_makes_space_first)
{
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, 1000, "memory", NULL);
    struct cache cache = {&account, 900};
    account.reclaim = drop_half;
    account.reclaim_context = &cache;
    cr_assert_eq(sta_account_charge(&account, 900, "the cache", &err), STA_OK);
    cr_assert_eq(sta_account_charge(&account, 700, "rows", &err), STA_OK);
    cr_assert_leq(cache.holds, 300);
    cr_assert_eq(sta_account_charge(&account, 1001, "rows", &err), STA_ELIMIT);
    cr_assert_neq(cache.holds, 0, "nothing is dropped for what can never fit");
    sta_account_release(&account, 700 + cache.holds);
    sta_account_fini(&account);
}

static bool note_who_yields(void *context, size_t bytes, bool yields)
{
    *(int *)context = yields;
    return false;
}

Test(account, who_makes_space_knows_whether_it_is_for_work_that_yields)
{
    struct sta_account all, later, now, part;
    struct sta_error err = STA_ERROR_INIT;
    int yielded = -1;
    sta_account_init(&all, 1000, "memory", NULL);
    all.reclaim = note_who_yields;
    all.reclaim_context = &yielded;
    sta_account_init(&later, 5000, "query_memory", &all);
    sta_account_init(&now, 5000, "query_memory", &all);
    later.yields = true;
    sta_account_init_part(&part, &later);
    sta_account_overdraw(&all, 800);
    cr_assert_neq(sta_account_charge(&now, 300, "rows", &err), STA_OK);
    cr_expect_eq(yielded, 0);
    cr_assert_neq(sta_account_charge(&part, 300, "rows", &err), STA_OK);
    cr_expect_eq(yielded, 1, "what lies below an account yields with it");
    cr_assert_neq(sta_account_check(&now, 300, "rows", &err), STA_OK);
    cr_expect_eq(yielded, 0);
    sta_account_release(&all, 800);
    sta_account_fini(&part);
    sta_account_fini(&now);
    sta_account_fini(&later);
    sta_account_fini(&all);
}

Test(account, what_grows_in_small_steps_is_found_out_by_the_check)
{
    struct sta_account all, one;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&all, 1000, "memory", NULL);
    sta_account_init(&one, 500, "query_memory", &all);
    cr_assert_eq(sta_account_check(&one, 500, "rows", &err), STA_OK);
    cr_assert_eq(sta_account_check(&one, 501, "rows", &err), STA_ELIMIT);
    sta_account_overdraw(&one, 600);
    cr_assert_eq(sta_account_left(&one), 0);
    cr_assert_eq(sta_account_check(&one, 0, "texts", &err), STA_ELIMIT);
    cr_assert(strstr(err.text, "memory for texts") && strstr(err.text, "query_memory"), "%s", err.text);
    cr_assert_eq(all.used, 600);
    sta_account_close(&one);
    cr_assert_eq(all.used, 0, "the end of an account releases what it held");
    sta_account_fini(&all);
}

Test(account, what_others_hold_is_a_shortage_that_passes)
{
    struct sta_account all, one, other;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&all, 1000, "memory", NULL);
    sta_account_init(&one, 1000, "query_memory", &all);
    sta_account_init(&other, 1000, "query_memory", &all);
    cr_assert_eq(sta_account_charge(&other, 800, "rows", &err), STA_OK);
    cr_assert_eq(sta_account_charge(&one, 300, "rows", &err), STA_EBUSY);
    cr_assert(strstr(err.text, "other requests") && strstr(err.text, "(setting memory)"), "%s", err.text);
    cr_assert_eq(sta_account_try_charge(&one, 300), false);
    cr_assert_eq(sta_account_charge(&one, 1001, "rows", &err), STA_ELIMIT);
    sta_account_close(&other);
    cr_assert_eq(sta_account_try_charge(&one, 300), true);
    sta_account_release(&one, 300);
    sta_account_fini(&one);
    sta_account_fini(&all);
}

Test(account, an_array_grows_until_the_limit)
{
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, 1 << 16, "memory", NULL);
    int *items = NULL;
    size_t capacity = 0, count = 0;
    while (STA_ACCOUNT_GROW(&account, items, capacity, count + 1, "items", &err) == STA_OK) {
        items[count] = (int)count;
        count++;
    }
    cr_assert_eq(err.status, STA_ELIMIT);
    cr_assert(count >= 4096 && count == capacity && items[count - 1] == (int)count - 1);
    sta_account_free(&account, items);
    sta_account_fini(&account);
}

Test(account, what_the_process_holds_counts_past_the_margin)
{
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, 1 << 20, "memory", NULL);
    cr_assert_eq(sta_account_check(&account, 0, "rows", &err), STA_OK);
    account.margin = 1;
    cr_assert_eq(sta_account_check(&account, 0, "rows", &err), STA_ELIMIT,
                 "a process of Criterion holds more than a megabyte");
    account.margin = (size_t)1 << 45;
    cr_assert_eq(sta_account_check(&account, 0, "rows", &err), STA_OK);
    sta_account_fini(&account);
}

Test(account, a_sticky_failure_stays)
{
    struct sta_account all, one;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&all, 1 << 16, "memory", NULL);
    sta_account_init(&one, 1 << 12, "query_memory", &all);
    void *fits = sta_account_alloc_sticky(&one, 1000, 1, "texts");
    cr_assert_not_null(fits);
    cr_assert_eq(sta_account_check(&one, 0, "rows", &err), STA_OK);
    cr_assert_null(sta_account_alloc_sticky(&one, 1 << 13, 1, "texts"));
    cr_assert_null(sta_account_alloc_sticky(&one, 1 << 14, 1, "names"));
    sta_account_free(&one, fits);
    cr_assert_eq(sta_account_check(&one, 0, "rows", &err), STA_ELIMIT);
    cr_assert(strstr(err.text, "memory for texts") && strstr(err.text, "(setting query_memory)"), "%s",
              err.text);
    cr_assert_eq(sta_account_failure(&all, &err), STA_OK, "it is of the account alone");
    sta_account_fini(&one);
    sta_account_fini(&all);
}

static bool count_reclaims(void *context, size_t bytes, bool yields)
{
    ++*(unsigned *)context;
    return false;
}

/* Reclaiming may take half a second, which each of a million texts must not wait. */
Test(account, memory_is_not_looked_for_again_once_it_was_refused)
{
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    unsigned reclaims = 0;
    char text[16];
    sta_account_init(&account, 1 << 16, "query_memory", NULL);
    account.reclaim = count_reclaims;
    account.reclaim_context = &reclaims;
    struct sta_dictionary *texts = sta_dictionary_create_in(&account);
    for (int i = 0; i < 100000; i++)
        sta_dictionary_intern(texts, text, (size_t)snprintf(text, sizeof text, "text %d", i));
    cr_assert_eq(sta_account_failure(&account, &err), STA_ELIMIT);
    cr_assert_leq(reclaims, 1);
    sta_dictionary_destroy(texts);
    sta_account_fini(&account);
}

Test(account, a_part_is_nobody_to_wait_for)
{
    struct sta_account all, part, one;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&all, 1000, "memory", NULL);
    sta_account_init_part(&part, &all);
    cr_assert_eq(sta_account_charge(&part, 600, "names", &err), STA_OK);
    sta_account_init(&one, 1000, "query_memory", &all);
    cr_assert_eq(sta_account_charge(&one, 600, "rows", &err), STA_ELIMIT, "asking again would not help");
    cr_assert_str_eq(part.setting, "memory");
    sta_account_close(&one);
    sta_account_close(&part);
    sta_account_fini(&all);
}

Test(account, a_map_that_cannot_grow_stays_sound)
{
    struct sta_account account;
    struct sta_map map;
    struct sta_error err = STA_ERROR_INIT;
    bool added;
    sta_account_init(&account, 20000, "memory", NULL);
    sta_map_init(&map);
    map.account = &account;
    uint32_t count = 0;
    for (uint64_t key = 0; key < 10000; key++) {
        const uint32_t value = sta_map_intern(&map, key, count, &added);
        count += added;
        cr_assert(value < count);
    }
    cr_assert_eq(sta_account_failure(&account, &err), STA_ELIMIT);
    uint32_t value;
    cr_assert(sta_map_find(&map, 5, &value) && value == 5);
    cr_assert_not(sta_map_find(&map, 9999, &value));
    sta_map_put(&map, 9999, 1);
    sta_map_fini(&map);
    sta_account_fini(&account);
}
