/* Covers of a interval of time. */
#include "analyse/exact/covers.h"

#include <string.h>

#include "common/memory.h"

static const char WHAT[] = "the time that exposed time is compared with";

int sta_covers_init(struct sta_covers *covers, uint32_t cover_count, uint32_t group_count,
                    struct sta_account *account, struct sta_error *err)
{
    const size_t count = (size_t)cover_count * group_count;
    *covers = (struct sta_covers){.account = account, .group_count = group_count};
    covers->items = sta_account_calloc(account, count + 1, sizeof *covers->items, WHAT, err);
    if (covers->items == NULL)
        return err->status;
    covers->count = count;
    return STA_OK;
}

void sta_covers_fini(struct sta_covers *covers)
{
    for (size_t b = 0; b < covers->arena_blocks; b++)
        sta_account_release(covers->account, covers->arena.sizes[b]);
    sta_state_arena_fini(&covers->arena);
    sta_account_free(covers->account, covers->items);
    sta_account_free(covers->account, covers->used);
    *covers = (struct sta_covers){0};
}

void sta_covers_clear(struct sta_covers *covers)
{
    for (size_t i = 0; i < covers->used_count; i++)
        covers->items[covers->used[i]] = (struct sta_exact_cover){0};
    covers->used_count = 0;
    sta_state_arena_reset(&covers->arena);
}

#define FIRST_INTERVALS 16

/* Room for one more interval of a cover, twice as many as it had: what it had is left in the arena. */
static int grow(struct sta_covers *covers, struct sta_exact_cover *cover, struct sta_error *err)
{
    const size_t capacity = cover->capacity > 0 ? 2 * cover->capacity : FIRST_INTERVALS;
    struct sta_cover_interval *items = sta_state_arena_take(&covers->arena, capacity * sizeof *items);
    if (items == NULL)
        return sta_fail(err, STA_ENOMEM, "memory ran out for %s", WHAT);
    for (; covers->arena_blocks < covers->arena.count; covers->arena_blocks++) {
        int rc = sta_account_charge(covers->account, covers->arena.sizes[covers->arena_blocks], WHAT, err);
        if (rc != 0)
            return rc;
    }
    if (cover->count > 0)
        memcpy(items, cover->items, cover->count * sizeof *items);
    cover->items = items;
    cover->capacity = capacity;
    return STA_OK;
}

int sta_covers_add(struct sta_covers *covers, uint32_t number, uint32_t group, int64_t from, int64_t to,
                   struct sta_error *err)
{
    uint32_t index = number * covers->group_count + group;
    struct sta_exact_cover *cover = &covers->items[index];
    struct sta_cover_interval *last = cover->count > 0 ? &cover->items[cover->count - 1] : NULL;
    if (last != NULL && from <= last->to) {
        last->to = STA_MAX(last->to, to);
        return STA_OK;
    }
    int64_t before = last != NULL ? last->before + last->to - last->from : 0;
    int rc = cover->count == cover->capacity ? grow(covers, cover, err) : STA_OK;
    if (rc == 0 && cover->count == 0)
        rc = STA_ACCOUNT_GROW(covers->account, covers->used, covers->used_capacity, covers->used_count + 1,
                              WHAT, err);
    if (rc != 0)
        return rc;
    if (cover->count == 0)
        covers->used[covers->used_count++] = index;
    cover->items[cover->count++] = (struct sta_cover_interval){from, to, before};
    return STA_OK;
}

/* Measure of what is covered before a time, which is not before the interval `at` begins. */
static int64_t measure_before(const struct sta_exact_cover *cover, int64_t time)
{
    const struct sta_cover_interval *items = cover->items;
    size_t low = cover->at; /* begins before the time */
    size_t step = 1;
    while (low + step < cover->count && items[low + step].from < time) {
        low += step;
        step *= 2;
    }
    size_t high = STA_MIN(low + step, cover->count); /* does not */
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].from < time)
            low = middle;
        else
            high = middle;
    }
    return items[low].before + STA_MIN(time, items[low].to) - items[low].from;
}

int64_t sta_covers_inside(struct sta_covers *covers, uint32_t number, uint32_t group, int64_t now,
                          int64_t from, int64_t to)
{
    struct sta_exact_cover *cover = &covers->items[(size_t)number * covers->group_count + group];
    while (cover->at < cover->count && cover->items[cover->at].to <= now)
        cover->at++;
    if (cover->at == cover->count || cover->items[cover->at].from >= to)
        return 0;
    const struct sta_cover_interval *first = &cover->items[cover->at];
    int64_t before = from > first->from ? measure_before(cover, from) : first->before;
    return measure_before(cover, to) - before;
}
