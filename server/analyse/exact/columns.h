/* columns.h - the columns of exact tables: what each is made of, and what it means (private to exact).
 *
 * One list for summary, views and time series, and for what is said of a column when somebody asks. */
#ifndef STA_ANALYSE_EXACT_COLUMNS_H
#define STA_ANALYSE_EXACT_COLUMNS_H

#include "analyse/exact/fields.h"
#include "analyse/exact/shape.h"
#include "common/table.h"

enum sta_column_form {
    STA_FORM_NUMBER,  /* field */
    STA_FORM_SECONDS, /* field, as seconds */
    STA_FORM_RATE,    /* field / seconds of other; missing where either is 0 */
    STA_FORM_MEAN,    /* seconds of field / other */
    STA_FORM_HIDDEN   /* 1 - field / other; missing where other is 0 */
};

/* Which layers have it. */
enum sta_column_need { STA_NEED_NOTHING, STA_NEED_EXPOSED, STA_NEED_CHILDREN };

struct sta_exact_column {
    const char *name; /* of a metric: behind its name and "_" */
    const char *unit;
    enum sta_column_form form;
    enum sta_field field, other;
    enum sta_column_need need;
    unsigned wants; /* enum sta_wants */
    const char *formula, *meaning;
};

/* Columns of a layer, in their order. */
extern const struct sta_exact_column sta_exact_columns[];
extern const size_t sta_exact_column_count;
/* Columns of a derived metric; those with bytes only for data, read and write. */
extern const struct sta_exact_column sta_exact_metric_columns[];
extern const size_t sta_exact_metric_column_count;

enum sta_type sta_exact_column_type(const struct sta_exact_column *column);
/** Whether a layer has the column. */
bool sta_exact_layer_has(const struct sta_exact_shape *shape, uint32_t layer,
                         const struct sta_exact_column *column);
/** Whether the derived metric @metric of a layer has the column. */
bool sta_exact_metric_has(const char *metric, const struct sta_exact_column *column);

/** Sets row @row to the value at @at of the fields. */
void sta_exact_put(const struct sta_exact_column *column, const struct sta_fields *fields, size_t at,
                   double ticks_per_second, struct sta_table_column *to, size_t row);

#endif
