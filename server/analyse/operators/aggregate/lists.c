/* Logs of values: adding, leaving out what is there, and bringing in order by group and value. */
#include "analyse/operators/aggregate/lists.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/arena.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

#define FIRST_ENTRIES 256

void sta_list_log_init(struct sta_list_log *log, const struct sta_list_shape *list)
{
    *log = (struct sta_list_log){.width = sta_list_width(list), .is_set = list->kind == STA_LIST_SET};
}

void sta_list_log_fini(struct sta_list_log *log)
{
    free(log->groups);
    free(log->words);
    free(log->slots);
}

static size_t capacity_for(const struct sta_list_log *log, size_t more)
{
    size_t capacity = log->capacity > 0 ? log->capacity : FIRST_ENTRIES;
    while (capacity < log->count + more)
        capacity *= 2;
    return capacity;
}

static size_t slots_for(const struct sta_list_log *log, size_t capacity)
{
    return log->is_set ? capacity * 2 : 0;
}

size_t sta_list_log_bytes(const struct sta_list_log *log, size_t more)
{
    size_t capacity = more == 0 ? log->capacity : capacity_for(log, more);
    return capacity * (sizeof *log->groups + log->width * sizeof *log->words) +
           slots_for(log, capacity) * sizeof *log->slots;
}

static size_t slot_of(const struct sta_list_log *log, uint32_t group, uint64_t word)
{
    uint64_t hash = (word ^ (uint64_t)group << 32 ^ group) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    return (hash * UINT64_C(0xD6E8FEB86659FD93)) >> 32 & (log->slot_count - 1);
}

static void put_slots(struct sta_list_log *log)
{
    memset(log->slots, 0, log->slot_count * sizeof *log->slots);
    for (size_t i = 0; i < log->count; i++) {
        size_t slot = slot_of(log, log->groups[i], log->words[i]);
        while (log->slots[slot] != 0)
            slot = (slot + 1) & (log->slot_count - 1);
        log->slots[slot] = (uint32_t)i + 1;
    }
}

static int grow(struct sta_list_log *log, size_t capacity)
{
    uint32_t *groups = reallocarray(log->groups, capacity, sizeof *groups);
    log->groups = groups != NULL ? groups : log->groups;
    uint64_t *words = reallocarray(log->words, capacity, log->width * sizeof *words);
    log->words = words != NULL ? words : log->words;
    if (groups == NULL || words == NULL)
        return STA_ENOMEM;
    log->capacity = capacity;
    if (!log->is_set)
        return STA_OK;
    free(log->slots);
    log->slot_count = slots_for(log, capacity);
    log->slots = sta_array_create(log->slot_count, sizeof *log->slots);
    if (log->slots == NULL)
        return STA_ENOMEM;
    put_slots(log);
    return STA_OK;
}

int sta_list_log_reserve(struct sta_list_log *log, size_t more, struct sta_error *err)
{
    size_t capacity = capacity_for(log, more);
    if (capacity == log->capacity || grow(log, capacity) == 0)
        return STA_OK;
    return sta_fail(err, STA_ENOMEM, "no memory for the values of %zu rows", capacity);
}

void sta_list_log_clear(struct sta_list_log *log)
{
    log->count = 0;
    if (log->slots != NULL)
        memset(log->slots, 0, log->slot_count * sizeof *log->slots);
}

/* Return: false when the entry is there already; else its slot is taken. */
static bool is_new(struct sta_list_log *log, uint32_t group, uint64_t word)
{
    size_t slot = slot_of(log, group, word);
    for (; log->slots[slot] != 0; slot = (slot + 1) & (log->slot_count - 1)) {
        size_t entry = log->slots[slot] - 1;
        if (log->words[entry] == word && log->groups[entry] == group)
            return false;
    }
    log->slots[slot] = (uint32_t)log->count + 1;
    return true;
}

void sta_list_log_add(struct sta_list_log *log, uint32_t group, const uint64_t *words)
{
    if (log->count == log->capacity && grow(log, capacity_for(log, 1)) != 0)
        sta_realloc_array(NULL, SIZE_MAX / 2, 1); /* ends the process, saying why */
    if (log->is_set && !is_new(log, group, words[0]))
        return;
    log->groups[log->count] = group;
    memcpy(log->words + log->count * log->width, words, log->width * sizeof *words);
    log->count++;
}

