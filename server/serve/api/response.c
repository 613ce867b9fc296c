/* What is sent: problem documents and tables. */
#include "serve/api/response.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- problems */

/* X(HTTP status, type, title) */
#define PROBLEM_LIST(X)                                                                                      \
    X(400, "bad-request", "The request is not valid")                                                        \
    X(401, "not-signed-in", "A token is needed")                                                             \
    X(403, "forbidden", "Not allowed")                                                                       \
    X(404, "not-found", "Not found")                                                                         \
    X(405, "method-not-allowed", "The method is not allowed here")                                           \
    X(409, "conflict", "What is there does not allow it")                                                    \
    X(410, "outdated", "It was of an earlier version")                                                       \
    X(413, "body-too-large", "The request body is too large")                                                \
    X(415, "unknown-encoding", "The body is encoded")                                                        \
    X(417, "unknown-expectation", "An expectation cannot be met")                                            \
    X(421, "unknown-host", "The host is not one of this daemon's names")                                     \
    X(422, "over-limit", "A limit was exceeded")                                                             \
    X(429, "too-many-requests", "Too many requests")                                                         \
    X(431, "header-too-large", "The request header is too large")                                            \
    X(500, "failure", "The daemon failed")                                                                   \
    X(501, "not-available", "Not available")                                                                 \
    X(503, "try-again", "Try again later")                                                                   \
    X(505, "unknown-version", "This version of HTTP is not understood")                                      \
    X(507, "disk-full", "The disk is full")

static const struct problem_kind {
    int status;
    const char *type, *title;
} problem_kinds[] = {
#define X(status, type, title) {status, type, title},
    PROBLEM_LIST(X)
#undef X
};

static const struct problem_kind *kind_of(int status)
{
    for (size_t i = 0; i < STA_COUNT_OF(problem_kinds); i++)
        if (problem_kinds[i].status == status)
            return &problem_kinds[i];
    return kind_of(500);
}

const char *sta_problem_title(int http_status)
{
    return kind_of(http_status)->title;
}

int sta_http_status(int status)
{
    static const short statuses[] = {
        [STA_STATUS_INDEX_NOMEM] = 503,     [STA_STATUS_INDEX_IO] = 500,
        [STA_STATUS_INDEX_NOSPC] = 507,     [STA_STATUS_INDEX_NOTFOUND] = 404,
        [STA_STATUS_INDEX_EXISTS] = 409,    [STA_STATUS_INDEX_INPUT] = 400,
        [STA_STATUS_INDEX_CORRUPT] = 409,   [STA_STATUS_INDEX_NEWER] = 500,
        [STA_STATUS_INDEX_LIMIT] = 422,     [STA_STATUS_INDEX_BUSY] = 503,
        [STA_STATUS_INDEX_CANCELLED] = 503, [STA_STATUS_INDEX_FORBIDDEN] = 403,
        [STA_STATUS_INDEX_UNFIT] = 422,     [STA_STATUS_INDEX_UNSUPPORTED] = 501,
        [STA_STATUS_INDEX_OUTDATED] = 410,  [STA_STATUS_INDEX_INTERNAL] = 500,
    };
    STA_ASSERT(status < 0 && (size_t)(-1 - status) < STA_COUNT_OF(statuses));
    return statuses[-1 - status];
}

struct sta_problem sta_problem_of(const struct sta_error *err)
{
    return (struct sta_problem){sta_http_status(err->status), err->text, err->parameter, err->position,
                                err->reason};
}

void sta_put_problem(struct sta_buffer *out, const struct sta_problem *problem)
{
    static const struct problem_kind refused = {422, "unfit", "The trace lacks what the response needs"};
    const struct problem_kind *kind = problem->reason != NULL ? &refused : kind_of(problem->status);
    char type[64];
    snprintf(type, sizeof type, "urn:strata:problem:%s", kind->type);
    sta_put_char(out, '{');
    sta_put_member_text(out, "type", type);
    sta_put_member_text(out, "title", kind->title);
    sta_put_member_uint(out, "status", (uint64_t)problem->status);
    sta_put_member_text(out, "detail", problem->detail);
    if (problem->reason != NULL)
        sta_put_member_text(out, "reason", problem->reason);
    if (problem->parameter != NULL && problem->parameter[0] != '\0')
        sta_put_member_text(out, "parameter", problem->parameter);
    if (problem->position >= 0)
        sta_put_member_uint(out, "position", (uint64_t)problem->position);
    sta_put_char(out, '}');
}

