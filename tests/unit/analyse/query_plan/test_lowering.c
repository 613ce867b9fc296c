/* What requests become: stages, result columns with types and units, primitives. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/buffer.h"
#include "planned.h"

static struct planned planned;

static const struct sta_plan_stage *stage_of(const char *json, size_t index)
{
    planned_init(&planned, json);
    cr_assert_eq(planned.status, 0, "%s: %s at %s", json, planned.err.text, planned.err.parameter);
    cr_assert_lt(index, planned.plan.stage_count);
    return &planned.plan.stages[index];
}

/* "func_name:text n:integer size:integer[B]" */
static char *columns_text(const struct sta_column_info *columns, size_t count)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (size_t i = 0; i < count; i++) {
        sta_put_format(&out, "%s%s:%s", i > 0 ? " " : "", columns[i].name, sta_type_name(columns[i].type));
        if (columns[i].unit != NULL)
            sta_put_format(&out, "[%s]", columns[i].unit);
    }
    return sta_buffer_take_text(&out);
}

static void check_columns(const char *json, const char *wanted)
{
    stage_of(json, 0);
    char *got = columns_text(planned.plan.columns, planned.plan.column_count);
    cr_expect_str_eq(got, wanted, "%s:\n  got    %s\n  wanted %s", json, got, wanted);
    free(got);
    planned_fini(&planned);
}

/* "sum(dur) count(dur)", arguments that are no columns by the columns that they read. */
static char *primitives_text(const struct sta_plan_stage *stage)
{
    static const char *const names[] = {
#define X(id, name, arguments, ...) name,
        STA_AGGREGATE_LIST(X)
#undef X
    };
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (size_t i = 0; i < stage->gathered.primitive_count; i++) {
        const struct sta_primitive *primitive = &stage->gathered.primitives[i];
        sta_put_format(&out, "%s%s(", i > 0 ? " " : "", names[primitive->aggregate]);
        for (unsigned k = 0; k < sta_primitive_arguments(primitive); k++) {
            const struct sta_expression *argument = stage->gathered.arguments[primitive->first_argument + k];
            const char *open = argument->column >= 0 ? "" : "{";
            sta_put_format(&out, "%s%s", k > 0 ? ", " : "", open);
            for (size_t c = 0; c < argument->column_count; c++)
                sta_put_format(&out, "%s%s", c > 0 ? " " : "",
                               stage->schema.columns[argument->columns[c]].name);
            sta_put_text(&out, *open != '\0' ? "}" : "");
            cr_expect_eq(primitive->types[k], argument->type);
        }
        sta_put_text(&out, ")");
    }
    return sta_buffer_take_text(&out);
}

static void check_primitives(const char *json, const char *wanted)
{
    char *got = primitives_text(stage_of(json, 0));
    cr_expect_str_eq(got, wanted, "%s:\n  got    %s\n  wanted %s", json, got, wanted);
    free(got);
    planned_fini(&planned);
}

Test(lowering, columns_of_rows)
{
    check_columns("{}", "func_name:text cat:text host_name:text pid:integer tid:integer time_start:number[s] "
                        "time_end:number[s] time:number[s] file_name:text size:integer[B] offset:integer[B] "
                        "io_cat:integer image_id:integer step:integer epoch:integer");
    check_columns(
        "{\"columns\": [\"name\", \"args.flag\", {\"hostname\": \"pid\"}, {\"x\": \"size\"}, \"size * 2\", "
        "{\"n\": \"null\"}]}",
        "func_name:text args.flag:condition hostname:integer x:integer[B] size * 2:integer n:number");
    check_columns("{\"derive\": {\"a\": \"name + 'x'\", \"b\": \"dur\"}, \"then\": {\"derive\": {\"c\": "
                  "\"a\"}, \"columns\": "
                  "[\"a\", \"b\", \"c\", \"proc_name\"]}}",
                  "a:text b:integer[us] c:text proc_name:text");
}

Test(lowering, columns_of_groups)
{
    check_columns("{\"group_by\": [\"filename\", {\"k\": \"bin(time_start, 1)\"}], \"aggregate\": {\"n\": "
                  "\"count()\", \"t\": \"sum(time)\", "
                  "\"u\": \"max(te)\", \"b\": \"busy()\", \"v\": \"var(time)\", \"l\": \"unique(size)\", "
                  "\"x\": \"sum(size) / 2\", "
                  "\"f\": \"first(args.flag)\", \"m\": \"mean(size)\", \"w\": \"argmax(name, dur)\"}}",
                  "file_name:text k:integer n:integer t:number[s] u:integer[us] b:number[s] v:number l:list "
                  "x:number f:condition m:number[B] "
                  "w:text");
    check_columns("{\"group_by\": [\"size\"]}", "size:integer[B]");
    check_columns("{\"group_by\": {\"k\": \"bin(time_start, 1)\", \"s\": \"size\"}}",
                  "k:integer s:integer[B]");
    check_columns("{\"value_counts\": [\"name\", \"size\"]}",
                  "func_name:text size:integer[B] count:integer fraction:number");
    check_columns("{\"group_by\": [\"pid\"], \"describe\": [\"time\", \"time_end\"]}",
                  "pid:integer column:text count:integer mean:number[s] std:number[s] min:number[s] "
                  "25%:number[s] 50%:number[s] "
                  "75%:number[s] max:number[s]");
    check_columns("{\"describe\": [\"time\", \"size\"]}",
                  "column:text count:integer mean:number std:number min:number 25%:number 50%:number "
                  "75%:number max:number");
    check_columns("{\"histogram\": {\"of\": \"size\"}}", "left:number[B] right:number[B] count:integer");
}

