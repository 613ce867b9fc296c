/* What all responses by columns have in common. */
#include "timeline/columns.h"

#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the result of the timeline"

void sta_timeline_columns_fini(struct sta_timeline_columns *columns)
{
    struct sta_account *account = columns->account;
    sta_account_free(account, columns->labels);
    sta_account_free(account, columns->categories);
    sta_account_free(account, columns->label_colors);
    sta_account_free(account, columns->category_colors);
    sta_account_free(account, columns->layers);
    sta_account_free(account, columns->lanes);
    sta_account_free(account, columns->lane_figures);
    for (size_t g = 0; g < 2; g++)
        for (size_t c = 0; c < STA_TIMELINE_COLUMNS; c++)
            sta_account_free(account, columns->columns[g][c].items);
    sta_preset_view_release(columns->keeper);
    *columns = (struct sta_timeline_columns){0};
}

int sta_timeline_columns_init(struct sta_timeline_columns *columns, const struct sta_selection *selection,
                              const struct sta_grid *grid, struct sta_error *err)
{
    const struct sta_preset *preset = selection->view->bound.preset;
    *columns = (struct sta_timeline_columns){.account = selection->account,
                                             .ticks_per_second = selection->index->ticks_per_second,
                                             .from = grid->from,
                                             .to = grid->to,
                                             .resolution = grid->resolution,
                                             .origin_ns = selection->index->origin_ns,
                                             .layer_count = preset->layer_count};
    columns->layers =
        sta_account_alloc(columns->account, preset->layer_count + 1, sizeof *columns->layers, WHAT, err);
    if (columns->layers == NULL)
        return err->status;
    for (size_t l = 0; l < preset->layer_count; l++)
        columns->layers[l] = preset->layers[l].name;
    atomic_fetch_add(&selection->view->references, 1);
    columns->keeper = selection->view;
    return 0;
}

int sta_timeline_columns_lanes(struct sta_timeline_columns *columns, size_t count, struct sta_error *err)
{
    columns->lane_count = count;
    columns->lanes = sta_account_alloc(columns->account, count + 1, sizeof *columns->lanes, WHAT, err);
    columns->lane_figures =
        sta_account_alloc(columns->account, count + 1, sizeof *columns->lane_figures, WHAT, err);
    return columns->lanes == NULL || columns->lane_figures == NULL ? err->status : 0;
}

int sta_timeline_columns_put(struct sta_timeline_columns *columns, size_t group, const int64_t *values,
                             struct sta_error *err)
{
    for (size_t c = 0; columns->names[group][c] != NULL; c++) {
        struct sta_integers *column = &columns->columns[group][c];
        int rc =
            STA_ACCOUNT_GROW(columns->account, column->items, column->capacity, column->count + 1, WHAT, err);
        if (rc != 0)
            return rc;
        column->items[column->count++] = values[c];
    }
    return 0;
}
