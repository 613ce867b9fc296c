/* Where a condition holds.
 *
 * The condition is evaluated once for each combination of sets, not for each moment: there are at most
 * 65536. */
#include "analyse/overlap/where.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

/* ---- combinations */

struct masks {
    const struct sta_overlap_request *request;
    uint32_t first, rows; /* of the masks being evaluated */
    uint8_t *values;      /* of the column asked for last, one array per column */
};

static int masks_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    (void)err;
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

/* ---- intervals to intervals */

static int list_intervals(const struct sta_joined *joined, const struct sta_overlap_results *results,
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

int sta_where_intervals(const uint8_t *list_of_mask, const struct sta_overlap_binding *binding,
                        struct sta_overlap_results *results, struct sta_span **intervals, size_t *count,
                        struct sta_error *err)
{
    const struct sta_charge_wants wants = {.longest = binding->request->longest};
    struct sta_joined joined = {0};
    *intervals = NULL;
    int rc = sta_charge_intervals(list_of_mask, 1, &wants, binding, results, &joined, err);
    if (rc == 0)
        rc = list_intervals(&joined, results, binding->budget, intervals, count, err);
    sta_joined_fini(&joined);
    return rc;
}
