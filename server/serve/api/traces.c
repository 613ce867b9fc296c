/* Traces: list, register, describe, change, remove, refresh, browse. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/body.h"
#include "serve/api/routes.h"

#define NAME_LENGTH 200
#define PATH_LENGTH 4096
#define TAGS 64
#define TAG_LENGTH 100

int sta_api_traces(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    size_t count;
    struct sta_trace_view *views = sta_library_list(call->server->options.library, &count);
    sta_put_text(&response->body, "{\"traces\":[");
    for (size_t i = 0; i < count; i++) {
        sta_put_text(&response->body, i ? ",\n" : "\n");
        sta_put_trace(call->server, &response->body, &views[i]);
        sta_trace_view_fini(&views[i]);
    }
    sta_put_text(&response->body, "]}");
    free(views);
    return STA_OK;
}

int sta_api_trace(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    return sta_put_trace_by_id(call->server, &response->body, call->captures[0], err);
}

/* {"trace": .., "job": ..}; the job is null when nothing has to be done. */
static int put_accepted(struct sta_call *call, struct sta_response *response, const char *trace,
                        const char *job, struct sta_error *err)
{
    struct sta_job_view view;
    struct sta_buffer *out = &response->body;
    char location[64];
    sta_put_char(out, '{');
    sta_put_member(out, "trace");
    int status = sta_put_trace_by_id(call->server, out, trace, err);
    if (status != STA_OK)
        return status;
    sta_put_member(out, "job");
    if (job[0] != '\0' && sta_jobs_view(call->server->options.jobs, job, &view))
        sta_put_job(out, &view);
    else
        sta_put_text(out, "null");
    sta_put_char(out, '}');
    snprintf(location, sizeof location, "/api/v1/traces/%s", trace);
    sta_response_header(response, "Location", location);
    response->status = job[0] != '\0' ? 202 : 200;
    return STA_OK;
}

static int check_format(const char *format, struct sta_error *err)
{
    if (format == NULL || strcmp(format, "auto") == 0 || strcmp(format, "dataload") == 0)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/format", "format \"%.60s\" is not known; allowed: auto, dataload",
                       format);
}

int sta_api_trace_create(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const struct sta_member members[] = {
        {"path", STA_MEMBER_TEXT, true, PATH_LENGTH, 0, false},
        {"name", STA_MEMBER_TEXT, false, NAME_LENGTH, 0, true},
        {"format", STA_MEMBER_TEXT, false, NAME_LENGTH, 0, false},
        {"follow", STA_MEMBER_BOOL, false, 0, 0, false},
    };
    struct sta_body body;
    struct sta_registration registration;
    int status = sta_body_read(sta_exchange_body(call->exchange), members, STA_COUNT_OF(members), &body, err);
    if (status != STA_OK)
        return status;
    sta_call_note_subject(call, body.values[0].text);
    status = check_format(body.values[2].text, err);
    if (status == STA_OK) {
        status = sta_library_register(call->server->options.library, body.values[0].text, body.values[1].text,
                                      body.values[3].truth, &registration, err);
        if (status == STA_OK)
            status = put_accepted(call, response, registration.trace, registration.job, err);
        else
            sta_at(err, "/path", -1);
    }
    sta_body_fini(&body);
    return status;
}

int sta_api_trace_patch(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const struct sta_member members[] = {
        {"name", STA_MEMBER_TEXT, false, NAME_LENGTH, 0, true},
        {"tags", STA_MEMBER_TEXTS, false, TAG_LENGTH, TAGS, true},
        {"follow", STA_MEMBER_BOOL, false, 0, 0, false},
    };
    struct sta_body body;
    int status = sta_body_read(sta_exchange_body(call->exchange), members, STA_COUNT_OF(members), &body, err);
    if (status != STA_OK)
        return status;
    status = sta_library_rename(call->server->options.library, call->captures[0], body.values[0].text,
                                body.values[1].texts, body.values[1].count, err);
    if (status == STA_OK && body.values[2].given)
        status =
            sta_library_follow(call->server->options.library, call->captures[0], body.values[2].truth, err);
    sta_body_fini(&body);
    return status == STA_OK ? sta_put_trace_by_id(call->server, &response->body, call->captures[0], err)
                            : status;
}

int sta_api_trace_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    response->status = 204;
    sta_response_cache_forget(call->server->response_cache, call->captures[0]);
    sta_result_cache_forget(call->server->results, call->captures[0]); /* they hold on to the trace's files */
    sta_timelines_forget(call->server->timelines, call->captures[0]);
    int status = sta_library_remove(call->server->options.library, call->captures[0], err);
    sta_server_trim(call->server);
    return status;
}

int sta_api_trace_refresh(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    char job[STA_JOB_ID_SIZE] = "";
    int status = sta_library_refresh(call->server->options.library, call->captures[0], job, err);
    return status == STA_OK ? put_accepted(call, response, call->captures[0], job, err) : status;
}

int sta_api_trace_compact(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    char job[STA_JOB_ID_SIZE] = "";
    int status = sta_library_compact(call->server->options.library, call->captures[0], job, err);
    return status == STA_OK ? put_accepted(call, response, call->captures[0], job, err) : status;
}

/* ---- browsing */

static void put_browse_entry(struct sta_buffer *out, const struct sta_browse *browse,
                             const struct sta_browse_entry *entry)
{
    const char *folder = browse->path ? browse->path : "";
    bool slash = browse->path && strcmp(folder, "/") != 0;
    struct sta_buffer path;
    sta_buffer_init(&path);
    sta_put_format(&path, "%s%s%s", folder, slash ? "/" : "", entry->name);
    char *text = sta_buffer_take_text(&path);
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", entry->name);
    sta_put_member_text(out, "path", text);
    sta_put_member_text(out, "kind", entry->folder ? "folder" : "file");
    sta_put_member_bool(out, "candidate", entry->candidate);
    sta_put_member_uint(out, "bytes", entry->size);
    sta_put_member_time(out, "modified", entry->mtime_us);
    sta_put_member_text(out, "trace", entry->trace[0] ? entry->trace : NULL);
    sta_put_char(out, '}');
    free(text);
}

int sta_api_browse(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_browse browse;
    struct sta_buffer *out = &response->body;
    int status = sta_library_browse(call->server->options.library, call->values[STA_PARAMETER_PATH].text,
                                    &browse, err);
    if (status != STA_OK)
        return sta_at(err, "/path", -1);
    sta_put_char(out, '{');
    sta_put_member_text(out, "path", browse.path);
    sta_put_member_text(out, "parent", browse.parent);
    sta_begin_list(out, "entries");
    for (size_t i = 0; i < browse.count; i++) {
        sta_put_text(out, i ? ",\n" : "\n");
        put_browse_entry(out, &browse, &browse.entries[i]);
    }
    sta_put_char(out, ']');
    sta_put_member_bool(out, "truncated", browse.truncated);
    sta_put_char(out, '}');
    sta_browse_fini(&browse);
    return STA_OK;
}
