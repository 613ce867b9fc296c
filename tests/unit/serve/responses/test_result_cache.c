/* Kept results: computed once for all who ask at the same time, dropped by age and bytes, forgotten with
 * their trace. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/account.h"
#include "serve/responses/result_cache.h"

static const struct sta_budget patient = {.workers = 1};

static struct sta_result *make_result(size_t rows)
{
    struct sta_table table;
    sta_table_init(&table, rows);
    (void)sta_table_add(&table, "x", STA_TYPE_INT, NULL);
    return sta_result_of_table(&table, NULL, NULL);
}

static struct sta_result *find(struct sta_result_cache *kept, const char *key, size_t rows)
{
    struct sta_result *result;
    struct sta_result_claim *claim;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_result_cache_claim(kept, key, strlen(key), &patient, &result, &claim, &err), STA_OK);
    if (claim != NULL) {
        result = make_result(rows);
        sta_result_cache_resolve(claim, result);
    }
    return result;
}

Test(result_cache, what_was_computed_is_found_until_it_is_forgotten)
{
    struct sta_result_cache *kept = sta_result_cache_create(1 << 20);
    struct sta_result *a = find(kept, "query 0123 x", 10), *b = find(kept, "query 4567 x", 10),
                      *again = find(kept, "query 0123 x", 10);
    cr_expect_eq(a, again);
    cr_expect_neq(a, b);
    cr_expect_eq(sta_result_cache_figures(kept).entries, 2);
    sta_result_cache_forget(kept, "0123");
    cr_expect_eq(sta_result_cache_figures(kept).entries, 1);
    sta_result_release(again);
    sta_result_release(a);
    sta_result_release(b);
    sta_result_cache_destroy(kept);
}

/* Without waiting: what is being computed is not there yet. */
Test(result_cache, what_is_kept_is_found_without_a_claim)
{
    struct sta_result_cache *kept = sta_result_cache_create(1 << 20);
    struct sta_result *a, *made = make_result(3), *none;
    struct sta_result_claim *claim;
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_null(sta_result_cache_find(kept, "a", 1));
    cr_assert_eq(sta_result_cache_claim(kept, "a", 1, &patient, &none, &claim, &err), STA_OK);
    cr_expect_null(sta_result_cache_find(kept, "a", 1));
    sta_result_cache_resolve(claim, made);
    a = sta_result_cache_find(kept, "a", 1);
    cr_expect_eq(a, made);
    cr_expect_null(sta_result_cache_find(kept, "b", 1));
    cr_expect_eq(sta_result_cache_figures(kept).entries, 1);
    sta_result_release(a);
    sta_result_release(made);
    sta_result_cache_destroy(kept);
}

Test(result_cache, the_one_used_longest_ago_goes_first)
{
    struct sta_result_cache *kept = sta_result_cache_create(25000);
    for (unsigned i = 0; i < 3; i++)
        sta_result_release(find(kept, (const char *[]){"a", "b", "a"}[i], 1000));
    sta_result_release(find(kept, "c", 1000));
    cr_expect_eq(sta_result_cache_figures(kept).entries, 2);
    struct sta_result *a = find(kept, "a", 5);
    uint64_t rows;
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_eq(a->class->count(a->self, &patient, &rows, &err), STA_OK);
    cr_expect_eq(rows, 1000, "a was used lately");
    sta_result_release(a);
    sta_result_release(find(kept, "large", 100000));
    cr_expect_leq(sta_result_cache_figures(kept).bytes, 25000);
    sta_result_cache_destroy(kept);
}

struct guest {
    struct sta_result_cache *kept;
    struct sta_budget budget;
    _Atomic bool cancel;
    int status;
    bool claimed;
    struct sta_result *result;
};

static void ask(void *context)
{
    struct guest *guest = context;
    struct sta_result_claim *claim;
    struct sta_error err = STA_ERROR_INIT;
    guest->budget.cancel = &guest->cancel;
    guest->status = sta_result_cache_claim(guest->kept, "k", 1, &guest->budget, &guest->result, &claim, &err);
    guest->claimed = claim != NULL;
    if (claim != NULL) {
        guest->result = make_result(1);
        sta_result_cache_resolve(claim, guest->result);
    }
}

