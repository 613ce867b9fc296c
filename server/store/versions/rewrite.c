/* rewrite.c - the rows of a segment whose sources stay, taken as if they had just been decoded.
 *
 * Each block gives one batch per chunk that stays.  Rows of one chunk come in time order instead of line
 * order, which for equal times is the same order; so the new segment says the same about them as the old one
 * did. */
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/versions/writer.h"

struct rewrite {
    struct sta_writer *writer;
    const struct sta_open_segment *open;
    const struct sta_stored_source **source_of_chunk; /* NULL: its rows leave */
    struct sta_batch *batches;                        /* by chunk */
    uint32_t *args_of_key; /* by chunk: column of the key in work, or STA_NO_CODE */
    uint32_t block, rows;
    uint32_t *chunk, *row; /* of each row: its chunk, its number in the chunk's batch */
    struct sta_column_values values;
};

static void rewrite_init(struct rewrite *rewrite, uint32_t chunks)
{
    rewrite->source_of_chunk = sta_alloc_array(chunks, sizeof(struct sta_stored_source *));
    rewrite->batches = sta_alloc_array(chunks, sizeof *rewrite->batches);
    rewrite->args_of_key = sta_alloc_array(chunks, sizeof *rewrite->args_of_key);
    rewrite->chunk = sta_alloc_array(STA_BLOCK_ROWS, sizeof *rewrite->chunk);
    rewrite->row = sta_alloc_array(STA_BLOCK_ROWS, sizeof *rewrite->row);
    rewrite->values.integers = sta_alloc_array(STA_BLOCK_ROWS, sizeof(int64_t));
    rewrite->values.numbers = (double *)rewrite->values.integers;
    rewrite->values.codes = sta_alloc_array(STA_BLOCK_ROWS, sizeof(uint32_t));
    rewrite->values.kinds = sta_alloc_array(STA_BLOCK_ROWS, 1);
    rewrite->values.missing = sta_alloc_array(STA_BLOCK_ROWS, 1);
}

static void rewrite_fini(struct rewrite *rewrite, uint32_t chunks)
{
    for (uint32_t c = 0; c < chunks; c++)
        sta_batch_fini(&rewrite->batches[c]);
    free(rewrite->source_of_chunk);
    free(rewrite->batches);
    free(rewrite->args_of_key);
    free(rewrite->chunk);
    free(rewrite->row);
    free(rewrite->values.integers);
    free(rewrite->values.codes);
    free(rewrite->values.kinds);
    free(rewrite->values.missing);
}

static int read_column(struct rewrite *rewrite, uint32_t column, struct sta_error *err)
{
    return sta_segment_read(&rewrite->open->segment, rewrite->block, column, &rewrite->values, err);
}

/* The batch of a row's chunk, or NULL when the row leaves. */
static struct sta_batch *batch_of(struct rewrite *rewrite, uint32_t i)
{
    uint32_t chunk = rewrite->chunk[i];
    return rewrite->source_of_chunk[chunk] != NULL ? &rewrite->batches[chunk] : NULL;
}

static int share_out_rows(struct rewrite *rewrite, struct sta_error *err)
{
    int status = read_column(rewrite, STA_COLUMN_CHUNK, err);
    if (status != STA_OK)
        return status;
    memcpy(rewrite->chunk, rewrite->values.codes, rewrite->rows * sizeof *rewrite->chunk);
    for (uint32_t i = 0; i < rewrite->rows; i++) {
        struct sta_batch *batch = batch_of(rewrite, i);
        if (batch == NULL)
            continue;
        sta_batch_reserve(batch, batch->count + 1);
        rewrite->row[i] = batch->count++;
    }
    return STA_OK;
}

/* Ticks to microseconds and, in a segment that has them, nanoseconds. */
static void put_time(const struct rewrite *rewrite, int64_t ticks, int64_t *us, uint16_t *ns)
{
    int64_t unit = rewrite->open->segment.header.ticks_per_us, rest = ticks % unit;
    if (rest < 0)
        rest += unit;
    *us = (ticks - rest) / unit;
    if (ns != NULL)
        *ns = (uint16_t)rest;
}

static int copy_times(struct rewrite *rewrite, struct sta_error *err)
{
    bool fractions = rewrite->open->segment.header.ticks_per_us > 1;
    for (uint32_t c = 0; fractions && c < rewrite->open->segment.header.chunk_count; c++)
        sta_batch_need_fractions(&rewrite->batches[c]);
    int status = read_column(rewrite, STA_COLUMN_TS, err);
    for (uint32_t i = 0; status == STA_OK && i < rewrite->rows; i++) {
        struct sta_batch *batch = batch_of(rewrite, i);
        uint32_t row = rewrite->row[i];
        if (batch != NULL)
            put_time(rewrite, rewrite->values.integers[i], &batch->ts[row],
                     batch->ts_ns ? &batch->ts_ns[row] : NULL);
    }
    if (status == STA_OK)
        status = read_column(rewrite, STA_COLUMN_DUR, err);
    for (uint32_t i = 0; status == STA_OK && i < rewrite->rows; i++) {
        struct sta_batch *batch = batch_of(rewrite, i);
        uint32_t row = rewrite->row[i];
        if (batch != NULL)
            put_time(rewrite, rewrite->values.integers[i], &batch->dur[row],
                     batch->dur_ns ? &batch->dur_ns[row] : NULL);
    }
    return status;
}

