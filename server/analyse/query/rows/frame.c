/* Lazy values of a stage's expressions; see frame.h. */
#include "analyse/query/rows/frame.h"

#include <stdlib.h>

#include "analyse/budget.h"
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

static int add_computed(struct computed *item, const struct sta_expression *expression, struct sta_error *err)
{
    int column = sta_expression_column(expression);
    item->column = (uint32_t)column;
    return column >= 0 ? 0 : sta_program_create(expression, &item->program, err);
}

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
        return index < stage->argument_count ? stage->arguments[index] : NULL;
    case STA_PART_HISTOGRAM:
        return index == 0 ? stage->histogram.of : NULL;
    default:
        return stage->kind == STA_PLAN_ROWS && index < stage->output_count ? stage->outputs[index].expression
                                                                           : NULL;
    }
}

int sta_stage_programs_create(const struct sta_plan_stage *stage, struct sta_stage_programs **programs,
                              struct sta_error *err)
{
    struct sta_stage_programs *fresh = sta_alloc(sizeof *fresh);
    size_t most = stage->derived_count + stage->key_count + stage->argument_count + stage->output_count + 2;
    size_t count = 0;
    int rc = 0;
    fresh->stage = stage;
    fresh->items = sta_alloc_array(most, sizeof *fresh->items);
    for (int part = 0; part < STA_PARTS; part++) {
        const struct sta_expression *expression;
        fresh->first[part] = count;
        for (size_t i = 0; rc == 0 && (expression = expression_of(stage, part, i)) != NULL; i++)
            rc = add_computed(&fresh->items[count++], expression, err);
    }
    fresh->first[STA_PARTS] = count;
    if (rc != 0) {
        sta_stage_programs_destroy(fresh);
        fresh = NULL;
    }
    *programs = fresh;
    return rc;
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

size_t sta_stage_programs_count(const struct sta_stage_programs *programs, enum sta_part part)
{
    return programs->first[part + 1] - programs->first[part];
}

/* ---- frames */

struct slot {
    uint64_t serial; /* of the rows that the vector is of */
    struct sta_vector vector;
    struct sta_evaluator *evaluator;
};

struct sta_frame {
    struct sta_stage_programs *programs;
    struct sta_frame *below;
    sta_column_source base;
    void *base_context;
    const struct sta_budget *budget;
    uint64_t serial; /* counts seeks, from 1 */
    uint32_t rows;
    struct slot *slots; /* by item */
};

struct sta_frame *sta_frame_create(struct sta_stage_programs *programs, struct sta_frame *below,
                                   sta_column_source base, void *base_context,
                                   const struct sta_budget *budget)
{
    struct sta_frame *frame = sta_alloc(sizeof *frame);
    *frame = (struct sta_frame){
        .programs = programs, .below = below, .base = base, .base_context = base_context, .budget = budget};
    frame->slots = sta_alloc_array(programs->first[STA_PARTS] + 1, sizeof *frame->slots);
    return frame;
}

void sta_frame_destroy(struct sta_frame *frame)
{
    if (frame == NULL)
        return;
    for (size_t i = 0; i < frame->programs->first[STA_PARTS]; i++)
        sta_evaluator_destroy(frame->slots[i].evaluator);
    free(frame->slots);
    free(frame);
}

void sta_frame_seek(struct sta_frame *frame, uint32_t rows)
{
    frame->serial++;
    frame->rows = rows;
}

/* The texts that the expressions of the stage have made, all together. */
static int check_texts(const struct sta_frame *frame, struct sta_error *err)
{
    double bytes = 0;
    for (size_t i = 0; i < frame->programs->first[STA_PARTS]; i++)
        if (frame->programs->items[i].program != NULL)
            bytes += (double)sta_program_text_bytes(frame->programs->items[i].program);
    return sta_budget_memory(frame->budget, bytes, "the texts that expressions make", err);
}

static int compute(struct sta_frame *frame, size_t item, struct sta_vector *vector, struct sta_error *err)
{
    const struct computed *computed = &frame->programs->items[item];
    struct slot *slot = &frame->slots[item];
    if (computed->program == NULL)
        return sta_frame_column(frame, computed->column, vector, err);
    if (slot->serial != frame->serial) {
        if (slot->evaluator == NULL) {
            slot->evaluator = sta_evaluator_create();
            sta_evaluator_watch(slot->evaluator, frame->budget->cancel, frame->budget->memory);
        }
        int rc = sta_budget_check(frame->budget, err);
        if (rc == 0)
            rc = check_texts(frame, err);
        if (rc == 0)
            rc = sta_program_run(computed->program, slot->evaluator, frame->rows, sta_frame_column, frame,
                                 &slot->vector, err);
        if (rc != 0)
            return rc;
        slot->serial = frame->serial;
    }
    *vector = slot->vector;
    return 0;
}

int sta_frame_part(struct sta_frame *frame, enum sta_part part, size_t index, struct sta_vector *vector,
                   struct sta_error *err)
{
    return compute(frame, frame->programs->first[part] + index, vector, err);
}

int sta_frame_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct sta_frame *frame = context;
    size_t inputs = frame->programs->stage->input_count;
    if (column >= inputs)
        return sta_frame_part(frame, STA_PART_DERIVED, column - inputs, vector, err);
    if (frame->below != NULL)
        return sta_frame_part(frame->below, STA_PART_OUTPUTS, column, vector, err);
    return frame->base(frame->base_context, column, vector, err);
}
