/* The OpenAPI 3.1 document, made from the table of routes, the list of parameters and the schemas. */
#include <stdlib.h>
#include <string.h>

#include "common/event.h"
#include "common/memory.h"
#include "serve/api/openapi.h"
#include "serve/api/schemas.h"

static const struct sta_schema_text *schema_named(const char *name)
{
    for (size_t i = 0; i < sta_schema_count; i++)
        if (strcmp(sta_schemas[i].name, name) == 0)
            return &sta_schemas[i];
    STA_ASSERT(!"every schema that a route names is there");
    return NULL;
}

void sta_openapi_put_media(struct sta_buffer *out, const char *schema)
{
    const struct sta_schema_text *text = schema_named(schema);
    sta_put_format(out, "{\"schema\":{\"$ref\":\"#/components/schemas/%s\"},\"example\":", schema);
    sta_put_text(out, text->example);
    sta_put_char(out, '}');
}

/* ---- parameters */

static bool is_whole(const struct sta_parameter *parameter)
{
    return parameter->type == STA_PARAMETER_COUNT || parameter->type == STA_PARAMETER_ROWS;
}

static bool is_number(const struct sta_parameter *parameter)
{
    return parameter->type == STA_PARAMETER_SECONDS || parameter->type == STA_PARAMETER_WIDTH ||
           parameter->type == STA_PARAMETER_NUMBER;
}

static void put_parameter_schema(struct sta_buffer *out, const struct sta_parameter *parameter)
{
    bool number = is_number(parameter);
    bool list = parameter->type == STA_PARAMETER_LIST || parameter->type == STA_PARAMETER_PAIRS;
    sta_put_char(out, '{');
    sta_put_member_text(out, "type",
                        number                ? "number"
                        : is_whole(parameter) ? "integer"
                        : list                ? "array"
                                              : "string");
    if (list)
        sta_put_text(out, ",\"items\":{\"type\":\"string\"}");
    if (parameter->type == STA_PARAMETER_CHOICE) {
        sta_put_member(out, "enum");
        for (const char *at = parameter->words; *at;) {
            size_t length = strcspn(at, "|");
            sta_put_char(out, at == parameter->words ? '[' : ',');
            sta_put_json_string(out, at, length);
            at += length + (at[length] == '|');
        }
        sta_put_char(out, ']');
    }
    if (parameter->type == STA_PARAMETER_WIDTH) {
        sta_put_member(out, "minimum");
        sta_put_text(out, "0.000001");
        sta_put_member_uint(out, "maximum", STA_GRANULARITY_LIMIT / 1000000);
    }
    if (is_whole(parameter))
        sta_put_member_uint(out, "minimum", parameter->type == STA_PARAMETER_COUNT);
    if (parameter->fallback != NULL) {
        sta_put_member(out, "default");
        if (number)
            sta_put_text(out, parameter->fallback);
        else
            sta_put_json_text(out, parameter->fallback);
    }
    sta_put_char(out, '}');
}

static void put_query_parameter(struct sta_buffer *out, const struct sta_parameter *parameter)
{
    bool quoted = !is_number(parameter) && !is_whole(parameter);
    bool list = parameter->type == STA_PARAMETER_LIST || parameter->type == STA_PARAMETER_PAIRS;
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", parameter->name);
    sta_put_member_text(out, "in", "query");
    sta_put_member_bool(out, "required", parameter->required);
    sta_put_member_text(out, "description", parameter->text);
    sta_put_member(out, "schema");
    put_parameter_schema(out, parameter);
    sta_put_member(out, "example");
    sta_put_text(out, list ? "[" : "");
    if (quoted)
        sta_put_json_text(out, parameter->example);
    else
        sta_put_text(out, parameter->example);
    sta_put_text(out, list ? "]}" : "}");
}

/* What stands for a {..}, by the first part of the path that fits. */
static const char *path_example(const char *path)
{
    static const char *const examples[][2] = {{"/presets/", "dlio"},
                                              {"/columns/", "func_name"},
                                              {"/queries/", "slowest reads"},
                                              {"/dasf/", "critical_path"}};
    for (size_t i = 0; i < STA_COUNT_OF(examples); i++)
        if (strstr(path, examples[i][0]) != NULL)
            return examples[i][1];
    return "0f1e2d3c4b5a6978";
}

