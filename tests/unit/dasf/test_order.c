/* Where records go in the order of the stream, whatever the number of workers. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/account.h"
#include "common/memory.h"
#include "dasf/order.h"

#define POSITIONS ((size_t)200001) /* some slices, the last of them in part */

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

/* Against counting one by one. */
static void check(const struct dasf_order *order)
{
    size_t counts[DASF_KINDS] = {0};
    for (size_t i = 0; i < order->positions; i++)
        if (order->kinds[i] != DASF_NO_KIND)
            cr_assert_eq(order->places[i], counts[order->kinds[i] - 1]++, "at %zu", i);
    for (unsigned kind = 0; kind < DASF_KINDS; kind++)
        cr_assert_eq(order->counts[kind], counts[kind]);
}

static void find(struct dasf_order *order, unsigned workers, int expected)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    sta_account_init(&account, SIZE_MAX, "query_memory", NULL);
    const struct sta_budget budget = {.workers = workers, .account = &account};
    cr_assert_eq(dasf_order_find(order, &budget, &err), expected, "%s", err.text);
    sta_account_close(&account);
}

Test(order, says_where_records_go)
{
    struct dasf_order order = {.kinds = sta_alloc_array(POSITIONS, sizeof *order.kinds),
                               .places = sta_alloc_array(POSITIONS, sizeof *order.places),
                               .positions = POSITIONS};
    static const uint32_t rarities[] = {1, 3, 50000};
    for (size_t r = 0; r < STA_COUNT_OF(rarities); r++)
        for (unsigned workers = 1; workers <= 3; workers++) {
            order.noted = 0;
            for (size_t i = 0; i < POSITIONS; i++) {
                order.kinds[i] = (uint8_t)(below(rarities[r]) == 0 ? 1 + below(DASF_KINDS) : DASF_NO_KIND);
                order.noted += order.kinds[i] != DASF_NO_KIND;
            }
            find(&order, workers, STA_OK);
            check(&order);
        }
    free(order.kinds);
    free(order.places);
}

Test(order, has_none_of_nothing)
{
    struct dasf_order order = {.positions = 0};
    find(&order, 2, STA_OK);
    check(&order);
}

/* Only a damaged store says so. */
Test(order, refuses_two_of_a_position)
{
    uint8_t kinds[] = {1, DASF_NO_KIND, 2};
    uint32_t places[STA_COUNT_OF(kinds)];
    struct dasf_order order = {
        .kinds = kinds, .places = places, .positions = STA_COUNT_OF(kinds), .noted = 3};
    find(&order, 2, STA_ECORRUPT);
    order.noted = 2;
    find(&order, 2, STA_OK);
}
