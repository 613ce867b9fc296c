/* The call overlap/intervals: where a condition on the sets holds, a row per interval.
 *
 * The condition is evaluated once for each combination of sets, of which there are at most 65536. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/overlap/tables.h"
#include "analyse/overlap/charge.h"
#include "common/memory.h"

/* ---- combinations */

struct masks {
    const struct sta_overlap_request *request;
    uint32_t first, rows; /* of the masks being evaluated */
    uint8_t *values;      /* of the column asked for last, one array per column */
};

static int masks_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct masks *masks = context;
    uint8_t *values = masks->values + (size_t)column * STA_VECTOR_ROWS;
    bool idle = column == masks->request->set_count;
    for (uint32_t row = 0; row < masks->rows; row++) {
        uint32_t mask = masks->first + row;
        values[row] = idle ? mask == 0 : mask >> column & 1;
    }
    *vector = (struct sta_vector){.type = STA_TYPE_BOOL, .bools = values};
    return 0;
}

static int evaluate(struct masks *masks, struct sta_program *program, struct sta_evaluator *evaluator,
                    uint8_t *list_of_mask, struct sta_error *err)
{
    uint32_t count = 1u << masks->request->set_count;
    for (masks->first = 0; masks->first < count; masks->first += masks->rows) {
        masks->rows = STA_MIN(count - masks->first, STA_VECTOR_ROWS);
        struct sta_vector vector;
        int rc = sta_program_run(program, evaluator, masks->rows, masks_column, masks, &vector, err);
        if (rc != 0)
            return rc;
        for (uint32_t row = 0; row < masks->rows; row++)
            list_of_mask[masks->first + row] = vector.bools[vector.constant ? 0 : row] ? 0 : STA_CHARGE_NONE;
    }
    return 0;
}

int sta_where_masks(const struct sta_overlap_request *request, uint8_t **list_of_mask, struct sta_error *err)
{
    struct sta_program *program = sta_program_create(request->where);
    struct masks masks = {.request = request};
    masks.values = sta_alloc_array((size_t)(request->set_count + 1) * STA_VECTOR_ROWS, 1);
    *list_of_mask = sta_alloc_array((size_t)1 << request->set_count, 1);
    struct sta_evaluator *evaluator = sta_evaluator_create();
    int rc = evaluate(&masks, program, evaluator, *list_of_mask, err);
    sta_evaluator_destroy(evaluator);
    sta_program_destroy(program);
    free(masks.values);
    return rc;
}

/* ---- intervals, by unit, then start */

static int list_joined(const struct sta_joined *joined, const struct sta_overlap_results *results,
                       const struct sta_budget *budget, struct sta_span **intervals, size_t *count,
                       struct sta_error *err)
{
    struct sta_span *items = sta_account_alloc(budget->account, joined->first[joined->units] + 1,
                                               sizeof *items, "the list of intervals", err);
    int rc = items == NULL ? err->status : 0;
    *intervals = items;
    *count = 0;
    for (uint32_t i = 0; i < results->unit_count && rc == 0; i++) {
        const uint32_t unit = results->units[i];
        const struct sta_interval *all = joined->items + joined->first[unit];
        for (size_t k = 0; k < joined->counts[unit]; k++)
            items[(*count)++] = (struct sta_span){all[k].from, all[k].to, unit, 0};
        rc = sta_budget_check(budget, err);
    }
    return rc;
}

/* The maximal ones in which the condition holds, within the span of each unit; where the request wants the
 * longest, these are among them.  *intervals: of the account, also after a failure. */
static int find_intervals(const uint8_t *list_of_mask, const struct sta_overlap_binding *binding,
                          struct sta_overlap_results *results, struct sta_span **intervals, size_t *count,
                          struct sta_error *err)
{
    const struct sta_charge_wants wants = {.longest = binding->request->longest};
    struct sta_joined joined = {0};
    *intervals = NULL;
    int rc = sta_charge_intervals(list_of_mask, 1, &wants, binding, results, &joined, err);
    if (rc == 0)
        rc = list_joined(&joined, results, binding->budget, intervals, count, err);
    sta_joined_fini(&joined);
    return rc;
}

/* ---- order */

struct ordering {
    const struct sta_overlap_order *order;
    size_t order_count;
    struct sta_scope *scope;
};

static int compare_by(const struct sta_scope *scope, const struct sta_overlap_order *by,
                      const struct sta_span *a, const struct sta_span *b)
{
    const int64_t times[][2] = {[STA_INTERVAL_START] = {a->ts, b->ts},
                                [STA_INTERVAL_END] = {a->te, b->te},
                                [STA_INTERVAL_TIME] = {a->te - a->ts, b->te - b->ts}};
    if (by->column >= STA_INTERVAL_KEYS)
        return sta_scope_compare(scope, a->cell, b->cell, by->column - STA_INTERVAL_KEYS, by->descending);
    const int64_t *of = times[by->column];
    return ((of[0] > of[1]) - (of[0] < of[1])) * (by->descending ? -1 : 1);
}

