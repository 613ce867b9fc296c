/* The timeline: lanes, events, density, single events, search, statistics, call trees, gaps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/memory.h"
#include "serve/formats/chrome_trace.h"
#include "serve/formats/speedscope.h"
#include "serve/api/timeline_columns.h"
#include "serve/responses/timelines.h"
#include "serve/responses/views.h"
#include "timeline/timeline.h"

#define PREPARED_SHARE 3 /* of the free memory, a third at most goes to what nobody has asked for */
#define TIMELINE_VALUES                                                                                      \
    (STA_HAS(SHOWN_PRESET) | STA_HAS(SHOWN_FILTERS) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(FILTER) |        \
     STA_HAS(LANES))

/* ---- what all calls have in common */

int sta_view_default_preset(struct sta_view *view, struct sta_error *err)
{
    return sta_library_preset_of(view->server->options.library, view->trace, view->preset, err);
}

/* The response or the result, whichever the kind has. */
struct sta_timeline_output {
    const struct sta_view *view;
    struct sta_response *response;
    struct sta_result **result;
};

static sta_timeline_respond respond_keep;

/* Responds to a call on the timeline of the view's trace, which is held as long. */
static int on_timeline(sta_timeline_respond *respond, const struct sta_budget *budget,
                       const struct sta_timeline_output *output, struct sta_error *err)
{
    const struct sta_view *view = output->view;
    struct sta_timeline_query query = {.presets = view->presets,
                                       .trace_preset = view->preset,
                                       .request = view->document,
                                       .cells = view->server->options.timeline_cells};
    int status = sta_timelines_get(view->server->timelines, view->trace, view->snapshot,
                                   view->kind->background ? sta_flight_cancel(view->flight) : NULL, budget,
                                   &query.timeline, err);
    if (status == STA_OK)
        status = respond(&query, budget, output, err);
    /* One that was made of the events is written to the store in the background, once. */
    if (status == STA_OK && respond != respond_keep && sta_timeline_claim_keeping(query.timeline))
        sta_view_prepare_kind(view->server, &sta_view_timeline_keep, view->trace);
    sta_timeline_release(query.timeline);
    return status;
}

static int write_response(sta_timeline_respond *respond, const struct sta_view *view,
                          const struct sta_budget *budget, struct sta_response *response,
                          struct sta_error *err)
{
    int status =
        on_timeline(respond, budget, &(struct sta_timeline_output){.view = view, .response = response}, err);
    return status == STA_OK ? STA_OK : sta_view_blame(view, err);
}

static int compute(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                   struct sta_error *err)
{
    return write_response(view->kind->timeline, view, budget, response, err);
}

static int make_result(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                       struct sta_error *err)
{
    return on_timeline(view->kind->timeline, budget,
                       &(struct sta_timeline_output){.view = view, .result = result}, err);
}

/* ---- the timeline kept with its trace */

/* Once it is kept, the one in memory is dropped: the next call opens the file, and holds what it needs of it.
 */
static int respond_keep(const struct sta_timeline_query *query, const struct sta_budget *budget,
                        const struct sta_timeline_output *output, struct sta_error *err)
{
    int status = sta_timeline_keep(query->timeline, query->presets, query->trace_preset, budget, err);
    if (status == STA_OK)
        sta_timelines_forget(output->view->server->timelines, output->view->trace);
    if (status == STA_OK || status == STA_ECANCELLED)
        return status;
    sta_log(STA_LOG_DEBUG, "Cannot keep a timeline", "trace", output->view->trace, "cause", err->text, NULL);
    return STA_OK;
}

/* After an ingest, nothing is made that would leave too little memory to those who ask. */
static bool is_affordable(const struct sta_view *view)
{
    return !view->prepared || sta_timeline_size_to_make(view->snapshot) <=
                                  sta_account_left(view->server->options.account) / PREPARED_SHARE;
}

/* A fragmented version that is about to be compacted is not kept: of the one that follows it is asked again.
 */
static bool is_lasting(const struct sta_view *view)
{
    struct sta_job_view compaction;
    return !view->prepared || !sta_snapshot_is_fragmented(view->snapshot) ||
           !sta_jobs_of_least_priority(view->server->options.jobs, view->trace, &compaction);
}

