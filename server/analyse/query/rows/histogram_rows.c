/* A histogram: the bins of a group follow each other; those without rows are not there and are filled in. */
#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/group_rows.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

struct sta_histogram_rows {
    bool open;              /* counts are of a group whose bins are still coming */
    struct sta_vector *key; /* of it: constants */
    union sta_key_value {
        int64_t integer;
        double number;
        uint32_t code;
        uint8_t truth;
    } * values;
    uint8_t *missing;
    int64_t *counts;
    double *left, *right;
};

struct sta_histogram_rows *sta_histogram_rows_create(const struct sta_plan_stage *stage, const double *edges)
{
    struct sta_histogram_rows *histogram = sta_alloc(sizeof *histogram);
    uint32_t bins = stage->histogram.bins;
    histogram->key = sta_alloc_array(stage->key_count + 1, sizeof *histogram->key);
    histogram->values = sta_alloc_array(stage->key_count + 1, sizeof *histogram->values);
    histogram->missing = sta_alloc_array(stage->key_count + 1, 1);
    histogram->counts = sta_alloc_array(bins, sizeof *histogram->counts);
    histogram->left = sta_alloc_array(bins, sizeof *histogram->left);
    histogram->right = sta_alloc_array(bins, sizeof *histogram->right);
    memcpy(histogram->left, edges, bins * sizeof *edges);
    memcpy(histogram->right, edges + 1, bins * sizeof *edges);
    return histogram;
}

void sta_histogram_rows_destroy(struct sta_histogram_rows *histogram)
{
    if (histogram == NULL)
        return;
    free(histogram->key);
    free(histogram->values);
    free(histogram->missing);
    free(histogram->counts);
    free(histogram->left);
    free(histogram->right);
    free(histogram);
}

static bool same_text(const struct sta_vector *a, const struct sta_vector *b, uint32_t at)
{
    if (a->texts == b->texts)
        return a->codes[0] == b->codes[at];
    struct sta_text x = sta_dictionary_text(a->texts, a->codes[0]);
    struct sta_text y = sta_dictionary_text(b->texts, b->codes[at]);
    return x.length == y.length && memcmp(x.bytes, y.bytes, x.length) == 0;
}

/* Whether the open group's key is that of a row. */
static bool same_key(const struct sta_vector *open, const struct sta_vector *key, uint32_t row)
{
    uint32_t at = key->constant ? 0 : row;
    bool missing = sta_vector_is_missing(open, 0);
    if (missing || sta_vector_is_missing(key, row))
        return missing && sta_vector_is_missing(key, row);
    if (open->type == STA_TYPE_TEXT)
        return same_text(open, key, at);
    if (open->type == STA_TYPE_FLOAT)
        return open->numbers[0] == key->numbers[at];
    size_t width = sta_vector_width(open->type);
    const char *a = sta_vector_values(open), *b = sta_vector_values(key);
    return memcmp(a, b + at * width, width) == 0;
}

static void open_group(struct sta_group_rows *into, const struct sta_vector *keys, uint32_t row)
{
    struct sta_histogram_rows *histogram = into->histogram;
    for (size_t i = 0; i < into->stage->key_count; i++) {
        histogram->key[i] =
            (struct sta_vector){.type = keys[i].type, .constant = true, .texts = keys[i].texts};
        sta_vector_gather(&keys[i], &row, 1, &histogram->values[i], &histogram->missing[i]);
        sta_vector_point(&histogram->key[i], &histogram->values[i]);
        histogram->key[i].missing = histogram->missing[i] ? &histogram->missing[i] : NULL;
    }
    memset(histogram->counts, 0, into->stage->histogram.bins * sizeof *histogram->counts);
    histogram->open = true;
}

#define MOST_ROWS 20000000u /* of all groups: nobody reads more, and they are all written down */

static int close_group(struct sta_group_rows *into, struct sta_error *err)
{
    struct sta_histogram_rows *histogram = into->histogram;
    if (sta_materialized_rows(into->result) + into->stage->histogram.bins > MOST_ROWS)
        return sta_fail(err, STA_ELIMIT,
                        "a histogram of %u bins for each of so many groups has more than %u rows; ask for "
                        "fewer bins, or fewer groups",
                        into->stage->histogram.bins, MOST_ROWS);
    size_t keys = into->stage->key_count;
    memcpy(into->vectors, histogram->key, keys * sizeof *into->vectors);
    into->vectors[keys] = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = histogram->left};
    into->vectors[keys + 1] = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = histogram->right};
    into->vectors[keys + 2] = (struct sta_vector){.type = STA_TYPE_INT, .integers = histogram->counts};
    histogram->open = false;
    return sta_materialized_append(into->result, into->vectors, NULL, into->stage->histogram.bins, err);
}

static bool in_open_group(const struct sta_group_rows *into, const struct sta_vector *keys, uint32_t row)
{
    bool same = into->histogram->open;
    for (size_t i = 0; same && i < into->stage->key_count; i++)
        same = same_key(&into->histogram->key[i], &keys[i], row);
    return same;
}

int sta_histogram_rows_take(struct sta_group_rows *into, const struct sta_vector *keys,
                            const struct sta_vector *values, uint32_t rows, struct sta_error *err)
{
    const struct sta_vector *bins = &keys[into->stage->key_count];
    int rc = 0;
    for (uint32_t row = 0; rc == 0 && row < rows; row++) {
        if (!in_open_group(into, keys, row)) {
            rc = into->histogram->open ? close_group(into, err) : 0;
            open_group(into, keys, row);
        }
        int64_t bin = bins->integers[bins->constant ? 0 : row];
        if (bin >= 0)
            into->histogram->counts[bin] += values[0].integers[values[0].constant ? 0 : row];
    }
    return rc;
}

int sta_histogram_rows_end(struct sta_group_rows *into, struct sta_error *err)
{
    bool empty = sta_materialized_rows(into->result) == 0;
    return into->histogram->open || (empty && into->stage->key_count == 0) /* one group, always */
               ? close_group(into, err)
               : 0;
}
