/* What is computed of a new version before anyone asks.
 *
 * First what the first page asks, on a thread that gets less of a core than those of queries; then, at low
 * priority, what all later queries use. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/formats/document_json.h"
#include "serve/responses/views.h"

/* A query that is prepared. */
struct prepared {
    const struct sta_view_kind *kind;
    const char *preset;   /* NULL: that of the trace */
    const char *document; /* as JSON, to which the trace's preset is added; NULL: it has none */
    bool by_parameters;   /* the document is what parameters of a GET would make */
};

static int make_document(struct sta_view *view, const struct prepared *asked, struct sta_error *err)
{
    int status = sta_document_parse(asked->document, strlen(asked->document), "what is prepared",
                                    &view->memory, &view->document, err);
    if (status == STA_OK)
        status = sta_library_preset_of(view->server->options.library, view->trace, view->preset, err);
    if (status == STA_OK)
        sta_document_add_text(&view->memory, view->document, "preset", view->preset);
    view->from_parameters = asked->by_parameters;
    return status;
}

/* Opens a query that nobody waits for, and its flight.  *view: NULL when its response is there already, or
 * somebody has asked. */
static int open_prepared(struct sta_server *server, const struct prepared *asked, const char *trace,
                         struct sta_view **view, struct sta_error *err)
{
    struct sta_parameter_value values[STA_PARAMETERS];
    STA_ASSERT(sta_parameters_read(NULL, ~(sta_parameter_set)0, values, NULL, err) == STA_OK);
    values[STA_PARAMETER_PRESET].text = asked->preset;
    struct sta_view *opened = sta_view_create(server, asked->kind, values);
    int status = sta_view_take_trace(opened, trace, err);
    if (status == STA_OK && asked->document != NULL)
        status = make_document(opened, asked, err);
    if (status == STA_OK)
        status = sta_view_open(opened, err);
    if (status == STA_OK)
        opened->flight =
            sta_response_cache_join(server->response_cache, opened->key.data, opened->key.size, NULL);
    *view = opened->flight != NULL ? opened : NULL;
    if (opened->flight == NULL)
        sta_view_destroy(opened);
    return status;
}

/* One after the other, on this thread.  Who asks for one before its turn computes it, and who asks meanwhile
 * waits for the rest of it.  A query that makes no sense for the trace is left out. */
static void compute_prepared(struct sta_server *server, const struct prepared *asked, size_t count,
                             const char *trace)
{
    for (size_t i = 0; i < count && !atomic_load(&server->stopping); i++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_view *view;
        int status = open_prepared(server, &asked[i], trace, &view, &err);
        if (status != STA_OK && status != STA_EINPUT)
            return;
        if (view == NULL)
            continue;
        view->prepared = true;
        if (atomic_load(&server->stopping)) /* perhaps after all flights were cancelled */
            atomic_store(sta_flight_cancel(view->flight), true);
        sta_view_run(view, false);
    }
}

struct preparing {
    struct sta_server *server;
    char trace[STA_TRACE_ID_SIZE];
};

/* What is worth doing once for all later queries. */
static void prepare_last(void *context, bool dropped)
{
    static const struct prepared last[] = {{.kind = &sta_view_series_base, .preset = "posix"},
                                           {.kind = &sta_view_timeline_keep},
                                           {.kind = &sta_view_column_figures}};
    struct preparing *preparing = context;
    if (!dropped)
        compute_prepared(preparing->server, last, STA_COUNT_OF(last), preparing->trace);
    free(preparing);
}

/* What the first page asks, and those pages that its findings lead to. */
static void prepare_first(void *context, bool dropped)
{
    static const char stalled_ranks[] = "{\"by\": \"rank\", \"measure\": \"busy\", \"of\": \"stall\"}";
    static const char causes[] = "{\"filters\": \"off\", \"attribution\": \"stall\", \"by\": [\"unit\"]}";
    static const struct prepared first[] = {
        {.kind = &sta_view_summary},
        {.kind = &sta_view_summary, .preset = "posix"},
        {.kind = &sta_view_report},
        {.kind = &sta_view_series_base},
        {.kind = &sta_view_findings},
        {.kind = &sta_view_stragglers, .document = stalled_ranks},
        {.kind = &sta_view_overlap, .document = causes, .by_parameters = true},
    };
    struct preparing *preparing = context;
    struct sta_error ignored = STA_ERROR_INIT;
    if (!dropped)
        compute_prepared(preparing->server, first, STA_COUNT_OF(first), preparing->trace);
    if (dropped ||
        sta_workers_submit(preparing->server->background, prepare_last, preparing, &ignored) != STA_OK)
        free(preparing);
}

void sta_view_prepare(struct sta_server *server, const char *trace)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct preparing *preparing = sta_alloc(sizeof *preparing);
    preparing->server = server;
    snprintf(preparing->trace, sizeof preparing->trace, "%s", trace);
    if (sta_workers_submit(server->prepared, prepare_first, preparing, &ignored) != STA_OK)
        free(preparing);
}

void sta_view_prepare_kind(struct sta_server *server, const struct sta_view_kind *kind, const char *trace)
{
    const struct prepared asked = {.kind = kind};
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_view *view;
    if (open_prepared(server, &asked, trace, &view, &ignored) == STA_OK && view != NULL)
        sta_view_send(view);
}
