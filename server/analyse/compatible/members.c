/* Distinct values of groups, from pairs in no order.
 *
 * DESIGN.  Pairs are sorted with the value first, so that equal ones stand together and the values that occur
 * can be numbered; read in the order of those numbers, they fill the set of each group in order. */
#include "analyse/compatible/pass.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/radix.h"
#include "common/memory.h"

/* Sorts words and removes repetitions.  Return: how many are left, or SIZE_MAX when memory is short. */
static size_t make_distinct(uint64_t *words, size_t count)
{
    uint64_t *scratch = sta_try_alloc_array(count + 1, sizeof *scratch);
    if (scratch == NULL)
        return SIZE_MAX;
    int rc = sta_radix_sort(words, scratch, count, 1, false, NULL);
    free(scratch);
    if (rc != 0)
        return SIZE_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || words[i] != words[kept - 1])
            words[kept++] = words[i];
    return kept;
}

static int fail_memory(size_t pairs, struct sta_error *err)
{
    return sta_fail(err, STA_ENOMEM, "no memory for the %zu bins and files of the groups", pairs);
}

int sta_pairs_compact(struct sta_pairs *pairs, struct sta_error *err)
{
    size_t kept = make_distinct(pairs->items, pairs->count);
    if (kept == SIZE_MAX)
        return fail_memory(pairs->count, err);
    pairs->count = pairs->distinct = kept;
    return 0;
}

/* ---- sets of all groups */

struct gathering {
    uint64_t *words; /* value << 32 | group, ascending */
    size_t count;
    size_t *first;   /* by value in the order of the words, and one more: its words */
    uint32_t *order; /* by number of a value: its place among those */
    const struct sta_dictionary *texts;
};

static int collect(struct gathering *gathering, const struct sta_pairs *pairs, size_t list_count,
                   const uint32_t *const *group_of, struct sta_error *err)
{
    size_t total = 0;
    for (size_t l = 0; l < list_count; l++)
        total += pairs[l].count;
    gathering->words = sta_try_alloc_array(total + 1, sizeof *gathering->words);
    if (gathering->words == NULL)
        return fail_memory(total, err);
    for (size_t l = 0; l < list_count; l++)
        for (size_t i = 0; i < pairs[l].count; i++) {
            uint64_t pair = pairs[l].items[i];
            gathering->words[gathering->count++] = pair << 32 | group_of[l][pair >> 32];
        }
    gathering->count = make_distinct(gathering->words, total);
    return gathering->count == SIZE_MAX ? fail_memory(total, err) : 0;
}

static uint32_t value_at(const struct gathering *gathering, uint32_t place)
{
    return (uint32_t)(gathering->words[gathering->first[place]] >> 32);
}

static int compare_values(const void *a, const void *b, void *context)
{
    const struct gathering *gathering = context;
    return sta_text_order(sta_dictionary_text(gathering->texts, value_at(gathering, *(const uint32_t *)a)),
                          sta_dictionary_text(gathering->texts, value_at(gathering, *(const uint32_t *)b)));
}

/* Numbers the values. */
static int number_values(struct gathering *gathering, struct sta_members *members, struct sta_error *err)
{
    const uint64_t *words = gathering->words;
    for (size_t i = 0; i < gathering->count; i++)
        members->value_count += i == 0 || words[i] >> 32 != words[i - 1] >> 32;
    gathering->first = sta_try_alloc_array((size_t)members->value_count + 1, sizeof *gathering->first);
    gathering->order = sta_try_alloc_array((size_t)members->value_count + 1, sizeof *gathering->order);
    members->values = sta_try_alloc_array((size_t)members->value_count + 1, sizeof *members->values);
    if (gathering->first == NULL || gathering->order == NULL || members->values == NULL)
        return fail_memory(gathering->count, err);
    uint32_t place = 0;
    for (size_t i = 0; i < gathering->count; i++)
        if (i == 0 || words[i] >> 32 != words[i - 1] >> 32) {
            gathering->order[place] = place;
            gathering->first[place++] = i;
        }
    gathering->first[place] = gathering->count;
    if (gathering->texts != NULL)
        qsort_r(gathering->order, members->value_count, sizeof *gathering->order, compare_values, gathering);
    for (uint32_t number = 0; number < members->value_count; number++)
        members->values[number] = value_at(gathering, gathering->order[number]);
    return 0;
}

/* Puts every value's number to its groups. */
static int distribute(const struct gathering *gathering, size_t group_count, struct sta_members *members,
                      struct sta_error *err)
{
    members->start = sta_try_alloc_array(group_count + 2, sizeof *members->start);
    members->items = sta_try_alloc_array(gathering->count + 1, sizeof *members->items);
    if (members->start == NULL || members->items == NULL)
        return fail_memory(gathering->count, err);
    memset(members->start, 0, (group_count + 2) * sizeof *members->start);
    for (size_t i = 0; i < gathering->count; i++) /* two places on: filling moves each start to its place */
        members->start[(uint32_t)gathering->words[i] + 2]++;
    for (size_t g = 2; g < group_count + 2; g++)
        members->start[g] += members->start[g - 1];
    for (uint32_t number = 0; number < members->value_count; number++) {
        uint32_t place = gathering->order[number];
        for (size_t i = gathering->first[place]; i < gathering->first[place + 1]; i++)
            members->items[members->start[(uint32_t)gathering->words[i] + 1]++] = number;
    }
    return 0;
}

int sta_members_gather(const struct sta_pairs *pairs, size_t list_count, const uint32_t *const *group_of,
                       size_t group_count, const struct sta_dictionary *texts, struct sta_members *members,
                       struct sta_error *err)
{
    struct gathering gathering = {.texts = texts};
    *members = (struct sta_members){0};
    int rc = collect(&gathering, pairs, list_count, group_of, err);
    if (rc == 0)
        rc = number_values(&gathering, members, err);
    if (rc == 0)
        rc = distribute(&gathering, group_count, members, err);
    free(gathering.words);
    free(gathering.first);
    free(gathering.order);
    return rc;
}

void sta_members_fini(struct sta_members *members)
{
    free(members->start);
    free(members->items);
    free(members->missing);
    free(members->values);
    *members = (struct sta_members){0};
}
