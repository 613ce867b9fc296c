/* Records that were met in any order, in that of the stream, whatever the number of workers. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/account.h"
#include "common/memory.h"
#include "dasf/gather.h"

#define POSITIONS ((size_t)200001) /* some slices, the last of them in part */

struct item {
    uint64_t value;
    uint32_t position;
};

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

/* About one in @of positions has an item; they lie in any order. */
static size_t make_items(struct item *items, uint32_t of)
{
    size_t count = 0;
    for (uint32_t position = 0; position < POSITIONS; position++)
        if (below(of) == 0)
            items[count++] = (struct item){UINT64_C(7) * position, position};
    for (size_t i = count; i > 1; i--) {
        const size_t other = below((uint32_t)i);
        const struct item item = items[i - 1];
        items[i - 1] = items[other];
        items[other] = item;
    }
    return count;
}

static void check(const struct item *items, size_t count, size_t expected, unsigned workers)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    sta_account_init(&account, SIZE_MAX, "query_memory", NULL);
    const struct sta_budget budget = {.workers = workers, .account = &account};
    uint32_t *at = sta_alloc_array(POSITIONS, sizeof *at);
    struct item *out = sta_alloc_array(count + 1, sizeof *out);
    const struct dasf_gathering gathering = {.items = (const char *)items,
                                             .count = count,
                                             .size = sizeof *items,
                                             .position_at = offsetof(struct item, position),
                                             .at = at,
                                             .positions = POSITIONS};
    size_t copied;
    cr_assert_eq(dasf_gather(&gathering, out, &copied, &budget, &err), STA_OK, "%s", err.text);
    cr_assert_eq(copied, expected);
    for (size_t i = 0; i < copied; i++) {
        cr_assert(i == 0 || out[i - 1].position < out[i].position);
        cr_assert_eq(out[i].value, UINT64_C(7) * out[i].position);
    }
    for (size_t i = 0; i < POSITIONS; i++)
        cr_assert_eq(at[i], 0);
    free(at);
    free(out);
    sta_account_close(&account);
}

Test(gather, puts_items_where_they_belong)
{
    struct item *items = sta_alloc_array(POSITIONS, sizeof *items);
    static const uint32_t rarities[] = {1, 3, 50000};
    for (size_t i = 0; i < STA_COUNT_OF(rarities); i++)
        for (unsigned workers = 1; workers <= 3; workers++) {
            const size_t count = make_items(items, rarities[i]);
            check(items, count, count, workers);
        }
    check(items, 0, 0, 2);
    free(items);
}

/* Only a damaged store says so: one of them is there, and nothing is written past the others. */
Test(gather, keeps_one_of_a_place)
{
    static const struct item items[] = {{70, 10}, {14, 2}, {70, 10}};
    check(items, STA_COUNT_OF(items), 2, 2);
}
