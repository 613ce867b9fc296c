/* Ranks, the layout that orders like the answer, and tables sorted by it. */
#include "analyse/query/grouping/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/query/grouping/folds.h"
#include "analyse/query/grouping/sort.h"
#include "common/memory.h"

void sta_group_order_init(struct sta_group_order *order, const struct sta_shape *shape)
{
    *order = (struct sta_group_order){.shape = shape};
    order->key_ranks = sta_alloc_array(shape->key_count, sizeof *order->key_ranks);
    order->list_ranks = sta_alloc_array(shape->list_count, sizeof *order->list_ranks);
    for (size_t k = 0; k < shape->key_count; k++)
        if (shape->key_texts[k] != NULL)
            sta_ranks_init(&order->key_ranks[k], shape->key_texts[k]);
    for (size_t l = 0; l < shape->list_count; l++)
        if (shape->lists[l].texts != NULL)
            sta_ranks_init(&order->list_ranks[l], shape->lists[l].texts);
}

void sta_group_order_fini(struct sta_group_order *order)
{
    if (order->shape == NULL)
        return;
    for (size_t k = 0; k < order->shape->key_count; k++)
        sta_ranks_fini(&order->key_ranks[k]);
    for (size_t l = 0; l < order->shape->list_count; l++)
        sta_ranks_fini(&order->list_ranks[l]);
    free(order->key_ranks);
    free(order->list_ranks);
}

/* ---- what occurs */

static void survey_key(const struct sta_group_table *table, size_t key, struct sta_ranks *ranks,
                       struct sta_key_range *range)
{
    const struct sta_key_field *field = &table->layout.fields[key];
    struct sta_key_range seen = {.low = INT64_MAX, .high = INT64_MIN, .dictionaries = 1};
    uint64_t value;
    for (uint32_t g = 0; g < table->count; g++) {
        if (!sta_key_get(field, &table->keys[(size_t)g * table->layout.words], &value))
            continue;
        seen.any = true;
        if (field->type == STA_TYPE_TEXT)
            sta_ranks_mark(ranks, value);
        seen.low = STA_MIN(seen.low, (int64_t)value);
        seen.high = STA_MAX(seen.high, (int64_t)value);
    }
    sta_key_range_unite(range, &seen);
}

void sta_group_order_survey(struct sta_group_order *order, const struct sta_group_table *table,
                            struct sta_key_range *ranges)
{
    const struct sta_shape *shape = order->shape;
    for (size_t k = 0; k < shape->key_count; k++)
        if (shape->key_types[k] == STA_TYPE_INT || shape->key_types[k] == STA_TYPE_TEXT)
            survey_key(table, k, &order->key_ranks[k], &ranges[k]);
    for (size_t l = 0; l < shape->list_count; l++)
        for (size_t i = 0; shape->lists[l].texts != NULL && i < table->logs[l].count; i++)
            sta_ranks_mark(&order->list_ranks[l], table->logs[l].words[i]);
}

void sta_group_order_survey_texts(struct sta_group_order *order)
{
    for (size_t k = 0; k < order->shape->key_count; k++)
        sta_ranks_mark_all(&order->key_ranks[k]);
    for (size_t l = 0; l < order->shape->list_count; l++)
        sta_ranks_mark_all(&order->list_ranks[l]);
}

void sta_group_order_settle(struct sta_group_order *order, const struct sta_key_range *ranges)
{
    const struct sta_shape *shape = order->shape;
    struct sta_key_range ranked[STA_GROUPING_KEYS];
    for (size_t k = 0; k < shape->key_count; k++) {
        ranked[k] = ranges[k];
        if (shape->key_texts[k] == NULL)
            continue;
        sta_ranks_settle(&order->key_ranks[k]);
        uint32_t count = order->key_ranks[k].count;
        ranked[k] = (struct sta_key_range){.any = count > 0, .codes = count, .dictionaries = 1};
    }
    for (size_t l = 0; l < shape->list_count; l++)
        if (shape->lists[l].texts != NULL)
            sta_ranks_settle(&order->list_ranks[l]);
    sta_key_layout_init(&order->layout, shape->key_types, shape->key_count, ranked);
}

void sta_group_order_words(const struct sta_group_order *order, const struct sta_key_layout *from,
                           const uint64_t *keys, size_t count, uint64_t *words)
{
    const unsigned width = order->layout.words;
    memset(words, 0, count * width * sizeof *words);
    for (size_t k = 0; k < from->count; k++) {
        const struct sta_key_field source = from->fields[k];
        const struct sta_key_field target = order->layout.fields[k];
        const struct sta_ranks *ranks = &order->key_ranks[k];
        for (size_t i = 0; i < count; i++) {
            uint64_t value;
            bool present = sta_key_get(&source, &keys[i * from->words], &value);
            if (present && source.type == STA_TYPE_TEXT)
                value = sta_ranks_of(ranks, value);
            sta_key_put(&target, value, present, &words[i * width]);
        }
    }
}

/* ---- sorted tables */

struct sorter {
    const uint64_t *words; /* by group */
    unsigned width;
    struct sta_sort_pair *pairs, *scratch;
};

