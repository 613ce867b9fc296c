/* sample.c - see sample.h. */
#include "sample.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "common/files.h"
#include "common/memory.h"

enum { NAMES = 6000, CATS = 5, FILES = 900, THREADS = 70, TEXTS = 40 };

/* ---- making */

uint64_t sample_random(struct sample *sample)
{
    uint64_t x = sample->random += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static uint32_t below(struct sample *sample, uint32_t limit)
{
    return (uint32_t)(sample_random(sample) % limit);
}

static void set_int(struct sample_row *row, unsigned key, int64_t value)
{
    row->kinds[key] = 1 + STA_VALUE_INT;
    row->values[key].integer = value;
}

static int64_t wild_integer(struct sample *sample)
{
    static const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1, INT32_MAX, UINT32_MAX};
    return below(sample, 3) ? (int64_t)sample_random(sample) >> below(sample, 64)
                            : extremes[below(sample, 8)];
}

static void set_wild(struct sample *sample, struct sample_row *row, unsigned key)
{
    enum sta_value_kind kind = below(sample, STA_VALUE_KINDS);
    row->kinds[key] = (uint8_t)(1 + kind);
    if (kind == STA_VALUE_INT)
        row->values[key].integer = wild_integer(sample);
    else if (kind == STA_VALUE_FLOAT)
        row->values[key].number = below(sample, 2) ? (double)below(sample, 1000) / 8 : -DBL_MAX;
    else if (kind == STA_VALUE_BOOL)
        row->values[key].integer = below(sample, 2);
    else
        row->values[key] = (union sta_value){.code = below(sample, TEXTS)};
}

/* Args as traces have them: present by name, constant by name, rising by thread, rare, of several kinds. */
static void make_args(struct sample *sample, struct sample_row *row, const struct sample_shape *shape)
{
    set_int(row, 0, (int64_t)sample->count);
    if (row->name % 3 == 1)
        set_int(row, 1, (int64_t)below(sample, 200) * 4096);
    set_int(row, 2, row->name % 7);
    if (below(sample, 500) == 0)
        set_int(row, 3, (int64_t)sample_random(sample));
    if (row->name % 2 == 0) {
        row->kinds[4] = 1 + STA_VALUE_TEXT;
        row->values[4].code = below(sample, TEXTS);
    }
    if (below(sample, 2)) {
        row->kinds[5] = 1 + STA_VALUE_FLOAT;
        row->values[5].number = (double)below(sample, 100000) / 1000;
    }
    if (below(sample, 3)) {
        row->kinds[6] = 1 + STA_VALUE_BOOL;
        row->values[6].integer = below(sample, 2);
    }
    set_int(row, 7, (int64_t)sample->count / 3 + row->thread);
    if (shape->wild && below(sample, 4))
        set_wild(sample, row, 8);
}

static struct sample_row make_row(struct sample *sample, const struct sample_shape *shape, uint32_t source,
                                  uint32_t place)
{
    struct sample_row row = {.source = source,
                             .first_line = 1 + (uint64_t)(place / shape->chunk_rows) * shape->chunk_rows};
    int64_t us = INT64_C(1700000000000000) + (int64_t)place * 20 + below(sample, 60); /* equal times occur */
    row.ts = us * 1000 + (shape->fractions ? below(sample, 1000) : 0);
    row.dur = below(sample, 20) ? below(sample, 300) * 1000 : below(sample, 100000000) * INT64_C(1000);
    if (shape->fractions)
        row.dur += below(sample, 1000);
    if (shape->wild && below(sample, 50) == 0)
        row.dur = -row.dur;
    row.name = below(sample, shape->wild ? NAMES : 12);
    row.cat = row.name % CATS;
    row.file = below(sample, 4) ? below(sample, FILES) : STA_NO_CODE;
    row.thread = source * 3 % THREADS + below(sample, 3) % THREADS;
    if (shape->wild && below(sample, 30) == 0)
        row.name = STA_NO_CODE;
    if (shape->wild && below(sample, 30) == 0)
        row.cat = STA_NO_CODE;
    row.thread %= THREADS;
    return row;
}

