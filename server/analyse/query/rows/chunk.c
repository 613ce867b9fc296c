/* Rows taken out of their blocks; see chunk.h. */
#include "analyse/query/rows/chunk.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/vectors.h"
#include "common/memory.h"

void sta_shown_init(struct sta_shown *shown, const struct sta_plan_stage *stage)
{
    *shown = (struct sta_shown){.stage = stage, .row_bytes = 2 * sizeof(uint64_t)};
    for (size_t i = 0; i < stage->output_count; i++)
        if (!stage->outputs[i].unused)
            shown->row_bytes += sta_vector_width(stage->result[i].type) + 1;
}

/* ---- pieces */

static int copy_order(struct sta_piece *piece, struct sta_lane *lane, struct sta_error *err)
{
    struct sta_lane_order order;
    int rc = sta_lane_order(lane, &order, err);
    if (rc != 0)
        return rc;
    piece->at = sta_try_alloc_array(piece->rows, sizeof *piece->at);
    piece->place = sta_try_alloc_array(piece->rows, sizeof *piece->place);
    if (piece->at == NULL || piece->place == NULL)
        return sta_fail(err, STA_ENOMEM, "memory ran out while rows were read");
    memcpy(piece->at, order.at, piece->rows * sizeof *piece->at);
    memcpy(piece->place, order.place, piece->rows * sizeof *piece->place);
    return 0;
}

/* The values of a column, copied: behind them the marks of what is missing. */
static int keep_column(struct sta_vector *kept, const struct sta_vector *vector, uint32_t rows,
                       struct sta_error *err)
{
    size_t width = sta_vector_width(vector->type);
    char *values = sta_try_alloc_array(rows, width + 1);
    if (values == NULL)
        return sta_fail(err, STA_ENOMEM, "memory ran out while rows were read");
    uint8_t *missing = (uint8_t *)values + rows * width;
    bool any = sta_vector_gather(vector, NULL, rows, values, missing);
    *kept = (struct sta_vector){.type = vector->type, .texts = vector->texts};
    sta_vector_point(kept, values);
    kept->missing = any ? missing : NULL;
    return 0;
}

int sta_piece_take(struct sta_piece *piece, const struct sta_shown *shown, struct sta_lane *lane,
                   bool ordered, struct sta_error *err)
{
    sta_lane_compact(lane);
    piece->rows = lane->count;
    piece->columns = sta_alloc_array(shown->stage->output_count + 1, sizeof *piece->columns);
    int rc = ordered ? copy_order(piece, lane, err) : 0;
    for (size_t i = 0; rc == 0 && i < shown->stage->output_count; i++) {
        struct sta_vector vector;
        if (shown->stage->outputs[i].unused)
            continue;
        rc = sta_frame_part(lane->top, STA_PART_OUTPUTS, i, &vector, err);
        if (rc == 0)
            rc = keep_column(&piece->columns[i], &vector, piece->rows, err);
    }
    return rc;
}

void sta_piece_fini(struct sta_piece *piece, const struct sta_shown *shown)
{
    for (size_t i = 0; piece->columns != NULL && i < shown->stage->output_count; i++)
        free((void *)sta_vector_values(&piece->columns[i]));
    free(piece->columns);
    free(piece->at);
    free(piece->place);
    *piece = (struct sta_piece){0};
}

/* ---- tables */

void sta_chunk_table(const struct sta_shown *shown, size_t rows, struct sta_table *table)
{
    const struct sta_plan_stage *stage = shown->stage;
    sta_table_init(table, rows);
    for (size_t i = 0; i < stage->output_count; i++)
        sta_table_add(table, stage->result[i].name, stage->result[i].type, stage->result[i].unit);
}

void sta_chunk_put(const struct sta_piece *pieces, const struct sta_shown *shown,
                   const struct sta_chunk_row *rows, size_t count, struct sta_table *table, size_t at)
{
    for (size_t i = 0; i < shown->stage->output_count; i++)
        for (size_t r = 0; r < count && !shown->stage->outputs[i].unused; r++)
            sta_table_put(&table->columns[i], at + r, &pieces[rows[r].piece].columns[i], rows[r].row);
}
