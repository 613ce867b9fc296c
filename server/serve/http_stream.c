/* Streams: answers that come piece by piece, and sleep in between.
 *
 * DESIGN.  libmicrohttpd asks a stream for bytes; when there are none the connection is suspended and takes
 * no thread.  Whoever knows of news calls sta_http_wake_streams, which resumes the sleepers; each then asks
 * its source.  `woken` covers the moment between asking the source in vain and falling asleep.  stream_lock
 * guards the list and the flags; it is never held while a source is asked, nor while a connection is resumed:
 * its HTTP thread may then run at once, on the very core of the one who resumes it, and would wait for the
 * lock until that one gets a processor again.  Who clears `asleep` owes the resumption, and until then the
 * stream can't go away. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/http_private.h"

#define BLOCK 32768 /* bytes that are asked for at a time */
#define HEARTBEAT_NS UINT64_C(15000000000)

struct sta_stream {
    struct sta_stream *next, *previous;
    struct sta_stream *next_sleeper; /* of those that one caller resumes */
    struct sta_exchange *exchange;
    struct sta_http *http;
    struct sta_stream_source source;
    const char *content_type;
    struct sta_header *headers; /* owned texts */
    size_t header_count;
    struct sta_buffer out; /* produced, sent up to `sent`; HTTP thread only */
    size_t sent;
    bool source_ended, source_failed;
    bool asleep, woken, closing, heartbeat; /* under stream_lock */
    uint64_t last_ns;                       /* under stream_lock: when something was sent */
};

/* Under stream_lock.  Return: @sleepers, and the stream before them when it slept. */
static struct sta_stream *rouse(struct sta_stream *stream, struct sta_stream *sleepers)
{
    stream->woken = true;
    if (!stream->asleep)
        return sleepers;
    stream->asleep = false;
    stream->next_sleeper = sleepers;
    return stream;
}

void sta_streams_resume(struct sta_stream *sleepers)
{
    while (sleepers != NULL) {
        struct MHD_Connection *connection = sleepers->exchange->connection;
        sleepers = sleepers->next_sleeper; /* before: the stream may be gone after */
        MHD_resume_connection(connection);
    }
}

/* Takes and clears the flags.  Return: whether the stream goes on. */
static bool begin_turn(struct sta_stream *stream, bool *heartbeat)
{
    uv_mutex_lock(&stream->http->stream_lock);
    stream->woken = false;
    *heartbeat = stream->heartbeat;
    stream->heartbeat = false;
    bool closing = stream->closing;
    uv_mutex_unlock(&stream->http->stream_lock);
    return !closing;
}

static void end_turn(struct sta_stream *stream)
{
    uv_mutex_lock(&stream->http->stream_lock);
    if (stream->out.size > 0) {
        stream->last_ns = uv_hrtime();
    } else if (!stream->woken && !stream->source_ended) {
        stream->asleep = true;
        MHD_suspend_connection(stream->exchange->connection);
    }
    uv_mutex_unlock(&stream->http->stream_lock);
}

