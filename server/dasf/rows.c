/* What tables have in common: sorts, and rows of a long table: filled by all workers, some thousand at a
 * time, with copies of their texts.
 *
 * A row's texts lie anywhere in the dictionaries, and many rows have the same: of hosts, workers and
 * functions one copy serves all of some thousand rows. */
#include <stdlib.h>

#include "dasf/stream.h"
#include "analyse/exec/tasks.h"
#include "common/memory.h"

#define MORSEL_ROWS 8192
#define SHARED 256 /* texts that are remembered; a power of two */
#define AHEAD 16   /* rows whose text is fetched before it is wanted */

struct filling {
    struct sta_table *table;
    dasf_fill *fill;
    const void *context;
    struct sta_arena *arenas; /* by worker: copies of texts */
};

struct shared_text {
    const char *lent;
    struct sta_text own;
};

static struct sta_text own_text(struct sta_arena *arena, struct shared_text *shared, struct sta_text text)
{
    struct shared_text *known = &shared[((uintptr_t)text.bytes >> 3) % SHARED];
    if (known->lent != text.bytes || known->own.length != text.length)
        *known =
            (struct shared_text){text.bytes, {sta_arena_copy(arena, text.bytes, text.length), text.length}};
    return known->own;
}

static void own_texts(struct sta_arena *arena, struct sta_table_column *column, size_t first, size_t end)
{
    struct shared_text shared[SHARED] = {0};
    for (size_t row = first; row < end; row++) {
        if (row + AHEAD < end)
            __builtin_prefetch(column->texts[row + AHEAD].bytes);
        if (!column->missing[row])
            column->texts[row] = own_text(arena, shared, column->texts[row]);
    }
}

static int fill_morsel(void *context, unsigned worker, size_t morsel, struct sta_error *err)
{
    const struct filling *filling = context;
    struct sta_table *table = filling->table;
    const size_t first = morsel * MORSEL_ROWS, end = STA_MIN(first + MORSEL_ROWS, table->rows);
    (void)err;
    filling->fill(filling->context, first, end);
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].type == STA_TYPE_TEXT && !table->columns[c].refused)
            own_texts(&filling->arenas[worker], &table->columns[c], first, end);
    return STA_OK;
}

int dasf_fill_rows(const struct dasf_request *request, dasf_fill *fill, const void *context,
                   struct sta_error *err)
{
    struct sta_table *table = request->table;
    const unsigned workers = sta_budget_workers(request->budget);
    struct filling filling = {table, fill, context, sta_alloc_array(workers, sizeof *filling.arenas)};
    for (unsigned w = 0; w < workers; w++)
        filling.arenas[w].account = table->arena.account;
    int status = sta_tasks_run(request->budget, (table->rows + MORSEL_ROWS - 1) / MORSEL_ROWS, fill_morsel,
                               &filling, err);
    for (unsigned w = 0; w < workers; w++)
        sta_arena_adopt(&table->arena, &filling.arenas[w]);
    free(filling.arenas);
    return status;
}

int dasf_sort_pairs(const struct dasf_request *request, struct sta_word_pair *pairs,
                    struct sta_word_pair *scratch, size_t count, const char *what, struct sta_error *err)
{
    int status = sta_radix_sort_on(sta_budget_workers(request->budget), &pairs->major, &scratch->major, count,
                                   2, false, request->budget->cancel);
    return status == STA_OK ? STA_OK : sta_radix_failed(status, what, count, err);
}
