/* One row after the other: events at least a cell long stand alone; shorter ones that start in the same cell
 * are a piece, and pieces of adjacent cells with one name make a block.
 *
 * Groups of GROUP cells are aligned, so which pieces make a block does not depend on the window. */
#include "timeline/draw.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/number.h"

#define GROUP 8      /* cells that a block may span */
#define FEW_NAMES 8u /* of a piece, without a map */
#define WHAT "the boxes of the timeline"

/* What a piece holds of one name. */
struct named {
    uint32_t name, place; /* its longest event */
    int64_t covered, count, longest;
};

/* Events of one cell; or, merged, a block. */
struct piece {
    int64_t cell; /* the last one */
    int64_t start, end, count, covered;
    struct named named; /* of the name that it goes by */
};

struct sta_drawing {
    const struct sta_selection *selection;
    const struct sta_grid *grid;
    const struct sta_budget *budget;
    uint32_t *places, *by_row; /* events of the thread; the same by row */
    size_t place_count, place_capacity, by_row_capacity;
    uint32_t *row_ends; /* by row; one more */
    size_t row_capacity;
    struct sta_map slots; /* name -> index in names; of the present piece */
    struct named *names;
    size_t name_count, name_capacity;
    bool open; /* there is a block that may grow */
    struct piece block;
    const struct sta_lane_thread *thread; /* the present one */
    struct sta_boxes *boxes;
};

struct sta_drawing *sta_drawing_create(const struct sta_selection *selection, const struct sta_grid *grid,
                                       const struct sta_budget *budget)
{
    struct sta_drawing *drawing = sta_alloc(sizeof *drawing);
    drawing->selection = selection;
    drawing->grid = grid;
    drawing->budget = budget;
    sta_map_init(&drawing->slots);
    drawing->slots.account = budget->account;
    return drawing;
}

void sta_drawing_destroy(struct sta_drawing *drawing)
{
    if (drawing == NULL)
        return;
    struct sta_account *account = drawing->budget->account;
    sta_account_free(account, drawing->places);
    sta_account_free(account, drawing->by_row);
    sta_account_free(account, drawing->row_ends);
    sta_account_free(account, drawing->names);
    sta_map_fini(&drawing->slots);
    free(drawing);
}

/* ---- boxes */

int sta_boxes_add(struct sta_boxes *boxes, const struct sta_box *box, const struct sta_grid *grid,
                  const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_lane_event span = {.start = box->start, .dur = box->dur};
    if (!sta_touches(&span, grid->from, grid->to))
        return 0;
    int rc = STA_ACCOUNT_GROW(budget->account, boxes->items, boxes->capacity, boxes->count + 1, WHAT, err);
    if (rc == 0)
        boxes->items[boxes->count++] = *box;
    return rc;
}

/* A box that goes by the event at a place. */
static int add_box(struct sta_drawing *drawing, struct sta_box box, uint32_t place, struct sta_error *err)
{
    const struct sta_lane_event *event = &drawing->thread->events[place];
    box.name = event->name;
    box.number = event->number;
    box.at = event->start;
    box.nth = sta_lane_thread_nth(drawing->thread, place);
    return sta_boxes_add(drawing->boxes, &box, drawing->grid, drawing->budget, err);
}

static int end_block(struct sta_drawing *drawing, uint32_t row, struct sta_error *err)
{
    if (!drawing->open)
        return 0;
    drawing->open = false;
    const struct piece *block = &drawing->block;
    return add_box(drawing,
                   (struct sta_box){.row = row,
                                    .start = block->start,
                                    .dur = block->end - block->start,
                                    .count = block->count,
                                    .covered = block->covered},
                   block->named.place, err);
}

/* ---- pieces */

/* Place of a name in names, or name_count.  Few names are looked through; many have a map. */
static size_t find_named(const struct sta_drawing *drawing, uint32_t name)
{
    uint32_t slot = (uint32_t)drawing->name_count;
    if (drawing->name_count > FEW_NAMES) {
        (void)sta_map_find(&drawing->slots, name, &slot);
        return slot;
    }
    size_t at = 0;
    while (at < drawing->name_count && drawing->names[at].name != name)
        at++;
    return at;
}

