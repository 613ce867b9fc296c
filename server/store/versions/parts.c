/* parts.c - a version that several processes write: each seals segments of its own, one of them names them
 * all and publishes.
 *
 * DESIGN.  A part is a writer without sources, tables and manifest of its own.  What it seals has the codes,
 * the ids of sources and the numbers of files that the publisher gave, so that segments of parts are no
 * others than those of a single process. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "store/versions/journal.h"

int sta_part_begin(struct sta_store *store, const char *trace, const struct sta_part_options *options,
                   struct sta_writer **part, struct sta_error *err)
{
    const struct sta_writer_options own = {.workers = options->workers,
                                           .memory = options->memory,
                                           .cancel = options->cancel,
                                           .account = options->account};
    pthread_mutex_lock(&store->lock);
    if (sta_store_trace(store, trace) == NULL) {
        struct sta_trace_entry entry = {0};
        memcpy(entry.id, trace, STA_TRACE_ID_SIZE);
        sta_store_know(store, &entry);
    }
    pthread_mutex_unlock(&store->lock);
    int status = sta_writer_open(store, trace, NULL, &own, part, err);
    if (status != STA_OK)
        return sta_error_wrap(err, "cannot write a part of trace %s", trace);
    (*part)->part = options;
    (*part)->next_file = options->first_file;
    return STA_OK;
}

uint32_t sta_part_add_source(struct sta_writer *part, const char *path, uint32_t id)
{
    part->next_source = id;
    return sta_writer_add_source(part, path);
}

static void put_content(struct sta_buffer *report, struct sta_buffer *content)
{
    report->failed |= content->failed;
    sta_put_block(report, content->data, content->size);
    sta_buffer_clear(content);
}

static int put_report(struct sta_writer *part, struct sta_buffer *report, struct sta_error *err)
{
    struct sta_buffer content = {0};
    sta_manifest_put(&content, &part->manifest);
    put_content(report, &content);
    sta_sources_put(&content, part->sources, part->source_count);
    put_content(report, &content);
    sta_tables_put(&content, part->part->tables);
    put_content(report, &content);
    sta_buffer_fini(&content);
    return report->failed ? sta_fail(err, STA_ENOMEM, "no memory for what a part has written") : STA_OK;
}

int sta_part_seal(struct sta_writer *part, struct sta_error *err)
{
    int status = sta_tables_failure(part->part->tables, err);
    if (status == STA_OK)
        status = sta_writer_seal_all(part, err);
    if (status == STA_OK && part->next_file - part->part->first_file > part->part->files)
        status =
            sta_fail(err, STA_ELIMIT, "a part has more files than were provided for: memory is too small");
    sta_writer_end_rows(part);
    return status;
}

int sta_part_end(struct sta_writer *part, struct sta_buffer *report, struct sta_error *err)
{
    int status = sta_writer_sync_files(part, err);
    if (status == STA_OK)
        status = put_report(part, report, err);
    if (status == STA_OK)
        sta_writer_end(part);
    else
        sta_writer_abort(part);
    return status;
}

/* ---- the publisher */

uint32_t sta_writer_take_files(struct sta_writer *writer, uint32_t count)
{
    pthread_mutex_lock(&writer->lock);
    const uint32_t first = writer->next_file;
    writer->next_file += count;
    pthread_mutex_unlock(&writer->lock);
    return first;
}

uint32_t sta_writer_source_id(struct sta_writer *writer, uint32_t number)
{
    pthread_mutex_lock(&writer->lock);
    const uint32_t id = writer->sources[number]->id;
    pthread_mutex_unlock(&writer->lock);
    return id;
}

void sta_writer_adopt_file(struct sta_writer *writer, enum sta_file_kind kind, uint32_t number)
{
    pthread_mutex_lock(&writer->lock);
    STA_GROW(writer->made, writer->made_capacity, writer->made_count + 1);
    writer->made[writer->made_count++] =
        (struct sta_made_file){.path = sta_trace_file(writer->folder, kind, number), .fd = -1};
    pthread_mutex_unlock(&writer->lock);
}

static void adopt_files(struct sta_writer *writer, const struct sta_manifest *manifest)
{
    for (size_t i = 0; i < manifest->segment_count; i++) {
        sta_writer_adopt_file(writer, STA_FILE_SEGMENT, manifest->segments[i].file);
        sta_writer_name_segment(writer, manifest->segments[i]);
    }
    for (size_t i = 0; i < manifest->counters_count; i++) {
        sta_writer_adopt_file(writer, STA_FILE_COUNTERS, manifest->counters[i]);
        sta_writer_note_counters(writer, manifest->counters[i]);
    }
}

/* A range of a file ends where another goes on, inside the file's last line, or where that is damaged;
 * nothing is known of the content of one that could not be read. */
static int join_source(struct sta_source *source, const struct sta_source *range, struct sta_error *err)
{
    if (range->state != STA_SOURCE_COMPLETE && range->fingerprint == 0)
        return sta_fail(err, STA_EOUTDATED, "%s %s", range->path, range->reason);
    sta_source_join(source, range);
    return STA_OK;
}

