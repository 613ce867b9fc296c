/* The stream of records, read from the store's rows.
 *
 * Rows come by time and from several workers; each says its source and its record's number there.  A first
 * pass over these alone says where each record goes in the order of the stream, a second one puts it there:
 * memory that nobody has used yet takes longer to get than the columns of the first pass take to read. */
#include "dasf/stream.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/number.h"
#include "dasf/order.h"

static const char WHAT[] = "the records of the trace";

/* X(field, name): columns of args that are read */
#define COLUMN_LIST(X)                                                                                       \
    X(record, "args.record")                                                                                 \
    X(timestamp, "args.timestamp")                                                                           \
    X(duration, "args.duration")                                                                             \
    X(worker, "args.worker")                                                                                 \
    X(key, "args.key")                                                                                       \
    X(size, "args.size")                                                                                     \
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

/* X(list, type): the kinds of records that are kept */
#define VECTOR_LIST(X)                                                                                       \
    X(task, struct dasf_task)                                                                                \
    X(holding, struct dasf_holding)                                                                          \
    X(sample, struct dasf_sample)

enum {
#define X(list, type) VECTOR_##list,
    VECTOR_LIST(X)
#undef X
        VECTORS
};

static_assert(VECTORS == DASF_KINDS, "each kind of record has its vector");