static void add_to_set(struct sta_list_log *log, const uint32_t *groups, const uint64_t *words,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&log->slots[slot_of(log, groups[i], words[i])]);
    for (uint32_t i = 0; i < count; i++) {
        log->groups[log->count] = groups[i];
        log->words[log->count] = words[i];
        log->count += is_new(log, groups[i], words[i]);
    }
}

void sta_list_log_add_words(struct sta_list_log *log, const uint32_t *groups, const uint64_t *words,
                            uint32_t count)
{
    STA_ASSERT(log->capacity - log->count >= count && log->width == 1);
    if (log->is_set) {
        add_to_set(log, groups, words, count);
        return;
    }
    memcpy(log->groups + log->count, groups, count * sizeof *groups);
    memcpy(log->words + log->count, words, count * sizeof *words);
    log->count += count;
}

/* ---- in order */

static void scatter(const struct sta_list_log *log, const uint32_t *places, const struct sta_ranks *ranks,
                    size_t *next, uint64_t *words)
{
    for (size_t i = 0; i < log->count; i++) {
        size_t at = next[places[log->groups[i]]]++ * log->width;
        words[at] = ranks != NULL ? sta_ranks_of(ranks, log->words[i]) : log->words[i * log->width];
        if (log->width == 2)
            words[at + 1] = log->words[i * 2 + 1];
    }
}

static int sort_groups(const struct sta_sorted_list *sorted, uint32_t group_count, uint64_t *scratch,
                       bool leaves_long, const _Atomic bool *cancel)
{
    int rc = STA_OK;
    for (uint32_t p = 0; rc == 0 && p < group_count; p++) {
        size_t count = sorted->offsets[p + 1] - sorted->offsets[p];
        uint64_t *words = sorted->words + sorted->offsets[p] * sorted->width;
        if (!leaves_long || count < STA_LONG_LIST)
            rc = sta_radix_sort(words, scratch, count, sorted->width, false, cancel);
    }
    return rc;
}

/* Offsets of the places, from counts; return: the largest count. */
static size_t count_places(const struct sta_list_log *log, const uint32_t *places, uint32_t group_count,
                           size_t *offsets)
{
    size_t most = 0;
    size_t at = 0;
    memset(offsets, 0, (group_count + 1) * sizeof *offsets);
    for (size_t i = 0; i < log->count; i++)
        offsets[places[log->groups[i]]]++;
    for (uint32_t p = 0; p <= group_count; p++) {
        size_t here = offsets[p];
        offsets[p] = at;
        at += here;
        most = STA_MAX(most, here);
    }
    return most;
}

int sta_list_log_sort(const struct sta_list_log *log, const uint32_t *places, uint32_t group_count,
                      const struct sta_ranks *ranks, bool leaves_long, const _Atomic bool *cancel,
                      struct sta_sorted_list *sorted, struct sta_error *err)
{
    *sorted = (struct sta_sorted_list){.width = log->width};
    sorted->offsets = sta_try_alloc_array((size_t)group_count + 1, sizeof *sorted->offsets);
    sorted->words = sta_array_create(log->count, log->width * sizeof *sorted->words);
    if (sorted->offsets == NULL || sorted->words == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory to sort %zu values", log->count);
    size_t most = count_places(log, places, group_count, sorted->offsets);
    /* Scattering moves each offset to where the next group begins; so it works on the array one step to the
     * right. */
    uint64_t *scratch = sta_array_create(most, log->width * sizeof *scratch);
    size_t *next = sta_try_alloc_array((size_t)group_count + 1, sizeof *next);
    int rc = scratch != NULL && next != NULL ? STA_OK : STA_ENOMEM;
    if (rc == 0) {
        memcpy(next, sorted->offsets, group_count * sizeof *next);
        scatter(log, places, ranks, next, sorted->words);
        rc = sort_groups(sorted, group_count, scratch, leaves_long, cancel);
    }
    free(scratch);
    free(next);
    return sta_radix_failed(rc, "values", log->count, err);
}

void sta_sorted_list_fini(struct sta_sorted_list *sorted)
{
    free(sorted->offsets);
    free(sorted->words);
    *sorted = (struct sta_sorted_list){0};
}
