/* Tables of a Dask computation: the records in memory, and one query to them. */
#include "dasf/dasf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dasf/stream.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"
#include "common/number.h"

#define OFFSET_LIMIT 4e9 /* s: a clock that runs for longer than a century */

/* ---- the order of the stream */

struct numbered_source {
    const struct sta_source *source;
    size_t number;
};

static int by_path(const void *a, const void *b)
{
    const struct numbered_source *left = a, *right = b;
    return strcmp(left->source->path, right->source->path);
}

uint64_t *dasf_stream_places(const struct sta_snapshot *snapshot, uint64_t *records)
{
    size_t count = sta_snapshot_source_count(snapshot);
    struct numbered_source *sources = sta_alloc_array(count + 1, sizeof *sources);
    uint64_t *places = sta_alloc_array(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++)
        sources[i] = (struct numbered_source){sta_snapshot_source(snapshot, i), i};
    qsort(sources, count, sizeof *sources, by_path);
    *records = 0;
    for (size_t i = 0; i < count; i++) {
        places[sources[i].number] = *records;
        *records += sources[i].source->counts.lines;
    }
    free(sources);
    return places;
}

/* ---- the records */

int sta_dasf_create(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                    const struct sta_budget *budget, struct sta_dasf **dasf, struct sta_error *err)
{
    struct sta_dasf *made = sta_alloc(sizeof *made);
    struct sta_columns_options options = {.presets = presets};
    made->snapshot = sta_snapshot_retain(snapshot);
    made->unknown = sta_dictionary_create();
    made->made_names = sta_dictionary_create();
    int status = sta_columns_create(snapshot, &options, &made->columns, err);
    if (status == STA_OK)
        status = dasf_read_stream(made, budget, err);
    if (status == STA_OK)
        status = dasf_find_last(made, budget, err);
    if (status != STA_OK)
        sta_dasf_destroy(made);
    else
        *dasf = made;
    return status;
}

/* Another of the same records: what is of the graph is its own. */
int sta_dasf_link(const struct sta_dasf *records, const struct sta_budget *budget, struct sta_dasf **dasf,
                  struct sta_error *err)
{
    struct sta_dasf *made = sta_alloc(sizeof *made);
    *made = *records;
    made->linked = true;
    made->bytes = 0;
    made->last = NULL;
    int status = dasf_build_graph(made, budget, err);
    if (status != STA_OK)
        sta_dasf_destroy(made);
    else
        *dasf = made;
    return status;
}

void sta_dasf_destroy(struct sta_dasf *dasf)
{
    free(dasf->mentioned);
    free(dasf->mention);
    free(dasf->last);
    free(dasf->input_size);
    free(dasf->before.first);
    free(dasf->before.nodes);
    free(dasf->after.first);
    free(dasf->after.nodes);
    if (!dasf->linked) {
        free(dasf->tasks);
        free(dasf->holdings);
        free(dasf->samples);
        free(dasf->workers);
        free(dasf->hosts);
        sta_dictionary_destroy(dasf->unknown);
        sta_dictionary_destroy(dasf->made_names);
        sta_columns_destroy(dasf->columns);
        sta_snapshot_release(dasf->snapshot);
    }
    free(dasf);
}

uint64_t sta_dasf_bytes(const struct sta_dasf *dasf)
{
    const uint64_t own = sta_dictionary_bytes(dasf->unknown) + sta_dictionary_bytes(dasf->made_names);
    return dasf->bytes + (dasf->linked ? 0 : own);
}

/* ---- which rows are asked for */

struct choosing {
    struct dasf_request *request;
    struct sta_expression *filter;
    uint32_t record; /* its column */
    uint64_t *places, records;
};

