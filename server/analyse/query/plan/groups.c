/* Groups: keys and aggregates; value_counts said in these. */
#include <string.h>

#include "analyse/query/plan/maker.h"

/* ---- keys */

static void read_dropna(struct sta_maker *maker)
{
    const struct sta_document *dropna = sta_stage_member(maker, "dropna");
    if (dropna == NULL)
        return;
    if (dropna->type == STA_DOCUMENT_BOOL)
        maker->stage->keep_missing = !dropna->truth;
    else
        sta_refuse(maker, STA_EINPUT, sta_point_member(maker, "dropna"), "expected true or false, not %s",
                   sta_document_kind(dropna));
}

/* Key columns of group_by or, with @single, value_counts; and dropna. */
static void make_keys(struct sta_maker *maker, const struct sta_document *list, const char *pointer,
                      bool single)
{
    struct sta_plan_stage *stage = maker->stage;
    struct sta_items items = sta_items_read(maker, list, pointer, single);
    sta_check_limit(maker, pointer, "group keys", items.count, STA_MOST_KEYS);
    if (maker->failed)
        return;
    sta_make_outputs(maker, &items, &stage->keys, &stage->key_count);
    for (size_t i = 0; i < stage->key_count; i++)
        if (stage->keys[i].expression->type == STA_TYPE_LIST)
            sta_refuse_start(maker, items.items[i].pointer, "a list cannot be a group key");
    if (!maker->failed)
        read_dropna(maker);
}

void sta_make_group_by(struct sta_maker *maker)
{
    const struct sta_document *group_by = sta_stage_member(maker, "group_by");
    if (group_by != NULL)
        make_keys(maker, group_by, sta_point_member(maker, "group_by"),
                  group_by->type == STA_DOCUMENT_OBJECT);
}

/* ---- what is gathered */

void sta_open_aggregates(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    struct sta_schema_column *keys = sta_maker_alloc(maker, stage->key_count, sizeof *keys);
    for (size_t i = 0; i < stage->key_count; i++)
        keys[i] = (struct sta_schema_column){.name = stage->keys[i].name,
                                             .type = stage->keys[i].expression->type,
                                             .unit = stage->keys[i].unit,
                                             .caseless = sta_is_caseless_name(stage->keys[i].name)};
    sta_aggregates_init(&stage->gathered, &stage->schema, maker->events, keys, stage->key_count);
}

void sta_add_output(struct sta_maker *maker, const char *name, struct sta_expression *expression)
{
    struct sta_plan_stage *stage = maker->stage;
    stage->outputs[stage->output_count++] =
        (struct sta_plan_output){.name = sta_maker_copy(maker, name),
                                 .unit = sta_static_unit(expression->unit),
                                 .expression = expression};
}

static bool is_key(const struct sta_plan_stage *stage, const char *name)
{
    for (size_t i = 0; i < stage->key_count; i++)
        if (strcmp(stage->keys[i].name, name) == 0)
            return true;
    return false;
}

static void make_aggregate(struct sta_maker *maker, const struct sta_document *member, const char *pointer)
{
    struct sta_expression *expression;
    if (is_key(maker->stage, member->name))
        sta_refuse(maker, STA_EINPUT, pointer, "'%.120s' is a group key", member->name);
    struct sta_text text = sta_expression_text(maker, member, pointer);
    if (maker->failed)
        return;
    int rc = sta_aggregate_parse(text.bytes, text.length, &maker->stage->gathered, &expression, maker->err);
    sta_parser_failed(maker, rc, pointer);
    if (rc == 0)
        sta_add_output(maker, member->name, expression);
}

/* ---- results */

struct sta_column_info sta_result_column(const struct sta_plan_output *output)
{
    return (struct sta_column_info){output->name, output->unit, output->expression->type};
}

