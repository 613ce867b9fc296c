/* pieces.h - a content that is made piece by piece (private to store).
 *
 * The names of a trace may take hundreds of MB.  Long dictionaries are cut into pieces, each of which is
 * written and packed by one thread where it stays in the cache, so that the whole is never in memory. */
#ifndef STA_STORE_PIECES_H
#define STA_STORE_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "store/disk.h"

/** Appends items first .. end - 1, the same each time.  Context: any thread. */
typedef void sta_put_items(struct sta_buffer *out, const void *context, uint32_t first, uint32_t end);

struct sta_content_piece {
    size_t at; /* bytes of the text that go before it */
    sta_put_items *put;
    const void *context;
    uint32_t first, end;
    size_t size; /* once it was made */
};

/* A u64 of the text that holds how many bytes follow, up to a place behind them. */
struct sta_pending_size {
    size_t at, end;
    size_t first_piece, end_piece; /* of those between */
};

struct sta_content {
    struct sta_buffer text; /* all but the pieces */
    struct sta_content_piece *pieces;
    size_t piece_count, piece_capacity;
    struct sta_pending_size *sizes;
    size_t size_count, size_capacity;
};

void sta_content_fini(struct sta_content *content);
/** Appends items: few to the text, many as pieces.  @context: lives as long as the content. */
void sta_content_put_items(struct sta_content *content, sta_put_items *put, const void *context,
                           uint32_t count);
/** Appends the size of what follows until sta_content_end_size of its number. */
size_t sta_content_begin_size(struct sta_content *content);
void sta_content_end_size(struct sta_content *content, size_t number);
/** Appends the whole. */
void sta_content_join(struct sta_content *content, struct sta_buffer *out);
/** Writes it as an envelope in a new file: see sta_envelope_create. */
STA_MUSTCHECK int sta_content_create_file(const char *path, enum sta_envelope_kind kind,
                                          struct sta_content *content, int *fd, struct sta_error *err);

#endif
