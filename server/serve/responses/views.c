/* Queries to a trace.
 *
 * DESIGN.  On the HTTP thread a request becomes a key: trace, version, presets and the parameters that make a
 * difference.  When the response is kept it goes out at once.  Else the exchange is parked as a waiter of the
 * response's flight, and who starts the flight sends the query to the query threads.  A client that
 * leaves stops waiting; with the last one the computation is cancelled.
 *
 * Opening a trace's snapshot reads files.  So a trace that has not been asked since it was opened here
 * ("cold") goes through an I/O thread first, and only warm ones are looked up on the HTTP thread. */
#include "serve/responses/views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/account.h"
#include "common/build_id.h"
#include "common/log.h"
#include "common/memory.h"
#include "serve/formats/negotiation.h"

/* A request that waits for a flight. */
struct pending {
    struct sta_waiter waiter; /* first: the waiter is the pending request */
    struct sta_call call;
    struct sta_view *view; /* until the flight is joined */
};

/* ---- a view, made and destroyed */

void sta_view_destroy(struct sta_view *view)
{
    for (size_t i = 0; i < view->trace_count; i++)
        if (view->traces[i].snapshot != NULL)
            sta_snapshot_release(view->traces[i].snapshot);
    if (view->presets != NULL)
        sta_presets_release(view->presets);
    sta_arena_fini(&view->memory);
    sta_buffer_fini(&view->key);
    sta_account_close(&view->account);
    free(view);
}

static int fail_preset(const struct sta_view *view, struct sta_error *err)
{
    char *names = sta_presets_names(view->presets);
    sta_fail_at(err, STA_EINPUT, "/preset", "There is no preset \"%s\"; there are: %s", view->preset, names);
    free(names);
    return err->status;
}

static int check_layered(struct sta_view *view, struct sta_error *err)
{
    const struct sta_parameter_value *values = view->values;
    const char *preset = values[STA_PARAMETER_PRESET].text;
    int status = STA_OK;
    if (preset != NULL)
        snprintf(view->preset, sizeof view->preset, "%s", preset);
    else
        status = sta_library_preset_of(view->server->options.library, view->trace, view->preset, err);
    if (status != STA_OK)
        return status;
    if (sta_presets_find(view->presets, view->preset) == NULL)
        return fail_preset(view, err);
    if (values[STA_PARAMETER_FROM].given && values[STA_PARAMETER_TO].given &&
        values[STA_PARAMETER_FROM].number > values[STA_PARAMETER_TO].number)
        return sta_fail_at(err, STA_EINPUT, "/to", "to (%s s) lies before from (%s s)",
                           values[STA_PARAMETER_TO].text, values[STA_PARAMETER_FROM].text);
    return STA_OK;
}

/* With snapshots and presets at hand. */
static int view_prepare(struct sta_view *view, struct sta_error *err)
{
    int status = STA_OK;
    view->snapshot = view->trace_count > 0 ? view->traces[0].snapshot : NULL;
    if (view->snapshot != NULL)
        view->page.origin_us = sta_snapshot_info(view->snapshot)->origin_us;
    if (view->kind->layered)
        status = check_layered(view, err);
    if (status == STA_OK && view->kind->check != NULL)
        status = view->kind->check(view, err);
    if (status == STA_OK)
        sta_view_make_key(view);
    return status;
}

/* Without partial=true nobody gets numbers that lack events. */
static int check_whole(const struct sta_view *view, struct sta_error *err)
{
    const struct sta_parameter_value *partial = &view->values[STA_PARAMETER_PARTIAL];
    if (partial->given && strcmp(partial->text, "true") == 0)
        return STA_OK;
    for (size_t i = 0; i < view->trace_count; i++) {
        const struct sta_snapshot_info *info = sta_snapshot_info(view->traces[i].snapshot);
        uint64_t all = info->events + info->missing_events;
        if (info->damaged > 0)
            return sta_fail(
                err, STA_ECORRUPT,
                "The trace %s lacks %" PRIu64 " of %" PRIu64
                " events: %u of its store files were damaged. They are read again from its "
                "sources, if these are still there; partial=true asks for a response without them",
                view->traces[i].id, info->missing_events, all, info->damaged);
    }
    return STA_OK;
}

int sta_view_open(struct sta_view *view, struct sta_error *err)
{
    struct sta_library *library = view->server->options.library;
    int status = STA_OK;
    for (size_t i = 0; i < view->trace_count && status == STA_OK; i++)
        status = sta_library_snapshot(library, view->traces[i].id, &view->traces[i].snapshot, err);
    if (status == STA_OK)
        status = check_whole(view, err);
    if (status != STA_OK)
        return status;
    view->presets = sta_library_presets(library);
    return view_prepare(view, err);
}

struct sta_view *sta_view_create(struct sta_server *server, const struct sta_view_kind *kind,
                                 const struct sta_parameter_value *values)
{
    struct sta_view *view = sta_alloc(sizeof *view);
    view->server = server;
    view->kind = kind;
    memcpy(view->values, values, sizeof view->values);
    sta_buffer_init(&view->key);
    return view;
}