static ssize_t end_of(const struct sta_stream *stream)
{
    return stream->source_failed ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t read_stream(void *closure, uint64_t position, char *to, size_t room)
{
    struct sta_stream *stream = closure;
    if (stream->sent == stream->out.size) {
        bool heartbeat;
        if (stream->source_ended)
            return end_of(stream);
        if (!begin_turn(stream, &heartbeat))
            return stream->source.whole ? MHD_CONTENT_READER_END_WITH_ERROR
                                        : MHD_CONTENT_READER_END_OF_STREAM;
        sta_buffer_clear(&stream->out);
        stream->sent = 0;
        enum sta_stream_state state = stream->source.produce(stream->source.context, &stream->out, heartbeat);
        stream->source_ended = state != STA_STREAM_OPEN;
        stream->source_failed = state == STA_STREAM_FAILED;
        end_turn(stream);
    }
    size_t size = STA_MIN(room, stream->out.size - stream->sent);
    if (size == 0)
        return stream->source_ended ? end_of(stream) : 0;
    memcpy(to, stream->out.data + stream->sent, size);
    stream->sent += size;
    return (ssize_t)size;
}

static void stream_free(void *closure)
{
    struct sta_stream *stream = closure;
    struct sta_http *http = stream->http;
    uv_mutex_lock(&http->stream_lock);
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        http->streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    uv_mutex_unlock(&http->stream_lock);
    stream->source.release(stream->source.context);
    sta_buffer_fini(&stream->out);
    for (size_t i = 0; i < stream->header_count; i++) {
        free((char *)stream->headers[i].name);
        free((char *)stream->headers[i].value);
    }
    free(stream->headers);
    free(stream);
}

/* The client has left: the stream notices when it is asked again.  The gate resumes it if it slept. */
static bool client_gone(void *context)
{
    struct sta_stream *stream = context;
    uv_mutex_lock(&stream->http->stream_lock);
    stream->closing = true;
    bool slept = rouse(stream, NULL) != NULL;
    uv_mutex_unlock(&stream->http->stream_lock);
    return slept;
}

static void copy_headers(struct sta_stream *stream, const struct sta_stream_source *source)
{
    static const struct sta_header unstored = {"Cache-Control", "no-store"};
    const struct sta_header *headers = source->header_count > 0 ? source->headers : &unstored;
    stream->header_count = STA_MAX(source->header_count, 1);
    stream->headers = sta_alloc_array(stream->header_count, sizeof *stream->headers);
    for (size_t i = 0; i < stream->header_count; i++)
        stream->headers[i] = (struct sta_header){sta_strdup(headers[i].name), sta_strdup(headers[i].value)};
}

static struct sta_stream *stream_create(struct sta_exchange *exchange, const char *content_type,
                                        const struct sta_stream_source *source)
{
    struct sta_http *http = exchange->http;
    struct sta_stream *stream = sta_alloc(sizeof *stream);
    stream->exchange = exchange;
    stream->http = http;
    stream->source = *source;
    stream->content_type = content_type;
    stream->last_ns = uv_hrtime();
    sta_buffer_init(&stream->out);
    copy_headers(stream, source);
    uv_mutex_lock(&http->stream_lock);
    stream->next = http->streams;
    if (http->streams)
        http->streams->previous = stream;
    http->streams = stream;
    uv_mutex_unlock(&http->stream_lock);
    return stream;
}

void sta_exchange_stream(struct sta_exchange *exchange, const char *content_type,
                         const struct sta_stream_source *source)
{
    exchange->stream = stream_create(exchange, content_type, source);
}

void sta_exchange_finish_stream(struct sta_exchange *exchange, const char *content_type,
                                const struct sta_stream_source *source, struct sta_stream **stream)
{
    sta_gate_unwatch(exchange);
    exchange->stream = *stream = stream_create(exchange, content_type, source);
    MHD_resume_connection(exchange->connection);
}

void sta_stream_abandon(struct sta_exchange *exchange)
{
    stream_free(exchange->stream);
}

enum MHD_Result sta_stream_queue(struct sta_exchange *exchange)
{
    struct sta_stream *stream = exchange->stream;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, stream, stream_free);
    STA_ASSERT(response != NULL);
    MHD_add_response_header(response, "Content-Type", stream->content_type);
    for (size_t i = 0; i < stream->header_count; i++)
        MHD_add_response_header(response, stream->headers[i].name, stream->headers[i].value);
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    for (size_t i = 0; i < sta_safety_header_count; i++)
        MHD_add_response_header(response, sta_safety_headers[i].name, sta_safety_headers[i].value);
    for (unsigned i = 0; i < exchange->header_count; i++)
        MHD_add_response_header(response, exchange->headers[i].name, exchange->headers[i].value);
    exchange->status = MHD_HTTP_OK;
    sta_gate_watch(exchange, client_gone, stream);
    enum MHD_Result result = MHD_queue_response(exchange->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

struct sta_stream *sta_stream_rouse(struct sta_stream *stream)
{
    uv_mutex_lock(&stream->http->stream_lock);
    struct sta_stream *sleeper = rouse(stream, NULL);
    uv_mutex_unlock(&stream->http->stream_lock);
    return sleeper;
}

void sta_http_wake_streams(struct sta_http *http)
{
    struct sta_stream *sleepers = NULL;
    uv_mutex_lock(&http->stream_lock);
    for (struct sta_stream *stream = http->streams; stream; stream = stream->next)
        sleepers = rouse(stream, sleepers);
    uv_mutex_unlock(&http->stream_lock);
    sta_streams_resume(sleepers);
}

void sta_streams_tick(struct sta_http *http)
{
    uint64_t now = uv_hrtime();
    struct sta_stream *sleepers = NULL;
    uv_mutex_lock(&http->stream_lock);
    for (struct sta_stream *stream = http->streams; stream; stream = stream->next)
        if (stream->asleep && now - stream->last_ns >= HEARTBEAT_NS) {
            stream->heartbeat = true;
            sleepers = rouse(stream, sleepers);
        }
    uv_mutex_unlock(&http->stream_lock);
    sta_streams_resume(sleepers);
}

void sta_streams_end(struct sta_http *http, bool all)
{
    struct sta_stream *sleepers = NULL;
    uv_mutex_lock(&http->stream_lock);
    for (struct sta_stream *stream = http->streams; stream; stream = stream->next) {
        stream->closing |= all || !stream->source.whole;
        sleepers = rouse(stream, sleepers);
    }
    uv_mutex_unlock(&http->stream_lock);
    sta_streams_resume(sleepers);
}