/* ---- responses */

void sta_response_init(struct sta_response *response)
{
    *response = (struct sta_response){.status = 200, .content_type = "application/json"};
    sta_buffer_init(&response->body);
}

void sta_response_fini(struct sta_response *response)
{
    for (size_t i = 0; i < response->header_count; i++)
        free((char *)response->headers[i].value);
    free(response->next);
    response->next = NULL;
    sta_buffer_fini(&response->body);
}

void sta_response_header(struct sta_response *response, const char *name, const char *value)
{
    STA_ASSERT(response->header_count < STA_REPLY_HEADERS);
    response->headers[response->header_count++] = (struct sta_header){name, sta_strdup(value)};
}

void sta_response_problem(struct sta_response *response, const struct sta_problem *problem)
{
    struct sta_buffer body; /* the problem's texts may lie in what is emptied */
    sta_buffer_init(&body);
    sta_put_problem(&body, problem);
    int status = problem->status;
    sta_response_fini(response);
    sta_response_init(response);
    response->status = status;
    response->content_type = "application/problem+json";
    response->no_store = true;
    response->body = body;
    if (status == 503 || status == 429)
        sta_response_header(response, "Retry-After", "1");
    if (status == 401)
        sta_response_header(response, "WWW-Authenticate", "Bearer realm=\"strata\"");
}

void sta_response_name_request(struct sta_response *response, const char *request_id)
{
    if (strcmp(response->content_type, "application/problem+json") != 0 || response->body.size == 0)
        return;
    response->body.size--; /* the brace */
    sta_put_member_text(&response->body, "request_id", request_id);
    sta_put_char(&response->body, '}');
}

/* ---- tables */

static void put_fact(struct sta_buffer *out, const struct sta_fact *fact)
{
    sta_put_member(out, fact->name);
    if (fact->missing)
        sta_put_text(out, "null");
    else if (fact->is_number)
        sta_put_double(out, fact->number);
    else
        sta_put_int(out, fact->integer);
}

void sta_put_facts(struct sta_buffer *out, const struct sta_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        put_fact(out, &facts->items[i]);
}

void sta_put_names(struct sta_buffer *out, const struct sta_response_names *names,
                   const struct sta_facts *facts)
{
    if (names->semantics != NULL)
        sta_put_member_text(out, "semantics", names->semantics);
    if (names->preset != NULL)
        sta_put_member_text(out, "preset", names->preset);
    sta_put_member_text(out, "filters", names->filters ? "on" : "off");
    sta_put_facts(out, facts);
}

/* True when the format is one that holds the table alone. */
static bool put_plain(struct sta_response *response, enum sta_format format, const struct sta_table *table)
{
    if (format == STA_FORMAT_JSON)
        return false;
    response->content_type = sta_format_content_type(format);
    sta_put_whole_table(&response->body, format, table);
    return true;
}

void sta_put_table(struct sta_response *response, enum sta_format format,
                   const struct sta_response_names *names, const struct sta_facts *facts,
                   const struct sta_table *table)
{
    if (put_plain(response, format, table))
        return;
    sta_put_char(&response->body, '{');
    sta_put_names(&response->body, names, facts);
    sta_put_table_begin(&response->body, format, table);
    sta_put_table_rows(&response->body, format, table, true);
    sta_put_table_end(&response->body, format, table->row_count, table->next);
    sta_put_char(&response->body, '}');
}

/* ---- the summary
 *
 * The table has the union of all layers' columns.  A layer's object has those that the layer has, null where
 * there is no value, so that "not defined for this layer" and "nothing there" can be distinguished. */

struct layers {
    const struct sta_table *table;
    const struct sta_table_column *names;
    const struct sta_table_column
        *parents; /* NULL: the table is compatible, where each layer has all columns */
    const struct sta_preset *preset;
    long overlap_with; /* row, or -1 */
};

static bool same_text(struct sta_text a, const char *b)
{
    return strlen(b) == a.length && memcmp(a.bytes, b, a.length) == 0;
}

