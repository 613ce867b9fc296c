/* Unions over an interval of time. */
#include "analyse/exact/interval_unions.h"

#include <string.h>

#include "common/memory.h"

static const char WHAT[] = "the time that exposed time is compared with";

int sta_interval_unions_init(struct sta_interval_unions *unions, size_t count, struct sta_account *account,
                             struct sta_error *err)
{
    *unions = (struct sta_interval_unions){.account = account};
    unions->items = sta_account_calloc(account, count + 1, sizeof *unions->items, WHAT, err);
    if (unions->items == NULL)
        return err->status;
    unions->count = count;
    for (size_t i = 0; i < count; i++)
        unions->items[i].end = INT64_MIN;
    return STA_OK;
}

void sta_interval_unions_fini(struct sta_interval_unions *unions)
{
    for (size_t b = 0; b < unions->arena_blocks; b++)
        sta_account_release(unions->account, unions->arena.sizes[b]);
    sta_state_arena_fini(&unions->arena);
    sta_account_free(unions->account, unions->items);
    sta_account_free(unions->account, unions->used);
    *unions = (struct sta_interval_unions){0};
}

void sta_interval_unions_clear(struct sta_interval_unions *unions)
{
    for (size_t i = 0; i < unions->used_count; i++)
        unions->items[unions->used[i]] = (struct sta_interval_union){.end = INT64_MIN};
    unions->used_count = 0;
    sta_state_arena_reset(&unions->arena);
}

#define FIRST_INTERVALS 16

/* Room for one more interval of a union, twice as many as it had: what it had is left in the arena. */
int sta_interval_unions_grow(struct sta_interval_unions *unions, uint32_t index, struct sta_error *err)
{
    struct sta_interval_union *united = &unions->items[index];
    const uint32_t capacity = united->capacity > 0 ? 2 * united->capacity : FIRST_INTERVALS;
    struct sta_union_interval *items = sta_state_arena_take(&unions->arena, (size_t)capacity * sizeof *items);
    if (items == NULL)
        return sta_fail(err, STA_ENOMEM, "memory ran out for %s", WHAT);
    for (; unions->arena_blocks < unions->arena.count; unions->arena_blocks++) {
        int rc = sta_account_charge(unions->account, unions->arena.sizes[unions->arena_blocks], WHAT, err);
        if (rc != 0)
            return rc;
    }
    if (united->count > 0) {
        memcpy(items, united->items, united->count * sizeof *items);
    } else {
        int rc = STA_ACCOUNT_GROW(unions->account, unions->used, unions->used_capacity,
                                  unions->used_count + 1, WHAT, err);
        if (rc != 0)
            return rc;
        unions->used[unions->used_count++] = index;
    }
    united->items = items;
    united->capacity = capacity;
    return STA_OK;
}

void sta_interval_unions_finish(struct sta_interval_unions *unions)
{
    for (size_t i = 0; i < unions->used_count; i++) {
        const struct sta_interval_union *united = &unions->items[unions->used[i]];
        int64_t before = 0;
        for (uint32_t k = 0; k < united->count; k++) {
            united->items[k].before = before;
            before += united->items[k].to - united->items[k].from;
        }
    }
}

/* Measure of what is covered before a time, which is not before the interval `at` begins. */
static int64_t measure_before(const struct sta_interval_union *united, int64_t time)
{
    const struct sta_union_interval *items = united->items;
    uint32_t low = united->at; /* begins before the time */
    uint32_t step = 1;
    while (low + step < united->count && items[low + step].from < time) {
        low += step;
        step *= 2;
    }
    uint32_t high = STA_MIN(low + step, united->count); /* does not */
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (items[middle].from < time)
            low = middle;
        else
            high = middle;
    }
    return items[low].before + STA_MIN(time, items[low].to) - items[low].from;
}

int64_t sta_interval_unions_inside(struct sta_interval_unions *unions, uint32_t index, int64_t now,
                                   int64_t from, int64_t to)
{
    struct sta_interval_union *united = &unions->items[index];
    while (united->at < united->count && united->items[united->at].to <= now)
        united->at++;
    if (united->at == united->count || united->items[united->at].from >= to)
        return 0;
    const struct sta_union_interval *first = &united->items[united->at];
    int64_t before = from > first->from ? measure_before(united, from) : first->before;
    return measure_before(united, to) - before;
}