static const struct {
    enum sta_column_id column;
    size_t offset;
} code_columns[] = {
    {STA_COLUMN_NAME, offsetof(struct sta_batch, name)},
    {STA_COLUMN_CAT, offsetof(struct sta_batch, cat)},
    {STA_COLUMN_FILE, offsetof(struct sta_batch, file)},
    {STA_COLUMN_THREAD, offsetof(struct sta_batch, thread)},
};

static int copy_codes(struct rewrite *rewrite, struct sta_error *err)
{
    int status = STA_OK;
    for (size_t c = 0; c < STA_COUNT_OF(code_columns) && status == STA_OK; c++) {
        status = read_column(rewrite, code_columns[c].column, err);
        for (uint32_t i = 0; status == STA_OK && i < rewrite->rows; i++) {
            struct sta_batch *batch = batch_of(rewrite, i);
            if (batch == NULL)
                continue;
            uint32_t *codes = *(uint32_t *const *)((const char *)batch + code_columns[c].offset);
            codes[rewrite->row[i]] =
                rewrite->values.kind == STA_KIND_ABSENT ? STA_NO_CODE : rewrite->values.codes[i];
        }
    }
    return status;
}

/* Value of row i of the column just read.  Return: false when it is missing. */
static bool value_at(const struct rewrite *rewrite, uint32_t i, enum sta_value_kind *kind,
                     union sta_value *value)
{
    const struct sta_column_values *values = &rewrite->values;
    switch (values->kind) {
    case STA_KIND_CODE:
        *kind = STA_VALUE_TEXT;
        value->code = values->codes[i];
        return value->code != STA_NO_CODE;
    case STA_KIND_FLOAT:
        *kind = STA_VALUE_FLOAT;
        value->number = values->numbers[i];
        break;
    case STA_KIND_MIXED:
        *kind = values->kinds[i];
        if (*kind == STA_VALUE_TEXT)
            value->code = (uint32_t)values->integers[i];
        else
            value->integer = values->integers[i];
        break;
    default:
        *kind = values->kind == STA_KIND_BOOL ? STA_VALUE_BOOL : STA_VALUE_INT;
        value->integer = values->integers[i];
        break;
    }
    return !values->any_missing || !values->missing[i];
}

static struct sta_args_column *args_column(struct rewrite *rewrite, uint32_t chunk, uint32_t key)
{
    struct sta_batch *batch = &rewrite->batches[chunk];
    if (rewrite->args_of_key[chunk] == STA_NO_CODE) {
        STA_GROW(batch->args, batch->args_capacity, batch->args_count + 1);
        rewrite->args_of_key[chunk] = batch->args_count;
        batch->args[batch->args_count++] = (struct sta_args_column){.key = key};
    }
    return &batch->args[rewrite->args_of_key[chunk]];
}

static void append_value(struct sta_args_column *column, uint32_t row, enum sta_value_kind kind,
                         union sta_value value)
{
    if (column->count == column->capacity) {
        column->capacity = column->capacity ? column->capacity * 2 : 64;
        column->rows = sta_realloc_array(column->rows, column->capacity, sizeof *column->rows);
        column->kinds = sta_realloc_array(column->kinds, column->capacity, sizeof *column->kinds);
        column->values = sta_realloc_array(column->values, column->capacity, sizeof *column->values);
    }
    column->rows[column->count] = row;
    column->kinds[column->count] = (uint8_t)kind;
    column->values[column->count++] = value;
}

static int copy_args(struct rewrite *rewrite, struct sta_error *err)
{
    const struct sta_segment *segment = &rewrite->open->segment;
    const struct sta_disk_block *block = &segment->blocks[rewrite->block];
    for (uint32_t e = 0; e < block->entry_count; e++) {
        uint32_t column = segment->entries[block->first_entry + e].column;
        if (column < STA_COLUMN_ARGS)
            continue;
        int status = read_column(rewrite, column, err);
        if (status != STA_OK)
            return status;
        memset(rewrite->args_of_key, 0xff, segment->header.chunk_count * sizeof *rewrite->args_of_key);
        for (uint32_t i = 0; i < rewrite->rows; i++) {
            enum sta_value_kind kind;
            union sta_value value = {0};
            if (batch_of(rewrite, i) != NULL && value_at(rewrite, i, &kind, &value))
                append_value(args_column(rewrite, rewrite->chunk[i], column - STA_COLUMN_ARGS),
                             rewrite->row[i], kind, value);
        }
    }
    return STA_OK;
}

