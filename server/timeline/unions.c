/* Intervals, united as they come in order. */
#include "timeline/unions.h"

#include <string.h>

#include "analyse/operators/radix.h"
#include "common/memory.h"

#define WHAT "intervals of the timeline"
#define LEAST_UNITED 16384 /* intervals: sorted, they still lie in a cache */

void sta_union_fini(struct sta_union *spans, struct sta_account *account)
{
    sta_account_free(account, spans->items);
    *spans = (struct sta_union){0};
}

/* Space for one more.  Before much is copied to a larger place it is united. */
static int reserve_space(struct sta_union *spans, const struct sta_budget *budget, struct sta_error *err)
{
    if (spans->count < spans->capacity)
        return 0;
    int rc = spans->count >= LEAST_UNITED ? sta_union_sort(spans, budget, err) : 0;
    if (rc != 0 || spans->count < spans->capacity / 2)
        return rc;
    return STA_ACCOUNT_GROW(budget->account, spans->items, spans->capacity, spans->capacity + 1, WHAT, err);
}

int sta_union_add(struct sta_union *spans, int64_t from, int64_t to, const struct sta_budget *budget,
                  struct sta_error *err)
{
    if (from >= to)
        return 0;
    struct sta_interval *last = spans->count > 0 ? &spans->items[spans->count - 1] : NULL;
    if (last != NULL && from <= last->to && from >= last->from) {
        last->to = STA_MAX(last->to, to);
        return 0;
    }
    int rc = reserve_space(spans, budget, err);
    if (rc == 0) {
        spans->unordered =
            spans->unordered || (spans->count > 0 && from <= spans->items[spans->count - 1].to);
        spans->items[spans->count++] = (struct sta_interval){from, to};
        rc = sta_budget_check_step(budget, spans->count, err);
    }
    return rc;
}

int sta_union_move(struct sta_union *to, const struct sta_union *from, const struct sta_budget *budget,
                   struct sta_error *err)
{
    if (from->count == 0)
        return 0;
    int rc = STA_ACCOUNT_GROW(budget->account, to->items, to->capacity, to->count + from->count, WHAT, err);
    if (rc != 0)
        return rc;
    to->unordered = to->unordered || from->unordered ||
                    (to->count > 0 && to->items[to->count - 1].to >= from->items[0].from);
    memcpy(to->items + to->count, from->items, from->count * sizeof *from->items);
    to->count += from->count;
    return 0;
}

static int sort_items(struct sta_union *spans, const struct sta_budget *budget, struct sta_error *err)
{
    _Static_assert(sizeof(struct sta_interval) == 2 * sizeof(uint64_t),
                   "an interval is a record of two words");
    struct sta_word_pair *scratch =
        sta_account_alloc(budget->account, spans->count + 1, sizeof *scratch, WHAT, err);
    if (scratch == NULL)
        return err->status;
    int rc =
        sta_radix_sort_pairs((struct sta_word_pair *)spans->items, scratch, spans->count, budget->cancel);
    sta_account_free(budget->account, scratch);
    return rc == 0 ? 0 : sta_radix_failed(rc, "intervals", spans->count, err);
}

int sta_union_sort(struct sta_union *spans, const struct sta_budget *budget, struct sta_error *err)
{
    size_t kept = 0;
    if (!spans->unordered)
        return 0;
    int rc = sort_items(spans, budget, err);
    for (size_t i = 0; rc == 0 && i < spans->count; i++) {
        if (kept > 0 && spans->items[i].from <= spans->items[kept - 1].to)
            spans->items[kept - 1].to = STA_MAX(spans->items[kept - 1].to, spans->items[i].to);
        else
            spans->items[kept++] = spans->items[i];
    }
    if (rc == 0) {
        spans->count = kept;
        spans->unordered = false;
    }
    return rc;
}

int sta_union_merge(struct sta_union *to, const struct sta_union *from, const struct sta_budget *budget,
                    struct sta_error *err)
{
    struct sta_union both = {0};
    size_t i = 0, j = 0;
    if (from->count == 0)
        return 0;
    both.capacity = to->count + from->count;
    both.items = sta_account_alloc(budget->account, both.capacity, sizeof *both.items, WHAT, err);
    int rc = both.items == NULL ? err->status : 0;
    while (rc == 0 && i + j < both.capacity) {
        const bool first = j == from->count || (i < to->count && to->items[i].from <= from->items[j].from);
        const struct sta_interval *next = first ? &to->items[i++] : &from->items[j++];
        rc = sta_union_add(&both, next->from, next->to, budget, err);
    }
    if (rc != 0) {
        sta_union_fini(&both, budget->account);
        return rc;
    }
    sta_union_fini(to, budget->account);
    *to = both;
    return 0;
}

int64_t sta_union_measure(const struct sta_union *spans)
{
    int64_t measure = 0;
    for (size_t i = 0; i < spans->count; i++)
        measure += spans->items[i].to - spans->items[i].from;
    return measure;
}
