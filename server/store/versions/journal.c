/* journal.c - an ingest that parts are written for, so that what they gave outlives a crash.
 *
 * DESIGN.  A row of envelopes behind each other: the first says which version the writer went on from, each
 * other one what a part gave and what has come into the tables until then.  Codes, ids of sources and numbers
 * of files are those of the crashed run, so the segments of parts stay as they are.  A record that is cut off
 * or damaged ends it. */
#include "store/versions/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/account.h"
#include "common/memory.h"
#include "store/format/segment.h"

#define FORM 2 /* of the records; the first one had no ranges, and did not say so */

static const char WHAT[] = "a record of the journal of an ingest";

/* A journal as a crash left it, of which one record at a time is in memory. */
struct journal {
    uint32_t number;
    char *path;
    int fd;
    size_t size;
    uint64_t last, base;         /* versions: published; gone on from.  0: none */
    size_t at;                   /* of the next record */
    struct sta_account *account; /* records are charged to it; NULL: not counted */
};

struct record {
    char *content; /* NULL: there is none that is whole */
    size_t size;
};

static void record_fini(const struct journal *journal, struct record *record)
{
    if (record->content != NULL)
        sta_account_release(journal->account, record->size);
    free(record->content);
}

static bool read_at(const struct journal *journal, size_t at, void *bytes, size_t size)
{
    size_t got = 0;
    while (got < size) {
        const ssize_t n = pread(journal->fd, (char *)bytes + got, size - got, (off_t)(at + got));
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Return: 0, also when there is none; what a charge returns. */
static int next_record(struct journal *journal, struct record *record, struct sta_error *err)
{
    struct sta_disk_envelope header;
    struct sta_error ignored = STA_ERROR_INIT;
    const size_t left = journal->size - journal->at;
    *record = (struct record){0};
    if (left < sizeof header || !read_at(journal, journal->at, &header, sizeof header) ||
        header.stored_size > left - sizeof header)
        return STA_OK;
    const size_t whole = sizeof header + header.stored_size;
    char *bytes = sta_account_alloc(journal->account, whole, 1, WHAT, err);
    if (bytes == NULL)
        return err->status;
    int status = STA_OK;
    if (read_at(journal, journal->at, bytes, whole) &&
        sta_envelope_get(bytes, whole, STA_ENVELOPE_JOURNAL, &record->content, &record->size, &ignored) ==
            STA_OK)
        status = sta_account_charge(journal->account, record->size, WHAT, err);
    sta_account_free(journal->account, bytes);
    if (status == STA_OK && record->content != NULL)
        journal->at += whole;
    if (status != STA_OK)
        free(record->content);
    return status;
}

static struct sta_cursor cursor_of(const struct record *record)
{
    const unsigned char *begin = (const unsigned char *)record->content;
    return (struct sta_cursor){.at = begin, .end = begin + record->size};
}

static bool read_head(struct journal *journal)
{
    struct record record;
    struct sta_error ignored = STA_ERROR_INIT;
    if (next_record(journal, &record, &ignored) != STA_OK || record.content == NULL)
        return false;
    struct sta_cursor in = cursor_of(&record);
    journal->last = sta_get_u64(&in);
    journal->base = sta_get_u64(&in);
    const bool known = sta_get_u64(&in) == FORM;
    record_fini(journal, &record);
    return known && !in.failed && in.at == in.end;
}

static void journal_close(struct journal *journal)
{
    if (journal->fd >= 0)
        close(journal->fd);
    free(journal->path);
}

/* Return: false when there is none that can be read. */
static bool journal_open(const char *folder, struct sta_account *account, struct journal *journal)
{
    struct stat file;
    *journal = (struct journal){.account = account};
    if (!sta_find_trace_file(folder, STA_FILE_JOURNAL, &journal->number))
        return false;
    journal->path = sta_trace_file(folder, STA_FILE_JOURNAL, journal->number);
    journal->fd = open(journal->path, O_RDONLY | O_CLOEXEC);
    if (journal->fd >= 0 && fstat(journal->fd, &file) == 0) {
        journal->size = (size_t)file.st_size;
        if (read_head(journal))
            return true;
    }
    journal_close(journal);
    return false;
}

/* ---- at the start of a daemon */

static void name_files(struct sta_manifest *all, const struct sta_manifest *of_part)
{
    size_t count = all->segment_count + of_part->segment_count;
    all->segments = sta_realloc_array(all->segments, count, sizeof *all->segments);
    for (size_t i = 0; i < of_part->segment_count; i++)
        all->segments[all->segment_count++] = of_part->segments[i];
    count = all->counters_count + of_part->counters_count;
    all->counters = sta_realloc_array(all->counters, count, sizeof *all->counters);
    for (size_t i = 0; i < of_part->counters_count; i++)
        all->counters[all->counters_count++] = of_part->counters[i];
}

static void name_files_of(const struct record *record, struct sta_manifest *manifest)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_manifest of_part;
    struct sta_cursor in = cursor_of(record);
    size_t size = 0;
    sta_get_block(&in, &size); /* what is new in the tables */
    const char *named = sta_get_block(&in, &size);
    if (named == NULL || sta_manifest_get(named, size, &of_part, &ignored) != STA_OK)
        return;
    name_files(manifest, &of_part);
    sta_manifest_fini(&of_part);
}

void sta_journal_name_files(const char *folder, uint64_t last, struct sta_manifest *manifest)
{
    struct journal journal;
    struct record record;
    struct sta_error ignored = STA_ERROR_INIT;
    if (!journal_open(folder, NULL, &journal))
        return;
    if (journal.last == last)
        manifest->journal_after = journal.number + 1;
    while (journal.last == last && next_record(&journal, &record, &ignored) == STA_OK &&
           record.content != NULL) {
        name_files_of(&record, manifest);
        record_fini(&journal, &record);
    }
    journal_close(&journal);
}

/* ---- going on */

/* What a part has given, as the journal has it. */
struct unit {
    struct sta_manifest manifest;
    struct sta_stored_source **sources;
    size_t source_count;
    bool is_range; /* of its source this was read: */
    struct sta_source_range range;
};

static int unit_get(struct unit *unit, struct sta_cursor report, struct sta_error *err)
{
    size_t sizes[3];
    const char *contents[3];
    *unit = (struct unit){.sources = NULL};
    for (size_t i = 0; i < STA_COUNT_OF(contents); i++)
        contents[i] = sta_get_block(&report, &sizes[i]);
    unit->is_range = !report.failed && report.at != report.end;
    if (unit->is_range)
        unit->range = sta_source_range_get(&report);
    if (report.failed)
        return sta_fail(err, STA_ECORRUPT, "the journal makes no sense");
    int status = sta_manifest_get(contents[0], sizes[0], &unit->manifest, err);
    if (status == STA_OK)
        status = sta_sources_get(contents[1], sizes[1], &unit->sources, &unit->source_count, err);
    return status;
}

static void unit_fini(struct unit *unit)
{
    sta_manifest_fini(&unit->manifest);
    sta_stored_sources_free(unit->sources, unit->source_count);
}

static bool segment_is_whole(const struct sta_writer *writer, const struct sta_manifest_segment *named)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_mapping file;
    struct sta_segment segment = {0};
    char *path = sta_trace_file(writer->folder, STA_FILE_SEGMENT, named->file);
    bool whole = sta_map_file(path, &file, &ignored) == STA_OK;
    if (whole) {
        whole = sta_segment_attach(&segment, file.bytes, file.size, writer->tables, &ignored) == STA_OK &&
                segment.header.header_checksum == named->checksum;
        sta_segment_detach(&segment);
        sta_unmap_file(&file);
    }
    free(path);
    return whole;
}