static int choose_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct choosing *choosing = self;
    const struct sta_column_values *chunks;
    struct sta_vector records;
    size_t count;
    int status = sta_column_reader_physical(rows->reader, STA_COLUMN_CHUNK, &chunks, err);
    if (status == STA_OK)
        status = sta_column_reader_get(rows->reader, choosing->record, &records, err);
    const struct sta_chunk *list =
        sta_snapshot_chunks(choosing->request->dasf->snapshot, rows->row_group->segment, &count);
    for (uint32_t i = 0; i < rows->count && status == STA_OK; i++) {
        uint32_t row = sta_scan_row(rows, i);
        uint64_t place =
            choosing->places[list[chunks->codes[row]].source] + (uint64_t)records.integers[row] - 1;
        if (place < choosing->records) /* each is its own byte: workers do not meet */
            choosing->request->chosen[place] = 1;
    }
    return status;
}

static int scan_chosen(struct choosing *choosing, struct sta_error *err)
{
    const struct sta_dasf_query *query = choosing->request->query;
    int64_t per_us = sta_snapshot_info(choosing->request->dasf->snapshot)->ticks_per_us;
    struct sta_accumulator accumulator = {.self = choosing, .update = choose_rows};
    struct sta_scan scan = {.columns = choosing->request->dasf->columns,
                            .filter = choosing->filter,
                            .from = query->has_from ? sta_ticks(query->from, per_us) : INT64_MIN,
                            .to = query->has_to ? sta_ticks(query->to, per_us) : INT64_MAX,
                            .accumulators = &accumulator,
                            .accumulator_count = 1};
    return sta_scan_run(&scan, choosing->request->budget, err);
}

static int parse_filter(struct choosing *choosing, struct sta_error *err)
{
    const char *text = choosing->request->query->filter;
    const struct sta_schema *schema = sta_columns_schema(choosing->request->dasf->columns);
    if (text == NULL)
        return STA_OK;
    int status = sta_condition_parse(text, strlen(text), schema, &choosing->filter, err);
    return status == STA_OK ? STA_OK : sta_at(err, "/filter", err->position);
}

static int choose(struct dasf_request *request, struct sta_error *err)
{
    static const struct sta_text record = {"args.record", 11};
    const struct sta_dasf_query *query = request->query;
    struct choosing choosing = {.request = request};
    int column = sta_schema_find(sta_columns_schema(request->dasf->columns), record);
    if (column < 0 || (query->filter == NULL && !query->has_from && !query->has_to))
        return STA_OK;
    if (query->has_from && query->has_to && query->to < query->from) {
        sta_fail(err, STA_EINPUT, "to (%g s) lies before from (%g s)", query->to, query->from);
        return sta_at(err, "/to", -1);
    }
    request->chosen = sta_account_calloc(request->budget->account, (size_t)request->dasf->record_count + 1, 1,
                                         "the rows that are chosen", err);
    int status = request->chosen != NULL ? parse_filter(&choosing, err) : err->status;
    choosing.record = (uint32_t)column;
    choosing.places = dasf_stream_places(request->dasf->snapshot, &choosing.records);
    if (status == STA_OK)
        status = scan_chosen(&choosing, err);
    if (choosing.filter != NULL)
        sta_expression_destroy(choosing.filter);
    free(choosing.places);
    return status;
}

/* ---- clocks */

static int fail_offset(const char *text, const char *why, struct sta_error *err)
{
    sta_fail(err, STA_EINPUT, "offset \"%.200s\" %s", text, why);
    return sta_at(err, "/offset", -1);
}

static int set_offset(const struct dasf_request *request, const char *text, struct sta_error *err)
{
    const struct sta_dasf *dasf = request->dasf;
    const char *colon = strrchr(text, ':');
    double seconds;
    if (colon == NULL || !sta_parse_double(colon + 1, strlen(colon + 1), &seconds))
        return fail_offset(text, "is not HOST:SECONDS", err);
    if (fabs(seconds) > OFFSET_LIMIT)
        return fail_offset(text, "is out of range", err);
    struct sta_text name = {text, (uint32_t)(colon - text)};
    for (uint32_t host = 0; host < dasf->host_count; host++)
        if (sta_text_order(dasf->hosts[host], name) == 0) {
            request->offsets[host] = (int64_t)rint(seconds * 1e9);
            return STA_OK;
        }
    return fail_offset(text, "names no host of the trace", err);
}

