/* The plain computation: sort the rows by their keys, and compute each aggregate of each group by itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "aggregate_model.h"
#include "aggregate_print.h"

/* ---- order */

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_values(enum sta_type type, const struct model_value *a, const struct model_value *b)
{
    if (a->missing || b->missing)
        return a->missing - b->missing;
    if (type == STA_TYPE_TEXT)
        return strcmp(a->text, b->text);
    if (type == STA_TYPE_FLOAT)
        return compare_numbers(a->number, b->number);
    return (a->integer > b->integer) - (a->integer < b->integer);
}

static const struct model *sorting;

static int compare_keys(const struct model_row *a, const struct model_row *b)
{
    int order = 0;
    for (size_t k = 0; k < sorting->key_count && order == 0; k++) {
        enum model_column c = sorting->keys[k];
        order = compare_values(model_types[c], &a->values[c], &b->values[c]);
    }
    return order;
}

static int compare_rows(const void *left, const void *right)
{
    const struct model_row *a = *(const struct model_row *const *)left;
    const struct model_row *b = *(const struct model_row *const *)right;
    int order = compare_keys(a, b);
    if (order != 0)
        return order;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : (a->place > b->place) - (a->place < b->place);
}

/* ---- exact sums, as Python's math.fsum has them: partial sums that do not overlap */

struct partials {
    double parts[100]; /* more than all exponents need */
    size_t count;
};

static void fsum_add(struct partials *sum, double x)
{
    size_t kept = 0;
    for (size_t i = 0; i < sum->count; i++) {
        double y = sum->parts[i];
        if (fabs(x) < fabs(y)) {
            double held = x;
            x = y;
            y = held;
        }
        double high = x + y;
        double low = y - (high - x);
        if (low != 0)
            sum->parts[kept++] = low;
        x = high;
    }
    sum->parts[kept] = x;
    sum->count = kept + 1;
}

static double fsum_get(const struct partials *sum)
{
    size_t n = sum->count;
    if (n == 0)
        return 0;
    double high = sum->parts[--n];
    double low = 0;
    while (n > 0) {
        double x = high;
        double y = sum->parts[--n];
        high = x + y;
        low = y - (high - x);
        if (low != 0)
            break;
    }
    bool round_up = n > 0 && ((low < 0 && sum->parts[n - 1] < 0) || (low > 0 && sum->parts[n - 1] > 0));
    double x = high + low * 2;
    return round_up && low * 2 == x - high ? x : high;
}

/* ---- aggregates */

/* The values of a column in a group, missing ones left out, in the order of rows. */
struct values {
    enum sta_type type;
    const struct model_value **values;
    const struct model_row **rows;
    size_t count;
};

static double as_number(enum sta_type type, const struct model_value *value)
{
    return type == STA_TYPE_FLOAT ? value->number : (double)value->integer;
}

static void print_one(struct sta_buffer *text, enum sta_type type, const struct model_value *value)
{
    if (value == NULL || value->missing)
        model_print_missing(text);
    else if (type == STA_TYPE_TEXT)
        model_print_text(text, value->text, strlen(value->text));
    else if (type == STA_TYPE_FLOAT)
        model_print_number(text, STA_AGGREGATE_FIRST, value->number);
    else
        model_print_int(text, value->integer);
}

static double sum_numbers(const struct values *values, double minus, bool squared)
{
    struct partials sum = {.count = 0};
    for (size_t i = 0; i < values->count; i++) {
        double x = as_number(values->type, values->values[i]) - minus;
        fsum_add(&sum, squared ? x * x : x);
    }
    return fsum_get(&sum);
}

static void print_sum(struct sta_buffer *text, const struct values *values)
{
    __int128 total = 0;
    if (values->type == STA_TYPE_FLOAT) {
        model_print_number(text, STA_AGGREGATE_SUM, sum_numbers(values, 0, false));
        return;
    }
    for (size_t i = 0; i < values->count; i++)
        total += values->values[i]->integer;
    if (total > INT64_MAX || total < INT64_MIN)
        model_print_missing(text);
    else
        model_print_int(text, (int64_t)total);
}

static void print_mean(struct sta_buffer *text, const struct values *values)
{
    __int128 total = 0;
    for (size_t i = 0; i < values->count; i++)
        total += values->values[i]->integer;
    double sum = values->type == STA_TYPE_FLOAT ? sum_numbers(values, 0, false) : (double)total;
    if (values->count == 0)
        model_print_missing(text);
    else
        model_print_number(text, STA_AGGREGATE_MEAN, sum / (double)values->count);
}

