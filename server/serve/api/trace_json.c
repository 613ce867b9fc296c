/* Traces and jobs as JSON. */
#include <math.h>
#include <stdio.h>
#include <xxhash.h>

#include "common/build_id.h"
#include "serve/server.h"

static void put_time_or_null(struct sta_buffer *out, const char *name, bool there, int64_t time_us)
{
    if (there)
        sta_put_member_time(out, name, time_us);
    else
        sta_put_member_null(out, name);
}

static void put_entry(struct sta_buffer *out, const struct sta_trace_entry *entry)
{
    sta_put_member_texts(out, "tags", (const char *const *)entry->tags, entry->tag_count);
    sta_put_member(out, "preset");
    if (entry->preset == NULL) {
        sta_put_text(out, "null");
        return;
    }
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", entry->preset);
    sta_put_member_text(out, "why", entry->preset_why);
    sta_put_char(out, '}');
}

/* A digest of all that responses about the trace depend on: clients drop cached ones when it changes. */
static void put_answers(struct sta_server *server, struct sta_buffer *out, const struct sta_trace_view *view)
{
    struct sta_presets *presets = sta_library_presets(server->options.library);
    char origin[160], digest[24];
    int length =
        snprintf(origin, sizeof origin, "%s %llx %llx", sta_build_id(),
                 (unsigned long long)sta_presets_fingerprint(presets), (unsigned long long)view->version);
    sta_presets_release(presets);
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)XXH3_64bits(origin, (size_t)length));
    sta_put_member_text(out, "answers", view->published ? digest : NULL);
}

static void put_live(struct sta_buffer *out, const struct sta_live_view *live)
{
    sta_put_member(out, "live");
    if (!live->live) {
        sta_put_text(out, "null");
        return;
    }
    sta_put_char(out, '{');
    sta_put_member_time(out, "since", live->since_us);
    sta_put_member_text(out, "noticed_by", live->announced ? "inotify" : "polling");
    put_time_or_null(out, "complete_until", live->slowest != NULL, live->clock_us);
    sta_put_member_text(out, "slowest", live->slowest);
    sta_put_member_uint(out, "bytes_behind", live->behind);
    sta_put_member_uint(out, "rewritten", live->rewritten);
    sta_put_member_text(out, "problem", live->problem);
    sta_put_char(out, '}');
}

void sta_put_trace(struct sta_server *server, struct sta_buffer *out, const struct sta_trace_view *view)
{
    bool there = view->published;
    char version[24];
    snprintf(version, sizeof version, "%llx", (unsigned long long)view->version);
    sta_put_char(out, '{');
    sta_put_member_text(out, "id", view->entry.id);
    sta_put_member_text(out, "name", view->entry.name);
    sta_put_member_text(out, "path", view->entry.path);
    enum sta_trace_kind kind = view->entry.kind;
    sta_put_member_text(out, "kind", kind != STA_TRACE_UNKNOWN ? sta_trace_kind_name(kind) : NULL);
    sta_put_member_text(out, "state", sta_trace_state_name(view->state));
    put_entry(out, &view->entry);
    sta_put_member_uint_or_null(out, "files", there, view->files);
    sta_put_member_uint_or_null(out, "bytes", there, view->bytes);
    sta_put_member_uint_or_null(out, "events", there, view->events);
    put_time_or_null(out, "start", there && view->events > 0, view->start_us);
    sta_put_member_double(out, "job_time", there ? view->job_time : NAN);
    sta_put_member_uint_or_null(out, "hosts", there, view->hosts);
    sta_put_member_uint_or_null(out, "processes", there, view->processes);
    sta_put_member_uint_or_null(out, "threads", there, view->threads);
    sta_put_member_text(out, "version", there ? version : NULL);
    put_answers(server, out, view);
    sta_put_member_uint_or_null(out, "store_bytes", there, view->store_bytes);
    sta_put_member_time(out, "created", view->entry.created_us);
    put_time_or_null(out, "ingested", there, view->ingested_us);
    sta_put_member_uint_or_null(out, "problems", there, view->problems);
    sta_put_member_text(out, "failure", view->entry.failure);
    sta_put_member_text(out, "job", view->job[0] ? view->job : NULL);
    put_live(out, &view->live);
    sta_put_char(out, '}');
}

int sta_put_trace_by_id(struct sta_server *server, struct sta_buffer *out, const char *id,
                        struct sta_error *err)
{
    struct sta_trace_view view;
    int status = sta_library_describe(server->options.library, id, &view, err);
    if (status != STA_OK)
        return status;
    sta_put_trace(server, out, &view);
    sta_trace_view_fini(&view);
    return STA_OK;
}

void sta_put_job(struct sta_buffer *out, const struct sta_job_view *view)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "id", view->id);
    sta_put_member_text(out, "kind", view->kind);
    sta_put_member_text(out, "trace", view->trace[0] ? view->trace : NULL);
    sta_put_member_text(out, "state", sta_job_state_name(view->state));
    sta_put_member_text(out, "phase", view->phase[0] ? view->phase : NULL);
    sta_put_member_double(out, "progress", view->progress);
    sta_put_member_uint(out, "bytes", view->bytes);
    sta_put_member_uint(out, "total_bytes", view->total_bytes);
    sta_put_member_uint(out, "events", view->events);
    sta_put_member_double(out, "rate", view->rate);
    sta_put_member_double(out, "eta", view->eta >= 0 ? view->eta : NAN);
    put_time_or_null(out, "queued", view->queued_us != 0, view->queued_us);
    put_time_or_null(out, "started", view->started_us != 0, view->started_us);
    put_time_or_null(out, "finished", view->finished_us != 0, view->finished_us);
    sta_put_member_text(out, "note", view->note[0] ? view->note : NULL);
    sta_put_member(out, "error");
    if (view->error.status == STA_OK) {
        sta_put_text(out, "null");
    } else {
        struct sta_problem problem = sta_problem_of(&view->error);
        sta_put_problem(out, &problem);
    }
    sta_put_char(out, '}');
}
