/* One object; an M event names a process or a track, an X event is a complete event. */
#include "serve/formats/chrome_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/table.h"
#include "serve/api/response.h"
#include "timeline/timeline.h"

static void put_metadata(struct sta_buffer *out, const char *name, uint32_t pid, size_t tid, const char *text)
{
    sta_put_text(out, "{\"ph\":\"M\"");
    sta_put_member_text(out, "name", name);
    sta_put_member_uint(out, "pid", pid);
    if (tid > 0)
        sta_put_member_uint(out, "tid", tid);
    sta_put_text(out, ",\"args\":{");
    sta_put_member_text(out, "name", text);
    sta_put_text(out, "}},");
}

static void put_process(struct sta_buffer *out, const struct sta_timeline_track *track)
{
    char pid[24] = "None", text[600];
    if (track->has_pid)
        snprintf(pid, sizeof pid, "%" PRId64, track->pid);
    snprintf(text, sizeof text, "%.500s %s", track->host.bytes != NULL ? track->host.bytes : "no host", pid);
    put_metadata(out, "process_name", track->process, 0, text);
}

static void put_track(struct sta_buffer *out, const struct sta_timeline_track *track, size_t tid)
{
    char name[24] = "None", text[48];
    if (track->has_tid)
        snprintf(name, sizeof name, "%" PRId64, track->tid);
    if (track->number > 1)
        snprintf(text, sizeof text, "%s (%" PRIu32 ")", name, track->number);
    else
        snprintf(text, sizeof text, "%s", name);
    put_metadata(out, "thread_name", track->process, tid, text);
}

static void put_names(struct sta_buffer *out, const struct sta_timeline_export *export)
{
    for (size_t i = 0; i < export->track_count; i++)
        if (i == 0 || export->tracks[i].process != export->tracks[i - 1].process)
            put_process(out, &export->tracks[i]);
    for (size_t i = 0; i < export->track_count; i++)
        put_track(out, &export->tracks[i], i + 1);
}

static void put_time(struct sta_buffer *out, const char *name, int64_t ticks, int64_t ticks_per_second)
{
    sta_put_member(out, name);
    if (ticks_per_second == 1000000)
        sta_put_int(out, ticks);
    else
        sta_put_double(out, (double)ticks / 1000);
}

static const char *text_at(const struct sta_table_column *column, size_t row)
{
    return column->missing[row] ? "" : column->texts[row].bytes;
}

static void put_args(struct sta_buffer *out, const struct sta_table *events, size_t row)
{
    static const char args[] = "args.";
    sta_put_text(out, ",\"args\":{");
    for (size_t c = 3; c < events->column_count; c++) {
        const struct sta_table_column *column = &events->columns[c];
        if (column->missing[row] || strcmp(column->name, "func_name") == 0 ||
            strcmp(column->name, "cat") == 0)
            continue;
        bool is_arg = strncmp(column->name, args, sizeof args - 1) == 0;
        sta_put_member(out, column->name + (is_arg ? sizeof args - 1 : 0));
        sta_put_cell(out, column, row);
    }
    sta_put_char(out, '}');
}

void sta_put_chrome_trace(struct sta_buffer *out, const struct sta_timeline_export *export)
{
    const struct sta_table *events = &export->events;
    const struct sta_table_column *name = sta_table_find(events, "func_name"),
                                  *cat = sta_table_find(events, "cat");
    sta_put_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_names(out, export);
    for (size_t row = 0; row < events->rows; row++) {
        const int64_t track = events->columns[0].integers[row];
        sta_put_text(out, "{\"ph\":\"X\"");
        sta_put_member_text(out, "name", text_at(name, row));
        sta_put_member_text(out, "cat", text_at(cat, row));
        sta_put_member_uint(out, "pid", export->tracks[track].process);
        sta_put_member_uint(out, "tid", (uint64_t)track + 1);
        put_time(out, "ts", events->columns[1].integers[row], export->ticks_per_second);
        put_time(out, "dur", events->columns[2].integers[row], export->ticks_per_second);
        put_args(out, events, row);
        sta_put_text(out, row + 1 < events->rows ? "}," : "}");
    }
    if (events->rows == 0 && export->track_count > 0)
        out->size--; /* the comma behind the last name */
    sta_put_text(out, "]}");
}
