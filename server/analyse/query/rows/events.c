/* Binding traces: one schema over them, casts, the window in ticks. */
#include "analyse/query/rows/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/classify.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

/* ---- one schema */

static enum sta_type unite_types(enum sta_type a, enum sta_type b)
{
    bool numbers = (a == STA_TYPE_INT || a == STA_TYPE_FLOAT) && (b == STA_TYPE_INT || b == STA_TYPE_FLOAT);
    return a == b ? a : numbers ? STA_TYPE_FLOAT : STA_TYPE_TEXT;
}

/* The args columns of all traces, sorted by name as each trace has them: merged like runs. */
static void unite_args(struct sta_events *events, const struct sta_schema *other)
{
    size_t old = events->schema.count, at = STA_LOGICAL_ARGS, count = STA_LOGICAL_ARGS;
    const struct sta_schema_column *have = events->schema_columns;
    struct sta_schema_column *fresh = sta_alloc_array(old + other->count, sizeof *fresh);
    memcpy(fresh, other->columns, STA_LOGICAL_ARGS * sizeof *fresh);
    for (size_t i = STA_LOGICAL_ARGS; at < old || i < other->count;) {
        int order = at >= old ? 1 : i >= other->count ? -1 : strcmp(have[at].name, other->columns[i].name);
        fresh[count] = order <= 0 ? have[at] : other->columns[i];
        if (order == 0)
            fresh[count].type = unite_types(have[at].type, other->columns[i].type);
        at += order <= 0;
        i += order >= 0;
        count++;
    }
    free(events->schema_columns);
    events->schema_columns = fresh;
    events->schema = (struct sta_schema){.columns = fresh, .count = count};
}

/* args.key of the trace as the type that it has in the query.  A key that can't be named in an expression is
 * never asked for. */
static int make_cast(const struct sta_events_trace *trace, const struct sta_schema_column *wanted,
                     struct sta_events_column *column, struct sta_error *err)
{
    const char *key = wanted->name + strlen("args.");
    if (strpbrk(key, "`\"") != NULL)
        return 0;
    struct sta_expression *cast;
    char *text = sta_sprintf("%s(args.`%s`)", wanted->type == STA_TYPE_FLOAT ? "float" : "str", key);
    int rc = sta_expression_parse(text, strlen(text), sta_columns_schema(trace->columns), &cast, err);
    if (rc == 0)
        column->program = sta_program_create(cast);
    sta_expression_destroy(cast);
    free(text);
    return rc;
}

