/* One pass over a trace that tallies columns. */
#include "analyse/query/schema/schema.h"

#include <stdlib.h>

#include "analyse/budget.h"
#include "analyse/question.h"
#include "analyse/scan.h"
#include "common/memory.h"

struct pass {
    const struct sta_tallied *tallied;
    struct sta_tally *tallies; /* of worker w: from w * count on */
};

static int update(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct pass *pass = self;
    size_t count = pass->tallied->count;
    STA_ASSERT(rows->selected == NULL); /* no filter, no window */
    for (size_t i = 0; i < count; i++) {
        struct sta_vector vector;
        int status = sta_column_reader_get(rows->reader, pass->tallied->columns[i], &vector, err);
        if (status != STA_OK)
            return status;
        sta_tally_add(&pass->tallies[worker * count + i], &vector, rows->count);
        sta_column_reader_drop(rows->reader, pass->tallied->columns[i]);
    }
    return STA_OK;
}

int sta_tally_columns(struct sta_tallied *tallied, size_t most, const struct sta_budget *budget,
                      struct sta_error *err)
{
    const struct sta_schema *schema = sta_columns_schema(tallied->all);
    unsigned workers = sta_budget_workers(budget);
    size_t count = tallied->count;
    struct pass pass = {tallied, sta_alloc_array(workers * count, sizeof *pass.tallies)};
    for (size_t i = 0; i < workers * count; i++)
        sta_tally_init(&pass.tallies[i], schema->columns[tallied->columns[i % count]].type, most);
    struct sta_accumulator accumulator = {.self = &pass, .update = update};
    struct sta_scan scan = {.columns = tallied->all,
                            .from = INT64_MIN,
                            .to = INT64_MAX,
                            .accumulators = &accumulator,
                            .accumulator_count = 1};
    int status = sta_scan_run(&scan, budget, err);
    for (size_t i = count; i < workers * count; i++) {
        if (status == STA_OK)
            sta_tally_merge(&pass.tallies[i % count], &pass.tallies[i]);
        sta_tally_fini(&pass.tallies[i]);
    }
    tallied->tallies = pass.tallies;
    return status;
}

void sta_tallied_fini(struct sta_tallied *tallied)
{
    for (size_t i = 0; tallied->tallies != NULL && i < tallied->count; i++)
        sta_tally_fini(&tallied->tallies[i]);
    free(tallied->tallies);
    free(tallied->columns);
    sta_columns_destroy(tallied->all);
}

int sta_schema_bind(const struct sta_columns_question *question, struct sta_columns **columns,
                    struct sta_error *err)
{
    struct sta_columns_options options = {.presets = question->presets, .trace = question->label};
    if (question->preset != NULL) {
        int status = sta_question_preset(question->presets, question->preset, &options.preset, err);
        if (status != STA_OK)
            return status;
    }
    return sta_columns_create(question->snapshot, &options, columns, err);
}
