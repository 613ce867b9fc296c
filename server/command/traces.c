/* The commands about traces themselves: ls, add, rm; and which trace a name means. */
#include "server/command/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "server/command/client_commands.h"
#include "server/command/daemon.h"
#include "server/command/table.h"

/* ---- names */

static void put_known(struct sta_buffer *out, const json_t *traces)
{
    size_t index;
    json_t *trace;
    json_array_foreach(traces, index, trace) sta_put_format(out, "%s%s (%s)", index > 0 ? ", " : "",
                                                            json_string_value(json_object_get(trace, "name")),
                                                            json_string_value(json_object_get(trace, "id")));
    if (out->size == 0)
        sta_put_text(out, "none");
}

/* How many traces have @member equal to @name; *id that of the last. */
static unsigned count_named(const json_t *traces, const char *member, const char *name, const char **id)
{
    unsigned found = 0;
    size_t index;
    json_t *trace;
    json_array_foreach(traces, index, trace)
    {
        const char *value = json_string_value(json_object_get(trace, member));
        if (value == NULL || strcmp(value, name) != 0)
            continue;
        *id = json_string_value(json_object_get(trace, "id"));
        found++;
    }
    return found;
}

int sta_trace_find(const char *name, char id[STA_TRACE_NAME])
{
    json_t *answer;
    const char *found = NULL;
    int code = sta_daemon_get("GET", "traces", NULL, &answer);
    if (code != 0)
        return code;
    const json_t *traces = json_object_get(answer, "traces");
    unsigned count = count_named(traces, "id", name, &found);
    if (count == 0)
        count = count_named(traces, "name", name, &found);
    if (count == 1) {
        snprintf(id, STA_TRACE_NAME, "%s", found);
    } else {
        struct sta_buffer known;
        sta_buffer_init(&known);
        put_known(&known, traces);
        code = sta_command_fail(STA_EXIT_REQUEST, "%s trace%s called '%s'; there are %.*s",
                                count == 0 ? "no" : "more than one", count == 0 ? " is" : "", name,
                                (int)known.size, known.data);
        sta_buffer_fini(&known);
    }
    json_decref(answer);
    return code;
}

/* ---- ls */

static json_t *rows_of_traces(const json_t *traces, json_t *columns)
{
    static const char *const members[] = {"name",     "id",    "state",  "events", "processes",
                                          "job_time", "bytes", "preset", "tags",   "path"};
    json_t *rows = json_array(), *trace;
    size_t index;
    for (size_t i = 0; i < STA_COUNT_OF(members); i++)
        json_array_append_new(columns, json_string(members[i]));
    json_array_foreach(traces, index, trace)
    {
        json_t *row = json_array();
        for (size_t i = 0; i < STA_COUNT_OF(members); i++) {
            json_t *value = json_object_get(trace, members[i]);
            if (json_is_object(value)) /* the preset and why */
                value = json_object_get(value, "name");
            json_array_append(row, value);
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

int sta_command_ls(const struct sta_command_arguments *arguments)
{
    json_t *answer;
    if (arguments->shape == STA_SHAPE_JSON)
        return sta_daemon_copy("GET", "traces", NULL);
    int code = sta_daemon_get("GET", "traces", NULL, &answer);
    if (code != 0)
        return code;
    json_t *columns = json_array(), *units = json_pack("{s:s, s:s}", "job_time", "s", "bytes", "B");
    json_t *rows = rows_of_traces(json_object_get(answer, "traces"), columns), *row;
    size_t index;
    if (arguments->names)
        json_array_foreach(rows, index, row) puts(json_string_value(json_array_get(row, 0)));
    else if (sta_shape_of(arguments) == STA_SHAPE_TABLE)
        sta_table_print(columns, units, rows, "name id state events processes job_time preset path");
    else
        sta_table_print_csv(columns, rows);
    json_decref(rows);
    json_decref(units);
    json_decref(columns);
    json_decref(answer);
    return 0;
}

/* ---- add */

static void show_progress(const json_t *job, bool ended)
{
    if (!isatty(STDERR_FILENO))
        return;
    double done = json_number_value(json_object_get(job, "progress"));
    long long events = (long long)json_integer_value(json_object_get(job, "events"));
    fprintf(stderr, "\r%3.0f %%  %lld events%s", 100 * done, events, ended ? "\n" : "");
}

static int wait_for(const char *id)
{
    char *call = sta_sprintf("jobs/%s", id);
    int code;
    for (bool ended = false;;) {
        json_t *job;
        code = sta_daemon_get("GET", call, NULL, &job);
        if (code != 0)
            break;
        const char *state = json_string_value(json_object_get(job, "state"));
        ended = state != NULL && strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
        show_progress(job, ended);
        if (ended && strcmp(state, "done") != 0) {
            const char *why = json_string_value(json_object_get(json_object_get(job, "error"), "detail"));
            code = sta_command_fail(STA_EXIT_REQUEST, "the ingest %s%s%s", state, why != NULL ? ": " : "",
                                    why != NULL ? why : "");
        }
        json_decref(job);
        if (ended)
            break;
        usleep(100000);
    }
    free(call);
    return code;
}

int sta_command_add(const struct sta_command_arguments *arguments)
{
    char *path = realpath(arguments->words[0], NULL);
    json_t *answer;
    json_t *request = json_pack("{s:s}", "path", path != NULL ? path : arguments->words[0]);
    free(path);
    if (request == NULL)
        return sta_command_fail(STA_EXIT_REQUEST, "the path is not UTF-8");
    if (arguments->name != NULL)
        json_object_set_new(request, "name", json_string(arguments->name));
    if (arguments->follow)
        json_object_set_new(request, "follow", json_true());
    char *body = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    int code = sta_daemon_get("POST", "traces", body, &answer);
    free(body);
    if (code != 0)
        return code;
    const char *id = json_string_value(json_object_get(json_object_get(answer, "trace"), "id"));
    const char *job = json_string_value(json_object_get(json_object_get(answer, "job"), "id"));
    if (arguments->wait && job != NULL)
        code = wait_for(job);
    if (code == 0 && id != NULL)
        puts(id);
    json_decref(answer);
    return code;
}

/* ---- rm */

int sta_command_rm(const struct sta_command_arguments *arguments)
{
    int code = 0;
    for (size_t i = 0; i < arguments->word_count && code == 0; i++) {
        char id[STA_TRACE_NAME], call[STA_TRACE_NAME + 16];
        json_t *answer = NULL;
        code = sta_trace_find(arguments->words[i], id);
        if (code != 0)
            break;
        snprintf(call, sizeof call, "traces/%s", id);
        code = sta_daemon_get("DELETE", call, NULL, &answer);
        json_decref(answer);
    }
    return code;
}