/* Then the mean is known without rounding. */
static bool all_equal(const struct values *values)
{
    bool equal = true;
    for (size_t i = 1; i < values->count; i++)
        equal = equal && compare_values(values->type, values->values[0], values->values[i]) == 0;
    return equal;
}

static void print_spread(struct sta_buffer *text, enum sta_aggregate aggregate, const struct values *values)
{
    if (values->count < 2) {
        model_print_missing(text);
        return;
    }
    double mean = sum_numbers(values, 0, false) / (double)values->count;
    if (all_equal(values))
        mean = as_number(values->type, values->values[0]);
    double variance = sum_numbers(values, mean, true) / (double)(values->count - 1);
    model_print_number(text, aggregate, aggregate == STA_AGGREGATE_STD ? sqrt(variance) : variance);
}

static enum sta_type sorting_type;

static int compare_pointers(const void *left, const void *right)
{
    return compare_values(sorting_type, *(const struct model_value *const *)left,
                          *(const struct model_value *const *)right);
}

static void print_quantile(struct sta_buffer *text, const struct values *sorted, double q)
{
    if (sorted->count == 0) {
        model_print_missing(text);
        return;
    }
    double h = (double)(sorted->count - 1) * q;
    size_t i = (size_t)h;
    const struct model_value *a = sorted->values[i];
    const struct model_value *b = sorted->values[i + 1 < sorted->count ? i + 1 : i];
    double step =
        sorted->type == STA_TYPE_FLOAT ? b->number - a->number : (double)((__int128)b->integer - a->integer);
    model_print_number(text, STA_AGGREGATE_QUANTILE, as_number(sorted->type, a) + step * (h - (double)i));
}

static void put_json(struct sta_buffer *list, enum sta_type type, const struct model_value *value)
{
    if (type == STA_TYPE_TEXT)
        sta_put_json_string(list, value->text, strlen(value->text));
    else if (type == STA_TYPE_FLOAT)
        sta_put_double(list, value->number);
    else if (type == STA_TYPE_BOOL)
        sta_put_format(list, "%s", value->integer ? "true" : "false");
    else
        sta_put_int(list, value->integer);
}

static void print_distinct(struct sta_buffer *text, const struct values *sorted, bool unique)
{
    struct sta_buffer list;
    int64_t count = 0;
    sta_buffer_init(&list);
    sta_put_char(&list, '[');
    for (size_t i = 0; i < sorted->count; i++) {
        if (i > 0 && compare_values(sorted->type, sorted->values[i - 1], sorted->values[i]) == 0)
            continue;
        if (count++ > 0)
            sta_put_char(&list, ',');
        put_json(&list, sorted->type, sorted->values[i]);
    }
    sta_put_char(&list, ']');
    if (unique)
        model_print_text(text, list.data, list.size);
    else
        model_print_int(text, count);
    sta_buffer_fini(&list);
}

static void print_extreme(struct sta_buffer *text, const struct values *values, bool least)
{
    const struct model_value *best = NULL;
    for (size_t i = 0; i < values->count; i++) {
        int order = best == NULL ? 0 : compare_values(values->type, values->values[i], best);
        if (best == NULL || (least ? order < 0 : order > 0))
            best = values->values[i];
    }
    print_one(text, values->type, best);
}

/* @values: of the first argument; the second is the next column. */
static void print_argmax(struct sta_buffer *text, const struct values *by, enum model_column column)
{
    const struct model_row *best = NULL;
    for (size_t i = 0; i < by->count; i++)
        if (best == NULL || compare_values(by->type, by->values[i], &best->values[column + 1]) > 0)
            best = by->rows[i];
    print_one(text, model_types[column], best == NULL ? NULL : &best->values[column]);
}

static int compare_starts(const void *left, const void *right)
{
    const struct model_row *a = *(const struct model_row *const *)left;
    const struct model_row *b = *(const struct model_row *const *)right;
    return (a->values[START].integer > b->values[START].integer) -
           (a->values[START].integer < b->values[START].integer);
}

