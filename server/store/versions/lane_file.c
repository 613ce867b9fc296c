/* lane_file.c - reading a lane file: checked as a whole when it is opened, each block when it is read.
 *
 * What it holds can be made again from the events, so whatever is wrong with it, it is quarantined and made
 * again. */
#include "store/versions/lane_file.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/build_id.h"
#include "common/memory.h"
#include "store/encoding/column.h"
#include "store/format/envelope.h"
#include "store/format/mapped.h"
#include "store/versions/private.h"

static int damaged(struct sta_error *err, const char *what)
{
    return sta_fail(err, STA_ECORRUPT, "the lane file's %s", what);
}

uint64_t sta_lane_file_build(void)
{
    const char *id = sta_build_id();
    return XXH3_64bits(id, strlen(id));
}

/* ---- opening */

static int check_footer(const struct sta_disk_lane_footer *footer, size_t size, uint64_t version,
                        struct sta_error *err)
{
    if (memcmp(footer->magic, STA_DISK_LANES_MAGIC, sizeof footer->magic) != 0)
        return damaged(err, "end is damaged");
    if (footer->footer_checksum !=
        XXH3_64bits(footer, offsetof(struct sta_disk_lane_footer, footer_checksum)))
        return damaged(err, "footer is damaged");
    if (footer->version > STA_DISK_LANES_VERSION || (footer->features & ~(uint32_t)STA_DISK_PATCHES) != 0)
        return sta_fail(err, STA_ENEWER, "the lane file is of format %u, newer than this program's %u",
                        footer->version, STA_DISK_LANES_VERSION);
    if (footer->build != sta_lane_file_build())
        return sta_fail(err, STA_ENOTFOUND, "the lane file is of another build of the program");
    if (footer->trace_version != version)
        return damaged(err, "version is another one");
    const uint64_t entries = (uint64_t)footer->block_count * sizeof(struct sta_disk_lane_block);
    if (footer->file_size != size || footer->directory_at < sizeof footer->magic ||
        footer->directory_at > size - sizeof *footer || footer->head_size > size ||
        size - sizeof *footer - footer->directory_at != entries + footer->head_size)
        return damaged(err, "footer is damaged");
    return STA_OK;
}

static int check_blocks(const struct sta_lane_file *file, struct sta_error *err)
{
    for (uint32_t b = 0; b < file->footer.block_count; b++) {
        struct sta_disk_lane_block block;
        memcpy(&block, file->directory + b * sizeof block, sizeof block);
        if (block.rows == 0 || block.rows > STA_ROW_GROUP_ROWS || block.columns == 0 ||
            block.columns > STA_LANE_COLUMNS || block.at > file->footer.directory_at ||
            block.size > file->footer.directory_at - block.at)
            return damaged(err, "directory is damaged");
    }
    return STA_OK;
}

int sta_lane_file_attach(struct sta_lane_file *file, const void *bytes, size_t size, uint64_t version,
                         struct sta_error *err)
{
    *file = (struct sta_lane_file){.mapping = {bytes, size}};
    if (size < sizeof file->footer.magic + sizeof file->footer)
        return damaged(err, "bytes are too few");
    if (!sta_copy_mapped(&file->footer, (const char *)bytes + size - sizeof file->footer,
                         sizeof file->footer))
        return damaged(err, "footer cannot be read");
    int status = check_footer(&file->footer, size, version, err);
    if (status != STA_OK)
        return status;
    const size_t length = size - sizeof file->footer - file->footer.directory_at;
    file->directory = sta_try_alloc(length + 1);
    if (file->directory == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory for the directory of a lane file");
    if (!sta_copy_mapped(file->directory, (const char *)bytes + file->footer.directory_at, length) ||
        XXH3_64bits(file->directory, length) != file->footer.directory_checksum)
        return damaged(err, "directory is damaged");
    return check_blocks(file, err);
}

void sta_lane_file_detach(struct sta_lane_file *file)
{
    free(file->directory);
    free(file->path);
    *file = (struct sta_lane_file){0};
}

int sta_lane_file_open(const struct sta_snapshot *snapshot, struct sta_lane_file **file,
                       struct sta_error *err)
{
    struct sta_mapping mapping;
    char *folder = sta_trace_folder(snapshot->store, snapshot->id);
    char *path = sta_lane_file_path(folder, snapshot->info.version);
    free(folder);
    int status = snapshot->info.damaged > 0 ? sta_fail(err, STA_ENOTFOUND, "the version is not whole")
                                            : sta_map_file(path, &mapping, err);
    if (status != STA_OK) {
        free(path);
        return status;
    }
    struct sta_lane_file *made = sta_alloc(sizeof *made);
    status = sta_lane_file_attach(made, mapping.bytes, mapping.size, snapshot->info.version, err);
    made->path = path;
    if (status == STA_OK) {
        *file = made;
        return STA_OK;
    }
    if (status == STA_ECORRUPT)
        sta_quarantine(path, err);
    sta_lane_file_close(made);
    return status;
}

void sta_lane_file_close(struct sta_lane_file *file)
{
    if (file == NULL)
        return;
    sta_unmap_file(&file->mapping);
    sta_lane_file_detach(file);
    free(file);
}

void sta_lane_file_quarantine(const struct sta_lane_file *file, const struct sta_error *why)
{
    if (file->path != NULL)
        sta_quarantine(file->path, why);
}

/* ---- content */

const void *sta_lane_file_head(const struct sta_lane_file *file, size_t *size)
{
    *size = file->footer.head_size;
    return file->directory + file->footer.block_count * sizeof(struct sta_disk_lane_block);
}

static struct sta_disk_lane_block entry_of(const struct sta_lane_file *file, uint32_t block)
{
    struct sta_disk_lane_block entry;
    memcpy(&entry, file->directory + block * sizeof entry, sizeof entry);
    return entry;
}

uint32_t sta_lane_file_block_count(const struct sta_lane_file *file)
{
    return file->footer.block_count;
}

uint32_t sta_lane_file_rows(const struct sta_lane_file *file, uint32_t block)
{
    return entry_of(file, block).rows;
}

int sta_lane_file_read(const struct sta_lane_file *file, uint32_t block, unsigned columns,
                       int64_t *const *values, struct sta_error *err)
{
    struct sta_scratch *scratch = sta_scratch_of_thread();
    const struct sta_disk_lane_block entry = entry_of(file, block);
    unsigned char *payload = sta_scratch_payload(scratch, entry.size);
    if (payload == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory to read %u bytes of a lane file", entry.size);
    if (entry.columns != columns || !sta_copy_mapped(payload, file->mapping.bytes + entry.at, entry.size) ||
        (uint32_t)XXH3_64bits(payload, entry.size) != entry.checksum)
        return damaged(err, "block does not match its checksum");
    struct sta_cursor in = {.at = payload, .end = payload + entry.size};
    for (unsigned c = 0; c < columns; c++)
        if (!sta_decode_stream(scratch->decoder, &in, entry.rows, &(struct sta_both_keys){0}, values[c]))
            return damaged(err, "block is damaged");
    return in.at == in.end ? STA_OK : damaged(err, "block is too long");
}
