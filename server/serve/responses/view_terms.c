/* What a view may use and what it must say: its budget, why it was refused, what its traces lack, and its
 * parameters as the analysis takes them. */
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/account.h"
#include "common/log.h"
#include "common/memory.h"
#include "analyse/analyse.h"
#include "serve/responses/views.h"

/* ---- budget */

struct sta_budget sta_view_budget(struct sta_view *view, const _Atomic bool *cancel)
{
    const struct sta_server_options *options = &view->server->options;
    STA_ASSERT(view->account.setting == NULL);
    sta_account_init(&view->account, options->query_memory, "query_memory", options->account);
    view->account.yields = view->prepared || view->kind->background;
    return (struct sta_budget){
        .workers = options->workers,
        .memory = options->query_memory,
        .account = &view->account,
        .cancel = cancel,
        .deadline_ns =
            options->query_timeout ? uv_hrtime() + options->query_timeout * UINT64_C(1000000000) : 0,
        .spill_folder = options->spill,
        .peers = options->peers,
    };
}

int sta_view_say_why(const struct sta_view *view, const struct sta_budget *budget, int status,
                     struct sta_error *err)
{
    if (status == STA_ELIMIT && budget->deadline_ns != 0 && uv_hrtime() >= budget->deadline_ns) {
        sta_error_wrap(err, "The query took longer than %llu s (setting query_timeout)",
                       (unsigned long long)view->server->options.query_timeout);
        return err->status = STA_EBUSY; /* with less to do the daemon may be fast enough */
    }
    if (status == STA_ECANCELLED)
        sta_error_wrap(err, "The query was ended before its response was there");
    return status;
}

int sta_view_fail_size(const struct sta_view *view, const struct sta_buffer *body, struct sta_error *err)
{
    if (body->capacity < body->limit &&
        sta_account_check(body->account, STA_MAX(body->capacity, 1), "the response", err) != STA_OK)
        return err->status;
    return sta_fail(err, STA_ELIMIT, "The response would take more than %llu bytes (setting query_memory)",
                    (unsigned long long)view->server->options.query_memory);
}

/* ---- what is kept beside a version */

bool sta_view_get_kept(const struct sta_view *view, const char *name, char **bytes, size_t *size)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(view->snapshot);
    struct sta_error ignored = STA_ERROR_INIT;
    return info->damaged == 0 && sta_store_get_kept(view->server->options.store, view->trace, info->version,
                                                    name, bytes, size, &ignored) == STA_OK;
}

void sta_view_put_kept(const struct sta_view *view, const char *name, const void *bytes, size_t size)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(view->snapshot);
    struct sta_error err = STA_ERROR_INIT;
    if (info->damaged == 0 && sta_store_put_kept(view->server->options.store, view->trace, info->version,
                                                 name, bytes, size, &err) != STA_OK)
        sta_log(STA_LOG_DEBUG, "Cannot keep what was computed", "trace", view->trace, "name", name, "cause",
                err.text, NULL);
}

/* ---- what is missing */

char *sta_view_missing(const struct sta_view *view)
{
    uint64_t segments = 0, events = 0;
    for (size_t i = 0; i < view->trace_count; i++) {
        segments += sta_snapshot_info(view->traces[i].snapshot)->damaged;
        events += sta_snapshot_info(view->traces[i].snapshot)->missing_events;
    }
    return segments == 0 ? NULL
                         : sta_sprintf("segments=%llu, events=%llu", (unsigned long long)segments,
                                       (unsigned long long)events);
}

void sta_view_note_missing(const struct sta_view *view, struct sta_response *response)
{
    char *missing = sta_view_missing(view);
    if (missing != NULL)
        sta_response_header(response, "Strata-Missing", missing);
    free(missing);
}

/* ---- parameters */

struct sta_view_query sta_view_query_of(const struct sta_view *view)
{
    const struct sta_parameter_value *values = view->values;
    const char *filters = values[STA_PARAMETER_FILTERS].text; /* NULL: not a parameter here */
    return (struct sta_view_query){
        .snapshot = view->snapshot,
        .presets = view->presets,
        .preset = view->preset,
        .filters = filters != NULL && strcmp(filters, "on") == 0,
        .has_from = values[STA_PARAMETER_FROM].given,
        .has_to = values[STA_PARAMETER_TO].given,
        .from = values[STA_PARAMETER_FROM].number,
        .to = values[STA_PARAMETER_TO].number,
        .filter = values[STA_PARAMETER_FILTER].text,
    };
}

struct sta_overlap_query sta_view_overlap_query(const struct sta_view *view,
                                                const struct sta_document *request)
{
    return (struct sta_overlap_query){.snapshot = view->snapshot,
                                      .presets = view->presets,
                                      .label = view->traces[0].label,
                                      .trace_preset = view->preset,
                                      .request = request};
}

struct sta_response_names sta_view_names(const struct sta_view *view)
{
    return (struct sta_response_names){view->values[STA_PARAMETER_SEMANTICS].text, view->preset,
                                       strcmp(view->values[STA_PARAMETER_FILTERS].text, "on") == 0};
}

const char **sta_view_list(struct sta_view *view, const char *names, size_t *count)
{
    *count = 0;
    size_t capacity = 0;
    const char **list = NULL;
    for (const char *at = names; at != NULL && *at;) {
        size_t length = strcspn(at, ",");
        STA_GROW(list, capacity, *count + 1);
        list[(*count)++] = sta_arena_copy(&view->memory, at, length);
        at += length + (at[length] == ',');
    }
    return list;
}
