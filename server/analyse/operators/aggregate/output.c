/* Merged groups to columns: first all records, then column by column. */
#include "analyse/operators/aggregate/output.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate/functions.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

static uint32_t *codes_of_ranks(const struct sta_ranks *ranks, struct sta_error *err)
{
    uint32_t *codes =
        sta_account_alloc(ranks->texts->account, ranks->count, sizeof *codes, "ranks of texts", err);
    for (uint32_t rank = 0; codes != NULL && rank < ranks->count; rank++)
        codes[rank] = sta_texts_result(ranks->texts, ranks->numbers[rank]);
    return codes;
}

int sta_group_results_init(struct sta_group_results *results, const struct sta_shape *shape,
                           const struct sta_group_order *order, struct sta_error *err)
{
    int rc = STA_OK;
    *results = (struct sta_group_results){
        .shape = shape, .order = order, .lists = sta_dictionary_create_in(shape->texts)};
    results->key_codes = sta_alloc_array(shape->key_count, sizeof *results->key_codes);
    for (size_t k = 0; rc == 0 && k < shape->key_count; k++)
        if (shape->key_texts[k] != NULL) {
            results->key_codes[k] = codes_of_ranks(&order->key_ranks[k], err);
            rc = results->key_codes[k] != NULL ? STA_OK : err->status;
        }
    return rc;
}

void sta_group_results_fini(struct sta_group_results *results)
{
    if (results->shape == NULL)
        return;
    for (size_t k = 0; k < results->shape->key_count; k++)
        sta_account_free(results->shape->texts, results->key_codes[k]);
    free(results->key_codes);
    sta_dictionary_destroy(results->lists);
}

/* ---- columns */

static bool create_column(struct sta_result_column *column, enum sta_type type,
                          const struct sta_dictionary *texts, size_t rows)
{
    *column = (struct sta_result_column){.type = type, .texts = texts};
    column->values = sta_try_alloc_array(rows, sta_vector_width(type));
    column->missing = sta_try_alloc_array(rows, sizeof *column->missing);
    return column->values != NULL && column->missing != NULL;
}

/* One value; the type is a constant where this is inlined. */
static inline void put(struct sta_result_column *column, enum sta_type type, uint32_t row, uint64_t word,
                       bool present)
{
    column->missing[row] = !present;
    column->any_missing |= !present;
    if (type == STA_TYPE_TEXT || type == STA_TYPE_LIST)
        ((uint32_t *)column->values)[row] = present ? (uint32_t)word : STA_NO_CODE;
    else if (type == STA_TYPE_INT || type == STA_TYPE_FLOAT)
        ((uint64_t *)column->values)[row] = present ? word : 0;
    else
        ((uint8_t *)column->values)[row] = present && word != 0;
}

/* @codes: of a text, by rank.  The type is a constant where this is inlined. */
static inline void fill_field(struct sta_result_column *column, const struct sta_key_field field,
                              enum sta_type type, const uint32_t *codes, const uint64_t *words,
                              unsigned width, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t value;
        const bool present = sta_key_get(&field, &words[(size_t)row * width], &value);
        if (type == STA_TYPE_TEXT && present)
            value = codes[value];
        else if (type == STA_TYPE_FLOAT)
            value = sta_bits_of(sta_unorder_number(value));
        put(column, type, row, value, present);
    }
}

static void fill_key(struct sta_result_column *column, const struct sta_group_results *results, size_t key,
                     const uint64_t *words, uint32_t rows)
{
    const unsigned width = results->order->layout.words;
    const struct sta_key_field field = results->order->layout.fields[key];
    const uint32_t *codes = results->key_codes[key];
    if (field.type == STA_TYPE_INT)
        fill_field(column, field, STA_TYPE_INT, NULL, words, width, rows);
    else if (field.type == STA_TYPE_TEXT)
        fill_field(column, field, STA_TYPE_TEXT, codes, words, width, rows);
    else
        fill_field(column, field, field.type, NULL, words, width, rows);
}

/* Whether results are numbers of texts, which have codes among the results. */
static bool gives_texts(const struct sta_agg_call *call)
{
    return call->texts != NULL && (call->type == STA_TYPE_TEXT || call->type == STA_TYPE_LIST) &&
           call->primitive.aggregate != STA_AGGREGATE_UNIQUE;
}

static void fill_value(struct sta_result_column *column, const struct sta_shape *shape,
                       const struct sta_agg_call *call, const uint8_t *records, uint32_t rows)
{
    const uint8_t *states = records + call->offset;
    const bool is_text = gives_texts(call);
    const enum sta_type type = column->type;
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t word = 0;
        bool present = call->function->result(call, states + row * shape->record, &word);
        if (is_text && present)
            word = sta_texts_result(call->texts, word);
        put(column, type, row, word, present);
    }
}

/* ---- batches */

struct merged {
    uint64_t *words;
    uint8_t *records;
};