static bool counters_are_whole(const struct sta_writer *writer, uint32_t number)
{
    struct sta_error ignored = STA_ERROR_INIT;
    char *path = sta_trace_file(writer->folder, STA_FILE_COUNTERS, number), *content;
    size_t size;
    const bool whole = sta_envelope_read(path, STA_ENVELOPE_COUNTERS, &content, &size, &ignored) == STA_OK;
    if (whole)
        free(content);
    free(path);
    return whole;
}

/* Whether all files of the unit are as they were, its own and those that it was read from. */
static bool unit_holds(struct sta_writer *writer, const struct unit *unit, sta_source_test *is_same,
                       void *context)
{
    bool holds = true;
    for (size_t i = 0; i < unit->source_count && holds; i++)
        holds =
            sta_writer_lacks(writer, unit->sources[i]->source.path, unit->is_range ? &unit->range : NULL) &&
            is_same(context, &unit->sources[i]->source, unit->is_range);
    for (size_t i = 0; i < unit->manifest.segment_count && holds; i++)
        holds = segment_is_whole(writer, &unit->manifest.segments[i]);
    for (size_t i = 0; i < unit->manifest.counters_count && holds; i++)
        holds = counters_are_whole(writer, unit->manifest.counters[i]);
    return holds;
}

/* Neither numbers of files nor ids of sources are given twice, whether or not the unit is taken. */
static void pass_numbers(struct sta_writer *writer, const struct unit *unit)
{
    for (size_t i = 0; i < unit->manifest.segment_count; i++)
        writer->next_file = STA_MAX(writer->next_file, unit->manifest.segments[i].file + 1);
    for (size_t i = 0; i < unit->manifest.counters_count; i++)
        writer->next_file = STA_MAX(writer->next_file, unit->manifest.counters[i] + 1);
    for (size_t i = 0; i < unit->source_count; i++)
        writer->next_source = STA_MAX(writer->next_source, unit->sources[i]->id + 1);
}

