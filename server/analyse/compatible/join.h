/* join.h - layer views as a table: of one layer, or of all of them joined (private to compatible).
 *
 * Each metric of each layer is described by itself, on whatever core is free, and its columns are put into
 * the table's rows. */
#ifndef STA_ANALYSE_COMPATIBLE_JOIN_H
#define STA_ANALYSE_COMPATIBLE_JOIN_H

#include <uv.h>

#include "analyse/compatible/schema.h"

struct sta_join_options {
    uint32_t
        layer;    /* STA_NO_LAYER: all, with the layer's name before each column, without infinite numbers */
    bool derived; /* with derived metrics */
    bool scores;  /* with the columns' scores */
    bool quantiles;
};

struct sta_join {
    const struct sta_hlm *hlm;
    const struct sta_by *by;
    struct sta_join_options options;
    const struct sta_budget *budget;
    struct sta_layer_view *layers;
    uint32_t layer_count;
    uint32_t *values; /* of the view, by row */
    uint32_t *row_of; /* by value that occurs: row */
    size_t count;
    struct sta_pool pool;
    struct sta_view_columns columns;
    struct sta_table *table; /* being filled */
    uv_mutex_t lock;         /* over its arena */
};

/** Finds rows and columns.  Needs sta_join_fini, also after a failure. */
STA_MUSTCHECK int sta_join_init(struct sta_join *join, const struct sta_hlm *hlm, const struct sta_by *by,
                                const struct sta_join_options *options, const struct sta_budget *budget,
                                struct sta_error *err);
void sta_join_fini(struct sta_join *join);

/* A column that the table is to have besides: its place is noted in *at. */
struct sta_join_extra {
    const char *name, *unit;
    enum sta_type type;
    size_t *at;
};

/** Adds the key, and all columns in the order of the golden tables, and fills those that layers have.
 * @table: initialised by this; fini it also after a failure. */
STA_MUSTCHECK int sta_join_fill(struct sta_join *join, const struct sta_join_extra *extras,
                                size_t extra_count, struct sta_table *table, struct sta_error *err);

#endif
