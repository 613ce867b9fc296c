/* The ledger: what became of every file, byte and line. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/responses/views.h"

/* The sources by path, byte order. */
static int compare_sources(const void *a, const void *b)
{
    const struct sta_source *const *left = a, *const *right = b;
    return strcmp((*left)->path, (*right)->path);
}

static const struct sta_source **sorted_sources(const struct sta_snapshot *snapshot, size_t *count)
{
    *count = sta_snapshot_source_count(snapshot);
    const struct sta_source **sources = sta_alloc_array(*count + 1, sizeof *sources);
    for (size_t i = 0; i < *count; i++)
        sources[i] = sta_snapshot_source(snapshot, i);
    qsort(sources, *count, sizeof *sources, compare_sources);
    return sources;
}

static void put_counts(struct sta_buffer *out, const struct sta_ledger_counts *counts)
{
#define X(name) sta_put_member_uint(out, #name, counts->name);
    STA_LEDGER_LIST(X)
#undef X
}

static void put_totals(struct sta_buffer *out, const struct sta_source *const *sources, size_t count)
{
    struct sta_ledger_counts sum = {0};
    size_t files = 0;
    for (size_t i = 0; i < count; i++) {
        sta_ledger_add(&sum, &sources[i]->counts);
        files += sources[i]->state != STA_SOURCE_VANISHED;
    }
    sta_begin_object(out, "totals");
    sta_put_member_uint(out, "files", files);
    put_counts(out, &sum);
    sta_put_char(out, '}');
}

/* A file that is complete and gave nothing says so too: its lines are of a form that is not read. */
static void put_reason(struct sta_buffer *out, const struct sta_source *source, enum sta_trace_kind kind)
{
    if (source->state != STA_SOURCE_COMPLETE || !sta_source_is_unread(source))
        sta_put_member_text(out, "reason", source->reason);
    else if (kind == STA_TRACE_EVENTS)
        sta_put_member_text(
            out, "reason",
            "holds no event of its own, and gave none: an event is one object with ph X; a list "
            "of events inside of another object, such as traceEvents, is not read");
    else
        sta_put_member_text(out, "reason", "nothing in it is of a kind that is read");
}

static void put_files(struct sta_buffer *out, const struct sta_source *const *sources, size_t count,
                      enum sta_trace_kind kind)
{
    sta_begin_list(out, "files");
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, i ? ",\n{" : "\n{");
        sta_put_member_text(out, "path", sources[i]->path);
        sta_put_member_text(out, "state", sta_source_state_name(sources[i]->state));
        put_reason(out, sources[i], kind);
        put_counts(out, &sources[i]->counts);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

/* The first STA_LINE_NOTES lines of all files, in the order of files and lines. */
static void put_notes(struct sta_buffer *out, const char *name, const struct sta_source *const *sources,
                      size_t count, bool repaired)
{
    size_t put = 0;
    sta_begin_list(out, name);
    for (size_t i = 0; i < count; i++) {
        const struct sta_line_notes *notes = repaired ? &sources[i]->repaired : &sources[i]->malformed;
        for (size_t n = 0; n < notes->count && put < STA_LINE_NOTES; n++, put++) {
            sta_put_text(out, put ? ",\n{" : "\n{");
            sta_put_member_text(out, "file", sources[i]->path);
            sta_put_member_uint(out, "line", notes->items[n].line);
            sta_put_member_uint(out, "offset", notes->items[n].offset);
            sta_put_member_text(out, "reason", notes->items[n].reason);
            sta_put_member_text(out, "text", notes->items[n].text);
            sta_put_char(out, '}');
        }
    }
    sta_put_char(out, ']');
}

static void put_conflict(struct sta_buffer *out, const struct sta_hash_conflict *conflict)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "of", conflict->of_host ? "host" : "file");
    sta_put_member_text(out, "hash", conflict->hash);
    sta_begin_list(out, "definitions");
    for (size_t i = 0; i < conflict->count; i++) {
        sta_put_text(out, i ? ",{" : "{");
        sta_put_member_text(out, "text", conflict->definitions[i].text);
        sta_put_member_text(out, "file", conflict->definitions[i].file);
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
}

static void put_doubts(struct sta_buffer *out, const struct sta_content_report *content)
{
    sta_put_member_uint(out, "conflicting_hashes", content->conflicting_hashes);
    sta_put_member_uint(out, "ambiguous_events", content->ambiguous_events);
    sta_begin_list(out, "conflicts");
    for (size_t i = 0; i < content->conflict_count; i++) {
        sta_put_text(out, i ? ",\n" : "\n");
        put_conflict(out, &content->conflicts[i]);
    }
    sta_put_char(out, ']');
    sta_put_member_uint(out, "doubtful_sizes", content->doubtful_sizes);
}

static void put_content(struct sta_buffer *out, const struct sta_content_report *content)
{
    sta_put_member_uint(out, "unclassified_functions", content->unclassified_functions);
    sta_begin_list(out, "unclassified");
    for (size_t i = 0; i < content->unclassified_count; i++) {
        sta_put_text(out, i ? ",{" : "{");
        sta_put_member_text(out, "func_name", content->unclassified[i].function);
        sta_put_member_uint(out, "count", content->unclassified[i].count);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
    sta_begin_object(out, "presets");
    for (size_t i = 0; i < content->preset_count; i++) {
        sta_begin_object(out, content->presets[i].preset);
        sta_put_member_uint(out, "kept", content->presets[i].kept);
        sta_put_member_uint(out, "dropped_by_file", content->presets[i].dropped_by_file);
        sta_put_member_uint(out, "dropped_by_function", content->presets[i].dropped_by_function);
        sta_put_char(out, '}');
    }
    sta_put_char(out, '}');
}

static int compute_report(struct sta_view *view, const struct sta_budget *budget,
                          struct sta_response *response, struct sta_error *err)
{
    struct sta_content_report content = {0};
    int status = sta_content_report(view->presets, view->snapshot, budget, &content, err);
    if (status != STA_OK)
        return status;
    const struct sta_entities *entities = sta_snapshot_entities(view->snapshot);
    struct sta_buffer *out = &response->body;
    size_t count;
    const struct sta_source **sources = sorted_sources(view->snapshot, &count);
    sta_put_char(out, '{');
    put_totals(out, sources, count);
    put_files(out, sources, count, sta_snapshot_info(view->snapshot)->kind);
    put_notes(out, "malformed", sources, count, false);
    put_notes(out, "repaired", sources, count, true);
    sta_begin_object(out, "unresolved");
    sta_put_member_uint(out, "file_hashes", entities->unresolved_files);
    sta_put_member_uint(out, "host_hashes", entities->unresolved_hosts);
    sta_put_char(out, '}');
    put_doubts(out, &content);
    put_content(out, &content);
    sta_put_char(out, '}');
    free(sources);
    sta_content_report_fini(&content);
    return STA_OK;
}

const struct sta_view_kind sta_view_report = {.name = "report", .compute = compute_report};
