/* Cuts the time axis where about `slice_rows` rows have passed, taking the rows of a row group as spread
 * evenly over its time.
 *
 * Many segments may cover the same time, so cutting at the ends of row groups would give slices of very
 * different size.  The estimate only steers sizes: a slice's content is found exactly, by searching each
 * member row group for its bounds.
 *
 * Each slice lists the row groups that reach into it, so a cut costs an entry for each row group that is open
 * there. Where more than STA_SLICE_ROW_GROUPS are open, slices are larger in proportion: the plan grows with
 * row groups and rows, not with slices times row groups, when all files span the whole run. */
#include "analyse/operators/ordered/slices.h"

#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/operators/keys.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

static const char WHAT[] = "the plan of slices of time";

/* At a time a row group begins (open 1) or ends (-1), and with it so many rows per tick; `rows` fall there at
 * once. */
struct change {
    int64_t at;
    double density, rows;
    int open;
};

static int compare_changes(const void *a, const void *b, void *context)
{
    const struct change *x = a;
    const struct change *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* NULL when it fails. */
static struct change *changes_of(const struct sta_ordered_row_group *row_groups, size_t row_group_count,
                                 const struct sta_budget *budget, struct sta_error *err)
{
    struct change *changes =
        sta_account_alloc(budget->account, row_group_count * 2 + 1, sizeof *changes, WHAT, err);
    for (size_t i = 0; changes != NULL && i < row_group_count; i++) {
        double width = (double)row_groups[i].ts_max - (double)row_groups[i].ts_min;
        double rows = (double)row_groups[i].rows;
        double density = width > 0 ? rows / width : 0;
        changes[i * 2] = (struct change){row_groups[i].ts_min, density, width > 0 ? 0 : rows, 1};
        changes[i * 2 + 1] = (struct change){row_groups[i].ts_max, -density, 0, -1};
    }
    if (changes == NULL ||
        sta_sort(budget, changes, row_group_count * 2, sizeof *changes, compare_changes, NULL, err) == 0)
        return changes;
    sta_account_free(budget->account, changes);
    return NULL;
}

struct cuts {
    int64_t *bounds;
    size_t count, capacity;
    const struct sta_budget *budget;
};

/* Keeps room for the last bound. */
static int add_cut(struct cuts *cuts, int64_t at, struct sta_error *err)
{
    if (cuts->count > 0 && at <= cuts->bounds[cuts->count - 1])
        return 0;
    int rc =
        STA_ACCOUNT_GROW(cuts->budget->account, cuts->bounds, cuts->capacity, cuts->count + 2, WHAT, err);
    if (rc == 0)
        cuts->bounds[cuts->count++] = at;
    return rc == 0 ? sta_budget_check_step(cuts->budget, cuts->count, err) : rc;
}

/* Cuts between two changes.  @rows: those since the last cut, before and after. */
static int cut_interval(struct cuts *cuts, int64_t from, int64_t to, double density, double *rows,
                        double slice_rows, struct sta_error *err)
{
    double end = (double)to - (double)from;
    double rest = *rows + density * end;
    double done = density > 0 ? -*rows / density : 0; /* where the last cut would lie at this density */
    int rc = 0;
    while (density > 0 && rest >= slice_rows && rc == 0) {
        done += slice_rows / density;
        double step = STA_MIN(STA_MAX(done, 0) + 1, end);
        rc = add_cut(cuts, from + (int64_t)step, err);
        rest -= slice_rows;
    }
    *rows = rest;
    return rc;
}

/* Goes through the changes in order of time. */
static int cut_all(struct cuts *cuts, const struct change *changes, size_t count, size_t slice_rows,
                   struct sta_error *err)
{
    double density = 0, rows = 0, least = (double)slice_rows;
    int64_t open = 0; /* row groups */
    int rc = add_cut(cuts, INT64_MIN, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (i > 0)
            rc = cut_interval(cuts, changes[i - 1].at, changes[i].at, density, &rows, least, err);
        if (rc == 0 && rows + changes[i].rows > least) {
            rc = add_cut(cuts, changes[i].at, err);
            rows = 0;
        }
        density += changes[i].density;
        rows += changes[i].rows;
        open += changes[i].open;
        least = (double)STA_MAX(slice_rows, (size_t)open * (slice_rows / STA_SLICE_ROW_GROUPS));
    }
    return rc;
}

static int cut(struct sta_slice_plan *plan, const struct sta_ordered_row_group *row_groups,
               size_t row_group_count, size_t slice_rows, const struct sta_budget *budget,
               struct sta_error *err)
{
    struct change *changes = changes_of(row_groups, row_group_count, budget, err);
    struct cuts cuts = {.budget = budget};
    int rc = changes == NULL ? err->status : cut_all(&cuts, changes, row_group_count * 2, slice_rows, err);
    sta_account_free(budget->account, changes);
    plan->bounds = cuts.bounds;
    plan->slice_count = cuts.count;
    if (rc == 0)
        plan->bounds[cuts.count] = INT64_MAX;
    return rc;
}

static int order_row_groups(struct sta_slice_plan *plan, const struct sta_ordered_row_group *row_groups,
                            size_t row_group_count, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_word_pair *pairs =
        sta_account_alloc(budget->account, 2 * row_group_count + 1, sizeof *pairs, WHAT, err);
    plan->order = sta_account_alloc(budget->account, row_group_count + 1, sizeof *plan->order, WHAT, err);
    int rc = pairs == NULL || plan->order == NULL ? err->status : STA_OK;
    for (size_t i = 0; rc == 0 && i < row_group_count; i++)
        pairs[i] = (struct sta_word_pair){sta_order_integer(row_groups[i].ts_min), i};
    if (rc == 0)
        rc = sta_radix_failed(
            sta_radix_sort_pairs(pairs, pairs + row_group_count, row_group_count, budget->cancel),
            "row groups", row_group_count, err);
    for (size_t i = 0; rc == 0 && i < row_group_count; i++)
        plan->order[i] = (uint32_t)pairs[i].minor;
    sta_account_free(budget->account, pairs);
    return rc;
}

static int alloc_uses(struct sta_slice_plan *plan, size_t row_group_count, struct sta_account *account,
                      struct sta_error *err)
{
    plan->reads = sta_account_calloc(account, plan->slice_count, sizeof *plan->reads, WHAT, err);
    plan->first_member =
        sta_account_calloc(account, plan->slice_count + 1, sizeof *plan->first_member, WHAT, err);
    plan->uses = sta_account_calloc(account, row_group_count + 1, sizeof *plan->uses, WHAT, err);
    plan->first_slice =
        sta_account_calloc(account, row_group_count + 1, sizeof *plan->first_slice, WHAT, err);
    plan->first_use = sta_account_calloc(account, row_group_count + 1, sizeof *plan->first_use, WHAT, err);
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
static int assign_slice(struct sta_slice_plan *plan, const struct sta_ordered_row_group *row_groups,
                        size_t row_group_count, size_t s, struct open_row_groups *open,
                        const struct sta_budget *budget, struct sta_error *err)
{
    bool last = s + 1 == plan->slice_count;
    size_t member = plan->first_member[s];
    while (open->read < row_group_count &&
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

static int assign(struct sta_slice_plan *plan, const struct sta_ordered_row_group *row_groups,
                  size_t row_group_count, const struct sta_budget *budget, struct sta_error *err)
{
    struct open_row_groups open = {
        .items = sta_account_alloc(budget->account, row_group_count + 1, sizeof *open.items, WHAT, err)};
    int rc = open.items == NULL ? err->status : alloc_uses(plan, row_group_count, budget->account, err);
    for (size_t s = 0; s < plan->slice_count && rc == 0; s++)
        rc = assign_slice(plan, row_groups, row_group_count, s, &open, budget, err);
    sta_account_free(budget->account, open.items);
    return rc;
}

int sta_slice_plan_init(struct sta_slice_plan *plan, const struct sta_ordered_row_group *row_groups,
                        size_t row_group_count, size_t slice_rows, const struct sta_budget *budget,
                        struct sta_error *err)
{
    *plan = (struct sta_slice_plan){0};
    int rc = order_row_groups(plan, row_groups, row_group_count, budget, err);
    if (rc == 0)
        rc = cut(plan, row_groups, row_group_count, slice_rows, budget, err);
    if (rc == 0)
        rc = assign(plan, row_groups, row_group_count, budget, err);
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
