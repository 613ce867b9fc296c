/* The stream of records, read from the store's rows.
 *
 * Rows come by time and from several workers; each says its source and its record's number there, so records
 * are put where they stood without a sort. */
#include "dasf/stream.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/number.h"
#include "dasf/gather.h"

static const char WHAT[] = "the records of the trace";

/* X(field, name): columns of args that are read */
#define COLUMN_LIST(X)                                                                                       \
    X(record, "args.record")                                                                                 \
    X(timestamp, "args.timestamp")                                                                           \
    X(duration, "args.duration")                                                                             \
    X(worker, "args.worker")                                                                                 \
    X(key, "args.key")                                                                                       \
    X(size, "args.size")                                                                                     \
    X(inputs, "args.dependencies")                                                                           \
    X(users, "args.dependents")                                                                              \
    X(tasks, "args.tasks")                                                                                   \
    X(utilization, "args.gpu_utilization")                                                                   \
    X(memory, "args.gpu_memory_used")                                                                        \
    X(cpu, "args.cpu")

struct numbers {
#define X(field, name) int field;
    COLUMN_LIST(X)
#undef X
};

struct vectors {
#define X(field, name) struct sta_vector field;
    COLUMN_LIST(X)
#undef X
};

/* X(list, type, from counts): the kinds of records that are kept; as many as the sources' ledgers say, at
 * most */
#define VECTOR_LIST(X)                                                                                       \
    X(task, struct dasf_task, events)                                                                        \
    X(holding, struct dasf_holding, counters)                                                                \
    X(sample, struct dasf_sample, counters)

enum {
#define X(list, type, counted) VECTOR_##list,
    VECTOR_LIST(X)
#undef X
        VECTORS
};

/* Records of one kind, in the order in which workers met them: each claims room for those of a row group. */
struct vector {
    char *items;
    size_t size, position_at; /* of an item; of its position in it */
    size_t capacity;
    _Atomic size_t count;
};

struct reading {
    struct sta_dasf *dasf;
    const struct sta_budget *budget;
    struct numbers columns;
    uint32_t compute, memory, resource; /* codes of the categories */
    const struct sta_entities *entities;
    uint64_t *places, records; /* see dasf_stream_places */
    struct vector vectors[VECTORS];
    uint32_t *worker_names; /* by worker: code of its text + 1; written by whoever sees one */
    const struct sta_dictionary *worker_texts;
};

/* ---- values of a vector */

static inline bool is_missing(const struct sta_vector *vector, uint32_t row)
{
    return vector->missing != NULL && vector->missing[row];
}

/* NAN when there is none. */
static double number_at(const struct sta_vector *vector, uint32_t row)
{
    double number;
    row = vector->constant ? 0 : row;
    if (vector->type == STA_TYPE_TEXT) { /* numbers that share their column with texts */
        if (vector->codes == NULL || vector->codes[row] == STA_NO_CODE)
            return NAN;
        struct sta_text text = sta_dictionary_text(vector->texts, vector->codes[row]);
        return sta_parse_double(text.bytes, text.length, &number) ? number : NAN;
    }
    if ((vector->type != STA_TYPE_INT && vector->type != STA_TYPE_FLOAT) || is_missing(vector, row))
        return NAN;
    return vector->type == STA_TYPE_INT ? (double)vector->integers[row] : vector->numbers[row];
}

static int64_t integer_at(const struct sta_vector *vector, uint32_t row)
{
    uint32_t at = vector->constant ? 0 : row;
    if (vector->type == STA_TYPE_INT)
        return is_missing(vector, at) ? 0 : vector->integers[at];
    double number = number_at(vector, row);
    return fabs(number) < 9.2e18 ? (int64_t)number : 0;
}

static uint32_t code_at(const struct sta_vector *vector, uint32_t row)
{
    if (vector->type != STA_TYPE_TEXT || vector->codes == NULL)
        return STA_NO_CODE;
    return vector->codes[vector->constant ? 0 : row];
}

/* A key that is no text is a number: its text is made. */
static uint32_t key_at(const struct sta_dasf *dasf, const struct sta_vector *vector, uint32_t row)
{
    char text[STA_DOUBLE_TEXT];
    if (dasf->keys != NULL)
        return code_at(vector, row);
    return sta_dictionary_intern(dasf->unknown, text, sta_format_int(integer_at(vector, row), text));
}

/* ---- rows */

