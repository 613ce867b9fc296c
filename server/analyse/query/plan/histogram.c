/* histogram: counts of values between edges. */
#include <math.h>
#include <string.h>

#include "analyse/query/plan/maker.h"

static bool increase(const double *edges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(edges[i]) || (i > 0 && edges[i] <= edges[i - 1]))
            return false;
    return true;
}

int sta_plan_equal_edges(const struct sta_plan_histogram *histogram, double low, double high, double *edges,
                         struct sta_error *err)
{
    uint32_t bins = histogram->bins;
    double from = low == high ? low - 0.5 : low, to = low == high ? high + 0.5 : high;
    double width = (to - from) / bins;
    for (uint32_t i = 0; i < bins; i++)
        edges[i] = from + i * width;
    edges[bins] = to;
    if (increase(edges, (size_t)bins + 1))
        return 0;
    sta_fail(err, STA_EINPUT, "%u edges from %.17g to %.17g do not increase", bins + 1, low, high);
    return sta_at(err, histogram->pointer, -1);
}

static void check_members(struct sta_maker *maker, const struct sta_document *asked, const char *pointer)
{
    static const char *const members[] = {"of", "bins", "range"};
    if (asked->type != STA_DOCUMENT_OBJECT || sta_document_member(asked, "of") == NULL) {
        sta_refuse(maker, STA_EINPUT, pointer,
                   "expected {\"of\": \"expression\", \"bins\": number or [edges], \"range\": [low, high]}");
        return;
    }
    sta_check_members(maker, asked, pointer, members, STA_COUNT_OF(members));
}

/* A list of numbers; false, and a failure, if it is none. */
static bool read_numbers(struct sta_maker *maker, const struct sta_document *list, const char *pointer,
                         double *numbers)
{
    size_t index = 0;
    for (const struct sta_document *value = list->first; value != NULL && !maker->failed;
         value = value->next, index++)
        if (!sta_document_number(value, &numbers[index]))
            sta_refuse(maker, STA_EINPUT, sta_point_at(maker, pointer, index), "expected a number, not %s",
                       sta_document_kind(value));
    return !maker->failed;
}

static void read_edges(struct sta_maker *maker, const struct sta_document *list, const char *pointer)
{
    struct sta_plan_histogram *histogram = &maker->stage->histogram;
    if (list->count < 2)
        sta_refuse(maker, STA_EINPUT, pointer, "expected at least two edges");
    else
        sta_check_limit(maker, pointer, "bins", list->count - 1, STA_MOST_BINS);
    if (maker->failed)
        return;
    histogram->bins = (uint32_t)list->count - 1;
    histogram->edges = sta_maker_alloc(maker, list->count, sizeof(double));
    if (read_numbers(maker, list, pointer, histogram->edges) && !increase(histogram->edges, list->count))
        sta_refuse(maker, STA_EINPUT, pointer, "the edges must increase");
}

static void read_bin_count(struct sta_maker *maker, const struct sta_document *bins, const char *pointer)
{
    maker->stage->histogram.bins = 10;
    if (bins == NULL)
        return;
    if (bins->type != STA_DOCUMENT_INT || bins->integer < 1) {
        sta_refuse(maker, STA_EINPUT, pointer, "expected a whole number from 1 on, or a list of edges");
        return;
    }
    sta_check_limit(maker, pointer, "bins", (size_t)bins->integer, STA_MOST_BINS);
    if (!maker->failed)
        maker->stage->histogram.bins = (uint32_t)bins->integer;
}

static void read_range(struct sta_maker *maker, const struct sta_document *range, const char *pointer)
{
    struct sta_plan_histogram *histogram = &maker->stage->histogram;
    double ends[2];
    if (maker->failed || range == NULL || range->type == STA_DOCUMENT_NULL)
        return;
    if (range->type != STA_DOCUMENT_LIST || range->count != 2) {
        sta_refuse(maker, STA_EINPUT, pointer, "expected [low, high]");
        return;
    }
    if (!read_numbers(maker, range, pointer, ends))
        return;
    histogram->pointer = pointer;
    histogram->edges = sta_maker_alloc(maker, (size_t)histogram->bins + 1, sizeof(double));
    maker->failed = sta_plan_equal_edges(histogram, ends[0], ends[1], histogram->edges, maker->err) != 0;
}

static void make_columns(struct sta_maker *maker)
{
    static const struct sta_column_info others[] = {
        {"left", NULL, STA_TYPE_FLOAT}, {"right", NULL, STA_TYPE_FLOAT}, {"count", NULL, STA_TYPE_INT}};
    struct sta_column_info columns[STA_COUNT_OF(others)];
    struct sta_plan_stage *stage = maker->stage;
    sta_make_count(maker);
    memcpy(columns, others, sizeof others);
    columns[0].unit = columns[1].unit = sta_static_unit(stage->histogram.of->unit);
    sta_make_result(maker, columns, STA_COUNT_OF(columns), 1);
}

void sta_make_histogram(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    const struct sta_document *asked = sta_stage_member(maker, "histogram");
    const char *pointer = sta_point_member(maker, "histogram"), *at = sta_point(maker, pointer, "bins");
    stage->kind = STA_PLAN_HISTOGRAM;
    check_members(maker, asked, pointer);
    sta_make_group_by(maker);
    if (maker->failed)
        return;
    stage->histogram.of = sta_compile(maker, sta_number_parse, sta_document_member(asked, "of"),
                                      sta_point(maker, pointer, "of"));
    const struct sta_document *bins = sta_document_member(asked, "bins");
    if (maker->failed)
        return;
    stage->histogram.pointer = at;
    if (bins != NULL && bins->type == STA_DOCUMENT_LIST) {
        read_edges(maker, bins, at);
    } else {
        read_bin_count(maker, bins, at);
        read_range(maker, sta_document_member(asked, "range"), sta_point(maker, pointer, "range"));
    }
    if (!maker->failed)
        make_columns(maker);
}
