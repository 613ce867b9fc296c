/* feed.h - rows of integers on their way into a hash aggregation (private to exact).
 *
 * Workers write their rows column by column, some thousand at a time, and hand them over:
 *
 *     uint32_t at = sta_feed_row(feed, worker);
 *     sta_feed_keys(feed, worker, 0)[at] = layer;
 *     sta_feed_sums(feed, worker, 0)[at] = dur;
 *     rc = sta_feed_flush(feed, worker, err);     // does nothing until the columns are full
 *
 * What the aggregation gives are the groups in the order of their keys, each with its columns added up in 128
 * bits. */
#ifndef STA_ANALYSE_EXACT_FEED_H
#define STA_ANALYSE_EXACT_FEED_H

#include "analyse/operators/aggregate.h"
#include "common/buffer.h"

#define STA_FEED_ROWS 2048 /* handed over at once */
#define STA_FEED_COLUMNS 12

struct sta_feed {
    const struct sta_budget *budget; /* borrowed */
    struct sta_aggregation *aggregation;
    struct sta_aggregation_table groups; /* after the end */
    unsigned key_count, sum_count;
    struct sta_feed_worker {
        int64_t *columns; /* keys, then what is added up: STA_FEED_ROWS of each */
        uint32_t count;
        char padding[64 - sizeof(int64_t *) - sizeof(uint32_t)]; /* a cache line of its own */
    } * workers;
};

/** Fini in any case. */
STA_MUSTCHECK int sta_feed_init(struct sta_feed *feed, unsigned key_count, unsigned sum_count,
                                const struct sta_budget *budget, struct sta_error *err);
void sta_feed_fini(struct sta_feed *feed);

/** Room for one more row of a worker, all of whose columns are to be set. */
static inline uint32_t sta_feed_row(struct sta_feed *feed, unsigned worker)
{
    return feed->workers[worker].count++;
}

static inline int64_t *sta_feed_keys(struct sta_feed *feed, unsigned worker, unsigned key)
{
    return feed->workers[worker].columns + (size_t)key * STA_FEED_ROWS;
}

static inline int64_t *sta_feed_sums(struct sta_feed *feed, unsigned worker, unsigned sum)
{
    return sta_feed_keys(feed, worker, feed->key_count + sum);
}

int sta_feed_hand_over(struct sta_feed *feed, unsigned worker, struct sta_error *err);
/** Makes room for a row after the last one. */
STA_MUSTCHECK static inline int sta_feed_flush(struct sta_feed *feed, unsigned worker, struct sta_error *err)
{
    return feed->workers[worker].count < STA_FEED_ROWS ? STA_OK : sta_feed_hand_over(feed, worker, err);
}

/** Hands over what is left and brings the groups in order.  Return: 0, or what an aggregation returns. */
STA_MUSTCHECK int sta_feed_end(struct sta_feed *feed, struct sta_error *err);

static inline int64_t sta_feed_key(const struct sta_feed *feed, size_t group, unsigned key)
{
    return feed->groups.keys[key].integers[group];
}

/* A group on its own. */
struct sta_feed_group {
    int64_t keys[STA_FEED_COLUMNS];
    int64_t
        sums[STA_FEED_COLUMNS]; /* of what is never below 0; STA_TOO_LARGE where one does not fit 64 bits */
};
struct sta_feed_group sta_feed_group(const struct sta_feed *feed, size_t group);
/** All groups, for another process: how many, then each.  After the end. */
void sta_feed_put(const struct sta_feed *feed, struct sta_buffer *out);
/** One of those that a feed of the same columns has put. */
struct sta_feed_group sta_feed_get(const struct sta_feed *feed, struct sta_cursor *in);

/** A sum of small numbers, which may be below 0. */
static inline int64_t sta_feed_change(const struct sta_feed *feed, size_t group, unsigned sum)
{
    return feed->groups.values[sum].integers[group];
}

#endif
