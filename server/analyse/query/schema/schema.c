/* Passes over a trace that tally columns. */
#include "analyse/query/schema/tally.h"

#include "analyse/exec/budget.h"
#include "analyse/views/bound_query.h"
#include "analyse/sources/scan.h"
#include "common/memory.h"

#define COLUMNS_PER_PASS 128u /* at most */
#define VALUE_BYTES 64        /* that a distinct value takes in a table */

struct pass {
    const uint32_t *columns;
    size_t count;
    struct sta_column_tally tallies[COLUMNS_PER_PASS];
};

static int update(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct pass *pass = self;
    STA_ASSERT(rows->selected == NULL); /* no filter, no window */
    int rc = STA_OK;
    for (size_t i = 0; rc == 0 && i < pass->count; i++) {
        struct sta_vector vector;
        rc = sta_column_reader_get(rows->reader, pass->columns[i], &vector, err);
        if (rc == 0)
            rc = sta_tally_add(&pass->tallies[i], worker, &vector, rows->count, err);
        sta_column_reader_drop(rows->reader, pass->columns[i]);
    }
    return rc;
}

static int run_pass(struct pass *pass, const struct sta_columns *all, size_t most,
                    const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_schema *schema = sta_columns_schema(all);
    struct sta_accumulator accumulator = {.self = pass, .update = update};
    struct sta_scan scan = {.columns = all,
                            .from = INT64_MIN,
                            .to = INT64_MAX,
                            .accumulators = &accumulator,
                            .accumulator_count = 1};
    int rc = STA_OK;
    for (size_t i = 0; rc == 0 && i < pass->count; i++)
        rc = sta_tally_init(&pass->tallies[i], schema->columns[pass->columns[i]].type, most, budget, err);
    if (rc == 0)
        rc = sta_scan_run(&scan, budget, err);
    for (size_t i = 0; rc == 0 && i < pass->count; i++)
        rc = sta_tally_finish(&pass->tallies[i], err);
    return rc;
}

/* Of so many tables of @most values, one for each column and worker, all take half of the memory. */
static size_t tables_at_once(size_t most, const struct sta_budget *budget)
{
    return STA_MAX(budget->memory / 2 / (most * VALUE_BYTES), 1);
}

int sta_tally_columns(const struct sta_columns *all, const uint32_t *columns, size_t count, size_t most,
                      const struct sta_tally_output *output, const struct sta_budget *budget,
                      struct sta_error *err)
{
    const size_t tables = tables_at_once(most, budget);
    struct sta_budget own = *budget;
    own.workers = (unsigned)STA_MIN(tables, (size_t)sta_budget_workers(budget));
    const size_t at_once = STA_MIN(tables / own.workers, (size_t)COLUMNS_PER_PASS);
    int rc = STA_OK;
    for (size_t first = 0; rc == 0 && first < count; first += at_once) {
        struct pass pass = {.columns = columns + first, .count = STA_MIN(count - first, at_once)};
        rc = run_pass(&pass, all, most, &own, err);
        for (size_t i = 0; i < pass.count; i++) {
            if (rc == 0)
                rc = output->take(output->self, first + i, &pass.tallies[i], err);
            sta_tally_fini(&pass.tallies[i]);
        }
    }
    return rc;
}

int sta_schema_bind(const struct sta_columns_query *query, struct sta_columns **columns,
                    struct sta_error *err)
{
    struct sta_columns_options options = {.presets = query->presets, .trace = query->label};
    if (query->preset != NULL) {
        int status = sta_view_query_preset(query->presets, query->preset, &options.preset, err);
        if (status != STA_OK)
            return status;
    }
    return sta_columns_create(query->snapshot, &options, columns, err);
}
