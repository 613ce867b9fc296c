/* Groups to rows of a layer, and rows to its metrics. */
#include "analyse/compatible/main_view.h"

#include <string.h>

#include "analyse/compatible/sum.h"
#include "analyse/exec/budget.h"
#include "common/memory.h"

bool sta_metric_has_sizes(const struct sta_layer *layer, uint32_t metric)
{
    static const char *const sized[] = {"data", "read", "write"};
    if (!sta_layer_has_files(layer) || metric == STA_LAYER_ITSELF)
        return sta_layer_has_files(layer);
    for (size_t i = 0; i < STA_COUNT_OF(sized); i++)
        if (strcmp(layer->metrics[metric].name, sized[i]) == 0)
            return true;
    return false;
}

/* By signature, whether its events belong to a metric; NULL when memory is short.  @groups: how many do */
static uint8_t *find_signatures(struct sta_pool *pool, const struct sta_hlm *hlm, uint32_t layer,
                                uint32_t metric, size_t *groups, struct sta_error *err)
{
    const struct sta_classes *classes = hlm->bound->classes;
    uint8_t *takes = sta_pool_take(pool, (size_t)hlm->signature_count + 1, 1, "functions", err);
    uint32_t bit = 0;
    if (layer != STA_NO_LAYER)
        bit = metric == STA_LAYER_ITSELF ? layer : sta_classes_metric_bit(classes, layer, metric);
    *groups = 0;
    for (uint32_t s = 0; takes != NULL && s < hlm->signature_count; s++) {
        takes[s] = layer == STA_NO_LAYER || sta_class_has(&hlm->signatures[s].class, bit);
        *groups += takes[s] ? hlm->groups_of[s] : 0;
    }
    return takes;
}

/* ---- rows */

/* Whether the table of high-level metrics tells two groups apart, of which one follows the other. */
static bool shows_apart(const struct sta_hlm *hlm, const struct sta_group *a, const struct sta_group *b)
{
    const struct sta_signature *x = &hlm->signatures[a->signature], *y = &hlm->signatures[b->signature];
    return x->cat.bytes != y->cat.bytes || x->func.bytes != y->func.bytes || x->io_cat != y->io_cat;
}

static void add_group(struct sta_main_rows *rows, size_t at, uint32_t group)
{
    const struct sta_group *groups = rows->hlm->groups;
    if (rows->count == 0 || rows->keys[rows->count - 1] != groups[group].key ||
        (rows->layer == STA_NO_LAYER && shows_apart(rows->hlm, &groups[group - 1], &groups[group]))) {
        rows->start[rows->count] = (uint32_t)at;
        rows->keys[rows->count++] = groups[group].key;
    }
    rows->groups[at] = group;
}

int sta_main_rows_init(struct sta_main_rows *rows, const struct sta_hlm *hlm, uint32_t layer,
                       const struct sta_budget *budget, struct sta_error *err)
{
    *rows = (struct sta_main_rows){.hlm = hlm, .layer = layer, .pool = {.budget = budget}};
    size_t most, count = 0;
    const uint8_t *takes = find_signatures(&rows->pool, hlm, layer, STA_LAYER_ITSELF, &most, err);
    rows->groups = sta_pool_take(&rows->pool, most + 1, sizeof *rows->groups, "the main view", err);
    rows->start = sta_pool_take(&rows->pool, most + 1, sizeof *rows->start, "the main view", err);
    rows->keys = sta_pool_take(&rows->pool, most + 1, sizeof *rows->keys, "the main view", err);
    if (takes == NULL || rows->groups == NULL || rows->start == NULL || rows->keys == NULL)
        return err->status;
    for (size_t g = 0; count < most && g < hlm->count; g++) {
        if (sta_budget_check_step(budget, g, err) != 0)
            return err->status;
        if (takes[hlm->groups[g].signature])
            add_group(rows, count++, (uint32_t)g);
    }
    rows->start[rows->count] = (uint32_t)count;
    return 0;
}

/* ---- metrics */

static void add_sizes(struct sta_main_metric *metric, const struct sta_group *group)
{
    struct sta_main_entry *entry = &metric->entries[metric->count - 1];
    int64_t *bins = metric->bins[metric->count - 1];
    if (group->sizes == STA_NO_SIZES)
        return;
    const struct sta_group_sizes *sizes = &metric->rows->hlm->sizes[group->sizes];
    entry->size = sta_bounded_add(entry->size, sizes->size);
    for (int b = 0; b < STA_SIZE_BINS; b++)
        bins[b] += sizes->bins[b];
}

static void add_row(struct sta_main_metric *metric, uint32_t row)
{
    const struct sta_main_rows *rows = metric->rows;
    struct sta_sum time = {0};
    for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        const struct sta_group *group = &rows->hlm->groups[rows->groups[i]];
        if (!metric->takes[group->signature])
            continue;
        if (metric->entry_of_row[row] == STA_NO_ENTRY) {
            metric->entry_of_row[row] = (uint32_t)metric->count;
            metric->entries[metric->count++].row = row;
        }
        struct sta_main_entry *entry = &metric->entries[metric->count - 1];
        entry->count += group->count;
        sta_sum_add(&time, group->time);
        entry->time = time.sum;
        if (metric->bins != NULL)
            add_sizes(metric, group);
    }
}

int sta_main_metric_init(struct sta_main_metric *metric, const struct sta_main_rows *rows, uint32_t number,
                         const struct sta_budget *budget, struct sta_error *err)
{
    static const char what[] = "a metric of the main view";
    *metric = (struct sta_main_metric){.rows = rows, .pool = {.budget = budget}};
    size_t most;
    metric->takes = find_signatures(&metric->pool, rows->hlm, rows->layer, number, &most, err);
    if (metric->takes == NULL)
        return err->status;
    bool sizes = rows->layer == STA_NO_LAYER ||
                 sta_metric_has_sizes(&rows->hlm->bound->preset->layers[rows->layer], number);
    most = STA_MIN(most, rows->count);
    metric->entries = sta_pool_take(&metric->pool, most + 1, sizeof *metric->entries, what, err);
    metric->entry_of_row =
        sta_pool_take(&metric->pool, rows->count + 1, sizeof *metric->entry_of_row, what, err);
    if (sizes)
        metric->bins = sta_pool_take(&metric->pool, most + 1, sizeof *metric->bins, what, err);
    if (metric->entries == NULL || metric->entry_of_row == NULL || (sizes && metric->bins == NULL))
        return err->status;
    memset(metric->entry_of_row, 0xff, rows->count * sizeof *metric->entry_of_row); /* STA_NO_ENTRY */
    for (size_t row = 0; most > 0 && row < rows->count; row++) {
        if (sta_budget_check_step(budget, row, err) != 0)
            return err->status;
        add_row(metric, (uint32_t)row);
    }
    return 0;
}

struct sta_main_ratios sta_main_ratios(const struct sta_main_entry *entry)
{
    struct sta_main_ratios ratios = {.ops = (double)entry->count / entry->time};
    if (entry->size > 0) {
        ratios.bw = (double)entry->size / entry->time;
        ratios.intensity = (double)entry->count / (double)entry->size;
    }
    return ratios;
}

bool sta_row_has_set(const struct sta_main_metric *metric, size_t row, enum sta_axis axis)
{
    const struct sta_main_rows *rows = metric->rows;
    const struct sta_hlm_members *members = &rows->hlm->members[axis];
    for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++)
        if (sta_main_takes(metric, rows->groups[i]) && members->missing[rows->groups[i]])
            return false;
    return true;
}
