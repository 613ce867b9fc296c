/* Files of counter records: kept whole while their sources stay, written again without those that leave. */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "store/format/envelope.h"
#include "store/format/mapped.h"
#include "store/versions/writer.h"

#define KIND_WITHOUT_SOURCES 5

/* ---- opening */

static bool lacks_sources(const struct sta_mapping *mapping)
{
    struct sta_disk_envelope header;
    return mapping->size >= sizeof header && sta_copy_mapped(&header, mapping->bytes, sizeof header) &&
           header.kind == KIND_WITHOUT_SOURCES;
}

int sta_counters_open(struct sta_snapshot *snapshot, const char *folder, struct sta_error *err)
{
    const struct sta_manifest *manifest = &snapshot->manifest;
    snapshot->counters = sta_alloc_array(manifest->counters_count, sizeof *snapshot->counters);
    for (size_t i = 0; i < manifest->counters_count; i++) {
        struct sta_open_counters open = {.file = manifest->counters[i]};
        struct sta_error why = STA_ERROR_INIT;
        char *path = sta_trace_file(folder, STA_FILE_COUNTERS, open.file);
        int status = sta_map_file(path, &open.mapping, &why);
        free(path);
        if (status == STA_ENOTFOUND) { /* it was quarantined */
            snapshot->info.damaged++;
        } else if (status != STA_OK) {
            *err = why;
            return status;
        } else if (lacks_sources(&open.mapping)) {
            sta_unmap_file(&open.mapping);
            snapshot->counters_lack_sources = true;
        } else {
            snapshot->counters[snapshot->counters_count++] = open;
        }
    }
    return STA_OK;
}

void sta_counters_close(struct sta_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->counters_count; i++)
        sta_unmap_file(&snapshot->counters[i].mapping);
    free(snapshot->counters);
}

bool sta_snapshot_has_counters(const struct sta_snapshot *snapshot)
{
    return snapshot->manifest.counters_count > 0;
}

bool sta_snapshot_counters_lack_sources(const struct sta_snapshot *snapshot)
{
    return snapshot->counters_lack_sources;
}

/* ---- reading */

/* The content of a file, zero-terminated; free() it. */
static int read_content(const struct sta_open_counters *open, char **content, size_t *size,
                        struct sta_error *err)
{
    char *bytes = sta_try_alloc(open->mapping.size + 1);
    if (bytes == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory for %zu bytes of counters", open->mapping.size);
    int status = sta_copy_mapped(bytes, open->mapping.bytes, open->mapping.size)
                     ? sta_envelope_get(bytes, open->mapping.size, STA_ENVELOPE_COUNTERS, content, size, err)
                     : sta_fail(err, STA_ECORRUPT, "it cannot be read");
    free(bytes);
    return status;
}

/* Of a file that was read. */
static int take_chunks(const char *content, size_t size, sta_counters_taker *take, void *context,
                       struct sta_error *err)
{
    struct sta_cursor in = {.at = (const unsigned char *)content,
                            .end = (const unsigned char *)content + size};
    struct sta_cursor records;
    struct sta_text path;
    int status = STA_OK;
    while (status == STA_OK && sta_counters_get_chunk(&in, &path, &records))
        status = take(context, path, &records, err);
    return status == STA_OK && in.failed ? sta_fail(err, STA_ECORRUPT, "its chunks make no sense") : status;
}

static int each_chunk(const struct sta_snapshot *snapshot, const struct sta_open_counters *open,
                      sta_counters_taker *take, void *context, struct sta_error *err)
{
    char *content = NULL;
    size_t size = 0;
    int status = read_content(open, &content, &size, err);
    if (status == STA_OK)
        status = take_chunks(content, size, take, context, err);
    if (status == STA_ECORRUPT)
        sta_snapshot_note_damage(snapshot, STA_FILE_COUNTERS, open->file, err);
    free(content);
    return status;
}

int sta_snapshot_counters(const struct sta_snapshot *snapshot, sta_counters_taker *take, void *context,
                          struct sta_error *err)
{
    int status = STA_OK;
    for (size_t i = 0; i < snapshot->counters_count && status == STA_OK; i++)
        status = each_chunk(snapshot, &snapshot->counters[i], take, context, err);
    return status;
}

/* ---- going on from them */

struct keeping {
    struct sta_writer *writer;
    bool (*dropped)(const void *context, const char *path);
    const void *context;
    bool writes; /* else it only looks whether some leave */
    bool some_leave;
};

static int keep_chunk(void *context, struct sta_text path, struct sta_cursor *records, struct sta_error *err)
{
    struct keeping *keeping = context;
    char *text = sta_sprintf("%.*s", (int)path.length, path.bytes);
    const bool leaves = keeping->dropped(keeping->context, text);
    int status = STA_OK;
    keeping->some_leave = keeping->some_leave || leaves;
    if (keeping->writes && !leaves) {
        struct sta_buffer chunk;
        sta_buffer_init(&chunk);
        sta_counters_put_chunk(&chunk, text, records->at, (size_t)(records->end - records->at));
        status = chunk.failed ? sta_fail(err, STA_ENOMEM, "no memory for counters")
                              : sta_writer_add_counters(keeping->writer, 0, chunk.data, chunk.size, err);
        sta_buffer_fini(&chunk);
    }
    free(text);
    return status;
}

int sta_writer_keep_counters(struct sta_writer *writer, const struct sta_snapshot *base,
                             bool (*dropped)(const void *context, const char *path), const void *context,
                             struct sta_error *err)
{
    int status = STA_OK;
    for (size_t i = 0; i < base->counters_count && status == STA_OK; i++) {
        struct keeping keeping = {.writer = writer, .dropped = dropped, .context = context};
        if (dropped != NULL)
            status = each_chunk(base, &base->counters[i], keep_chunk, &keeping, err);
        keeping.writes = true;
        if (status == STA_OK && keeping.some_leave)
            status = each_chunk(base, &base->counters[i], keep_chunk, &keeping, err);
        else if (status == STA_OK)
            sta_writer_note_counters(writer, base->counters[i].file);
    }
    return status;
}
