/* envelope.c - see envelope.h; FORMAT.md "Envelopes" has the bytes. */
#include "store/format/envelope.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>
#include "common/files.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/parallel.h"

#define FILE_LIMIT ((size_t)1 << 36)
#define EXPANSION_LIMIT                                                                                      \
    1024 /* content past so many times its stored size is stored as is: damage can't ask for memory */
#define FRAME_CONTENT ((size_t)4 << 20) /* of a frame: large contents are packed on several threads */

/* Frames, each packed where it may have its most bytes. */
struct packing {
    const char *content;
    char *packed_frames;
    size_t size, count, most; /* bytes of the content; frames; most bytes of each */
    size_t *packed;           /* by frame: its bytes, or an error of zstd */
    _Atomic size_t next;
};

static void pack_some(void *context, unsigned worker)
{
    struct packing *packing = context;
    for (size_t frame; (frame = atomic_fetch_add(&packing->next, 1)) < packing->count;) {
        const size_t from = frame * FRAME_CONTENT;
        packing->packed[frame] = ZSTD_compress(
            packing->packed_frames + frame * packing->most, packing->most, packing->content + from,
            STA_MIN(packing->size - from, FRAME_CONTENT), STA_ENVELOPE_ZSTD_LEVEL);
    }
}

static size_t frames_of(size_t size)
{
    return size / FRAME_CONTENT + (size % FRAME_CONTENT > 0 || size == 0);
}

static size_t most_of_frame(size_t size)
{
    return ZSTD_compressBound(STA_MIN(size, FRAME_CONTENT));
}

/* Packs a content.  @out: for all its frames of the most bytes.  Return: its bytes, or SIZE_MAX. */
static size_t pack_frames(const void *content, size_t size, char *out)
{
    struct packing packing = {.content = content,
                              .packed_frames = out,
                              .size = size,
                              .count = frames_of(size),
                              .most = most_of_frame(size)};
    packing.packed = sta_alloc_array(packing.count, sizeof *packing.packed);
    sta_parallel_run((unsigned)STA_MIN((size_t)sta_usable_cores(), packing.count), pack_some, &packing);
    size_t end = 0;
    for (size_t frame = 0; frame < packing.count && end != SIZE_MAX; frame++) {
        const size_t bytes = packing.packed[frame];
        const bool failed = ZSTD_isError(bytes);
        if (!failed && frame > 0)
            memmove(out + end, out + frame * packing.most, bytes);
        end = failed ? SIZE_MAX : end + bytes;
    }
    free(packing.packed);
    return end;
}

static uint32_t features_of(enum sta_envelope_kind kind)
{
    return kind == STA_ENVELOPE_TABLES ? STA_DISK_LISTS : 0;
}

void sta_envelope_pack(struct sta_buffer *out, const void *content, size_t size)
{
    char *buffer = sta_buffer_reserve(out, frames_of(size) * most_of_frame(size));
    const size_t packed = buffer != NULL ? pack_frames(content, size, buffer) : SIZE_MAX;
    if (packed == SIZE_MAX)
        out->failed = true;
    else
        out->size += packed;
}

bool sta_envelope_is_packed(size_t size, size_t packed)
{
    return packed < size && size / EXPANSION_LIMIT <= packed;
}

struct sta_disk_envelope sta_envelope_header(enum sta_envelope_kind kind, bool packed, uint64_t content_size,
                                             uint64_t stored_size, uint64_t checksum)
{
    struct sta_disk_envelope header = {.magic = STA_DISK_ENVELOPE_MAGIC,
                                       .version = STA_DISK_VERSION,
                                       .features = features_of(kind),
                                       .kind = kind,
                                       .packed = packed,
                                       .content_size = content_size,
                                       .stored_size = stored_size,
                                       .stored_checksum = checksum};
    header.header_checksum = XXH3_64bits(&header, offsetof(struct sta_disk_envelope, header_checksum));
    return header;
}

void sta_envelope_put(struct sta_buffer *out, enum sta_envelope_kind kind, const void *content, size_t size)
{
    const size_t start = out->size, begin = start + sizeof(struct sta_disk_envelope);
    if (sta_buffer_reserve(out, begin - start) == NULL)
        return;
    out->size = begin;
    sta_envelope_pack(out, content, size);
    const bool packed = !out->failed && sta_envelope_is_packed(size, out->size - begin);
    if (!packed) {
        out->size = begin;
        sta_put(out, content, size);
    }
    if (out->failed)
        return;
    const struct sta_disk_envelope header = sta_envelope_header(
        kind, packed, size, out->size - begin, XXH3_64bits(out->data + begin, out->size - begin));
    memcpy(out->data + start, &header, sizeof header);
}

