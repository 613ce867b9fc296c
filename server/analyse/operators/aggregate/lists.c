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
    for (size_t s = 0; s < log->segment_count; s++)
        sta_free(log->segments[s].words);
    free(log->segments);
    sta_free(log->slots);
}

static size_t capacity_for(const struct sta_list_log *log, size_t more)
{
    size_t capacity = log->capacity > 0 ? log->capacity : FIRST_ENTRIES;
    while (capacity < log->count + more)
        capacity = capacity < STA_SEGMENT_ENTRIES ? capacity * 2 : capacity + STA_SEGMENT_ENTRIES;
    return capacity;
}

static size_t entry_bytes(const struct sta_list_log *log)
{
    return log->width * sizeof(uint64_t) + sizeof(uint32_t);
}

/* A power of two, at least twice as many as entries. */
static size_t slots_for(const struct sta_list_log *log, size_t capacity)
{
    size_t slots = log->slot_count > 0 ? log->slot_count : 2 * FIRST_ENTRIES;
    while (slots < capacity * 2)
        slots *= 2;
    return log->is_set ? slots : 0;
}

size_t sta_list_log_bytes(const struct sta_list_log *log, size_t more)
{
    size_t capacity = more == 0 ? log->capacity : capacity_for(log, more);
    return capacity * entry_bytes(log) + slots_for(log, capacity) * sizeof *log->slots;
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
        size_t slot = slot_of(log, sta_list_log_group(log, i), *sta_list_log_words(log, i));
        while (log->slots[slot] != 0)
            slot = (slot + 1) & (log->slot_count - 1);
        log->slots[slot] = (uint32_t)i + 1;
    }
}

/* One more segment, or the first one with @entries in place of the smaller one. */
static int add_segment(struct sta_list_log *log, size_t number, size_t entries)
{
    STA_GROW(log->segments, log->segment_capacity, number + 1);
    struct sta_list_segment *segment = &log->segments[number];
    uint64_t *words = sta_array_create(entries, entry_bytes(log));
    if (words == NULL)
        return STA_ENOMEM;
    uint32_t *groups = (uint32_t *)(void *)(words + entries * log->width);
    if (number < log->segment_count) {
        memcpy(words, segment->words, log->count * log->width * sizeof *words);
        memcpy(groups, segment->groups, log->count * sizeof *groups);
        sta_free(segment->words);
    }
    *segment = (struct sta_list_segment){.words = words, .groups = groups};
    log->segment_count = STA_MAX(log->segment_count, number + 1);
    return STA_OK;
}

