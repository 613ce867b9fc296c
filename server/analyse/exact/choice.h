/* choice.h - what queries name: layers, columns, bins.  Everything that can be wrong with it is found here
 * (private to exact). */
#ifndef STA_ANALYSE_EXACT_CHOICE_H
#define STA_ANALYSE_EXACT_CHOICE_H

#include "analyse/exact/bins.h"
#include "analyse/exact/columns.h"
#include "analyse/views/bound_query.h"

/* A column of layers, or of a derived metric that some of them have. */
struct sta_exact_choice {
    const struct sta_exact_column *column;
    const char *metric; /* NULL: of the layer itself */
};

/**
 * sta_exact_choose - the column of a name: "busy", or "read_bw" for the column bw of the derived metric read
 * @layers: by layer of the preset, whether its derived metrics count; NULL: all of them
 * Mistakes: STA_EINPUT with parameter /metrics, naming what there is.
 */
STA_MUSTCHECK int sta_exact_choose(const struct sta_preset *preset, const bool *layers, const char *name,
                                   struct sta_exact_choice *choice, struct sta_error *err);

/** The number of a layer.  STA_EINPUT with parameter /layer, naming those there are. */
STA_MUSTCHECK int sta_exact_layer(const struct sta_bound_query *bound, const char *name, uint32_t *layer,
                                  struct sta_error *err);
/** The bins of a series, exact or compatible: those that the window touches, whole, as wide as max_points
 * asks.  STA_EINPUT, STA_ELIMIT with parameter /granularity. */
STA_MUSTCHECK int sta_exact_series_bins(const struct sta_bound_query *bound, const struct sta_series *asked,
                                        struct sta_exact_bins *bins, struct sta_error *err);
/** Adds the columns time_range and time_start, for a row per bin. */
void sta_exact_put_bins(const struct sta_exact_bins *bins, int64_t ticks_per_us, struct sta_table *table);

#endif
