/* The distinct values of a column, for completion. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/schema/tally.h"
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

struct listing {
    struct sta_table *table;
    const struct sta_schema_column *column;
    const char *prefix;
    size_t most;
    const struct sta_budget *budget;
};

/* Integers are looked at in decimal. */
static bool is_listed(const struct sta_column_tally *tally, uint64_t value, const char *prefix)
{
    const struct sta_vector *key = &tally->values.keys[0];
    char decimal[24];
    struct sta_text text;
    if (tally->type == STA_TYPE_INT)
        text = (struct sta_text){
            decimal, (uint32_t)snprintf(decimal, sizeof decimal, "%lld", (long long)key->integers[value])};
    else if (tally->type == STA_TYPE_BOOL)
        text = key->bools[value] ? (struct sta_text){"true", 4} : (struct sta_text){"false", 5};
    else
        text = sta_tally_text(tally, value);
    return begins_with(text, prefix, strlen(prefix));
}

static void fill(const struct listing *listing, const struct sta_column_tally *tally, const uint64_t *values,
                 size_t count)
{
    const size_t rows = STA_MIN(count, listing->most);
    sta_table_init(listing->table, rows);
    listing->table->row_count = count;
    sta_table_add(listing->table, "value", listing->column->type, listing->column->unit);
    sta_table_add(listing->table, "count", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < rows; i++) {
        const struct sta_vector *key = &tally->values.keys[0];
        struct sta_table_column *value = &listing->table->columns[0];
        if (key->type == STA_TYPE_TEXT) {
            const struct sta_text text = sta_tally_text(tally, values[i]);
            sta_table_set_text(listing->table, value, i, text.bytes, text.length);
        } else {
            sta_table_set_int(value, i,
                              key->type == STA_TYPE_INT ? key->integers[values[i]] : key->bools[values[i]]);
        }
        sta_table_set_int(&listing->table->columns[1], i, sta_tally_frequency(tally, values[i]));
    }
}

static int list_values(void *self, size_t number, const struct sta_column_tally *tally, struct sta_error *err)
{
    const struct listing *listing = self;
    size_t count = 0;
    if (tally->overflowed)
        return sta_fail(err, STA_ELIMIT, "The column %s has more than %u distinct values",
                        listing->column->name, MOST_INTEGERS);
    uint64_t *values = sta_tally_by_frequency(tally, listing->budget, err);
    if (values == NULL)
        return err->status;
    for (uint64_t i = 0; i < tally->count; i++)
        if (is_listed(tally, values[i], listing->prefix))
            values[count++] = values[i];
    fill(listing, tally, values, count);
    sta_account_free(listing->budget->account, values);
    return STA_OK;
}

static int check_countable(const struct sta_schema_column *column, struct sta_error *err)
{
    if (column->type != STA_TYPE_FLOAT)
        return STA_OK;
    return sta_fail(err, STA_EINPUT, "The column %s holds numbers, which are not listed; describe it instead",
                    column->name);
}

int sta_column_values(const struct sta_columns_query *query, const char *column, const char *prefix,
                      size_t most, const struct sta_budget *budget, struct sta_table *table,
                      struct sta_error *err)
{
    struct sta_columns *all;
    int status = sta_schema_bind(query, &all, err);
    if (status != STA_OK)
        return status;
    const struct sta_schema *schema = sta_columns_schema(all);
    const int index = find_column(schema, column, err);
    status = index < 0 ? err->status : check_countable(&schema->columns[index], err);
    if (status == STA_OK) {
        struct listing listing = {table, &schema->columns[index], prefix != NULL ? prefix : "", most, budget};
        const struct sta_tally_output output = {&listing, list_values};
        const uint32_t number = (uint32_t)index;
        status = sta_tally_columns(all, &number, 1, MOST_INTEGERS, &output, budget, err);
    }
    sta_columns_destroy(all);
    return status;
}