/* All that the request says, but for what its traces hold. */
static int view_read(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    const struct sta_view_kind *kind = view->kind;
    int status = STA_OK;
    if (kind->document_values != 0)
        status = sta_view_read_document(view, call, err);
    if (status == STA_OK && kind->result != NULL)
        status = sta_view_read_page(view, call, err);
    if (status == STA_OK && kind->arranged)
        status = sta_view_read_order(view, call, err);
    if (status == STA_OK)
        status =
            kind->find != NULL ? kind->find(view, err) : sta_view_take_trace(view, call->captures[0], err);
    memcpy(view->part, call->captures[1], sizeof view->part);
    return status;
}

/* The texts lie in the request; a view that outlives it needs its own. */
static void own_texts(struct sta_view *view)
{
    for (unsigned i = 0; i < STA_PARAMETERS; i++)
        if (view->values[i].given)
            view->values[i].text =
                sta_arena_copy(&view->memory, view->values[i].text, strlen(view->values[i].text));
    if (view->page.cursor != NULL)
        view->page.cursor = sta_arena_copy(&view->memory, view->page.cursor, strlen(view->page.cursor));
}

/* ---- computing */

#define KEPT_NAME_SIZE 192
static void kept_name(const struct sta_view *view, char name[KEPT_NAME_SIZE])
{
    snprintf(name, KEPT_NAME_SIZE, "%s-%s-%016llx-%s", view->kind->name, view->preset,
             (unsigned long long)sta_presets_fingerprint(view->presets), sta_build_id());
}

/* Whether this is the query that asks nothing special, but for a preset. */
static bool is_kept(const struct sta_view *view)
{
    if (!view->kind->kept)
        return false;
    for (unsigned i = 0; i < STA_PARAMETERS; i++) {
        const char *text = view->values[i].text, *fallback = sta_parameters[i].fallback;
        bool chosen = text != NULL && fallback != NULL && strcmp(text, fallback) != 0; /* by Accept */
        if (view->kind->key_values >> i & 1 && (view->values[i].given || chosen))
            return false;
    }
    return true;
}

static bool get(const struct sta_view *view, struct sta_response *response)
{
    char name[KEPT_NAME_SIZE], *bytes;
    size_t size;
    kept_name(view, name);
    if (!sta_view_get_kept(view, name, &bytes, &size))
        return false;
    sta_put(&response->body, bytes, size);
    free(bytes);
    return true;
}

static void put(const struct sta_view *view, const struct sta_response *response)
{
    char name[KEPT_NAME_SIZE];
    kept_name(view, name);
    sta_view_put_kept(view, name, response->body.data, response->body.size);
}

static int compute(struct sta_view *view, struct sta_progress *progress, struct sta_response *response,
                   struct sta_error *err)
{
    struct sta_budget budget = sta_view_budget(view, sta_flight_cancel(view->flight));
    budget.progress = progress;
    if (view->kind->background)
        budget.deadline_ns = 0;
    if (is_kept(view) && get(view, response))
        return STA_OK;
    if (atomic_load(budget.cancel))
        return sta_fail(err, STA_ECANCELLED, "Nobody waits for the response any more");
    int status;
    if (view->text_form != NULL)
        status = view->kind->compute_text(view, &budget, response, err);
    else if (view->kind->compute != NULL)
        status = view->kind->compute(view, &budget, response, err);
    else
        status = sta_view_compute_page(view, &budget, response, err);
    if (status == STA_OK)
        status = sta_account_failure(&view->account, err);
    if (status != STA_OK)
        return sta_view_say_why(view, &budget, status, err);
    if (response->body.failed)
        return sta_view_fail_size(view, &response->body, err);
    sta_view_note_missing(view, response);
    if (is_kept(view))
        put(view, response);
    return STA_OK;
}

void sta_view_run(void *context, bool dropped)
{
    struct sta_view *view = context;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_representation *content = NULL;
    struct sta_response response;
    struct sta_running_query running = {
        .kind = view->kind->name, .trace = view->trace, .cancel = sta_flight_cancel(view->flight)};
    sta_response_init(&response);
    response.body.limit = view->server->options.query_memory;
    response.body.account = view->server->options.account;
    sta_running_enter(view->server->running, &running);
    int status = dropped ? sta_fail(&err, STA_EBUSY, "The daemon is stopping")
                         : compute(view, &running.progress, &response, &err);
    if (status == STA_OK)
        content = sta_representation_create(&response, "private, no-cache");
    sta_response_fini(&response);
    sta_running_leave(view->server->running, &running, status, &err);
    sta_flight_land(view->flight, content, &err);
    struct sta_server *server = view->server;
    sta_view_destroy(view);
    sta_server_trim(server);
}

void sta_view_send(struct sta_view *view)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_server *server = view->server;
    if (sta_workers_submit(view->kind->background ? server->background : server->queries, sta_view_run, view,
                           &err) == STA_OK)
        return;
    sta_flight_land(view->flight, NULL, &err);
    sta_view_destroy(view);
}

/* ---- asking */

