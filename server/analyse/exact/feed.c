/* Columns of rows, and the aggregation that takes them. */
#include "analyse/exact/feed.h"

#include "analyse/views/bounded_sum.h"
#include "analyse/exec/budget.h"
#include "common/account.h"
#include "common/memory.h"

static int create_aggregation(struct sta_feed *feed, struct sta_error *err)
{
    enum sta_type keys[STA_FEED_COLUMNS];
    struct sta_primitive sums[STA_FEED_COLUMNS];
    for (unsigned k = 0; k < feed->key_count; k++)
        keys[k] = STA_TYPE_INT;
    for (unsigned s = 0; s < feed->sum_count; s++)
        sums[s] = (struct sta_primitive){
            .aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_INT}, .first_argument = s};
    const struct sta_aggregation_spec spec = {.keys = keys,
                                              .key_count = feed->key_count,
                                              .keep_missing = true,
                                              .primitives = sums,
                                              .primitive_count = feed->sum_count};
    return sta_aggregation_create(&spec, feed->budget, NULL, &feed->aggregation, err);
}

int sta_feed_init(struct sta_feed *feed, unsigned key_count, unsigned sum_count,
                  const struct sta_budget *budget, struct sta_error *err)
{
    const unsigned workers = sta_budget_workers(budget);
    STA_ASSERT(key_count + sum_count <= STA_FEED_COLUMNS);
    *feed = (struct sta_feed){.budget = budget, .key_count = key_count, .sum_count = sum_count};
    feed->workers = sta_alloc_array(workers, sizeof *feed->workers);
    for (unsigned w = 0; w < workers; w++)
        feed->workers[w].columns = sta_alloc_array((size_t)STA_FEED_ROWS * STA_FEED_COLUMNS, sizeof(int64_t));
    return create_aggregation(feed, err);
}

void sta_feed_fini(struct sta_feed *feed)
{
    if (feed->budget == NULL)
        return;
    sta_aggregation_table_fini(&feed->groups);
    sta_aggregation_destroy(feed->aggregation);
    for (unsigned w = 0; w < sta_budget_workers(feed->budget); w++)
        free(feed->workers[w].columns);
    free(feed->workers);
    *feed = (struct sta_feed){0};
}

int sta_feed_hand_over(struct sta_feed *feed, unsigned worker, struct sta_error *err)
{
    struct sta_vector columns[STA_FEED_COLUMNS];
    const struct sta_aggregation_input rows = {
        .count = feed->workers[worker].count, .keys = columns, .arguments = columns + feed->key_count};
    for (unsigned c = 0; c < feed->key_count + feed->sum_count; c++)
        columns[c] = (struct sta_vector){
            .type = STA_TYPE_INT, .integers = feed->workers[worker].columns + (size_t)c * STA_FEED_ROWS};
    feed->workers[worker].count = 0;
    return sta_aggregation_consume(feed->aggregation, worker, &rows, err);
}

int sta_feed_end(struct sta_feed *feed, struct sta_error *err)
{
    int rc = STA_OK;
    for (unsigned w = 0; rc == 0 && w < sta_budget_workers(feed->budget); w++)
        rc = sta_feed_hand_over(feed, w, err);
    return rc == 0 ? sta_aggregation_collect(feed->aggregation, &feed->groups, err) : rc;
}

/* ---- groups */

struct sta_feed_group sta_feed_group(const struct sta_feed *feed, size_t group)
{
    struct sta_feed_group all = {0};
    for (unsigned k = 0; k < feed->key_count; k++)
        all.columns[k] = feed->groups.keys[k].integers[group];
    for (unsigned s = 0; s < feed->sum_count; s++) {
        const struct sta_vector *sums = &feed->groups.values[s];
        const bool fits = sums->missing == NULL || !sums->missing[group];
        all.columns[feed->key_count + s] = fits ? sums->integers[group] : STA_TOO_LARGE;
    }
    return all;
}

void sta_feed_put(const struct sta_feed *feed, struct sta_buffer *out)
{
    sta_put_varint(out, feed->groups.rows);
    for (size_t g = 0; g < feed->groups.rows; g++) {
        const struct sta_feed_group group = sta_feed_group(feed, g);
        for (unsigned c = 0; c < feed->key_count + feed->sum_count; c++)
            sta_put_signed(out, group.columns[c]);
    }
}

struct sta_feed_group sta_feed_get(const struct sta_feed *feed, struct sta_cursor *in)
{
    struct sta_feed_group group = {0};
    for (unsigned c = 0; c < feed->key_count + feed->sum_count; c++)
        group.columns[c] = sta_get_signed(in);
    return group;
}
