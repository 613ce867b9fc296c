/* One stage: what it may say, what it derives and filters, and which kind of result it asks for. */
#include <string.h>

#include "analyse/query/plan/maker.h"

/* ---- members */

/* In the order in which they act; the first ones are of the first stage only. */
static const char *const members[] = {"preset",   "filters",      "from",      "to",        "compare",
                                      "derive",   "filter",       "group_by",  "aggregate", "dropna",
                                      "describe", "value_counts", "histogram", "columns",   "order_by",
                                      "limit",    "then"};
#define OF_FIRST_STAGE 5

void sta_check_members(struct sta_maker *maker, const struct sta_document *object, const char *pointer,
                       const char *const *names, size_t count)
{
    for (const struct sta_document *member = object->first; member != NULL && !maker->failed;
         member = member->next) {
        size_t i = 0;
        while (i < count && strcmp(names[i], member->name) != 0)
            i++;
        if (i == count)
            sta_refuse_name(maker, sta_point(maker, pointer, member->name), "member",
                            sta_text_of(member->name), names, count);
    }
}

void sta_check_stage_members(struct sta_maker *maker)
{
    size_t skipped = *maker->where == '\0' ? 0 : OF_FIRST_STAGE;
    sta_check_members(maker, maker->request, maker->where, members + skipped,
                      STA_COUNT_OF(members) - skipped);
}

/* ---- columns and filter */

static size_t count_members(const struct sta_document *object)
{
    return object != NULL ? object->count : 0;
}

static void derive_one(struct sta_maker *maker, struct sta_schema_column *columns,
                       const struct sta_document *member, const char *pointer)
{
    struct sta_plan_stage *stage = maker->stage;
    if (sta_schema_find(&stage->schema, sta_text_of(member->name)) >= 0)
        sta_refuse(maker, STA_EINPUT, pointer, "there is already a column '%.120s'", member->name);
    struct sta_expression *expression = sta_compile(maker, sta_expression_parse, member, pointer);
    if (expression == NULL)
        return;
    stage->derived[stage->derived_count++] = expression;
    columns[stage->schema.count++] =
        (struct sta_schema_column){.name = sta_maker_copy(maker, member->name),
                                   .type = expression->type,
                                   .unit = sta_static_unit(expression->unit),
                                   .caseless = sta_is_caseless_name(member->name)};
}

/* The stage's schema: @input, and what it derives. */
static void make_schema(struct sta_maker *maker, const struct sta_schema *input)
{
    struct sta_plan_stage *stage = maker->stage;
    const struct sta_document *derive = sta_stage_member(maker, "derive");
    const char *pointer = sta_point_member(maker, "derive");
    if (derive != NULL && derive->type != STA_DOCUMENT_OBJECT)
        sta_refuse(maker, STA_EINPUT, pointer, "expected {\"name\": \"expression\"}, not %s",
                   sta_document_kind(derive));
    sta_check_limit(maker, pointer, "derived columns", count_members(derive), STA_MOST_DERIVED);
    if (maker->failed)
        return;
    size_t most = input->count + count_members(derive);
    struct sta_schema_column *columns = sta_maker_alloc(maker, most, sizeof *columns);
    for (size_t i = 0; i < input->count; i++)
        columns[i] = input->columns[i];
    stage->schema = (struct sta_schema){columns, input->count};
    stage->input_count = input->count;
    stage->derived = sta_maker_alloc(maker, count_members(derive), sizeof(void *));
    for (const struct sta_document *member = derive != NULL ? derive->first : NULL;
         member != NULL && !maker->failed; member = member->next)
        derive_one(maker, columns, member, sta_point(maker, pointer, member->name));
    sta_show_derived(maker);
}

static void make_filter(struct sta_maker *maker)
{
    const struct sta_document *filter = sta_stage_member(maker, "filter");
    if (filter != NULL && !maker->failed)
        maker->stage->filter =
            sta_compile(maker, sta_condition_parse, filter, sta_point_member(maker, "filter"));
}

/* ---- kinds */

/* What the members ask for: at most one of these, in the order in which they are looked for. */
static const struct kind {
    const char *member;
    void (*make)(struct sta_maker *maker);
} kinds[] = {
    {"aggregate", sta_make_groups},
    {"describe", sta_make_describe},
    {"value_counts", sta_make_value_counts},
    {"histogram", sta_make_histogram},
    {"columns", sta_make_rows},
};

static void make_kind(struct sta_maker *maker)
{
    const struct kind *chosen = NULL;
    bool grouped = sta_stage_member(maker, "group_by") != NULL;
    if (grouped && sta_stage_member(maker, "columns") != NULL)
        sta_refuse(maker, STA_EINPUT, sta_point_member(maker, "columns"),
                   "columns and group_by exclude each other");
    for (size_t i = 0; i < STA_COUNT_OF(kinds) && !maker->failed; i++) {
        if (sta_stage_member(maker, kinds[i].member) == NULL)
            continue;
        if (chosen != NULL)
            sta_refuse(maker, STA_EINPUT, sta_point_member(maker, kinds[i].member),
                       "%s and %s exclude each other", kinds[i].member, chosen->member);
        chosen = &kinds[i];
    }
    if (maker->failed)
        return;
    if (chosen != NULL)
        chosen->make(maker);
    else if (grouped)
        sta_make_groups(maker);
    else
        sta_make_rows(maker);
    if (maker->stage->kind != STA_PLAN_ROWS)
        maker->events = false;
}

void sta_make_stage(struct sta_maker *maker, const struct sta_schema *input)
{
    make_schema(maker, input);
    make_filter(maker);
    if (!maker->failed)
        make_kind(maker);
    if (!maker->failed && maker->is_last)
        sta_make_columns(maker);
    if (!maker->failed)
        sta_make_order(maker);
    if (!maker->failed)
        sta_make_limit(maker);
}
