/* schema.h - names, types and order of the columns of layer and flat views (private to compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_SCHEMA_H
#define STA_ANALYSE_COMPATIBLE_SCHEMA_H

#include "analyse/compatible/layer_view.h"

/* A column of a layer's metric, or the score of one. */
struct sta_view_column {
    char *name;
    size_t stem;            /* length of the name without its statistic */
    uint32_t layer, metric; /* metric: index of a derived one, or STA_LAYER_ITSELF */
    enum sta_layer_measure measure;
    enum sta_stat stat;
    bool score;
    size_t at; /* column of the table that it is */
};

struct sta_view_columns {
    struct sta_view_column *items; /* those of one layer and metric stand together */
    size_t count, capacity;
};

/** Appends one, with its name. */
void sta_view_columns_append(struct sta_view_columns *columns, const struct sta_view_column *column);
/** Appends the columns of a metric.  @prefix: before each name; @scores: with the scores of section 7. */
void sta_view_columns_add(struct sta_view_columns *columns, const struct sta_layer_view *view,
                          uint32_t metric, const char *prefix, bool scores);
void sta_view_columns_fini(struct sta_view_columns *columns);

enum sta_type sta_view_column_type(const struct sta_view_column *column);
const char *sta_view_column_unit(const struct sta_view_column *column);

/** Name of a measure: "bw", "size_bin_0_4kib", "file_name" ..; of STA_MEASURE_VIEW that of the view. */
const char *sta_measure_name(enum sta_layer_measure measure, const struct sta_by *by);
/** Unit of a measure, and whether it is whole numbers. */
const char *sta_measure_unit(enum sta_layer_measure measure);
bool sta_measure_is_integer(enum sta_layer_measure measure);
/** Name of a derived metric with "_" behind it, or "". */
char *sta_metric_prefix(const struct sta_layer *layer, uint32_t metric);

/** Adds the key column of a view and fills it. @values: by row. */
void sta_view_add_key(struct sta_table *table, const struct sta_by *by, const struct sta_axes *axes,
                      const uint32_t *values);

#endif