static int compute_keep(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                        struct sta_error *err)
{
    return is_affordable(view) && is_lasting(view) ? write_response(respond_keep, view, budget, response, err)
                                                   : STA_OK;
}

const struct sta_view_kind sta_view_timeline_keep = {
    .name = "timeline_keep", .check = sta_view_default_preset, .compute = compute_keep, .background = true};

/* ---- responses by columns */

static int respond_events(const struct sta_timeline_query *query, const struct sta_budget *budget,
                          const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_timeline_columns columns;
    int status = sta_timeline_events(query, budget, &columns, err);
    if (status == STA_OK) {
        sta_put_timeline_events(&output->response->body, &columns);
        sta_timeline_columns_fini(&columns);
    }
    return status;
}

static int respond_density(const struct sta_timeline_query *query, const struct sta_budget *budget,
                           const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_timeline_columns columns;
    int status = sta_timeline_density(query, budget, &columns, err);
    if (status == STA_OK) {
        sta_put_timeline_density(&output->response->body, &columns);
        sta_timeline_columns_fini(&columns);
    }
    return status;
}

const struct sta_view_kind sta_view_timeline_events = {.name = "timeline_events",
                                                       .document_values = TIMELINE_VALUES | STA_HAS(PIXELS),
                                                       .check = sta_view_default_preset,
                                                       .has_own_preset = true,
                                                       .compute = compute,
                                                       .timeline = respond_events};
const struct sta_view_kind sta_view_timeline_density = {.name = "timeline_density",
                                                        .document_values = TIMELINE_VALUES | STA_HAS(PIXELS) |
                                                                           STA_HAS(DENSITY_LABEL),
                                                        .check = sta_view_default_preset,
                                                        .has_own_preset = true,
                                                        .compute = compute,
                                                        .timeline = respond_density};

/* ---- tables */

static int respond_lanes(const struct sta_timeline_query *query, const struct sta_budget *budget,
                         const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_table table;
    int status = sta_timeline_lanes(query, budget, &table, err);
    if (status == STA_OK)
        *output->result = sta_result_of_table(&table, NULL, NULL);
    return status;
}

static int respond_statistics(const struct sta_timeline_query *query, const struct sta_budget *budget,
                              const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_table table;
    struct sta_facts facts = {0};
    int status = sta_timeline_statistics(query, budget, &table, &facts, err);
    if (status == STA_OK) {
        *output->result = sta_result_of_table(&table, NULL, NULL);
        sta_put_facts(&(*output->result)->head, &facts);
    }
    return status;
}

static int respond_gaps(const struct sta_timeline_query *query, const struct sta_budget *budget,
                        const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_table table;
    struct sta_timeline_gaps figures;
    int status = sta_timeline_gaps(query, budget, &table, &figures, err);
    if (status == STA_OK) {
        *output->result = sta_result_of_table(&table, NULL, NULL);
        sta_put_member_text(&(*output->result)->head, "scope", figures.scope);
        sta_put_member_double(&(*output->result)->head, "time", figures.time);
    }
    return status;
}

const struct sta_view_kind sta_view_timeline_lanes = {
    .name = "timeline_lanes",
    .document_values = TIMELINE_VALUES | STA_HAS(LANE_PARENT) | STA_HAS(LANE_LEVEL) | STA_HAS(LANE_SORT),
    .check = sta_view_default_preset,
    .has_own_preset = true,
    .result = make_result,
    .timeline = respond_lanes};
const struct sta_view_kind sta_view_timeline_statistics = {.name = "timeline_statistics",
                                                           .document_values =
                                                               TIMELINE_VALUES | STA_HAS(CALL_LABEL),
                                                           .check = sta_view_default_preset,
                                                           .has_own_preset = true,
                                                           .result = make_result,
                                                           .timeline = respond_statistics};
const struct sta_view_kind sta_view_gaps = {.name = "gaps",
                                            .document_values =
                                                TIMELINE_VALUES | STA_HAS(SCOPE) | STA_HAS(LEAST),
                                            .check = sta_view_default_preset,
                                            .has_own_preset = true,
                                            .result = make_result,
                                            .timeline = respond_gaps};