static int new_named(struct sta_drawing *drawing, uint32_t name, uint32_t place, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(drawing->budget->account, drawing->names, drawing->name_capacity,
                              drawing->name_count + 1, WHAT, err);
    if (rc != 0)
        return rc;
    drawing->names[drawing->name_count++] = (struct named){.name = name, .place = place, .longest = -1};
    if (drawing->name_count <= FEW_NAMES)
        return 0;
    if (drawing->name_count == FEW_NAMES + 1) {
        sta_map_fini(&drawing->slots);
        for (uint32_t i = 0; i < FEW_NAMES; i++)
            sta_map_put(&drawing->slots, drawing->names[i].name, i);
    }
    sta_map_put(&drawing->slots, name, (uint32_t)drawing->name_count - 1);
    return 0;
}

static int add_named(struct sta_drawing *drawing, uint32_t place, struct sta_error *err)
{
    const struct sta_lane_event *event = &drawing->thread->events[place];
    size_t slot = find_named(drawing, event->name);
    int rc = slot == drawing->name_count ? new_named(drawing, event->name, place, err) : 0;
    if (rc != 0)
        return rc;
    struct named *named = &drawing->names[slot];
    named->covered += event->dur;
    named->count++;
    if (event->dur > named->longest) {
        named->longest = event->dur;
        named->place = place;
    }
    return 0;
}

/* Whether a name of a piece goes before another one. */
static bool goes_before(const struct sta_drawing *drawing, const struct named *a, const struct named *b)
{
    if (a->covered != b->covered)
        return a->covered > b->covered;
    if (a->count != b->count)
        return a->count > b->count;
    struct sta_text x = sta_selection_name(drawing->selection, a->name),
                    y = sta_selection_name(drawing->selection, b->name);
    if (x.bytes == NULL || y.bytes == NULL)
        return x.bytes != NULL;
    return sta_text_order(x, y) < 0;
}

/* A piece of some events of one cell, side by side in by_row. */
static int make_piece(struct sta_drawing *drawing, const uint32_t *places, size_t count, struct piece *piece,
                      struct sta_error *err)
{
    const struct sta_lane_event *first = &drawing->thread->events[places[0]];
    *piece = (struct piece){.cell = sta_floor_divide(first->start, drawing->grid->resolution),
                            .start = first->start,
                            .end = first->start + 1,
                            .count = (int64_t)count};
    drawing->name_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sta_lane_event *event = &drawing->thread->events[places[i]];
        piece->covered += event->dur;
        piece->end = STA_MAX(piece->end, event->start + STA_MAX(event->dur, 1));
        int rc = add_named(drawing, places[i], err);
        if (rc != 0)
            return rc;
    }
    size_t best = 0;
    for (size_t i = 1; i < drawing->name_count; i++)
        if (goes_before(drawing, &drawing->names[i], &drawing->names[best]))
            best = i;
    piece->named = drawing->names[best];
    return 0;
}

static int add_piece(struct sta_drawing *drawing, uint32_t row, const uint32_t *places, size_t count,
                     struct sta_error *err)
{
    struct piece piece, *block = &drawing->block;
    int rc = make_piece(drawing, places, count, &piece, err);
    if (rc != 0)
        return rc;
    bool joins = drawing->open && piece.cell == block->cell + 1 &&
                 sta_floor_divide(piece.cell, GROUP) == sta_floor_divide(block->cell, GROUP) &&
                 piece.named.name == block->named.name;
    if (!joins) {
        rc = end_block(drawing, row, err);
        *block = piece;
        drawing->open = true;
        return rc;
    }
    block->cell = piece.cell;
    block->end = STA_MAX(block->end, piece.end);
    block->count += piece.count;
    block->covered += piece.covered;
    if (piece.named.longest > block->named.longest)
        block->named = piece.named;
    return 0;
}

/* ---- a row, a thread */