static void note_range(struct sta_writer *writer, uint32_t source, const struct sta_source_range *range)
{
    pthread_mutex_lock(&writer->lock);
    STA_GROW(writer->ranges, writer->range_capacity, writer->range_count + 1);
    writer->ranges[writer->range_count++] = (struct sta_read_range){source, *range};
    pthread_mutex_unlock(&writer->lock);
}

static int by_begin(const void *a, const void *b)
{
    const struct sta_source_range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

size_t sta_writer_ranges(struct sta_writer *writer, uint32_t number, struct sta_source_range **ranges)
{
    size_t count = 0;
    pthread_mutex_lock(&writer->lock);
    *ranges = sta_alloc_array(writer->range_count, sizeof **ranges);
    for (size_t i = 0; i < writer->range_count; i++)
        if (writer->ranges[i].source == number)
            (*ranges)[count++] = writer->ranges[i].range;
    pthread_mutex_unlock(&writer->lock);
    if (count > 0)
        qsort(*ranges, count, sizeof **ranges, by_begin);
    return count;
}

bool sta_writer_lacks(struct sta_writer *writer, const char *path, const struct sta_source_range *range)
{
    uint32_t number;
    struct sta_source_range *read;
    if (!sta_writer_find_source(writer, path, &number))
        return true;
    const size_t count = sta_writer_ranges(writer, number, &read);
    bool lacks = range != NULL && count > 0;
    for (size_t i = 0; i < count && lacks; i++)
        lacks = range->end <= read[i].begin || range->begin >= read[i].end;
    free(read);
    return lacks;
}

/* What became of the lines of a source. */
static int adopt_source(struct sta_writer *writer, const struct sta_stored_source *from,
                        const struct sta_source_range *range, struct sta_error *err)
{
    uint32_t number;
    if (!sta_writer_find_source(writer, from->source.path, &number))
        return STA_OK;
    struct sta_source *source = sta_writer_source(writer, number);
    if (range != NULL) {
        note_range(writer, number, range);
        return join_source(source, &from->source, err);
    }
    sta_source_fini(source);
    sta_source_copy(source, &from->source);
    return STA_OK;
}

static int adopt_sources(struct sta_writer *writer, const char *bytes, size_t size,
                         const struct sta_source_range *range, struct sta_error *err)
{
    struct sta_stored_source **sources;
    size_t count;
    int status = sta_sources_get(bytes, size, &sources, &count, err);
    if (status != STA_OK)
        return status;
    for (size_t i = 0; i < count && status == STA_OK; i++)
        status = adopt_source(writer, sources[i], range, err);
    sta_stored_sources_free(sources, count);
    return status;
}

struct defining {
    struct sta_tables *into;
    enum sta_definition_kind kind;
};

static void define(void *context, const char *key, size_t key_length, const struct sta_definition *definition)
{
    const struct defining *defining = context;
    sta_tables_define(defining->into, defining->kind, key, key_length, definition);
}

/* Definitions, and which kinds of values args have: the texts that rows use are there already. */
static int adopt_tables(struct sta_writer *writer, const char *bytes, size_t size, struct sta_error *err)
{
    struct sta_tables *tables;
    int status = sta_tables_get(bytes, size, NULL, NULL, writer->account, &tables, err);
    if (status != STA_OK)
        return status;
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        struct defining defining = {writer->tables, (enum sta_definition_kind)kind};
        sta_tables_each_definition(tables, defining.kind, define, &defining);
    }
    for (uint32_t key = 0; key < sta_dictionary_count(sta_tables_keys(tables)); key++) {
        const struct sta_text text = sta_dictionary_text(sta_tables_keys(tables), key);
        const uint32_t code = sta_tables_intern_key(writer->tables, text.bytes, text.length);
        if (code != STA_NO_CODE)
            sta_tables_note_kinds(writer->tables, code, sta_tables_kinds(tables, key));
    }
    sta_tables_destroy(tables);
    return sta_tables_failure(writer->tables, err);
}

int sta_writer_adopt_report(struct sta_writer *writer, struct sta_cursor *report,
                            const struct sta_source_range *range, struct sta_error *err)
{
    struct sta_manifest manifest;
    size_t sizes[3];
    const char *contents[3];
    for (size_t i = 0; i < STA_COUNT_OF(contents); i++)
        contents[i] = sta_get_block(report, &sizes[i]);
    if (report->failed)
        return sta_fail(err, STA_ECORRUPT, "what another process says of its part makes no sense");
    int status = sta_manifest_get(contents[0], sizes[0], &manifest, err);
    if (status != STA_OK)
        return status;
    adopt_files(writer, &manifest);
    sta_manifest_fini(&manifest);
    status = adopt_sources(writer, contents[1], sizes[1], range, err);
    return status == STA_OK ? adopt_tables(writer, contents[2], sizes[2], err) : status;
}

int sta_writer_adopt(struct sta_writer *writer, struct sta_cursor *report,
                     const struct sta_source_range *range, struct sta_error *err)
{
    const unsigned char *begin = report->at;
    int status = sta_writer_adopt_report(writer, report, range, err);
    return status == STA_OK ? sta_journal_append(writer, begin, (size_t)(report->at - begin), range, err)
                            : status;
}
