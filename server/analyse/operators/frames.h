/* frames.h - bytes that leave the process and are checked when they come back: in spill files, and in partial
 * states that travel between processes (private to analyse).
 *
 * A stream of bytes is cut into frames.  A frame is a header of 16 bytes, then the payload:
 *
 *     offset 0  magic and version, "STF" and 1
 *            4  bytes of payload, little endian; STA_FRAME_PAYLOAD in all but the last frame of a stream
 *            8  XXH3 of the payload, seeded with the number of the frame, little endian
 *
 * So damage, a frame that is missing or in another's place, another version and a stream that ends early are
 * found before any byte is used.  In a file all frames but the last start at multiples of STA_FRAME_BYTES. */
#ifndef STA_ANALYSE_OPERATORS_FRAMES_H
#define STA_ANALYSE_OPERATORS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/buffer.h"
#include "common/error.h"

#define STA_FRAME_BYTES 8192u
#define STA_FRAME_PAYLOAD (STA_FRAME_BYTES - (unsigned)sizeof(struct sta_frame_header))

struct sta_frame_header {
    uint32_t magic, size;
    uint64_t checksum;
};

/** The header of frame @number of a stream. */
struct sta_frame_header sta_frame_header_of(uint64_t number, const void *payload, uint32_t size);
/** Whether header and payload belong together; of the size only that it is at most STA_FRAME_PAYLOAD. */
bool sta_frame_is_whole(const struct sta_frame_header *header, uint64_t number, const void *payload);

/* Where bytes go to. */
struct sta_byte_sink {
    void *self;
    int (*write)(void *self, const void *bytes, size_t size, struct sta_error *err);
};

struct sta_frame_writer {
    const struct sta_byte_sink *sink;
    uint64_t number;
    uint32_t used;
    int status; /* of the first write that failed; nothing is written after it */
    struct sta_error *err;
    uint8_t payload[STA_FRAME_PAYLOAD];
};
void sta_frame_writer_init(struct sta_frame_writer *writer, const struct sta_byte_sink *sink,
                           struct sta_error *err);
/** sta_frame_put of bytes that fill the frame. */
void sta_frame_put_over(struct sta_frame_writer *writer, const void *bytes, size_t size);
static inline void sta_frame_put(struct sta_frame_writer *writer, const void *bytes, size_t size)
{
    if (size >= STA_FRAME_PAYLOAD - writer->used) {
        sta_frame_put_over(writer, bytes, size);
        return;
    }
    memcpy(writer->payload + writer->used, bytes, size);
    writer->used += (uint32_t)size;
}
static inline void sta_frame_put_u32(struct sta_frame_writer *writer, uint32_t value)
{
    sta_frame_put(writer, &value, sizeof value);
}
static inline void sta_frame_put_u64(struct sta_frame_writer *writer, uint64_t value)
{
    sta_frame_put(writer, &value, sizeof value);
}
/** Writes the last frame.  Return: 0, or what the sink returned first. */
STA_MUSTCHECK int sta_frame_writer_finish(struct sta_frame_writer *writer);

struct sta_frame_reader {
    struct sta_cursor *from;
    uint64_t number;
    const uint8_t *payload; /* in what is read */
    uint32_t at, size;
    int status; /* of the first read that failed, STA_ECORRUPT for bytes that are none of a stream; then all
                   that is read is 0 */
    struct sta_error *err;
};
/** @from: borrowed; moves on frame by frame. */
void sta_frame_reader_init(struct sta_frame_reader *reader, struct sta_cursor *from, struct sta_error *err);
/** sta_frame_get of bytes that the frame does not hold all. */
int sta_frame_get_over(struct sta_frame_reader *reader, void *bytes, size_t size);
/** Return: the reader's status. */
static inline int sta_frame_get(struct sta_frame_reader *reader, void *bytes, size_t size)
{
    if (size > reader->size - reader->at || reader->status != STA_OK)
        return sta_frame_get_over(reader, bytes, size);
    memcpy(bytes, reader->payload + reader->at, size);
    reader->at += (uint32_t)size;
    return reader->status;
}
static inline uint32_t sta_frame_get_u32(struct sta_frame_reader *reader)
{
    uint32_t value;
    (void)sta_frame_get(reader, &value, sizeof value);
    return value;
}
static inline uint64_t sta_frame_get_u64(struct sta_frame_reader *reader)
{
    uint64_t value;
    (void)sta_frame_get(reader, &value, sizeof value);
    return value;
}
/** What was read makes no sense: STA_ECORRUPT, unless reading has failed before. */
int sta_frame_refuse(struct sta_frame_reader *reader, const char *why);

#endif
