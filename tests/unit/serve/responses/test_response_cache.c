/* Kept cache: found again, dropped by age and bytes; flights: one computation for all who ask. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/responses/response_cache.h"

struct guest {
    struct sta_waiter waiter; /* first */
    unsigned served, failed;
    const struct sta_representation *content;
};

static void on_done(struct sta_waiter *waiter, struct sta_representation *content,
                    const struct sta_error *failure)
{
    struct guest *guest = (struct guest *)waiter;
    guest->served += content != NULL;
    guest->failed += content == NULL && failure->status != STA_OK;
    guest->content = content;
}

static struct sta_representation *make_content(size_t size)
{
    struct sta_response response;
    sta_response_init(&response);
    for (size_t i = 0; i < size; i++)
        sta_put_char(&response.body, (char)('a' + (i * 7919u >> 3) % 26));
    struct sta_representation *content = sta_representation_create(&response, "no-cache");
    sta_response_fini(&response);
    return content;
}

static void put(struct sta_response_cache *cache, const char *key, size_t size)
{
    struct sta_flight *flight = sta_response_cache_join(cache, key, strlen(key), NULL);
    cr_assert_not_null(flight);
    sta_flight_land(flight, make_content(size), NULL);
}

static bool has(struct sta_response_cache *cache, const char *key)
{
    struct sta_representation *content = sta_response_cache_find(cache, key, strlen(key));
    sta_representation_release(content);
    return content != NULL;
}

Test(cache, what_was_computed_is_found)
{
    struct sta_response_cache *cache = sta_response_cache_create(1 << 20, NULL);
    cr_expect(!has(cache, "a"));
    put(cache, "a", 100);
    cr_expect(has(cache, "a"));
    cr_expect(!has(cache, "b"));
    sta_response_cache_destroy(cache);
}

Test(cache, what_is_prepared_gives_way_but_not_what_somebody_waits_for)
{
    struct sta_response_cache *cache = sta_response_cache_create(1 << 20, NULL);
    struct sta_error cancelled = {.status = STA_ECANCELLED};
    struct guest guest = {.waiter.done = on_done}, joined = {.waiter.done = on_done};
    struct sta_flight *asked = sta_response_cache_join(cache, "a", 1, &guest.waiter);
    struct sta_flight *prepared = sta_response_cache_join(cache, "p", 1, NULL);
    struct sta_flight *wanted = sta_response_cache_join(cache, "w", 1, NULL);
    cr_assert(asked != NULL && prepared != NULL && wanted != NULL);
    cr_assert_null(sta_response_cache_join(cache, "w", 1, &joined.waiter), "who asks meanwhile waits for it");
    cr_expect_eq(sta_response_cache_cancel_prepared(cache), 1);
    cr_expect(atomic_load(sta_flight_cancel(prepared)));
    cr_expect(!atomic_load(sta_flight_cancel(asked)) && !atomic_load(sta_flight_cancel(wanted)));
    cr_expect_eq(sta_response_cache_cancel_prepared(cache), 1, "it has not ended yet");
    sta_flight_land(prepared, NULL, &cancelled);
    cr_expect_eq(sta_response_cache_cancel_prepared(cache), 0);
    sta_flight_land(asked, make_content(10), NULL);
    sta_flight_land(wanted, make_content(10), NULL);
    cr_expect(guest.served == 1 && joined.served == 1);
    sta_response_cache_destroy(cache);
}

Test(cache, all_who_ask_at_once_share_one_flight)
{
    struct sta_response_cache *cache = sta_response_cache_create(1 << 20, NULL);
    struct guest guests[3] = {{.waiter.done = on_done}, {.waiter.done = on_done}, {.waiter.done = on_done}};
    struct sta_flight *flight = sta_response_cache_join(cache, "k", 1, &guests[0].waiter);
    cr_assert_not_null(flight);
    cr_expect_null(sta_response_cache_join(cache, "k", 1, &guests[1].waiter));
    cr_expect_null(sta_response_cache_join(cache, "k", 1, &guests[2].waiter));
    sta_flight_land(flight, make_content(10), NULL);
    for (size_t i = 0; i < 3; i++)
        cr_expect(guests[i].served == 1 && guests[i].content == guests[0].content);
    struct guest late = {.waiter.done = on_done};
    cr_expect_null(sta_response_cache_join(cache, "k", 1, &late.waiter));
    cr_expect_eq(late.served, 1, "who comes late is served at once");
    sta_response_cache_destroy(cache);
}