static int merge_groups(struct sta_group_batch *batch, const struct sta_group_results *results,
                        struct sta_group_merge *merge, const struct merged *merged, struct sta_error *err)
{
    const struct sta_shape *shape = results->shape;
    const unsigned width = results->order->layout.words;
    struct sta_buffer text;
    int rc = STA_OK;
    sta_buffer_init(&text);
    while (rc == 0 && batch->rows < batch->capacity) {
        uint8_t *record = merged->records + batch->rows * shape->record;
        rc = sta_group_merge_next(merge, record, err);
        if (rc != 0 || merge->words == NULL)
            break;
        memcpy(&merged->words[(size_t)batch->rows * width], merge->words, width * sizeof *merged->words);
        if (shape->list_count > 0)
            rc = sta_finalize_lists(merge, results->lists, &text, record, err);
        batch->rows++;
    }
    sta_buffer_fini(&text);
    return rc;
}

static const struct sta_dictionary *texts_of(const struct sta_group_results *results,
                                             const struct sta_agg_call *call)
{
    if (call->primitive.aggregate == STA_AGGREGATE_UNIQUE)
        return results->lists;
    return call->texts != NULL ? call->texts->results : NULL;
}

static bool create_columns(struct sta_group_batch *batch, const struct sta_group_results *results)
{
    const struct sta_shape *shape = results->shape;
    bool enough = true;
    batch->column_count = shape->key_count + shape->call_count;
    batch->columns = sta_alloc_array(batch->column_count, sizeof *batch->columns);
    for (size_t k = 0; k < shape->key_count; k++) {
        const struct sta_texts *texts = shape->key_texts[k];
        enough = create_column(&batch->columns[k], shape->key_types[k], texts != NULL ? texts->results : NULL,
                               batch->rows) &&
                 enough;
    }
    for (size_t f = 0; f < shape->call_count; f++)
        enough = create_column(&batch->columns[shape->key_count + f], shape->calls[f].type,
                               texts_of(results, &shape->calls[f]), batch->rows) &&
                 enough;
    return enough;
}

/* A sum is never missing but for one reason. */
static uint64_t count_too_large(const struct sta_agg_call *call, const struct sta_result_column *column,
                                uint32_t rows)
{
    uint64_t count = 0;
    if (call->primitive.aggregate != STA_AGGREGATE_SUM && call->primitive.aggregate != STA_AGGREGATE_BUSY)
        return 0;
    for (uint32_t row = 0; column->any_missing && row < rows; row++)
        count += column->missing[row];
    return count;
}

static void fill_columns(struct sta_group_batch *batch, const struct sta_group_results *results,
                         const struct merged *merged)
{
    const struct sta_shape *shape = results->shape;
    for (size_t k = 0; k < shape->key_count; k++)
        fill_key(&batch->columns[k], results, k, merged->words, batch->rows);
    for (size_t f = 0; f < shape->call_count; f++) {
        struct sta_result_column *column = &batch->columns[shape->key_count + f];
        fill_value(column, shape, &shape->calls[f], merged->records, batch->rows);
        batch->too_large += count_too_large(&shape->calls[f], column, batch->rows);
    }
}

int sta_group_batch_init(struct sta_group_batch *batch, const struct sta_group_results *results,
                         struct sta_group_merge *merge, uint32_t capacity, struct sta_error *err)
{
    struct merged merged = {
        .words = sta_try_alloc_array(capacity, results->order->layout.words * sizeof *merged.words),
        .records = sta_try_alloc_array(capacity, results->shape->record)};
    *batch = (struct sta_group_batch){.capacity = capacity};
    bool enough = merged.words != NULL && merged.records != NULL;
    int rc = enough ? merge_groups(batch, results, merge, &merged, err) : STA_OK;
    enough = enough && (rc != 0 || create_columns(batch, results));
    if (!enough)
        rc = sta_fail(err, STA_ENOMEM, "no memory for the results of %u groups", capacity);
    else if (rc == 0)
        fill_columns(batch, results, &merged);
    sta_free(merged.words);
    sta_free(merged.records);
    return rc;
}

void sta_group_batch_fini(struct sta_group_batch *batch)
{
    for (size_t c = 0; batch->columns != NULL && c < batch->column_count; c++) {
        sta_free(batch->columns[c].values);
        sta_free(batch->columns[c].missing);
    }
    free(batch->columns);
    *batch = (struct sta_group_batch){0};
}

struct sta_vector sta_result_vector(const struct sta_result_column *column, uint32_t first)
{
    struct sta_vector vector = {.type = column->type, .constant = column->type == STA_TYPE_NULL};
    if (sta_vector_is_codes(&vector))
        vector.texts = column->texts;
    else if (column->any_missing)
        vector.missing = column->missing;
    sta_vector_point(&vector, column->values);
    return sta_vector_from(vector, first);
}
