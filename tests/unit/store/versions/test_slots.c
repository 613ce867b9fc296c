/* Pieces of huge pages: what is written to one stays there, and pages go when their pieces do. */
#include <criterion/criterion.h>
#include <string.h>

#include "common/memory.h"
#include "store/versions/slots.h"

#define PIECE ((size_t)20000)
#define PIECES 1000

static void take_all(struct sta_slots *slots, unsigned char **pieces)
{
    for (size_t i = 0; i < PIECES; i++) {
        if (pieces[i] == NULL)
            pieces[i] = sta_slots_take(slots);
        cr_assert_not_null(pieces[i]);
        memset(pieces[i], (int)(i % 251), PIECE);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t at = 0; at < PIECE; at += PIECE - 1)
            cr_assert_eq(pieces[i][at], i % 251, "piece %zu was written to through another one", i);
}

static void give_each(struct sta_slots *slots, unsigned char **pieces, size_t step)
{
    for (size_t i = 0; i < PIECES; i += step) {
        if (pieces[i] != NULL)
            sta_slots_free(slots, pieces[i]);
        pieces[i] = NULL;
    }
}

Test(slots, pieces_are_used_again_and_pages_go_with_their_last_one)
{
    static unsigned char *pieces[PIECES];
    struct sta_account account;
    struct sta_slots slots;
    sta_account_init(&account, 64 << 20, "memory", NULL);
    sta_slots_init(&slots, PIECE, &account);
    take_all(&slots, pieces);
    const size_t all = account.used;
    cr_assert_geq(all, PIECES * PIECE);
    cr_assert_leq(all, PIECES * PIECE + 2 * STA_HUGE_PAGE);
    cr_assert_eq(sta_slots_bytes(&slots), all);
    give_each(&slots, pieces, 3);
    take_all(&slots, pieces);
    cr_assert_eq(account.used, all);
    give_each(&slots, pieces, 1);
    cr_assert_eq(account.used, 0);
    sta_slots_fini(&slots);
    sta_account_fini(&account);
}

Test(slots, no_page_is_made_past_the_account)
{
    static unsigned char *pieces[PIECES];
    struct sta_account account;
    struct sta_slots slots;
    size_t taken = 0;
    sta_account_init(&account, 3 * STA_HUGE_PAGE + 1, "memory", NULL);
    sta_slots_init(&slots, PIECE, &account);
    while (taken < PIECES && (pieces[taken] = sta_slots_take(&slots)) != NULL)
        taken++;
    cr_assert_eq(account.used, 3 * STA_HUGE_PAGE);
    cr_assert_eq(taken, 3 * ((STA_HUGE_PAGE - 64) / 20032));
    give_each(&slots, pieces, 1);
    cr_assert_eq(account.used, 0);
    sta_slots_fini(&slots);
    sta_account_fini(&account);
}