static void on_response(struct sta_waiter *waiter, struct sta_representation *content,
                        const struct sta_error *failure)
{
    struct pending *pending = (struct pending *)waiter;
    if (content != NULL)
        sta_exchange_finish(pending->call.exchange,
                            sta_representation_choose(content, pending->call.exchange));
    else
        sta_call_fail(&pending->call, failure, true);
    free(pending);
}

static bool on_gone(void *context)
{
    struct pending *pending = context;
    if (!sta_waiter_leave(pending->call.server->response_cache, &pending->waiter))
        return false;
    free(pending);
    return true;
}

/* Waits for the response; the exchange is parked.  Takes over the view.  The pending request may be gone when
 * this returns. */
static void join(struct pending *pending, struct sta_view *view)
{
    own_texts(view);
    pending->waiter.done = on_response;
    view->flight = sta_response_cache_join(view->server->response_cache, view->key.data, view->key.size,
                                           &pending->waiter);
    if (view->flight != NULL)
        sta_view_send(view);
    else
        sta_view_destroy(view);
}

static void open_cold(void *context, bool dropped)
{
    struct pending *pending = context;
    struct sta_view *view = pending->view;
    struct sta_error err = STA_ERROR_INIT;
    int status = dropped ? sta_fail(&err, STA_EBUSY, "The daemon is stopping") : sta_view_open(view, &err);
    if (status == STA_OK) {
        join(pending, view);
        return;
    }
    sta_call_fail(&pending->call, &err, true);
    sta_view_destroy(view);
    free(pending);
}

static struct pending *pending_create(const struct sta_call *call, struct sta_view *view)
{
    struct pending *pending = sta_alloc(sizeof *pending);
    pending->call = *call;
    pending->view = view;
    return pending;
}

static void respond_cold(struct sta_call *call, struct sta_view *view)
{
    struct sta_error err = STA_ERROR_INIT;
    struct pending *pending = pending_create(call, view);
    sta_exchange_park(call->exchange, on_gone, pending);
    if (sta_workers_submit(view->server->tasks, open_cold, pending, &err) == STA_OK)
        return;
    sta_call_fail(call, &err, true);
    sta_view_destroy(view);
    free(pending);
}

static void respond_warm(struct sta_call *call, struct sta_view *view)
{
    struct sta_error err = STA_ERROR_INIT;
    if (sta_view_open(view, &err) != STA_OK) {
        sta_call_fail(call, &err, false);
        sta_view_destroy(view);
        return;
    }
    struct sta_representation *content =
        sta_response_cache_find(view->server->response_cache, view->key.data, view->key.size);
    if (content != NULL) {
        sta_exchange_response(call->exchange, sta_representation_choose(content, call->exchange));
        sta_representation_release(content);
        sta_view_destroy(view);
        return;
    }
    struct pending *pending = pending_create(call, NULL);
    sta_exchange_park(call->exchange, on_gone, pending);
    join(pending, view);
}

static bool is_warm(const struct sta_view *view)
{
    for (size_t i = 0; i < view->trace_count; i++)
        if (!sta_library_is_open(view->server->options.library, view->traces[i].id))
            return false;
    return true;
}

void sta_view_respond(struct sta_call *call)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_negotiation_choose(call);
    struct sta_view *view = sta_view_create(call->server, call->route->view, call->values);
    if (view_read(view, call, &err) != STA_OK) {
        sta_call_fail(call, &err, false);
        sta_view_destroy(view);
        return;
    }
    sta_negotiation_name(call, view);
    if (sta_view_may_be_long(view)) {
        sta_view_stream_result(call, view);
    } else if (is_warm(view)) {
        respond_warm(call, view);
    } else {
        respond_cold(call, view);
    }
}

/* ---- a query of one kind as part of another */

/* *part: to be destroyed also after a failure. */
static int view_of_part(const struct sta_view *view, size_t trace, const struct sta_view_kind *kind,
                        struct sta_view **part, struct sta_error *err)
{
    struct sta_view *one = *part = sta_view_create(view->server, kind, view->values);
    one->values[STA_PARAMETER_PRESET].text = view->preset;
    int status = sta_view_take_trace(one, view->traces[trace].id, err);
    if (status != STA_OK)
        return status;
    one->traces[0].snapshot = sta_snapshot_retain(view->traces[trace].snapshot);
    one->presets = sta_presets_retain(view->presets);
    return view_prepare(one, err);
}

int sta_view_result_of(const struct sta_view *view, size_t trace, const struct sta_view_kind *kind,
                       const struct sta_budget *budget, struct sta_result **result, struct sta_error *err)
{
    struct sta_view *one;
    int status = view_of_part(view, trace, kind, &one, err);
    if (status == STA_OK)
        status = sta_view_find_result(one, budget, result, err);
    sta_view_destroy(one);
    return status;
}

int sta_view_kept_of(const struct sta_view *view, size_t trace, const struct sta_view_kind *kind,
                     struct sta_result **result, struct sta_error *err)
{
    struct sta_view *one;
    int status = view_of_part(view, trace, kind, &one, err);
    *result =
        status == STA_OK ? sta_result_cache_find(view->server->results, one->key.data, one->rows_size) : NULL;
    sta_view_destroy(one);
    return status;
}
