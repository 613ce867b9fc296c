/* Runs: streams of bytes in a spill file, and what is written to them. */
#include "analyse/operators/aggregate/run.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define TABLE_BUFFER ((size_t)64 << 10)

void sta_run_destroy(struct sta_group_run *run)
{
    if (run == NULL)
        return;
    for (size_t l = 0; l < run->shape->list_count; l++)
        free(run->lists[l].pieces);
    free(run->lists);
    free(run->records.pieces);
    free(run);
}

/* ---- streams */

static int flush(struct sta_stream_writer *writer, struct sta_error *err)
{
    struct sta_run_stream *stream = writer->stream;
    uint64_t offset = sta_spill_size(writer->spill);
    if (writer->used == 0)
        return STA_OK;
    int rc = sta_spill_write(writer->spill, writer->bytes, writer->used, err);
    if (rc != 0)
        return rc;
    struct sta_stream_piece *last = stream->count > 0 ? &stream->pieces[stream->count - 1] : NULL;
    if (last != NULL && last->offset + last->size == offset) {
        last->size += writer->used;
    } else {
        STA_GROW(stream->pieces, stream->capacity, stream->count + 1);
        stream->pieces[stream->count++] = (struct sta_stream_piece){offset, writer->used};
    }
    writer->used = 0;
    return STA_OK;
}

static int put(struct sta_stream_writer *writer, const void *bytes, size_t size, struct sta_error *err)
{
    if (writer->bytes == NULL)
        writer->bytes = sta_alloc(writer->capacity);
    while (size > 0) {
        size_t part = STA_MIN(size, writer->capacity - writer->used);
        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
        bytes = (const uint8_t *)bytes + part;
        size -= part;
        int rc = writer->used == writer->capacity ? flush(writer, err) : STA_OK;
        if (rc != 0)
            return rc;
    }
    return STA_OK;
}

void sta_stream_reader_init(struct sta_stream_reader *reader, const struct sta_spill *spill,
                            const struct sta_run_stream *stream, size_t capacity)
{
    *reader = (struct sta_stream_reader){.spill = spill, .stream = stream, .capacity = capacity};
    if (stream->count > 0)
        reader->bytes = sta_alloc(capacity);
}

void sta_stream_reader_fini(struct sta_stream_reader *reader)
{
    free(reader->bytes);
    *reader = (struct sta_stream_reader){0};
}

int sta_stream_reader_fill(struct sta_stream_reader *reader, size_t need, struct sta_error *err)
{
    if (reader->used - reader->at >= need)
        return STA_OK;
    STA_ASSERT(need <= reader->capacity);
    memmove(reader->bytes, reader->bytes + reader->at, reader->used - reader->at);
    reader->used -= reader->at;
    reader->at = 0;
    while (reader->used < reader->capacity && reader->piece < reader->stream->count) {
        const struct sta_stream_piece *piece = &reader->stream->pieces[reader->piece];
        size_t part = STA_MIN(reader->capacity - reader->used, (size_t)(piece->size - reader->inside));
        int rc = sta_spill_read(reader->spill, piece->offset + reader->inside, reader->bytes + reader->used,
                                part, err);
        if (rc != 0)
            return rc;
        reader->used += part;
        reader->inside += part;
        if (reader->inside == piece->size) {
            reader->piece++;
            reader->inside = 0;
        }
    }
    return STA_OK;
}

/* ---- groups */

void sta_run_writer_init(struct sta_run_writer *writer, const struct sta_shape *shape,
                         const struct sta_key_layout *layout, bool ordered, struct sta_spill *spill,
                         size_t buffer)
{
    struct sta_group_run *run = sta_alloc(sizeof *run);
    run->shape = shape;
    run->spill = spill;
    run->layout = *layout;
    run->ordered = ordered;
    run->lists = sta_alloc_array(shape->list_count, sizeof *run->lists);
    *writer = (struct sta_run_writer){.run = run, .list_count = shape->list_count};
    writer->records = (struct sta_stream_writer){.spill = spill, .stream = &run->records, .capacity = buffer};
    writer->lists = sta_alloc_array(shape->list_count, sizeof *writer->lists);
    writer->counts = sta_alloc_array(shape->list_count, sizeof *writer->counts);
    for (size_t l = 0; l < shape->list_count; l++)
        writer->lists[l] =
            (struct sta_stream_writer){.spill = spill, .stream = &run->lists[l], .capacity = buffer};
}

