/* Groups to rows: outputs are computed from keys and primitives; describe gives a row per expression, a histogram one per bin. */
#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/groups.h"
#include "analyse/query/rows/vectors.h"
#include "common/memory.h"

/* ---- outputs of a batch of groups */

struct groups {
    const struct sta_plan_stage *stage;
    const struct sta_vector *keys, *values;
};

/* A sta_column_source over keys, then primitives. */
static int grouped_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct groups *groups = context;
    size_t keys = groups->stage->key_count;
    *vector = column < keys ? groups->keys[column] : groups->values[column - keys];
    return 0;
}

static int compute_outputs(const struct sta_group_rows *into, const struct sta_vector *keys,
                           const struct sta_vector *values, uint32_t rows, struct sta_vector *outputs,
                           struct sta_error *err)
{
    struct groups groups = {into->stage, keys, values};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < into->stage->output_count; i++)
        rc = sta_program_run(into->programs[i], into->evaluators[i], rows, grouped_column, &groups,
                             &outputs[i], err);
    return rc;
}

static int take_groups(struct sta_group_rows *into, const struct sta_vector *keys,
                       const struct sta_vector *values, uint32_t rows, struct sta_error *err)
{
    const struct sta_plan_stage *stage = into->stage;
    int rc = compute_outputs(into, keys, values, rows, into->vectors + stage->key_count, err);
    for (size_t i = 0; i < stage->key_count; i++)
        into->vectors[i] = keys[i];
    if (stage->fraction) /* put in when the sum of counts is known */
        into->vectors[stage->result_count - 1] = sta_vector_nothing(STA_TYPE_FLOAT, NULL);
    return rc != 0 ? rc : sta_relation_append(into->result, into->vectors, NULL, rows, err);
}

/* ---- describe */

struct sta_describe_rows {
    struct sta_dictionary *names;
    uint32_t *groups; /* of each row: the group that it is of */
    uint32_t *codes;  /* its expression */
    void *values[STA_DESCRIBE_OUTPUTS];
    uint8_t *missing[STA_DESCRIBE_OUTPUTS];
    void **key_values; /* by key: gathered */
    uint8_t **key_missing;
    struct sta_vector *outputs;
    uint32_t rows;
};

static struct sta_describe_rows *describe_create(const struct sta_plan_stage *stage)
{
    struct sta_describe_rows *describe = sta_alloc(sizeof *describe);
    describe->names = sta_dictionary_create();
    describe->groups = sta_alloc_array(STA_VECTOR_ROWS, sizeof *describe->groups);
    describe->codes = sta_alloc_array(STA_VECTOR_ROWS, sizeof *describe->codes);
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++) {
        describe->values[i] = sta_alloc_array(STA_VECTOR_ROWS, 8);
        describe->missing[i] = sta_alloc_array(STA_VECTOR_ROWS, 1);
    }
    describe->key_values = sta_alloc_array(stage->key_count + 1, sizeof(void *));
    describe->key_missing = sta_alloc_array(stage->key_count + 1, sizeof(uint8_t *));
    for (size_t i = 0; i < stage->key_count; i++) {
        describe->key_values[i] = sta_alloc_array(STA_VECTOR_ROWS, 8);
        describe->key_missing[i] = sta_alloc_array(STA_VECTOR_ROWS, 1);
    }
    describe->outputs = sta_alloc_array(stage->output_count + 1, sizeof *describe->outputs);
    return describe;
}

static void describe_destroy(struct sta_describe_rows *describe, size_t key_count)
{
    if (describe == NULL)
        return;
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++) {
        free(describe->values[i]);
        free(describe->missing[i]);
    }
    for (size_t i = 0; i < key_count; i++) {
        free(describe->key_values[i]);
        free(describe->key_missing[i]);
    }
    sta_dictionary_destroy(describe->names);
    free(describe->groups);
    free(describe->codes);
    free(describe->key_values);
    free(describe->key_missing);
    free(describe->outputs);
    free(describe);
}

/* One value, as the type that its column has: least and largest of integers are numbers here. */
static void describe_value(struct sta_describe_rows *describe, size_t what, enum sta_type type,
                           const struct sta_vector *from, uint32_t group)
{
    uint32_t at = from->constant ? 0 : group, row = describe->rows;
    int64_t *integers = describe->values[what];
    double *numbers = describe->values[what];
    describe->missing[what][row] = sta_vector_is_missing(from, group);
    if (type == STA_TYPE_INT)
        integers[row] = from->integers[at];
    else
        numbers[row] = from->type == STA_TYPE_INT ? (double)from->integers[at] : from->numbers[at];
}

static int describe_flush(struct sta_group_rows *into, const struct sta_vector *keys, struct sta_error *err)
{
    const struct sta_plan_stage *stage = into->stage;
    struct sta_describe_rows *describe = into->describe;
    struct sta_vector *vectors = into->vectors;
    for (size_t i = 0; i < stage->key_count; i++) {
        bool missing = sta_vector_gather(&keys[i], describe->groups, describe->rows, describe->key_values[i],
                                         describe->key_missing[i]);
        *vectors = (struct sta_vector){.type = keys[i].type, .texts = keys[i].texts};
        sta_vector_point(vectors, describe->key_values[i]);
        vectors++->missing = missing ? describe->key_missing[i] : NULL;
    }
    *vectors++ =
        (struct sta_vector){.type = STA_TYPE_TEXT, .codes = describe->codes, .texts = describe->names};
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++, vectors++) {
        *vectors = (struct sta_vector){.type = stage->result[stage->key_count + 1 + i].type,
                                       .missing = describe->missing[i]};
        sta_vector_point(vectors, describe->values[i]);
    }
    uint32_t rows = describe->rows;
    describe->rows = 0;
    return sta_relation_append(into->result, into->vectors, NULL, rows, err);
}

