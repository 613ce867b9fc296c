/* Extents in one list, which is sorted and united whenever it is full: a file that is read from its beginning
 * to its end becomes one extent, however many calls that takes. */
#include "findings/access_extents.h"

#include <stdlib.h>

#include "analyse/operators/radix.h"
#include "common/memory.h"

static const char WHAT[] = "the access patterns of a run";

#define WORTH_UNITING 32768 /* extents: with fewer there is little to gain */

int sta_sort_intervals(void *records, size_t count, const struct sta_budget *budget, struct sta_error *err)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t *words = records;
    uint64_t *scratch = sta_account_alloc(budget->account, count * 3 + 1, sizeof *scratch, WHAT, err);
    if (scratch == NULL)
        return err->status;
    for (size_t i = 0; i < count; i++)
        words[3 * i + 1] ^= sign;
    int rc = sta_radix_sort(words, scratch, count, 3, false, budget->cancel);
    for (size_t i = 0; i < count; i++)
        words[3 * i + 1] ^= sign;
    sta_account_free(budget->account, scratch);
    return rc == STA_OK ? STA_OK : sta_radix_failed(rc, "calls", count, err);
}

static void put(struct sta_extents *extents, const struct sta_extent *next)
{
    struct sta_extent *last = extents->count > 0 ? &extents->items[extents->count - 1] : NULL;
    if (last != NULL && last->place == next->place && next->from <= last->to)
        last->to = STA_MAX(last->to, next->to);
    else
        extents->items[extents->count++] = *next;
}

int sta_extents_unite(struct sta_extents *extents, const struct sta_budget *budget, struct sta_error *err)
{
    int rc = sta_sort_intervals(extents->items, extents->count, budget, err);
    const size_t count = extents->count;
    if (rc != STA_OK)
        return rc;
    extents->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sta_extent next = extents->items[i];
        put(extents, &next);
    }
    return STA_OK;
}

static bool is_before(const struct sta_extent *a, const struct sta_extent *b)
{
    return a->place != b->place ? a->place < b->place : a->from < b->from;
}

int sta_extents_merge(struct sta_extents *const *lists, size_t count, const struct sta_budget *budget,
                      struct sta_error *err)
{
    struct sta_extents all = {0};
    size_t extents = 0;
    for (size_t l = 0; l < count; l++)
        extents += lists[l]->count;
    size_t *at = sta_alloc_array(count + 1, sizeof *at);
    int rc = STA_ACCOUNT_GROW(budget->account, all.items, all.capacity, extents, WHAT, err);
    for (size_t i = 0; i < extents && rc == STA_OK; i++) {
        size_t least = count;
        for (size_t l = 0; l < count; l++)
            if (at[l] < lists[l]->count &&
                (least == count || is_before(&lists[l]->items[at[l]], &lists[least]->items[at[least]])))
                least = l;
        put(&all, &lists[least]->items[at[least]++]);
        rc = sta_budget_check_step(budget, i + 1, err);
    }
    for (size_t l = 0; l < count; l++)
        sta_extents_fini(lists[l], budget->account);
    *lists[0] = all;
    free(at);
    return rc;
}

/* Reserves space for one more: by uniting, or, when that leaves more than half of them, by growing. */
static int reserve_space(struct sta_extents *extents, const struct sta_budget *budget, struct sta_error *err)
{
    int rc = extents->capacity >= WORTH_UNITING ? sta_extents_unite(extents, budget, err) : STA_OK;
    const size_t need = extents->count > extents->capacity / 2 ? extents->capacity + 1 : extents->count + 1;
    return rc == STA_OK
               ? STA_ACCOUNT_GROW(budget->account, extents->items, extents->capacity, need, WHAT, err)
               : rc;
}

int sta_extents_add(struct sta_extents *extents, struct sta_extent extent, const struct sta_budget *budget,
                    struct sta_error *err)
{
    struct sta_extent *last = extents->count > 0 ? &extents->items[extents->count - 1] : NULL;
    if (last != NULL && last->place == extent.place && last->from <= extent.from && extent.from <= last->to) {
        last->to = STA_MAX(last->to, extent.to);
        return STA_OK;
    }
    int rc = extents->count == extents->capacity ? reserve_space(extents, budget, err) : STA_OK;
    if (rc == STA_OK)
        extents->items[extents->count++] = extent;
    return rc;
}

void sta_extents_fini(struct sta_extents *extents, struct sta_account *account)
{
    sta_account_free(account, extents->items);
    *extents = (struct sta_extents){0};
}
