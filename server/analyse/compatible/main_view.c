/* Groups to rows of a layer, and rows to its metrics. */
#include "analyse/compatible/main_view.h"

#include <stdlib.h>
#include <string.h>

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

uint8_t *sta_metric_kinds(const struct sta_hlm *hlm, uint32_t layer, uint32_t metric)
{
    const struct sta_classes *classes = hlm->bound->classes;
    uint8_t *kinds = sta_alloc_array((size_t)hlm->kind_count + 1, sizeof *kinds);
    uint32_t bit = metric == STA_LAYER_ITSELF ? sta_classes_layer_bit(classes, layer)
                                              : sta_classes_metric_bit(classes, layer, metric);
    for (uint32_t k = 0; k < hlm->kind_count; k++)
        kinds[k] = sta_class_has(&hlm->kinds[k].class, bit);
    return kinds;
}

void sta_main_rows_init(struct sta_main_rows *rows, const struct sta_hlm *hlm, uint32_t layer)
{
    uint8_t *kinds = sta_metric_kinds(hlm, layer, STA_LAYER_ITSELF);
    *rows = (struct sta_main_rows){.hlm = hlm, .layer = layer};
    size_t groups = 0, count = 0;
    for (size_t g = 0; g < hlm->count; g++)
        groups += kinds[hlm->groups[g].kind];
    rows->groups = sta_alloc_array(groups + 1, sizeof *rows->groups);
    rows->start = sta_alloc_array(groups + 1, sizeof *rows->start);
    rows->keys = sta_alloc_array(groups + 1, sizeof *rows->keys);
    for (size_t g = 0; g < hlm->count; g++) {
        if (!kinds[hlm->groups[g].kind])
            continue;
        if (rows->count == 0 || rows->keys[rows->count - 1] != hlm->groups[g].key) {
            rows->start[rows->count] = (uint32_t)count;
            rows->keys[rows->count++] = hlm->groups[g].key;
        }
        rows->groups[count++] = (uint32_t)g;
    }
    rows->start[rows->count] = (uint32_t)count;
    free(kinds);
}

void sta_main_rows_fini(struct sta_main_rows *rows)
{
    free(rows->keys);
    free(rows->start);
    free(rows->groups);
    *rows = (struct sta_main_rows){0};
}

/* ---- metrics */

static void add_sizes(struct sta_main_metric *metric, const struct sta_hlm *hlm,
                      const struct sta_group *group)
{
    struct sta_main_entry *entry = &metric->entries[metric->count - 1];
    int64_t *bins = metric->bins[metric->count - 1];
    if (group->sizes == STA_NO_SIZES)
        return;
    const struct sta_group_sizes *sizes = &hlm->sizes[group->sizes];
    entry->size = sta_bounded_add(entry->size, sizes->size);
    for (int b = 0; b < STA_SIZE_BINS; b++)
        bins[b] += sizes->bins[b];
}

static void add_row(struct sta_main_metric *metric, const struct sta_main_rows *rows, size_t row,
                    const uint8_t *kinds)
{
    struct sta_sum time = {0};
    metric->entry_of_row[row] = STA_NO_ENTRY;
    for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        const struct sta_group *group = &rows->hlm->groups[rows->groups[i]];
        if (!kinds[group->kind])
            continue;
        if (metric->entry_of_row[row] == STA_NO_ENTRY) {
            metric->entry_of_row[row] = (uint32_t)metric->count;
            metric->entries[metric->count++].row = (uint32_t)row;
        }
        struct sta_main_entry *entry = &metric->entries[metric->count - 1];
        entry->count += group->count;
        sta_sum_add(&time, group->time);
        entry->time = time.sum;
        if (metric->bins != NULL)
            add_sizes(metric, rows->hlm, group);
    }
}

/* Rows in which the metric occurs. */
static size_t count_entries(const struct sta_main_rows *rows, const uint8_t *kinds)
{
    size_t count = 0;
    for (size_t row = 0; row < rows->count; row++) {
        bool occurs = false;
        for (uint32_t i = rows->start[row]; !occurs && i < rows->start[row + 1]; i++)
            occurs = kinds[rows->hlm->groups[rows->groups[i]].kind] != 0;
        count += occurs;
    }
    return count;
}

void sta_main_metric_init(struct sta_main_metric *metric, const struct sta_main_rows *rows,
                          const uint8_t *kinds, bool sizes)
{
    size_t most = count_entries(rows, kinds);
    *metric = (struct sta_main_metric){.entries = sta_alloc_array(most + 1, sizeof *metric->entries),
                                       .entry_of_row =
                                           sta_alloc_array(rows->count + 1, sizeof *metric->entry_of_row)};
    if (sizes)
        metric->bins = sta_alloc_array(most + 1, sizeof *metric->bins);
    for (size_t row = 0; row < rows->count; row++)
        add_row(metric, rows, row, kinds);
}

void sta_main_metric_fini(struct sta_main_metric *metric)
{
    free(metric->entries);
    free(metric->entry_of_row);
    free(metric->bins);
    *metric = (struct sta_main_metric){0};
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

bool sta_row_has_set(const struct sta_main_rows *rows, size_t row, const uint8_t *kinds, enum sta_axis axis)
{
    const struct sta_members *members = &rows->hlm->members[axis];
    for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        uint32_t group = rows->groups[i];
        if (kinds[rows->hlm->groups[group].kind] && members->missing[group])
            return false;
    }
    return true;
}
