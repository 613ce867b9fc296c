/* A histogram: the bins of a group follow each other; those without rows are not there and are filled in. */
#include <string.h>

#include "analyse/query/rows/group_rows.h"
#include "analyse/operators/vectors.h"

struct sta_histogram_rows {
    bool open;              /* counts are of a group whose bins are still coming */
    struct sta_vector *key; /* of it: constants of .. */
    struct sta_key_value *values;
    int64_t *counts;
    const double *edges; /* of the pass */
};

void sta_histogram_rows_init(struct sta_group_rows *into, const double *edges)
{
    const size_t keys = into->stage->key_count, bins = into->stage->histogram.bins;
    struct sta_histogram_rows *histogram = sta_arena_array(&into->memory, 1, sizeof *histogram);
    histogram->key = sta_arena_array(&into->memory, keys, sizeof *histogram->key);
    histogram->values = sta_arena_array(&into->memory, keys, sizeof *histogram->values);
    histogram->counts = sta_arena_array(&into->memory, bins, sizeof *histogram->counts);
    histogram->edges = edges;
    into->histogram = histogram;
}

static void open_group(struct sta_group_rows *into, const struct sta_vector *keys, uint32_t row)
{
    struct sta_histogram_rows *histogram = into->histogram;
    for (size_t i = 0; i < into->stage->key_count; i++) {
        histogram->values[i] = sta_vector_value(&keys[i], row);
        histogram->key[i] = sta_vector_nothing(keys[i].type, keys[i].texts);
        if (histogram->values[i].missing)
            continue;
        histogram->key[i].missing = NULL;
        sta_vector_point(&histogram->key[i], &histogram->values[i].bits);
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
    into->vectors[keys] = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = histogram->edges};
    into->vectors[keys + 1] = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = histogram->edges + 1};
    into->vectors[keys + 2] = (struct sta_vector){.type = STA_TYPE_INT, .integers = histogram->counts};
    histogram->open = false;
    return sta_materialized_append(into->result, into->vectors, NULL, into->stage->histogram.bins, err);
}

static bool in_open_group(const struct sta_group_rows *into, const struct sta_vector *keys, uint32_t row)
{
    bool same = into->histogram->open;
    for (size_t i = 0; same && i < into->stage->key_count; i++) {
        const struct sta_key_value *open = &into->histogram->values[i], key = sta_vector_value(&keys[i], row);
        same = open->bits == key.bits && open->missing == key.missing;
    }
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
