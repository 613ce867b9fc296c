/* buffer.h - growing bytes with a sticky failure, and JSON text written into them.
 *
 * Put-calls return nothing: after a failed allocation or past `limit` they do nothing and `failed` stays set,
 * so a writer reads like the format it writes and checks once at the end. */
#ifndef STA_COMMON_BUFFER_H
#define STA_COMMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

struct sta_account;

struct sta_buffer {
    char *data; /* not terminated, unless by sta_buffer_take_text */
    size_t size, capacity;
    size_t limit; /* 0: none */
    bool failed;
    struct sta_account *account; /* charged with the capacity; NULL: not counted */
};

void sta_buffer_init(struct sta_buffer *buffer);
void sta_buffer_fini(struct sta_buffer *buffer);
void sta_buffer_clear(struct sta_buffer *buffer);
/** Space for `size` more bytes; NULL after a failure.  Follow with buffer->size += what was written. */
char *sta_buffer_reserve(struct sta_buffer *buffer, size_t size);
void sta_put(struct sta_buffer *buffer, const void *bytes, size_t size);
void sta_put_char(struct sta_buffer *buffer, char c);
void sta_put_text(struct sta_buffer *buffer, const char *text);
void sta_put_format(struct sta_buffer *buffer, const char *format, ...) STA_PRINTF(2, 3);
void sta_put_int(struct sta_buffer *buffer, int64_t value);
void sta_put_uint(struct sta_buffer *buffer, uint64_t value);
void sta_put_wide(struct sta_buffer *buffer, __int128 value); /* as all digits */
/** Shortest text that reads back as the same double, as JSON has it; not finite: null. */
void sta_put_double(struct sta_buffer *buffer, double value);
/** A JSON string with its quotes; the bytes must be UTF-8. */
void sta_put_json_string(struct sta_buffer *buffer, const char *text, size_t length);
/** A CSV cell, quoted where RFC 4180 needs it. */
void sta_put_csv_text(struct sta_buffer *buffer, const char *text, size_t length);
void sta_put_u32(struct sta_buffer *buffer, uint32_t value); /* little endian */
void sta_put_u64(struct sta_buffer *buffer, uint64_t value);
void sta_put_varint(struct sta_buffer *buffer, uint64_t value); /* LEB128 */
void sta_put_signed(struct sta_buffer *buffer,
                    int64_t value); /* zigzag: small numbers of either sign are few bytes */
void sta_put_block(struct sta_buffer *buffer, const void *bytes,
                   size_t size); /* varint size, then the bytes */
/** The content as a C string owned by the caller (free it); NULL if the buffer had failed.  Empties the
 * buffer. */
char *sta_buffer_take_text(struct sta_buffer *buffer);
/** Names with commas between: free() it.  @items: @count of @size bytes, each of which begins with a pointer
 * to its name. */
char *sta_join_names(const void *items, size_t size, size_t count);
/** Frees the memory beyond the content, for a buffer that is kept. */
void sta_buffer_trim(struct sta_buffer *buffer);
/** The content, owned by the caller, who also owes the account the capacity.  Empties the buffer. */
char *sta_buffer_take(struct sta_buffer *buffer);

/* Reads what the writers above wrote; sticky failure likewise, so that damaged input is checked once. */
struct sta_cursor {
    const unsigned char *at, *end;
    bool failed;
};
uint32_t sta_get_u32(struct sta_cursor *cursor);
uint64_t sta_get_u64(struct sta_cursor *cursor);
uint64_t sta_get_varint(struct sta_cursor *cursor);
int64_t sta_get_signed(struct sta_cursor *cursor);
/** Borrows `size` bytes (set from the varint before them) of the input; NULL after a failure. */
const char *sta_get_block(struct sta_cursor *cursor, size_t *size);
const void *sta_get_bytes(struct sta_cursor *cursor, size_t size);

#endif
