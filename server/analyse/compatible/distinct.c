/* How many distinct values of other view types a row of a layer view has.
 *
 * Of view types that are not grouped by, the union of the sets of its rows; of those that are, over its
 * units: of times the distinct sums, of files the distinct joined names (quirk of metrics.md section 6),
 * where a unit is not a row.  A joined name is known by its hash. */
#include <xxhash.h>

#include "analyse/compatible/layer_view.h"
#include "analyse/exec/budget.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

/* ---- sets */

/* Counts a set's values that no earlier set of the same row had. */
static size_t count_new(const struct sta_hlm_members *members, uint32_t group, uint32_t *mark, uint32_t stamp)
{
    size_t count = 0;
    for (size_t i = members->start[group]; i < members->start[group + 1]; i++) {
        count += mark[members->items[i]] != stamp;
        mark[members->items[i]] = stamp;
    }
    return count;
}

static size_t count_set(const struct sta_layer_view *view, enum sta_axis axis,
                        const struct sta_main_metric *metric, size_t at, uint32_t *mark)
{
    const struct sta_main_rows *rows = &view->rows;
    const struct sta_by_rows *by_rows = &view->by_rows;
    size_t count = 0;
    uint32_t from = by_rows->unit_start[by_rows->value_start[at]],
             to = by_rows->unit_start[by_rows->value_start[at + 1]];
    for (uint32_t i = from; i < to; i++) {
        uint32_t row = by_rows->order[i];
        if (!sta_row_has_set(metric, row, axis))
            continue;
        for (uint32_t g = rows->start[row]; g < rows->start[row + 1]; g++)
            if (sta_main_takes(metric, rows->groups[g]))
                count += count_new(&rows->hlm->members[axis], rows->groups[g], mark, (uint32_t)at + 1);
    }
    return count;
}

static int count_sets(double *out, const struct sta_layer_view *view, enum sta_axis axis,
                      const struct sta_main_metric *metric, struct sta_error *err)
{
    size_t values = view->rows.hlm->axes->count[axis];
    uint32_t *mark = sta_account_calloc(view->budget->account, values + 1, sizeof *mark, "sets", err);
    size_t work = 0;
    int rc = mark == NULL ? err->status : 0;
    for (size_t at = 0; rc == 0 && at < view->by_rows.count; at++) {
        out[at] = (double)count_set(view, axis, metric, at, mark);
        rc = sta_budget_check_work(view->budget, &work, (size_t)out[at], err);
    }
    sta_account_free(view->budget->account, mark);
    return rc;
}

/* ---- grouped view types */

static int count_distinct(uint64_t *words, uint64_t *scratch, size_t count, const _Atomic bool *cancel,
                          double *distinct)
{
    bool ascending = true;
    for (size_t i = 1; i < count && ascending; i++)
        ascending = words[i] >= words[i - 1];
    int rc = ascending ? 0 : sta_radix_sort(words, scratch, count, 1, false, cancel);
    *distinct = count > 0;
    for (size_t i = 1; i < count; i++)
        *distinct += words[i] != words[i - 1];
    return rc;
}

/* What a unit's values of an axis come to. */
static uint64_t sum_times(const struct sta_layer_view *view, uint32_t unit)
{
    uint64_t sum = 0;
    for (uint32_t i = view->by_rows.unit_start[unit]; i < view->by_rows.unit_start[unit + 1]; i++)
        sum += view->rows.hlm->axes->values[STA_AXIS_TIME][sta_axes_of(
            view->rows.hlm->axes, STA_AXIS_TIME, view->rows.keys[view->by_rows.order[i]])];
    return sum;
}

static uint64_t join_files(const struct sta_layer_view *view, uint32_t unit, XXH3_state_t *state)
{
    const struct sta_axes *axes = view->rows.hlm->axes;
    XXH3_64bits_reset(state);
    for (uint32_t i = view->by_rows.unit_start[unit]; i < view->by_rows.unit_start[unit + 1]; i++) {
        uint64_t key = view->rows.keys[view->by_rows.order[i]];
        struct sta_text name = sta_axes_text(axes, STA_AXIS_FILE, sta_axes_of(axes, STA_AXIS_FILE, key));
        XXH3_64bits_update(state, name.bytes, name.length);
    }
    return XXH3_64bits_digest(state);
}

static uint64_t value_of(const struct sta_layer_view *view, enum sta_axis axis, uint32_t unit,
                         XXH3_state_t *state)
{
    uint32_t first = view->by_rows.order[view->by_rows.unit_start[unit]];
    if (axis == STA_AXIS_TIME)
        return sum_times(view, unit);
    if (axis == STA_AXIS_FILE && !sta_by_units_are_rows(view->by))
        return join_files(view, unit, state);
    return sta_axes_of(view->rows.hlm->axes, axis, view->rows.keys[first]);
}

static int count_values(double *out, const struct sta_layer_view *view, enum sta_axis axis,
                        struct sta_error *err)
{
    const struct sta_by_rows *by_rows = &view->by_rows;
    const size_t most = by_rows->unit_count + 1;
    size_t work = 0;
    uint64_t *words =
        sta_account_alloc(view->budget->account, most, 2 * sizeof *words, "distinct values", err);
    XXH3_state_t *state = XXH3_createState();
    int rc = words == NULL ? err->status : 0;
    if (rc == 0 && state == NULL)
        rc = sta_fail(err, STA_ENOMEM, "no memory to count values");
    for (size_t at = 0; rc == 0 && at < by_rows->count; at++) {
        size_t count = 0;
        for (uint32_t unit = by_rows->value_start[at]; unit < by_rows->value_start[at + 1]; unit++)
            words[count++] = value_of(view, axis, unit, state);
        rc = sta_radix_failed(count_distinct(words, words + most, count, view->budget->cancel, &out[at]),
                              "values", count, err);
        if (rc == 0)
            rc = sta_budget_check_work(view->budget, &work, count, err);
    }
    XXH3_freeState(state);
    sta_account_free(view->budget->account, words);
    return rc;
}

int sta_layer_distinct(struct sta_layer_metric *out, const struct sta_layer_view *view,
                       const struct sta_main_metric *metric, struct sta_error *err)
{
    int rc = 0;
    for (int axis = 0; rc == 0 && axis < STA_AXES; axis++) {
        double *cells = out->cells[STA_MEASURE_AXES + axis][STA_STAT_NUNIQUE];
        if (cells == NULL)
            continue;
        rc = view->rows.hlm->axes->grouped[axis] ? count_values(cells, view, (enum sta_axis)axis, err)
                                                 : count_sets(cells, view, (enum sta_axis)axis, metric, err);
    }
    double *own = out->cells[STA_MEASURE_VIEW][STA_STAT_NUNIQUE];
    for (size_t at = 0; own != NULL && at < out->rows; at++)
        own[at] = 1;
    return rc;
}
