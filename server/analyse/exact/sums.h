/* sums.h - what adds up: counts, times, bytes (private to exact).
 *
 * A bucket is whatever rows of the store agree on where they count: a leaf, or a kind where rows of the view
 * are bins.  Each worker has its own sums, for every bin of every bucket that it meets; they are added to the
 * fields after the pass. */
#ifndef STA_ANALYSE_EXACT_SUMS_H
#define STA_ANALYSE_EXACT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/exact/bins.h"
#include "analyse/exact/fields.h"
#include "common/error.h"

struct sta_budget;

struct sta_sums {
    const struct sta_exact_bins *bins;
    unsigned wants;
    const struct sta_budget *budget;
    size_t buckets; /* room for so many */
    /* By bucket * bins + bin; times and sizes as bounded sums.  With several bins `events` and `whole` are
     * changes from bin to bin, so that an event over many costs as much as one over two. */
    int64_t *events, *count, *time;
    int64_t *whole; /* events that cover the bin wholly; NULL for one bin */
    /* Only for buckets that have bytes: by place * bins + bin. */
    uint32_t *sized; /* by bucket: its place, or STA_NO_SIZES */
    uint32_t sized_count;
    size_t sized_capacity;
    int64_t *sizes;
    int64_t (*size_bins)[STA_SIZE_BINS];
};

#define STA_NO_SIZES UINT32_MAX

/** @bins: borrowed.  @budget: what the sums of all workers must fit, NULL: no limit; borrowed. */
void sta_sums_init(struct sta_sums *sums, const struct sta_exact_bins *bins, unsigned wants,
                   const struct sta_budget *budget);
void sta_sums_fini(struct sta_sums *sums);

/* An event, in ticks and bytes; its duration is not below 0. */
struct sta_sums_event {
    int64_t ts, dur;
    int64_t size; /* 0: none */
};

/** Adds an event of which @part lies in the bins.  Return: 0 or STA_ELIMIT. */
STA_MUSTCHECK int sta_sums_add(struct sta_sums *sums, uint32_t bucket, const struct sta_sums_event *event,
                               const struct sta_exact_part *part, struct sta_error *err);
/** Adds a bucket's bins to those of a place, whose fields are at place * bins + bin. */
void sta_sums_fold(const struct sta_sums *sums, uint32_t bucket, struct sta_fields *fields, uint32_t place);
/** Bytes held. */
double sta_sums_bytes(const struct sta_sums *sums);

#endif