Test(lowering, seconds_are_gathered_as_microseconds)
{
    check_primitives("{\"aggregate\": {\"a\": \"sum(time)\", \"b\": \"mean(time)\", \"c\": \"sum(dur)\", "
                     "\"d\": \"max(time) - min(time)\"}}",
                     "sum(dur) count(dur) max(dur) min(dur)");
    check_primitives("{\"aggregate\": {\"a\": \"sum(where(size > 4, time))\", \"b\": \"sum(where(size > 4, "
                     "time, time_end).fillna(0))\"}}",
                     "sum({size dur}) sum({size te dur})");
    check_primitives("{\"aggregate\": {\"a\": \"sum(time * 2)\", \"b\": \"unique(time)\", \"c\": "
                     "\"argmax(time, time_end)\", \"d\": \"count(time)\"}}",
                     "sum({time}) unique(time) argmax(dur, te) count(dur)");
}

Test(lowering, equal_primitives_are_gathered_once)
{
    check_primitives("{\"aggregate\": {\"a\": \"sum(size) / count()\", \"b\": \"sum( size ) + count()\", "
                     "\"c\": \"quantile(size, 0.5)\", "
                     "\"d\": \"quantile(size, 0.25)\", \"e\": \"median(size)\", \"f\": \"sum(size + 1)\", "
                     "\"g\": \"mean(size +1)\"}}",
                     "sum(size) count() quantile(size) quantile(size) median(size) sum({size}) mean({size})");
    check_primitives("{\"aggregate\": {\"a\": \"sum(size > 4)\", \"b\": \"mean(size > 4)\", \"c\": "
                     "\"busy()\", \"d\": \"busy() / 2\"}}",
                     "sum({size}) mean({size}) busy(ts, te)");
}

Test(lowering, conditions_are_summed_as_they_are)
{
    const struct sta_plan_stage *stage = stage_of(
        "{\"aggregate\": {\"a\": \"sum(size > 4)\", \"b\": \"mean(size > 4)\", \"c\": \"max(null)\"}}", 0);
    cr_expect_eq(stage->gathered.primitives[0].types[0], STA_TYPE_BOOL);
    cr_expect_eq(stage->gathered.primitives[1].types[0], STA_TYPE_INT);
    cr_expect_eq(stage->gathered.primitives[2].types[0], STA_TYPE_FLOAT);
    planned_fini(&planned);
}

Test(lowering, describe)
{
    const struct sta_plan_stage *stage =
        stage_of("{\"group_by\": [\"pid\"], \"describe\": [\"size\", {\"us\": \"dur\"}]}", 0);
    cr_expect_eq(stage->kind, STA_PLAN_DESCRIBE);
    cr_expect_eq(stage->described_count, 2);
    cr_expect_str_eq(stage->described[1], "us");
    cr_expect_eq(stage->output_count, 2 * STA_DESCRIBE_OUTPUTS);
    for (size_t i = 0; i < stage->output_count; i++)
        cr_expect_eq(stage->outputs[i].expression->type, i % 8 == 0 ? STA_TYPE_INT : STA_TYPE_FLOAT);
    cr_expect_eq(stage->gathered.primitives[4].quantile, 0.25);
    planned_fini(&planned);
}

Test(lowering, histogram)
{
    const struct sta_plan_stage *stage =
        stage_of("{\"histogram\": {\"of\": \"size\", \"bins\": 4, \"range\": [0, 10]}}", 0);
    cr_expect_eq(stage->histogram.bins, 4);
    cr_expect_eq(stage->histogram.edges[1], 2.5);
    cr_expect_eq(stage->histogram.edges[4], 10);
    planned_fini(&planned);
    stage = stage_of("{\"histogram\": {\"of\": \"size > 4\", \"bins\": [1, 2.5]}}", 0);
    cr_expect_eq(stage->histogram.bins, 1);
    cr_expect_eq(stage->histogram.of->type, STA_TYPE_INT);
    planned_fini(&planned);
    stage = stage_of("{\"histogram\": {\"of\": \"size\"}}", 0);
    double edges[11];
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_null(stage->histogram.edges);
    cr_expect_eq(sta_plan_equal_edges(&stage->histogram, 7, 7, edges, &err), 0);
    cr_expect_eq(edges[0], 6.5);
    cr_expect_eq(edges[10], 7.5);
    cr_expect_eq(sta_plan_equal_edges(&stage->histogram, 1e17, 1e17 + 16, edges, &err), STA_EINPUT);
    cr_expect_str_eq(err.parameter, "/histogram/bins");
    planned_fini(&planned);
}

