/* Writes levels to the lane file: drawn for a few threads at a time, by all workers. */
#include <stdlib.h>

#include "analyse/exec/tasks.h"
#include "timeline/details.h"
#include "common/memory.h"

#define WHAT "the levels of the timeline"
#define LEAST_EVENTS 16384u /* of a thread that has levels: the others are drawn fast enough */
#define LEAST_SHARE 24u     /* a level has at most one box for so many events */
#define LEAST_WIDTH 256     /* cells of the whole trace at the coarsest level */

/* The levels of a thread, the coarsest first. */
struct drawn {
    uint32_t thread, coarsest;
    struct sta_boxes levels[64];
    size_t count;
};

struct keeping {
    const struct sta_selection *selection;
    const struct sta_budget *budget;
    struct sta_lane_file_writer *writer;
    struct sta_buffer list; /* thread, shift, boxes of each level */
    uint64_t level_count;
    struct drawn *drawn; /* threads that are drawn at a time */
    int64_t *columns[STA_DETAIL_COLUMNS];
};

/* ---- drawing */

static int draw_level(const struct keeping *keeping, uint32_t thread, uint32_t shift, struct sta_boxes *boxes,
                      struct sta_error *err)
{
    const struct sta_grid grid = {.resolution = INT64_C(1) << shift, .to = INT64_MAX / 4, .width = 1};
    struct sta_drawing *drawing = sta_drawing_create(keeping->selection, &grid, keeping->budget);
    int rc = sta_drawing_thread(drawing, thread, boxes, err);
    sta_drawing_destroy(drawing);
    return rc;
}

static int draw_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct keeping *keeping = context;
    struct drawn *drawn = &keeping->drawn[at];
    const uint32_t most = keeping->selection->index->threads[drawn->thread].count / LEAST_SHARE;
    int rc = 0;
    (void)worker;
    for (uint32_t shift = drawn->coarsest; rc == 0 && shift > 0; shift--) {
        struct sta_boxes *boxes = &drawn->levels[drawn->count];
        rc = draw_level(keeping, drawn->thread, shift, boxes, err);
        if (rc == 0 && boxes->count > most) {
            sta_account_free(keeping->budget->account, boxes->items);
            *boxes = (struct sta_boxes){0};
            break;
        }
        drawn->count += boxes->items != NULL;
    }
    return rc;
}

/* ---- writing */

static int put_boxes(struct keeping *keeping, const struct sta_boxes *boxes, struct sta_error *err)
{
    int64_t *const *columns = keeping->columns;
    int rc = 0;
    for (size_t i = 0, at = 0; i < boxes->count && rc == 0; i++) {
        const struct sta_box *box = &boxes->items[i];
        columns[STA_DETAIL_ROW][at] = box->row;
        columns[STA_DETAIL_NAME][at] = box->name == STA_NO_CODE ? -1 : (int64_t)box->name;
        columns[STA_DETAIL_NUMBER][at] = (int64_t)box->number - (i > 0 ? (int64_t)box[-1].number : 0);
        columns[STA_DETAIL_NTH][at] = box->nth;
        columns[STA_DETAIL_START][at] = box->start;
        columns[STA_DETAIL_DUR][at] = box->dur;
        columns[STA_DETAIL_COUNT][at] = box->count;
        columns[STA_DETAIL_COVERED][at] = box->covered;
        columns[STA_DETAIL_AT][at] = box->at - box->start;
        if (++at == STA_ROW_GROUP_ROWS || i + 1 == boxes->count) {
            rc = sta_lane_file_add(keeping->writer, STA_DETAIL_COLUMNS, (const int64_t *const *)columns,
                                   (uint32_t)at, err);
            at = 0;
        }
    }
    return rc;
}

/* The finest level goes first: the list ascends. */
static int put_levels(struct keeping *keeping, const struct drawn *drawn, struct sta_error *err)
{
    int rc = 0;
    for (size_t l = drawn->count; l-- > 0 && rc == 0;) {
        sta_put_varint(&keeping->list, drawn->thread);
        sta_put_varint(&keeping->list, drawn->coarsest - l);
        sta_put_varint(&keeping->list, drawn->levels[l].count);
        keeping->level_count++;
        rc = put_boxes(keeping, &drawn->levels[l], err);
    }
    return rc;
}

/* ---- all threads */

static int keep_some(struct keeping *keeping, size_t count, struct sta_error *err)
{
    int rc = sta_tasks_run(keeping->budget, count, draw_thread, keeping, err);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0)
            rc = put_levels(keeping, &keeping->drawn[i], err);
        for (size_t l = 0; l < STA_COUNT_OF(keeping->drawn[i].levels); l++)
            sta_account_free(keeping->budget->account, keeping->drawn[i].levels[l].items);
        keeping->drawn[i] = (struct drawn){0};
    }
    return rc;
}

static uint32_t coarsest(const struct sta_lane_index *index)
{
    uint32_t shift = 0;
    while (shift < 62 && (INT64_C(1) << (shift + 1)) <= index->end / LEAST_WIDTH)
        shift++;
    return shift;
}

static int keep_all(struct keeping *keeping, struct sta_error *err)
{
    const struct sta_lane_index *index = keeping->selection->index;
    const size_t most = sta_budget_workers(keeping->budget);
    size_t count = 0;
    int rc = 0;
    for (uint32_t t = 0; t < index->tree.thread_count && rc == 0; t++) {
        if (index->threads[t].count < LEAST_EVENTS)
            continue;
        keeping->drawn[count++] = (struct drawn){.thread = t, .coarsest = coarsest(index)};
        if (count == most) {
            rc = keep_some(keeping, count, err);
            count = 0;
        }
    }
    return rc == 0 ? keep_some(keeping, count, err) : rc;
}

int sta_lane_details_keep(struct sta_lane_index *index, struct sta_lane_file_writer *writer,
                          struct sta_buffer *head, const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_selection selection = {.account = budget->account, .index = index};
    struct keeping keeping = {.selection = &selection, .budget = budget, .writer = writer};
    int64_t *buffer = sta_account_alloc(budget->account, (size_t)STA_DETAIL_COLUMNS * STA_ROW_GROUP_ROWS,
                                        sizeof *buffer, WHAT, err);
    if (buffer == NULL)
        return err->status;
    for (unsigned c = 0; c < STA_DETAIL_COLUMNS; c++)
        keeping.columns[c] = buffer + (size_t)c * STA_ROW_GROUP_ROWS;
    keeping.drawn = sta_alloc_array(sta_budget_workers(budget), sizeof *keeping.drawn);
    int rc = keep_all(&keeping, err);
    sta_put_varint(head, keeping.level_count);
    sta_put(head, keeping.list.data, keeping.list.size);
    if (rc == 0 && (keeping.list.failed || head->failed))
        rc = sta_fail(err, STA_ENOMEM, "no memory to write " WHAT);
    sta_buffer_fini(&keeping.list);
    free(keeping.drawn);
    sta_account_free(budget->account, buffer);
    return rc;
}
