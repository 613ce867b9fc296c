/* Requests to plans: the stages one after another, each checked in the order of the contract (query.md part
 * 3). */
#include "analyse/query/plan.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/query/plan/maker.h"

/* ---- before the schema is known */

static void read_preset(struct sta_maker *maker)
{
    const struct sta_document *preset = sta_stage_member(maker, "preset");
    const struct sta_document *filters = sta_stage_member(maker, "filters");
    maker->plan->filters = true;
    if (preset != NULL && preset->type != STA_DOCUMENT_TEXT)
        sta_refuse(maker, STA_EINPUT, "/preset", "expected the name of a preset, not %s",
                   sta_document_kind(preset));
    else if (preset != NULL)
        maker->plan->preset = sta_maker_copy(maker, preset->text.bytes);
    if (filters == NULL)
        return;
    bool on = filters->type == STA_DOCUMENT_TEXT && strcmp(filters->text.bytes, "on") == 0;
    bool off = filters->type == STA_DOCUMENT_TEXT && strcmp(filters->text.bytes, "off") == 0;
    if (!on && !off)
        sta_refuse(maker, STA_EINPUT, "/filters", "expected \"on\" or \"off\"");
    maker->plan->filters = on;
}

static void read_seconds(struct sta_maker *maker, const char *name, bool *has, double *seconds)
{
    const struct sta_document *value = sta_stage_member(maker, name);
    if (value == NULL)
        return;
    *has = sta_document_number(value, seconds);
    if (!*has)
        sta_refuse(maker, STA_EINPUT, sta_point_member(maker, name),
                   "expected a number of seconds from the origin, not %s", sta_document_kind(value));
}

int sta_plan_begin(const struct sta_query *query, struct sta_plan *plan, struct sta_error *err)
{
    struct sta_maker maker = {
        .query = query, .plan = plan, .err = err, .request = query->request, .where = ""};
    *plan = (struct sta_plan){.stages = NULL};
    if (query->request->type != STA_DOCUMENT_OBJECT)
        return sta_fail(err, STA_EINPUT, "expected a request as an object, not %s",
                        sta_document_kind(query->request));
    sta_check_stage_members(&maker);
    read_preset(&maker);
    read_seconds(&maker, "from", &plan->has_from, &plan->from);
    read_seconds(&maker, "to", &plan->has_to, &plan->to);
    return maker.failed ? err->status : 0;
}

/* ---- stages */

static bool enter_stage(struct sta_maker *maker, const struct sta_document *request, const char *where)
{
    struct sta_plan *plan = maker->plan;
    sta_check_limit(maker, where, "stages", plan->stage_count + 1, STA_MOST_STAGES);
    if (!maker->failed && request->type != STA_DOCUMENT_OBJECT)
        sta_refuse(maker, STA_EINPUT, where, "expected the next stage as an object, not %s",
                   sta_document_kind(request));
    if (maker->failed)
        return false;
    maker->request = request;
    maker->where = where;
    maker->is_last = sta_stage_member(maker, "then") == NULL;
    maker->stage = &plan->stages[plan->stage_count++];
    sta_check_stage_members(maker);
    return !maker->failed;
}

int sta_plan_stages(const struct sta_query *query, const struct sta_schema *schema, struct sta_plan *plan,
                    struct sta_error *err)
{
    struct sta_maker maker = {.query = query, .plan = plan, .err = err, .events = true};
    struct sta_schema input = *schema;
    const struct sta_document *request = query->request;
    const char *where = "";
    plan->stages = sta_maker_alloc(&maker, STA_MOST_STAGES, sizeof *plan->stages);
    sta_show_usual(&maker, schema);
    while (request != NULL && enter_stage(&maker, request, where)) {
        sta_make_stage(&maker, &input);
        if (maker.failed)
            break;
        where = sta_point_member(&maker, "then");
        request = sta_stage_member(&maker, "then");
        input = sta_pass_on(&maker);
    }
    if (!maker.failed)
        sta_mark_unused(plan);
    return maker.failed ? err->status : 0;
}

/* ---- the end */

static void destroy_outputs(const struct sta_plan_output *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sta_expression_destroy(outputs[i].expression);
}

void sta_plan_fini(struct sta_plan *plan)
{
    for (size_t i = 0; i < plan->stage_count; i++) {
        struct sta_plan_stage *stage = &plan->stages[i];
        for (size_t d = 0; d < stage->derived_count; d++)
            sta_expression_destroy(stage->derived[d]);
        sta_aggregates_fini(&stage->gathered);
        destroy_outputs(stage->keys, stage->key_count);
        destroy_outputs(stage->outputs, stage->output_count);
        sta_expression_destroy(stage->filter);
        sta_expression_destroy(stage->histogram.of);
    }
    sta_arena_fini(&plan->memory);
    *plan = (struct sta_plan){.stages = NULL};
}
