/* Cuts the time axis where about `slice_rows` rows have passed, taking the rows of a row group as spread
 * evenly over its time: at some points, a sixteenth of a slice apart.
 *
 * Many segments may cover the same time, so cutting at the ends of row groups would give slices of very
 * different size.  The estimate only steers sizes: a slice's content is found exactly, by searching each
 * member row group for its bounds.
 *
 * Each slice lists the row groups that reach into it, so a cut costs an entry for each row group that is open
 * there. Where more than STA_SLICE_ROW_GROUPS are open, slices are larger in proportion: the plan grows with
 * row groups and rows, not with slices times row groups, when all files span the whole run. */
#include "analyse/operators/ordered/ordered_private.h"

#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/operators/keys.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

static const char WHAT[] = "the plan of slices of time";

struct planning {
    struct sta_slice_plan *plan;
    const struct sta_ordered_row_group *row_groups;
    size_t row_group_count, slice_rows;
    const struct sta_budget *budget;
};

/* The rows of a row group lie at points of time, as many at each: pairs of a time and the number of the row
 * group, times FLAGS.  Its first point OPENS it, its last CLOSES it. */
enum { OPENS = 1, CLOSES = 2, FLAGS = 4 };

static size_t count_points(const struct planning *planning, size_t row_group)
{
    return 2 + planning->row_groups[row_group].rows / STA_MAX(planning->slice_rows / 16, (size_t)1);
}

static struct sta_word_pair *put_points(const struct planning *planning, size_t number,
                                        struct sta_word_pair *points)
{
    const struct sta_ordered_row_group *row_group = &planning->row_groups[number];
    const uint64_t low = sta_order_integer(row_group->ts_min), high = sta_order_integer(row_group->ts_max);
    const size_t last = count_points(planning, number) - 1;
    for (size_t i = 0; i < last; i++)
        points[i] = (struct sta_word_pair){low + (high - low) / last * i, number * FLAGS};
    points[0].minor += OPENS;
    points[last] = (struct sta_word_pair){high, number * FLAGS + CLOSES};
    return points + last + 1;
}

/* Of all row groups, in order of time.  NULL when it fails. */
static struct sta_word_pair *points_of(const struct planning *planning, size_t *count, struct sta_error *err)
{
    struct sta_account *account = planning->budget->account;
    *count = 0;
    for (size_t i = 0; i < planning->row_group_count; i++)
        *count += count_points(planning, i);
    struct sta_word_pair *points = sta_account_alloc(account, 2 * *count + 1, sizeof *points, WHAT, err);
    struct sta_word_pair *end = points;
    for (size_t i = 0; points != NULL && i < planning->row_group_count; i++)
        end = put_points(planning, i, end);
    if (points == NULL ||
        sta_radix_failed(sta_radix_sort_pairs(points, end, *count, planning->budget->cancel),
                         "points of time", *count, err) == STA_OK)
        return points;
    sta_account_free(account, points);
    return NULL;
}

/* A slice begins at a point before which there are as many rows as it aims at.  Row groups are read in the
 * order in which they open. */
static int cut(const struct planning *planning, const struct sta_word_pair *points, size_t count,
               struct sta_error *err)
{
    struct sta_account *account = planning->budget->account;
    struct sta_slice_plan *plan = planning->plan;
    size_t capacity = 0, opened = 0, closed = 0, rows = 0; /* rows: since the last cut */
    int rc = STA_ACCOUNT_GROW(account, plan->bounds, capacity, 2, WHAT, err);
    if (rc == 0)
        plan->bounds[plan->slice_count++] = INT64_MIN;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const int64_t at = sta_unorder_integer(points[i].major);
        const size_t number = points[i].minor / FLAGS, open = opened - STA_MIN(opened, closed);
        const size_t least =
            STA_MAX(planning->slice_rows, open * (planning->slice_rows / STA_SLICE_ROW_GROUPS));
        if (rows >= least && at > plan->bounds[plan->slice_count - 1]) {
            rc = STA_ACCOUNT_GROW(account, plan->bounds, capacity, plan->slice_count + 2, WHAT, err);
            if (rc != 0)
                break;
            plan->bounds[plan->slice_count++] = at;
            rows = 0;
        }
        rows += planning->row_groups[number].rows / count_points(planning, number) + 1;
        if (points[i].minor & OPENS)
            plan->order[opened++] = (uint32_t)number;
        closed += (points[i].minor & CLOSES) != 0;
        rc = sta_budget_check_step(planning->budget, i, err);
    }
    if (rc == 0)
        plan->bounds[plan->slice_count] = INT64_MAX;
    return rc;
}

static int cut_and_order(const struct planning *planning, struct sta_error *err)
{
    struct sta_account *account = planning->budget->account;
    size_t count;
    struct sta_word_pair *points = points_of(planning, &count, err);
    planning->plan->order =
        sta_account_alloc(account, planning->row_group_count + 1, sizeof(uint32_t), WHAT, err);
    int rc =
        points != NULL && planning->plan->order != NULL ? cut(planning, points, count, err) : err->status;
    sta_account_free(account, points);
    return rc;
}

