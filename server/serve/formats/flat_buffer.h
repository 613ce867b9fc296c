/* flat_buffer.h - writes a FlatBuffer front to back: tables, vectors and strings, whose offsets are set once
 * their targets are there. Positions are bytes from the start of the FlatBuffer.  After a failure of the
 * buffer nothing is written.  The layout is that of the FlatBuffers specification
 * (https://flatbuffers.dev/internals). */
#ifndef STA_SERVE_FLAT_BUFFER_H
#define STA_SERVE_FLAT_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"

#define STA_FLAT_FIELDS 8

struct sta_flat {
    struct sta_buffer *out;
    size_t start; /* of the FlatBuffer in @out */
};

/* A table that was written with all fields zero: where each field is. */
struct sta_flat_table {
    size_t at;
    size_t fields[STA_FLAT_FIELDS];
};

/** Begins with the offset of the root, which sta_flat_point(flat, 0, root) sets. */
void sta_flat_begin(struct sta_flat *flat, struct sta_buffer *out);
/** @sizes: bytes of each field, 0 (absent), 1, 2, 4 (an offset too) or 8. */
struct sta_flat_table sta_flat_put_table(struct sta_flat *flat, const uint8_t *sizes, size_t count);
/** A vector of @count elements of @size bytes, all zero, whose alignment is @size but at most 8; elements
 * begin 4 bytes behind what is returned. */
size_t sta_flat_put_vector(struct sta_flat *flat, size_t count, size_t size);
size_t sta_flat_put_string(struct sta_flat *flat, const char *text);
/** Sets @size bytes of a field or an element, little endian. */
void sta_flat_set(struct sta_flat *flat, size_t at, uint64_t value, size_t size);
/** Sets an offset to a table, vector or string that was written behind it. */
void sta_flat_point(struct sta_flat *flat, size_t at, size_t target);
/** Bytes so far, after filling up to a multiple of 8. */
size_t sta_flat_end(struct sta_flat *flat);

#endif
