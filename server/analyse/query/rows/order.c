/* Sorting materialized rows.
 *
 * DESIGN.  Workers make a record of each row: its sort keys, its number, and, when some rows lie on disk, all
 * its values, so that the disk is read once and in order.  Of rows in memory the values are fetched by number
 * when the order is known. */
#include "analyse/query/rows/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/tasks.h"
#include "analyse/operators/sort_keys.h"
#include "analyse/operators/sorter.h"
#include "analyse/operators/vectors.h"
#include "analyse/query/rows/query_context.h"
#include "common/memory.h"

#define ROWS 4096u /* that are taken from the sorter at once */

/* A record: keys, number of the row; then, when values travel, one word a column, and a bit per column that
 * says that it is missing. */
struct sorting {
    const struct sta_materialized *materialized;
    const struct sta_query_context *context;
    const struct sta_column_info *described;
    size_t columns;
    const struct sta_plan_order *by;
    size_t by_count;
    struct sta_sort_layout layout; /* the keys, then the number of the row */
    struct sta_account kept;       /* what is kept by text */
    struct sta_texts **texts;      /* by key; of TEXT alone */
    struct sta_ranks *ranks;
    bool travels;                  /* values do; else they are fetched */
    uint32_t values, marks, words; /* where the parts begin; all */
    struct sta_sorter *sorter;
    struct recorder { /* by worker */
        struct sta_materialized_batch *batch;
        struct sta_sort_encoder *encoder;
        struct sta_vector *vectors;
        int64_t *numbers;
        uint64_t *records;
    } * recorders;
};

/* ---- keys */

static void widen_range(struct sta_key_range *range, const struct sta_vector *vector, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        if (sta_vector_is_missing(vector, row))
            continue;
        const int64_t value = vector->integers[vector->constant ? 0 : row];
        range->low = range->any ? STA_MIN(range->low, value) : value;
        range->high = range->any ? STA_MAX(range->high, value) : value;
        range->any = true;
    }
}

/* The range of a column of integers: known by looking at them, as long as that needs no disk. */
static int find_range(const struct sorting *sorting, uint32_t column, struct sta_key_range *range,
                      struct sta_error *err)
{
    struct sta_materialized_batch *batch = sta_materialized_batch_create(sorting->materialized);
    int rc = STA_OK;
    if (sorting->travels)
        *range = sta_key_range_any_integer();
    for (size_t b = 0;
         rc == 0 && !sorting->travels && b < sta_materialized_batch_count(sorting->materialized); b++) {
        struct sta_vector vector;
        uint32_t rows;
        rc = sta_materialized_batch_seek(batch, b, &rows, err);
        if (rc == 0)
            rc = sta_materialized_batch_get(batch, column, &vector, err);
        if (rc == 0)
            widen_range(range, &vector, rows);
    }
    sta_materialized_batch_destroy(batch);
    return rc;
}

static int rank_column(struct sorting *sorting, size_t key, uint32_t column, struct sta_error *err)
{
    sorting->texts[key] = sta_texts_create(&sorting->kept);
    sta_texts_dictionary(sorting->texts[key], sta_materialized_texts(sorting->materialized, column));
    int rc = sta_ranks_init(&sorting->ranks[key], sorting->texts[key], err);
    if (rc != 0)
        return rc;
    sta_ranks_mark_all(&sorting->ranks[key]);
    return sta_ranks_finalize(&sorting->ranks[key], sorting->context->budget, err);
}

static int lay_out(struct sorting *sorting, struct sta_error *err)
{
    size_t all;
    const uint64_t rows = sta_materialized_rows(sorting->materialized);
    struct sta_sort_key *keys = sta_alloc_array(sorting->by_count + 1, sizeof *keys);
    int rc = STA_OK;
    sorting->described = sta_materialized_columns(sorting->materialized, &all);
    sorting->texts = sta_alloc_array(sorting->by_count + 1, sizeof(struct sta_texts *));
    sorting->ranks = sta_alloc_array(sorting->by_count + 1, sizeof *sorting->ranks);
    sorting->travels = sta_materialized_spilled(sorting->materialized);
    for (size_t i = 0; rc == 0 && i < sorting->by_count; i++) {
        const uint32_t column = sorting->by[i].column;
        STA_ASSERT(column < all);
        keys[i] = (struct sta_sort_key){.type = sorting->described[column].type,
                                        .descending = sorting->by[i].descending,
                                        .ranks = &sorting->ranks[i]};
        if (keys[i].type == STA_TYPE_TEXT)
            rc = rank_column(sorting, i, column, err);
        else if (keys[i].type == STA_TYPE_INT)
            rc = find_range(sorting, column, &keys[i].range, err);
    }
    keys[sorting->by_count] = (struct sta_sort_key){
        .type = STA_TYPE_INT, .required = true, .range = {.any = true, .high = (int64_t)rows}};
    sta_sort_layout_init(&sorting->layout, keys, sorting->by_count + 1);
    free(keys);
    sorting->values = sorting->words = sorting->layout.words;
    if (!sorting->travels)
        return rc;
    sorting->marks = sorting->values + (uint32_t)sorting->columns;
    sorting->words = sorting->marks + (uint32_t)(sorting->columns + 63) / 64;
    return rc;
}

