/* Rows of a long table: filled by all workers, some thousand at a time; then its texts are copied.
 *
 * A row's texts lie anywhere in the dictionaries, and many rows have the same: of hosts, workers and
 * functions one copy serves all of a table's rows. */
#include "analyse/dasf/stream.h"
#include "analyse/exec/tasks.h"
#include "common/memory.h"

#define MORSEL_ROWS 8192
#define SHARED 256 /* texts that are remembered; a power of two */
#define AHEAD 16   /* rows whose text is fetched before it is wanted */

struct filling {
    dasf_fill *fill;
    const void *context;
    size_t rows;
};

static int fill_morsel(void *context, unsigned worker, size_t morsel, struct sta_error *err)
{
    const struct filling *filling = context;
    (void)worker;
    (void)err;
    filling->fill(filling->context, morsel * MORSEL_ROWS, STA_MIN((morsel + 1) * MORSEL_ROWS, filling->rows));
    return STA_OK;
}

struct shared_text {
    const char *lent;
    struct sta_text own;
};

static struct sta_text own_text(struct sta_table *table, struct shared_text *shared, struct sta_text text)
{
    struct shared_text *known = &shared[((uintptr_t)text.bytes >> 3) % SHARED];
    if (known->lent != text.bytes || known->own.length != text.length)
        *known = (struct shared_text){text.bytes,
                                      {sta_arena_copy(&table->arena, text.bytes, text.length), text.length}};
    return known->own;
}

static int own_texts(const struct dasf_asked *asked, struct sta_table_column *column, struct sta_error *err)
{
    struct shared_text shared[SHARED] = {0};
    struct sta_table *table = asked->table;
    for (size_t row = 0; row < table->rows; row++) {
        if (sta_budget_check_step(asked->budget, row, err) != STA_OK)
            return err->status;
        if (row + AHEAD < table->rows)
            __builtin_prefetch(column->texts[row + AHEAD].bytes);
        if (!column->missing[row] && !column->refused)
            column->texts[row] = own_text(table, shared, column->texts[row]);
    }
    return STA_OK;
}

int dasf_fill_rows(const struct dasf_asked *asked, dasf_fill *fill, const void *context,
                   struct sta_error *err)
{
    struct sta_table *table = asked->table;
    struct filling filling = {fill, context, table->rows};
    int status = sta_tasks_run(asked->budget, (table->rows + MORSEL_ROWS - 1) / MORSEL_ROWS, fill_morsel,
                               &filling, err);
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].type == STA_TYPE_TEXT && status == STA_OK)
            status = own_texts(asked, &table->columns[c], err);
    return status;
}
