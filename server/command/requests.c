/* The commands that ask about traces: summary, query, compare, findings.
 *
 * A terminal gets one page as a table.  Anything else gets the bytes of the daemon as they come, all rows of
 * them, so that millions of rows take no memory here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/memory.h"
#include "server/command/client_commands.h"
#include "server/command/daemon.h"
#include "server/command/query_text.h"
#include "server/command/table.h"
#include "server/command/traces.h"

#define REQUEST_BYTES (64u << 20) /* of a request that is read from a file */

enum sta_response_shape sta_shape_of(const struct sta_command_arguments *arguments)
{
    if (arguments->shape != STA_SHAPE_AUTO)
        return arguments->shape;
    return isatty(STDOUT_FILENO) ? STA_SHAPE_TABLE : STA_SHAPE_CSV;
}

static void put_parameters(struct sta_buffer *call, const struct sta_command_arguments *arguments)
{
    for (size_t i = 0; i < arguments->parameter_count; i++)
        sta_put_parameter(call, arguments->parameters[i].name, arguments->parameters[i].value);
}

/* Rows as objects ("layers") to rows as arrays. */
static json_t *rows_of_objects(const json_t *columns, const json_t *objects)
{
    json_t *rows = json_array(), *object, *name;
    size_t index, column;
    json_array_foreach(objects, index, object)
    {
        json_t *row = json_array();
        json_array_foreach(columns, column, name)
        {
            json_t *value = json_object_get(object, json_string_value(name));
            if (value != NULL)
                json_array_append(row, value);
            else
                json_array_append_new(row, json_null());
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static void print_page(const json_t *answer, const char *shown)
{
    const json_t *columns = json_object_get(answer, "columns"), *units = json_object_get(answer, "units");
    const json_t *layers = json_object_get(answer, "layers"), *data = json_object_get(answer, "data");
    if (layers != NULL) {
        json_t *rows = rows_of_objects(columns, layers);
        sta_table_print(columns, units, rows, shown);
        json_decref(rows);
        return;
    }
    sta_table_print(columns, units, data, shown);
    long long all = (long long)json_integer_value(json_object_get(answer, "row_count"));
    fflush(stdout);
    if (all > (long long)json_array_size(data))
        fprintf(stderr, "%zu of %lld rows; --csv or a pipe gives all\n", json_array_size(data), all);
}

/* @shown: columns for a terminal, unless some were asked for. */
static int print_answer(const struct sta_command_arguments *arguments, const char *method,
                        struct sta_buffer *call, const char *body, const char *shown)
{
    static const char *const formats[] = {[STA_SHAPE_CSV] = "csv",
                                          [STA_SHAPE_NDJSON] = "ndjson",
                                          [STA_SHAPE_ARROW] = "arrow",
                                          [STA_SHAPE_MARKDOWN] = "markdown"};
    enum sta_response_shape shape = sta_shape_of(arguments);
    if (shape == STA_SHAPE_ARROW && isatty(STDOUT_FILENO))
        return sta_command_fail(STA_EXIT_REQUEST, "an Arrow stream is no text; send it to a file or a pipe");
    if (shape < STA_COUNT_OF(formats) && formats[shape] != NULL)
        sta_put_parameter(call, "format", formats[shape]);
    char *text = sta_buffer_take_text(call);
    json_t *answer = NULL;
    int code;
    if (shape == STA_SHAPE_TABLE) {
        code = sta_daemon_get(method, text, body, &answer);
        if (code == 0)
            print_page(answer, shown);
    } else {
        code = sta_daemon_copy(method, text, body);
    }
    json_decref(answer);
    free(text);
    return code;
}

/* Begins "traces/ID/WHAT". */
static int begin_call(const char *trace, const char *what, struct sta_buffer *call)
{
    char id[STA_TRACE_NAME];
    sta_buffer_init(call);
    int code = sta_trace_find(trace, id);
    if (code == 0)
        sta_put_format(call, "traces/%s/%s", id, what);
    return code;
}

/* ---- summary */

int sta_command_summary(const struct sta_command_arguments *arguments)
{
    struct sta_buffer call;
    int code = begin_call(arguments->words[0], "summary", &call);
    if (code != 0)
        return code;
    put_parameters(&call, arguments);
    return print_answer(arguments, "GET", &call, NULL,
                        "name count time size busy bw_busy exposed_group_sum hidden_share");
}

/* ---- query */

/* The text of a file, or of standard input for "-"; NULL after a sentence. */
static char *read_request(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    struct sta_buffer text;
    char bytes[65536];
    size_t size;
    sta_buffer_init(&text);
    text.limit = REQUEST_BYTES;
    if (file == NULL) {
        sta_command_fail(0, "%s cannot be read", path);
        return NULL;
    }
    while ((size = fread(bytes, 1, sizeof bytes, file)) > 0)
        sta_put(&text, bytes, size);
    if (file != stdin)
        fclose(file);
    sta_put_char(&text, '\0');
    if (text.failed)
        sta_command_fail(0, "%s is larger than a request may be", path);
    return sta_buffer_take_text(&text);
}

/* A request as JSON: as it is given, of a file, or rewritten from clauses. */
static char *request_of(const char *given)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer json;
    char *read = NULL;
    if (strcmp(given, "-") == 0 || *given == '@') {
        read = read_request(*given == '@' ? given + 1 : given);
        if (read == NULL)
            return NULL;
        given = read;
    }
    if (given[strspn(given, " \t\r\n")] == '{')
        return read != NULL ? read : sta_strdup(given);
    sta_buffer_init(&json);
    if (sta_query_text_rewrite(given, &json, &err) != STA_OK) {
        sta_command_fail(0, "%s", err.text);
        sta_buffer_fini(&json);
        free(read);
        return NULL;
    }
    free(read);
    return sta_buffer_take_text(&json);
}

int sta_command_query(const struct sta_command_arguments *arguments)
{
    struct sta_buffer call;
    char *body = request_of(arguments->words[1]);
    if (body == NULL)
        return STA_EXIT_REQUEST;
    if (arguments->print) {
        puts(body);
        free(body);
        return 0;
    }
    int code = begin_call(arguments->words[0], "query", &call);
    if (code == 0) {
        put_parameters(&call, arguments);
        code = print_answer(arguments, "POST", &call, body, NULL);
    }
    free(body);
    return code;
}

/* ---- compare */

int sta_command_compare(const struct sta_command_arguments *arguments)
{
    struct sta_buffer call, traces;
    const char *shown = "name trace count time time_delta time_ratio busy busy_ratio";
    int code = 0;
    sta_buffer_init(&traces);
    for (size_t i = 0; i < arguments->word_count && code == 0; i++) {
        char id[STA_TRACE_NAME];
        code = sta_trace_find(arguments->words[i], id);
        sta_put_format(&traces, "%s%s", i > 0 ? "," : "", code == 0 ? id : "");
    }
    char *list = sta_buffer_take_text(&traces);
    if (code == 0) {
        sta_buffer_init(&call);
        sta_put_text(&call, "compare");
        sta_put_parameter(&call, "traces", list);
        put_parameters(&call, arguments);
        for (size_t i = 0; i < arguments->parameter_count; i++)
            if (strcmp(arguments->parameters[i].name, "columns") == 0 ||
                strcmp(arguments->parameters[i].name, "view") == 0)
                shown = NULL;
        code = print_answer(arguments, "GET", &call, NULL, shown);
    }
    free(list);
    return code;
}

/* ---- findings */

static const char *member(const json_t *finding, const char *name)
{
    const char *text = json_string_value(json_object_get(finding, name));
    return text != NULL ? text : "";
}

static void print_sentences(const json_t *answer)
{
    const json_t *counts = json_object_get(answer, "counts");
    json_t *finding, *advice, *line;
    const char *name;
    size_t index, at;
    json_array_foreach(json_object_get(answer, "findings"), index, finding)
    {
        const char *severity = member(finding, "severity");
        if (strcmp(severity, "ok") == 0 || strcmp(severity, "na") == 0)
            continue;
        printf("%-8s %s (%s): %s\n", severity, member(finding, "title"), member(finding, "rule"),
               member(finding, "text"));
        printf("         Value: %s\n", member(finding, "threshold"));
        json_array_foreach(json_object_get(finding, "advice"), at, line)
            printf("         %s\n", json_string_value(line));
    }
    const char *comma = "";
    json_object_foreach((json_t *)counts, name, advice)
    {
        printf("%s%lld %s", comma, (long long)json_integer_value(advice), name);
        comma = ", ";
    }
    putchar('\n');
}

int sta_command_findings(const struct sta_command_arguments *arguments)
{
    struct sta_buffer call;
    int code = begin_call(arguments->words[0], "findings", &call);
    if (code != 0)
        return code;
    put_parameters(&call, arguments);
    if (sta_shape_of(arguments) != STA_SHAPE_TABLE)
        return print_answer(arguments, "GET", &call, NULL, NULL);
    json_t *answer = NULL;
    char *text = sta_buffer_take_text(&call);
    code = sta_daemon_get("GET", text, NULL, &answer);
    if (code == 0)
        print_sentences(answer);
    json_decref(answer);
    free(text);
    return code;
}