/* ---- in */

static struct recorder *recorder_of(struct sorting *sorting, unsigned worker)
{
    struct recorder *recorder = &sorting->recorders[worker];
    if (recorder->records != NULL)
        return recorder;
    recorder->batch = sta_materialized_batch_create(sorting->materialized);
    recorder->encoder = sta_sort_encoder_create(&sorting->layout);
    recorder->vectors = sta_alloc_array(sorting->layout.count, sizeof *recorder->vectors);
    recorder->numbers = sta_alloc_array(STA_VECTOR_ROWS, sizeof *recorder->numbers);
    recorder->records = sta_alloc_array(STA_VECTOR_ROWS, sorting->words * sizeof(uint64_t));
    return recorder;
}

static void recorder_fini(struct recorder *recorder)
{
    sta_materialized_batch_destroy(recorder->batch);
    sta_sort_encoder_destroy(recorder->encoder);
    free(recorder->vectors);
    free(recorder->numbers);
    free(recorder->records);
}

static void put_column(const struct sorting *sorting, const struct sta_vector *vector, uint32_t column,
                       uint32_t rows, uint64_t *records)
{
    size_t width = sta_vector_width(vector->type);
    const char *values = sta_vector_values(vector);
    for (uint32_t row = 0; row < rows; row++, records += sorting->words) {
        uint64_t missing = sta_vector_is_missing(vector, row);
        records[sorting->values + column] = 0;
        memcpy(&records[sorting->values + column], values + (vector->constant ? 0 : row) * width, width);
        if (column % 64 == 0)
            records[sorting->marks + column / 64] = 0;
        records[sorting->marks + column / 64] |= missing << (column % 64);
    }
}

/* Makes the records of a batch. */
static int record_batch(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct sorting *sorting = context;
    struct recorder *recorder = recorder_of(sorting, worker);
    struct sta_vector vector;
    uint32_t rows = 0;
    int rc = sta_materialized_batch_seek(recorder->batch, number, &rows, err);
    for (size_t i = 0; rc == 0 && i < sorting->by_count; i++)
        rc = sta_materialized_batch_get(recorder->batch, sorting->by[i].column, &recorder->vectors[i], err);
    for (uint32_t row = 0; row < rows; row++)
        recorder->numbers[row] = (int64_t)(number * STA_VECTOR_ROWS + row);
    recorder->vectors[sorting->by_count] =
        (struct sta_vector){.type = STA_TYPE_INT, .integers = recorder->numbers};
    if (rc == 0)
        rc = sta_sort_pack(recorder->encoder, recorder->vectors, NULL, 0, rows, recorder->records,
                           sorting->words, err);
    for (uint32_t i = 0; rc == 0 && sorting->travels && i < sorting->columns; i++) {
        rc = sta_materialized_batch_get(recorder->batch, i, &vector, err);
        if (rc == 0)
            put_column(sorting, &vector, i, rows, recorder->records);
    }
    return rc == 0 ? sta_sorter_consume(sorting->sorter, worker, recorder->records, rows, err) : rc;
}

static int record_all(struct sorting *sorting, const struct sta_sorter_spec *spec, struct sta_error *err)
{
    const unsigned workers = sta_budget_workers(spec->budget);
    sorting->recorders = sta_alloc_array(workers, sizeof *sorting->recorders);
    int rc = sta_tasks_run(spec->budget, sta_materialized_batch_count(sorting->materialized), record_batch,
                           sorting, err);
    for (unsigned w = 0; w < workers; w++)
        recorder_fini(&sorting->recorders[w]);
    free(sorting->recorders);
    return rc == 0 ? sta_sorter_finish(sorting->sorter, err) : rc;
}

/* ---- out */

