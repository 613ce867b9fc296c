/* Plans requests for a script: reads JSON lines, writes one JSON line for each.
 *
 *   {"schema": {"size": "int", "cat": "str"}, "labels": ["a"], "request": {"group_by": ["cat"]}}
 *   {"columns": ["cat"], "types": ["text"]}      or      {"status": "INPUT", "parameter": "/group_by/0", "position": 0, "error": "unknown .."}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/columns.h"
#include "analyse/query/plan.h"
#include "common/buffer.h"
#include "serve/document_json.h"

static const struct sta_schema_column standard[] = {
#define X(name, type, unit, caseless, ticks_of) {#name, STA_TYPE_##type, unit, caseless, ticks_of},
    STA_LOGICAL_LIST(X)
#undef X
};

static enum sta_type type_named(const char *name)
{
    static const char *const names[] = {[STA_TYPE_BOOL] = "bool",
                                        [STA_TYPE_INT] = "int",
                                        [STA_TYPE_FLOAT] = "float",
                                        [STA_TYPE_TEXT] = "str"};
    for (size_t i = STA_TYPE_BOOL; i < STA_COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0)
            return (enum sta_type)i;
    abort();
}

/* The columns of every trace, then those of args as they are given. */
static struct sta_schema make_schema(struct sta_arena *arena, const struct sta_document *given)
{
    size_t count = STA_COUNT_OF(standard);
    struct sta_schema_column *columns =
        sta_arena_alloc(arena, (count + given->count) * sizeof *columns, _Alignof(struct sta_schema_column));
    memcpy(columns, standard, sizeof standard);
    for (const struct sta_document *column = given->first; column != NULL; column = column->next)
        if (strncmp(column->name, "args.", 5) == 0)
            columns[count++] =
                (struct sta_schema_column){.name = column->name, .type = type_named(column->text.bytes)};
    return (struct sta_schema){columns, count};
}

static void put_names(struct sta_buffer *out, const struct sta_plan *plan)
{
    sta_put_text(out, "{\"columns\": [");
    for (size_t i = 0; i < plan->column_count; i++) {
        sta_put_text(out, i > 0 ? ", " : "");
        sta_put_json_string(out, plan->columns[i].name, strlen(plan->columns[i].name));
    }
    sta_put_text(out, "], \"types\": [");
    for (size_t i = 0; i < plan->column_count; i++)
        sta_put_format(out, "%s\"%s\"", i > 0 ? ", " : "", sta_type_name(plan->columns[i].type));
    sta_put_text(out, "]}");
}

static void put_mistake(struct sta_buffer *out, const struct sta_error *err)
{
    sta_put_format(out,
                   "{\"status\": \"%s\", \"position\": %lld, \"parameter\": ", sta_status_name(err->status),
                   (long long)err->position);
    sta_put_json_string(out, err->parameter, strlen(err->parameter));
    sta_put_text(out, ", \"error\": ");
    sta_put_json_string(out, err->text, strlen(err->text));
    sta_put_text(out, "}");
}

static void answer(const struct sta_document *line, struct sta_arena *arena, struct sta_buffer *out)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_schema schema = make_schema(arena, sta_document_member(line, "schema"));
    const struct sta_document *labels = sta_document_member(line, "labels");
    struct sta_query_trace *traces =
        sta_arena_alloc(arena, (labels->count + 1) * sizeof *traces, _Alignof(struct sta_query_trace));
    struct sta_query query = {.traces = traces, .request = sta_document_member(line, "request")};
    for (const struct sta_document *label = labels->first; label != NULL; label = label->next)
        traces[query.trace_count++] = (struct sta_query_trace){.label = label->text.bytes};
    struct sta_plan plan;
    int rc = sta_plan_begin(&query, &plan, &err);
    if (rc == 0)
        rc = sta_plan_stages(&query, &schema, &plan, &err);
    if (rc == 0)
        put_names(out, &plan);
    else
        put_mistake(out, &err);
    sta_plan_fini(&plan);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
        struct sta_arena arena = {.head = NULL};
        struct sta_buffer out;
        struct sta_document *document;
        struct sta_error err = STA_ERROR_INIT;
        sta_buffer_init(&out);
        if (sta_document_parse(line, (size_t)size, "The line", &arena, &document, &err) == 0)
            answer(document, &arena, &out);
        else
            put_mistake(&out, &err);
        printf("%.*s\n", (int)out.size, out.data);
        sta_buffer_fini(&out);
        sta_arena_fini(&arena);
    }
    free(line);
    return 0;
}
