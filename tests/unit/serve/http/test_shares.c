/* Places that no client can take all of. */
#include <criterion/criterion.h>

#include "serve/http/shares.h"

static unsigned take_all(struct sta_shares *shares, uint64_t client)
{
    unsigned count = 0;
    while (sta_shares_take(shares, client))
        count++;
    return count;
}

Test(shares, there_is_always_one_for_who_has_none)
{
    struct sta_shares *shares = sta_shares_create(16);
    unsigned had[4];
    for (uint64_t client = 0; client < 4; client++)
        had[client] = take_all(shares, client);
    cr_expect_eq(had[0], 8);
    cr_expect_eq(had[1], 4);
    cr_expect_eq(had[2], 2);
    cr_expect_eq(had[3], 1);
    cr_expect_eq(sta_shares_taken(shares), 15);
    for (uint64_t client = 0; client < 4; client++)
        while (had[client]-- > 0)
            sta_shares_release(shares, client);
    cr_expect_eq(sta_shares_taken(shares), 0);
    cr_expect_eq(take_all(shares, 7), 8);
    for (int i = 0; i < 8; i++)
        sta_shares_release(shares, 7);
    sta_shares_destroy(shares);
}

Test(shares, a_single_place_is_for_one)
{
    struct sta_shares *shares = sta_shares_create(1);
    cr_expect(sta_shares_take(shares, 1) && !sta_shares_take(shares, 1) && !sta_shares_take(shares, 2));
    sta_shares_release(shares, 1);
    cr_expect(sta_shares_take(shares, 2));
    sta_shares_release(shares, 2);
    sta_shares_destroy(shares);
}
