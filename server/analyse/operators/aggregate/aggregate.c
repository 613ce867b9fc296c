/* The facade of the grouping: workers take rows, finish unites them. */
#include "analyse/operators/aggregate.h"

#include <stdlib.h>

#include "analyse/exec/tasks.h"
#include "analyse/operators/aggregate/aggregation.h"
#include "common/memory.h"

int sta_aggregation_create(const struct sta_aggregation_spec *spec, const struct sta_budget *budget,
                           const char *spill_folder, struct sta_aggregation **grouping, struct sta_error *err)
{
    struct sta_aggregation *made = sta_alloc(sizeof *made);
    sta_account_init_texts(&made->texts, budget->memory / 4, spill_folder, budget->account);
    sta_shape_init(&made->shape, spec, &made->texts);
    made->budget = *budget;
    made->shape.cancel = budget->cancel;
    made->spill_folder = spill_folder != NULL && *spill_folder != '\0' ? sta_strdup(spill_folder) : NULL;
    made->worker_count = sta_budget_workers(budget);
    made->limits = (struct sta_group_limits){.memory = budget->memory / made->worker_count,
                                             .workers = made->worker_count,
                                             .spill_folder = made->spill_folder,
                                             .most_groups = spec->most_groups};
    made->workers = sta_alloc_array(made->worker_count, sizeof *made->workers);
    for (unsigned w = 0; w < made->worker_count; w++) {
        made->workers[w] = sta_alloc(sizeof **made->workers);
        sta_group_worker_init(made->workers[w], &made->shape, &made->limits, &made->budget);
    }
    *grouping = made;
    return STA_OK;
}

/* Into one group, by what a row without a value adds 0 to. */
bool sta_aggregation_takes_marks(const struct sta_aggregation *grouping)
{
    const struct sta_shape *shape = &grouping->shape;
    bool takes = shape->key_count == 0;
    for (size_t f = 0; f < shape->call_count; f++)
        takes = takes && (shape->calls[f].primitive.aggregate == STA_AGGREGATE_ROWS ||
                          (shape->calls[f].function->missing_is_zero &&
                           shape->calls[f].primitive.types[0] == STA_TYPE_INT));
    return takes;
}

void sta_aggregation_destroy(struct sta_aggregation *grouping)
{
    if (grouping == NULL)
        return;
    for (unsigned w = 0; w < grouping->worker_count; w++) {
        sta_group_worker_fini(grouping->workers[w]);
        free(grouping->workers[w]);
    }
    free(grouping->workers);
    sta_group_results_fini(&grouping->results);
    sta_group_order_fini(&grouping->order);
    sta_shape_fini(&grouping->shape);
    sta_dictionary_destroy(grouping->read_texts);
    sta_account_close(&grouping->texts);
    free(grouping->spill_folder);
    free(grouping);
}

int sta_aggregation_consume(struct sta_aggregation *grouping, unsigned worker,
                            const struct sta_aggregation_input *rows, struct sta_error *err)
{
    STA_ASSERT(worker < grouping->worker_count);
    return sta_group_worker_update(grouping->workers[worker], rows, err);
}

bool sta_aggregation_is_full(const struct sta_aggregation *grouping)
{
    return atomic_load_explicit(&grouping->limits.full, memory_order_relaxed);
}

/* ---- all groups */

struct sta_aggregation_figures sta_aggregation_figures(const struct sta_aggregation *grouping)
{
    return grouping->figures;
}

struct sta_group_table **sta_group_tables(const struct sta_aggregation *grouping, size_t *count)
{
    struct sta_group_table **tables = NULL;
    size_t capacity = 0;
    *count = 0;
    for (unsigned w = 0; w < grouping->worker_count; w++)
        for (size_t t = 0; t <= grouping->workers[w]->sealed_count; t++) {
            struct sta_group_table *table = sta_group_worker_table(grouping->workers[w], t);
            STA_GROW(tables, capacity, *count + 1);
            tables[*count] = table;
            *count += table->count > 0;
        }
    return tables;
}

/* What occurs in tables, one of which is a task. */
struct survey {
    struct sta_group_order *order;
    struct sta_group_table **tables;
    struct sta_key_range (*ranges)[STA_MOST_KEY_FIELDS]; /* by table */
};

static int survey_table(void *context, unsigned worker, size_t table, struct sta_error *err)
{
    const struct survey *survey = context;
    sta_group_order_survey(survey->order, survey->tables[table], survey->ranges[table]);
    return STA_OK;
}

static void unite_ranges(const struct sta_shape *shape, struct sta_key_range *united,
                         const struct sta_key_range *more)
{
    for (size_t k = 0; k < shape->key_count; k++)
        sta_key_range_unite(&united[k], &more[k]);
}

int sta_group_make_order(struct sta_aggregation *grouping, struct sta_group_table **tables, size_t count,
                         struct sta_error *err)
{
    struct sta_key_range united[STA_MOST_KEY_FIELDS] = {0};
    struct survey survey = {&grouping->order, tables, sta_alloc_array(count, sizeof *survey.ranges)};
    bool runs = false;
    int rc = sta_group_order_init(&grouping->order, &grouping->shape, err);
    if (rc == 0)
        rc = sta_tasks_run(&grouping->budget, count, survey_table, &survey, err);
    for (size_t t = 0; t < count; t++)
        unite_ranges(&grouping->shape, united, survey.ranges[t]);
    free(survey.ranges);
    for (unsigned w = 0; w < grouping->worker_count; w++)
        for (size_t r = 0; r < grouping->workers[w]->run_count; r++) {
            unite_ranges(&grouping->shape, united, grouping->workers[w]->runs[r]->ranges);
            runs = true;
        }
    if (rc == 0 && runs)
        sta_group_order_survey_texts(&grouping->order);
    return rc == 0 ? sta_group_order_finalize(&grouping->order, united, &grouping->budget, err) : rc;
}
