/* Sorting a relation: each row travels with its sort keys, so that a relation on disk is read once, in its own order. */
#include "analyse/query/rows/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/query/rows/sort_keys.h"
#include "analyse/query/rows/sorter.h"
#include "analyse/query/rows/vectors.h"
#include "analyse/query/rows/workshop.h"
#include "common/memory.h"

#define ROWS 4096u /* that are taken from the sorter at once */

/* A record: keys, number of the row, values by column, and a bit per column that says that it is missing. */
struct sorting {
    const struct sta_relation *relation;
    const struct sta_workshop *workshop;
    const struct sta_query_column *told;
    size_t columns;
    struct sta_sort_key *keys;
    struct sta_text_ranks **ranks;
    const struct sta_plan_order *by;
    size_t by_count;
    uint32_t key_words, values, marks, words; /* where the parts begin; all */
    struct sta_sorter *sorter;
};

static void lay_out(struct sorting *sorting)
{
    size_t all;
    sorting->told = sta_relation_columns(sorting->relation, &all);
    sorting->keys = sta_alloc_array(sorting->by_count + 1, sizeof *sorting->keys);
    sorting->ranks = sta_alloc_array(sorting->by_count + 1, sizeof(struct sta_text_ranks *));
    for (size_t i = 0; i < sorting->by_count; i++) {
        const struct sta_plan_order *by = &sorting->by[i];
        STA_ASSERT(by->column < all);
        if (sorting->told[by->column].type == STA_TYPE_TEXT) {
            const struct sta_dictionary *texts = sta_relation_texts(sorting->relation, by->column);
            sorting->ranks[i] = sta_text_ranks_create(&texts, 1);
        }
        sorting->keys[i] =
            (struct sta_sort_key){sorting->told[by->column].type, by->descending, sorting->ranks[i]};
        sorting->key_words += sta_sort_key_words(&sorting->keys[i]);
    }
    sorting->values = sorting->key_words + 1;
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

static int put_batch(const struct sorting *sorting, struct sta_relation_batch *batch, uint64_t first,
                     uint32_t rows, uint64_t *records, struct sta_error *err)
{
    struct sta_vector vector;
    uint32_t word = 0;
    int rc = 0;
    memset(records, 0, (size_t)rows * sorting->words * sizeof *records);
    for (size_t i = 0; rc == 0 && i < sorting->by_count; i++) {
        rc = sta_relation_batch_get(batch, sorting->by[i].column, &vector, err);
        if (rc == 0)
            sta_sort_key_put(&sorting->keys[i], &vector, NULL, rows, records + word, sorting->words);
        word += sta_sort_key_words(&sorting->keys[i]);
    }
    for (uint32_t row = 0; row < rows; row++)
        records[row * sorting->words + sorting->key_words] = first + row;
    for (uint32_t i = 0; rc == 0 && i < sorting->columns; i++) {
        rc = sta_relation_batch_get(batch, i, &vector, err);
        if (rc == 0)
            put_column(sorting, &vector, i, rows, records);
    }
    for (uint32_t row = 0; rc == 0 && row < rows; row++)
        rc = sta_sorter_add(sorting->sorter, 0, records + row * sorting->words, err);
    return rc;
}

static int put_all(const struct sorting *sorting, struct sta_error *err)
{
    struct sta_relation_batch *batch = sta_relation_batch_create(sorting->relation);
    uint64_t *records = sta_alloc_array(STA_VECTOR_ROWS, sorting->words * sizeof *records);
    uint32_t rows;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sta_relation_batch_count(sorting->relation); i++) {
        rc = sta_budget_check(sorting->workshop->budget, err);
        if (rc == 0)
            rc = sta_relation_batch_seek(batch, i, &rows, err);
        if (rc == 0)
            rc = put_batch(sorting, batch, (uint64_t)i * STA_VECTOR_ROWS, rows, records, err);
    }
    free(records);
    sta_relation_batch_destroy(batch);
    return rc;
}

/* ---- out */

struct taken { /* columns of some records */
    uint64_t *records;
    struct sta_vector *vectors;
    char **values;
    uint8_t **missing;
};

static void take_column(const struct sorting *sorting, const struct taken *taken, uint32_t column,
                        size_t rows)
{
    struct sta_vector *vector = &taken->vectors[column];
    size_t width = sta_vector_width(sorting->told[column].type);
    const uint64_t *record = taken->records;
    for (size_t row = 0; row < rows; row++, record += sorting->words) {
        memcpy(taken->values[column] + row * width, &record[sorting->values + column], width);
        taken->missing[column][row] = record[sorting->marks + column / 64] >> (column % 64) & 1;
    }
    *vector = (struct sta_vector){.type = sorting->told[column].type, .missing = taken->missing[column]};
    sta_vector_point(vector, taken->values[column]);
    if (sta_vector_is_codes(vector))
        vector->texts = sta_relation_texts(sorting->relation, column);
}

static int take_all(const struct sorting *sorting, const struct taken *taken, struct sta_relation *ordered,
                    struct sta_error *err)
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
            rc = sta_relation_append(ordered, taken->vectors, NULL, (uint32_t)count, err);
    } while (rc == 0 && count > 0);
    return rc != 0 ? rc : sta_relation_seal(ordered, err);
}

static int give(const struct sorting *sorting, struct sta_relation *ordered, struct sta_error *err)
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

int sta_relation_order(const struct sta_relation *relation, const struct sta_plan_order *by, size_t by_count,
                       uint64_t limit, size_t columns, const struct sta_workshop *workshop,
                       struct sta_relation **ordered, struct sta_error *err)
{
    struct sorting sorting = {
        .relation = relation, .workshop = workshop, .columns = columns, .by = by, .by_count = by_count};
    lay_out(&sorting);
    struct sta_sorter_shape shape = {.words = sorting.words,
                                     .keys = sorting.key_words + 1,
                                     .most = limit,
                                     .workers = 1,
                                     .memory = sta_workshop_step_memory(workshop),
                                     .spill_folder = workshop->spill_folder};
    sorting.sorter = sta_sorter_create(&shape);
    *ordered = sta_relation_create(sorting.told, columns, sta_workshop_rows_memory(workshop),
                                   workshop->spill_folder);
    int rc = put_all(&sorting, err);
    if (rc == 0)
        rc = sta_sorter_finish(sorting.sorter, err);
    if (rc == 0)
        rc = give(&sorting, *ordered, err);
    if (rc != 0) {
        sta_relation_destroy(*ordered);
        *ordered = NULL;
    }
    sta_sorter_destroy(sorting.sorter);
    for (size_t i = 0; i < by_count; i++)
        sta_text_ranks_destroy(sorting.ranks[i]);
    free(sorting.ranks);
    free(sorting.keys);
    return rc;
}
