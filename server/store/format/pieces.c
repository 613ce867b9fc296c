/* Pieces of a content: made, packed, written one behind the other. */
#include "store/format/pieces.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>
#include "common/files.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "store/format/envelope.h"

#define ITEMS_OF_PIECE ((uint32_t)1 << 14)

void sta_content_fini(struct sta_content *content)
{
    sta_buffer_fini(&content->text);
    free(content->pieces);
    free(content->sizes);
}

static void add_piece(struct sta_content *content, const struct sta_content_piece *piece)
{
    STA_GROW(content->pieces, content->piece_capacity, content->piece_count + 1);
    content->pieces[content->piece_count++] = *piece;
}

void sta_content_put_items(struct sta_content *content, sta_put_items *put, const void *context,
                           uint32_t count)
{
    struct sta_content_piece piece = {.at = content->text.size, .put = put, .context = context};
    if (count < 2 * ITEMS_OF_PIECE) {
        put(&content->text, context, 0, count);
        return;
    }
    for (; piece.first < count; piece.first = piece.end) {
        piece.end = piece.first + STA_MIN(count - piece.first, ITEMS_OF_PIECE);
        add_piece(content, &piece);
    }
}

/* ---- sizes */

size_t sta_content_begin_size(struct sta_content *content)
{
    STA_GROW(content->sizes, content->size_capacity, content->size_count + 1);
    content->sizes[content->size_count] =
        (struct sta_pending_size){.at = content->text.size, .first_piece = content->piece_count};
    sta_put_u64(&content->text, 0);
    return content->size_count++;
}

void sta_content_end_size(struct sta_content *content, size_t number)
{
    content->sizes[number].end = content->text.size;
    content->sizes[number].end_piece = content->piece_count;
}

static size_t bytes_of_pieces(const struct sta_content *content, size_t first, size_t end)
{
    size_t bytes = 0;
    for (; first < end; first++)
        bytes += content->pieces[first].size;
    return bytes;
}

/* Once all pieces were made.  @joined: the text lies there with its pieces in it. */
static void set_sizes(const struct sta_content *content, char *bytes, bool joined)
{
    for (size_t i = 0; i < content->size_count; i++) {
        const struct sta_pending_size *size = &content->sizes[i];
        const size_t before = joined ? bytes_of_pieces(content, 0, size->first_piece) : 0;
        const uint64_t value = size->end - size->at - sizeof value +
                               bytes_of_pieces(content, size->first_piece, size->end_piece);
        for (unsigned byte = 0; byte < sizeof value; byte++)
            bytes[before + size->at + byte] = (char)(value >> 8 * byte);
    }
}

/* ---- joined */

/* The text between a piece, or the end, and the one before it. */
static size_t text_before(const struct sta_content *content, size_t piece, const char **text)
{
    const size_t from = piece > 0 ? content->pieces[piece - 1].at : 0;
    *text = content->text.data + from;
    return (piece < content->piece_count ? content->pieces[piece].at : content->text.size) - from;
}

void sta_content_join(struct sta_content *content, struct sta_buffer *out)
{
    const size_t begin = out->size;
    out->failed |= content->text.failed;
    for (size_t i = 0; i <= content->piece_count && !out->failed; i++) {
        const char *text;
        const size_t size = text_before(content, i, &text);
        sta_put(out, text, size);
        if (i == content->piece_count)
            break;
        struct sta_content_piece *piece = &content->pieces[i];
        const size_t from = out->size;
        piece->put(out, piece->context, piece->first, piece->end);
        piece->size = out->size - from;
    }
    if (!out->failed)
        set_sizes(content, out->data + begin, true);
}

/* ---- packed */

struct packed {
    char *bytes;
    size_t size;
};

struct packing {
    struct sta_content *content;
    struct packed *packed; /* by piece */
    _Atomic size_t next;
    _Atomic bool failed; /* there was no memory */
};

/* One thread's. */
struct compressor {
    ZSTD_CCtx *zstd;
    struct sta_buffer content, buffer; /* of a piece */
};

static bool compress_piece(struct compressor *compressor, struct sta_content_piece *piece,
                           struct packed *packed)
{
    sta_buffer_clear(&compressor->content);
    piece->put(&compressor->content, piece->context, piece->first, piece->end);
    piece->size = compressor->content.size;
    const size_t most = ZSTD_compressBound(piece->size);
    char *buffer = compressor->content.failed ? NULL : sta_buffer_reserve(&compressor->buffer, most);
    if (buffer == NULL)
        return false;
    packed->size = ZSTD_compressCCtx(compressor->zstd, buffer, most, compressor->content.data, piece->size,
                                     STA_ENVELOPE_ZSTD_LEVEL);
    packed->bytes = ZSTD_isError(packed->size) ? NULL : sta_try_alloc(packed->size);
    if (packed->bytes == NULL)
        return false;
    memcpy(packed->bytes, buffer, packed->size);
    return true;
}