static void print_busy(struct sta_buffer *text, const struct values *starts)
{
    int64_t reach = INT64_MIN;
    int64_t spent = 0;
    qsort(starts->rows, starts->count, sizeof *starts->rows, compare_starts);
    for (size_t i = 0; i < starts->count; i++) {
        int64_t from = starts->rows[i]->values[START].integer;
        int64_t to = starts->rows[i]->values[END].integer;
        if (starts->rows[i]->values[END].missing)
            continue;
        from = STA_MAX(from, reach);
        spent += STA_MAX(to - from, 0);
        reach = STA_MAX(reach, to);
    }
    model_print_int(text, spent);
}

static void print_aggregate(struct sta_buffer *text, const struct sta_primitive *primitive,
                            struct values *values, size_t rows)
{
    switch (primitive->aggregate) {
    case STA_AGGREGATE_ROWS:
        model_print_int(text, (int64_t)rows);
        return;
    case STA_AGGREGATE_COUNT:
        model_print_int(text, (int64_t)values->count);
        return;
    case STA_AGGREGATE_SUM:
        print_sum(text, values);
        return;
    case STA_AGGREGATE_MEAN:
        print_mean(text, values);
        return;
    case STA_AGGREGATE_STD:
    case STA_AGGREGATE_VAR:
        print_spread(text, primitive->aggregate, values);
        return;
    case STA_AGGREGATE_MIN:
    case STA_AGGREGATE_MAX:
        print_extreme(text, values, primitive->aggregate == STA_AGGREGATE_MIN);
        return;
    case STA_AGGREGATE_FIRST:
        print_one(text, values->type, values->count > 0 ? values->values[0] : NULL);
        return;
    case STA_AGGREGATE_LAST:
        print_one(text, values->type, values->count > 0 ? values->values[values->count - 1] : NULL);
        return;
    case STA_AGGREGATE_ARGMAX:
        print_argmax(text, values, primitive->first_argument);
        return;
    case STA_AGGREGATE_BUSY:
        print_busy(text, values);
        return;
    default:
        break;
    }
    sorting_type = values->type;
    qsort(values->values, values->count, sizeof *values->values, compare_pointers);
    if (primitive->aggregate == STA_AGGREGATE_NUNIQUE || primitive->aggregate == STA_AGGREGATE_UNIQUE)
        print_distinct(text, values, primitive->aggregate == STA_AGGREGATE_UNIQUE);
    else
        print_quantile(text, values,
                       primitive->aggregate == STA_AGGREGATE_MEDIAN ? 0.5 : primitive->quantile);
}

/* ---- groups */

static void print_group(const struct model *model, const struct model_row **rows, size_t count,
                        struct sta_buffer *answer)
{
    struct values values = {.values = sta_alloc_array(count, sizeof *values.values),
                            .rows = sta_alloc_array(count, sizeof *values.rows)};
    for (size_t k = 0; k < model->key_count; k++)
        print_one(answer, model_types[model->keys[k]], &rows[0]->values[model->keys[k]]);
    for (size_t p = 0; p < model->primitive_count; p++) {
        const struct sta_primitive *primitive = &model->primitives[p];
        enum model_column c = primitive->first_argument + (primitive->aggregate == STA_AGGREGATE_ARGMAX);
        values.type = model_types[c];
        values.count = 0;
        for (size_t i = 0; i < count; i++) {
            values.rows[values.count] = rows[i];
            values.values[values.count] = &rows[i]->values[c];
            values.count += !rows[i]->values[c].missing;
        }
        print_aggregate(answer, primitive, &values, count);
    }
    sta_put_char(answer, '\n');
    free(values.values);
    free(values.rows);
}

static bool has_all_keys(const struct model *model, const struct model_row *row)
{
    bool all = true;
    for (size_t k = 0; k < model->key_count; k++)
        all = all && !row->values[model->keys[k]].missing;
    return all;
}

void model_expect(const struct model *model, struct sta_buffer *answer)
{
    const struct model_row **rows = sta_alloc_array(model->count, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < model->count; i++)
        if (model->keep_missing || has_all_keys(model, &model->rows[i]))
            rows[count++] = &model->rows[i];
    sorting = model;
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && compare_keys(rows[first], rows[end]) == 0;)
            end++;
        print_group(model, rows + first, end - first, answer);
    }
    if (count == 0 && model->key_count == 0)
        print_group(model, rows, 0, answer);
    free(rows);
}