static void remove_files(const struct sta_writer *writer, const struct unit *unit)
{
    for (size_t i = 0; i < unit->manifest.segment_count + unit->manifest.counters_count; i++) {
        const bool segment = i < unit->manifest.segment_count;
        char *path = segment
                         ? sta_trace_file(writer->folder, STA_FILE_SEGMENT, unit->manifest.segments[i].file)
                         : sta_trace_file(writer->folder, STA_FILE_COUNTERS,
                                          unit->manifest.counters[i - unit->manifest.segment_count]);
        unlink(path);
        free(path);
    }
}

static int take_unit(struct sta_writer *writer, const struct unit *unit, struct sta_cursor *report,
                     struct sta_error *err)
{
    const uint32_t next = writer->next_source;
    uint32_t number;
    for (size_t i = 0; i < unit->source_count; i++)
        if (!sta_writer_find_source(writer, unit->sources[i]->source.path, &number))
            sta_part_add_source(writer, unit->sources[i]->source.path, unit->sources[i]->id);
    writer->next_source = next;
    return sta_writer_adopt_report(writer, report, unit->is_range ? &unit->range : NULL, err);
}

static int replay(struct sta_writer *writer, struct sta_cursor *record, sta_source_test *is_same,
                  void *context, struct sta_error *err)
{
    struct unit unit;
    size_t size;
    const char *texts = sta_get_block(record, &size);
    const unsigned char *begin = (const unsigned char *)texts;
    struct sta_cursor in = {.at = begin, .end = begin + (texts != NULL ? size : 0), .failed = texts == NULL};
    int status = sta_tables_get_new(&in, writer->tables, err);
    if (status == STA_OK)
        status = unit_get(&unit, *record, err);
    if (status != STA_OK)
        return status;
    pass_numbers(writer, &unit);
    if (unit_holds(writer, &unit, is_same, context))
        status = take_unit(writer, &unit, record, err);
    else
        remove_files(writer, &unit);
    unit_fini(&unit);
    return status;
}

