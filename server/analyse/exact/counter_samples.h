/* samples.h - the values of counters, sorted (private to exact). */
#ifndef STA_ANALYSE_EXACT_COUNTER_SAMPLES_H
#define STA_ANALYSE_EXACT_COUNTER_SAMPLES_H

#include "analyse/exec/budget.h"
#include "common/dictionary.h"
#include "store/store.h"

struct sta_sample {
    uint32_t counter; /* code in the names */
    uint32_t process; /* a number; equal for the same host and pid */
    int64_t at;       /* ticks from the origin */
    double value;
};

struct sta_samples {
    struct sta_account *account;
    struct sta_dictionary *names; /* NAME.KEY of all, at whatever time */
    struct sta_sample *items;     /* by name, time, value */
    size_t count, capacity;
    uint32_t process_count;
};

/** Reads those in [from, to), ticks from the origin.  Also what failed is to be released. */
STA_MUSTCHECK int sta_samples_read(struct sta_samples *samples, const struct sta_snapshot *snapshot,
                                   int64_t from, int64_t to, const struct sta_budget *budget,
                                   struct sta_error *err);
void sta_samples_fini(struct sta_samples *samples);

#endif
