/* Covers of a interval of time. */
#include "analyse/exact/covers.h"

#include <string.h>

#include "common/memory.h"

static const char WHAT[] = "the time that exposed time is compared with";

int sta_covers_init(struct sta_covers *covers, size_t count, struct sta_account *account,
                    struct sta_error *err)
{
    *covers = (struct sta_covers){.account = account};
    covers->items = sta_account_calloc(account, count + 1, sizeof *covers->items, WHAT, err);
    if (covers->items == NULL)
        return err->status;
    covers->count = count;
    for (size_t i = 0; i < count; i++)
        covers->items[i].end = INT64_MIN;
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
        covers->items[covers->used[i]] = (struct sta_exact_cover){.end = INT64_MIN};
    covers->used_count = 0;
    sta_state_arena_reset(&covers->arena);
}

#define FIRST_INTERVALS 16

/* Room for one more interval of a cover, twice as many as it had: what it had is left in the arena. */
int sta_covers_grow(struct sta_covers *covers, uint32_t index, struct sta_error *err)
{
    struct sta_exact_cover *cover = &covers->items[index];
    const uint32_t capacity = cover->capacity > 0 ? 2 * cover->capacity : FIRST_INTERVALS;
    struct sta_cover_interval *items = sta_state_arena_take(&covers->arena, (size_t)capacity * sizeof *items);
    if (items == NULL)
        return sta_fail(err, STA_ENOMEM, "memory ran out for %s", WHAT);
    for (; covers->arena_blocks < covers->arena.count; covers->arena_blocks++) {
        int rc = sta_account_charge(covers->account, covers->arena.sizes[covers->arena_blocks], WHAT, err);
        if (rc != 0)
            return rc;
    }
    if (cover->count > 0) {
        memcpy(items, cover->items, cover->count * sizeof *items);
    } else {
        int rc = STA_ACCOUNT_GROW(covers->account, covers->used, covers->used_capacity,
                                  covers->used_count + 1, WHAT, err);
        if (rc != 0)
            return rc;
        covers->used[covers->used_count++] = index;
    }
    cover->items = items;
    cover->capacity = capacity;
    return STA_OK;
}

void sta_covers_finish(struct sta_covers *covers)
{
    for (size_t i = 0; i < covers->used_count; i++) {
        const struct sta_exact_cover *cover = &covers->items[covers->used[i]];
        int64_t before = 0;
        for (uint32_t k = 0; k < cover->count; k++) {
            cover->items[k].before = before;
            before += cover->items[k].to - cover->items[k].from;
        }
    }
}

/* Measure of what is covered before a time, which is not before the interval `at` begins. */
static int64_t measure_before(const struct sta_exact_cover *cover, int64_t time)
{
    const struct sta_cover_interval *items = cover->items;
    uint32_t low = cover->at; /* begins before the time */
    uint32_t step = 1;
    while (low + step < cover->count && items[low + step].from < time) {
        low += step;
        step *= 2;
    }
    uint32_t high = STA_MIN(low + step, cover->count); /* does not */
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (items[middle].from < time)
            low = middle;
        else
            high = middle;
    }
    return items[low].before + STA_MIN(time, items[low].to) - items[low].from;
}

int64_t sta_covers_inside(struct sta_covers *covers, uint32_t index, int64_t now, int64_t from, int64_t to)
{
    struct sta_exact_cover *cover = &covers->items[index];
    while (cover->at < cover->count && cover->items[cover->at].to <= now)
        cover->at++;
    if (cover->at == cover->count || cover->items[cover->at].from >= to)
        return 0;
    const struct sta_cover_interval *first = &cover->items[cover->at];
    int64_t before = from > first->from ? measure_before(cover, from) : first->before;
    return measure_before(cover, to) - before;
}
