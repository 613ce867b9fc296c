/* The distinct values of a column, for completion. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/schema/schema.h"
#include "common/buffer.h"
#include "common/memory.h"

#define MOST_INTEGERS (UINT32_C(1) << 20) /* distinct ones that are listed */

static int find_column(const struct sta_schema *schema, const char *name, struct sta_error *err)
{
    int column = sta_schema_resolve(schema, (struct sta_text){name, (uint32_t)strlen(name)});
    if (column >= 0)
        return column;
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t i = 0; i < schema->count; i++)
        if (!sta_schema_is_hidden(&schema->columns[i]))
            sta_put_format(&names, "%s%s", i > 0 ? ", " : "", schema->columns[i].name);
    sta_put_char(&names, '\0');
    sta_fail(err, STA_ENOTFOUND, "There is no column \"%.60s\"; there are: %s", name, names.data);
    sta_buffer_fini(&names);
    return -1;
}

static bool begins_with(struct sta_text text, const char *prefix, size_t length)
{
    if (text.length < length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)text.bytes[i]) != tolower((unsigned char)prefix[i]))
            return false;
    return true;
}

/* Those that begin so move to the front; integers are looked at in decimal. */
static size_t narrow(struct sta_tally_value *values, size_t count, enum sta_type type, const char *prefix)
{
    size_t length = strlen(prefix), kept = 0;
    for (size_t i = 0; i < count; i++) {
        char decimal[24];
        struct sta_text text = values[i].text;
        if (type == STA_TYPE_INT)
            text = (struct sta_text){
                decimal, (uint32_t)snprintf(decimal, sizeof decimal, "%lld", (long long)values[i].integer)};
        else if (type == STA_TYPE_BOOL)
            text = values[i].integer ? (struct sta_text){"true", 4} : (struct sta_text){"false", 5};
        if (begins_with(text, prefix, length))
            values[kept++] = values[i];
    }
    return kept;
}

static void fill(struct sta_table *table, const struct sta_schema_column *column,
                 const struct sta_tally_value *values, size_t count, size_t rows)
{
    sta_table_init(table, rows);
    table->row_count = count;
    struct sta_table_column *value = sta_table_add(table, "value", column->type, column->unit);
    for (size_t i = 0; i < rows; i++)
        if (column->type == STA_TYPE_TEXT)
            sta_table_set_text(table, value, i, values[i].text.bytes, values[i].text.length);
        else
            sta_table_set_int(value, i, values[i].integer);
    struct sta_table_column *counts = sta_table_add(table, "count", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < rows; i++)
        sta_table_set_int(counts, i, (int64_t)values[i].count);
}

static int check_countable(const struct sta_schema_column *column, struct sta_error *err)
{
    if (column->type != STA_TYPE_FLOAT)
        return STA_OK;
    return sta_fail(err, STA_EINPUT, "The column %s holds numbers, which are not listed; describe it instead",
                    column->name);
}

int sta_column_values(const struct sta_columns_question *question, const char *column, const char *prefix,
                      size_t most, const struct sta_budget *budget, struct sta_table *table,
                      struct sta_error *err)
{
    struct sta_tallied tallied = {0};
    int status = sta_schema_bind(question, &tallied.all, err);
    if (status != STA_OK)
        return status;
    const struct sta_schema *schema = sta_columns_schema(tallied.all);
    int index = find_column(schema, column, err);
    status = index < 0 ? err->status : check_countable(&schema->columns[index], err);
    if (status == STA_OK) {
        tallied.count = 1;
        tallied.columns = sta_alloc_array(1, sizeof *tallied.columns);
        tallied.columns[0] = (uint32_t)index;
        status = sta_tally_columns(&tallied, MOST_INTEGERS, budget, err);
    }
    if (status == STA_OK && tallied.tallies[0].overflowed)
        status = sta_fail(err, STA_ELIMIT, "The column %s has more than %u distinct values",
                          schema->columns[index].name, MOST_INTEGERS);
    if (status == STA_OK) {
        size_t count;
        struct sta_tally_value *values = sta_tally_values(&tallied.tallies[0], &count);
        count = narrow(values, count, schema->columns[index].type, prefix != NULL ? prefix : "");
        fill(table, &schema->columns[index], values, count, STA_MIN(count, most));
        free(values);
    }
    sta_tallied_fini(&tallied);
    return status;
}