struct reading {
    struct sta_dasf *dasf;
    const struct sta_budget *budget;
    struct numbers columns;
    uint32_t compute, memory, resource; /* codes of the categories */
    uint32_t inputs, users;             /* keys of args that hold lists of tasks; STA_NO_CODE: none */
    const struct sta_entities *entities;
    uint64_t *places, records; /* by source: where its records begin; of all */
    struct dasf_order order;
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

/* Its integer part; 0 when there is none, or it does not fit. */
static int64_t integer_at(const struct sta_vector *vector, uint32_t row)
{
    int64_t integer;
    uint32_t at = vector->constant ? 0 : row;
    if (vector->type == STA_TYPE_INT)
        return is_missing(vector, at) ? 0 : vector->integers[at];
    if (vector->type == STA_TYPE_TEXT && vector->codes != NULL && vector->codes[at] != STA_NO_CODE) {
        struct sta_text text = sta_dictionary_text(vector->texts, vector->codes[at]);
        if (sta_parse_int(text.bytes, text.length, &integer))
            return integer;
    }
    double number = number_at(vector, row);
    return fabs(number) < 9.2e18 ? (int64_t)number : 0;
}

static uint32_t code_at(const struct sta_vector *vector, uint32_t row)
{
    if (vector->type != STA_TYPE_TEXT || vector->codes == NULL)
        return STA_NO_CODE;
    return vector->codes[vector->constant ? 0 : row];
}

/* The code of a text that the store has; what is none is no list. */
static uint32_t list_at(const struct sta_column_values *values, uint32_t row)
{
    union sta_value value = {.code = STA_NO_CODE};
    if (values->kind == STA_KIND_CODE)
        return values->codes[row];
    if (values->kind == STA_KIND_MIXED && !(values->any_missing && values->missing[row]) &&
        values->kinds[row] == STA_VALUE_TEXT)
        memcpy(&value, &values->integers[row], sizeof value);
    return value.code;
}

/* A key that is no text is a number: its text is made. */
static uint32_t key_at(const struct sta_dasf *dasf, const struct sta_vector *vector, uint32_t row)
{
    char text[STA_DOUBLE_TEXT];
    if (dasf->keys != NULL)
        return code_at(vector, row);
    return sta_dictionary_intern(dasf->unknown, text, sta_format_int(integer_at(vector, row), text));
}

/* The code of the worker's name; one that is no text is a number, whose text is made. */
static uint32_t worker_at(const struct reading *reading, const struct sta_vector *vector, uint32_t row)
{
    char text[STA_DOUBLE_TEXT];
    const uint32_t at = vector->constant ? 0 : row;
    const bool integer = vector->type == STA_TYPE_INT;
    if ((!integer && vector->type != STA_TYPE_FLOAT) || is_missing(vector, at))
        return code_at(vector, row);
    return sta_dictionary_intern(reading->dasf->made_names, text,
                                 integer ? sta_format_int(vector->integers[at], text)
                                         : sta_format_double(vector->numbers[at], text));
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

/* What the rows of a row group have in common. */
struct rows_read {
    struct reading *reading;
    struct vectors vectors;
    const struct sta_column_values *cats, *names, *threads, *chunks, *inputs, *users;
    const struct sta_chunk *chunk_list;
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
        .inputs = list_at(read->inputs, row),
        .users = list_at(read->users, row),
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

/* Which vector a row of the category goes to; VECTORS: none. */
static unsigned vector_of(const struct reading *reading, uint32_t cat)
{
    return cat == reading->compute    ? VECTOR_task
           : cat == reading->memory   ? VECTOR_holding
           : cat == reading->resource ? VECTOR_sample
                                      : VECTORS;
}

/* A row's position in the stream.  Return: false when it is past the last. */
static inline bool position_of(const struct rows_read *read, uint32_t row, uint64_t *position)
{
    *position = read->reading->places[read->chunk_list[read->chunks->codes[row]].source] +
                (uint64_t)integer_at(&read->vectors.record, row) - 1;
    return *position < read->reading->records;
}

/* Each position is its own byte: workers do not meet, but in a damaged store. */
static int note_row(const struct rows_read *read, uint32_t row, uint64_t *noted, struct sta_error *err)
{
    const unsigned vector = vector_of(read->reading, read->cats->codes[row]);
    uint64_t position;
    if (!position_of(read, row, &position))
        return sta_fail(err, STA_ECORRUPT, "a record's number is past those of its file");
    if (vector < VECTORS) {
        __atomic_store_n(&read->reading->order.kinds[position], (uint8_t)(vector + 1), __ATOMIC_RELAXED);
        ++*noted;
    }
    return STA_OK;
}

static int add_row(struct rows_read *read, uint32_t row, struct sta_error *err)
{
    struct reading *reading = read->reading;
    const unsigned vector = vector_of(reading, read->cats->codes[row]);
    uint32_t worker = reading->entities->thread_of_code[read->threads->codes[row]];
    uint32_t name = worker_at(reading, &read->vectors.worker, row);
    uint64_t position;
    if (!position_of(read, row, &position))
        return sta_fail(err, STA_ECORRUPT, "a record's number is past those of its file");
    if (name != STA_NO_CODE) /* every worker writes the same */
        __atomic_store_n(&reading->worker_names[worker], name + 1, __ATOMIC_RELAXED);
    const uint32_t place = reading->order.places[position];
    switch (vector) {
#define X(list, type)                                                                                        \
    case VECTOR_##list:                                                                                      \
        reading->dasf->list##s[place] = list##_of(read, row, (uint32_t)position, worker);                    \
        break;
        VECTOR_LIST(X)
#undef X
    default:
        break;
    }
    return STA_OK;
}

/* What both passes read. */
static int begin_rows(struct rows_read *read, const struct sta_scan_rows *rows, struct sta_error *err)
{
    size_t chunk_count;
    int status = sta_column_reader_physical(rows->reader, STA_COLUMN_CAT, &read->cats, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_CHUNK, &read->chunks, err);
    read->chunk_list =
        sta_snapshot_chunks(read->reading->dasf->snapshot, rows->row_group->segment, &chunk_count);
    return status;
}

static int note_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct reading *reading = self;
    struct rows_read read = {.reading = reading, .vectors.record = {.type = STA_TYPE_NULL}};
    uint64_t noted = 0;
    (void)worker;
    int status = begin_rows(&read, rows, err);
    if (status == STA_OK && reading->columns.record >= 0)
        status =
            sta_column_reader_get(rows->reader, (uint32_t)reading->columns.record, &read.vectors.record, err);
    for (uint32_t i = 0; i < rows->count && status == STA_OK; i++)
        status = note_row(&read, sta_scan_row(rows, i), &noted, err);
    atomic_fetch_add_explicit(&reading->order.noted, noted, memory_order_relaxed);
    return status;
}

/* By their codes: their texts would have to be made. */
static int get_lists(const struct sta_scan_rows *rows, uint32_t key, const struct sta_column_values **values,
                     struct sta_error *err)
{
    static const struct sta_column_values none = {.kind = STA_KIND_ABSENT};
    *values = &none;
    return key == STA_NO_CODE ? STA_OK
                              : sta_column_reader_physical(rows->reader, STA_COLUMN_ARGS + key, values, err);
}

static int read_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct reading *reading = self;
    struct rows_read read = {.reading = reading};
    (void)worker;
    int status = get_vectors(reading, rows, &read.vectors, err);
    if (status == STA_OK)
        status = begin_rows(&read, rows, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_NAME, &read.names, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_THREAD, &read.threads, err);
    if (status == STA_OK)
        status = get_lists(rows, reading->inputs, &read.inputs, err);
    if (status == STA_OK)
        status = get_lists(rows, reading->users, &read.users, err);
    for (uint32_t i = 0; i < rows->count && status == STA_OK; i++)
        status = add_row(&read, sta_scan_row(rows, i), err);
    return status;
}

void *dasf_alloc(struct sta_dasf *dasf, const struct sta_budget *budget, size_t count, size_t size,
                 struct sta_error *err)
{
    dasf->bytes += count * size;
    return sta_account_alloc(budget->account, count + 1, size, WHAT, err);
}

/* ---- hosts and workers */

static int by_text(const void *a, const void *b)
{
    return sta_text_order(*(const struct sta_text *)a, *(const struct sta_text *)b);
}

static bool has_nameless_host(const struct sta_entities *entities)
{
    for (uint32_t worker = 0; worker < entities->thread_count; worker++)
        if (entities->threads[worker].host == STA_NO_CODE)
            return true;
    return false;
}

/* The hosts by text.  Records without a host, and a trace without records, are of the one whose name is
 * empty. */
static void make_hosts(struct sta_dasf *dasf, const struct sta_entities *entities)
{
    uint32_t hosts = sta_dictionary_count(entities->hosts);
    const bool nameless = (hosts == 0 || has_nameless_host(entities)) &&
                          sta_dictionary_find(entities->hosts, "", 0) == STA_NO_CODE;
    dasf->hosts = sta_alloc_array((size_t)hosts + 1, sizeof *dasf->hosts);
    for (uint32_t host = 0; host < hosts; host++)
        dasf->hosts[host] = sta_dictionary_text(entities->hosts, host);
    if (nameless)
        dasf->hosts[hosts++] = (struct sta_text){"", 0};
    qsort(dasf->hosts, hosts, sizeof *dasf->hosts, by_text);
    dasf->host_count = hosts;
}

/* Every thread of the trace is a worker, or what stands for a host's samples. */
static void make_workers(struct sta_dasf *dasf, const struct sta_entities *entities)
{
    static const struct sta_text none = {"", 0};
    make_hosts(dasf, entities);
    dasf->workers = sta_alloc_array((size_t)entities->thread_count + 1, sizeof *dasf->workers);
    dasf->worker_count = entities->thread_count;
    for (uint32_t worker = 0; worker < dasf->worker_count; worker++) {
        uint32_t code = entities->threads[worker].host;
        struct sta_text text = code != STA_NO_CODE ? sta_dictionary_text(entities->hosts, code) : none;
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

uint32_t dasf_args_key(const struct sta_dasf *dasf, const char *name)
{
    return sta_dictionary_find(sta_tables_keys(sta_snapshot_tables(dasf->snapshot)), name, strlen(name));
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
    reading->inputs = dasf_args_key(reading->dasf, "dependencies");
    reading->users = dasf_args_key(reading->dasf, "dependents");
    int key = reading->columns.key, worker = reading->columns.worker;
    reading->worker_texts = reading->dasf->made_names;
    if (worker >= 0 && schema->columns[worker].type == STA_TYPE_TEXT)
        reading->worker_texts = sta_columns_texts(reading->dasf->columns, (uint32_t)worker);
    if (key >= 0 && schema->columns[key].type == STA_TYPE_TEXT)
        reading->dasf->keys = sta_columns_texts(reading->dasf->columns, (uint32_t)key);
}

static int scan(struct reading *reading,
                int (*update)(void *, unsigned, const struct sta_scan_rows *, struct sta_error *),
                struct sta_error *err)
{
    struct sta_accumulator accumulator = {.self = reading, .update = update};
    struct sta_scan request = {.columns = reading->dasf->columns,
                               .from = INT64_MIN,
                               .to = INT64_MAX,
                               .accumulators = &accumulator,
                               .accumulator_count = 1};
    return sta_scan_run(&request, reading->budget, err);
}

static int find_order(struct reading *reading, struct sta_error *err)
{
    struct sta_account *account = reading->budget->account;
    struct dasf_order *order = &reading->order;
    order->positions = reading->records;
    order->kinds = sta_account_calloc(account, order->positions + 1, sizeof *order->kinds, WHAT, err);
    if (order->kinds == NULL)
        return err->status;
    order->places = sta_account_alloc(account, order->positions + 1, sizeof *order->places, WHAT, err);
    int status = order->places != NULL ? scan(reading, note_rows, err) : err->status;
    return status == STA_OK ? dasf_order_find(order, reading->budget, err) : status;
}

static int read_records(struct reading *reading, struct sta_error *err)
{
    struct sta_dasf *dasf = reading->dasf;
    int status = find_order(reading, err);
#define X(list, type)                                                                                        \
    dasf->list##_count = reading->order.counts[VECTOR_##list];                                               \
    if (status == STA_OK) {                                                                                  \
        dasf->list##s = dasf_alloc(dasf, reading->budget, dasf->list##_count, sizeof(type), err);            \
        status = dasf->list##s != NULL ? STA_OK : err->status;                                               \
    }
    VECTOR_LIST(X)
#undef X
    if (status == STA_OK)
        status = scan(reading, read_rows, err);
    if (status == STA_OK && dasf->keys != NULL)
        dasf->key_count = sta_dictionary_count(dasf->keys);
    sta_account_free(reading->budget->account, reading->order.kinds);
    sta_account_free(reading->budget->account, reading->order.places);
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
    int status = read_records(&reading, err);
    if (status == STA_OK)
        name_workers(&reading);
    free(reading.worker_names);
    free(reading.places);
    return status;
}
