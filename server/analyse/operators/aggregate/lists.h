/* lists.h - values of groups, one (group, words) entry after another, as a worker meets them
 * (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_LISTS_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_LISTS_H

#include "analyse/operators/aggregate/record.h"
#include "common/memory.h"

/* Entries lie in segments of so many, of which the first is smaller while the others are not needed: growing
 * then copies and frees nothing. */
#define STA_SEGMENT_BITS 19
#define STA_SEGMENT_ENTRIES ((size_t)1 << STA_SEGMENT_BITS)

struct sta_list_segment {
    uint64_t *words;
    uint32_t *groups; /* behind the words, in the same memory */
};

struct sta_list_log {
    unsigned width; /* words of an entry */
    bool is_set;    /* an entry that is there already is left out */
    struct sta_list_segment *segments;
    size_t segment_count, segment_capacity;
    size_t count, capacity;
    uint32_t *slots;   /* is_set: number + 1 of an entry by its hash, 0: free */
    size_t slot_count; /* a power of two, or 0 */
};
static inline uint32_t sta_list_log_group(const struct sta_list_log *log, size_t entry)
{
    return log->segments[entry >> STA_SEGMENT_BITS].groups[entry & (STA_SEGMENT_ENTRIES - 1)];
}

static inline const uint64_t *sta_list_log_words(const struct sta_list_log *log, size_t entry)
{
    const size_t inside = entry & (STA_SEGMENT_ENTRIES - 1);
    return &log->segments[entry >> STA_SEGMENT_BITS].words[inside * log->width];
}

/** Entries of a segment that are used. */
static inline size_t sta_list_segment_count(const struct sta_list_log *log, size_t segment)
{
    const size_t first = segment << STA_SEGMENT_BITS;
    return log->count <= first ? 0 : STA_MIN(log->count - first, STA_SEGMENT_ENTRIES);
}

void sta_list_log_init(struct sta_list_log *log, const struct sta_list_shape *list);
void sta_list_log_fini(struct sta_list_log *log);
/** Bytes held once there is space for @more entries. */
size_t sta_list_log_bytes(const struct sta_list_log *log, size_t more);
/** Reserves that space.  Return: 0 or STA_ENOMEM. */
STA_MUSTCHECK int sta_list_log_reserve(struct sta_list_log *log, size_t more, struct sta_error *err);
void sta_list_log_clear(struct sta_list_log *log);
/** Adds an entry; grows the log when nothing is reserved.  Callers that add many reserve first. */
void sta_list_log_add(struct sta_list_log *log, uint32_t group, const uint64_t *words);
/** Adds entries for which there is space. */
void sta_list_log_add_words(struct sta_list_log *log, const uint32_t *groups, const uint64_t *words,
                            uint32_t count);

#define STA_LONG_LIST 4096u /* values of which selecting a few is faster than sorting all */

/* A log in order: the words of the group at place p are at [offsets[p], offsets[p + 1]) * width,
 * ascending. */
struct sta_sorted_list {
    unsigned width;
    size_t *offsets;
    uint64_t *words;
};
/**
 * sta_list_log_sort - bring a log in order
 * @places: by group, 0 .. group_count - 1
 * @ranks: TEXT: settled, and words become ranks; else NULL
 * @below: words of groups that have so many of them, or more, are left in any order
 * @cancel: asked now and then; NULL: never
 * Return: 0, STA_ENOMEM or STA_ECANCELLED.  Release with sta_sorted_list_fini also after a failure.
 */
STA_MUSTCHECK int sta_list_log_sort(const struct sta_list_log *log, const uint32_t *places,
                                    uint32_t group_count, const struct sta_ranks *ranks, size_t below,
                                    const _Atomic bool *cancel, struct sta_sorted_list *sorted,
                                    struct sta_error *err);
void sta_sorted_list_fini(struct sta_sorted_list *sorted);

#endif