/* The sort is stable: equal ones stay in the order of units and time. */
static int compare_intervals(const void *a, const void *b, void *context)
{
    const struct ordering *ordering = context;
    int order = 0;
    for (size_t i = 0; order == 0 && i < ordering->order_count; i++)
        order = compare_by(ordering->scope, &ordering->order[i], a, b);
    return order;
}

static int order_intervals(const struct sta_overlap_order *order, size_t order_count, struct sta_scope *scope,
                           struct sta_span *intervals, size_t count, const struct sta_budget *budget,
                           struct sta_error *err)
{
    struct ordering ordering = {order, order_count, scope};
    return order_count == 0
               ? STA_OK
               : sta_sort(budget, intervals, count, sizeof *intervals, compare_intervals, &ordering, err);
}

/* Those of the request: the longest, of equally long ones those that begin first, in its order. */
static int choose(const struct sta_overlap_request *request, struct sta_scope *scope,
                  struct sta_span *intervals, size_t *count, const struct sta_budget *budget,
                  struct sta_error *err)
{
    static const struct sta_overlap_order by_time[] = {{STA_INTERVAL_TIME, true},
                                                       {STA_INTERVAL_START, false}};
    int rc = STA_OK;
    if (request->longest > 0) {
        rc = order_intervals(by_time, STA_COUNT_OF(by_time), scope, intervals, *count, budget, err);
        *count = STA_MIN(*count, request->longest);
    }
    return rc == STA_OK
               ? order_intervals(request->order, request->order_count, scope, intervals, *count, budget, err)
               : rc;
}

/* ---- the table */

static int put_table(const struct sta_overlap_request *request, const struct sta_scope *scope,
                     const struct sta_span *intervals, size_t count, const struct sta_budget *budget,
                     struct sta_table *table, struct sta_error *err)
{
    uint32_t *units =
        sta_account_alloc(budget->account, count + 1, sizeof *units, "the table of intervals", err);
    if (units == NULL)
        return err->status;
    for (size_t i = 0; i < count; i++)
        units[i] = intervals[i].cell;
    sta_table_init(table, count);
    sta_table_count_in(table, budget->account);
    sta_scope_put_keys(scope, table, units);
    sta_account_free(budget->account, units);
    size_t first = table->column_count;
    sta_add_seconds(table, "start");
    sta_add_seconds(table, "end");
    sta_add_seconds(table, "time");
    for (size_t i = 0; i < count; i++) {
        int64_t ticks[] = {intervals[i].ts, intervals[i].te, intervals[i].te - intervals[i].ts};
        for (size_t c = 0; c < STA_COUNT_OF(ticks); c++)
            sta_table_set_number(&table->columns[first + c], i, sta_overlap_seconds(request, ticks[c]));
    }
    return 0;
}

static int check_memory(const struct sta_overlap_request *request, size_t count,
                        const struct sta_budget *budget, struct sta_error *err)
{
    size_t keys;
    sta_scope_names(&request->scope, &keys);
    size_t each = sizeof(struct sta_span) + (keys + 3) * 18;
    return sta_budget_memory(budget, (double)count * (double)each, "the table of intervals", err);
}

static int list_intervals(const struct sta_overlap_request *request,
                          const struct sta_overlap_binding *binding, const uint8_t *list_of_mask,
                          const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    struct sta_overlap_results results = {0};
    struct sta_span *intervals;
    size_t count;
    *table = (struct sta_table){0};
    int rc = find_intervals(list_of_mask, binding, &results, &intervals, &count, err);
    if (rc == 0)
        rc = check_memory(request, count, budget, err);
    if (rc == 0)
        rc = choose(request, results.scope, intervals, &count, budget, err);
    if (rc == 0)
        rc = put_table(request, results.scope, intervals, count, budget, table, err);
    if (rc == 0 && request->events > 0)
        rc = sta_overlap_fill(binding, intervals, count, list_of_mask[0] == 0, table, err);
    if (rc != 0)
        sta_table_fini(table);
    sta_account_free(budget->account, intervals);
    sta_overlap_results_fini(&results);
    return rc;
}

int sta_overlap_intervals(const struct sta_overlap_query *query, const struct sta_budget *budget,
                          struct sta_table *table, struct sta_error *err)
{
    struct sta_overlap_request request;
    struct sta_overlap_binding binding = {0};
    uint8_t *list_of_mask = NULL;
    int rc = sta_overlap_request_read(&request, query, true, err);
    if (rc == 0)
        rc = sta_where_masks(&request, &list_of_mask, err);
    if (rc == 0)
        rc = sta_overlap_binding_init(&binding, &request, budget, err);
    if (rc == 0)
        rc = list_intervals(&request, &binding, list_of_mask, budget, table, err);
    free(list_of_mask);
    sta_overlap_binding_fini(&binding);
    sta_overlap_request_release(&request);
    return rc;
}
