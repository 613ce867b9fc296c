/* Sets of values as cells.  Most sets have one value: the text of such a list is made once and shared. */
#include <stdlib.h>
#include <string.h>

#include "analyse/compatible/tables.h"
#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "common/buffer.h"

#define BYTES_PER_CHECK ((size_t)1 << 20)

/* ---- texts */

static int keep(struct sta_lists *lists, const struct sta_buffer *text, struct sta_text *kept,
                struct sta_error *err)
{
    if (text->failed)
        return sta_fail(err, STA_ENOMEM, "no memory for a list of names");
    *kept =
        (struct sta_text){sta_arena_copy(&lists->table->arena, text->data, text->size), (uint32_t)text->size};
    lists->bytes += text->size;
    if (lists->bytes - lists->checked < BYTES_PER_CHECK)
        return 0;
    lists->checked = lists->bytes; /* the arena is overdrawn from the account */
    return sta_budget_check(lists->budget, err);
}

static int single_of(struct sta_lists *lists, enum sta_axis axis, uint32_t rank, struct sta_text *list,
                     struct sta_error *err)
{
    const struct sta_axes *axes = lists->hlm->axes;
    struct sta_text *single = lists->single[axis];
    int rc = 0;
    if (single == NULL)
        single = lists->single[axis] =
            sta_pool_take(&lists->pool, (size_t)axes->count[axis] + 1, sizeof *single, "lists", err);
    if (single == NULL)
        return err->status;
    if (single[rank].bytes == NULL) {
        struct sta_buffer text;
        sta_buffer_init(&text);
        sta_put_char(&text, '[');
        if (axis == STA_AXIS_TIME) {
            sta_put_uint(&text, axes->values[axis][rank]);
        } else {
            struct sta_text name = sta_axes_text(axes, axis, rank);
            sta_put_json_string(&text, name.bytes, name.length);
        }
        sta_put_char(&text, ']');
        rc = keep(lists, &text, &single[rank], err);
        sta_buffer_fini(&text);
    }
    *list = single[rank];
    return rc;
}

static int list_of(struct sta_lists *lists, enum sta_axis axis, size_t count, struct sta_text *list,
                   struct sta_error *err)
{
    struct sta_buffer text;
    int rc = 0;
    sta_buffer_init(&text);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct sta_text single;
        rc = single_of(lists, axis, lists->ranks[i], &single, err);
        sta_put_text(&text, i > 0 ? ", " : "[");
        if (rc == 0)
            sta_put(&text, single.bytes + 1, single.length - 2);
    }
    sta_put_char(&text, ']');
    if (rc == 0)
        rc = keep(lists, &text, list, err);
    sta_buffer_fini(&text);
    return rc;
}

/* ---- values */

static int compare_ranks(const void *a, const void *b, void *context)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The values of a row, ascending, each once. */
static int gather(struct sta_lists *lists, const struct sta_main_metric *metric, size_t row,
                  enum sta_axis axis, size_t *count, struct sta_error *err)
{
    const struct sta_hlm_members *members = &lists->hlm->members[axis];
    const struct sta_main_rows *rows = metric->rows;
    bool ascending = true;
    size_t all = 0, kept = 0;
    int rc = 0;
    for (uint32_t i = rows->start[row]; rc == 0 && i < rows->start[row + 1]; i++) {
        uint32_t group = rows->groups[i];
        size_t more = members->start[group + 1] - members->start[group];
        if (!sta_main_takes(metric, group) || more == 0)
            continue;
        rc =
            STA_ACCOUNT_GROW(lists->budget->account, lists->ranks, lists->capacity, all + more, "a set", err);
        if (rc != 0)
            return rc;
        memcpy(lists->ranks + all, members->items + members->start[group], more * sizeof *lists->ranks);
        ascending = ascending && (all == 0 || lists->ranks[all - 1] <= lists->ranks[all]);
        all += more;
    }
    if (!ascending) /* sets of several groups */
        rc = sta_sort(lists->budget, lists->ranks, all, sizeof *lists->ranks, compare_ranks, NULL, err);
    for (size_t i = 0; rc == 0 && i < all; i++)
        if (kept == 0 || lists->ranks[kept - 1] != lists->ranks[i])
            lists->ranks[kept++] = lists->ranks[i];
    *count = kept;
    return rc;
}

int sta_lists_set(struct sta_lists *lists, struct sta_table_column *column,
                  const struct sta_main_metric *metric, size_t row, enum sta_axis axis, struct sta_error *err)
{
    size_t count;
    int rc = gather(lists, metric, row, axis, &count, err);
    column->missing[row] = 0;
    column->texts[row] = (struct sta_text){"[]", 2};
    if (rc != 0 || count == 0)
        return rc;
    return count == 1 ? single_of(lists, axis, lists->ranks[0], &column->texts[row], err)
                      : list_of(lists, axis, count, &column->texts[row], err);
}
