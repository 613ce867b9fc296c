/* Lazy values of a stage's expressions; see executor.h. */
#include "analyse/query/rows/executor.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "analyse/query/plan.h"
#include "common/memory.h"

struct computed {
    struct sta_program *program; /* NULL: a bare column */
    uint32_t column;
};

struct sta_stage_programs {
    const struct sta_plan_stage *stage;
    size_t first[STA_PARTS + 1]; /* of each part, in items */
    struct computed *items;
};

/* Expression @index of a part, or NULL past its last. */
static const struct sta_expression *expression_of(const struct sta_plan_stage *stage, enum sta_part part,
                                                  size_t index)
{
    switch (part) {
    case STA_PART_DERIVED:
        return index < stage->derived_count ? stage->derived[index] : NULL;
    case STA_PART_FILTER:
        return index == 0 ? stage->filter : NULL;
    case STA_PART_KEYS:
        return index < stage->key_count ? stage->keys[index].expression : NULL;
    case STA_PART_ARGUMENTS:
        return index < stage->gathered.argument_count ? stage->gathered.arguments[index] : NULL;
    case STA_PART_HISTOGRAM:
        return index == 0 ? stage->histogram.of : NULL;
    default:
        return stage->kind == STA_PLAN_ROWS && index < stage->output_count ? stage->outputs[index].expression
                                                                           : NULL;
    }
}

struct sta_stage_programs *sta_stage_programs_create(const struct sta_plan_stage *stage, size_t text_bytes,
                                                     const char *spill_folder)
{
    struct sta_stage_programs *fresh = sta_alloc(sizeof *fresh);
    size_t most =
        stage->derived_count + stage->key_count + stage->gathered.argument_count + stage->output_count + 2;
    size_t count = 0;
    fresh->stage = stage;
    fresh->items = sta_alloc_array(most, sizeof *fresh->items);
    for (int part = 0; part < STA_PARTS; part++) {
        const struct sta_expression *expression;
        fresh->first[part] = count;
        for (size_t i = 0; (expression = expression_of(stage, part, i)) != NULL; i++) {
            const int column = expression->column;
            fresh->items[count++] = (struct computed){
                .column = (uint32_t)column, .program = column < 0 ? sta_program_create(expression) : NULL};
        }
    }
    fresh->first[STA_PARTS] = count;
    for (size_t i = 0; i < count; i++)
        if (fresh->items[i].program != NULL)
            sta_program_limit(fresh->items[i].program, text_bytes / count, spill_folder);
    return fresh;
}

void sta_stage_programs_destroy(struct sta_stage_programs *programs)
{
    if (programs == NULL)
        return;
    for (size_t i = 0; i < programs->first[STA_PARTS]; i++)
        sta_program_destroy(programs->items[i].program);
    free(programs->items);
    free(programs);
}

/* ---- executors */

struct slot {
    uint64_t serial; /* of the rows that the vector is of */
    struct sta_vector vector;
    struct sta_evaluator *evaluator;
};

struct sta_executor {
    struct sta_stage_programs *programs;
    struct sta_executor *below;
    sta_column_source base;
    void *base_context;
    const struct sta_budget *budget;
    uint64_t serial; /* counts seeks, from 1 */
    uint32_t rows;
    struct slot *slots; /* by item */
};

struct sta_executor *sta_executor_create(struct sta_stage_programs *programs, struct sta_executor *below,
                                         sta_column_source base, void *base_context,
                                         const struct sta_budget *budget)
{
    struct sta_executor *executor = sta_alloc(sizeof *executor);
    *executor = (struct sta_executor){
        .programs = programs, .below = below, .base = base, .base_context = base_context, .budget = budget};
    executor->slots = sta_alloc_array(programs->first[STA_PARTS] + 1, sizeof *executor->slots);
    return executor;
}

void sta_executor_destroy(struct sta_executor *executor)
{
    if (executor == NULL)
        return;
    for (size_t i = 0; i < executor->programs->first[STA_PARTS]; i++)
        sta_evaluator_destroy(executor->slots[i].evaluator);
    free(executor->slots);
    free(executor);
}

void sta_executor_seek(struct sta_executor *executor, uint32_t rows)
{
    executor->serial++;
    executor->rows = rows;
}

static int compute(struct sta_executor *executor, size_t item, struct sta_vector *vector,
                   struct sta_error *err)
{
    const struct computed *computed = &executor->programs->items[item];
    struct slot *slot = &executor->slots[item];
    if (computed->program == NULL)
        return sta_executor_column(executor, computed->column, vector, err);
    if (slot->serial != executor->serial) {
        if (slot->evaluator == NULL) {
            slot->evaluator = sta_evaluator_create();
            sta_evaluator_watch(slot->evaluator, executor->budget->cancel);
        }
        int rc = sta_budget_check(executor->budget, err);
        if (rc == 0)
            rc = sta_program_run(computed->program, slot->evaluator, executor->rows, sta_executor_column,
                                 executor, &slot->vector, err);
        if (rc != 0)
            return rc;
        slot->serial = executor->serial;
    }
    *vector = slot->vector;
    return 0;
}

int sta_executor_part(struct sta_executor *executor, enum sta_part part, size_t index,
                      struct sta_vector *vector, struct sta_error *err)
{
    return compute(executor, executor->programs->first[part] + index, vector, err);
}

int sta_executor_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct sta_executor *executor = context;
    size_t inputs = executor->programs->stage->input_count;
    if (column >= inputs)
        return sta_executor_part(executor, STA_PART_DERIVED, column - inputs, vector, err);
    if (executor->below != NULL)
        return sta_executor_part(executor->below, STA_PART_OUTPUTS, column, vector, err);
    return executor->base(executor->base_context, column, vector, err);
}