static void describe_group(const struct sta_group_rows *into, uint32_t group, size_t expression)
{
    const struct sta_plan_stage *stage = into->stage;
    struct sta_describe_rows *describe = into->describe;
    const char *name = stage->described[expression];
    describe->groups[describe->rows] = group;
    describe->codes[describe->rows] = sta_dictionary_intern(describe->names, name, strlen(name));
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++)
        describe_value(describe, i, stage->result[stage->key_count + 1 + i].type,
                       &describe->outputs[expression * STA_DESCRIBE_OUTPUTS + i], group);
    describe->rows++;
}

static int take_describe(struct sta_group_rows *into, const struct sta_vector *keys,
                         const struct sta_vector *values, uint32_t rows, struct sta_error *err)
{
    int rc = compute_outputs(into, keys, values, rows, into->describe->outputs, err);
    for (uint32_t group = 0; rc == 0 && group < rows; group++)
        for (size_t i = 0; rc == 0 && i < into->stage->described_count; i++) {
            describe_group(into, group, i);
            if (into->describe->rows == STA_VECTOR_ROWS)
                rc = describe_flush(into, keys, err);
        }
    return rc == 0 && into->describe->rows > 0 ? describe_flush(into, keys, err) : rc;
}

/* ---- histogram: the bins of a group follow each other, those without rows are missing */

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

static struct sta_histogram_rows *histogram_create(const struct sta_plan_stage *stage, const double *edges)
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

static void histogram_destroy(struct sta_histogram_rows *histogram)
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

static int close_group(struct sta_group_rows *into, struct sta_error *err)
{
    struct sta_histogram_rows *histogram = into->histogram;
    size_t keys = into->stage->key_count;
    memcpy(into->vectors, histogram->key, keys * sizeof *into->vectors);
    into->vectors[keys] = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = histogram->left};
    into->vectors[keys + 1] = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = histogram->right};
    into->vectors[keys + 2] = (struct sta_vector){.type = STA_TYPE_INT, .integers = histogram->counts};
    histogram->open = false;
    return sta_relation_append(into->result, into->vectors, NULL, into->stage->histogram.bins, err);
}

static bool in_open_group(const struct sta_group_rows *into, const struct sta_vector *keys, uint32_t row)
{
    bool same = into->histogram->open;
    for (size_t i = 0; same && i < into->stage->key_count; i++)
        same = same_key(&into->histogram->key[i], &keys[i], row);
    return same;
}

static int take_histogram(struct sta_group_rows *into, const struct sta_vector *keys,
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

/* ---- all of it */

int sta_group_rows_init(struct sta_group_rows *into, const struct sta_plan_stage *stage, const double *edges,
                        struct sta_relation *result, struct sta_error *err)
{
    *into = (struct sta_group_rows){.stage = stage, .result = result, .edges = edges};
    into->programs = sta_alloc_array(stage->output_count + 1, sizeof(struct sta_program *));
    into->evaluators = sta_alloc_array(stage->output_count + 1, sizeof(struct sta_evaluator *));
    into->vectors = sta_alloc_array(stage->result_count + 1, sizeof *into->vectors);
    if (stage->kind == STA_PLAN_HISTOGRAM)
        into->histogram = histogram_create(stage, edges);
    if (stage->kind == STA_PLAN_DESCRIBE)
        into->describe = describe_create(stage);
    for (size_t i = 0; i < stage->output_count && stage->kind != STA_PLAN_HISTOGRAM; i++) {
        int rc = sta_program_create(stage->outputs[i].expression, &into->programs[i], err);
        if (rc != 0)
            return rc;
        into->evaluators[i] = sta_evaluator_create();
    }
    return 0;
}

int sta_group_rows_take(void *self, const struct sta_vector *keys, const struct sta_vector *values,
                        uint32_t rows, struct sta_error *err)
{
    struct sta_group_rows *into = self;
    if (into->stage->kind == STA_PLAN_HISTOGRAM)
        return take_histogram(into, keys, values, rows, err);
    if (into->stage->kind == STA_PLAN_DESCRIBE)
        return take_describe(into, keys, values, rows, err);
    return take_groups(into, keys, values, rows, err);
}

int sta_group_rows_end(struct sta_group_rows *into, struct sta_error *err)
{
    if (into->stage->kind != STA_PLAN_HISTOGRAM)
        return 0;
    if (into->histogram->open)
        return close_group(into, err);
    /* without keys there is one group, always */
    return into->stage->key_count == 0 && sta_relation_rows(into->result) == 0 ? close_group(into, err) : 0;
}

void sta_group_rows_fini(struct sta_group_rows *into)
{
    for (size_t i = 0; i < into->stage->output_count; i++) {
        sta_program_destroy(into->programs[i]);
        sta_evaluator_destroy(into->evaluators[i]);
    }
    histogram_destroy(into->histogram);
    describe_destroy(into->describe, into->stage->key_count);
    free(into->programs);
    free(into->evaluators);
    free(into->vectors);
}
