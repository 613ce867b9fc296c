/* Queries of rules.  Those that differ in their aggregates alone are one query. */
#include <stdlib.h>
#include <string.h>

#include "findings/evaluation.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"
#include "findings/findings.h"

/* A query, and whose it is. */
struct sta_rule_query {
    const struct sta_yaml_node *argument; /* of the first */
    const char *filter;                   /* NULL: none */
    bool shared;                          /* nothing but aggregates and a filter */
    bool done;
    struct sta_query_result *result;
    struct sta_table row;
};

/* ---- requests */

static struct sta_document *document_of(struct sta_arena *arena, const struct sta_yaml_node *node)
{
    struct sta_document *value;
    char *end;
    if (node->kind == STA_YAML_SCALAR) {
        value = sta_document_text(arena, node->text, node->length);
        const long long whole = strtoll(node->text, &end, 10);
        if (!node->quoted && *node->text != '\0' && *end == '\0') {
            value = sta_document_create(arena, STA_DOCUMENT_INT);
            value->integer = whole;
        }
        return value;
    }
    const bool list = node->kind == STA_YAML_SEQUENCE;
    value = sta_document_create(arena, list ? STA_DOCUMENT_LIST : STA_DOCUMENT_OBJECT);
    for (size_t i = 0; i < node->count; i++)
        sta_document_append(arena, value, list ? NULL : node->keys[i]->text,
                            document_of(arena, node->items[i]));
    return value;
}

/* Whole microseconds; any number of seconds, also those that no trace reaches. */
static int64_t micros(const struct sta_document *seconds)
{
    double number = 0;
    sta_document_number(seconds, &number);
    return sta_ticks(number, 1);
}

static void put_and(struct sta_buffer *out, const char *text)
{
    sta_put_format(out, "%s(%s)", out->size > 0 ? " and " : "", text);
}

/* Events that overlap the window and satisfy the filters: a query's own window goes by their start. */
static void put_filter(const struct sta_run *run, const char *filter, struct sta_buffer *out)
{
    const struct sta_document *from = sta_document_member(run->query.request, "from");
    const struct sta_document *to = sta_document_member(run->query.request, "to");
    const struct sta_document *own = sta_document_member(run->query.request, "filter");
    char text[120];
    if (from != NULL && from->type != STA_DOCUMENT_NULL) {
        const long long low = micros(from);
        snprintf(text, sizeof text, "ts >= %lld or te > %lld", low, low);
        put_and(out, text);
    }
    if (to != NULL && to->type != STA_DOCUMENT_NULL) {
        snprintf(text, sizeof text, "ts < %lld", (long long)micros(to));
        put_and(out, text);
    }
    if (own != NULL && own->type == STA_DOCUMENT_TEXT)
        put_and(out, own->text.bytes);
    if (filter != NULL)
        put_and(out, filter);
}

static struct sta_document *request_of(const struct sta_evaluation *evaluation, const char *filter)
{
    struct sta_run *run = evaluation->run;
    struct sta_document *request = sta_document_create(&run->memory, STA_DOCUMENT_OBJECT);
    struct sta_buffer text;
    sta_run_add_text(run, request, "preset", run->preset->name);
    sta_run_add_text(run, request, "filters", "off");
    sta_buffer_init(&text);
    put_filter(run, filter, &text);
    if (text.size > 0) {
        sta_put_char(&text, '\0');
        sta_run_add_text(run, request, "filter", text.data);
    }
    sta_buffer_fini(&text);
    return request;
}

int sta_evaluation_query(struct sta_evaluation *evaluation, const struct sta_document *request, size_t rows,
                         struct sta_query_result **result, struct sta_table *table, struct sta_error *err)
{
    struct sta_run *run = evaluation->run;
    const struct sta_query_trace trace = {run->query.label, run->query.snapshot};
    const struct sta_query query = {.traces = &trace,
                                    .trace_count = 1,
                                    .presets = (struct sta_presets *)(uintptr_t)run->query.presets,
                                    .request = request};
    struct sta_query_reader *reader = NULL;
    *result = NULL;
    *table = (struct sta_table){0};
    int rc = sta_query_run(&query, run->budget, result, err);
    if (rc == STA_OK)
        rc = sta_query_reader_create(*result, run->budget, NULL, 0, &reader, err);
    if (rc == STA_OK)
        rc = sta_query_read(reader, rows, table, err);
    sta_query_reader_destroy(reader);
    if (rc != STA_OK) {
        sta_table_fini(table);
        sta_query_result_release(*result);
        *table = (struct sta_table){0};
        *result = NULL;
    }
    return rc;
}

struct sta_document *sta_evaluation_request(const struct sta_evaluation *evaluation, const char *filter)
{
    return request_of(evaluation, filter);
}

/* ---- which are one */

static const char *filter_of(const struct sta_yaml_node *argument)
{
    const struct sta_yaml_node *filter = sta_yaml_find(argument, "filter");
    return filter != NULL ? filter->text : NULL;
}