static int alloc_uses(const struct planning *planning, struct sta_error *err)
{
    struct sta_slice_plan *plan = planning->plan;
    struct sta_account *account = planning->budget->account;
    const size_t row_groups = planning->row_group_count + 1;
    plan->reads = sta_account_calloc(account, plan->slice_count, sizeof *plan->reads, WHAT, err);
    plan->first_member =
        sta_account_calloc(account, plan->slice_count + 1, sizeof *plan->first_member, WHAT, err);
    plan->uses = sta_account_calloc(account, row_groups, sizeof *plan->uses, WHAT, err);
    plan->first_slice = sta_account_calloc(account, row_groups, sizeof *plan->first_slice, WHAT, err);
    plan->first_use = sta_account_calloc(account, row_groups, sizeof *plan->first_use, WHAT, err);
    bool all = plan->reads != NULL && plan->first_member != NULL && plan->uses != NULL &&
               plan->first_slice != NULL && plan->first_use != NULL;
    return all ? 0 : err->status;
}

/* The row groups that have begun and not ended, while slices are gone through. */
struct open_row_groups {
    uint32_t *items;
    size_t count, read; /* read: of plan->order */
    size_t member_capacity;
};

static int compare_numbers(const void *a, const void *b, void *context)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    (void)context;
    return (x > y) - (x < y);
}

/* By number, in which order equal records are to be. */
static int order_open(struct open_row_groups *open, const struct sta_budget *budget, struct sta_error *err)
{
    for (size_t i = 1; i < open->count; i++)
        if (open->items[i] < open->items[i - 1])
            return sta_sort(budget, open->items, open->count, sizeof *open->items, compare_numbers, NULL,
                            err);
    return 0;
}

/* Members of a slice: the row groups that began before its end and have not ended before its start. */
static int assign_slice(const struct planning *planning, size_t s, struct open_row_groups *open,
                        struct sta_error *err)
{
    struct sta_slice_plan *plan = planning->plan;
    const struct sta_ordered_row_group *row_groups = planning->row_groups;
    const struct sta_budget *budget = planning->budget;
    bool last = s + 1 == plan->slice_count;
    size_t member = plan->first_member[s];
    while (open->read < planning->row_group_count &&
           (last || row_groups[plan->order[open->read]].ts_min < plan->bounds[s + 1]))
        open->items[open->count++] = plan->order[open->read++];
    int rc = STA_ACCOUNT_GROW(budget->account, plan->members, open->member_capacity, member + open->count,
                              WHAT, err);
    if (rc == 0)
        rc = order_open(open, budget, err);
    if (rc != 0)
        return rc;
    size_t still_open = 0;
    for (size_t i = 0; i < open->count; i++) {
        uint32_t row_group = open->items[i];
        plan->members[member++] = row_group;
        plan->first_slice[row_group] = plan->uses[row_group] == 0 ? s : plan->first_slice[row_group];
        plan->uses[row_group]++;
        if (!last && row_groups[row_group].ts_max >= plan->bounds[s + 1])
            open->items[still_open++] = row_group;
    }
    open->count = still_open;
    plan->reads[s] = open->read;
    plan->first_member[s + 1] = member;
    return sta_budget_check(budget, err);
}

static int assign(const struct planning *planning, struct sta_error *err)
{
    struct sta_account *account = planning->budget->account;
    struct open_row_groups open = {
        .items = sta_account_alloc(account, planning->row_group_count + 1, sizeof *open.items, WHAT, err)};
    int rc = open.items == NULL ? err->status : alloc_uses(planning, err);
    for (size_t s = 0; s < planning->plan->slice_count && rc == 0; s++)
        rc = assign_slice(planning, s, &open, err);
    sta_account_free(account, open.items);
    return rc;
}

int sta_slice_plan_init(struct sta_slice_plan *plan, const struct sta_ordered_row_group *row_groups,
                        size_t row_group_count, size_t slice_rows, const struct sta_budget *budget,
                        struct sta_error *err)
{
    const struct planning planning = {plan, row_groups, row_group_count, slice_rows, budget};
    *plan = (struct sta_slice_plan){0};
    int rc = cut_and_order(&planning, err);
    if (rc == 0)
        rc = assign(&planning, err);
    for (size_t i = 0; i < row_group_count && rc == 0; i++)
        plan->first_use[i + 1] = plan->first_use[i] + plan->uses[i];
    return rc;
}

void sta_slice_plan_fini(struct sta_slice_plan *plan, struct sta_account *account)
{
    void *const all[] = {plan->order,   plan->bounds, plan->reads,       plan->first_member,
                         plan->members, plan->uses,   plan->first_slice, plan->first_use};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(account, all[i]);
    *plan = (struct sta_slice_plan){0};
}