void sample_init(struct sample *sample, const struct sample_shape *shape)
{
    *sample = (struct sample){.random = shape->seed, .source_count = shape->sources};
    sample->paths = sta_alloc_array(shape->sources, sizeof(char *));
    for (uint32_t s = 0; s < shape->sources; s++)
        sample->paths[s] =
            sta_sprintf("rank-%u.pfw", (s * 7 + 3) % shape->sources); /* not in the order of their numbers */
    for (uint32_t s = 0; s < shape->sources; s++)
        for (uint32_t i = 0; i < shape->rows / shape->sources; i++) {
            struct sample_row row = make_row(sample, shape, s, i);
            make_args(sample, &row, shape);
            STA_GROW(sample->rows, sample->capacity, sample->count + 1);
            sample->rows[sample->count++] = row;
        }
}

void sample_fini(struct sample *sample)
{
    for (uint32_t s = 0; s < sample->source_count; s++)
        free(sample->paths[s]);
    free(sample->paths);
    free(sample->rows);
}

/* ---- writing */

static void intern_many(struct sta_dictionary *dictionary, const char *prefix, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%s%u", prefix, i);
        cr_assert_eq(sta_dictionary_intern(dictionary, text, (size_t)length), i);
    }
}

void sample_fill_tables(struct sta_tables *tables)
{
    intern_many(sta_tables_names(tables), "name", NAMES);
    intern_many(sta_tables_cats(tables), "cat", CATS);
    intern_many(sta_tables_file_refs(tables), "h", FILES);
    intern_many(sta_tables_host_refs(tables), "nhost", 2);
    for (uint32_t k = 0; k < SAMPLE_KEYS; k++) {
        char key[16];
        int length = snprintf(key, sizeof key, "key%u", k);
        cr_assert_eq(sta_tables_intern_key(tables, key, (size_t)length), k);
        intern_many(sta_tables_values(tables, k), "text", TEXTS);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        cr_assert_eq(
            sta_tables_intern_thread(tables, (struct sta_thread){.pid = t / 3, .tid = t, .host = t % 2}), t);
}

static struct sta_args_column *args_column(struct sta_batch *batch, uint32_t key)
{
    for (uint32_t a = 0; a < batch->args_count; a++)
        if (batch->args[a].key == key)
            return &batch->args[a];
    STA_GROW(batch->args, batch->args_capacity, batch->args_count + 1);
    batch->args[batch->args_count] = (struct sta_args_column){.key = key};
    return &batch->args[batch->args_count++];
}

static void append_row(struct sta_batch *batch, const struct sample_row *row)
{
    uint32_t at = batch->count++;
    sta_batch_reserve(batch, batch->count);
    if ((row->ts % 1000 != 0 || row->dur % 1000 != 0) && batch->ts_ns == NULL)
        sta_batch_need_fractions(batch);
    int64_t ts_ns = ((row->ts % 1000) + 1000) % 1000, dur_ns = ((row->dur % 1000) + 1000) % 1000;
    batch->ts[at] = (row->ts - ts_ns) / 1000;
    batch->dur[at] = (row->dur - dur_ns) / 1000;
    if (batch->ts_ns != NULL) {
        batch->ts_ns[at] = (uint16_t)ts_ns;
        batch->dur_ns[at] = (uint16_t)dur_ns;
    }
    batch->name[at] = row->name;
    batch->cat[at] = row->cat;
    batch->file[at] = row->file;
    batch->thread[at] = row->thread;
    for (uint32_t k = 0; k < SAMPLE_KEYS; k++) {
        if (row->kinds[k] == 0)
            continue;
        struct sta_args_column *column = args_column(batch, k);
        if (column->count == column->capacity) {
            column->capacity = column->capacity ? column->capacity * 2 : 16;
            column->rows = sta_realloc_array(column->rows, column->capacity, sizeof *column->rows);
            column->kinds = sta_realloc_array(column->kinds, column->capacity, sizeof *column->kinds);
            column->values = sta_realloc_array(column->values, column->capacity, sizeof *column->values);
        }
        column->rows[column->count] = at;
        column->kinds[column->count] = (uint8_t)(row->kinds[k] - 1);
        column->values[column->count++] = row->values[k];
    }
}

static void send(struct sta_writer *writer, unsigned worker, uint32_t number, struct sta_batch *batch)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_writer_add(writer, worker, number, batch, &err), STA_OK, "%s", err.text);
    sta_batch_clear(batch);
}

