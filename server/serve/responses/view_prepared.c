/* What is computed of a new version before anyone asks.
 *
 * First what the first page shows, for which the ingest of a large trace waits, and what its findings lead
 * to, on a thread that gets less of a core than those of queries; then, at low priority, what all later
 * queries use. */
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

/* Shared by who prepares a version and who waits for its first page. */
struct sta_preparation {
    struct sta_server *server;
    char trace[STA_TRACE_ID_SIZE];
    _Atomic unsigned references;
    _Atomic unsigned done; /* parts of the first page */
};

/* One after the other, on this thread.  Who asks for one before its turn computes it, and who asks meanwhile
 * waits for the rest of it.  A query that makes no sense for the trace is left out. */
static void compute_prepared(struct sta_preparation *preparation, const struct prepared *asked, size_t count)
{
    struct sta_server *server = preparation->server;
    for (size_t i = 0; i < count && !atomic_load(&server->stopping); i++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_view *view;
        int status = open_prepared(server, &asked[i], preparation->trace, &view, &err);
        if (status != STA_OK && status != STA_EINPUT)
            return;
        if (view != NULL) {
            view->prepared = true;
            if (atomic_load(&server->stopping)) /* perhaps after all flights were cancelled */
                atomic_store(sta_flight_cancel(view->flight), true);
            sta_view_run(view, false);
        }
        atomic_fetch_add(&preparation->done, 1);
    }
}

void sta_preparation_release(struct sta_preparation *preparation)
{
    if (atomic_fetch_sub(&preparation->references, 1) == 1)
        free(preparation);
}

/* What is worth doing once for all later queries. */
static void prepare_last(void *context, bool dropped)
{
    static const struct prepared last[] = {{.kind = &sta_view_series_base, .preset = "posix"},
                                           {.kind = &sta_view_timeline_keep},
                                           {.kind = &sta_view_column_figures}};
    if (!dropped)
        compute_prepared(context, last, STA_COUNT_OF(last));
    sta_preparation_release(context);
}

static const struct prepared first_page[] = {
    {.kind = &sta_view_summary},
    {.kind = &sta_view_report},
    {.kind = &sta_view_series_base},
    {.kind = &sta_view_overlap,
     .document = "{\"filters\": \"off\", \"attribution\": \"stall\", \"by\": [\"unit\"]}",
     .by_parameters = true},
};

double sta_preparation_progress(const struct sta_preparation *preparation)
{
    const size_t done = atomic_load(&preparation->done), all = STA_COUNT_OF(first_page);
    return done < all ? (double)done / (double)all : 1;
}

static void prepare_first(void *context, bool dropped)
{
    static const struct prepared behind[] = {
        {.kind = &sta_view_summary, .preset = "posix"},
        {.kind = &sta_view_findings},
        {.kind = &sta_view_stragglers,
         .document = "{\"by\": \"rank\", \"measure\": \"busy\", \"of\": \"stall\"}"},
    };
    struct sta_preparation *preparation = context;
    struct sta_error ignored = STA_ERROR_INIT;
    if (!dropped)
        compute_prepared(preparation, first_page, STA_COUNT_OF(first_page));
    atomic_store(&preparation->done, STA_COUNT_OF(first_page)); /* what failed is not waited for */
    if (!dropped)
        compute_prepared(preparation, behind, STA_COUNT_OF(behind));
    if (dropped ||
        sta_workers_submit(preparation->server->background, prepare_last, preparation, &ignored) != STA_OK)
        sta_preparation_release(preparation);
}

struct sta_preparation *sta_view_prepare(struct sta_server *server, const char *trace)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_preparation *preparation = sta_alloc(sizeof *preparation);
    preparation->server = server;
    preparation->references = 2;
    snprintf(preparation->trace, sizeof preparation->trace, "%s", trace);
    if (sta_workers_submit(server->prepared, prepare_first, preparation, &ignored) != STA_OK)
        prepare_first(preparation, true);
    return preparation;
}

void sta_view_prepare_kind(struct sta_server *server, const struct sta_view_kind *kind, const char *trace)
{
    const struct prepared asked = {.kind = kind};
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_view *view;
    if (open_prepared(server, &asked, trace, &view, &ignored) == STA_OK && view != NULL)
        sta_view_send(view);
}