static int get_vectors(const struct reading *reading, const struct sta_scan_rows *rows,
                       struct vectors *vectors, struct sta_error *err)
{
    int status = STA_OK;
#define X(field, name)                                                                                       \
    vectors->field = (struct sta_vector){.type = STA_TYPE_NULL};                                             \
    if (status == STA_OK && reading->columns.field >= 0)                                                     \
        status = sta_column_reader_get(rows->reader, (uint32_t)reading->columns.field, &vectors->field, err);
    COLUMN_LIST(X)
#undef X
    return status;
}

/* What the rows of a block have in common. */
struct rows_read {
    struct reading *reading;
    struct vectors vectors;
    const struct sta_column_values *cats, *names, *threads, *chunks;
    const struct sta_chunk *chunk_list;
    void *next[VECTORS]; /* in the room that was claimed */
};

static struct dasf_task task_of(const struct rows_read *read, uint32_t row, uint32_t position,
                                uint32_t worker)
{
    const struct vectors *v = &read->vectors;
    return (struct dasf_task){
        .timestamp = number_at(&v->timestamp, row),
        .duration = number_at(&v->duration, row),
        .size = integer_at(&v->size, row),
        .key = key_at(read->reading->dasf, &v->key, row),
        .name = read->names->codes[row],
        .worker = worker,
        .position = position,
        .inputs = code_at(&v->inputs, row),
        .users = code_at(&v->users, row),
    };
}

static struct dasf_holding holding_of(const struct rows_read *read, uint32_t row, uint32_t position,
                                      uint32_t worker)
{
    return (struct dasf_holding){.timestamp = number_at(&read->vectors.timestamp, row),
                                 .tasks = integer_at(&read->vectors.tasks, row),
                                 .worker = worker,
                                 .position = position};
}

static struct dasf_sample sample_of(const struct rows_read *read, uint32_t row, uint32_t position,
                                    uint32_t worker)
{
    const struct vectors *v = &read->vectors;
    return (struct dasf_sample){.timestamp = number_at(&v->timestamp, row),
                                .utilization = number_at(&v->utilization, row),
                                .memory = number_at(&v->memory, row),
                                .cpu = number_at(&v->cpu, row),
                                .host = read->reading->dasf->workers[worker].host,
                                .position = position};
}

/* Which vector a row of the category goes to; PILES: none. */
static unsigned vector_of(const struct reading *reading, uint32_t cat)
{
    return cat == reading->compute    ? VECTOR_task
           : cat == reading->memory   ? VECTOR_holding
           : cat == reading->resource ? VECTOR_sample
                                      : VECTORS;
}

static int claim_rows(struct rows_read *read, const struct sta_scan_rows *rows, struct sta_error *err)
{
    size_t counts[VECTORS + 1] = {0};
    for (uint32_t i = 0; i < rows->count; i++)
        counts[vector_of(read->reading, read->cats->codes[sta_scan_row(rows, i)])]++;
    for (unsigned p = 0; p < VECTORS; p++) {
        struct vector *vector = &read->reading->vectors[p];
        size_t first = atomic_fetch_add_explicit(&vector->count, counts[p], memory_order_relaxed);
        if (first + counts[p] > vector->capacity)
            return sta_fail(err, STA_ECORRUPT, "there are more records than the ledger has counted");
        read->next[p] = vector->items + first * vector->size;
    }
    return STA_OK;
}

static int add_row(struct rows_read *read, uint32_t row, struct sta_error *err)
{
    struct reading *reading = read->reading;
    uint32_t cat = read->cats->codes[row];
    uint64_t place = reading->places[read->chunk_list[read->chunks->codes[row]].source] +
                     (uint64_t)integer_at(&read->vectors.record, row) - 1;
    uint32_t worker = reading->entities->thread_of_code[read->threads->codes[row]];
    uint32_t name = code_at(&read->vectors.worker, row);
    if (place >= reading->records)
        return sta_fail(err, STA_ECORRUPT, "a record's number is past those of its file");
    if (name != STA_NO_CODE) /* every worker writes the same */
        __atomic_store_n(&reading->worker_names[worker], name + 1, __ATOMIC_RELAXED);
    switch (vector_of(reading, cat)) {
#define X(list, type, counted)                                                                               \
    case VECTOR_##list: {                                                                                    \
        type *next = read->next[VECTOR_##list];                                                              \
        *next = list##_of(read, row, (uint32_t)place, worker);                                               \
        read->next[VECTOR_##list] = next + 1;                                                                \
        break;                                                                                               \
    }
        VECTOR_LIST(X)
#undef X
    default:
        break;
    }
    return STA_OK;
}

static int read_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct reading *reading = self;
    struct rows_read read = {.reading = reading};
    size_t chunk_count;
    (void)worker;
    int status = get_vectors(reading, rows, &read.vectors, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_CAT, &read.cats, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_NAME, &read.names, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_THREAD, &read.threads, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_CHUNK, &read.chunks, err);
    read.chunk_list = sta_snapshot_chunks(reading->dasf->snapshot, rows->block->segment, &chunk_count);
    if (status == STA_OK)
        status = claim_rows(&read, rows, err);
    for (uint32_t i = 0; i < rows->count && status == STA_OK; i++)
        status = add_row(&read, sta_scan_row(rows, i), err);
    return status;
}

