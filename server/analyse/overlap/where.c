/* Where a condition holds.
 *
 * The condition is evaluated once for each combination of sets, not for each moment: there are at most 65536.  The sweep gives the
 * stretches in which some set is active.  A condition that also holds when none is, such as "idle" or "not compute", is
 * found the other way round: what is gathered is where it does not hold, and the answer is what is left of each unit's span. */
#include "analyse/overlap/where.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
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
                    uint8_t *holds, struct sta_error *err)
{
    uint32_t count = 1u << masks->request->set_count;
    for (masks->first = 0; masks->first < count; masks->first += masks->rows) {
        masks->rows = STA_MIN(count - masks->first, STA_VECTOR_ROWS);
        struct sta_vector vector;
        int rc = sta_program_run(program, evaluator, masks->rows, masks_column, masks, &vector, err);
        if (rc != 0)
            return rc;
        for (uint32_t row = 0; row < masks->rows; row++)
            holds[masks->first + row] = vector.bools[vector.constant ? 0 : row];
    }
    return 0;
}

int sta_where_init(struct sta_where *where, const struct sta_overlap_request *request, struct sta_error *err)
{
    struct sta_program *program;
    int rc = sta_program_create(request->where, &program, err);
    if (rc != 0)
        return rc;
    struct masks masks = {.request = request};
    masks.values = sta_alloc_array((size_t)(request->set_count + 1) * STA_VECTOR_ROWS, 1);
    where->holds = sta_alloc_array((size_t)1 << request->set_count, 1);
    struct sta_evaluator *evaluator = sta_evaluator_create();
    rc = evaluate(&masks, program, evaluator, where->holds, err);
    sta_evaluator_destroy(evaluator);
    sta_program_destroy(program);
    free(masks.values);
    if (rc != 0)
        sta_where_fini(where);
    return rc;
}

void sta_where_fini(struct sta_where *where)
{
    free(where->holds);
    where->holds = NULL;
}

/* ---- stretches to intervals */

struct gathering {
    const struct sta_where *where;
    struct sta_pieces *pieces;
};

/* Keeps the stretches for which the condition differs from what it is when no set is active. */
static void take_stretch(void *context, unsigned worker, uint32_t unit, uint32_t mask, int64_t from,
                         int64_t to)
{
    const struct gathering *gathering = context;
    if (gathering->where->holds[mask] != gathering->where->holds[0])
        sta_pieces_add(gathering->pieces, worker, unit, 0, from, to);
}

static size_t bytes_held(const void *context)
{
    return sta_pieces_bytes(((const struct gathering *)context)->pieces) * 2;
}

/* Where each unit's intervals are: by unit, the first, and behind the last unit their number. */
static size_t *index_units(const struct sta_span *intervals, size_t count, uint32_t units)
{
    size_t *first = sta_alloc_array((size_t)units + 1, sizeof *first);
    for (size_t i = 0; i < count; i++)
        first[intervals[i].cell + 1]++;
    for (uint32_t u = 0; u < units; u++)
        first[u + 1] += first[u];
    return first;
}

static size_t put_interval(struct sta_span *to, size_t count, uint32_t unit, int64_t from, int64_t end)
{
    if (from >= end)
        return count;
    to[count] = (struct sta_span){.ts = from, .te = end, .cell = unit};
    return count + 1;
}

/* What is left of a unit's span. */
static size_t put_rest(struct sta_span *to, size_t count, const struct sta_unit_sums *sums, uint32_t unit,
                       const struct sta_span *taken, size_t taken_count)
{
    int64_t at = sums->start;
    for (size_t i = 0; i < taken_count; i++) {
        count = put_interval(to, count, unit, at, taken[i].ts);
        at = taken[i].te;
    }
    return put_interval(to, count, unit, at, sums->end);
}

static struct sta_span *in_order(const struct sta_overlap_results *results, const struct sta_span *joined,
                                 size_t joined_count, bool inverted, size_t *count)
{
    size_t *first = index_units(joined, joined_count, sta_scope_unit_count(results->scope));
    struct sta_span *intervals = sta_alloc_array(joined_count + results->unit_count + 1, sizeof *intervals);
    *count = 0;
    for (uint32_t i = 0; i < results->unit_count; i++) {
        uint32_t unit = results->units[i];
        const struct sta_span *mine = joined + first[unit];
        size_t mine_count = first[unit + 1] - first[unit];
        if (inverted) {
            *count = put_rest(intervals, *count, &results->sums[unit], unit, mine, mine_count);
            continue;
        }
        if (mine_count > 0)
            memcpy(intervals + *count, mine, mine_count * sizeof *mine);
        *count += mine_count;
    }
    free(first);
    return intervals;
}

int sta_where_intervals(const struct sta_where *where, const struct sta_overlap_binding *binding,
                        const struct sta_budget *budget, struct sta_overlap_results *results,
                        struct sta_span **intervals, size_t *count, struct sta_error *err)
{
    struct gathering gathering = {where, sta_pieces_create(1, sta_budget_workers(budget))};
    struct sta_overlap_stretches stretches = {take_stretch, bytes_held, &gathering};
    int rc = sta_overlap_pass(binding, &stretches, budget, results, err);
    if (rc == 0) {
        size_t joined_count;
        struct sta_span *joined = sta_pieces_join(gathering.pieces, &joined_count);
        *intervals = in_order(results, joined, joined_count, where->holds[0], count);
        free(joined);
    }
    sta_pieces_destroy(gathering.pieces);
    return rc;
}