static int check_header(const struct sta_disk_envelope *header, size_t size, enum sta_envelope_kind kind,
                        struct sta_error *err)
{
    if (memcmp(header->magic, STA_DISK_ENVELOPE_MAGIC, sizeof header->magic) != 0)
        return sta_fail(err, STA_ECORRUPT, "it does not begin like a store file");
    if (header->header_checksum != XXH3_64bits(header, offsetof(struct sta_disk_envelope, header_checksum)))
        return sta_fail(err, STA_ECORRUPT, "its header is damaged");
    if (header->version > STA_DISK_VERSION || (header->features & ~features_of(kind)) != 0)
        return sta_fail(err, STA_ENEWER, "it is of format %u, newer than this program's %u", header->version,
                        STA_DISK_VERSION);
    if (header->kind != (uint32_t)kind)
        return sta_fail(err, STA_ECORRUPT, "it holds something else than its name says");
    if (header->stored_size != size - sizeof *header)
        return sta_fail(err, STA_ECORRUPT, "it has %zu bytes in place of %llu", size,
                        (unsigned long long)header->stored_size + sizeof *header);
    bool sizes_fit = header->packed == 0 ? header->content_size == header->stored_size
                                         : header->packed == 1 &&
                                               header->content_size / EXPANSION_LIMIT <= header->stored_size;
    return sizes_fit ? STA_OK : sta_fail(err, STA_ECORRUPT, "its sizes make no sense");
}

int sta_envelope_get(const void *bytes, size_t size, enum sta_envelope_kind kind, char **content,
                     size_t *content_size, struct sta_error *err)
{
    struct sta_disk_envelope header;
    if (size < sizeof header)
        return sta_fail(err, STA_ECORRUPT, "it is cut off");
    memcpy(&header, bytes, sizeof header);
    int status = check_header(&header, size, kind, err);
    if (status != STA_OK)
        return status;
    const char *stored = (const char *)bytes + sizeof header;
    if (header.stored_checksum != XXH3_64bits(stored, header.stored_size))
        return sta_fail(err, STA_ECORRUPT, "its content does not match its checksum");
    char *made = sta_try_alloc(header.content_size + 1);
    if (made == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory for its %llu bytes",
                        (unsigned long long)header.content_size);
    if (header.packed == 0)
        memcpy(made, stored, header.stored_size);
    else if (ZSTD_decompress(made, header.content_size, stored, header.stored_size) != header.content_size) {
        free(made);
        return sta_fail(err, STA_ECORRUPT, "its content does not unpack");
    }
    made[header.content_size] = '\0';
    *content = made;
    *content_size = header.content_size;
    return STA_OK;
}

int sta_envelope_read(const char *path, enum sta_envelope_kind kind, char **content, size_t *content_size,
                      struct sta_error *err)
{
    char *bytes;
    size_t size;
    int status = sta_file_read(path, FILE_LIMIT, &bytes, &size, err);
    if (status != STA_OK)
        return status;
    status = sta_envelope_get(bytes, size, kind, content, content_size, err);
    free(bytes);
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "cannot use %s", path);
}

/* Makes the envelope of a content.  Return: STA_ENOMEM, also when the buffer of the content could not grow.
 */
static int pack(const char *path, enum sta_envelope_kind kind, const struct sta_buffer *content,
                struct sta_buffer *bytes, struct sta_error *err)
{
    *bytes = (struct sta_buffer){0};
    if (!content->failed)
        sta_envelope_put(bytes, kind, content->data, content->size);
    if (!content->failed && !bytes->failed)
        return STA_OK;
    sta_buffer_fini(bytes);
    return sta_fail(err, STA_ENOMEM, "no memory to write %s", path);
}

int sta_envelope_replace(const char *path, enum sta_envelope_kind kind, const struct sta_buffer *content,
                         struct sta_error *err)
{
    struct sta_buffer bytes;
    int status = pack(path, kind, content, &bytes, err);
    if (status != STA_OK)
        return status;
    status = sta_file_replace(path, bytes.data, bytes.size, err);
    sta_buffer_fini(&bytes);
    return status;
}

int sta_envelope_create(const char *path, enum sta_envelope_kind kind, const struct sta_buffer *content,
                        int *fd, struct sta_error *err)
{
    struct sta_buffer bytes;
    int status = pack(path, kind, content, &bytes, err);
    if (status != STA_OK)
        return status;
    status = sta_file_create(path, bytes.data, bytes.size, fd, err);
    sta_buffer_fini(&bytes);
    return status;
}

void sta_quarantine(const char *path, const struct sta_error *why)
{
    char *aside = sta_sprintf("%s.damaged", path);
    bool renamed = rename(path, aside) == 0;
    sta_log(STA_LOG_ERROR, "A store file is damaged", "file", path, "cause", why->text, "quarantined_as",
            renamed ? aside : "-", NULL);
    free(aside);
}