void sample_write(const struct sample *sample, struct sta_writer *writer, unsigned workers,
                  const bool *wanted)
{
    struct sta_batch batch;
    unsigned worker = 0;
    uint32_t number = 0;
    sta_batch_init(&batch);
    for (size_t i = 0; i < sample->count; i++) {
        const struct sample_row *row = &sample->rows[i];
        if (wanted != NULL && !wanted[row->source])
            continue;
        bool next_chunk = batch.count > 0 && row->first_line != batch.first_line;
        if (i == 0 || row->source != sample->rows[i - 1].source || batch.count == 0 || next_chunk) {
            if (batch.count > 0)
                send(writer, worker++ % workers, number, &batch);
            batch.first_line = row->first_line;
            if (!sta_writer_find_source(writer, sample->paths[row->source], &number))
                number = sta_writer_add_source(writer, sample->paths[row->source]);
        }
        append_row(&batch, row);
    }
    send(writer, worker % workers, number, &batch);
    sta_batch_fini(&batch);
}

/* ---- checking */

struct reading {
    const struct sample *sample;
    const struct sta_snapshot *snapshot;
    const struct sta_block *block;
    int64_t unit, origin; /* nanoseconds */
    size_t ids[STA_BLOCK_ROWS];
    bool *seen;
    struct sta_column_values values;
};

static void read_column(struct reading *reading, uint32_t column)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_block_read(reading->snapshot, reading->block, column, &reading->values, &err), STA_OK,
                 "%s", err.text);
}

static void check_listed(const struct sta_column_stats *stats, uint32_t code)
{
    for (uint32_t i = 0; i < stats->code_count; i++)
        if (stats->codes[i] == code)
            return;
    cr_assert_fail("code %u is not listed", code);
}

static void check_codes(struct reading *reading, uint32_t column, size_t offset)
{
    struct sta_column_stats stats;
    uint32_t missing = 0;
    sta_block_stats(reading->snapshot, reading->block, column, &stats);
    read_column(reading, column);
    for (uint32_t i = 0; i < reading->block->rows; i++) {
        uint32_t expected =
            *(const uint32_t *)((const char *)&reading->sample->rows[reading->ids[i]] + offset);
        uint32_t code = reading->values.kind == STA_KIND_ABSENT ? STA_NO_CODE : reading->values.codes[i];
        cr_assert_eq(code, expected, "column %u row %u: %u is not %u", column, i, code, expected);
        missing += expected == STA_NO_CODE;
        if (expected == STA_NO_CODE)
            continue;
        cr_assert(stats.bounded && stats.min <= expected && expected <= stats.max);
        if (stats.listed)
            check_listed(&stats, expected);
    }
    cr_assert_eq(stats.missing, missing);
}

static void check_args_value(const struct reading *reading, const struct sample_row *row, uint32_t key,
                             uint32_t i)
{
    const struct sta_column_values *values = &reading->values;
    bool missing = values->kind == STA_KIND_ABSENT ||
                   (values->kind == STA_KIND_CODE ? values->codes[i] == STA_NO_CODE
                                                  : values->any_missing && values->missing[i]);
    cr_assert_eq(missing, row->kinds[key] == 0, "key %u row %u", key, i);
    if (missing)
        return;
    enum sta_value_kind kind = row->kinds[key] - 1;
    if (values->kind == STA_KIND_MIXED)
        cr_assert_eq(values->kinds[i], kind);
    if (kind == STA_VALUE_TEXT)
        cr_assert_eq(values->kind == STA_KIND_CODE ? values->codes[i] : (uint32_t)values->integers[i],
                     row->values[key].code);
    else if (values->kind == STA_KIND_FLOAT)
        cr_assert(values->numbers[i] == row->values[key].number);
    else
        cr_assert_eq(values->integers[i], row->values[key].integer);
}

static void check_args(struct reading *reading, uint32_t key)
{
    struct sta_column_stats stats;
    uint32_t missing = 0;
    sta_block_stats(reading->snapshot, reading->block, STA_COLUMN_ARGS + key, &stats);
    read_column(reading, STA_COLUMN_ARGS + key);
    cr_assert_eq(reading->values.kind, stats.kind);
    for (uint32_t i = 0; i < reading->block->rows; i++) {
        const struct sample_row *row = &reading->sample->rows[reading->ids[i]];
        check_args_value(reading, row, key, i);
        missing += row->kinds[key] == 0;
        int64_t value =
            row->kinds[key] == 1 + STA_VALUE_TEXT ? (int64_t)row->values[key].code : row->values[key].integer;
        if (row->kinds[key] != 0 && stats.bounded)
            cr_assert(stats.min <= value && value <= stats.max);
        if (row->kinds[key] != 0 && stats.listed)
            check_listed(&stats, row->values[key].code);
    }
    cr_assert_eq(stats.missing, missing);
}

