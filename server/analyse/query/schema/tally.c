/* What one column holds. */
#include "analyse/query/schema/tally.h"

#include "analyse/exec/sort.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

int sta_tally_init(struct sta_column_tally *tally, enum sta_type type, size_t most,
                   const struct sta_budget *budget, struct sta_error *err)
{
    static const struct sta_primitive rows = {.aggregate = STA_AGGREGATE_ROWS};
    const struct sta_primitive ends[] = {{.aggregate = STA_AGGREGATE_MIN, .types = {type}},
                                         {.aggregate = STA_AGGREGATE_MAX, .types = {type}},
                                         {.aggregate = STA_AGGREGATE_COUNT, .types = {type}}};
    const struct sta_aggregation_spec by_value = {.keys = &type,
                                                  .key_count = 1,
                                                  .keep_missing = true,
                                                  .primitives = &rows,
                                                  .primitive_count = 1,
                                                  .most_groups = type == STA_TYPE_INT ? most + 1 : 0};
    const struct sta_aggregation_spec range = {.primitives = ends, .primitive_count = STA_COUNT_OF(ends)};
    int rc = STA_OK;
    *tally = (struct sta_column_tally){.type = type, .most = most};
    if (type != STA_TYPE_FLOAT)
        rc = sta_aggregation_create(&by_value, budget, NULL, &tally->by_value, err);
    if (rc == 0 && (type == STA_TYPE_INT || type == STA_TYPE_FLOAT))
        rc = sta_aggregation_create(&range, budget, NULL, &tally->range, err);
    return rc;
}

void sta_tally_fini(struct sta_column_tally *tally)
{
    sta_aggregation_table_fini(&tally->values);
    sta_aggregation_destroy(tally->by_value);
    sta_aggregation_destroy(tally->range);
}

int sta_tally_add(struct sta_column_tally *tally, unsigned worker, const struct sta_vector *vector,
                  uint32_t rows, struct sta_error *err)
{
    const struct sta_aggregation_input input = {.count = rows, .keys = vector, .arguments = vector};
    const bool by_value = tally->by_value != NULL && !sta_aggregation_is_full(tally->by_value);
    return sta_aggregation_consume(by_value ? tally->by_value : tally->range, worker, &input, err);
}

/* The group without a value, which is the last, is no value. */
static void take_values(struct sta_column_tally *tally)
{
    const struct sta_aggregation_table *values = &tally->values;
    const struct sta_vector *key = &values->keys[0];
    const bool any = values->rows > 0 && sta_vector_is_missing(key, (uint32_t)values->rows - 1);
    tally->count = values->rows - any;
    tally->missing = any ? (uint64_t)sta_tally_frequency(tally, values->rows - 1) : 0;
    if (tally->type != STA_TYPE_INT)
        return;
    tally->overflowed = sta_aggregation_is_full(tally->by_value) || tally->count > tally->most;
    tally->any = tally->count > 0;
    tally->least = tally->any ? key->integers[0] : 0;
    tally->largest = tally->any ? key->integers[tally->count - 1] : 0;
}

static void take_range(struct sta_column_tally *tally, const struct sta_aggregation_table *range)
{
    const struct sta_vector *least = &range->values[0], *largest = &range->values[1];
    tally->missing += sta_aggregation_figures(tally->range).rows - (uint64_t)range->values[2].integers[0];
    if (sta_vector_is_missing(least, 0))
        return;
    if (tally->type == STA_TYPE_FLOAT) {
        tally->least_number = least->numbers[0];
        tally->largest_number = largest->numbers[0];
    } else {
        tally->least = tally->any ? STA_MIN(tally->least, least->integers[0]) : least->integers[0];
        tally->largest = tally->any ? STA_MAX(tally->largest, largest->integers[0]) : largest->integers[0];
    }
    tally->any = true;
}

int sta_tally_finish(struct sta_column_tally *tally, struct sta_error *err)
{
    struct sta_aggregation_table range = {.rows = 0};
    int rc = STA_OK;
    if (tally->by_value != NULL)
        rc = sta_aggregation_collect(tally->by_value, &tally->values, err);
    if (rc == 0 && tally->by_value != NULL)
        take_values(tally);
    if (rc == 0 && tally->range != NULL)
        rc = sta_aggregation_collect(tally->range, &range, err);
    if (rc == 0 && tally->range != NULL)
        take_range(tally, &range);
    sta_aggregation_table_fini(&range);
    return rc;
}

static int more_frequent(const void *left, const void *right, void *context)
{
    const struct sta_column_tally *tally = context;
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    const int64_t of_a = sta_tally_frequency(tally, a), of_b = sta_tally_frequency(tally, b);
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : (a > b) - (a < b);
}

uint64_t *sta_tally_by_frequency(const struct sta_column_tally *tally, const struct sta_budget *budget,
                                 struct sta_error *err)
{
    uint64_t *values =
        sta_account_alloc(budget->account, tally->count + 1, sizeof *values, "the values of a column", err);
    for (uint64_t i = 0; values != NULL && i < tally->count; i++)
        values[i] = i;
    if (values == NULL ||
        sta_sort(budget, values, tally->count, sizeof *values, more_frequent, (void *)tally, err) == 0)
        return values;
    sta_account_free(budget->account, values);
    return NULL;
}
