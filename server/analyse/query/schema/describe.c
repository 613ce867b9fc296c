/* The columns that a query may name, with what they hold. */
#include <stdlib.h>
#include <string.h>

#include "analyse/query/schema/schema.h"
#include "common/buffer.h"
#include "common/memory.h"

#define MOST_INTEGERS 100000 /* distinct ones that are counted */
#define TOP_VALUES 10

static void set_text(struct sta_table *table, const char *column, size_t row, struct sta_buffer *text)
{
    sta_table_set_text(table, sta_table_find(table, column), row, text->data != NULL ? text->data : "",
                       text->size);
    sta_buffer_clear(text);
}

static void set_top(struct sta_table *table, size_t row, const struct sta_tally_value *values, size_t count)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_put_char(&text, '[');
    for (size_t i = 0; i < count && i < TOP_VALUES; i++) {
        sta_put_text(&text, i > 0 ? ",{\"value\":" : "{\"value\":");
        sta_put_json_string(&text, values[i].text.bytes, values[i].text.length);
        sta_put_format(&text, ",\"count\":%llu}", (unsigned long long)values[i].count);
    }
    sta_put_char(&text, ']');
    set_text(table, "top", row, &text);
    sta_buffer_fini(&text);
}

static struct sta_text extreme_text(const struct sta_tally_value *values, size_t count, bool largest)
{
    struct sta_text found = values[0].text;
    for (size_t i = 1; i < count; i++) {
        struct sta_text one = values[i].text;
        int order = memcmp(one.bytes, found.bytes, STA_MIN(one.length, found.length));
        if (order == 0)
            order = (one.length > found.length) - (one.length < found.length);
        if (largest ? order > 0 : order < 0)
            found = one;
    }
    return found;
}

/* The least or the largest value, as text. */
static void set_extreme(struct sta_table *table, size_t row, const struct sta_tally *tally,
                        const struct sta_tally_value *values, size_t count, bool largest)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    if (tally->type == STA_TYPE_INT && tally->any) {
        sta_put_int(&text, largest ? tally->largest : tally->least);
    } else if (tally->type == STA_TYPE_FLOAT && tally->any) {
        sta_put_double(&text, largest ? tally->largest_number : tally->least_number);
    } else if (tally->type == STA_TYPE_TEXT && count > 0) {
        struct sta_text found = extreme_text(values, count, largest);
        sta_put(&text, found.bytes, found.length);
    } else if (tally->type == STA_TYPE_BOOL && count > 0) {
        sta_put_text(&text, tally->counts[largest] > 0 ? (largest ? "true" : "false")
                            : largest                  ? "false"
                                                       : "true");
    } else {
        return;
    }
    set_text(table, largest ? "max" : "min", row, &text);
    sta_buffer_fini(&text);
}

static void set_row(struct sta_table *table, size_t row, const struct sta_schema_column *column,
                    const struct sta_tally *tally, uint64_t events)
{
    size_t count;
    const char *type = sta_type_name(column->type);
    struct sta_tally_value *values = sta_tally_values(tally, &count);
    bool counted = column->type != STA_TYPE_FLOAT && !tally->overflowed;
    sta_table_set_text(table, sta_table_find(table, "name"), row, column->name, strlen(column->name));
    sta_table_set_text(table, sta_table_find(table, "type"), row, type, strlen(type));
    if (column->unit != NULL)
        sta_table_set_text(table, sta_table_find(table, "unit"), row, column->unit, strlen(column->unit));
    sta_table_set_int(sta_table_find(table, "missing"), row, (int64_t)tally->missing);
    if (events > 0)
        sta_table_set_number(sta_table_find(table, "missing_share"), row,
                             (double)tally->missing / (double)events);
    if (counted)
        sta_table_set_int(sta_table_find(table, "distinct"), row, (int64_t)count);
    set_extreme(table, row, tally, values, count, false);
    set_extreme(table, row, tally, values, count, true);
    if (column->type == STA_TYPE_TEXT)
        set_top(table, row, values, count);
    free(values);
}

static void fill(struct sta_table *table, const struct sta_tallied *tallied)
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
    const struct sta_schema *schema = sta_columns_schema(tallied->all);
    uint64_t events = sta_snapshot_info(sta_columns_snapshot(tallied->all))->events;
    sta_table_init(table, tallied->count);
    for (size_t c = 0; c < STA_COUNT_OF(columns); c++)
        sta_table_add(table, columns[c].name, columns[c].type, NULL);
    for (size_t i = 0; i < tallied->count; i++)
        set_row(table, i, &schema->columns[tallied->columns[i]], &tallied->tallies[i], events);
}

int sta_columns_describe(const struct sta_columns_question *question, const struct sta_budget *budget,
                         struct sta_table *table, struct sta_error *err)
{
    struct sta_tallied tallied = {0};
    int status = sta_schema_bind(question, &tallied.all, err);
    if (status != STA_OK)
        return status;
    const struct sta_schema *schema = sta_columns_schema(tallied.all);
    tallied.columns = sta_alloc_array(schema->count, sizeof *tallied.columns);
    for (size_t i = 0; i < schema->count; i++)
        if (!sta_schema_is_hidden(&schema->columns[i]))
            tallied.columns[tallied.count++] = (uint32_t)i;
    status = sta_tally_columns(&tallied, MOST_INTEGERS, budget, err);
    if (status == STA_OK)
        fill(table, &tallied);
    sta_tallied_fini(&tallied);
    return status;
}