/* The columns of a trace are some of those of the schema, in the same order. */
static int map_columns(const struct sta_events *events, struct sta_events_trace *trace, struct sta_error *err)
{
    const struct sta_schema *own = sta_columns_schema(trace->columns);
    uint32_t next = 0;
    trace->map = sta_alloc_array(events->schema.count, sizeof *trace->map);
    for (size_t i = 0; i < events->schema.count; i++) {
        const struct sta_schema_column *wanted = &events->schema_columns[i];
        struct sta_events_column *column = &trace->map[i];
        const bool has = next < own->count && strcmp(own->columns[next].name, wanted->name) == 0;
        column->column = has ? next++ : STA_NO_COLUMN;
        if (column->column == STA_NO_COLUMN || own->columns[column->column].type == wanted->type)
            continue;
        int rc = make_cast(trace, wanted, column, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- the window */

/* The least number of ticks that is at least @seconds as time_start says it: ticks / those of a second, the
 * nearest double. */
static int64_t first_tick(double seconds, int64_t per_us)
{
    double per_second = 1e6 * (double)per_us;
    int64_t farthest = STA_TIME_LIMIT * per_us;
    if (seconds * per_second >= (double)farthest || seconds * per_second <= -(double)farthest)
        return seconds > 0 ? farthest : -farthest;
    int64_t tick = (int64_t)floor(seconds * per_second) - 2;
    while ((double)tick / per_second < seconds)
        tick++;
    return tick;
}

static void set_window(struct sta_events_trace *trace, const struct sta_plan *plan)
{
    int64_t per_us = sta_snapshot_info(trace->snapshot)->ticks_per_us;
    trace->scan = (struct sta_scan){
        .columns = trace->columns, .classes = trace->classes, .from = INT64_MIN, .to = INT64_MAX};
    if (plan->has_from)
        trace->scan.from = first_tick(plan->from, per_us);
    if (plan->has_to)
        trace->scan.to = first_tick(plan->to, per_us);
}

/* ---- binding */

static int bind_trace(struct sta_events *events, const struct sta_query_trace *asked,
                      const struct sta_preset *preset, bool filters, bool nanoseconds, struct sta_error *err)
{
    struct sta_events_trace *trace = &events->traces[events->trace_count++];
    trace->label = sta_strdup(asked->label != NULL ? asked->label : "");
    trace->snapshot = sta_snapshot_retain(asked->snapshot);
    struct sta_columns_options options = {.presets = events->presets,
                                          .preset = preset,
                                          .trace = asked->label,
                                          .nanoseconds = nanoseconds,
                                          .unzeroed = true};
    int rc = sta_columns_create(trace->snapshot, &options, &trace->columns, err);
    if (rc == 0 && preset != NULL && filters)
        rc = sta_classes_create(trace->columns, preset, true, &trace->classes, err);
    if (rc == 0)
        unite_args(events, sta_columns_schema(trace->columns));
    return rc;
}

static bool have_nanoseconds(const struct sta_query *query)
{
    for (size_t i = 0; i < query->trace_count; i++)
        if (sta_snapshot_info(query->traces[i].snapshot)->ticks_per_us > 1)
            return true;
    return false;
}

static int bind_traces(struct sta_events *events, const struct sta_query *query, const struct sta_plan *plan,
                       struct sta_error *err)
{
    const struct sta_preset *preset = NULL;
    int rc = plan->preset != NULL ? sta_view_query_preset(events->presets, plan->preset, &preset, err) : 0;
    for (size_t i = 0; rc == 0 && i < query->trace_count; i++)
        rc = bind_trace(events, &query->traces[i], preset, plan->filters, have_nanoseconds(query), err);
    for (size_t i = 0; rc == 0 && i < query->trace_count; i++)
        rc = map_columns(events, &events->traces[i], err);
    for (size_t i = 0; rc == 0 && i < query->trace_count; i++)
        set_window(&events->traces[i], plan);
    return rc;
}

int sta_events_create(const struct sta_query *query, const struct sta_plan *plan, struct sta_events **events,
                      struct sta_error *err)
{
    struct sta_events *fresh = sta_alloc(sizeof *fresh);
    fresh->presets = sta_presets_retain(query->presets);
    fresh->traces = sta_alloc_array(query->trace_count, sizeof *fresh->traces);
    int rc = bind_traces(fresh, query, plan, err);
    if (rc != 0) {
        sta_events_destroy(fresh);
        fresh = NULL;
    }
    *events = fresh;
    return rc;
}

static void trace_fini(struct sta_events_trace *trace, size_t column_count)
{
    for (size_t i = 0; trace->map != NULL && i < column_count; i++)
        sta_program_destroy(trace->map[i].program);
    free(trace->map);
    sta_classes_destroy(trace->classes);
    sta_columns_destroy(trace->columns);
    sta_snapshot_release(trace->snapshot);
    free(trace->label);
}

void sta_events_destroy(struct sta_events *events)
{
    if (events == NULL)
        return;
    for (size_t i = 0; i < events->trace_count; i++)
        trace_fini(&events->traces[i], events->schema.count);
    free(events->traces);
    free(events->schema_columns);
    sta_presets_release(events->presets);
    free(events);
}

/* ---- the order of chunks */

int sta_events_rank_chunks(struct sta_events *events, struct sta_error *err)
{
    for (size_t i = 0; i < events->trace_count; i++) {
        struct sta_events_trace *trace = &events->traces[i];
        trace->chunk_ranks = sta_snapshot_chunk_ranks(trace->snapshot, &trace->chunk_count, err);
        if (trace->chunk_ranks == NULL)
            return err->status;
    }
    return STA_OK;
}
