/* intervals.c - unions of intervals.  They arrive nearly sorted (each process writes in order of time), so
 * sorting is a merge of the runs that are there. */
#include "generator.h"
#include <stdlib.h>
#include <string.h>

void intervals_add(struct intervals *set, int64_t start, int64_t end)
{
    if (end <= start)
        return;
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 64;
        set->items = realloc(set->items, set->capacity * sizeof *set->items);
        set->spare = realloc(set->spare, set->capacity * sizeof *set->spare);
        if (!set->items || !set->spare)
            abort();
    }
    set->items[set->count++] = (struct interval){start, end};
}

static size_t run_end(const struct intervals *set, size_t from)
{
    size_t end = from + 1;
    while (end < set->count && set->items[end].start >= set->items[end - 1].start)
        end++;
    return end < set->count ? end : set->count;
}

/* Merges neighbouring runs.  Return: how many runs there were. */
static size_t merge_runs(struct intervals *set)
{
    size_t runs = 0, out = 0;
    for (size_t from = 0; from < set->count;) {
        size_t left = from, middle = run_end(set, from);
        size_t end = middle < set->count ? run_end(set, middle) : middle;
        size_t right = middle;
        while (left < middle || right < end) {
            bool take_left =
                right == end || (left < middle && set->items[left].start <= set->items[right].start);
            set->spare[out++] = set->items[take_left ? left++ : right++];
        }
        runs += 1 + (middle < end);
        from = end;
    }
    struct interval *items = set->items;
    set->items = set->spare;
    set->spare = items;
    return runs;
}

void intervals_unite(struct intervals *set)
{
    while (set->count > 1 && merge_runs(set) > 2)
        ;
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct interval next = set->items[i];
        if (kept && next.start <= set->items[kept - 1].end) {
            if (next.end > set->items[kept - 1].end)
                set->items[kept - 1].end = next.end;
        } else {
            set->items[kept++] = next;
        }
    }
    set->count = kept;
}

int64_t intervals_measure(const struct intervals *set)
{
    int64_t sum = 0;
    for (size_t i = 0; i < set->count; i++)
        sum += set->items[i].end - set->items[i].start;
    return sum;
}

int64_t intervals_measure_minus(const struct intervals *set, const struct intervals *minus)
{
    int64_t common = 0;
    for (size_t i = 0, j = 0; i < set->count && j < minus->count;) {
        struct interval a = set->items[i], b = minus->items[j];
        int64_t start = a.start > b.start ? a.start : b.start, end = a.end < b.end ? a.end : b.end;
        if (start < end)
            common += end - start;
        if (a.end < b.end)
            i++;
        else
            j++;
    }
    return intervals_measure(set) - common;
}

void intervals_fini(struct intervals *set)
{
    free(set->items);
    free(set->spare);
}
