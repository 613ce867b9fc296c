/* Frames: cut, sealed, and checked. */
#include "analyse/operators/frames.h"

#include <xxhash.h>

#include "common/memory.h"

#define MAGIC UINT32_C(0x01465453) /* "STF", version 1 */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are written as they lie in memory");

struct sta_frame_header sta_frame_header_of(uint64_t number, const void *payload, uint32_t size)
{
    return (struct sta_frame_header){MAGIC, size, XXH3_64bits_withSeed(payload, size, number)};
}

bool sta_frame_is_whole(const struct sta_frame_header *header, uint64_t number, const void *payload)
{
    return header->magic == MAGIC && header->size <= STA_FRAME_PAYLOAD &&
           header->checksum == XXH3_64bits_withSeed(payload, header->size, number);
}

/* ---- writing */

void sta_frame_writer_init(struct sta_frame_writer *writer, const struct sta_byte_sink *sink,
                           struct sta_error *err)
{
    writer->sink = sink;
    writer->number = 0;
    writer->used = 0;
    writer->status = STA_OK;
    writer->err = err;
}

static void flush(struct sta_frame_writer *writer)
{
    const struct sta_frame_header header =
        sta_frame_header_of(writer->number++, writer->payload, writer->used);
    if (writer->status == STA_OK)
        writer->status = writer->sink->write(writer->sink->self, &header, sizeof header, writer->err);
    if (writer->status == STA_OK)
        writer->status = writer->sink->write(writer->sink->self, writer->payload, writer->used, writer->err);
    writer->used = 0;
}

void sta_frame_put_over(struct sta_frame_writer *writer, const void *bytes, size_t size)
{
    while (size > 0) {
        const size_t part = STA_MIN(size, (size_t)(STA_FRAME_PAYLOAD - writer->used));
        memcpy(writer->payload + writer->used, bytes, part);
        writer->used += (uint32_t)part;
        bytes = (const uint8_t *)bytes + part;
        size -= part;
        if (writer->used == STA_FRAME_PAYLOAD)
            flush(writer);
    }
}

int sta_frame_writer_finish(struct sta_frame_writer *writer)
{
    flush(writer); /* less than a full one, perhaps empty: so the end is known */
    return writer->status;
}

/* ---- reading */

void sta_frame_reader_init(struct sta_frame_reader *reader, struct sta_cursor *from, struct sta_error *err)
{
    *reader = (struct sta_frame_reader){.from = from, .err = err};
}

int sta_frame_refuse(struct sta_frame_reader *reader, const char *why)
{
    if (reader->status == STA_OK)
        reader->status = sta_fail(reader->err, STA_ECORRUPT, "a partial state cannot be read: %s", why);
    return reader->status;
}

static int next_frame(struct sta_frame_reader *reader)
{
    struct sta_frame_header header;
    const void *bytes = sta_get_bytes(reader->from, sizeof header);
    if ((reader->number > 0 && reader->size < STA_FRAME_PAYLOAD) || bytes == NULL)
        return sta_frame_refuse(reader, "it ends early");
    memcpy(&header, bytes, sizeof header);
    if (header.magic != MAGIC)
        return sta_frame_refuse(reader, "it is none, or of another version");
    if (header.size > STA_FRAME_PAYLOAD)
        return sta_frame_refuse(reader, "it is damaged");
    reader->payload = sta_get_bytes(reader->from, header.size);
    if (reader->payload == NULL)
        return sta_frame_refuse(reader, "it ends early");
    if (!sta_frame_is_whole(&header, reader->number++, reader->payload))
        return sta_frame_refuse(reader, "it is damaged");
    reader->at = 0;
    reader->size = header.size;
    return STA_OK;
}

int sta_frame_get_over(struct sta_frame_reader *reader, void *bytes, size_t size)
{
    memset(bytes, 0, size);
    while (size > 0 && reader->status == STA_OK) {
        if (reader->at == reader->size && next_frame(reader) != 0)
            break;
        const size_t part = STA_MIN(size, (size_t)(reader->size - reader->at));
        memcpy(bytes, reader->payload + reader->at, part);
        reader->at += (uint32_t)part;
        bytes = (uint8_t *)bytes + part;
        size -= part;
    }
    return reader->status;
}