/* "-2 0" */
static void check_order(const char *json, const char *wanted)
{
    char got[128] = "";
    const struct sta_plan_stage *stage = stage_of(json, 0);
    for (size_t i = 0; i < stage->order_count; i++)
        sprintf(got + strlen(got), "%s%s%u", i > 0 ? " " : "", stage->order[i].descending ? "-" : "",
                stage->order[i].column);
    cr_expect_str_eq(got, wanted, "%s: %s", json, got);
    planned_fini(&planned);
}

Test(lowering, order)
{
    check_order("{\"columns\": [\"pid\", \"name\"], \"order_by\": [\"-name\", \"pid\"]}", "-1 0");
    check_order("{\"columns\": [\"pid\", {\"cat\": \"tid\"}], \"order_by\": [\"cat\", \"-func_name\", "
                "\"host_name\"]}",
                "1 -2 4");
    check_order("{\"columns\": [{\"-pid\": \"tid\"}, \"pid\"], \"order_by\": [\"-pid\", \"--pid\"]}", "0 -0");
    check_order(
        "{\"group_by\": [\"name\"], \"aggregate\": {\"n\": \"count()\"}, \"order_by\": [\"-n\", \"name\"]}",
        "-1 0");
    check_order("{\"value_counts\": \"name\"}", "-1");
    check_order("{\"value_counts\": \"name\", \"order_by\": [\"fraction\"]}", "2");
    check_order("{\"describe\": [\"size\"], \"order_by\": [\"-50%\", \"column\"]}", "-6 0");
    check_order("{\"histogram\": {\"of\": \"size\"}, \"order_by\": [\"-count\"]}", "-2");
}

Test(lowering, stages)
{
    const struct sta_plan_stage *stage =
        stage_of("{\"from\": 1, \"to\": 2.5, \"preset\": \"dlio\", \"filters\": \"off\", \"filter\": \"size "
                 "> 4\", \"limit\": 5, \"order_by\": [\"-tid\"], "
                 "\"then\": {\"filter\": \"name == 'read' and bin(time_start, 1) == 1\", \"aggregate\": "
                 "{\"b\": \"busy()\"}}}",
                 0);
    const struct sta_plan *plan = &planned.plan;
    cr_expect(plan->has_from && plan->has_to && plan->from == 1 && plan->to == 2.5);
    cr_expect_str_eq(plan->preset, "dlio");
    cr_expect_not(plan->filters);
    cr_expect(stage->has_limit && stage->limit == 5);
    cr_expect_eq(plan->stages[1].input_count, planned_events.count,
                 "rows keep all columns for the stages behind");
    for (size_t i = 0; i < stage->output_count; i++) {
        const char *name = stage->outputs[i].name;
        bool read = strcmp(name, "func_name") == 0 || strcmp(name, "ts") == 0 || strcmp(name, "te") == 0 ||
                    strcmp(name, "tid") == 0;
        cr_expect_eq(stage->outputs[i].unused, !read, "%s", name);
    }
    planned_fini(&planned);
}

Test(lowering, compare)
{
    stage_of("{\"group_by\": [\"cat\", \"trace\", \"pid\"], \"aggregate\": {\"t\": \"sum(time)\", \"n\": "
             "\"count()\", \"x\": \"first(name)\"}, \"then\": "
             "{\"columns\": [\"t\", \"pid\", \"trace\", \"cat\", {\"k\": \"n\"}]}, \"compare\": "
             "{\"baseline\": \"next\"}}",
             0);
    const struct sta_plan_compare *compare = &planned.plan.compare;
    cr_expect_eq(compare->baseline, 1);
    cr_expect_eq(compare->trace_key, 2);
    cr_assert_eq(compare->key_count, 2);
    cr_expect(compare->keys[0] == 3 && compare->keys[1] == 1, "cat, then pid, as they were grouped");
    char *columns = columns_text(planned.plan.columns, planned.plan.column_count);
    cr_expect_str_eq(columns, "t:number[s] pid:integer trace:text cat:text k:integer t_baseline:number[s] "
                              "t_delta:number[s] t_ratio:number "
                              "k_baseline:integer k_delta:integer k_ratio:number");
    free(columns);
    planned_fini(&planned);
}

Test(lowering, what_passes_on)
{
    /* time keeps its microseconds as long as dur comes along; cat is caseless by name */
    stage_of("{\"columns\": [\"time\", \"dur\", \"cat\", {\"d\": \"time\"}], \"then\": {\"columns\": "
             "[\"time\", \"cat\"], \"then\": {\"aggregate\": {\"t\": "
             "\"sum(time)\"}}}}",
             0);
    const struct sta_schema *second = &planned.plan.stages[1].schema, *third = &planned.plan.stages[2].schema;
    cr_expect_str_eq(second->columns[0].ticks_of, "dur");
    cr_expect(second->columns[2].caseless);
    cr_expect_null(third->columns[0].ticks_of);
    planned_fini(&planned);
}
