/* Extents in one list, which is sorted and united whenever it is full: a file that is read from its beginning
 * to its end becomes one extent, however many calls that takes. */
#include "findings/access_extents.h"

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

int sta_extents_unite(struct sta_extents *extents, const struct sta_budget *budget, struct sta_error *err)
{
    int rc = sta_sort_intervals(extents->items, extents->count, budget, err);
    size_t kept = 0;
    for (size_t i = 0; i < extents->count && rc == STA_OK; i++) {
        struct sta_extent *last = kept > 0 ? &extents->items[kept - 1] : NULL;
        const struct sta_extent next = extents->items[i];
        if (last != NULL && last->place == next.place && next.from <= last->to)
            last->to = STA_MAX(last->to, next.to);
        else
            extents->items[kept++] = next;
    }
    if (rc == STA_OK)
        extents->count = kept;
    return rc;
}

/* Makes room for one more: by uniting, or, when that leaves more than half of them, by growing. */
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
