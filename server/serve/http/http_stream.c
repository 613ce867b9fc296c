/* Streams: responses that are produced in parts, and are suspended in between.
 *
 * DESIGN.  The loop of the connection takes a piece from the source whenever the one before has been sent.  A
 * source that has none suspends the stream, which takes no thread then.  The thread that has more posts the
 * exchange to its loop, which takes the next piece. */
#include <stdlib.h>

#include "common/memory.h"
#include "serve/http/http_private.h"

#define HEARTBEAT_NS UINT64_C(15000000000)

struct sta_stream {
    struct sta_exchange *exchange;
    struct sta_stream_source source;
    char *headers;           /* lines */
    struct sta_buffer piece; /* being sent; the source gets it back for the next */
    bool ended, heartbeat;
    uint64_t last_ns; /* when a piece was produced */
};

static struct sta_stream *stream_create(struct sta_exchange *exchange, const char *content_type,
                                        const struct sta_stream_source *source)
{
    static const struct sta_header fallback = {"Cache-Control", "no-store"};
    const struct sta_header common[] = {{"Content-Type", content_type}, {"X-Accel-Buffering", "no"}};
    struct sta_stream *stream = sta_alloc(sizeof *stream);
    struct sta_buffer headers;
    stream->exchange = exchange;
    stream->source = *source;
    stream->last_ns = uv_hrtime();
    sta_buffer_init(&stream->piece);
    sta_buffer_init(&headers);
    sta_put_headers(&headers, common, STA_COUNT_OF(common));
    if (source->header_count > 0)
        sta_put_headers(&headers, source->headers, source->header_count);
    else
        sta_put_headers(&headers, &fallback, 1);
    sta_put_headers(&headers, sta_safety_headers, sta_safety_header_count);
    stream->headers = sta_buffer_take_text(&headers);
    return stream;
}

void sta_stream_destroy(struct sta_stream *stream)
{
    stream->source.release(stream->source.context);
    sta_buffer_fini(&stream->piece);
    free(stream->headers);
    free(stream);
}

void sta_exchange_stream(struct sta_exchange *exchange, const char *content_type,
                         const struct sta_stream_source *source)
{
    exchange->stream = stream_create(exchange, content_type, source);
}

void sta_exchange_finish_stream(struct sta_exchange *exchange, const char *content_type,
                                const struct sta_stream_source *source, struct sta_stream **stream)
{
    *stream = stream_create(exchange, content_type, source);
    sta_loop_finish(exchange, NULL, *stream);
}

void sta_stream_wake(struct sta_stream *stream)
{
    sta_loop_post(stream->exchange);
}

void sta_http_wake_streams(struct sta_http *http)
{
    for (unsigned i = 0; i < http->loop_count; i++)
        sta_loop_wake_streams(&http->loops[i]);
}

/* ---- thread of the loop */

void sta_stream_begin(struct sta_exchange *exchange)
{
    exchange->status = 200;
    if (exchange->head.http_1_0)
        exchange->close_after = true; /* nothing else says where the body ends */
    sta_exchange_put_head(exchange, exchange->stream->headers, false, 0);
}

static bool must_end(const struct sta_stream *stream)
{
    int ending = atomic_load(&stream->exchange->http->streams_ending);
    return ending == STA_STREAMS_END_ALL || (ending == STA_STREAMS_END_PARTIAL && !stream->source.whole);
}

/* The piece as a chunk. */
static void put_piece(struct sta_exchange *exchange, struct sta_stream *stream)
{
    struct sta_outgoing *out = &exchange->out;
    sta_buffer_clear(&out->head);
    if (!exchange->head.http_1_0) {
        if (stream->piece.size > 0) {
            sta_put_format(&out->head, "%zx\r\n", stream->piece.size);
            sta_put_text(&stream->piece, "\r\n");
        }
        if (stream->ended)
            sta_put_text(&stream->piece, "0\r\n\r\n");
    }
    out->body = stream->piece.data;
    out->body_size = stream->piece.size;
    out->sent = 0;
}

enum sta_io sta_stream_produce(struct sta_exchange *exchange, bool *ended)
{
    struct sta_stream *stream = exchange->stream;
    enum sta_stream_state state = STA_STREAM_END;
    *ended = stream->ended;
    if (stream->ended)
        return STA_IO_DONE;
    bool cut = must_end(stream);
    if (cut && stream->source.whole)
        return STA_IO_BROKEN;
    sta_buffer_clear(&stream->piece);
    if (!cut)
        state = stream->source.produce(stream->source.context, &stream->piece, stream->heartbeat);
    stream->heartbeat = false;
    if (state == STA_STREAM_FAILED || stream->piece.failed)
        return STA_IO_BROKEN;
    stream->ended = state == STA_STREAM_END;
    if (stream->piece.size == 0 && !stream->ended)
        return STA_IO_BLOCKED;
    stream->last_ns = uv_hrtime();
    put_piece(exchange, stream);
    return STA_IO_DONE;
}

bool sta_stream_is_quiet(struct sta_exchange *exchange, uint64_t now_ns)
{
    struct sta_stream *stream = exchange->stream;
    bool quiet = now_ns - stream->last_ns >= HEARTBEAT_NS;
    stream->heartbeat |= quiet;
    if (quiet)
        stream->last_ns = now_ns;
    return quiet;
}
