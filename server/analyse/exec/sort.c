/* Runs that one qsort_r sorts in some milliseconds, then merges of two by two.
 *
 * For what only a comparison brings in order, such as the names of units.  Records of words, which rows come
 * as, are sorted by operators/radix.h. */
#include "analyse/exec/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

#define RUN ((size_t)8192)     /* items sorted between two checks */
#define FEW ((size_t)64)       /* sorted in less than a check takes */
#define MERGED ((size_t)65536) /* items merged between two checks */

struct sorting {
    const struct sta_budget *budget;
    size_t count, size;
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};

static int sort_runs(const struct sorting *sorting, char *items, struct sta_error *err)
{
    int rc = 0;
    for (size_t first = 0; first < sorting->count && rc == 0; first += RUN) {
        qsort_r(items + first * sorting->size, STA_MIN(RUN, sorting->count - first), sorting->size,
                sorting->compare, sorting->context);
        if (sorting->count > FEW)
            rc = sta_budget_check(sorting->budget, err);
    }
    return rc;
}

/* Merges [first, middle) and [middle, end). */
static int merge(const struct sorting *sorting, const char *from, char *to, size_t first, size_t middle,
                 size_t end, struct sta_error *err)
{
    const size_t size = sorting->size;
    size_t left = first, right = middle;
    for (size_t at = first; left < middle && right < end; at++) {
        bool take_right = sorting->compare(from + left * size, from + right * size, sorting->context) > 0;
        memcpy(to + at * size, from + (take_right ? right++ : left++) * size, size);
        if (at % MERGED == 0 && sta_budget_check(sorting->budget, err) != 0)
            return err->status;
    }
    size_t at = left + right - middle;
    memcpy(to + at * size, from + left * size, (middle - left) * size);
    memcpy(to + (at + middle - left) * size, from + right * size, (end - right) * size);
    return 0;
}

int sta_sort(const struct sta_budget *budget, void *items, size_t count, size_t size,
             int (*compare)(const void *a, const void *b, void *context), void *context,
             struct sta_error *err)
{
    const struct sorting sorting = {budget, count, size, compare, context};
    int rc = sort_runs(&sorting, items, err);
    if (rc != 0 || count <= RUN)
        return rc;
    char *scratch = sta_account_alloc(budget->account, count, size, "sorting", err);
    if (scratch == NULL)
        return err->status;
    char *from = items, *to = scratch;
    for (size_t width = RUN; width < count && rc == 0; width *= 2) {
        for (size_t first = 0; first < count && rc == 0; first += 2 * width)
            rc = merge(&sorting, from, to, first, STA_MIN(first + width, count),
                       STA_MIN(first + 2 * width, count), err);
        char *swapped = from;
        from = to;
        to = swapped;
    }
    if (rc == 0 && from != items)
        memcpy(items, from, count * size);
    sta_account_free(budget->account, scratch);
    return rc;
}