static bool is_plain(const struct sta_yaml_node *argument)
{
    return argument->count == 1u + (sta_yaml_find(argument, "filter") != NULL);
}

static bool is_same(const struct sta_rule_query *query, const struct sta_yaml_node *argument)
{
    const char *filter = filter_of(argument);
    if (query->argument == argument)
        return true;
    if (!query->shared || !is_plain(argument) || (query->filter == NULL) != (filter == NULL))
        return false;
    return filter == NULL || strcmp(filter, query->filter) == 0;
}

static struct sta_rule_query *find(struct sta_evaluation *evaluation, const struct sta_yaml_node *argument)
{
    for (size_t i = 0; i < evaluation->query_count; i++)
        if (is_same(&evaluation->queries[i], argument))
            return &evaluation->queries[i];
    evaluation->queries =
        sta_realloc_array(evaluation->queries, evaluation->query_count + 1, sizeof *evaluation->queries);
    struct sta_rule_query *query = &evaluation->queries[evaluation->query_count++];
    *query = (struct sta_rule_query){
        .argument = argument, .filter = filter_of(argument), .shared = is_plain(argument)};
    return query;
}

/* The aggregates of all rules that ask the same query otherwise; each gets the name rule_ask_name. */
static void add_aggregates(const struct sta_evaluation *evaluation, const struct sta_rule_query *query,
                           struct sta_document *aggregates)
{
    struct sta_arena *arena = &evaluation->run->memory;
    for (size_t r = 0; r < evaluation->asked_count; r++)
        for (size_t a = 0; a < evaluation->asked[r]->ask_count; a++) {
            const struct sta_ask *ask = &evaluation->asked[r]->asks[a];
            if (ask->kind != STA_ASK_query || !is_same(query, ask->argument))
                continue;
            const struct sta_yaml_node *own = sta_yaml_find(ask->argument, "aggregate");
            for (size_t i = 0; i < own->count; i++) {
                char name[200];
                snprintf(name, sizeof name, "%.60s_%.60s_%.60s", evaluation->asked[r]->id, ask->name,
                         own->keys[i]->text);
                if (sta_document_member(aggregates, name) == NULL)
                    sta_document_append(arena, aggregates, name, document_of(arena, own->items[i]));
            }
        }
}

static int run_query(struct sta_evaluation *evaluation, struct sta_rule_query *query, struct sta_error *err)
{
    struct sta_arena *arena = &evaluation->run->memory;
    struct sta_document *request = request_of(evaluation, query->filter);
    struct sta_document *aggregates = sta_document_create(arena, STA_DOCUMENT_OBJECT);
    add_aggregates(evaluation, query, aggregates);
    sta_document_append(arena, request, "aggregate", aggregates);
    for (size_t i = 0; !query->shared && i < query->argument->count; i++) {
        const char *key = query->argument->keys[i]->text;
        if (strcmp(key, "aggregate") != 0 && strcmp(key, "filter") != 0)
            sta_document_append(arena, request, key, document_of(arena, query->argument->items[i]));
    }
    int rc = sta_evaluation_query(evaluation, request, 1, &query->result, &query->row, err);
    query->done = rc == STA_OK;
    return rc;
}

static void put_figure(struct sta_figure_list *figures, const char *ask, const char *name,
                       const struct sta_table_column *column)
{
    struct sta_figure figure = {
        .type = column->type == STA_TYPE_INT || column->type == STA_TYPE_BOOL ? STA_TYPE_INT : STA_TYPE_FLOAT,
        .missing = column->missing[0] != 0};
    if (column->integers != NULL) {
        figure.integer = column->integers[0];
        figure.number = (double)column->integers[0];
    } else if (column->numbers != NULL) {
        figure.number = column->numbers[0];
    } else {
        figure.missing = true;
    }
    sta_figure_add(figures, ask, name, &figure);
}

int sta_evaluate_query(struct sta_evaluation *evaluation, const struct sta_rule *rule,
                       const struct sta_ask *ask, struct sta_figure_list *figures, struct sta_error *err)
{
    struct sta_rule_query *query = find(evaluation, ask->argument);
    int rc = query->done ? STA_OK : run_query(evaluation, query, err);
    const struct sta_yaml_node *own = sta_yaml_find(ask->argument, "aggregate");
    for (size_t i = 0; rc == STA_OK && i < own->count && query->row.rows > 0; i++) {
        char name[200];
        snprintf(name, sizeof name, "%.60s_%.60s_%.60s", rule->id, ask->name, own->keys[i]->text);
        const struct sta_table_column *column = sta_table_find(&query->row, name);
        if (column != NULL)
            put_figure(figures, ask->name, own->keys[i]->text, column);
    }
    return rc;
}

void sta_evaluation_queries_fini(struct sta_evaluation *evaluation)
{
    for (size_t i = 0; i < evaluation->query_count; i++) {
        sta_table_fini(&evaluation->queries[i].row);
        sta_query_result_release(evaluation->queries[i].result);
    }
    free(evaluation->queries);
    evaluation->query_count = 0;
}
