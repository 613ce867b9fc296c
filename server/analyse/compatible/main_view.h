/* main_view.h - the main view of a layer: its groups by row, and what each of its metrics has in a row
 * (private to compatible).
 *
 * metrics.md section 5.  A metric is the layer itself or one of its derived metrics.  Most rows lack most
 * derived metrics, so a metric keeps the rows that it has and nothing for the others. */
#ifndef STA_ANALYSE_COMPATIBLE_MAIN_VIEW_H
#define STA_ANALYSE_COMPATIBLE_MAIN_VIEW_H

#include "analyse/compatible/hlm.h"

/* The rows of a layer, ascending by key, with their groups.  Without a layer: those of the table of
 * high-level metrics, where groups of one key stand apart as far as the table tells them apart. */
struct sta_main_rows {
    const struct sta_hlm *hlm;
    uint32_t layer; /* or STA_NO_LAYER */
    size_t count;
    uint64_t *keys;
    uint32_t *start;  /* by row, and one more: into groups */
    uint32_t *groups; /* numbers in the hlm, ascending */
    struct sta_pool pool;
};

/** Needs sta_pool_fini of its pool, also after a failure. */
STA_MUSTCHECK int sta_main_rows_init(struct sta_main_rows *rows, const struct sta_hlm *hlm, uint32_t layer,
                                     const struct sta_budget *budget, struct sta_error *err);

#define STA_LAYER_ITSELF UINT32_MAX /* in the place of a derived metric's index */

/** Whether a metric shows sizes: of layers that do, the layer itself and data, read, write. */
bool sta_metric_has_sizes(const struct sta_layer *layer, uint32_t metric);

/* A metric in one row. */
struct sta_main_entry {
    uint32_t row;
    int64_t count;
    int64_t size; /* a bounded sum; 0 where it is missing or not shown */
    double time;  /* s; infinite: too large */
};

struct sta_main_metric {
    const struct sta_main_rows *rows;
    uint8_t *takes; /* by signature: its events belong to the metric */
    size_t count;
    struct sta_main_entry *entries; /* ascending by row */
    uint32_t *entry_of_row;         /* or STA_NO_ENTRY */
    int64_t (*bins)[STA_SIZE_BINS]; /* by entry; NULL where sizes are not shown */
    struct sta_pool pool;
};
#define STA_NO_ENTRY UINT32_MAX

/** Needs sta_pool_fini of its pool, also after a failure. */
STA_MUSTCHECK int sta_main_metric_init(struct sta_main_metric *metric, const struct sta_main_rows *rows,
                                       uint32_t number, const struct sta_budget *budget,
                                       struct sta_error *err);

/** Whether the metric takes a group of its rows. */
static inline bool sta_main_takes(const struct sta_main_metric *metric, uint32_t group)
{
    return metric->takes[metric->rows->hlm->groups[group].signature];
}

/* What is divided out of an entry; 0 where it is missing, infinite where the calls took no time. */
struct sta_main_ratios {
    double bw, intensity, ops;
};
struct sta_main_ratios sta_main_ratios(const struct sta_main_entry *entry);

/**
 * sta_row_has_set - whether the groups of a row that belong to a metric have a set of values of @axis
 * One group without makes the union of the row empty (quirk).
 */
bool sta_row_has_set(const struct sta_main_metric *metric, size_t row, enum sta_axis axis);

#endif
