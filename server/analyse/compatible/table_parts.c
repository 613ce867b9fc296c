/* Keys and sets as cells. */
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/compatible/tables.h"
#include "common/buffer.h"

static void add_bins(struct sta_table *table, const struct sta_axes *axes, const uint64_t *keys)
{
    struct sta_table_column *column = sta_table_add(table, sta_axis_names[STA_AXIS_TIME], STA_TYPE_INT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_int(column, row, sta_axes_rank(axes, STA_AXIS_TIME, keys[row]));
}

/* Each name is copied once. */
static void add_names(struct sta_table *table, const struct sta_axes *axes, enum sta_axis axis,
                      const uint64_t *keys)
{
    struct sta_table_column *column = sta_table_add(table, sta_axis_names[axis], STA_TYPE_TEXT, NULL);
    struct sta_text *copies = sta_alloc_array((size_t)axes->count[axis] + 1, sizeof *copies);
    for (size_t row = 0; row < table->rows; row++) {
        uint32_t rank = sta_axes_rank(axes, axis, keys[row]);
        if (copies[rank].bytes == NULL) {
            struct sta_text text = sta_axes_text(axes, axis, rank);
            copies[rank] =
                (struct sta_text){sta_arena_copy(&table->arena, text.bytes, text.length), text.length};
        }
        column->missing[row] = 0;
        column->texts[row] = copies[rank];
    }
    free(copies);
}

void sta_table_add_keys(struct sta_table *table, const struct sta_axes *axes, const uint64_t *keys)
{
    for (int axis = 0; axis < STA_AXES; axis++)
        if (axes->grouped[axis] && axis != STA_AXIS_TIME)
            add_names(table, axes, (enum sta_axis)axis, keys);
    if (axes->grouped[STA_AXIS_TIME])
        add_bins(table, axes, keys);
}

void sta_values_add(struct sta_values *values, const struct sta_members *members, uint32_t group)
{
    size_t count = members->start[group + 1] - members->start[group];
    STA_GROW(values->items, values->capacity, values->count + count + 1);
    memcpy(values->items + values->count, members->items + members->start[group],
           count * sizeof *values->items);
    values->count += count;
}

static int compare_values(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool is_ascending(const struct sta_values *values)
{
    for (size_t i = 1; i < values->count; i++)
        if (values->items[i - 1] > values->items[i])
            return false;
    return true;
}

static void put_list(struct sta_buffer *out, const struct sta_hlm *hlm, enum sta_axis axis,
                     const struct sta_values *values)
{
    const uint32_t *meant = hlm->members[axis].values;
    sta_put_char(out, '[');
    for (size_t i = 0; i < values->count; i++) {
        if (i > 0 && values->items[i] == values->items[i - 1])
            continue;
        sta_put_text(out, i > 0 ? ", " : "");
        if (axis == STA_AXIS_TIME) {
            sta_put_uint(out, meant[values->items[i]]);
        } else {
            struct sta_text text = sta_dictionary_text(hlm->axes->texts[axis], meant[values->items[i]]);
            sta_put_json_string(out, text.bytes, text.length);
        }
    }
    sta_put_char(out, ']');
}

int sta_lists_set(struct sta_lists *lists, struct sta_table_column *column, size_t row, enum sta_axis axis,
                  struct sta_values *values, struct sta_error *err)
{
    struct sta_buffer list;
    column->missing[row] = 0;
    column->texts[row] = (struct sta_text){"[]", 2};
    if (values->count == 0)
        return 0;
    sta_buffer_init(&list);
    if (!is_ascending(values)) /* sets of several groups */
        qsort(values->items, values->count, sizeof *values->items, compare_values);
    put_list(&list, lists->hlm, axis, values);
    lists->bytes += list.size;
    int rc = list.failed ? sta_fail(err, STA_ENOMEM, "no memory for a list of %zu names", values->count)
                         : sta_budget_memory(lists->budget, (double)lists->bytes, "the table's sets", err);
    if (rc == 0)
        sta_table_set_text(lists->table, column, row, list.data, list.size);
    sta_buffer_fini(&list);
    return rc;
}
