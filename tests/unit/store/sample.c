/* sample.c - see sample.h. */
#include "sample.h"

#include <criterion/criterion.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
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
    if (below(sample, 3) == 0)
        return extremes[below(sample, 8)];
    int64_t value = (int64_t)sample_random(sample);
    return value >> below(sample, 64);
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

/* By the workers from @worker up to before @end, in turn. */
static void write_rows(const struct sample *sample, struct sta_writer *writer, unsigned worker, unsigned end,
                       const bool *wanted)
{
    struct sta_batch batch;
    unsigned first = worker;
    uint32_t number = 0;
    sta_batch_init(&batch);
    for (size_t i = 0; i < sample->count; i++) {
        const struct sample_row *row = &sample->rows[i];
        if (wanted != NULL && !wanted[row->source])
            continue;
        bool next_chunk = batch.count > 0 && row->first_line != batch.first_line;
        if (i == 0 || row->source != sample->rows[i - 1].source || batch.count == 0 || next_chunk) {
            if (batch.count > 0)
                send(writer, worker, number, &batch);
            worker = worker + 1 < end ? worker + 1 : first;
            batch.first_line = row->first_line;
            if (!sta_writer_find_source(writer, sample->paths[row->source], &number))
                number = sta_writer_add_source(writer, sample->paths[row->source]);
        }
        append_row(&batch, row);
    }
    send(writer, worker, number, &batch);
    sta_batch_fini(&batch);
}

void sample_write(const struct sample *sample, struct sta_writer *writer, unsigned workers,
                  const bool *wanted)
{
    write_rows(sample, writer, 0, workers, wanted);
}

void sample_write_by(const struct sample *sample, struct sta_writer *writer, unsigned worker,
                     const bool *wanted)
{
    write_rows(sample, writer, worker, worker + 1, wanted);
}