static void check_times(struct reading *reading)
{
    const struct sta_block *block = reading->block;
    struct sta_column_stats stats;
    int64_t te_max = INT64_MIN;
    int64_t *times = sta_alloc_array(STA_BLOCK_ROWS, sizeof *times);
    read_column(reading, STA_COLUMN_TS);
    memcpy(times, reading->values.integers, block->rows * sizeof *times);
    for (uint32_t i = 0; i < block->rows; i++)
        cr_assert_eq(times[i] * reading->unit, reading->sample->rows[reading->ids[i]].ts - reading->origin);
    cr_assert_eq(times[0], block->ts_min);
    cr_assert_eq(times[block->rows - 1], block->ts_max);
    read_column(reading, STA_COLUMN_DUR);
    sta_block_stats(reading->snapshot, block, STA_COLUMN_DUR, &stats);
    for (uint32_t i = 0; i < block->rows; i++) {
        int64_t dur = reading->values.integers[i];
        cr_assert_eq(dur * reading->unit, reading->sample->rows[reading->ids[i]].dur);
        cr_assert(stats.min <= dur && dur <= stats.max);
        te_max = STA_MAX(te_max, times[i] + dur);
    }
    cr_assert_eq(te_max, block->te_max);
    free(times);
}

/* Equal times: by source path, then line; rows of a sample stand in line order. */
static void check_order(struct reading *reading)
{
    for (uint32_t i = 1; i < reading->block->rows; i++) {
        const struct sample_row *before = &reading->sample->rows[reading->ids[i - 1]],
                                *row = &reading->sample->rows[reading->ids[i]];
        cr_assert_leq(before->ts, row->ts);
        if (before->ts != row->ts)
            continue;
        int order = strcmp(reading->sample->paths[before->source], reading->sample->paths[row->source]);
        cr_assert(order < 0 || (order == 0 && reading->ids[i - 1] < reading->ids[i]));
    }
}

static void check_chunks(struct reading *reading)
{
    size_t count;
    const struct sta_chunk *chunks = sta_snapshot_chunks(reading->snapshot, reading->block->segment, &count);
    read_column(reading, STA_COLUMN_CHUNK);
    for (uint32_t i = 0; i < reading->block->rows; i++) {
        const struct sample_row *row = &reading->sample->rows[reading->ids[i]];
        cr_assert_lt(reading->values.codes[i], count);
        const struct sta_chunk *chunk = &chunks[reading->values.codes[i]];
        cr_assert_eq(chunk->first_line, row->first_line);
        cr_assert_str_eq(sta_snapshot_source(reading->snapshot, chunk->source)->path,
                         reading->sample->paths[row->source]);
    }
}

static void check_block(struct reading *reading)
{
    read_column(reading, STA_COLUMN_ARGS);
    for (uint32_t i = 0; i < reading->block->rows; i++) {
        reading->ids[i] = (size_t)reading->values.integers[i];
        cr_assert_lt(reading->ids[i], reading->sample->count);
        cr_assert(!reading->seen[reading->ids[i]], "row %zu occurs twice", reading->ids[i]);
        reading->seen[reading->ids[i]] = true;
    }
    check_order(reading);
    check_times(reading);
    check_codes(reading, STA_COLUMN_NAME, offsetof(struct sample_row, name));
    check_codes(reading, STA_COLUMN_CAT, offsetof(struct sample_row, cat));
    check_codes(reading, STA_COLUMN_FILE, offsetof(struct sample_row, file));
    check_codes(reading, STA_COLUMN_THREAD, offsetof(struct sample_row, thread));
    check_chunks(reading);
    for (uint32_t k = 0; k < SAMPLE_KEYS; k++)
        check_args(reading, k);
}