/* ---- call trees */

static int respond_call_tree(const struct sta_timeline_query *query, const struct sta_budget *budget,
                             const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_table table;
    struct sta_named_figures named;
    int status = sta_timeline_call_tree(query, budget, &table, &named, err);
    if (status == STA_OK) {
        *output->result = sta_result_of_table(&table, NULL, NULL);
        struct sta_buffer *head = &(*output->result)->head;
        if (named.asked) {
            sta_begin_object(head, "of");
            sta_put_member_uint(head, "count", (uint64_t)named.count);
            sta_put_member_uint(head, "outermost", (uint64_t)named.outermost);
            sta_put_member_double(head, "total", named.total);
            sta_put_member_double(head, "self", named.self);
            sta_put_char(head, '}');
        }
    }
    return status;
}

/* The text is as long as the stacks: it is no part of their account, and has to have space beside them. */
static int put_folded(struct sta_buffer *out, const struct sta_timeline_stacks *stacks, struct sta_error *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < stacks->count; i++)
        bytes += stacks->items[i].path.length + sizeof " 1\n" - 1;
    if (sta_account_check(stacks->account, bytes, STA_STACKS_WHAT, err) != STA_OK)
        return err->status;
    for (size_t i = 0; i < stacks->count; i++) {
        const struct sta_timeline_stack *stack = &stacks->items[i];
        sta_put(out, stack->path.bytes, stack->path.length);
        sta_put_char(out, ' ');
        sta_put_wide(out, stack->self);
        sta_put_char(out, '\n');
    }
    return STA_OK;
}

static int respond_stacks(const struct sta_timeline_query *query, const struct sta_budget *budget,
                          const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_timeline_stacks stacks;
    int status = sta_timeline_call_stacks(query, budget, &stacks, err);
    if (status == STA_OK) {
        if (strcmp(output->view->text_form, "folded") == 0) {
            output->response->content_type = "text/plain; charset=utf-8";
            status = put_folded(&output->response->body, &stacks, err);
        } else {
            status = sta_put_speedscope(&output->response->body, &stacks, budget, err);
        }
        sta_timeline_stacks_fini(&stacks);
    }
    return status;
}

static int write_folded(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                        struct sta_error *err)
{
    return write_response(respond_stacks, view, budget, response, err);
}

const struct sta_view_kind sta_view_call_tree = {
    .name = "calltree",
    .document_values = TIMELINE_VALUES | STA_HAS(SCOPE) | STA_HAS(CALL_LABEL) | STA_HAS(CALL_NAME) |
                       STA_HAS(CALL_DIRECTION) | STA_HAS(MIN_SHARE) | STA_HAS(DEPTH) |
                       STA_HAS(CALL_TREE_FORMAT),
    .check = sta_view_default_preset,
    .has_own_preset = true,
    .result = make_result,
    .timeline = respond_call_tree,
    .text_forms = "folded|speedscope",
    .compute_text = write_folded};

/* ---- single events */

static void put_member_value(struct sta_buffer *out, const char *name, struct sta_text text)
{
    sta_put_member(out, name);
    sta_put_text_value(out, text);
}

static void put_brief(struct sta_buffer *out, const struct sta_timeline_brief *brief)
{
    put_member_value(out, "id", brief->id);
    put_member_value(out, "name", brief->name);
    put_member_value(out, "category", brief->category);
    put_member_value(out, "layer", brief->layer);
    put_member_value(out, "lane", brief->lane);
    sta_put_member_uint(out, "row", brief->row);
    sta_put_member_double(out, "start", brief->start);
    sta_put_member_double(out, "end", brief->end);
    sta_put_member_double(out, "dur", brief->dur);
}

static void put_object(struct sta_buffer *out, const struct sta_timeline_brief *brief)
{
    sta_put_char(out, '{');
    put_brief(out, brief);
    sta_put_char(out, '}');
}

