/* What every request stands on: the loop over morsels, the sort, the checks. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "common/memory.h"

/* ---- tasks */

struct counting {
    _Atomic unsigned done[1000];
    _Atomic bool *cancel;
    size_t cancel_at, fail_at;
    _Atomic size_t begun;
};

static int count_one(void *context, unsigned worker, size_t morsel, struct sta_error *err)
{
    struct counting *counting = context;
    cr_assert_lt(worker, 3);
    atomic_fetch_add(&counting->begun, 1);
    atomic_fetch_add(&counting->done[morsel], 1);
    if (morsel == counting->cancel_at)
        atomic_store(counting->cancel, true);
    return morsel == counting->fail_at ? sta_fail(err, STA_ECORRUPT, "morsel %zu is bad", morsel) : STA_OK;
}

Test(tasks, each_morsel_is_worked_on_once)
{
    struct sta_progress progress = {0};
    struct sta_budget budget = {.workers = 3, .progress = &progress};
    struct counting counting = {.cancel_at = SIZE_MAX, .fail_at = SIZE_MAX};
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tasks_run(&budget, 1000, count_one, &counting, &err), STA_OK);
    for (size_t i = 0; i < 1000; i++)
        cr_assert_eq(counting.done[i], 1);
    cr_assert_eq(progress.steps, 1000);
    cr_assert_eq(progress.done, 1000);
    cr_assert_eq(sta_tasks_run(&budget, 0, count_one, &counting, &err), STA_OK);
}

Test(tasks, the_first_failure_stops_the_rest)
{
    /* One worker stops right there; of several, others may finish the list before the failure is known. */
    for (unsigned workers = 1; workers <= 3; workers++) {
        struct sta_budget budget = {.workers = workers};
        struct counting counting = {.cancel_at = SIZE_MAX, .fail_at = 10};
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_tasks_run(&budget, 1000, count_one, &counting, &err), STA_ECORRUPT);
        cr_assert_str_eq(err.text, "morsel 10 is bad");
        if (workers == 1)
            cr_assert_eq(counting.begun, 11);
    }
}

Test(tasks, no_morsel_begins_after_cancellation)
{
    _Atomic bool cancel = false;
    struct sta_budget budget = {.workers = 1, .cancel = &cancel};
    struct counting counting = {.cancel = &cancel, .cancel_at = 7, .fail_at = SIZE_MAX};
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tasks_run(&budget, 1000, count_one, &counting, &err), STA_ECANCELLED);
    cr_assert_eq(counting.begun, 8);
}

Test(tasks, an_overdrawn_account_stops_the_work)
{
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, 100, "query_memory", NULL);
    struct sta_budget budget = {.workers = 1, .account = &account};
    struct counting counting = {.cancel_at = SIZE_MAX, .fail_at = SIZE_MAX};
    sta_account_overdraw(&account, 101);
    cr_assert_eq(sta_tasks_run(&budget, 1000, count_one, &counting, &err), STA_ELIMIT);
    cr_assert(strstr(err.text, "query_memory"), "%s", err.text);
    cr_assert_eq(counting.begun, 0);
    sta_account_close(&account);
}

/* ---- sort */

struct item {
    uint32_t key, place;
};

struct comparing {
    size_t comparisons, cancel_at;
    _Atomic bool *cancel;
};

static int compare_items(const void *a, const void *b, void *context)
{
    struct comparing *comparing = context;
    if (++comparing->comparisons == comparing->cancel_at)
        atomic_store(comparing->cancel, true);
    const struct item *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static struct item *items_of(size_t count)
{
    struct item *items = sta_alloc_array(count, sizeof *items);
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        items[i] = (struct item){state >> 20, (uint32_t)i};
    }
    return items;
}

Test(sort, any_number_of_items_is_in_order_and_equal_ones_stay)
{
    static const size_t counts[] = {0, 1, 2, 8191, 8192, 8193, 16384, 24577, 100000};
    struct sta_account account;
    sta_account_init(&account, 1 << 20, "query_memory", NULL);
    struct sta_budget budget = {.workers = 1, .account = &account};
    for (size_t c = 0; c < STA_COUNT_OF(counts); c++) {
        struct sta_error err = STA_ERROR_INIT;
        struct comparing comparing = {.cancel_at = SIZE_MAX};
        struct item *items = items_of(counts[c]);
        cr_assert_eq(sta_sort(&budget, items, counts[c], sizeof *items, compare_items, &comparing, &err),
                     STA_OK);
        for (size_t i = 1; i < counts[c]; i++)
            cr_assert(items[i - 1].key < items[i].key ||
                      (items[i - 1].key == items[i].key && items[i - 1].place < items[i].place));
        free(items);
    }
    sta_account_fini(&account);
}

Test(sort, a_cancelled_sort_ends_soon)
{
    _Atomic bool cancel = false;
    struct sta_budget budget = {.workers = 1, .cancel = &cancel};
    struct sta_error err = STA_ERROR_INIT;
    struct comparing comparing = {.cancel_at = 5000000, .cancel = &cancel};
    struct item *items = items_of(1000000);
    cr_assert_eq(sta_sort(&budget, items, 1000000, sizeof *items, compare_items, &comparing, &err),
                 STA_ECANCELLED);
    cr_assert_lt(comparing.comparisons, 5000000 + 200000);
    free(items);
}

Test(sort, memory_that_does_not_fit_is_refused)
{
    struct sta_account account;
    sta_account_init(&account, 1000, "query_memory", NULL);
    struct sta_budget budget = {.workers = 1, .account = &account};
    struct sta_error err = STA_ERROR_INIT;
    struct comparing comparing = {.cancel_at = SIZE_MAX};
    struct item *items = items_of(10000);
    cr_assert_eq(sta_sort(&budget, items, 10000, sizeof *items, compare_items, &comparing, &err), STA_ELIMIT);
    free(items);
    sta_account_fini(&account);
}