Test(cache, a_flight_ends_when_all_have_left)
{
    struct sta_response_cache *cache = sta_response_cache_create(1 << 20, NULL);
    struct sta_error err = STA_ERROR_INIT;
    struct guest guests[3] = {{.waiter.done = on_done}, {.waiter.done = on_done}, {.waiter.done = on_done}};
    struct sta_flight *flight = sta_response_cache_join(cache, "k", 1, &guests[0].waiter);
    sta_response_cache_join(cache, "k", 1, &guests[1].waiter);
    cr_expect(sta_waiter_leave(cache, &guests[0].waiter));
    cr_expect(!*sta_flight_cancel(flight));
    cr_expect(sta_waiter_leave(cache, &guests[1].waiter));
    cr_expect(*sta_flight_cancel(flight));
    struct sta_flight *second = sta_response_cache_join(cache, "k", 1, &guests[2].waiter);
    cr_assert_not_null(second, "who comes after the last one left gets a flight of his own");
    sta_fail(&err, STA_ECANCELLED, "cancelled");
    sta_flight_land(flight, NULL, &err);
    cr_expect(guests[0].served + guests[0].failed + guests[1].served + guests[1].failed == 0);
    sta_flight_land(second, make_content(10), NULL);
    cr_expect_eq(guests[2].served, 1);
    cr_expect(!sta_waiter_leave(cache, &guests[2].waiter));
    sta_response_cache_destroy(cache);
}

Test(cache, a_failure_is_told_and_not_kept)
{
    struct sta_response_cache *cache = sta_response_cache_create(1 << 20, NULL);
    struct sta_error err = STA_ERROR_INIT;
    struct guest guest = {.waiter.done = on_done};
    struct sta_flight *flight = sta_response_cache_join(cache, "k", 1, &guest.waiter);
    sta_fail(&err, STA_ELIMIT, "too large");
    sta_flight_land(flight, NULL, &err);
    cr_expect_eq(guest.failed, 1);
    cr_expect(!has(cache, "k"));
    sta_response_cache_destroy(cache);
}

Test(cache, the_longest_unused_goes_first_and_bytes_stay_within_the_limit)
{
    struct sta_response_cache *cache = sta_response_cache_create(200000, NULL);
    char key[16];
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "k%d", i);
        put(cache, key, 3000);
        cr_expect(has(cache, "k0"), "used all the time, so never dropped (%d)", i);
        cr_expect_leq(sta_response_cache_figures(cache).bytes, 200000);
    }
    cr_expect(!has(cache, "k1"));
    cr_expect(has(cache, "k99"));
    cr_expect_gt(sta_response_cache_figures(cache).dropped, 0);
    sta_response_cache_destroy(cache);
}

Test(cache, one_that_would_take_the_whole_cache_is_not_kept)
{
    struct sta_response_cache *cache = sta_response_cache_create(100000, NULL);
    put(cache, "small", 100);
    put(cache, "large", 50000);
    cr_expect(!has(cache, "large"));
    cr_expect(has(cache, "small"));
    sta_response_cache_destroy(cache);
}

Test(cache, a_new_version_of_a_trace_drops_the_responses_of_the_one_before)
{
    struct sta_response_cache *cache = sta_response_cache_create(1 << 20, NULL);
    put(cache, "summary aaaa 1", 100);
    put(cache, "summary bbbb 1", 100);
    put(cache, "compare bbbb aaaa 1", 100);
    struct sta_flight *flight = sta_response_cache_join(cache, "layer aaaa 1", 12, NULL);
    sta_response_cache_forget(cache, "aaaa");
    cr_expect(!has(cache, "summary aaaa 1"));
    cr_expect(!has(cache, "compare bbbb aaaa 1"));
    cr_expect(has(cache, "summary bbbb 1"));
    cr_expect_eq(sta_response_cache_figures(cache).entries, 1);
    sta_flight_land(flight, make_content(100), NULL);
    cr_expect(has(cache, "layer aaaa 1"), "what is under way is for those who wait");
    sta_response_cache_destroy(cache);
}

Test(cache, gzip_makes_what_it_packed_smaller)
{
    char *packed;
    size_t size;
    char zeros[5000] = {0};
    cr_assert(sta_gzip(zeros, sizeof zeros, &packed, &size));
    cr_expect_lt(size, 100);
    cr_expect_eq((unsigned char)packed[0], 0x1f);
    free(packed);
    cr_expect(!sta_gzip("x", 1, &packed, &size), "no gain");
}
