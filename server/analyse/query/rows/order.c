/* Sorting a materialized.
 *
 * DESIGN.  Workers make a record of each row: its sort keys, its number, and, when some of the materialized
 * lies on disk, all its values, so that the disk is read once and in order.  Of a materialized in memory the
 * values are fetched by number when the order is known. */
#include "analyse/query/rows/order.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/query/rows/sort_keys.h"
#include "analyse/query/rows/sorter.h"
#include "analyse/operators/vectors.h"
#include "analyse/query/rows/workshop.h"
#include "common/memory.h"
#include "common/parallel.h"

#define ROWS 4096u /* that are taken from the sorter at once */

/* A column of a batch in memory. */
struct held {
    const void *values;
    const uint8_t *missing;
};

/* A record: keys, number of the row; then, when values travel, one word a column, and a bit per column that
 * says that it is missing. */
struct sorting {
    const struct sta_materialized *materialized;
    const struct sta_workshop *workshop;
    const struct sta_query_column *told;
    size_t columns;
    struct sta_sort_key *keys;
    struct sta_text_ranks **ranks;
    const struct sta_plan_order *by;
    size_t by_count;
    bool travels;                             /* values do */
    struct held *held;                        /* else: by column, then batch */
    uint32_t key_words, values, marks, words; /* where the parts begin; all */
    struct sta_sorter *sorter;
    _Atomic size_t next_batch;
    struct put_outcome {
        int status;
        struct sta_error error;
    } * outcomes; /* by worker */
};

static void lay_out(struct sorting *sorting)
{
    size_t all;
    sorting->told = sta_materialized_columns(sorting->materialized, &all);
    sorting->keys = sta_alloc_array(sorting->by_count + 1, sizeof *sorting->keys);
    sorting->ranks = sta_alloc_array(sorting->by_count + 1, sizeof(struct sta_text_ranks *));
    for (size_t i = 0; i < sorting->by_count; i++) {
        const struct sta_plan_order *by = &sorting->by[i];
        STA_ASSERT(by->column < all);
        if (sorting->told[by->column].type == STA_TYPE_TEXT) {
            const struct sta_dictionary *texts = sta_materialized_texts(sorting->materialized, by->column);
            sorting->ranks[i] = sta_text_ranks_create(&texts, 1);
        }
        sorting->keys[i] = (struct sta_sort_key){
            .type = sorting->told[by->column].type, .descending = by->descending, .ranks = sorting->ranks[i]};
        sorting->key_words += sta_sort_key_words(&sorting->keys[i]);
    }
    sorting->travels = sta_materialized_spilled(sorting->materialized);
    sorting->values = sorting->words = sorting->key_words + 1;
    if (!sorting->travels)
        return;
    sorting->marks = sorting->values + (uint32_t)sorting->columns;
    sorting->words = sorting->marks + (uint32_t)(sorting->columns + 63) / 64;
}

/* ---- in */

static void put_column(const struct sorting *sorting, const struct sta_vector *vector, uint32_t column,
                       uint32_t rows, uint64_t *records)
{
    size_t width = sta_vector_width(vector->type);
    const char *values = sta_vector_values(vector);
    for (uint32_t row = 0; row < rows; row++, records += sorting->words) {
        uint64_t missing = sta_vector_is_missing(vector, row);
        records[sorting->values + column] = 0;
        memcpy(&records[sorting->values + column], values + (vector->constant ? 0 : row) * width, width);
        records[sorting->marks + column / 64] |= missing << (column % 64);
    }
}

/* Makes the records of a batch. */
static int fill_records(const struct sorting *sorting, struct sta_materialized_batch *batch, uint64_t first,
                        uint32_t rows, uint64_t *records, struct sta_error *err)
{
    struct sta_vector vector;
    uint32_t word = 0;
    int rc = 0;
    memset(records, 0, (size_t)rows * sorting->words * sizeof *records);
    for (size_t i = 0; rc == 0 && i < sorting->by_count; i++) {
        rc = sta_materialized_batch_get(batch, sorting->by[i].column, &vector, err);
        if (rc == 0)
            sta_sort_key_put(&sorting->keys[i], &vector, NULL, rows, records + word, sorting->words);
        word += sta_sort_key_words(&sorting->keys[i]);
    }
    for (uint32_t row = 0; row < rows; row++)
        records[row * sorting->words + sorting->key_words] = first + row;
    for (uint32_t i = 0; rc == 0 && sorting->travels && i < sorting->columns; i++) {
        rc = sta_materialized_batch_get(batch, i, &vector, err);
        if (rc == 0)
            put_column(sorting, &vector, i, rows, records);
    }
    return rc;
}

