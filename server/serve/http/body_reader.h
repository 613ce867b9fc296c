/* body_reader.h - the body of a request, cut out of what comes in: by its length, or in chunks. */
#ifndef STA_SERVE_BODY_READER_H
#define STA_SERVE_BODY_READER_H

#include "common/buffer.h"
#include "serve/http/head.h"

struct sta_body_reader {
    enum {
        STA_BODY_DATA,
        STA_BODY_CHUNK_SIZE,
        STA_BODY_CHUNK_DATA,
        STA_BODY_CHUNK_END,
        STA_BODY_TRAILER
    } part;
    uint64_t left;     /* bytes of data, or of the chunk */
    uint64_t trailers; /* bytes of trailer fields, which nobody reads */
};

void sta_body_reader_init(struct sta_body_reader *reader, const struct sta_head *head);

enum sta_body_state { STA_BODY_MORE, STA_BODY_WHOLE, STA_BODY_BAD };

/**
 * sta_body_read - move what belongs to the body from the input to the body
 * @taken: how many bytes of the input were used up
 * @err: with BAD what is wrong
 */
enum sta_body_state sta_body_read_input(struct sta_body_reader *reader, const char *in, size_t size,
                                        size_t *taken, struct sta_buffer *body, struct sta_error *err);

#endif