static int draw_row(struct sta_drawing *drawing, uint32_t row, const uint32_t *places, size_t count,
                    struct sta_error *err)
{
    const int64_t resolution = drawing->grid->resolution;
    const struct sta_lane_event *events = drawing->thread->events;
    int rc = 0;
    for (size_t i = 0, next; i < count && rc == 0; i = next) {
        const struct sta_lane_event *event = &events[places[i]];
        next = i + 1;
        if (event->dur >= resolution) {
            rc = end_block(drawing, row, err);
            if (rc == 0)
                rc = add_box(drawing, (struct sta_box){.row = row, .start = event->start, .dur = event->dur},
                             places[i], err);
            continue;
        }
        int64_t end = (sta_floor_divide(event->start, resolution) + 1) * resolution;
        while (next < count && events[places[next]].start < end && events[places[next]].dur < resolution)
            next++;
        rc = add_piece(drawing, row, places + i, next - i, err);
    }
    return rc == 0 ? end_block(drawing, row, err) : rc;
}

void sta_grid_range(const struct sta_grid *grid, int64_t *from, int64_t *to)
{
    const int64_t r = grid->resolution, first = sta_floor_divide(sta_floor_divide(grid->from, r) - 1, GROUP);
    const int64_t end = -sta_floor_divide(-sta_floor_divide(grid->to, r), GROUP);
    *from = first * GROUP * r;
    *to = end * GROUP * r;
}

/* Events that may be boxes or parts of them: short ones from the first to the last group of cells that may
 * reach into the window, and long ones that touch it. */
static int list_places(struct sta_drawing *drawing, uint32_t thread, struct sta_error *err)
{
    const struct sta_grid *grid = drawing->grid;
    const int64_t r = grid->resolution;
    int64_t from, to;
    sta_grid_range(grid, &from, &to);
    struct sta_thread_walk walk = sta_thread_walk(drawing->selection, thread, from, to);
    drawing->place_count = 0;
    int rc = 0;
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;) {
        const struct sta_lane_event *event = &drawing->thread->events[place];
        if (event->start < walk.from && (event->dur < r || sta_lane_event_end(event) <= grid->from))
            continue;
        rc = STA_ACCOUNT_GROW(drawing->budget->account, drawing->places, drawing->place_capacity,
                              drawing->place_count + 1, WHAT, err);
        if (rc == 0) {
            drawing->places[drawing->place_count++] = place;
            rc = sta_budget_check_step(drawing->budget, drawing->place_count, err);
        }
    }
    return rc;
}

/* A stable counting sort by row. */
static int sort_by_row(struct sta_drawing *drawing, struct sta_error *err)
{
    struct sta_account *account = drawing->budget->account;
    const struct sta_lane_event *events = drawing->thread->events;
    const size_t rows = drawing->thread->rows;
    int rc = STA_ACCOUNT_GROW(account, drawing->by_row, drawing->by_row_capacity, drawing->place_count + 1,
                              WHAT, err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(account, drawing->row_ends, drawing->row_capacity, rows + 1, WHAT, err);
    if (rc != 0)
        return rc;
    memset(drawing->row_ends, 0, (rows + 1) * sizeof *drawing->row_ends);
    for (size_t i = 0; i < drawing->place_count; i++)
        drawing->row_ends[events[drawing->places[i]].row + 1]++;
    for (size_t row = 0; row < rows; row++)
        drawing->row_ends[row + 1] += drawing->row_ends[row];
    for (size_t i = 0; i < drawing->place_count; i++)
        drawing->by_row[drawing->row_ends[events[drawing->places[i]].row]++] = drawing->places[i];
    return 0;
}

int sta_drawing_thread(struct sta_drawing *drawing, uint32_t thread, struct sta_boxes *boxes,
                       struct sta_error *err)
{
    drawing->thread = &drawing->selection->index->threads[thread];
    drawing->boxes = boxes;
    int rc = list_places(drawing, thread, err);
    if (rc == 0)
        rc = sort_by_row(drawing, err);
    for (uint32_t row = 0, first = 0; rc == 0 && row < drawing->thread->rows; row++) {
        uint32_t end = drawing->row_ends[row];
        rc = draw_row(drawing, row, drawing->by_row + first, end - first, err);
        first = end;
    }
    return rc;
}
