/* sort.h - items in the order of integer keys (private to compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_SORT_H
#define STA_ANALYSE_COMPATIBLE_SORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sta_sort_item {
    uint64_t key;
    uint32_t minor; /* second key */
    uint32_t at;    /* whose keys these are */
};

/**
 * sta_sort_items - stable, ascending by key, then minor; the time depends on how many bits differ
 * @spare: room for as many items
 * @cancel: NULL, or what ends it soon when it becomes true: then the items are in no order, and the caller
 * asks its budget
 */
void sta_sort_items(struct sta_sort_item *items, struct sta_sort_item *spare, size_t count,
                    const _Atomic bool *cancel);

#endif
