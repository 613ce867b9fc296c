/* order.h - the order of the result: ranks for texts, one layout for all keys; and tables brought into it
 * (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_ORDER_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_ORDER_H

#include "analyse/operators/aggregate/lists.h"
#include "analyse/operators/aggregate/table.h"
#include "analyse/operators/radix.h"

struct sta_group_order {
    const struct sta_shape *shape;
    struct sta_key_layout layout;
    struct sta_ranks *key_ranks;  /* by key; of TEXT alone */
    struct sta_ranks *list_ranks; /* by list; of TEXT alone.  Behind those of keys */
    size_t rank_count;            /* of keys and lists */
    bool selects;                 /* long lists of values are selected from, so they need not be sorted */
    bool sorts_nothing;           /* neither groups nor their lists: who reads them does */
};

/** Fini also after a failure. */
STA_MUSTCHECK int sta_group_order_init(struct sta_group_order *order, const struct sta_shape *shape,
                                       struct sta_error *err);
void sta_group_order_fini(struct sta_group_order *order);
/** Notes what occurs in a table: texts in the order, ranges of keys in @ranges, to which it adds.  Several
 * threads may, each with ranges of its own. */
void sta_group_order_survey(struct sta_group_order *order, const struct sta_group_table *table,
                            struct sta_key_range *ranges);
/** Notes all texts of all dictionaries. */
void sta_group_order_survey_texts(struct sta_group_order *order);
/** Ranks texts and lays out keys, by one thread; after that the order does not change. */
STA_MUSTCHECK int sta_group_order_finalize(struct sta_group_order *order, const struct sta_key_range *ranges,
                                           const struct sta_budget *budget, struct sta_error *err);

/** Words of keys in another layout as words of the order.  @keys: from.words each.  @words:
 * order->layout.words each. */
void sta_group_order_words(const struct sta_group_order *order, const struct sta_key_layout *from,
                           const uint64_t *keys, size_t count, uint64_t *words);

/* A table in order.  Places 0 .. count - 1 have an entry each: the words of the key, then the number of the
 * group. */
struct sta_sorted_table {
    const struct sta_group_table *table;
    uint32_t count;
    unsigned words; /* of a key */
    uint64_t *entries;
    struct sta_sorted_list *lists; /* by list of the shape */
};

static inline const uint64_t *sta_sorted_words(const struct sta_sorted_table *sorted, size_t place)
{
    return &sorted->entries[place * (sorted->words + 1)];
}

static inline uint32_t sta_sorted_group(const struct sta_sorted_table *sorted, size_t place)
{
    return (uint32_t)sorted->entries[place * (sorted->words + 1) + sorted->words];
}

/** @table: calls move to its lists what belongs there.  Return: 0 or STA_ENOMEM.  Fini in any case. */
STA_MUSTCHECK int sta_sorted_table_init(struct sta_sorted_table *sorted, struct sta_group_table *table,
                                        const struct sta_group_order *order, struct sta_error *err);
void sta_sorted_table_fini(struct sta_sorted_table *sorted);

#endif
