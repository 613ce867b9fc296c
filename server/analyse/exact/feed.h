/* feed.h - rows of integers on their way into a hash aggregation (private to exact).
 *
 * A row is its keys, then what is added up.  Workers keep some thousand, column by column, and hand them over
 * together.  What the aggregation gives are the groups in the order of their keys, each with its columns
 * added up in 128 bits. */
#ifndef STA_ANALYSE_EXACT_FEED_H
#define STA_ANALYSE_EXACT_FEED_H

#include "analyse/operators/aggregate.h"
#include "common/buffer.h"

#define STA_FEED_ROWS 2048 /* handed over at once */
#define STA_FEED_COLUMNS 6 /* of a row at most */

struct sta_feed {
    const struct sta_budget *budget; /* borrowed */
    struct sta_aggregation *aggregation;
    struct sta_aggregation_table groups; /* after the end */
    unsigned key_count, sum_count;
    struct sta_feed_worker {
        int64_t *columns; /* STA_FEED_COLUMNS of STA_FEED_ROWS each: keys, then what is added up */
        uint32_t count;
        char padding[64 - sizeof(int64_t *) - sizeof(uint32_t)]; /* a cache line of its own */
    } * workers;
};

/** Fini in any case. */
STA_MUSTCHECK int sta_feed_init(struct sta_feed *feed, unsigned key_count, unsigned sum_count,
                                const struct sta_budget *budget, struct sta_error *err);
void sta_feed_fini(struct sta_feed *feed);

int sta_feed_hand_over(struct sta_feed *feed, unsigned worker, struct sta_error *err);
/** Takes a row of a worker; what is behind its columns is not looked at.  A loop of a fixed length, since it
 * is gone through for many an event. */
STA_MUSTCHECK static inline int sta_feed_add(struct sta_feed *feed, unsigned worker,
                                             const int64_t row[STA_FEED_COLUMNS], struct sta_error *err)
{
    struct sta_feed_worker *to = &feed->workers[worker];
    int64_t *const at = to->columns + to->count;
    for (unsigned c = 0; c < STA_FEED_COLUMNS; c++)
        at[(size_t)c * STA_FEED_ROWS] = row[c];
    return ++to->count < STA_FEED_ROWS ? STA_OK : sta_feed_hand_over(feed, worker, err);
}

/** Hands over what is left and brings the groups in order.  Return: 0, or what an aggregation returns. */
STA_MUSTCHECK int sta_feed_end(struct sta_feed *feed, struct sta_error *err);

/* A group, as a row; columns that it does not have are 0. */
struct sta_feed_group {
    int64_t columns[STA_FEED_COLUMNS]; /* STA_TOO_LARGE: a sum that does not fit 64 bits */
};
struct sta_feed_group sta_feed_group(const struct sta_feed *feed, size_t group);
/** All groups, for another process: how many, then each.  After the end. */
void sta_feed_put(const struct sta_feed *feed, struct sta_buffer *out);
/** One of those that a feed of the same columns has put. */
struct sta_feed_group sta_feed_get(const struct sta_feed *feed, struct sta_cursor *in);

#endif