/* Sorts pairs whose words before @word are equal. */
static void sort_by_word(const struct sorter *sorter, size_t begin, size_t count, unsigned word)
{
    struct sta_sort_pair *pairs = sorter->pairs + begin;
    for (size_t i = 0; i < count; i++)
        pairs[i].word = sorter->words[(size_t)pairs[i].item * sorter->width + word];
    struct sta_sort_pair *sorted = sta_sort_pairs(pairs, sorter->scratch, count);
    if (sorted != pairs)
        memcpy(pairs, sorted, count * sizeof *pairs);
    if (word + 1 == sorter->width)
        return;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && pairs[end].word == pairs[first].word;)
            end++;
        if (end - first > 1)
            sort_by_word(sorter, begin + first, end - first, word + 1);
    }
}

/* Groups of one key: those whose texts lie in two dictionaries. */
static void unite(struct sta_group_table *table, uint32_t group, uint32_t other,
                  struct sta_exact_terms *terms)
{
    const struct sta_shape *shape = table->shape;
    for (size_t f = 0; f < shape->fold_count; f++) {
        const struct sta_fold *fold = &shape->folds[f];
        fold->kind->merge(fold, sta_group_record(table, group) + fold->offset,
                          sta_group_record(table, other) + fold->offset, terms);
        for (size_t t = 0; t < terms->count; t++)
            sta_list_log_add(&table->logs[fold->list], group, &terms->terms[t]);
        terms->count = 0;
    }
}

/* From sorted pairs and words by group to words and groups by place. */
static void take_places(struct sta_sorted_table *sorted, struct sta_group_table *table,
                        const struct sorter *sorter, uint32_t *places)
{
    const unsigned width = sorter->width;
    struct sta_exact_terms terms = {0};
    uint32_t place = 0;
    for (size_t p = 0; p < table->count; p++) {
        uint32_t group = sorter->pairs[p].item;
        const uint64_t *words = &sorter->words[(size_t)group * width];
        if (place > 0 && sta_words_compare(words, &sorted->words[(place - 1) * (size_t)width], width) == 0) {
            unite(table, sorted->groups[place - 1], group, &terms);
        } else {
            sorted->groups[place] = group;
            memcpy(&sorted->words[place * (size_t)width], words, width * sizeof *words);
            place++;
        }
        places[group] = place - 1;
    }
    sorted->count = place;
    sta_exact_terms_fini(&terms);
}

static int sort_groups(struct sta_sorted_table *sorted, struct sta_group_table *table,
                       const struct sta_group_order *order, uint32_t *places)
{
    const unsigned width = order->layout.words;
    struct sorter sorter = {.width = width};
    uint64_t *words = sta_try_alloc_array(table->count, width * sizeof *words);
    sorter.words = words;
    sorter.pairs = sta_try_alloc_array(table->count, sizeof *sorter.pairs);
    sorter.scratch = sta_try_alloc_array(table->count, sizeof *sorter.scratch);
    bool enough = words != NULL && sorter.pairs != NULL && sorter.scratch != NULL;
    if (enough) {
        sta_group_order_words(order, &table->layout, table->keys, table->count, words);
        for (uint32_t g = 0; g < table->count; g++)
            sorter.pairs[g].item = g;
        sort_by_word(&sorter, 0, table->count, 0);
        take_places(sorted, table, &sorter, places);
    }
    free(words);
    free(sorter.pairs);
    free(sorter.scratch);
    return enough ? STA_OK : STA_ENOMEM;
}

static void flush_folds(struct sta_group_table *table)
{
    const struct sta_shape *shape = table->shape;
    for (size_t f = 0; f < shape->fold_count; f++) {
        const struct sta_fold *fold = &shape->folds[f];
        for (uint32_t g = 0; fold->kind->flush != NULL && g < table->count; g++)
            fold->kind->flush(fold, sta_group_record(table, g) + fold->offset, g, &table->logs[fold->list]);
    }
}

static int sort_lists(struct sta_sorted_table *sorted, const struct sta_group_order *order,
                      const uint32_t *places, struct sta_error *err)
{
    const struct sta_shape *shape = order->shape;
    int rc = STA_OK;
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++) {
        const struct sta_ranks *ranks = shape->lists[l].texts != NULL ? &order->list_ranks[l] : NULL;
        rc = sta_list_log_sort(&sorted->table->logs[l], places, sorted->count, ranks, &sorted->lists[l], err);
    }
    return rc;
}

int sta_sorted_table_init(struct sta_sorted_table *sorted, struct sta_group_table *table,
                          const struct sta_group_order *order, struct sta_error *err)
{
    *sorted = (struct sta_sorted_table){.table = table};
    sorted->lists = sta_alloc_array(order->shape->list_count, sizeof *sorted->lists);
    sorted->words = sta_try_alloc_array(table->count, order->layout.words * sizeof *sorted->words);
    sorted->groups = sta_try_alloc_array(table->count, sizeof *sorted->groups);
    uint32_t *places = sta_try_alloc_array(table->count, sizeof *places);
    flush_folds(table);
    int rc = STA_OK;
    if (sorted->words == NULL || sorted->groups == NULL || places == NULL ||
        sort_groups(sorted, table, order, places) != 0)
        rc = sta_fail(err, STA_ENOMEM, "no memory to sort %u groups", table->count);
    if (rc == 0)
        rc = sort_lists(sorted, order, places, err);
    free(places);
    return rc;
}

void sta_sorted_table_fini(struct sta_sorted_table *sorted)
{
    if (sorted->table == NULL)
        return;
    for (size_t l = 0; l < sorted->table->shape->list_count; l++)
        sta_sorted_list_fini(&sorted->lists[l]);
    free(sorted->lists);
    free(sorted->words);
    free(sorted->groups);
    *sorted = (struct sta_sorted_table){0};
}
