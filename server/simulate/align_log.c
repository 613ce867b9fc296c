/* Fetches and iterations of a log, joined into rows.
 *
 * The original attaches training rows by position; here a step belongs to the batch of its number, and a
 * batch that some GPU lacks is left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/account.h"
#include "common/number.h"
#include "simulate/model.h"

#define READ_ROWS 16384

/* ---- from records to rows */

static int by_line(const void *a, const void *b, void *context)
{
    const struct sta_log_record *x = a, *y = b;
    (void)context;
    return (x->line > y->line) - (x->line < y->line);
}

/* By epoch, index, GPU; of several the one that was logged last comes last. */
static int by_key(const void *a, const void *b, void *context)
{
    const struct sta_log_record *x = a, *y = b;
    (void)context;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* The records of one epoch and index, one per GPU. */
struct group {
    const struct sta_log_record **of_gpu; /* by GPU; NULL: it has none */
    uint32_t found;
};

static bool same_batch(const struct sta_log_record *a, const struct sta_log_record *b)
{
    return a->epoch == b->epoch && a->index == b->index;
}

/* Takes the group that begins at *@at, and goes behind it. */
static void take_group(const struct sta_log_records *records, size_t *at, uint32_t gpus, struct group *group)
{
    const struct sta_log_record *first = &records->items[*at];
    memset(group->of_gpu, 0, gpus * sizeof *group->of_gpu);
    group->found = 0;
    for (; *at < records->count && same_batch(&records->items[*at], first); (*at)++) {
        const struct sta_log_record *record = &records->items[*at];
        group->found += group->of_gpu[record->gpu] == NULL;
        group->of_gpu[record->gpu] = record;
    }
}

static void put_row(const struct group *fetches, const struct group *iterations,
                    struct sta_align_input *input, size_t row)
{
    input->epoch[row] = fetches->of_gpu[0]->epoch;
    input->index[row] = fetches->of_gpu[0]->index;
    for (uint32_t g = 0; g < input->gpus; g++) {
        const size_t at = row * input->gpus + g;
        input->fetch[at] = fetches->of_gpu[g]->seconds;
        input->start[at] = fetches->of_gpu[g]->start_us * 1000;
        input->arrival[at] = iterations->of_gpu[g]->time_us * 1000;
        input->iteration[at] = iterations->of_gpu[g]->seconds;
        input->stall[at] = iterations->of_gpu[g]->stall;
    }
}

/* The rows of an epoch; @input NULL: only how many there are. */
static size_t join(const struct sta_training_log *log, int64_t epoch, uint32_t gpus, struct group groups[2],
                   struct sta_align_input *input)
{
    const struct sta_log_records *fetches = &log->fetches, *iterations = &log->iterations;
    size_t f = 0, i = 0, rows = 0;
    while (f < fetches->count && i < iterations->count) {
        const struct sta_log_record *a = &fetches->items[f], *b = &iterations->items[i];
        if (!same_batch(a, b)) {
            bool fetch_first = a->epoch != b->epoch ? a->epoch < b->epoch : a->index < b->index;
            *(fetch_first ? &f : &i) += 1;
            continue;
        }
        take_group(fetches, &f, gpus, &groups[0]);
        take_group(iterations, &i, gpus, &groups[1]);
        if (a->epoch != epoch || groups[0].found < gpus || groups[1].found < gpus)
            continue;
        if (input != NULL)
            put_row(&groups[0], &groups[1], input, rows);
        rows++;
    }
    return rows;
}

static uint32_t count_gpus(const struct sta_training_log *log)
{
    uint32_t most = 0;
    for (size_t i = 0; i < log->fetches.count; i++)
        most = STA_MAX(most, log->fetches.items[i].gpu);
    for (size_t i = 0; i < log->iterations.count; i++)
        most = STA_MAX(most, log->iterations.items[i].gpu);
    return most + 1;
}

static int sort_records(struct sta_log_records *records, int (*compare)(const void *, const void *, void *),
                        const struct sta_budget *budget, struct sta_error *err)
{
    return sta_sort(budget, records->items, records->count, sizeof *records->items, compare, NULL, err);
}

int sta_align_of_log(struct sta_training_log *log, int64_t epoch, const struct sta_budget *budget,
                     struct sta_align_input *input, struct sta_error *err)
{
    if (log->fetches.count == 0)
        return sta_model_refuse(err, "no-fetches", "the log has no line of a fetch that ended (END FETCH)");
    if (log->iterations.count == 0)
        return sta_model_refuse(err, "no-iterations",
                                "the log has no line of an iteration (GPU: .. Epoch: ..)");
    int rc = sort_records(&log->fetches, by_line, budget, err);
    if (rc != STA_OK)
        return rc;
    sta_training_log_end(log);
    rc = sort_records(&log->fetches, by_key, budget, err);
    if (rc == STA_OK)
        rc = sort_records(&log->iterations, by_key, budget, err);
    if (rc != STA_OK)
        return rc;
    const uint32_t gpus = count_gpus(log);
    struct group groups[2];
    const struct sta_log_record **buffer =
        sta_account_calloc(budget->account, 2 * (size_t)gpus, sizeof *buffer, "GPUs", err);
    if (buffer == NULL)
        return err->status;
    groups[0].of_gpu = buffer;
    groups[1].of_gpu = buffer + gpus;
    rc = sta_align_input_init(input, gpus, join(log, epoch, gpus, groups, NULL), budget->account, err);
    if (rc == STA_OK)
        (void)join(log, epoch, gpus, groups, input);
    sta_account_free(budget->account, buffer);
    return rc;
}

/* ---- from a trace */

enum { NAME, GPU, WORKER, TS, EPOCH, INDEX, SECONDS, STALL, LINE, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "func_name", "pid", "tid", "ts", "args.epoch", "args.index", "args.seconds", "args.stall", "args.line"};

static struct sta_document *make_request(struct sta_arena *memory)
{
    static const char filter[] = "cat == \"dataload\"";
    struct sta_document *request = sta_document_create(memory, STA_DOCUMENT_OBJECT);
    struct sta_document *columns = sta_document_create(memory, STA_DOCUMENT_LIST);
    sta_document_append(memory, request, "filter", sta_document_text(memory, filter, strlen(filter)));
    for (size_t c = 0; c < COLUMNS; c++)
        sta_document_append(memory, columns, NULL,
                            sta_document_text(memory, column_names[c], strlen(column_names[c])));
    sta_document_append(memory, request, "columns", columns);
    return request;
}

static int64_t integer_at(const struct sta_table *table, int column, size_t row, int64_t otherwise)
{
    const struct sta_table_column *cells = &table->columns[column];
    return cells->missing[row] || cells->integers == NULL ? otherwise : cells->integers[row];
}

static double number_at(const struct sta_table *table, int column, size_t row)
{
    const struct sta_table_column *cells = &table->columns[column];
    if (cells->missing[row])
        return NAN;
    return cells->numbers != NULL    ? cells->numbers[row]
           : cells->integers != NULL ? (double)cells->integers[row]
                                     : NAN;
}

static bool is_named(const struct sta_table *table, size_t row, const char *name)
{
    const struct sta_table_column *names = &table->columns[NAME];
    return !names->missing[row] && strcmp(names->texts[row].bytes, name) == 0;
}

/* Of a fetch of which a joined table says the start alone: its duration, from the other one. */
static double defined_seconds(const struct sta_snapshot *snapshot, int64_t epoch, int64_t index, int64_t gpu)
{
    char key[96];
    struct sta_definition definition;
    double seconds;
    snprintf(key, sizeof key, STA_TRAINING_SECONDS, (long long)epoch, (long long)index, (unsigned)gpu);
    return sta_tables_find_definition(sta_snapshot_tables(snapshot), STA_DEFINES_FILE, key, strlen(key),
                                      STA_NO_CODE, &definition, NULL) &&
                   sta_parse_double(definition.text, definition.length, &seconds)
               ? seconds
               : NAN;
}

static int take_row(struct sta_training_log *log, const struct sta_snapshot *snapshot,
                    const struct sta_table *table, size_t row, int64_t origin_us, struct sta_error *err)
{
    const bool start = is_named(table, row, "fetch_start"), fetch = start || is_named(table, row, "fetch");
    struct sta_log_records *records = fetch ? &log->fetches : &log->iterations;
    struct sta_log_record record = {.start_us = origin_us + integer_at(table, TS, row, 0),
                                    .epoch = integer_at(table, EPOCH, row, STA_NO_EPOCH),
                                    .index = integer_at(table, INDEX, row, 0),
                                    .seconds = number_at(table, SECONDS, row),
                                    .stall = fetch ? 0 : number_at(table, STALL, row),
                                    .line = (uint64_t)integer_at(table, LINE, row, 0)};
    const int64_t gpu = integer_at(table, GPU, row, -1);
    if (start)
        record.seconds = defined_seconds(snapshot, record.epoch, record.index, gpu);
    if (start && isnan(record.seconds))
        return STA_OK; /* the other table lacks the batch */
    if (gpu < 0 || gpu >= STA_LOG_GPUS || !(record.seconds >= 0 && record.seconds <= STA_LOG_SECONDS) ||
        !(record.stall >= 0 && record.stall <= STA_LOG_SECONDS))
        return sta_fail(err, STA_ECORRUPT, "a row of the training log has values that no line can have");
    record.gpu = (uint32_t)gpu;
    record.time_us = record.start_us + sta_log_us(fetch ? record.seconds : record.stall);
    int rc = STA_ACCOUNT_GROW(log->account, records->items, records->capacity, records->count + 1,
                              "the records of a log", err);
    if (rc == STA_OK)
        records->items[records->count++] = record;
    return rc;
}

static int read_rows(struct sta_query_result *result, const struct sta_snapshot *snapshot,
                     const struct sta_budget *budget, struct sta_training_log *log, struct sta_error *err)
{
    const int64_t origin_us = sta_snapshot_info(snapshot)->origin_us;
    struct sta_query_reader *reader;
    bool more = true;
    int rc = sta_query_reader_create(result, budget, NULL, 0, &reader, err);
    while (rc == STA_OK && more) {
        struct sta_table table;
        rc = sta_query_read(reader, READ_ROWS, &table, err);
        more = rc == STA_OK && table.rows > 0;
        for (size_t row = 0; more && row < table.rows && rc == STA_OK; row++)
            rc = take_row(log, snapshot, &table, row, origin_us, err);
        sta_table_fini(&table);
    }
    sta_query_reader_destroy(reader);
    return rc;
}

static int refuse_lines(const struct sta_snapshot *snapshot, struct sta_error *err)
{
    uint64_t lines = 0, events = 0;
    for (size_t i = 0; i < sta_snapshot_source_count(snapshot); i++) {
        lines += sta_snapshot_source(snapshot, i)->counts.lines;
        events += sta_snapshot_source(snapshot, i)->counts.events;
    }
    if (events == 0)
        return sta_model_refuse(
            err, "no-fetches",
            "the log lacks lines of fetches (END FETCH) and of iterations (GPU: .. Epoch: "
            "..): of the %llu lines of its files none is one; the report says what they are",
            (unsigned long long)lines);
    return sta_model_refuse(
        err, "no-iterations",
        "the log lacks lines of fetches (END FETCH), or of iterations (GPU: .. Epoch: ..)");
}

/* What a file with records is of: a log by its path, a table by the name that all tables of a run begin with.
 */
static struct sta_text run_of(const char *path)
{
    static const char *const ends[] = {"_fetchdifftime.csv", "_fetchstartdifftime.csv", ".csv", "_simp"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    struct sta_text run = {name, (uint32_t)strlen(name)};
    if (run.length < 4 || strcmp(name + run.length - 4, ".csv") != 0)
        return (struct sta_text){path, (uint32_t)strlen(path)};
    for (size_t i = 0; i < STA_COUNT_OF(ends); i++) {
        const uint32_t length = (uint32_t)strlen(ends[i]);
        if (run.length > length && memcmp(name + run.length - length, ends[i], length) == 0)
            run.length -= length;
    }
    return run;
}

/* Two runs have the same epochs, batches and GPUs: joined, they would be none of the two. */
static int check_one_run(const struct sta_snapshot *snapshot, struct sta_error *err)
{
    struct sta_text first = {NULL, 0};
    for (size_t i = 0; i < sta_snapshot_source_count(snapshot); i++) {
        const struct sta_source *source = sta_snapshot_source(snapshot, i);
        const struct sta_text run = run_of(source->path);
        if (source->counts.events == 0)
            continue;
        if (first.bytes == NULL)
            first = run;
        if (first.length != run.length || memcmp(first.bytes, run.bytes, run.length) != 0)
            return sta_model_refuse(err, "several-runs",
                                    "the files are of several runs (%.*s, %.*s): register a folder for each",
                                    (int)first.length, first.bytes, (int)run.length, run.bytes);
    }
    return STA_OK;
}

static int read_trace(struct sta_snapshot *snapshot, struct sta_presets *presets,
                      const struct sta_budget *budget, struct sta_training_log *log, struct sta_error *err)
{
    struct sta_arena memory = {.account = budget->account};
    const struct sta_query_trace trace = {.label = "", .snapshot = snapshot};
    const struct sta_query query = {
        .traces = &trace, .trace_count = 1, .presets = presets, .request = make_request(&memory)};
    struct sta_query_result *result;
    int rc = check_one_run(snapshot, err);
    if (rc == STA_OK)
        rc = sta_query_run(&query, budget, &result, err);
    if (rc == STA_OK) {
        rc = read_rows(result, snapshot, budget, log, err);
        sta_query_result_release(result);
    } else if (rc == STA_EINPUT) { /* a column is missing that every log with both kinds of lines has */
        rc = refuse_lines(snapshot, err);
    }
    sta_arena_fini(&memory);
    return rc;
}

int sta_align_of_trace(struct sta_snapshot *snapshot, struct sta_presets *presets, int64_t epoch,
                       const struct sta_budget *budget, struct sta_align_input *input, struct sta_error *err)
{
    struct sta_training_log log;
    sta_training_log_init(&log, budget->account);
    int rc = read_trace(snapshot, presets, budget, &log, err);
    if (rc == STA_OK)
        rc = sta_align_of_log(&log, epoch, budget, input, err);
    sta_training_log_fini(&log);
    return rc;
}