static int replay_all(struct sta_writer *writer, struct journal *journal, sta_source_test *is_same,
                      void *context, struct sta_error *err)
{
    struct record taken;
    size_t end = journal->at;
    int status;
    while ((status = next_record(journal, &taken, err)) == STA_OK && taken.content != NULL) {
        struct sta_cursor record = cursor_of(&taken);
        status = replay(writer, &record, is_same, context, err);
        record_fini(journal, &taken);
        if (status != STA_OK)
            break;
        end = journal->at;
    }
    writer->journal_size = end;
    return status == STA_ECORRUPT ? STA_OK : status;
}

int sta_writer_resume(struct sta_writer *writer, sta_source_test *is_same, void *context,
                      struct sta_error *err)
{
    struct journal journal;
    int status = STA_OK;
    if (!journal_open(writer->folder, writer->account, &journal))
        return STA_OK;
    if (journal.last != writer->last_version || journal.base != writer->base_version) {
        unlink(journal.path);
    } else {
        writer->journal = journal.path;
        sta_writer_adopt_file(writer, STA_FILE_JOURNAL, journal.number);
        journal.path = NULL;
        status = replay_all(writer, &journal, is_same, context, err);
    }
    journal_close(&journal);
    return status;
}

/* ---- writing it */

static int append(struct sta_writer *writer, const struct sta_buffer *content, struct sta_error *err)
{
    struct sta_buffer record = {0};
    if (!content->failed)
        sta_envelope_put(&record, STA_ENVELOPE_JOURNAL, content->data, content->size);
    int status = content->failed || record.failed
                     ? sta_fail(err, STA_ENOMEM, "no memory to write %s", writer->journal)
                     : sta_file_append(writer->journal, writer->journal_fd, record.data, record.size, err);
    sta_buffer_fini(&record);
    return status;
}

static int create(struct sta_writer *writer, struct sta_error *err)
{
    uint32_t number;
    struct sta_buffer head = {0};
    writer->journal = sta_writer_new_file(writer, STA_FILE_JOURNAL, &number);
    int status = sta_file_create(writer->journal, NULL, 0, &writer->journal_fd, err);
    if (status != STA_OK)
        return status;
    sta_writer_adopt_file(writer, STA_FILE_JOURNAL, number);
    sta_put_u64(&head, writer->last_version);
    sta_put_u64(&head, writer->base_version);
    sta_put_u64(&head, FORM);
    status = append(writer, &head, err);
    sta_buffer_fini(&head);
    return status;
}

/* What was cut off at its end goes. */
static int go_on(struct sta_writer *writer, struct sta_error *err)
{
    writer->journal_fd = open(writer->journal, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (writer->journal_fd >= 0 && ftruncate(writer->journal_fd, (off_t)writer->journal_size) == 0)
        return STA_OK;
    return sta_fail_errno(err, errno, "cannot go on with %s", writer->journal);
}

int sta_writer_begin_journal(struct sta_writer *writer, struct sta_error *err)
{
    writer->journal_marks = sta_alloc(sizeof *writer->journal_marks);
    sta_tables_mark(writer->tables, writer->journal_marks);
    return writer->journal != NULL ? go_on(writer, err) : create(writer, err);
}

int sta_journal_append(struct sta_writer *writer, const void *report, size_t size,
                       const struct sta_source_range *range, struct sta_error *err)
{
    struct sta_buffer content = {0}, texts = {0};
    if (writer->journal_fd < 0)
        return STA_OK;
    sta_tables_put_new(&texts, writer->tables, writer->journal_marks);
    content.failed = texts.failed;
    sta_put_block(&content, texts.data, texts.size);
    sta_put(&content, report, size);
    if (range != NULL)
        sta_source_range_put(&content, range);
    int status = append(writer, &content, err);
    sta_buffer_fini(&texts);
    sta_buffer_fini(&content);
    return status;
}

/* Files that the journal does not name go at the next start. */
void sta_writer_suspend(struct sta_writer *writer)
{
    if (writer->journal != NULL)
        sta_writer_end(writer);
    else
        sta_writer_abort(writer);
}
