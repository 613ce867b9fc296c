/* Jobs: list, state, cancel, and their events as they happen. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/routes.h"

static int fail_unknown(const char *id, struct sta_error *err)
{
    return sta_fail(err, STA_ENOTFOUND, "There is no job \"%.40s\"; jobs that ended long ago are forgotten",
                    id);
}

int sta_api_jobs(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    size_t count;
    struct sta_job_view *views = sta_jobs_list(call->server->options.jobs, &count);
    sta_put_text(&response->body, "{\"jobs\":[");
    for (size_t i = 0; i < count; i++) {
        sta_put_text(&response->body, i ? ",\n" : "\n");
        sta_put_job(&response->body, &views[i]);
    }
    sta_put_text(&response->body, "]}");
    free(views);
    return STA_OK;
}

int sta_api_job(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_job_view view;
    if (!sta_jobs_view(call->server->options.jobs, call->captures[0], &view))
        return fail_unknown(call->captures[0], err);
    sta_put_job(&response->body, &view);
    return STA_OK;
}

int sta_api_job_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_job_view view;
    struct sta_jobs *jobs = call->server->options.jobs;
    if (sta_jobs_cancel(jobs, call->captures[0], err) != STA_OK ||
        !sta_jobs_view(jobs, call->captures[0], &view))
        return fail_unknown(call->captures[0], err);
    sta_put_job(&response->body, &view);
    response->status = 202;
    return STA_OK;
}

/* ---- events */

struct follower {
    struct sta_jobs *jobs;
    char id[STA_JOB_ID_SIZE];
    uint64_t sent; /* the change that the client knows; counted from 1, 0: none */
};

static enum sta_stream_state follow(void *context, struct sta_buffer *out, bool heartbeat)
{
    struct follower *follower = context;
    struct sta_job_view view;
    if (!sta_jobs_view(follower->jobs, follower->id, &view))
        return STA_STREAM_END; /* forgotten */
    if (follower->sent != view.change + 1) {
        follower->sent = view.change + 1;
        sta_put_format(out, "id: %llu\nevent: progress\ndata: ", (unsigned long long)view.change);
        sta_put_job(out, &view);
        sta_put_text(out, "\n\n");
    } else if (heartbeat) {
        sta_put_text(out, ": still here\n\n");
    }
    return sta_job_state_ends(view.state) ? STA_STREAM_END : STA_STREAM_OPEN;
}

void sta_api_job_events(struct sta_call *call)
{
    struct sta_job_view view;
    struct sta_response response;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_jobs *jobs = call->server->options.jobs;
    sta_response_init(&response);
    if (!sta_jobs_view(jobs, call->captures[0], &view)) {
        sta_call_respond(call, fail_unknown(call->captures[0], &err), &response, &err, false);
    } else if (sta_exchange_method(call->exchange) == STA_HEAD) {
        response.content_type = call->route->content_type;
        response.no_store = true;
        sta_call_respond(call, STA_OK, &response, &err, false);
    } else {
        struct follower *follower = sta_alloc(sizeof *follower);
        follower->jobs = jobs;
        memcpy(follower->id, view.id, sizeof follower->id);
        sta_exchange_stream(
            call->exchange, call->route->content_type,
            &(struct sta_stream_source){.produce = follow, .release = free, .context = follower});
        sta_response_fini(&response);
    }
}