void sample_check(const struct sample *sample, const struct sta_snapshot *snapshot, const bool *wanted)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(snapshot);
    struct reading *reading = sta_alloc(sizeof *reading);
    size_t expected = 0;
    int64_t origin = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < sample->count; i++)
        if (wanted == NULL || wanted[sample->rows[i].source]) {
            expected++;
            origin = STA_MIN(origin, sample->rows[i].ts);
            end = STA_MAX(end, sample->rows[i].ts + sample->rows[i].dur);
        }
    cr_assert_eq(info->events, expected);
    cr_assert_eq(info->damaged, 0);
    *reading = (struct reading){
        .sample = sample, .snapshot = snapshot, .unit = info->ticks_per_us == 1 ? 1000 : 1, .origin = origin};
    cr_assert_eq(info->origin_us, origin / 1000);
    cr_assert_eq(info->end_ticks * reading->unit, end - origin);
    reading->seen = sta_alloc_array(sample->count, sizeof *reading->seen);
    reading->values = (struct sta_column_values){.integers = sta_alloc_array(STA_BLOCK_ROWS, sizeof(int64_t)),
                                                 .numbers = sta_alloc_array(STA_BLOCK_ROWS, sizeof(double)),
                                                 .codes = sta_alloc_array(STA_BLOCK_ROWS, sizeof(uint32_t)),
                                                 .kinds = sta_alloc(STA_BLOCK_ROWS),
                                                 .missing = sta_alloc(STA_BLOCK_ROWS)};
    for (size_t b = 0; b < sta_snapshot_block_count(snapshot); b++) {
        reading->block = sta_snapshot_block(snapshot, b);
        check_block(reading);
    }
    for (size_t i = 0; i < sample->count; i++)
        cr_assert_eq(reading->seen[i], wanted == NULL || wanted[sample->rows[i].source], "row %zu", i);
    free(reading->values.integers);
    free(reading->values.numbers);
    free(reading->values.codes);
    free(reading->values.kinds);
    free(reading->values.missing);
    free(reading->seen);
    free(reading);
}

/* ---- scratch stores */

void scratch_open(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    unsigned cleaned;
    snprintf(scratch->folder, sizeof scratch->folder, "/tmp/strata-store-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch->folder));
    cr_assert_eq(sta_store_open(scratch->folder, &scratch->store, &cleaned, &err), STA_OK, "%s", err.text);
    char path[] = "/runs/a", name[] = "a";
    struct sta_trace_entry entry = {.path = path, .name = name, .created_us = 7};
    cr_assert_eq(sta_store_put(scratch->store, &entry, &err), STA_OK, "%s", err.text);
    memcpy(scratch->trace, entry.id, sizeof scratch->trace);
}

unsigned scratch_reopen(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    unsigned cleaned;
    sta_store_close(scratch->store);
    cr_assert_eq(sta_store_open(scratch->folder, &scratch->store, &cleaned, &err), STA_OK, "%s", err.text);
    return cleaned;
}

void scratch_close(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_store_close(scratch->store);
    cr_assert_eq(sta_tree_remove(scratch->folder, &err), STA_OK);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

/* Return: files whose name ends in @suffix; *found: path of the @number-th. */
static unsigned look(const struct scratch_store *scratch, const char *suffix, unsigned number, char **found)
{
    struct dirent **entries;
    char *folder = sta_sprintf("%s/traces/%s", scratch->folder, scratch->trace);
    int count = scandir(folder, &entries, NULL, by_name);
    unsigned matches = 0;
    *found = NULL;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.' && ends_in(entries[i]->d_name, suffix) && matches++ == number)
            *found = sta_path_join(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return matches;
}

char *scratch_file(const struct scratch_store *scratch, const char *suffix, unsigned number)
{
    char *found;
    look(scratch, suffix, number, &found);
    return found;
}

unsigned scratch_file_count(const struct scratch_store *scratch)
{
    char *found;
    unsigned count = look(scratch, "", 0, &found);
    free(found);
    return count;
}

struct sta_writer *scratch_begin(struct scratch_store *scratch, unsigned workers, size_t memory)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer_options options = {.workers = workers, .memory = memory};
    struct sta_writer *writer;
    cr_assert_eq(sta_writer_begin(scratch->store, scratch->trace, NULL, NULL, &options, &writer, &err),
                 STA_OK, "%s", err.text);
    sample_fill_tables(sta_writer_tables(writer));
    return writer;
}

void scratch_publish(struct scratch_store *scratch, const struct sample *sample, unsigned workers,
                     size_t memory)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer = scratch_begin(scratch, workers, memory);
    sample_write(sample, writer, workers, NULL);
    cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
}

struct sta_snapshot *scratch_snapshot(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    cr_assert_eq(sta_snapshot_open(scratch->store, scratch->trace, &snapshot, &err), STA_OK, "%s", err.text);
    return snapshot;
}