static int put_batch(const struct sorting *sorting, unsigned worker, struct sta_materialized_batch *batch,
                     size_t number, uint64_t *records, struct sta_error *err)
{
    uint32_t rows = 0;
    int rc = sta_budget_check(sorting->workshop->budget, err);
    if (rc == 0)
        rc = sta_materialized_batch_seek(batch, number, &rows, err);
    if (rc == 0)
        rc = fill_records(sorting, batch, (uint64_t)number * STA_VECTOR_ROWS, rows, records, err);
    for (uint32_t row = 0; rc == 0 && row < rows; row++)
        rc = sta_sorter_add(sorting->sorter, worker, records + (size_t)row * sorting->words, err);
    return rc;
}

static void put_batches(void *context, unsigned worker)
{
    struct sorting *sorting = context;
    struct put_outcome *outcome = &sorting->outcomes[worker];
    struct sta_materialized_batch *batch = sta_materialized_batch_create(sorting->materialized);
    uint64_t *records = sta_alloc_array(STA_VECTOR_ROWS, sorting->words * sizeof *records);
    outcome->error = STA_ERROR_INIT;
    while (outcome->status == 0) {
        size_t number = atomic_fetch_add(&sorting->next_batch, 1);
        if (number >= sta_materialized_batch_count(sorting->materialized))
            break;
        outcome->status = put_batch(sorting, worker, batch, number, records, &outcome->error);
    }
    free(records);
    sta_materialized_batch_destroy(batch);
}

static int put_all(struct sorting *sorting, unsigned workers, struct sta_error *err)
{
    sorting->outcomes = sta_alloc_array(workers, sizeof *sorting->outcomes);
    sta_parallel_run(workers, put_batches, sorting);
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < workers; i++)
        if ((rc = sorting->outcomes[i].status) != 0)
            *err = sorting->outcomes[i].error;
    free(sorting->outcomes);
    return rc;
}

/* Where the values of a materialized in memory lie: no vector of one is constant. */
static int hold_values(struct sorting *sorting, struct sta_error *err)
{
    size_t batches = sta_materialized_batch_count(sorting->materialized);
    struct sta_materialized_batch *batch = sta_materialized_batch_create(sorting->materialized);
    uint32_t rows;
    int rc = 0;
    sorting->held = sta_alloc_array(batches * sorting->columns + 1, sizeof *sorting->held);
    for (size_t b = 0; rc == 0 && b < batches; b++) {
        rc = sta_materialized_batch_seek(batch, b, &rows, err);
        for (uint32_t i = 0; rc == 0 && i < sorting->columns; i++) {
            struct sta_vector vector;
            rc = sta_materialized_batch_get(batch, i, &vector, err);
            sorting->held[i * batches + b] = (struct held){sta_vector_values(&vector), vector.missing};
        }
    }
    sta_materialized_batch_destroy(batch);
    return rc;
}

/* ---- out */

struct taken { /* columns of some records */
    uint64_t *records;
    struct sta_vector *vectors;
    char **values;
    uint8_t **missing;
};

static void unpack_column(const struct sorting *sorting, const struct taken *taken, uint32_t column,
                          size_t rows, size_t width)
{
    const uint64_t *record = taken->records;
    for (size_t row = 0; row < rows; row++, record += sorting->words) {
        memcpy(taken->values[column] + row * width, &record[sorting->values + column], width);
        taken->missing[column][row] = record[sorting->marks + column / 64] >> (column % 64) & 1;
    }
}

/* A loop for each width: values lie anywhere, and the time goes to finding them. */
#define FETCH(type, out)                                                                                     \
    for (size_t row = 0; row < rows; row++) {                                                                \
        uint64_t from = number[row * sorting->words];                                                        \
        const struct held *held = &pieces[from / STA_VECTOR_ROWS];                                           \
        ((type *)(out))[row] = ((const type *)held->values)[from % STA_VECTOR_ROWS];                         \
    }

static void fetch_column(const struct sorting *sorting, const struct taken *taken, uint32_t column,
                         size_t rows, size_t width)
{
    const uint64_t *number = taken->records + sorting->key_words;
    const struct held *pieces = sorting->held + column * sta_materialized_batch_count(sorting->materialized);
    if (width == 8)
        FETCH(uint64_t, taken->values[column])
    else if (width == 4)
        FETCH(uint32_t, taken->values[column])
    else
        FETCH(uint8_t, taken->values[column])
    for (size_t row = 0; row < rows; row++) {
        uint64_t from = number[row * sorting->words];
        const uint8_t *missing = pieces[from / STA_VECTOR_ROWS].missing;
        taken->missing[column][row] = missing != NULL && missing[from % STA_VECTOR_ROWS];
    }
}

