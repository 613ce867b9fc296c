/* The columns that a query may name, with what they hold. */
#include <stdlib.h>
#include <string.h>

#include "analyse/query/schema/tally.h"
#include "common/buffer.h"
#include "common/memory.h"

#define MOST_INTEGERS 100000 /* distinct ones that are counted */
#define TOP_VALUES 10

struct describing {
    struct sta_table *table;
    const struct sta_columns *all;
    uint32_t *columns; /* those that are counted .. */
    size_t *rows;      /* .. and their rows */
    size_t count;
    const struct sta_budget *budget;
};

static void set_text(struct sta_table *table, const char *column, size_t row, struct sta_buffer *text)
{
    sta_table_set_text(table, sta_table_find(table, column), row, text->data != NULL ? text->data : "",
                       text->size);
    sta_buffer_clear(text);
}

static int set_top(struct describing *describing, size_t row, const struct sta_column_tally *tally,
                   struct sta_error *err)
{
    struct sta_buffer text;
    uint64_t *values = sta_tally_by_frequency(tally, describing->budget, err);
    if (values == NULL)
        return err->status;
    sta_buffer_init(&text);
    sta_put_char(&text, '[');
    for (size_t i = 0; i < tally->count && i < TOP_VALUES; i++) {
        const struct sta_text value = sta_tally_text(tally, values[i]);
        sta_put_text(&text, i > 0 ? ",{\"value\":" : "{\"value\":");
        sta_put_json_string(&text, value.bytes, value.length);
        sta_put_format(&text, ",\"count\":%lld}", (long long)sta_tally_frequency(tally, values[i]));
    }
    sta_put_char(&text, ']');
    set_text(describing->table, "top", row, &text);
    sta_buffer_fini(&text);
    sta_account_free(describing->budget->account, values);
    return STA_OK;
}

/* The least or the largest value, as text. */
static void set_extreme(struct sta_table *table, size_t row, const struct sta_column_tally *tally,
                        bool largest)
{
    const uint64_t value = largest ? tally->count - 1 : 0;
    struct sta_buffer text;
    if (!tally->any && tally->count == 0)
        return;
    sta_buffer_init(&text);
    if (tally->type == STA_TYPE_INT) {
        sta_put_int(&text, largest ? tally->largest : tally->least);
    } else if (tally->type == STA_TYPE_FLOAT) {
        sta_put_double(&text, largest ? tally->largest_number : tally->least_number);
    } else if (tally->type == STA_TYPE_TEXT) {
        struct sta_text found = sta_tally_text(tally, value);
        sta_put(&text, found.bytes, found.length);
    } else {
        sta_put_text(&text, tally->values.keys[0].bools[value] ? "true" : "false");
    }
    set_text(table, largest ? "max" : "min", row, &text);
    sta_buffer_fini(&text);
}

static int set_row(void *self, size_t number, const struct sta_column_tally *tally, struct sta_error *err)
{
    struct describing *describing = self;
    struct sta_table *table = describing->table;
    const size_t row = describing->rows[number];
    const struct sta_schema_column *column =
        &sta_columns_schema(describing->all)->columns[describing->columns[number]];
    const uint64_t events = sta_snapshot_info(sta_columns_snapshot(describing->all))->events;
    const char *type = sta_type_name(column->type);
    sta_table_set_text(table, sta_table_find(table, "name"), row, column->name, strlen(column->name));
    sta_table_set_text(table, sta_table_find(table, "type"), row, type, strlen(type));
    sta_table_set_string(table, sta_table_find(table, "unit"), row, column->unit);
    sta_table_set_int(sta_table_find(table, "missing"), row, (int64_t)tally->missing);
    if (events > 0)
        sta_table_set_number(sta_table_find(table, "missing_share"), row,
                             (double)tally->missing / (double)events);
    if (column->type != STA_TYPE_FLOAT && !tally->overflowed)
        sta_table_set_int(sta_table_find(table, "distinct"), row, (int64_t)tally->count);
    set_extreme(table, row, tally, false);
    set_extreme(table, row, tally, true);
    return column->type == STA_TYPE_TEXT ? set_top(describing, row, tally, err) : STA_OK;
}

static void init_table(struct sta_table *table, size_t rows)
{
    static const struct {
        const char *name;
        enum sta_type type;
    } columns[] = {{"name", STA_TYPE_TEXT},
                   {"type", STA_TYPE_TEXT},
                   {"unit", STA_TYPE_TEXT},
                   {"missing", STA_TYPE_INT},
                   {"missing_share", STA_TYPE_FLOAT},
                   {"distinct", STA_TYPE_INT},
                   {"min", STA_TYPE_TEXT},
                   {"max", STA_TYPE_TEXT},
                   {"top", STA_TYPE_LIST}};
    sta_table_init(table, rows);
    for (size_t c = 0; c < STA_COUNT_OF(columns); c++)
        sta_table_add(table, columns[c].name, columns[c].type, NULL);
}

/* A row for each column that queries may name; those are counted that @known does not have.  A preset
 * changes one. */
static void list_columns(struct describing *describing, const struct sta_table *known)
{
    const struct sta_schema *schema = sta_columns_schema(describing->all);
    size_t row = 0;
    for (size_t i = 0; i < schema->count; i++) {
        if (sta_schema_is_hidden(&schema->columns[i]))
            continue;
        if (known == NULL || i == STA_LOGICAL_cat) {
            describing->columns[describing->count] = (uint32_t)i;
            describing->rows[describing->count++] = row;
        }
        row++;
    }
    STA_ASSERT(known == NULL || known->rows == row);
    init_table(describing->table, row);
    if (known == NULL)
        return;
    for (row = 0; row < known->rows; row++)
        if (describing->count == 0 || row != describing->rows[0])
            sta_table_copy_row(describing->table, row, known, row);
}

int sta_columns_describe(const struct sta_columns_query *query, const struct sta_table *known,
                         const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    struct describing describing = {.table = table, .budget = budget};
    struct sta_columns *all;
    int status = sta_schema_bind(query, &all, err);
    if (status != STA_OK)
        return status;
    const size_t count = sta_columns_schema(all)->count;
    describing.all = all;
    describing.columns = sta_alloc_array(count, sizeof *describing.columns);
    describing.rows = sta_alloc_array(count, sizeof *describing.rows);
    list_columns(&describing, known);
    const struct sta_tally_output output = {&describing, set_row};
    status =
        sta_tally_columns(all, describing.columns, describing.count, MOST_INTEGERS, &output, budget, err);
    if (status != STA_OK)
        sta_table_fini(table);
    free(describing.columns);
    free(describing.rows);
    sta_columns_destroy(all);
    return status;
}