static int set_offsets(struct dasf_request *request, struct sta_error *err)
{
    int status = STA_OK;
    request->offsets = sta_alloc_array((size_t)request->dasf->host_count + 1, sizeof *request->offsets);
    for (size_t i = 0; i < request->query->offset_count && status == STA_OK; i++)
        status = set_offset(request, request->query->offsets[i], err);
    return status;
}

double dasf_from_start(const struct dasf_request *request, int64_t ns)
{
    return (double)(ns - sta_snapshot_info(request->dasf->snapshot)->origin_us * 1000) / 1e9;
}

/* ---- the query */

static const struct {
    const char *name;
    bool compatible, linked;
    dasf_table *fill;
} tables[] = {
#define X(name, compatible, linked, row) {#name, compatible, linked, dasf_##name},
    STA_DASF_TABLE_LIST(X)
#undef X
};

enum sta_dasf_table sta_dasf_table_find(const char *name)
{
    for (unsigned i = 0; i < STA_DASF_TABLES; i++)
        if (strcmp(tables[i].name, name) == 0)
            return (enum sta_dasf_table)i;
    return STA_DASF_TABLES;
}

bool sta_dasf_table_linked(enum sta_dasf_table table)
{
    return tables[table].linked;
}

/* The original takes all of its files as they are. */
static int check_compatible(const struct sta_dasf_query *query, struct sta_error *err)
{
    const char *parameter = query->filter != NULL     ? "filter"
                            : query->has_from         ? "from"
                            : query->has_to           ? "to"
                            : query->offset_count > 0 ? "offset"
                                                      : NULL;
    char pointer[16];
    if (!query->compatible)
        return STA_OK;
    if (!tables[query->table].compatible) {
        sta_fail(err, STA_EINPUT, "the original has no table %s; it is of semantics=exact",
                 tables[query->table].name);
        return sta_at(err, "/semantics", -1);
    }
    if (parameter == NULL)
        return STA_OK;
    snprintf(pointer, sizeof pointer, "/%s", parameter);
    sta_fail(err, STA_EINPUT, "%s is of semantics=exact: the original takes all records as they are",
             parameter);
    return sta_at(err, pointer, -1);
}

static void add_facts(const struct dasf_request *request)
{
    const struct sta_dasf *dasf = request->dasf;
    sta_facts_int(request->facts, "compute", (int64_t)dasf->task_count);
    sta_facts_int(request->facts, "managed_memory", (int64_t)dasf->holding_count);
    sta_facts_int(request->facts, "resource", (int64_t)dasf->sample_count);
    sta_facts_int(request->facts, "tasks", dasf->ran_count);
    if (dasf->linked)
        sta_facts_int(request->facts, "tasks_of_unknown_size",
                      (int64_t)dasf->mention_count - dasf->ran_count);
}

int sta_dasf_run(const struct sta_dasf_query *query, const struct sta_budget *budget, struct sta_table *table,
                 struct sta_facts *facts, struct sta_error *err)
{
    struct dasf_request request = {
        .query = query, .dasf = query->dasf, .budget = budget, .table = table, .facts = facts};
    *table = (struct sta_table){0};
    int status = check_compatible(query, err);
    if (status == STA_OK)
        status = set_offsets(&request, err);
    if (status == STA_OK)
        status = choose(&request, err);
    if (status == STA_OK)
        status = tables[query->table].fill(&request, err);
    if (status == STA_OK) {
        table->row_count = table->rows;
        add_facts(&request);
        sta_facts_of_sums(facts, table);
    } else {
        sta_table_fini(table);
    }
    sta_account_free(budget->account, request.chosen);
    free(request.offsets);
    return status;
}

void dasf_set_text(struct sta_table *table, struct sta_table_column *column, size_t row, struct sta_text text)
{
    sta_table_set_text(table, column, row, text.bytes, text.length);
}