static void take_column(const struct sorting *sorting, const struct taken *taken, uint32_t column,
                        size_t rows)
{
    struct sta_vector *vector = &taken->vectors[column];
    size_t width = sta_vector_width(sorting->told[column].type);
    if (sorting->travels)
        unpack_column(sorting, taken, column, rows, width);
    else
        fetch_column(sorting, taken, column, rows, width);
    *vector = (struct sta_vector){.type = sorting->told[column].type, .missing = taken->missing[column]};
    sta_vector_point(vector, taken->values[column]);
    if (sta_vector_is_codes(vector))
        vector->texts = sta_materialized_texts(sorting->materialized, column);
}

static int take_all(const struct sorting *sorting, const struct taken *taken,
                    struct sta_materialized *ordered, struct sta_error *err)
{
    size_t count;
    int rc;
    do {
        rc = sta_budget_check(sorting->workshop->budget, err);
        if (rc == 0)
            rc = sta_sorter_next(sorting->sorter, taken->records, ROWS, &count, err);
        for (uint32_t i = 0; rc == 0 && i < sorting->columns; i++)
            take_column(sorting, taken, i, count);
        if (rc == 0)
            rc = sta_materialized_append(ordered, taken->vectors, NULL, (uint32_t)count, err);
    } while (rc == 0 && count > 0);
    return rc != 0 ? rc : sta_materialized_seal(ordered, err);
}

static int give(const struct sorting *sorting, struct sta_materialized *ordered, struct sta_error *err)
{
    struct taken taken = {.records = sta_alloc_array(ROWS, sorting->words * sizeof(uint64_t)),
                          .vectors = sta_alloc_array(sorting->columns + 1, sizeof(struct sta_vector)),
                          .values = sta_alloc_array(sorting->columns + 1, sizeof(char *)),
                          .missing = sta_alloc_array(sorting->columns + 1, sizeof(uint8_t *))};
    for (size_t i = 0; i < sorting->columns; i++) {
        taken.values[i] = sta_alloc_array(ROWS, sizeof(uint64_t));
        taken.missing[i] = sta_alloc_array(ROWS, 1);
    }
    int rc = take_all(sorting, &taken, ordered, err);
    for (size_t i = 0; i < sorting->columns; i++) {
        free(taken.values[i]);
        free(taken.missing[i]);
    }
    free(taken.values);
    free(taken.missing);
    free(taken.vectors);
    free(taken.records);
    return rc;
}

int sta_materialized_order(const struct sta_materialized *materialized, const struct sta_plan_order *by,
                           size_t by_count, uint64_t limit, size_t columns,
                           const struct sta_workshop *workshop, struct sta_materialized **ordered,
                           struct sta_error *err)
{
    struct sorting sorting = {.materialized = materialized,
                              .workshop = workshop,
                              .columns = columns,
                              .by = by,
                              .by_count = by_count};
    unsigned workers = sta_budget_workers(workshop->budget);
    workers = (unsigned)STA_MIN((size_t)workers, sta_materialized_batch_count(materialized) + 1);
    lay_out(&sorting);
    struct sta_sorter_shape shape = {.words = sorting.words,
                                     .keys = sorting.key_words + 1,
                                     .most = limit,
                                     .workers = workers,
                                     .memory = sta_workshop_step_memory(workshop),
                                     .spill_folder = workshop->spill_folder};
    sorting.sorter = sta_sorter_create(&shape);
    *ordered = sta_materialized_create(sorting.told, columns, sta_workshop_rows_memory(workshop),
                                       workshop->spill_folder);
    int rc = sorting.travels ? 0 : hold_values(&sorting, err);
    if (rc == 0)
        rc = put_all(&sorting, workers, err);
    if (rc == 0)
        rc = sta_sorter_finish(sorting.sorter, err);
    if (rc == 0)
        rc = give(&sorting, *ordered, err);
    if (rc != 0) {
        sta_materialized_destroy(*ordered);
        *ordered = NULL;
    }
    sta_sorter_destroy(sorting.sorter);
    for (size_t i = 0; i < by_count; i++)
        sta_text_ranks_destroy(sorting.ranks[i]);
    free(sorting.held);
    free(sorting.ranks);
    free(sorting.keys);
    return rc;
}
