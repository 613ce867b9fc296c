/* From what the pass gathered to groups.
 *
 * DESIGN.  All aggregations come out by view types and signature, so the sizes and members of a group stand
 * where the groups' own walk is: one pass over each brings them together.  Nothing depends on the number of
 * workers, as aggregations do not. */
#include "analyse/compatible/hlm.h"

#include <math.h>
#include <string.h>

#include "analyse/compatible/gather.h"
#include "analyse/exec/budget.h"
#include "common/memory.h"

bool sta_layer_has_files(const struct sta_layer *layer)
{
    return strstr(layer->name, "posix") != NULL;
}

/* ---- groups */

/* What groups are made from. */
struct making {
    struct sta_hlm *hlm;
    struct sta_gather *gather;
    const struct sta_budget *budget;
    struct sta_aggregation_table groups;
    struct sta_pool scratch;
};

static int collect(struct making *making, int gathered, struct sta_aggregation_table *table,
                   struct sta_error *err)
{
    struct sta_aggregation **aggregation = &making->gather->aggregations[gathered];
    int rc = sta_aggregation_collect(*aggregation, table, err);
    sta_aggregation_destroy(*aggregation);
    *aggregation = NULL;
    return rc;
}

/* A value of a key: a code or a bin, each in 32 bits. */
static uint32_t value_at(const struct sta_vector *key, size_t row)
{
    return key->type == STA_TYPE_TEXT ? key->codes[row] : (uint32_t)key->integers[row];
}

static int make_keys(struct making *making, struct sta_error *err)
{
    struct sta_hlm *hlm = making->hlm;
    uint32_t *ranks[STA_AXES] = {NULL};
    size_t key = 0;
    for (int axis = 0; axis < STA_AXES; axis++) {
        if (!hlm->axes->grouped[axis])
            continue;
        ranks[axis] =
            sta_pool_take(&making->scratch, hlm->count, sizeof *ranks[axis], "the high-level metrics", err);
        if (ranks[axis] == NULL)
            return err->status;
        for (size_t g = 0; g < hlm->count; g++)
            ranks[axis][g] = value_at(&making->groups.keys[key], g);
        key++;
        int rc = sta_axes_rank(hlm->axes, (enum sta_axis)axis, ranks[axis], hlm->count, &hlm->pool, err);
        if (rc != 0)
            return rc;
    }
    int rc = sta_axes_pack(hlm->axes, err);
    for (int axis = 0; rc == 0 && axis < STA_AXES; axis++)
        for (size_t g = 0; ranks[axis] != NULL && g < hlm->count; g++)
            hlm->groups[g].key |= (uint64_t)ranks[axis][g] << hlm->axes->shift[axis];
    return rc;
}

/* The reference's sums end here; no more fits what it adds up. */
#define MOST_SECONDS 0x1p44

static int make_groups(struct making *making, struct sta_error *err)
{
    struct sta_hlm *hlm = making->hlm;
    const struct sta_aggregation_table *table = &making->groups;
    int rc = collect(making, STA_GATHER_TIMES, &making->groups, err);
    if (rc != 0)
        return rc;
    hlm->count = table->rows;
    hlm->groups =
        sta_pool_take(&hlm->pool, hlm->count + 1, sizeof *hlm->groups, "the high-level metrics", err);
    if (hlm->groups == NULL)
        return err->status;
    for (size_t g = 0; g < hlm->count; g++) {
        double time = table->values[1].numbers[g];
        hlm->groups[g] = (struct sta_group){.signature = table->keys[making->gather->key_count - 1].codes[g],
                                            .sizes = STA_NO_SIZES,
                                            .count = table->values[0].integers[g],
                                            .time = time < MOST_SECONDS ? time : INFINITY};
        hlm->groups_of[hlm->groups[g].signature]++;
    }
    return make_keys(making, err);
}

/* ---- what groups hold by a further key */

static bool same_keys(const struct sta_aggregation_table *a, size_t i, const struct sta_aggregation_table *b,
                      size_t j, size_t key_count)
{
    for (size_t k = 0; k < key_count; k++)
        if (value_at(&a->keys[k], i) != value_at(&b->keys[k], j))
            return false;
    return true;
}

/* The group of a row.  @group: that of the row before it */
static size_t find_group(const struct making *making, const struct sta_aggregation_table *table, size_t row,
                         size_t group)
{
    while (!same_keys(&making->groups, group, table, row, making->gather->key_count))
        group++;
    return group;
}