static void put_list(struct sta_buffer *out, const char *name, const struct sta_timeline_briefs *list)
{
    sta_begin_list(out, name);
    for (size_t i = 0; i < list->listed; i++) {
        sta_put_text(out, i > 0 ? "," : "");
        put_object(out, &list->items[i]);
    }
    sta_put_char(out, ']');
}

static void put_neighbour(struct sta_buffer *out, const char *name, bool is_there,
                          const struct sta_timeline_brief *brief, double gap)
{
    sta_put_member(out, name);
    if (!is_there) {
        sta_put_text(out, "null");
        return;
    }
    sta_put_char(out, '{');
    put_brief(out, brief);
    sta_put_member_double(out, "gap", gap);
    sta_put_char(out, '}');
}

static void put_event(struct sta_buffer *out, const struct sta_timeline_event *event)
{
    sta_put_char(out, '{');
    put_brief(out, &event->brief);
    sta_put_member_double(out, "self", event->self);
    sta_begin_object(out, "columns");
    sta_put_row_members(out, &event->columns, 0);
    sta_put_char(out, '}');
    put_list(out, "parents", &event->parents);
    sta_begin_object(out, "children");
    sta_put_member_uint(out, "count", event->children.count);
    sta_put_member_double(out, "time", event->child_time);
    put_list(out, "data", &event->children);
    sta_put_char(out, '}');
    put_neighbour(out, "previous", event->has_previous, &event->previous, event->previous_gap);
    put_neighbour(out, "next", event->has_next, &event->next, event->next_gap);
    sta_begin_object(out, "beside");
    put_member_value(out, "lane", event->beside_lane);
    sta_put_member_uint(out, "count", event->beside.count);
    put_list(out, "data", &event->beside);
    sta_put_text(out, "}}");
}

static int respond_event(const struct sta_timeline_query *query, const struct sta_budget *budget,
                         const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_timeline_event event;
    int status = sta_timeline_event(query, output->view->part, budget, &event, err);
    if (status == STA_OK) {
        put_event(&output->response->body, &event);
        sta_timeline_event_fini(&event);
    }
    return status;
}

static int respond_search(const struct sta_timeline_query *query, const struct sta_budget *budget,
                          const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_timeline_found found;
    struct sta_buffer *out = &output->response->body;
    int status = sta_timeline_search(query, budget, &found, err);
    if (status == STA_OK) {
        sta_put_char(out, '{');
        sta_put_member_uint(out, "matches", found.matches);
        sta_put_member_uint_or_null(out, "index", found.matches > 0, found.index);
        sta_put_member_bool(out, "wrapped", found.wrapped);
        sta_put_member(out, "event");
        if (found.matches > 0)
            put_object(out, &found.event);
        else
            sta_put_text(out, "null");
        sta_put_char(out, '}');
        sta_timeline_found_fini(&found);
    }
    return status;
}

const struct sta_view_kind sta_view_timeline_event = {.name = "timeline_event",
                                                      .document_values = STA_HAS(SHOWN_PRESET),
                                                      .check = sta_view_default_preset,
                                                      .has_own_preset = true,
                                                      .compute = compute,
                                                      .timeline = respond_event};
const struct sta_view_kind sta_view_timeline_search = {
    .name = "timeline_search",
    .document_values = TIMELINE_VALUES | STA_HAS(MOMENT) | STA_HAS(EVENT_ID) | STA_HAS(SEARCH_DIRECTION),
    .check = sta_view_default_preset,
    .has_own_preset = true,
    .compute = compute,
    .timeline = respond_search};

static int respond_export(const struct sta_timeline_query *query, const struct sta_budget *budget,
                          const struct sta_timeline_output *output, struct sta_error *err)
{
    struct sta_timeline_export export;
    int status = sta_timeline_export(query, budget, &export, err);
    if (status == STA_OK) {
        sta_put_chrome_trace(&output->response->body, &export);
        sta_timeline_export_fini(&export);
    }
    return status;
}

int sta_view_write_chrome_trace(struct sta_view *view, const struct sta_budget *budget,
                                struct sta_response *response, struct sta_error *err)
{
    return write_response(respond_export, view, budget, response, err);
}