void sta_make_result(struct sta_maker *maker, const struct sta_column_info *others, size_t count,
                     size_t unique_more)
{
    struct sta_plan_stage *stage = maker->stage;
    const char *pointer = sta_point_member(maker, stage->fraction ? "value_counts" : "group_by");
    stage->result_count = stage->key_count + count;
    stage->result = sta_maker_alloc(maker, stage->result_count, sizeof *stage->result);
    for (size_t i = 0; i < stage->key_count; i++)
        stage->result[i] = sta_result_column(&stage->keys[i]);
    for (size_t i = 0; i < count && !maker->failed; i++) {
        stage->result[stage->key_count + i] = others[i];
        if (is_key(stage, others[i].name))
            sta_refuse(maker, STA_EINPUT, pointer,
                       "the result has a column '%s' of its own; name the key otherwise", others[i].name);
    }
    maker->unique_count = stage->key_count + unique_more;
    maker->unique = sta_maker_alloc(maker, maker->unique_count, sizeof *maker->unique);
    for (size_t i = 0; i < maker->unique_count; i++)
        maker->unique[i] = (uint32_t)i;
}

/* Keys, outputs, and @more. */
static void make_group_result(struct sta_maker *maker, const struct sta_column_info *more, size_t more_count)
{
    const struct sta_plan_stage *stage = maker->stage;
    size_t count = stage->output_count + more_count;
    struct sta_column_info *others = sta_maker_alloc(maker, count, sizeof *others);
    for (size_t i = 0; i < count; i++)
        others[i] =
            i < stage->output_count ? sta_result_column(&stage->outputs[i]) : more[i - stage->output_count];
    sta_make_result(maker, others, count, 0);
}

/* ---- group_by and aggregate */

void sta_make_groups(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    const struct sta_document *aggregate = sta_stage_member(maker, "aggregate");
    const char *pointer = sta_point_member(maker, "aggregate");
    stage->kind = STA_PLAN_GROUPS;
    sta_make_group_by(maker);
    size_t count = aggregate != NULL ? aggregate->count : 0;
    if (aggregate != NULL && aggregate->type != STA_DOCUMENT_OBJECT)
        sta_refuse(maker, STA_EINPUT, pointer, "expected {\"name\": \"expression\"}, not %s",
                   sta_document_kind(aggregate));
    else if (stage->key_count + count == 0)
        sta_refuse(maker, STA_EINPUT, aggregate != NULL ? pointer : sta_point_member(maker, "group_by"),
                   "neither a group key nor an aggregate is asked for");
    sta_check_limit(maker, pointer, "aggregates", count, STA_MOST_AGGREGATES);
    if (maker->failed)
        return;
    sta_open_aggregates(maker);
    stage->outputs = sta_maker_alloc(maker, count, sizeof *stage->outputs);
    for (const struct sta_document *member = count > 0 ? aggregate->first : NULL; member != NULL;
         member = member->next)
        if (!maker->failed)
            make_aggregate(maker, member, sta_point(maker, pointer, member->name));
    sta_check_limit(maker, pointer, "different calls of aggregates", stage->gathered.primitive_count,
                    STA_MOST_PRIMITIVES);
    if (!maker->failed)
        make_group_result(maker, NULL, 0);
}

/* ---- value_counts */

void sta_make_count(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    struct sta_expression *count;
    sta_open_aggregates(maker);
    int rc = sta_aggregate_parse("count()", 7, &stage->gathered, &count, maker->err);
    STA_ASSERT(rc == 0);
    stage->outputs = sta_maker_alloc(maker, 1, sizeof *stage->outputs);
    sta_add_output(maker, "count", count);
}

void sta_make_value_counts(struct sta_maker *maker)
{
    static const struct sta_column_info fraction = {"fraction", NULL, STA_TYPE_FLOAT};
    struct sta_plan_stage *stage = maker->stage;
    stage->kind = STA_PLAN_GROUPS;
    if (sta_stage_member(maker, "group_by") != NULL)
        sta_refuse(maker, STA_EINPUT, sta_point_member(maker, "group_by"),
                   "value_counts names the keys itself");
    make_keys(maker, sta_stage_member(maker, "value_counts"), sta_point_member(maker, "value_counts"), true);
    if (maker->failed)
        return;
    sta_make_count(maker);
    stage->fraction = true;
    make_group_result(maker, &fraction, 1);
}
