/* describe: of each expression the count, mean, deviation, extremes and quartiles, gathered like any
 * aggregates. */
#include "analyse/query/plan/maker.h"

static const struct statistic {
    const char *name;
    enum sta_aggregate aggregate;
    double quantile;
} statistics[STA_DESCRIBE_OUTPUTS] = {
    {"count", STA_AGGREGATE_COUNT, 0},    {"mean", STA_AGGREGATE_MEAN, 0},
    {"std", STA_AGGREGATE_STD, 0},        {"min", STA_AGGREGATE_MIN, 0},
    {"25%", STA_AGGREGATE_QUANTILE, .25}, {"50%", STA_AGGREGATE_QUANTILE, .5},
    {"75%", STA_AGGREGATE_QUANTILE, .75}, {"max", STA_AGGREGATE_MAX, 0},
};

/* The unit of the statistics, if all described columns have the same. */
static const char *common_unit(const struct sta_plan_output *described, size_t count)
{
    const char *unit = count > 0 ? described[0].unit : NULL;
    for (size_t i = 1; i < count; i++)
        if (described[i].unit != unit)
            return NULL;
    return unit;
}

static void make_describe_result(struct sta_maker *maker, const char *unit)
{
    struct sta_column_info others[1 + STA_DESCRIBE_OUTPUTS] = {{"column", NULL, STA_TYPE_TEXT}};
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++) {
        bool counts = statistics[i].aggregate == STA_AGGREGATE_COUNT;
        others[1 + i] = (struct sta_column_info){statistics[i].name, counts ? NULL : unit,
                                                 counts ? STA_TYPE_INT : STA_TYPE_FLOAT};
    }
    sta_make_result(maker, others, STA_COUNT_OF(others), 1);
}

static void describe_one(struct sta_maker *maker, const struct sta_item *item)
{
    const struct sta_text text = item->value->text;
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++) {
        struct sta_expression *expression;
        int rc = sta_aggregate_apply(statistics[i].aggregate, statistics[i].quantile, text.bytes, text.length,
                                     &maker->stage->gathered, &expression, maker->err);
        STA_ASSERT(rc == 0); /* it is a number: that has been seen to */
        sta_add_output(maker, statistics[i].name, expression);
    }
}

/* Their names and units; and that they are numbers.  What is none is at fault as an element of @list. */
static void check_described(struct sta_maker *maker, const struct sta_document *list, const char *pointer,
                            const struct sta_items *items, struct sta_plan_output **described)
{
    bool single = list->type != STA_DOCUMENT_LIST;
    size_t count = 0;
    sta_make_outputs(maker, items, described, &count);
    for (size_t i = 0; i < count; i++) {
        struct sta_expression *number = NULL;
        if (!maker->failed)
            number = sta_compile(maker, sta_number_parse, items->items[i].value,
                                 single ? pointer : sta_point_at(maker, pointer, i));
        sta_expression_destroy(number);
        sta_expression_destroy((*described)[i].expression);
    }
}

void sta_make_describe(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    const char *pointer = sta_point_member(maker, "describe");
    struct sta_plan_output *described;
    stage->kind = STA_PLAN_DESCRIBE;
    sta_make_group_by(maker);
    const struct sta_document *list = sta_stage_member(maker, "describe");
    struct sta_items items = sta_items_read(maker, list, pointer, true);
    if (items.count == 0)
        sta_refuse(maker, STA_EINPUT, pointer, "expected a list of numbers to describe");
    sta_check_limit(maker, pointer, "described columns", items.count, STA_MOST_AGGREGATES);
    if (maker->failed)
        return;
    check_described(maker, list, pointer, &items, &described);
    if (maker->failed)
        return;
    stage->described_count = items.count;
    stage->described = sta_maker_alloc(maker, items.count, sizeof *stage->described);
    stage->outputs = sta_maker_alloc(maker, items.count * STA_DESCRIBE_OUTPUTS, sizeof *stage->outputs);
    sta_open_aggregates(maker);
    for (size_t i = 0; i < items.count; i++) {
        stage->described[i] = described[i].name;
        describe_one(maker, &items.items[i]);
    }
    make_describe_result(maker, common_unit(described, items.count));
}