static int add_sizes(struct making *making, const struct sta_aggregation_table *table, struct sta_error *err)
{
    struct sta_hlm *hlm = making->hlm;
    const size_t keys = making->gather->key_count;
    size_t count = 0;
    for (size_t row = 0; row < table->rows; row++)
        count += row == 0 || !same_keys(table, row, table, row - 1, keys);
    hlm->sizes = sta_pool_take(&hlm->pool, count + 1, sizeof *hlm->sizes, "the high-level metrics", err);
    if (hlm->sizes == NULL)
        return err->status;
    count = 0;
    for (size_t row = 0, group = 0; row < table->rows; row++) {
        if (sta_budget_check_step(making->budget, row, err) != 0)
            return err->status;
        group = find_group(making, table, row, group);
        if (hlm->groups[group].sizes == STA_NO_SIZES)
            hlm->groups[group].sizes = (uint32_t)count++;
        struct sta_group_sizes *sizes = &hlm->sizes[hlm->groups[group].sizes];
        bool fits = table->values[1].missing == NULL || !table->values[1].missing[row];
        sizes->size = sta_bounded_add(sizes->size, fits ? table->values[1].integers[row] : STA_TOO_LARGE);
        sizes->bins[table->keys[keys].integers[row]] = table->values[0].integers[row];
    }
    return 0;
}

static int add_members(struct making *making, enum sta_axis axis, const struct sta_aggregation_table *table,
                       struct sta_error *err)
{
    struct sta_hlm *hlm = making->hlm;
    struct sta_hlm_members *members = &hlm->members[axis];
    const struct sta_vector *values = &table->keys[making->gather->key_count];
    size_t count = 0, group = 0;
    members->start = sta_pool_take(&hlm->pool, hlm->count + 1, sizeof *members->start, "sets", err);
    members->items = sta_pool_take(&hlm->pool, table->rows + 1, sizeof *members->items, "sets", err);
    members->missing = sta_pool_take(&hlm->pool, hlm->count + 1, sizeof *members->missing, "sets", err);
    if (members->start == NULL || members->items == NULL || members->missing == NULL)
        return err->status;
    for (size_t row = 0; row < table->rows; row++) {
        size_t next = find_group(making, table, row, group);
        if (sta_budget_check_step(making->budget, row, err) != 0)
            return err->status;
        while (group < next)
            members->start[++group] = count;
        if (value_at(values, row) == STA_NO_CODE)
            members->missing[group] = 1;
        else
            members->items[count++] = value_at(values, row);
    }
    while (group < hlm->count)
        members->start[++group] = count;
    return sta_axes_rank(hlm->axes, axis, members->items, count, &hlm->pool, err);
}

static int add_gathered(struct making *making, int gathered, struct sta_error *err)
{
    struct sta_aggregation_table table = {0};
    if (making->gather->aggregations[gathered] == NULL)
        return 0;
    int rc = collect(making, gathered, &table, err);
    if (rc == 0)
        rc = gathered == STA_GATHER_SIZES
                 ? add_sizes(making, &table, err)
                 : add_members(making, (enum sta_axis)(gathered - STA_GATHER_AXES), &table, err);
    sta_aggregation_table_fini(&table);
    return rc;
}

/* ---- all of it */

static int keep_signatures(struct sta_hlm *hlm, const struct sta_signatures *signatures,
                           struct sta_error *err)
{
    hlm->signatures =
        sta_pool_take(&hlm->pool, signatures->count + 1, sizeof *hlm->signatures, "functions", err);
    hlm->groups_of =
        sta_pool_take(&hlm->pool, signatures->count + 1, sizeof *hlm->groups_of, "functions", err);
    if (hlm->signatures == NULL || hlm->groups_of == NULL)
        return err->status;
    for (size_t s = 0; s < signatures->count; s++)
        hlm->signatures[s] = signatures->items[s];
    hlm->signature_count = (uint32_t)signatures->count;
    return 0;
}

static int make(struct sta_hlm *hlm, struct sta_gather *gather, const struct sta_budget *budget,
                struct sta_error *err)
{
    struct making making = {.hlm = hlm, .gather = gather, .budget = budget, .scratch = {.budget = budget}};
    int rc = keep_signatures(hlm, &gather->signatures, err);
    if (rc == 0)
        rc = make_groups(&making, err);
    for (int g = STA_GATHER_SIZES; rc == 0 && g < STA_GATHERS; g++)
        rc = add_gathered(&making, g, err);
    sta_aggregation_table_fini(&making.groups);
    sta_pool_fini(&making.scratch);
    return rc;
}

int sta_hlm_init(struct sta_hlm *hlm, const struct sta_bound_query *bound, struct sta_axes *axes,
                 const struct sta_hlm_options *options, const struct sta_budget *budget,
                 struct sta_error *err)
{
    struct sta_gather gather;
    *hlm = (struct sta_hlm){.bound = bound, .axes = axes, .pool = {.budget = budget}};
    int rc = sta_gather_run(&gather, hlm, options, budget, err);
    if (rc == 0) {
        sta_gather_count(&gather, &hlm->counts);
        rc = make(hlm, &gather, budget, err);
    }
    sta_gather_fini(&gather);
    return rc;
}

void sta_hlm_fini(struct sta_hlm *hlm)
{
    sta_pool_fini(&hlm->pool);
    *hlm = (struct sta_hlm){0};
}
