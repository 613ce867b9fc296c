/* The grid of a window. */
#include "timeline/grid.h"

#include "analyse/views/members.h"
#include "common/number.h"

#define WIDTH 1024
#define MOST_WIDTH 8192

int sta_grid_init(struct sta_grid *grid, const struct sta_selection *selection, struct sta_error *err)
{
    const struct sta_document *width = sta_member_given(selection->query->request, "width");
    if (width != NULL &&
        (width->type != STA_DOCUMENT_INT || width->integer < 1 || width->integer > MOST_WIDTH)) {
        sta_fail(err, STA_EINPUT, "expected a whole number from 1 to %d", MOST_WIDTH);
        return sta_at_member(err, "width", NULL, -1);
    }
    *grid = (struct sta_grid){.resolution = 1, .width = width != NULL ? width->integer : WIDTH};
    int64_t span = selection->to - selection->from;
    while (grid->resolution <= span / 2 / grid->width)
        grid->resolution *= 2;
    grid->from = sta_floor_divide(selection->from, grid->resolution) * grid->resolution;
    grid->to = -sta_floor_divide(-selection->to, grid->resolution) * grid->resolution;
    return 0;
}