static int grow(struct sta_list_log *log, size_t capacity)
{
    while (log->capacity < capacity) {
        const bool first = log->capacity < STA_SEGMENT_ENTRIES;
        const size_t entries = first ? STA_MIN(capacity, STA_SEGMENT_ENTRIES) : STA_SEGMENT_ENTRIES;
        if (add_segment(log, first ? 0 : log->segment_count, entries) != 0)
            return STA_ENOMEM;
        log->capacity = first ? entries : log->capacity + entries;
    }
    if (!log->is_set || log->slot_count == slots_for(log, capacity))
        return STA_OK;
    sta_free(log->slots);
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
static inline bool is_new(struct sta_list_log *log, uint32_t group, uint64_t word)
{
    uint32_t *const slots = log->slots;
    size_t slot = slot_of(log, group, word);
    for (; slots[slot] != 0; slot = (slot + 1) & (log->slot_count - 1)) {
        const size_t entry = slots[slot] - 1, inside = entry & (STA_SEGMENT_ENTRIES - 1);
        const struct sta_list_segment *segment = &log->segments[entry >> STA_SEGMENT_BITS];
        if (segment->words[inside] == word && segment->groups[inside] == group)
            return false;
    }
    slots[slot] = (uint32_t)log->count + 1;
    return true;
}

/* An entry of one word that is not there yet: sets of millions of values are made of such. */
static inline void append_one(struct sta_list_log *log, uint32_t group, uint64_t word)
{
    struct sta_list_segment *segment = &log->segments[log->count >> STA_SEGMENT_BITS];
    const size_t at = log->count++ & (STA_SEGMENT_ENTRIES - 1);
    segment->groups[at] = group;
    segment->words[at] = word;
}

/* Adds entries of which none is there already. */
static void append(struct sta_list_log *log, const uint32_t *groups, const uint64_t *words, size_t count)
{
    while (count > 0) {
        struct sta_list_segment *segment = &log->segments[log->count >> STA_SEGMENT_BITS];
        const size_t at = log->count & (STA_SEGMENT_ENTRIES - 1);
        const size_t now = STA_MIN(count, STA_SEGMENT_ENTRIES - at);
        memcpy(segment->groups + at, groups, now * sizeof *groups);
        memcpy(segment->words + at * log->width, words, now * log->width * sizeof *words);
        log->count += now;
        groups += now;
        words += now * log->width;
        count -= now;
    }
}

void sta_list_log_add_words(struct sta_list_log *log, const uint32_t *groups, const uint64_t *words,
                            uint32_t count)
{
    STA_ASSERT(log->capacity - log->count >= count && (log->width == 1 || !log->is_set));
    if (!log->is_set) {
        append(log, groups, words, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&log->slots[slot_of(log, groups[i], words[i])]);
    for (uint32_t i = 0; i < count; i++)
        if (is_new(log, groups[i], words[i]))
            append_one(log, groups[i], words[i]);
}

void sta_list_log_add(struct sta_list_log *log, uint32_t group, const uint64_t *words)
{
    if (log->count == log->capacity && grow(log, capacity_for(log, 1)) != 0)
        sta_realloc_array(NULL, SIZE_MAX / 2, 1); /* ends the process, saying why */
    sta_list_log_add_words(log, &group, words, 1);
}

/* ---- in order */

static void scatter_segment(const struct sta_list_log *log, size_t number, const uint32_t *places,
                            const struct sta_ranks *ranks, size_t *next, uint64_t *words)
{
    const struct sta_list_segment segment = log->segments[number];
    const size_t count = sta_list_segment_count(log, number);
    for (size_t i = 0; i < count; i++) {
        size_t at = next[places[segment.groups[i]]]++ * log->width;
        words[at] = ranks != NULL ? sta_ranks_of(ranks, segment.words[i]) : segment.words[i * log->width];
        if (log->width == 2)
            words[at + 1] = segment.words[i * 2 + 1];
    }
}

static int sort_groups(const struct sta_sorted_list *sorted, uint32_t group_count, uint64_t *scratch,
                       size_t below, const _Atomic bool *cancel)
{
    int rc = STA_OK;
    for (uint32_t p = 0; rc == 0 && p < group_count; p++) {
        size_t count = sorted->offsets[p + 1] - sorted->offsets[p];
        uint64_t *words = sorted->words + sorted->offsets[p] * sorted->width;
        if (count < below)
            rc = sta_radix_sort(words, scratch, count, sorted->width, false, cancel);
    }
    return rc;
}

/* Offsets of the places, from counts; return: the largest count of those to be sorted. */
static size_t count_places(const struct sta_list_log *log, const uint32_t *places, uint32_t group_count,
                           size_t below, size_t *offsets)
{
    size_t most = 0;
    size_t at = 0;
    memset(offsets, 0, (group_count + 1) * sizeof *offsets);
    for (size_t s = 0; s < log->segment_count; s++) {
        const uint32_t *groups = log->segments[s].groups;
        const size_t count = sta_list_segment_count(log, s);
        for (size_t i = 0; i < count; i++)
            offsets[places[groups[i]]]++;
    }
    for (uint32_t p = 0; p <= group_count; p++) {
        size_t here = offsets[p];
        offsets[p] = at;
        at += here;
        if (here < below)
            most = STA_MAX(most, here);
    }
    return most;
}

int sta_list_log_sort(const struct sta_list_log *log, const uint32_t *places, uint32_t group_count,
                      const struct sta_ranks *ranks, size_t below, const _Atomic bool *cancel,
                      struct sta_sorted_list *sorted, struct sta_error *err)
{
    *sorted = (struct sta_sorted_list){.width = log->width};
    sorted->offsets = sta_try_alloc_array((size_t)group_count + 1, sizeof *sorted->offsets);
    sorted->words = sta_array_create(log->count, log->width * sizeof *sorted->words);
    if (sorted->offsets == NULL || sorted->words == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory to sort %zu values", log->count);
    size_t most = count_places(log, places, group_count, below, sorted->offsets);
    /* Scattering moves the offsets, so it works on a copy. */
    uint64_t *scratch = sta_array_create(most, log->width * sizeof *scratch);
    size_t *next = sta_try_alloc_array((size_t)group_count + 1, sizeof *next);
    int rc = scratch != NULL && next != NULL ? STA_OK : STA_ENOMEM;
    if (rc == 0) {
        memcpy(next, sorted->offsets, group_count * sizeof *next);
        for (size_t s = 0; s < log->segment_count; s++)
            scatter_segment(log, s, places, ranks, next, sorted->words);
        rc = sort_groups(sorted, group_count, scratch, below, cancel);
    }
    sta_free(scratch);
    sta_free(next);
    return sta_radix_failed(rc, "values", log->count, err);
}

void sta_sorted_list_fini(struct sta_sorted_list *sorted)
{
    sta_free(sorted->offsets);
    sta_free(sorted->words);
    *sorted = (struct sta_sorted_list){0};
}
