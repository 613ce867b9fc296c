/* Groups into arrays that grow, for those who want them all at once. */
#include <stdlib.h>

#include "analyse/operators/aggregate/aggregation.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

struct collecting {
    struct sta_aggregation_table *table;
    struct sta_result_column *columns; /* keys, then values */
    size_t key_count, column_count, capacity;
};

static int grow(struct collecting *collecting, size_t capacity, struct sta_error *err)
{
    struct sta_account *account = collecting->table->account;
    for (size_t c = 0; c < collecting->column_count; c++) {
        struct sta_result_column *column = &collecting->columns[c];
        void *values = sta_account_realloc(account, column->values, capacity, sta_vector_width(column->type),
                                           "the groups", err);
        column->values = values != NULL ? values : column->values;
        uint8_t *missing =
            values == NULL ? NULL
                           : sta_account_realloc(account, column->missing, capacity, 1, "the groups", err);
        if (missing == NULL)
            return err->status;
        column->missing = missing;
    }
    collecting->capacity = capacity;
    return STA_OK;
}

static int take(void *self, const struct sta_vector *keys, const struct sta_vector *values, uint32_t rows,
                struct sta_error *err)
{
    struct collecting *collecting = self;
    const uint64_t at = collecting->table->rows;
    int rc = at + rows <= collecting->capacity
                 ? STA_OK
                 : grow(collecting, STA_MAX((size_t)(at + rows), 2 * collecting->capacity), err);
    for (size_t c = 0; rc == 0 && c < collecting->column_count; c++) {
        struct sta_result_column *column = &collecting->columns[c];
        const struct sta_vector *from =
            c < collecting->key_count ? &keys[c] : &values[c - collecting->key_count];
        column->any_missing |=
            sta_vector_gather(from, NULL, rows, (char *)column->values + at * sta_vector_width(column->type),
                              column->missing + at);
        column->texts = from->texts;
    }
    collecting->table->rows += rc == 0 ? rows : 0;
    return rc;
}

/* The columns are the table's from now on. */
static void hand_over(const struct collecting *collecting)
{
    struct sta_aggregation_table *table = collecting->table;
    table->keys = sta_alloc_array(collecting->column_count, sizeof *table->keys);
    table->values = table->keys + collecting->key_count;
    table->column_count = collecting->column_count;
    table->missing = sta_alloc_array(collecting->column_count, sizeof *table->missing);
    for (size_t c = 0; c < collecting->column_count; c++) {
        table->keys[c] = sta_result_vector(&collecting->columns[c], 0);
        table->missing[c] = collecting->columns[c].missing;
    }
}

int sta_aggregation_collect(struct sta_aggregation *grouping, struct sta_aggregation_table *table,
                            struct sta_error *err)
{
    const struct sta_shape *shape = &grouping->shape;
    struct collecting collecting = {
        .table = table, .key_count = shape->key_count, .column_count = shape->key_count + shape->call_count};
    struct sta_aggregation_output output = {&collecting, take};
    *table = (struct sta_aggregation_table){.account = grouping->budget.account};
    collecting.columns = sta_alloc_array(collecting.column_count, sizeof *collecting.columns);
    for (size_t c = 0; c < collecting.column_count; c++)
        collecting.columns[c].type =
            c < shape->key_count ? shape->key_types[c] : shape->calls[c - shape->key_count].type;
    int rc = sta_aggregation_finish(grouping, &output, err);
    hand_over(&collecting);
    free(collecting.columns);
    return rc;
}

void sta_aggregation_table_fini(struct sta_aggregation_table *table)
{
    for (size_t c = 0; c < table->column_count; c++) {
        sta_account_free(table->account, (void *)sta_vector_values(&table->keys[c]));
        sta_account_free(table->account, table->missing[c]);
    }
    free(table->missing);
    free(table->keys);
    *table = (struct sta_aggregation_table){0};
}