struct taken { /* columns of some records */
    const uint64_t *records;
    int64_t *numbers; /* of the rows */
    struct sta_vector *vectors;
    struct sta_vector_space *space; /* of the vectors */
};

static void unpack_column(const struct sorting *sorting, const struct taken *taken, uint32_t column,
                          size_t rows, size_t width)
{
    const uint64_t *record = taken->records;
    struct sta_vector_space *space = &taken->space[column];
    for (size_t row = 0; row < rows; row++, record += sorting->words) {
        memcpy((char *)space->integers + row * width, &record[sorting->values + column], width);
        space->missing[row] = record[sorting->marks + column / 64] >> (column % 64) & 1;
    }
}

static void take_column(const struct sorting *sorting, const struct taken *taken, uint32_t column,
                        size_t rows)
{
    struct sta_vector *vector = &taken->vectors[column];
    struct sta_vector_space *space = &taken->space[column];
    size_t width = sta_vector_width(sorting->described[column].type);
    if (sorting->travels)
        unpack_column(sorting, taken, column, rows, width);
    else
        sta_materialized_fetch(sorting->materialized, column, taken->numbers, rows, space->integers,
                               space->missing);
    *vector = (struct sta_vector){.type = sorting->described[column].type, .missing = space->missing};
    sta_vector_point(vector, space->integers);
    if (sta_vector_is_codes(vector))
        vector->texts = sta_materialized_texts(sorting->materialized, column);
}

static int take_all(const struct sorting *sorting, struct taken *taken, struct sta_materialized *ordered,
                    struct sta_error *err)
{
    size_t count;
    int rc;
    do {
        rc = sta_budget_check(sorting->context->budget, err);
        if (rc == 0)
            rc = sta_sorter_next(sorting->sorter, ROWS, &taken->records, &count, err);
        if (rc != 0)
            return rc;
        sta_sort_layout_integers(&sorting->layout, sorting->by_count, taken->records, sorting->words, count,
                                 taken->numbers, NULL);
        for (uint32_t i = 0; i < sorting->columns; i++)
            take_column(sorting, taken, i, count);
        rc = sta_materialized_append(ordered, taken->vectors, NULL, (uint32_t)count, err);
    } while (rc == 0 && count > 0);
    return rc != 0 ? rc : sta_materialized_seal(ordered, err);
}

static int give(const struct sorting *sorting, struct sta_materialized *ordered, struct sta_error *err)
{
    struct taken taken = {.numbers = sta_alloc_array(ROWS, sizeof *taken.numbers),
                          .vectors = sta_alloc_array(sorting->columns + 1, sizeof *taken.vectors),
                          .space = sta_alloc_array(sorting->columns + 1, sizeof *taken.space)};
    int rc = take_all(sorting, &taken, ordered, err);
    free(taken.space);
    free(taken.vectors);
    free(taken.numbers);
    return rc;
}

static void sorting_fini(struct sorting *sorting)
{
    sta_sorter_destroy(sorting->sorter);
    sta_sort_layout_fini(&sorting->layout);
    for (size_t i = 0; i < sorting->by_count; i++) {
        sta_ranks_fini(&sorting->ranks[i]);
        sta_texts_destroy(sorting->texts[i]);
    }
    sta_account_close(&sorting->kept);
    free(sorting->ranks);
    free(sorting->texts);
}

int sta_materialized_order(const struct sta_materialized *materialized, const struct sta_plan_order *by,
                           size_t by_count, uint64_t limit, size_t columns,
                           const struct sta_query_context *context, struct sta_materialized **ordered,
                           struct sta_error *err)
{
    struct sorting sorting = {
        .materialized = materialized, .context = context, .columns = columns, .by = by, .by_count = by_count};
    sta_account_init_texts(&sorting.kept, sta_query_context_texts_memory(context), context->spill_folder,
                           context->budget->account);
    int rc = lay_out(&sorting, err);
    struct sta_sorter_spec spec = {.words = sorting.words,
                                   .limit = limit,
                                   .memory = sta_query_context_step_memory(context),
                                   .spill_folder = context->spill_folder,
                                   .budget = context->budget};
    sorting.sorter = sta_sorter_create(&spec);
    *ordered = sta_query_context_rows(context, sorting.described, columns);
    if (rc == 0)
        rc = record_all(&sorting, &spec, err);
    if (rc == 0)
        rc = give(&sorting, *ordered, err);
    if (rc != 0) {
        sta_materialized_destroy(*ordered);
        *ordered = NULL;
    }
    sorting_fini(&sorting);
    return rc;
}