static void pack_some(void *context, unsigned worker)
{
    struct packing *packing = context;
    struct compressor compressor = {.zstd = ZSTD_createCCtx()};
    for (size_t i; (i = atomic_fetch_add(&packing->next, 1)) < packing->content->piece_count;)
        if (compressor.zstd == NULL || atomic_load(&packing->failed) ||
            !compress_piece(&compressor, &packing->content->pieces[i], &packing->packed[i]))
            atomic_store(&packing->failed, true);
    ZSTD_freeCCtx(compressor.zstd);
    sta_buffer_fini(&compressor.content);
    sta_buffer_fini(&compressor.buffer);
}

/* ---- the file */

/* What is stored behind the header: packed texts and pieces in turn. */
struct parts {
    struct packed *parts;
    size_t count;
    uint64_t content_size, stored_size, checksum;
};

static void parts_fini(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        free(parts->parts[i].bytes);
    free(parts->parts);
}

static bool pack_text(const char *text, size_t size, struct packed *packed)
{
    struct sta_buffer frames = {0};
    sta_envelope_pack(&frames, text, size);
    *packed = (struct packed){frames.data, frames.size};
    return !frames.failed;
}

/* Packs the pieces, then the text, which has their sizes.  Return: false when there is no memory. */
static bool pack_all(struct sta_content *content, struct parts *parts)
{
    struct packing packing = {.content = content};
    bool good = !content->text.failed;
    packing.packed = sta_alloc_array(content->piece_count, sizeof *packing.packed);
    sta_parallel_run((unsigned)STA_MIN((size_t)sta_usable_cores(), STA_MAX(content->piece_count, (size_t)1)),
                     pack_some, &packing);
    parts->count = 2 * content->piece_count + 1;
    parts->parts = sta_alloc_array(parts->count, sizeof *parts->parts);
    for (size_t i = 0; i < content->piece_count; i++)
        parts->parts[2 * i + 1] = packing.packed[i];
    free(packing.packed);
    good = good && !atomic_load(&packing.failed);
    if (good)
        set_sizes(content, content->text.data, false);
    for (size_t i = 0; i <= content->piece_count && good; i++) {
        const char *text;
        const size_t size = text_before(content, i, &text);
        good = pack_text(text, size, &parts->parts[2 * i]);
    }
    return good;
}

static void sum_up(const struct sta_content *content, struct parts *parts)
{
    XXH3_state_t *state = XXH3_createState();
    STA_ASSERT(state != NULL && XXH3_64bits_reset(state) == XXH_OK);
    for (size_t i = 0; i < parts->count; i++) {
        parts->stored_size += parts->parts[i].size;
        XXH3_64bits_update(state, parts->parts[i].bytes, parts->parts[i].size);
    }
    parts->checksum = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    parts->content_size = content->text.size + bytes_of_pieces(content, 0, content->piece_count);
}

static int write_parts(const char *path, enum sta_envelope_kind kind, const struct parts *parts, int *fd,
                       struct sta_error *err)
{
    const struct sta_disk_envelope header =
        sta_envelope_header(kind, true, parts->content_size, parts->stored_size, parts->checksum);
    int status = sta_file_create(path, &header, sizeof header, fd, err);
    if (status != STA_OK)
        return status;
    for (size_t i = 0; i < parts->count && status == STA_OK; i++)
        status = sta_file_append(path, *fd, parts->parts[i].bytes, parts->parts[i].size, err);
    if (status != STA_OK) {
        close(*fd);
        unlink(path);
    }
    return status;
}

static int create_joined(const char *path, enum sta_envelope_kind kind, struct sta_content *content, int *fd,
                         struct sta_error *err)
{
    struct sta_buffer joined = {0};
    sta_content_join(content, &joined);
    const int status = sta_envelope_create(path, kind, &joined, fd, err);
    sta_buffer_fini(&joined);
    return status;
}

int sta_content_create_file(const char *path, enum sta_envelope_kind kind, struct sta_content *content,
                            int *fd, struct sta_error *err)
{
    struct parts parts = {0};
    int status;
    const bool packed = pack_all(content, &parts);
    if (packed)
        sum_up(content, &parts);
    if (!packed)
        status = sta_fail(err, STA_ENOMEM, "no memory to write %s", path);
    else if (sta_envelope_is_packed(parts.content_size, parts.stored_size))
        status = write_parts(path, kind, &parts, fd, err);
    else
        status = create_joined(path, kind, content, fd, err);
    parts_fini(&parts);
    return status;
}
