/* Queries: of one trace, of several, and of its plain events. */
#include "serve/responses/views.h"

/* Events that are asked, whatever is made of them. */
#define EVENT_VALUES                                                                                         \
    (STA_HAS(TRACED_PRESET) | STA_HAS(TRACED_FILTERS) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(DERIVE) |      \
     STA_HAS(FILTER) | STA_HAS_ORDER)
#define QUERY_VALUES                                                                                         \
    (STA_HAS(QUERY) | EVENT_VALUES | STA_HAS(GROUP_BY) | STA_HAS(AGGREGATE) | STA_HAS(VALUE_COUNTS) |        \
     STA_HAS(DESCRIBE))

static struct sta_query query_of(struct sta_view *view)
{
    struct sta_query_trace *traces =
        sta_arena_alloc(&view->memory, view->trace_count * sizeof *traces, _Alignof(struct sta_query_trace));
    for (size_t i = 0; i < view->trace_count; i++)
        traces[i] = (struct sta_query_trace){view->traces[i].label, view->traces[i].snapshot};
    return (struct sta_query){.traces = traces,
                              .trace_count = view->trace_count,
                              .presets = view->presets,
                              .request = view->document};
}

static int run_query(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                     struct sta_error *err)
{
    struct sta_query query = query_of(view);
    struct sta_query_result *rows;
    int status = sta_query_run(&query, budget, &rows, err);
    if (status == STA_OK)
        *result = sta_result_of_query(rows);
    return status;
}

static void put_step(struct sta_buffer *out, const struct sta_query_step *step)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", step->name);
    sta_put_member_text(out, "detail", step->detail);
    sta_put_member_uint(out, "rows_in", step->rows_in);
    sta_put_member_uint(out, "rows_out", step->rows_out);
    sta_put_member_uint(out, "blocks_read", step->row_groups_read);
    sta_put_member_uint(out, "blocks_skipped", step->row_groups_skipped);
    sta_put_member_double(out, "seconds", (double)step->nanoseconds / 1e9);
    sta_put_member_uint(out, "memory", step->memory);
    sta_put_member_uint(out, "spilled", step->spilled);
    sta_put_char(out, '}');
}

static void explain(const struct sta_result *result, struct sta_buffer *out)
{
    size_t count;
    const struct sta_query_step *steps = sta_query_steps(result->self, &count);
    sta_put_text(out, "{\"steps\":[");
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, i > 0 ? ",\n" : "\n");
        put_step(out, &steps[i]);
    }
    sta_put_text(out, "]}");
}

const struct sta_view_kind sta_view_query = {.name = "query",
                                             .labelled = true,
                                             .checks_limit = true,
                                             .document_values = QUERY_VALUES,
                                             .result = run_query,
                                             .explain = explain};

/* Events in the form of a table may be of any preset; for a viewer they have layers. */
static int check_events(struct sta_view *view, struct sta_error *err)
{
    return view->text_form != NULL ? sta_view_default_preset(view, err) : STA_OK;
}

const struct sta_view_kind sta_view_events = {.name = "events",
                                              .labelled = true,
                                              .checks_limit = true,
                                              .document_values =
                                                  EVENT_VALUES | STA_HAS(LANES) | STA_HAS(EVENTS_FORMAT),
                                              .result = run_query,
                                              .explain = explain,
                                              .check = check_events,
                                              .text_forms = "chrome",
                                              .compute_text = sta_view_write_chrome_trace};

const struct sta_view_kind sta_view_query_traces = {.name = "query_traces",
                                                    .labelled = true,
                                                    .checks_limit = true,
                                                    .document_values = QUERY_VALUES,
                                                    .find = sta_view_find_traces,
                                                    .result = run_query,
                                                    .explain = explain};