/* ---- the order of the stream */

static int by_path(const void *a, const void *b)
{
    const struct sta_source *const *left = a, *const *right = b;
    return strcmp((*left)->path, (*right)->path);
}

uint64_t *dasf_stream_places(const struct sta_snapshot *snapshot, uint64_t *records)
{
    size_t count = sta_snapshot_source_count(snapshot);
    const struct sta_source **sources = sta_alloc_array(count + 1, sizeof *sources);
    uint64_t *places = sta_alloc_array(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++)
        sources[i] = sta_snapshot_source(snapshot, i);
    qsort(sources, count, sizeof *sources, by_path);
    *records = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t number = 0; number < count; number++)
            if (sta_snapshot_source(snapshot, number) == sources[i])
                places[number] = *records;
        *records += sources[i]->counts.lines;
    }
    free(sources);
    return places;
}

void *dasf_alloc(struct sta_dasf *dasf, const struct sta_budget *budget, size_t count, size_t size,
                 struct sta_error *err)
{
    dasf->bytes += count * size;
    return sta_account_alloc(budget->account, count + 1, size, WHAT, err);
}

static int make_vectors(struct reading *reading, struct sta_error *err)
{
    size_t counts[VECTORS] = {0};
    for (size_t i = 0; i < sta_snapshot_source_count(reading->dasf->snapshot); i++) {
        const struct sta_ledger_counts *counted = &sta_snapshot_source(reading->dasf->snapshot, i)->counts;
#define X(list, type, field) counts[VECTOR_##list] += counted->field;
        VECTOR_LIST(X)
#undef X
    }
#define X(list, type, field)                                                                                 \
    reading->vectors[VECTOR_##list] = (struct vector){                                                       \
        .size = sizeof(type), .position_at = offsetof(type, position), .capacity = counts[VECTOR_##list]};
    VECTOR_LIST(X)
#undef X
    for (unsigned p = 0; p < VECTORS; p++) {
        struct vector *vector = &reading->vectors[p];
        vector->items =
            sta_account_alloc(reading->budget->account, vector->capacity + 1, vector->size, WHAT, err);
        if (vector->items == NULL)
            return err->status;
    }
    return STA_OK;
}

/* Copies a vector in the order of its positions.  @at: by position, zero */
static int gather(const struct reading *reading, const struct vector *vector, uint32_t *at, void **items,
                  size_t *count, struct sta_error *err)
{
    const struct dasf_gathering gathering = {
        .items = vector->items,
        .count = atomic_load_explicit(&vector->count, memory_order_relaxed),
        .size = vector->size,
        .position_at = vector->position_at,
        .at = at,
        .positions = reading->records,
    };
    *items = dasf_alloc(reading->dasf, reading->budget, gathering.count, vector->size, err);
    return *items != NULL ? dasf_gather(&gathering, *items, count, reading->budget, err) : err->status;
}

static int gather_all(struct reading *reading, struct sta_error *err)
{
    struct sta_dasf *dasf = reading->dasf;
    uint32_t *at = sta_account_calloc(reading->budget->account, reading->records + 1, sizeof *at, WHAT, err);
    int status = at != NULL ? STA_OK : err->status;
    void *items;
#define X(list, type, counted)                                                                               \
    if (status == STA_OK) {                                                                                  \
        status = gather(reading, &reading->vectors[VECTOR_##list], at, &items, &dasf->list##_count, err);    \
        dasf->list##s = items;                                                                               \
    }
    VECTOR_LIST(X)
#undef X
    sta_account_free(reading->budget->account, at);
    return status;
}

/* ---- hosts and workers */

static int by_text(const void *a, const void *b)
{
    return sta_text_order(*(const struct sta_text *)a, *(const struct sta_text *)b);
}

/* Every thread of the trace is a worker, or what stands for a host's samples. */
static void make_workers(struct sta_dasf *dasf, const struct sta_entities *entities)
{
    uint32_t hosts = sta_dictionary_count(entities->hosts);
    dasf->hosts = sta_alloc_array((size_t)hosts + 1, sizeof *dasf->hosts);
    dasf->workers = sta_alloc_array((size_t)entities->thread_count + 1, sizeof *dasf->workers);
    dasf->worker_count = entities->thread_count;
    dasf->host_count = hosts;
    for (uint32_t host = 0; host < hosts; host++)
        dasf->hosts[host] = sta_dictionary_text(entities->hosts, host);
    qsort(dasf->hosts, hosts, sizeof *dasf->hosts, by_text);
    if (hosts == 0)
        dasf->hosts[dasf->host_count++] = (struct sta_text){"", 0};
    for (uint32_t worker = 0; worker < dasf->worker_count; worker++) {
        uint32_t code = entities->threads[worker].host;
        struct sta_text text =
            code != STA_NO_CODE ? sta_dictionary_text(entities->hosts, code) : dasf->hosts[0];
        const struct sta_text *found = bsearch(&text, dasf->hosts, dasf->host_count, sizeof text, by_text);
        dasf->workers[worker].host = (uint32_t)(found - dasf->hosts);
    }
}

static void name_workers(const struct reading *reading)
{
    static const struct sta_text none = {"", 0};
    for (uint32_t i = 0; i < reading->dasf->worker_count; i++) {
        struct dasf_worker *worker = &reading->dasf->workers[i];
        uint32_t name = reading->worker_names[i];
        worker->name = name != 0 ? sta_dictionary_text(reading->worker_texts, name - 1) : none;
        const char *dash =
            worker->name.length > 0 ? memrchr(worker->name.bytes, '-', worker->name.length) : NULL;
        uint32_t skipped = dash != NULL ? (uint32_t)(dash + 1 - worker->name.bytes) : 0;
        worker->gpu = (struct sta_text){worker->name.bytes + skipped, worker->name.length - skipped};
    }
}

/* ---- all of it */

static uint32_t category(const struct sta_tables *tables, const char *name)
{
    return sta_dictionary_find(sta_tables_cats(tables), name, strlen(name));
}

static void find_columns(struct reading *reading)
{
    const struct sta_schema *schema = sta_columns_schema(reading->dasf->columns);
    const struct sta_tables *tables = sta_snapshot_tables(reading->dasf->snapshot);
#define X(field, name)                                                                                       \
    reading->columns.field = sta_schema_find(schema, (struct sta_text){name, sizeof name - 1});
    COLUMN_LIST(X)
#undef X
    reading->compute = category(tables, "compute");
    reading->memory = category(tables, "memory");
    reading->resource = category(tables, "resource");
    if (reading->columns.worker >= 0)
        reading->worker_texts = sta_columns_texts(reading->dasf->columns, (uint32_t)reading->columns.worker);
    int key = reading->columns.key;
    if (key >= 0 && schema->columns[key].type == STA_TYPE_TEXT)
        reading->dasf->keys = sta_columns_texts(reading->dasf->columns, (uint32_t)key);
}

static int scan(struct reading *reading, struct sta_error *err)
{
    struct sta_accumulator accumulator = {.self = reading, .update = read_rows};
    struct sta_scan request = {.columns = reading->dasf->columns,
                               .from = INT64_MIN,
                               .to = INT64_MAX,
                               .accumulators = &accumulator,
                               .accumulator_count = 1};
    int status = sta_scan_run(&request, reading->budget, err);
    if (status == STA_OK && reading->dasf->keys != NULL)
        reading->dasf->key_count = sta_dictionary_count(reading->dasf->keys);
    return status;
}

int dasf_read_stream(struct sta_dasf *dasf, const struct sta_budget *budget, struct sta_error *err)
{
    struct reading reading = {.dasf = dasf, .budget = budget};
    reading.places = dasf_stream_places(dasf->snapshot, &reading.records);
    if (reading.records >= UINT32_MAX) {
        free(reading.places);
        return sta_fail(err, STA_ELIMIT, "the trace has more than %u records", UINT32_MAX - 1);
    }
    dasf->record_count = (uint32_t)reading.records;
    reading.entities = sta_snapshot_entities(dasf->snapshot);
    make_workers(dasf, reading.entities);
    find_columns(&reading);
    reading.worker_names = sta_alloc_array((size_t)dasf->worker_count + 1, sizeof *reading.worker_names);
    int status = make_vectors(&reading, err);
    if (status == STA_OK)
        status = scan(&reading, err);
    if (status == STA_OK)
        status = gather_all(&reading, err);
    if (status == STA_OK)
        name_workers(&reading);
    for (unsigned p = 0; p < VECTORS; p++)
        sta_account_free(budget->account, reading.vectors[p].items);
    free(reading.worker_names);
    free(reading.places);
    return status;
}
