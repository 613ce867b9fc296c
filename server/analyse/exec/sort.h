/* sort.h - a sort that can be cancelled. */
#ifndef STA_ANALYSE_EXEC_SORT_H
#define STA_ANALYSE_EXEC_SORT_H

#include <stddef.h>

#include "common/error.h"

struct sta_budget;

/**
 * sta_sort - qsort_r of @count items of @size bytes, stable, within a budget
 * Checks the budget every some thousand comparisons; takes as much memory again, charged for the time.
 * Return: 0; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY, STA_ENOMEM; then the items are undefined.
 */
STA_MUSTCHECK int sta_sort(const struct sta_budget *budget, void *items, size_t count, size_t size,
                           int (*compare)(const void *a, const void *b, void *context), void *context,
                           struct sta_error *err);

#endif
