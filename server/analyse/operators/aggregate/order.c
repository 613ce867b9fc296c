/* Ranks, the layout that orders like the result, and tables sorted by it. */
#include "analyse/operators/aggregate/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate/functions.h"
#include "analyse/operators/arena.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

int sta_group_order_init(struct sta_group_order *order, const struct sta_shape *shape, struct sta_error *err)
{
    int rc = STA_OK;
    *order = (struct sta_group_order){.shape = shape, .rank_count = shape->key_count + shape->list_count};
    order->key_ranks = sta_alloc_array(order->rank_count, sizeof *order->key_ranks);
    order->list_ranks = order->key_ranks + shape->key_count;
    for (size_t k = 0; rc == 0 && k < shape->key_count; k++)
        if (shape->key_texts[k] != NULL)
            rc = sta_ranks_init(&order->key_ranks[k], shape->key_texts[k], err);
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++)
        if (shape->lists[l].texts != NULL)
            rc = sta_ranks_init(&order->list_ranks[l], shape->lists[l].texts, err);
    return rc;
}

void sta_group_order_fini(struct sta_group_order *order)
{
    for (size_t r = 0; r < order->rank_count; r++)
        sta_ranks_fini(&order->key_ranks[r]);
    free(order->key_ranks);
}

/* ---- what occurs */

static void survey_integers(const struct sta_group_table *table, size_t key, struct sta_key_range *range)
{
    const struct sta_key_field field = table->layout.fields[key];
    struct sta_key_range seen = {.low = INT64_MAX, .high = INT64_MIN};
    for (uint32_t g = 0; g < table->count; g++) {
        uint64_t value;
        bool present = sta_key_get(&field, sta_group_key(table, g), &value);
        seen.low = present && (int64_t)value < seen.low ? (int64_t)value : seen.low;
        seen.high = present && (int64_t)value > seen.high ? (int64_t)value : seen.high;
        seen.any |= present;
    }
    sta_key_range_unite(range, &seen);
}

static void survey_texts(const struct sta_group_table *table, size_t key, struct sta_ranks *ranks)
{
    const struct sta_key_field field = table->layout.fields[key];
    uint64_t value;
    for (uint32_t g = 0; g < table->count; g++)
        if (sta_key_get(&field, sta_group_key(table, g), &value))
            sta_ranks_mark(ranks, value);
}

static void survey_keys(struct sta_group_order *order, const struct sta_group_table *table,
                        struct sta_key_range *ranges)
{
    for (size_t k = 0; k < order->shape->key_count; k++)
        if (order->shape->key_types[k] == STA_TYPE_TEXT)
            survey_texts(table, k, &order->key_ranks[k]);
        else if (order->shape->key_types[k] == STA_TYPE_INT)
            survey_integers(table, k, &ranges[k]);
}

void sta_group_order_survey(struct sta_group_order *order, const struct sta_group_table *table,
                            struct sta_key_range *ranges)
{
    const struct sta_shape *shape = order->shape;
    survey_keys(order, table, ranges);
    for (size_t l = 0; l < shape->list_count; l++)
        for (size_t i = 0; shape->lists[l].texts != NULL && i < table->logs[l].count; i++)
            sta_ranks_mark(&order->list_ranks[l], *sta_list_log_words(&table->logs[l], i));
}

void sta_group_order_survey_texts(struct sta_group_order *order)
{
    for (size_t r = 0; r < order->rank_count; r++)
        sta_ranks_mark_all(&order->key_ranks[r]);
}

int sta_group_order_finalize(struct sta_group_order *order, const struct sta_key_range *ranges,
                             const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_shape *shape = order->shape;
    struct sta_key_order orders[STA_MOST_KEY_FIELDS] = {0};
    int rc = STA_OK;
    for (size_t r = 0; rc == 0 && r < order->rank_count; r++)
        if (order->key_ranks[r].texts != NULL)
            rc = sta_ranks_finalize(&order->key_ranks[r], budget, err);
    for (size_t k = 0; k < shape->key_count; k++) {
        const uint32_t count = order->key_ranks[k].count;
        orders[k].type = shape->key_types[k];
        orders[k].range = shape->key_texts[k] == NULL
                              ? ranges[k]
                              : (struct sta_key_range){.any = count > 0, .codes = count, .dictionaries = 1};
    }
    if (rc == 0)
        sta_key_layout_init(&order->layout, orders, shape->key_count);
    return rc;
}

/* A column of keys from one field to another.  @missing: of the target. */
#define MOVE_FIELD(source, target, from, value)                                                              \
    do {                                                                                                     \
        const uint64_t ones = sta_low_bits((source).bits);                                                   \
        const uint64_t missing = sta_low_bits((target).bits);                                                \
        for (size_t i = 0; i < count; i++) {                                                                 \
            uint64_t held = keys[i * (from)->words + (source).word] >> (source).shift & ones;                \
            words[i * width + (target).word] |= (held == ones ? missing : (value)) << (target).shift;        \
        }                                                                                                    \
    } while (0)

static void move_any_field(const struct sta_key_field *source, const struct sta_key_field *target,
                           const struct sta_ranks *ranks, const uint64_t *key, uint64_t *words)
{
    uint64_t value;
    bool present = sta_key_get(source, key, &value);
    if (present && source->type == STA_TYPE_TEXT)
        value = sta_ranks_of(ranks, value);
    sta_key_put(target, value, present, words);
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
        if (source.type == STA_TYPE_INT && !source.flagged && !target.flagged)
            MOVE_FIELD(source, target, from, held + (source.base - target.base));
        else if (source.type == STA_TYPE_TEXT && ranks->dictionary_count == 1)
            MOVE_FIELD(source, target, from, (uint64_t)ranks->of_code[0][held]);
        else
            for (size_t i = 0; i < count; i++)
                move_any_field(&source, &target, ranks, &keys[i * from->words], &words[i * width]);
    }
}