static void put_path_parameter(struct sta_buffer *out, const char *path, const char *name, size_t length)
{
    bool id = length == 2;
    sta_put_text(out, "{\"name\":");
    sta_put_json_string(out, name, length);
    sta_put_text(out, ",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"},\"example\":");
    sta_put_json_text(out, path_example(id ? "" : path));
    sta_put_char(out, '}');
}

static void put_parameters(struct sta_buffer *out, const struct sta_route *route)
{
    const char *comma = "";
    sta_begin_list(out, "parameters");
    for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at, '{')) {
        size_t length = strcspn(++at, "}");
        sta_put_text(out, comma);
        put_path_parameter(out, route->path, at, length);
        comma = ",";
    }
    for (unsigned i = 0; i < STA_PARAMETERS; i++)
        if (sta_route_parameters(route) >> i & 1) {
            sta_put_text(out, comma);
            put_query_parameter(out, &sta_parameters[i]);
            comma = ",";
        }
    sta_put_char(out, ']');
}

/* ---- operations */

static void put_operation(struct sta_buffer *out, const struct sta_route *route)
{
    char method[16] = "";
    for (size_t i = 0; i < sizeof method - 1 && sta_method_name(route->method)[i]; i++)
        method[i] = (char)(sta_method_name(route->method)[i] | 0x20);
    sta_begin_object(out, method);
    sta_put_member_text(out, "operationId", route->id);
    sta_put_format(out, ",\"tags\":[\"%s\"]", route->tag);
    sta_put_member_text(out, "summary", route->summary);
    sta_put_member_text(out, "description", route->text);
    sta_put_member_text(out, "x-role", route->role == STA_ROLE_NONE ? NULL : sta_role_name(route->role));
    if (route->role == STA_ROLE_NONE)
        sta_put_text(out, ",\"security\":[]");
    put_parameters(out, route);
    if (route->body != NULL) {
        sta_put_text(out, ",\"requestBody\":{\"required\":true,\"content\":{\"application/json\":");
        sta_openapi_put_media(out, route->body);
        sta_put_text(out, "}}");
    }
    sta_openapi_put_responses(out, route);
    sta_put_char(out, '}');
}

static void put_paths(struct sta_buffer *out)
{
    sta_begin_object(out, "paths");
    for (size_t i = 0; i < sta_route_count; i++) {
        size_t first = 0;
        while (strcmp(sta_routes[first].path, sta_routes[i].path) != 0)
            first++;
        if (first < i)
            continue; /* came with its first method */
        sta_begin_object(out, sta_routes[i].path);
        for (size_t same = i; same < sta_route_count; same++)
            if (strcmp(sta_routes[same].path, sta_routes[i].path) == 0)
                put_operation(out, &sta_routes[same]);
        sta_put_char(out, '}');
    }
    sta_put_char(out, '}');
}

static void put_components(struct sta_buffer *out, const char *cookie)
{
    sta_put_member(out, "components");
    sta_put_text(out, "{\"schemas\":{");
    for (size_t i = 0; i < sta_schema_count; i++) {
        sta_put_member(out, sta_schemas[i].name);
        sta_put_text(out, sta_schemas[i].schema);
    }
    sta_put_text(out, "},");
    sta_openapi_put_shared_responses(out);
    sta_put_text(out, ",\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
                      "\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":");
    sta_put_json_text(out, cookie);
    sta_put_text(out, "}}}");
}

char *sta_openapi_create(const char *version, const char *cookie)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_put_text(&out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Strata\",\"version\":");
    sta_put_json_text(&out, version);
    sta_put_text(
        &out, ",\"description\":\"Analysis of DFTracer and DLIO Profiler traces. Every GET answers HEAD and "
              "OPTIONS "
              "too. In a query, + is a blank, and each parameter may be given once, but for those that say "
              "otherwise. Errors are RFC 9457 problem "
              "documents.\",\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},"
              "\"servers\":[{\"url\":\"/\"}],\"security\":[{\"token\":[]},{\"session\":[]}]");
    put_paths(&out);
    put_components(&out, cookie);
    sta_put_char(&out, '}');
    return sta_buffer_take_text(&out);
}