Test(result_cache, those_who_wait_get_what_the_first_computes)
{
    struct sta_result_cache *kept = sta_result_cache_create(1 << 20);
    struct sta_result *result;
    struct sta_result_claim *claim;
    struct sta_error err = STA_ERROR_INIT;
    struct guest guests[4] = {0};
    uv_thread_t threads[4];
    cr_assert_eq(sta_result_cache_claim(kept, "k", 1, &patient, &result, &claim, &err), STA_OK);
    for (unsigned i = 0; i < 4; i++) {
        guests[i].kept = kept;
        cr_assert_eq(uv_thread_create(&threads[i], ask, &guests[i]), 0);
    }
    usleep(50000);
    atomic_store(&guests[3].cancel, true); /* loses patience */
    uv_thread_join(&threads[3]);
    cr_expect_eq(guests[3].status, STA_ECANCELLED);
    result = make_result(7);
    sta_result_cache_resolve(claim, result);
    for (unsigned i = 0; i < 3; i++) {
        uv_thread_join(&threads[i]);
        cr_expect(guests[i].status == STA_OK && guests[i].result == result && !guests[i].claimed);
        sta_result_release(guests[i].result);
    }
    sta_result_release(result);
    sta_result_cache_destroy(kept);
}

Test(result_cache, after_a_failure_one_of_those_who_wait_tries_anew)
{
    struct sta_result_cache *kept = sta_result_cache_create(1 << 20);
    struct sta_result *result;
    struct sta_result_claim *claim;
    struct sta_error err = STA_ERROR_INIT;
    struct guest guests[3] = {0};
    uv_thread_t threads[3];
    cr_assert_eq(sta_result_cache_claim(kept, "k", 1, &patient, &result, &claim, &err), STA_OK);
    for (unsigned i = 0; i < 3; i++) {
        guests[i].kept = kept;
        cr_assert_eq(uv_thread_create(&threads[i], ask, &guests[i]), 0);
    }
    usleep(50000);
    sta_result_cache_resolve(claim, NULL);
    unsigned claims = 0;
    for (unsigned i = 0; i < 3; i++) {
        uv_thread_join(&threads[i]);
        claims += guests[i].claimed;
        cr_expect_eq(guests[i].status, STA_OK);
        sta_result_release(guests[i].result);
    }
    cr_expect_eq(claims, 1);
    sta_result_cache_destroy(kept);
}

Test(result_cache, a_trace_that_goes_meanwhile_keeps_nothing)
{
    struct sta_result_cache *kept = sta_result_cache_create(1 << 20);
    struct sta_result *result;
    struct sta_result_claim *claim;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_result_cache_claim(kept, "q 0123", 6, &patient, &result, &claim, &err), STA_OK);
    sta_result_cache_forget(kept, "0123");
    result = make_result(7);
    sta_result_cache_resolve(claim, result);
    cr_expect_eq(sta_result_cache_figures(kept).entries, 0);
    sta_result_release(result);
    sta_result_cache_destroy(kept);
}

static void nothing(void *self)
{
}

static uint64_t a_hundred(const void *self)
{
    return 100;
}

static uint64_t eight_thousand(const void *self)
{
    return 8000;
}

Test(result_cache, rows_on_disk_weigh_an_eighth_and_are_no_memory)
{
    static const struct sta_result_class class = {
        .destroy = nothing, .bytes = a_hundred, .disk = eight_thousand};
    struct sta_account account;
    sta_account_init(&account, 1 << 20, "memory", NULL);
    struct sta_result *result = sta_result_create(&class, NULL);
    cr_expect_eq(sta_result_weight(result), sta_result_bytes(result) + 1000);
    sta_result_count_in(result, &account);
    cr_expect_lt(atomic_load(&account.used), 1000);
    sta_result_release(result);
    sta_account_fini(&account);
}