static long row_of(const struct layers *layers, struct sta_text name)
{
    for (size_t row = 0; row < layers->table->rows; row++)
        if (layers->names->texts[row].length == name.length &&
            memcmp(layers->names->texts[row].bytes, name.bytes, name.length) == 0)
            return (long)row;
    return -1;
}

/* Whether @above is @row or one of its ancestors. */
static bool is_above(const struct layers *layers, long above, long row)
{
    for (size_t steps = 0; row >= 0 && steps <= layers->table->rows; steps++) {
        if (row == above)
            return true;
        row = layers->parents->missing[row] ? -1 : row_of(layers, layers->parents->texts[row]);
    }
    return false;
}

static bool has_children(const struct layers *layers, size_t row)
{
    for (size_t other = 0; other < layers->table->rows; other++)
        if (!layers->parents->missing[other] && row_of(layers, layers->parents->texts[other]) == (long)row)
            return true;
    return false;
}

static bool has_exposed(const struct layers *layers, long row)
{
    long compute = layers->overlap_with;
    return compute >= 0 && !is_above(layers, compute, row) && !is_above(layers, row, compute);
}

/* Length of the derived metric's name in "read_count", when a layer of the preset has such a metric; else
 * 0. */
static size_t metric_length(const char *column)
{
    const char *last = strrchr(column, '_');
    if (last == NULL ||
        !(strcmp(last, "_count") == 0 || strcmp(last, "_time") == 0 || strcmp(last, "_size") == 0 ||
          strcmp(last, "_busy") == 0 || strcmp(last, "_bw") == 0))
        return 0;
    return (size_t)(last - column);
}

static bool layer_has_metric(const struct sta_layer *layer, const char *name, size_t length)
{
    for (size_t i = 0; i < layer->metric_count; i++)
        if (strlen(layer->metrics[i].name) == length && memcmp(layer->metrics[i].name, name, length) == 0)
            return true;
    return false;
}

/* Whether the column belongs to a derived metric; *has: of this layer. */
static bool is_metric_column(const struct layers *layers, const char *column, size_t row, bool *has)
{
    size_t length = metric_length(column);
    bool any = false;
    *has = false;
    for (size_t i = 0; length > 0 && i < layers->preset->layer_count; i++) {
        const struct sta_layer *layer = &layers->preset->layers[i];
        if (!layer_has_metric(layer, column, length))
            continue;
        any = true;
        *has |= same_text(layers->names->texts[row], layer->name);
    }
    return any;
}

static bool layer_has_column(const struct layers *layers, const struct sta_table_column *column, size_t row)
{
    bool has;
    if (!column->missing[row] || layers->parents == NULL)
        return true;
    if (strncmp(column->name, "exposed_", 8) == 0 || strcmp(column->name, "hidden_share") == 0)
        return has_exposed(layers, (long)row);
    if (strcmp(column->name, "self_group_sum") == 0)
        return has_children(layers, row);
    return is_metric_column(layers, column->name, row, &has) ? has : true;
}

static void put_layer(struct sta_buffer *out, const struct layers *layers, size_t row)
{
    sta_put_char(out, '{');
    for (size_t c = 0; c < layers->table->column_count; c++) {
        const struct sta_table_column *column = &layers->table->columns[c];
        if (!layer_has_column(layers, column, row))
            continue;
        sta_put_member(out, column->name);
        sta_put_cell(out, column, row);
    }
    sta_put_char(out, '}');
}

void sta_put_summary(struct sta_response *response, enum sta_format format,
                     const struct sta_response_names *names, const struct sta_facts *facts,
                     const struct sta_table *table, const struct sta_preset *preset)
{
    if (put_plain(response, format, table))
        return;
    struct layers layers = {table, sta_table_find(table, "name"), sta_table_find(table, "parent"), preset,
                            -1};
    STA_ASSERT(layers.names != NULL);
    if (preset->overlap_with != NULL)
        layers.overlap_with =
            row_of(&layers, (struct sta_text){preset->overlap_with, (uint32_t)strlen(preset->overlap_with)});
    sta_put_char(&response->body, '{');
    sta_put_names(&response->body, names, facts);
    sta_put_table_columns(&response->body, table);
    sta_begin_list(&response->body, "layers");
    for (size_t row = 0; row < table->rows; row++) {
        sta_put_text(&response->body, row ? ",\n" : "\n");
        put_layer(&response->body, &layers, row);
    }
    sta_put_text(&response->body, "]}");
}