/* ---- sorted tables */

#define TILE 512u /* groups at a time */

/* Entries by group. */
static void fill_entries(const struct sta_group_table *table, const struct sta_group_order *order,
                         uint64_t *entries)
{
    const unsigned width = order->layout.words;
    uint64_t *words = sta_alloc_array(TILE * width, sizeof *words);
    for (uint32_t first = 0; first < table->count; first += TILE) {
        const uint32_t count = STA_MIN(TILE, table->count - first);
        sta_group_order_words(order, &table->layout, sta_group_key(table, first), count, words);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t *entry = &entries[(size_t)(first + i) * (width + 1)];
            for (unsigned w = 0; w < width; w++)
                entry[w] = words[i * width + w];
            entry[width] = first + i;
        }
    }
    free(words);
}

/* Leaves one entry for each key: those whose texts lie in two dictionaries have several.  @places: by group;
 * or NULL. */
static void unite_equals(struct sta_sorted_table *sorted, struct sta_group_table *table, uint32_t *places)
{
    const size_t step = sorted->words + 1;
    struct sta_exact_terms terms = {0};
    uint32_t kept = 0;
    for (size_t p = 0; p < table->count; p++) {
        uint64_t *entry = &sorted->entries[p * step];
        uint32_t group = (uint32_t)entry[sorted->words];
        if (kept > 0 && sta_record_compare(entry, sta_sorted_words(sorted, kept - 1), sorted->words) == 0)
            sta_group_table_unite(table, sta_sorted_group(sorted, kept - 1), sta_group_states(table, group),
                                  &terms);
        else
            memmove(&sorted->entries[kept++ * step], entry, step * sizeof *entry);
        if (places != NULL)
            places[group] = kept - 1;
    }
    sorted->count = kept;
    sta_exact_terms_fini(&terms);
}

static bool may_have_equals(const struct sta_group_order *order)
{
    bool several = false;
    for (size_t k = 0; k < order->shape->key_count; k++)
        several = several || order->key_ranks[k].dictionary_count > 1;
    return several;
}

static int sort_groups(struct sta_sorted_table *sorted, struct sta_group_table *table,
                       const struct sta_group_order *order, uint32_t *places)
{
    const size_t step = sorted->words + 1;
    uint64_t *entries = sta_array_create(table->count, step * sizeof *entries);
    uint64_t *scratch = sta_array_create(table->count, step * sizeof *scratch);
    int rc = STA_ENOMEM;
    if (entries != NULL && scratch != NULL) {
        fill_entries(table, order, entries);
        rc = order->sorts_nothing ? STA_OK
                                  : sta_radix_sort(entries, scratch, table->count, sorted->words + 1, false,
                                                   order->shape->cancel);
    }
    sta_free(scratch);
    sorted->entries = entries;
    if (rc != 0)
        return rc;
    sorted->count = table->count;
    if (!order->sorts_nothing && may_have_equals(order))
        unite_equals(sorted, table, places);
    else
        for (uint32_t p = 0; places != NULL && p < sorted->count; p++)
            places[sta_sorted_group(sorted, p)] = p;
    return STA_OK;
}

static void flush_calls(struct sta_group_table *table)
{
    const struct sta_shape *shape = table->shape;
    for (size_t f = 0; f < shape->call_count; f++) {
        const struct sta_agg_call *call = &shape->calls[f];
        for (uint32_t g = 0; call->function->flush != NULL && g < table->count; g++)
            call->function->flush(call, sta_group_states(table, g) + call->offset, g,
                                  &table->logs[call->list]);
    }
}

static size_t sorted_below(const struct sta_group_order *order, const struct sta_list_shape *list)
{
    if (order->sorts_nothing)
        return 0;
    return order->selects && list->kind == STA_LIST_VALUES ? STA_LONG_LIST : SIZE_MAX;
}

static int sort_lists(struct sta_sorted_table *sorted, const struct sta_group_order *order,
                      const uint32_t *places, struct sta_error *err)
{
    const struct sta_shape *shape = order->shape;
    int rc = STA_OK;
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++) {
        const struct sta_ranks *ranks = shape->lists[l].texts != NULL ? &order->list_ranks[l] : NULL;
        rc = sta_list_log_sort(&sorted->table->logs[l], places, sorted->count, ranks,
                               sorted_below(order, &shape->lists[l]), shape->cancel, &sorted->lists[l], err);
    }
    return rc;
}

int sta_sorted_table_init(struct sta_sorted_table *sorted, struct sta_group_table *table,
                          const struct sta_group_order *order, struct sta_error *err)
{
    *sorted = (struct sta_sorted_table){.table = table, .words = order->layout.words};
    sorted->lists = sta_alloc_array(order->shape->list_count, sizeof *sorted->lists);
    bool has_lists = order->shape->list_count > 0;
    uint32_t *places = has_lists ? sta_try_alloc_array(table->count, sizeof *places) : NULL;
    flush_calls(table);
    int rc = has_lists && places == NULL ? STA_ENOMEM : sort_groups(sorted, table, order, places);
    rc = sta_radix_failed(rc, "groups", table->count, err);
    if (rc == 0)
        rc = sort_lists(sorted, order, places, err);
    sta_free(places);
    return rc;
}

void sta_sorted_table_fini(struct sta_sorted_table *sorted)
{
    if (sorted->table == NULL)
        return;
    for (size_t l = 0; l < sorted->table->shape->list_count; l++)
        sta_sorted_list_fini(&sorted->lists[l]);
    free(sorted->lists);
    sta_free(sorted->entries);
    *sorted = (struct sta_sorted_table){0};
}
