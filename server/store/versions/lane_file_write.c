/* lane_file_write.c - a lane file beside a published version.
 *
 * It is written to a temporary file from front to back, synced, and renamed into place while no other version
 * can be published; a crash before leaves a file that the next start removes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/memory.h"
#include "store/encoding/codec.h"
#include "store/versions/lane_file.h"
#include "store/versions/private.h"

#define WRITE_BYTES (1u << 20) /* gathered before they are written */

struct sta_lane_file_writer {
    const struct sta_snapshot *snapshot;
    char *folder, *path, *beside;
    int fd;
    struct sta_encoder *encoder;
    struct sta_encoding_plan plans[STA_LANE_COLUMNS];
    uint32_t narrow[STA_ROW_GROUP_ROWS];
    struct sta_buffer waiting;   /* not yet written */
    struct sta_buffer directory; /* entries */
    uint64_t written;
    uint32_t block_count;
};

static void writer_free(struct sta_lane_file_writer *writer)
{
    sta_encoder_destroy(writer->encoder);
    sta_buffer_fini(&writer->waiting);
    sta_buffer_fini(&writer->directory);
    free(writer->folder);
    free(writer->path);
    free(writer->beside);
    free(writer);
}

int sta_lane_file_begin(const struct sta_snapshot *snapshot, struct sta_lane_file_writer **writer,
                        struct sta_error *err)
{
    static const char magic[] = STA_DISK_LANES_MAGIC;
    struct sta_lane_file_writer *made = sta_alloc(sizeof *made);
    made->snapshot = snapshot;
    made->folder = sta_trace_folder(snapshot->store, snapshot->id);
    made->path = sta_lane_file_path(made->folder, snapshot->info.version);
    made->beside = sta_sprintf("%s.tmp", made->path);
    made->written = sizeof magic - 1;
    int status = snapshot->info.damaged > 0
                     ? sta_fail(err, STA_ENOTFOUND, "the version is not whole")
                     : sta_file_create(made->beside, magic, sizeof magic - 1, &made->fd, err);
    if (status != STA_OK) {
        writer_free(made);
        return status;
    }
    made->encoder = sta_encoder_create(STA_EFFORT_FAST);
    *writer = made;
    return STA_OK;
}

void sta_lane_file_abort(struct sta_lane_file_writer *writer)
{
    close(writer->fd);
    unlink(writer->beside);
    writer_free(writer);
}

static int flush(struct sta_lane_file_writer *writer, struct sta_error *err)
{
    if (writer->waiting.failed)
        return sta_fail(err, STA_ENOMEM, "no memory to write %s", writer->path);
    int status = sta_file_append(writer->beside, writer->fd, writer->waiting.data, writer->waiting.size, err);
    writer->written += writer->waiting.size;
    sta_buffer_clear(&writer->waiting);
    return status;
}

/* Columns are compressed where that saves a fifth: a lane file is read in small parts, so that its size
 * counts for more than the time to unpack it, other than in segments. */
static void put_column(struct sta_lane_file_writer *writer, unsigned column, const struct sta_values *values)
{
    struct sta_buffer *out = &writer->waiting;
    const struct sta_both_keys none = {0};
    const size_t start = out->size;
    (void)sta_encode_stream(writer->encoder, &writer->plans[column], values, &none, out);
    const size_t plain = out->size - start;
    struct sta_encoding_plan compressed = {
        .transform = writer->plans[column].transform, .zstd = true, .row_groups_left = 2};
    if (writer->plans[column].zstd)
        return;
    (void)sta_encode_stream(writer->encoder, &compressed, values, &none, out);
    const size_t packed = out->size - start - plain;
    if (!out->failed && packed < plain - plain / 5)
        memmove(out->data + start, out->data + start + plain, packed);
    if (!out->failed)
        out->size = start + (packed < plain - plain / 5 ? packed : plain);
}

int sta_lane_file_add(struct sta_lane_file_writer *writer, unsigned columns, const int64_t *const *values,
                      uint32_t rows, struct sta_error *err)
{
    const size_t start = writer->waiting.size;
    STA_ASSERT(rows > 0 && rows <= STA_ROW_GROUP_ROWS && columns <= STA_LANE_COLUMNS);
    for (unsigned c = 0; c < columns; c++) {
        const struct sta_values column = sta_values_of(values[c], rows, writer->narrow);
        put_column(writer, c, &column);
    }
    if (writer->waiting.failed)
        return flush(writer, err);
    struct sta_disk_lane_block entry = {.at = writer->written + start,
                                        .size = (uint32_t)(writer->waiting.size - start),
                                        .rows = rows,
                                        .columns = columns};
    entry.checksum = (uint32_t)XXH3_64bits(writer->waiting.data + start, entry.size);
    sta_put(&writer->directory, &entry, sizeof entry);
    writer->block_count++;
    return writer->waiting.size >= WRITE_BYTES ? flush(writer, err) : STA_OK;
}

static int write_end(struct sta_lane_file_writer *writer, const void *head, size_t size,
                     struct sta_error *err)
{
    int status = flush(writer, err);
    sta_put(&writer->directory, head, size);
    if (status != STA_OK || writer->directory.failed)
        return status != STA_OK ? status : sta_fail(err, STA_ENOMEM, "no memory to write %s", writer->path);
    struct sta_disk_lane_footer footer = {
        .magic = STA_DISK_LANES_MAGIC,
        .version = STA_DISK_LANES_VERSION,
        .features = STA_DISK_PATCHES,
        .file_size = writer->written + writer->directory.size + sizeof footer,
        .trace_version = writer->snapshot->info.version,
        .build = sta_lane_file_build(),
        .directory_at = writer->written,
        .head_size = size,
        .block_count = writer->block_count,
        .directory_checksum = XXH3_64bits(writer->directory.data, writer->directory.size)};
    footer.footer_checksum = XXH3_64bits(&footer, offsetof(struct sta_disk_lane_footer, footer_checksum));
    sta_put(&writer->waiting, writer->directory.data, writer->directory.size);
    sta_put(&writer->waiting, &footer, sizeof footer);
    return flush(writer, err);
}

/* Renames the file into place unless a newer version is there by now. */
static int put_in_place(const struct sta_lane_file_writer *writer, struct sta_error *err)
{
    struct sta_store *store = writer->snapshot->store;
    struct sta_known_trace *known = sta_store_hold(store, writer->snapshot->id, err);
    if (known == NULL)
        return STA_ENOTFOUND;
    int status =
        sta_check_published(writer->folder, writer->snapshot->id, writer->snapshot->info.version, err);
    if (status == STA_OK && rename(writer->beside, writer->path) != 0)
        status = sta_fail_errno(err, errno, "cannot rename %s", writer->beside);
    if (status == STA_OK)
        status = sta_folder_sync(writer->folder, err);
    sta_store_let_go(store, known);
    return status;
}

int sta_lane_file_publish(struct sta_lane_file_writer *writer, const void *head, size_t size,
                          struct sta_error *err)
{
    int status = write_end(writer, head, size, err);
    int finished = sta_file_finish(writer->beside, writer->fd, err);
    if (status == STA_OK)
        status = finished;
    if (status == STA_OK)
        status = put_in_place(writer, err);
    if (status != STA_OK)
        unlink(writer->beside);
    writer_free(writer);
    return status;
}