static int rewrite_block(struct rewrite *rewrite, struct sta_error *err)
{
    int status = share_out_rows(rewrite, err);
    if (status == STA_OK)
        status = copy_times(rewrite, err);
    if (status == STA_OK)
        status = copy_codes(rewrite, err);
    if (status == STA_OK)
        status = copy_args(rewrite, err);
    for (uint32_t c = 0; c < rewrite->open->segment.header.chunk_count && status == STA_OK; c++) {
        if (rewrite->batches[c].count == 0)
            continue;
        rewrite->batches[c].first_line = rewrite->open->chunks[c].first_line;
        status = sta_writer_take(rewrite->writer, 0, rewrite->source_of_chunk[c], &rewrite->batches[c], err);
        sta_batch_fini(&rewrite->batches[c]);
    }
    return status;
}

static const struct sta_stored_source *kept_source(const struct sta_writer *writer, uint32_t id)
{
    for (size_t i = 0; i < writer->source_count; i++)
        if (writer->sources[i]->id == id)
            return writer->sources[i];
    return NULL;
}

static void find_kept(struct rewrite *rewrite, const bool *drop)
{
    const struct sta_segment *from = &rewrite->open->segment;
    for (uint32_t c = 0; c < from->header.chunk_count; c++)
        if (!drop[rewrite->open->chunks[c].source])
            rewrite->source_of_chunk[c] = kept_source(rewrite->writer, from->chunks[c].source);
}

int sta_writer_rewrite(struct sta_writer *writer, const struct sta_snapshot *base, uint32_t segment,
                       const bool *drop, struct sta_error *err)
{
    struct rewrite rewrite = {.writer = writer, .open = &base->segments[segment]};
    const struct sta_segment *from = &rewrite.open->segment;
    int status = STA_OK;
    rewrite_init(&rewrite, from->header.chunk_count);
    find_kept(&rewrite, drop);
    for (uint32_t b = 0; b < from->header.block_count && status == STA_OK; b++) {
        rewrite.block = b;
        rewrite.rows = from->blocks[b].rows;
        status = writer->cancel != NULL && atomic_load(writer->cancel)
                     ? sta_fail(err, STA_ECANCELLED, "cancelled")
                     : rewrite_block(&rewrite, err);
    }
    rewrite_fini(&rewrite, from->header.chunk_count);
    return status;
}

/* ---- kinds */

/* Of a column whose values are of one kind, and whose rows all stay, the entry says it. */
static unsigned kinds_of_entry(const struct sta_disk_entry *entry)
{
    static const unsigned kinds[] = {[STA_KIND_INT] = 1U << STA_VALUE_INT,
                                     [STA_KIND_FLOAT] = 1U << STA_VALUE_FLOAT,
                                     [STA_KIND_BOOL] = 1U << STA_VALUE_BOOL,
                                     [STA_KIND_CODE] = 1U << STA_VALUE_TEXT,
                                     [STA_KIND_MIXED] = 0};
    return kinds[entry->kind];
}

static unsigned kinds_of_rows(struct rewrite *rewrite)
{
    unsigned kinds = 0;
    for (uint32_t i = 0; i < rewrite->rows; i++) {
        enum sta_value_kind kind;
        union sta_value unused;
        if (rewrite->source_of_chunk[rewrite->chunk[i]] != NULL && value_at(rewrite, i, &kind, &unused))
            kinds |= 1U << kind;
    }
    return kinds;
}

static int note_block_kinds(struct rewrite *rewrite, bool all_stay, struct sta_error *err)
{
    const struct sta_segment *segment = &rewrite->open->segment;
    const struct sta_disk_block *block = &segment->blocks[rewrite->block];
    int status = all_stay ? STA_OK : read_column(rewrite, STA_COLUMN_CHUNK, err);
    if (status == STA_OK && !all_stay) /* else any chunk does */
        memcpy(rewrite->chunk, rewrite->values.codes, rewrite->rows * sizeof *rewrite->chunk);
    for (uint32_t e = 0; e < block->entry_count && status == STA_OK; e++) {
        const struct sta_disk_entry *entry = &segment->entries[block->first_entry + e];
        if (entry->column < STA_COLUMN_ARGS)
            continue;
        unsigned kinds = all_stay ? kinds_of_entry(entry) : 0;
        if (kinds == 0) {
            status = read_column(rewrite, entry->column, err);
            kinds = status == STA_OK ? kinds_of_rows(rewrite) : 0;
        }
        sta_tables_note_kinds(rewrite->writer->tables, entry->column - STA_COLUMN_ARGS, kinds);
    }
    return status;
}

int sta_writer_note_kinds(struct sta_writer *writer, const struct sta_snapshot *base, uint32_t segment,
                          const bool *drop, struct sta_error *err)
{
    struct rewrite rewrite = {.writer = writer, .open = &base->segments[segment]};
    const struct sta_segment *from = &rewrite.open->segment;
    int status = STA_OK;
    rewrite_init(&rewrite, from->header.chunk_count);
    find_kept(&rewrite, drop);
    bool all_stay = true;
    for (uint32_t c = 0; c < from->header.chunk_count; c++)
        all_stay &= rewrite.source_of_chunk[c] != NULL;
    for (uint32_t b = 0; b < from->header.block_count && status == STA_OK; b++) {
        rewrite.block = b;
        rewrite.rows = from->blocks[b].rows;
        status = note_block_kinds(&rewrite, all_stay, err);
    }
    rewrite_fini(&rewrite, from->header.chunk_count);
    return status;
}