/* The numbers of texts in place of their ranks. */
static int put_ranked(struct sta_stream_writer *writer, const struct sta_ranks *ranks, const uint64_t *words,
                      size_t count, struct sta_error *err)
{
    int rc = STA_OK;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = put(writer, &ranks->numbers[words[i]], sizeof *ranks->numbers, err);
    return rc;
}

int sta_run_writer_add_values(struct sta_run_writer *writer, const struct sta_group_order *order, size_t list,
                              const uint64_t *words, size_t count, struct sta_error *err)
{
    const struct sta_list_shape *shape = &writer->run->shape->lists[list];
    writer->counts[list] += count;
    if (count == 0)
        return STA_OK;
    return shape->texts != NULL
               ? put_ranked(&writer->lists[list], &order->list_ranks[list], words, count, err)
               : put(&writer->lists[list], words, count * sta_list_width(shape) * sizeof *words, err);
}

int sta_run_writer_add_group(struct sta_run_writer *writer, const uint64_t *words, const uint8_t *record,
                             struct sta_error *err)
{
    const struct sta_shape *shape = writer->run->shape;
    int rc = put(&writer->records, words, writer->run->layout.words * sizeof *words, err);
    if (rc == 0)
        rc = put(&writer->records, record, shape->record, err);
    if (rc == 0)
        rc = put(&writer->records, writer->counts, shape->list_count * sizeof *writer->counts, err);
    memset(writer->counts, 0, shape->list_count * sizeof *writer->counts);
    return rc;
}

int sta_run_writer_finish(struct sta_run_writer *writer, struct sta_group_run **run, struct sta_error *err)
{
    int rc = flush(&writer->records, err);
    for (size_t l = 0; rc == 0 && l < writer->run->shape->list_count; l++)
        rc = flush(&writer->lists[l], err);
    if (rc != 0)
        return rc;
    *run = writer->run;
    writer->run = NULL;
    return STA_OK;
}

void sta_run_writer_fini(struct sta_run_writer *writer)
{
    for (size_t l = 0; l < writer->list_count; l++)
        free(writer->lists[l].bytes);
    free(writer->lists);
    free(writer->records.bytes);
    free(writer->counts);
    sta_run_destroy(writer->run);
}

/* ---- tables */

static int write_list(struct sta_run_writer *writer, const struct sta_sorted_table *sorted,
                      const struct sta_group_order *order, size_t list, uint32_t place, struct sta_error *err)
{
    const struct sta_sorted_list *values = &sorted->lists[list];
    const size_t first = values->offsets[place];
    return sta_run_writer_add_values(writer, order, list, values->words + first * values->width,
                                     values->offsets[place + 1] - first, err);
}

static int write_places(struct sta_run_writer *writer, const struct sta_sorted_table *sorted,
                        const struct sta_group_order *order, struct sta_error *err)
{
    const struct sta_group_table *table = sorted->table;
    int rc = STA_OK;
    for (uint32_t p = 0; rc == 0 && p < sorted->count; p++) {
        uint32_t group = sta_sorted_group(sorted, p);
        for (size_t l = 0; rc == 0 && l < table->shape->list_count; l++)
            rc = write_list(writer, sorted, order, l, p, err);
        if (rc == 0)
            rc = sta_run_writer_add_group(writer, sta_group_key(table, group), sta_group_states(table, group),
                                          err);
    }
    return rc;
}

int sta_run_write_table(struct sta_group_table *table, const struct sta_budget *budget,
                        struct sta_spill *spill, struct sta_group_run **run, struct sta_error *err)
{
    struct sta_group_order order;
    struct sta_sorted_table sorted;
    struct sta_run_writer writer;
    struct sta_key_range ranges[STA_MOST_KEY_FIELDS] = {0};
    int rc = sta_group_order_init(&order, table->shape, err);
    if (rc == 0) {
        sta_group_order_survey(&order, table, ranges);
        rc = sta_group_order_finalize(&order, ranges, budget, err);
    }
    if (rc != 0) {
        sta_group_order_fini(&order);
        return rc;
    }
    sta_run_writer_init(&writer, table->shape, &table->layout, false, spill, TABLE_BUFFER);
    memcpy(writer.run->ranges, ranges, sizeof ranges);
    rc = sta_sorted_table_init(&sorted, table, &order, err);
    if (rc == 0)
        rc = write_places(&writer, &sorted, &order, err);
    if (rc == 0)
        rc = sta_run_writer_finish(&writer, run, err);
    sta_sorted_table_fini(&sorted);
    sta_run_writer_fini(&writer);
    sta_group_order_fini(&order);
    return rc;
}
