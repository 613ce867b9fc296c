/* Rows that pass on, or are the result: all their columns, those asked for, or the usual ones. */
#include <string.h>

#include "analyse/query/plan/maker.h"

/* ---- what is shown when no columns are asked for */

void sta_show_usual(struct sta_maker *maker, const struct sta_schema *schema)
{
    static const char *const usual[] = {"func_name",  "cat",      "host_name", "pid",       "tid",
                                        "time_start", "time_end", "time",      "file_name", "size",
                                        "offset",     "io_cat",   "image_id",  "step",      "epoch"};
    maker->shown = sta_maker_alloc(maker, STA_COUNT_OF(usual), sizeof *maker->shown);
    for (size_t i = 0; i < STA_COUNT_OF(usual); i++) {
        int column = sta_schema_find(schema, sta_text_of(usual[i]));
        if (column >= 0)
            maker->shown[maker->shown_count++] = (uint32_t)column;
    }
}

void sta_show_derived(struct sta_maker *maker)
{
    const struct sta_plan_stage *stage = maker->stage;
    uint32_t *shown = sta_maker_alloc(maker, maker->shown_count + stage->derived_count, sizeof *shown);
    for (size_t i = 0; i < maker->shown_count; i++)
        shown[i] = maker->shown[i];
    for (size_t i = 0; i < stage->derived_count; i++)
        shown[maker->shown_count++] = (uint32_t)(stage->input_count + i);
    maker->shown = shown;
}

/* Of a stage that has made its rows otherwise: all. */
static void show_result(struct sta_maker *maker)
{
    maker->shown_count = maker->stage->result_count;
    maker->shown = sta_maker_alloc(maker, maker->shown_count, sizeof *maker->shown);
    for (uint32_t i = 0; i < maker->shown_count; i++)
        maker->shown[i] = i;
}

/* ---- rows */

static void output_column(struct sta_maker *maker, uint32_t column)
{
    const struct sta_schema *schema = &maker->stage->schema;
    sta_add_output(maker, schema->columns[column].name, sta_column_expression(schema, column));
}

static void output_chosen(struct sta_maker *maker, const struct sta_document *columns)
{
    struct sta_plan_stage *stage = maker->stage;
    const char *pointer = sta_point_member(maker, "columns");
    struct sta_items items = sta_items_read(maker, columns, pointer, false);
    if (items.count == 0)
        sta_refuse(maker, STA_EINPUT, pointer, "expected at least one column");
    sta_check_limit(maker, pointer, "columns", items.count, STA_MOST_COLUMNS);
    if (!maker->failed)
        sta_make_outputs(maker, &items, &stage->outputs, &stage->output_count);
}

/* A later stage may use any of them; the result shows the usual ones. */
static void output_all(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    stage->outputs = sta_maker_alloc(maker, stage->schema.count, sizeof *stage->outputs);
    for (uint32_t i = 0; i < stage->schema.count && !maker->is_last; i++)
        output_column(maker, i);
    for (size_t i = 0; i < maker->shown_count && maker->is_last; i++)
        output_column(maker, maker->shown[i]);
}

/* The output that is nothing but that column under its own name, or -1. */
static int output_of(const struct sta_plan_stage *stage, uint32_t column)
{
    for (size_t i = 0; i < stage->output_count; i++)
        if (stage->outputs[i].expression->column == (int)column &&
            strcmp(stage->outputs[i].name, stage->schema.columns[column].name) == 0)
            return (int)i;
    return -1;
}

static bool keeps(const struct sta_plan_stage *stage, const char *name)
{
    int column = sta_schema_find(&stage->schema, sta_text_of(name));
    return column >= 0 && output_of(stage, (uint32_t)column) >= 0;
}

/* The keys of a grouping tell rows apart as long as all of them are there. */
static void pass_keys(struct sta_maker *maker)
{
    size_t count = 0;
    for (size_t i = 0; i < maker->unique_count; i++) {
        int output = output_of(maker->stage, maker->unique[i]);
        if (output >= 0)
            maker->unique[count++] = (uint32_t)output;
    }
    if (count < maker->unique_count)
        maker->unique_count = 0;
}

void sta_make_rows(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    const struct sta_document *columns = sta_stage_member(maker, "columns");
    stage->kind = STA_PLAN_ROWS;
    if (columns != NULL)
        output_chosen(maker, columns);
    else
        output_all(maker);
    if (maker->failed)
        return;
    stage->result_count = stage->output_count;
    stage->result = sta_maker_alloc(maker, stage->result_count, sizeof *stage->result);
    for (size_t i = 0; i < stage->result_count; i++)
        stage->result[i] = sta_result_column(&stage->outputs[i]);
    pass_keys(maker);
    maker->events = maker->events && keeps(stage, "ts") && keeps(stage, "te");
}

/* ---- from stage to stage */

struct sta_schema sta_pass_on(struct sta_maker *maker)
{
    const struct sta_plan_stage *stage = maker->stage;
    if (stage->kind != STA_PLAN_ROWS || sta_stage_member(maker, "columns") != NULL)
        show_result(maker);
    struct sta_schema_column *columns = sta_maker_alloc(maker, stage->result_count, sizeof *columns);
    for (size_t i = 0; i < stage->result_count; i++) {
        const struct sta_column_info *result = &stage->result[i];
        columns[i] = (struct sta_schema_column){.name = result->name,
                                                .type = result->type,
                                                .unit = result->unit,
                                                .caseless = result->type == STA_TYPE_TEXT &&
                                                            sta_is_caseless_name(result->name)};
        int passed = stage->kind == STA_PLAN_ROWS ? stage->outputs[i].expression->column : -1;
        const char *ticks = passed >= 0 ? stage->schema.columns[passed].ticks_of : NULL;
        if (ticks != NULL && keeps(stage, ticks)) {
            columns[i].ticks_of = ticks;
            columns[i].ticks_per_unit = stage->schema.columns[passed].ticks_per_unit;
        }
    }
    return (struct sta_schema){columns, stage->result_count};
}
