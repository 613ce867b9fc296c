/* Responses that may be long: streamed as fast as the client takes them, and never held whole.
 *
 * DESIGN.  Such a query is computed for one client alone; only its result is shared, through the cache of
 * results.  A query thread computes the result and writes a first piece.  When that is all, it goes out as
 * any other response.  Else the client gets a stream: stream threads write the next pieces, at most
 * READY_PIECES ahead of what was sent.  A stream whose pieces wait for a slow client has no thread; when one
 * was sent the HTTP thread orders the next, which queues behind those of other streams.  So a few threads
 * serve all streams in turn, and a stream takes memory for its pieces and for the row groups that its
 * reader is in.
 *
 * `lock` guards the pieces and what is said of them.  References: one of the stream (until release) or of the
 * task before there is a stream, and one of a piece that is being written. */
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <xxhash.h>
#include <zlib.h>

#include "common/log.h"
#include "common/memory.h"
#include "serve/responses/views.h"

#define SHORT_ROWS 8192                 /* a response of so many rows is no stream */
#define PIECE_ROWS 2048                 /* that are written at a time */
#define PIECE_BYTES (UINT64_C(1) << 18) /* about, of one piece */
#define READY_PIECES 2
#define FREE_PIECES (READY_PIECES + 2) /* all there are: those ready, one sent, one written */

struct streamed_response {
    _Atomic unsigned references;
    struct sta_call call;
    struct sta_view *view;
    struct sta_running_query running;
    _Atomic bool cancel;
    uint64_t client; /* number */
    char etag[64];
    struct sta_result *result;
    struct sta_page_writer *writer; /* of the one who writes a piece */
    uint64_t bytes;                 /* written; like writer */
    bool packed;
    z_stream zip; /* like writer */
    uv_mutex_t lock;
    struct sta_stream *stream; /* NULL: there is none yet, or no more */
    struct sta_buffer ready[READY_PIECES];
    unsigned ready_count;
    struct sta_buffer free_list[FREE_PIECES]; /* memory of pieces that were sent, for the next; so no HTTP
                                                 thread frees it */
    unsigned free_count;
    bool writing, ended, failed;
};

bool sta_view_may_be_long(const struct sta_view *view)
{
    const struct sta_page *page = &view->page;
    if (view->kind->result == NULL || view->text_form != NULL)
        return false;
    return view->explain || (page->has_limit ? page->limit > SHORT_ROWS : page->format != STA_FORMAT_JSON);
}

static struct streamed_response *streamed_create(const struct sta_call *call, struct sta_view *view)
{
    struct streamed_response *streamed = sta_alloc(sizeof *streamed);
    streamed->references = 1;
    streamed->call = *call;
    streamed->view = view;
    streamed->client = sta_exchange_client(call->exchange)->number;
    uv_mutex_init(&streamed->lock);
    for (unsigned i = 0; i < READY_PIECES; i++)
        sta_buffer_init(&streamed->ready[i]);
    return streamed;
}

static void streamed_release(struct streamed_response *streamed)
{
    if (atomic_fetch_sub(&streamed->references, 1) != 1)
        return;
    sta_page_writer_destroy(streamed->writer);
    sta_result_release(streamed->result);
    if (streamed->packed)
        deflateEnd(&streamed->zip);
    for (unsigned i = 0; i < READY_PIECES; i++)
        sta_buffer_fini(&streamed->ready[i]);
    for (unsigned i = 0; i < streamed->free_count; i++)
        sta_buffer_fini(&streamed->free_list[i]);
    uv_mutex_destroy(&streamed->lock);
    sta_view_destroy(streamed->view);
    free(streamed);
}

/* ---- pieces */

/* Packs a piece, in place.  Flushed, so that none is empty: an empty one would look to the stream as if it
 * had to wait. */
static void pack(struct streamed_response *streamed, struct sta_buffer *piece, bool last)
{
    struct sta_buffer packed;
    z_stream *zip = &streamed->zip;
    sta_buffer_init(&packed);
    zip->next_in = (unsigned char *)piece->data;
    zip->avail_in = (unsigned)piece->size;
    do {
        size_t capacity = deflateBound(zip, zip->avail_in) + 64;
        zip->next_out = (unsigned char *)sta_buffer_reserve(&packed, capacity);
        if (zip->next_out == NULL)
            break;
        zip->avail_out = (unsigned)capacity;
        (void)deflate(zip, last ? Z_FINISH : Z_SYNC_FLUSH);
        packed.size += capacity - zip->avail_out;
    } while (zip->avail_out == 0);
    sta_buffer_fini(piece);
    *piece = packed;
}

static int write_piece(struct streamed_response *streamed, struct sta_buffer *piece, bool *ended,
                       struct sta_error *err)
{
    int status = STA_OK;
    *ended = false;
    while (status == STA_OK && !*ended && piece->size < PIECE_BYTES)
        status = sta_page_write(streamed->writer, PIECE_ROWS, piece, ended, err);
    if (status == STA_OK && streamed->packed)
        pack(streamed, piece, *ended);
    if (status == STA_OK && piece->failed)
        status = sta_fail(err, STA_ENOMEM, "no memory for a piece of the response");
    return status;
}

static void run_piece(void *context, bool dropped);

/* Has the next piece written, unless one is or all are.  The caller has a reference and not the lock. */
static void order_piece(struct streamed_response *streamed)
{
    struct sta_error err = STA_ERROR_INIT;
    uv_mutex_lock(&streamed->lock);
    bool wanted = !streamed->writing && !streamed->ended && !streamed->failed && streamed->stream != NULL &&
                  streamed->ready_count < READY_PIECES;
    streamed->writing |= wanted;
    uv_mutex_unlock(&streamed->lock);
    if (!wanted)
        return;
    atomic_fetch_add(&streamed->references, 1);
    if (sta_workers_submit(streamed->view->server->streams, run_piece, streamed, &err) == STA_OK)
        return;
    uv_mutex_lock(&streamed->lock);
    streamed->writing = false;
    streamed->failed = true;
    uv_mutex_unlock(&streamed->lock);
    atomic_fetch_sub(&streamed->references, 1); /* never the last: the caller has one */
}

static void take_free(struct streamed_response *streamed, struct sta_buffer *piece)
{
    sta_buffer_init(piece);
    uv_mutex_lock(&streamed->lock);
    if (streamed->free_count > 0)
        *piece = streamed->free_list[--streamed->free_count];
    uv_mutex_unlock(&streamed->lock);
    sta_buffer_clear(piece);
}

static void run_piece(void *context, bool dropped)
{
    struct streamed_response *streamed = context;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer piece;
    bool ended = false;
    take_free(streamed, &piece);
    int status = dropped ? sta_fail(&err, STA_EBUSY, "The daemon is stopping")
                         : write_piece(streamed, &piece, &ended, &err);
    streamed->bytes += piece.size;
    sta_running_progress(streamed->view->server->running, &streamed->running, streamed->bytes,
                         sta_page_written(streamed->writer));
    if (status != STA_OK && status != STA_ECANCELLED)
        sta_log(STA_LOG_WARNING, "A response was cut off", "call", streamed->call.route->id, "cause",
                err.text, NULL);
    uv_mutex_lock(&streamed->lock);
    streamed->writing = false;
    streamed->ended = ended;
    streamed->failed |= status != STA_OK;
    if (status == STA_OK)
        streamed->ready[streamed->ready_count++] = piece;
    else
        sta_buffer_fini(&piece);
    if (streamed->stream != NULL)
        sta_stream_wake(streamed->stream);
    uv_mutex_unlock(&streamed->lock);
    order_piece(streamed);
    streamed_release(streamed);
}

/* ---- the stream's side */

/* In exchange for the one that was sent. */
static void take_piece(struct streamed_response *streamed, struct sta_buffer *out)
{
    uv_mutex_lock(&streamed->lock);
    if (out->data != NULL)
        streamed->free_list[streamed->free_count++] = *out;
    sta_buffer_init(out);
    if (streamed->ready_count > 0) {
        *out = streamed->ready[0];
        for (unsigned i = 1; i < streamed->ready_count; i++)
            streamed->ready[i - 1] = streamed->ready[i];
        sta_buffer_init(&streamed->ready[--streamed->ready_count]);
    }
    uv_mutex_unlock(&streamed->lock);
}

static enum sta_stream_state produce(void *context, struct sta_buffer *out, bool heartbeat)
{
    struct streamed_response *streamed = context;
    enum sta_stream_state state = STA_STREAM_OPEN;
    take_piece(streamed, out);
    order_piece(streamed);
    uv_mutex_lock(&streamed->lock);
    if (streamed->ready_count == 0 && streamed->failed)
        state = STA_STREAM_FAILED;
    else if (streamed->ready_count == 0 && streamed->ended)
        state = STA_STREAM_END;
    uv_mutex_unlock(&streamed->lock);
    return state;
}

static void release_late(void *context, bool dropped)
{
    struct streamed_response *streamed = context;
    struct sta_server *server = streamed->view->server;
    streamed_release(streamed);
    sta_server_trim(server);
}

/* The client has all, or has gone.  To let go of many rows takes a while, which is not for an HTTP thread. */
static void release_stream(void *context)
{
    struct streamed_response *streamed = context;
    struct sta_error err = STA_ERROR_INIT;
    uv_mutex_lock(&streamed->lock);
    streamed->stream = NULL;
    bool whole = streamed->ended && streamed->ready_count == 0;
    uv_mutex_unlock(&streamed->lock);
    int status =
        whole ? STA_OK : sta_fail(&err, STA_ECANCELLED, "The client did not take the whole response");
    sta_running_leave(streamed->view->server->running, &streamed->running, status, &err);
    atomic_store(&streamed->cancel, true);
    sta_shares_release(streamed->view->server->stream_places, streamed->client);
    if (sta_workers_submit(streamed->view->server->streams, release_late, streamed, &err) != STA_OK)
        streamed_release(streamed);
}

static void start_stream(struct streamed_response *streamed, struct sta_buffer *begun)
{
    char *missing = sta_view_missing(streamed->view);
    struct sta_header headers[5] = {{"Cache-Control", "private, no-cache"},
                                    {"Vary", "Accept, Accept-Encoding, Origin"},
                                    {"ETag", streamed->etag}};
    size_t header_count = 3;
    if (missing != NULL)
        headers[header_count++] = (struct sta_header){"Strata-Missing", missing};
    streamed->packed = sta_accepts_gzip(sta_exchange_header(streamed->call.exchange, "Accept-Encoding")) &&
                       deflateInit2(&streamed->zip, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (streamed->packed) {
        headers[header_count++] = (struct sta_header){"Content-Encoding", "gzip"};
        snprintf(streamed->etag + strlen(streamed->etag) - 1, 8, "-gzip\"");
        pack(streamed, begun, false);
    }
    streamed->ready[streamed->ready_count++] = *begun;
    sta_buffer_init(begun);
    struct sta_stream_source source = {.produce = produce,
                                       .release = release_stream,
                                       .context = streamed,
                                       .headers = headers,
                                       .header_count = header_count,
                                       .whole = true};
    sta_exchange_finish_stream(streamed->call.exchange, sta_format_content_type(streamed->view->page.format),
                               &source, &streamed->stream);
    free(missing);
}

/* ---- the query's side */

static bool on_gone(void *context)
{
    struct streamed_response *streamed = context;
    atomic_store(&streamed->cancel, true);
    return false; /* the task finishes the exchange */
}

/* The same query to the same versions gives the same bytes, so its key can tag them before there are
 * any. */
static void make_etag(struct streamed_response *streamed)
{
    const struct sta_buffer *key = &streamed->view->key;
    XXH128_hash_t hash = XXH3_128bits(key->data, key->size);
    snprintf(streamed->etag, sizeof streamed->etag, "\"%016llx%016llx\"", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static int find_result(struct streamed_response *streamed, const struct sta_budget *budget,
                       struct sta_error *err)
{
    struct sta_view *view = streamed->view;
    if (!view->explain)
        return sta_view_find_result(view, budget, &streamed->result, err);
    int status = view->kind->result(view, budget, &streamed->result, err);
    if (status != STA_OK)
        return sta_view_blame(view, err);
    sta_result_count_in(streamed->result, view->server->options.account);
    return STA_OK;
}

/* Computes the result and writes what a short response has. */
static int begin(struct streamed_response *streamed, struct sta_response *response, bool *ended,
                 struct sta_error *err)
{
    struct sta_view *view = streamed->view;
    struct sta_budget budget = sta_view_budget(view, &streamed->cancel);
    budget.progress = &streamed->running.progress;
    int status = find_result(streamed, &budget, err);
    if (status != STA_OK)
        return sta_view_say_why(view, &budget, status, err);
    budget.deadline_ns = 0;                  /* from here on it takes as long as the client takes */
    budget.memory /= STA_STREAMS_PER_THREAD; /* all streams together: what as many queries may hold */
    response->content_type = sta_format_content_type(view->page.format);
    status = sta_page_writer_create(streamed->result, &view->page, &budget, &streamed->writer, err);
    while (status == STA_OK && !*ended && !response->body.failed &&
           (view->explain || sta_page_written(streamed->writer) < SHORT_ROWS))
        status = sta_page_write(streamed->writer, PIECE_ROWS, &response->body, ended, err);
    if (status == STA_OK && response->body.failed)
        status = sta_view_fail_size(view, &response->body, err);
    if (status == STA_OK && *ended)
        response->next = sta_page_take_next(streamed->writer);
    if (status != STA_OK || !view->explain)
        return status;
    response->body.size--; /* the brace */
    sta_put_member(&response->body, "explain");
    view->kind->explain(streamed->result, &response->body);
    sta_put_char(&response->body, '}');
    response->no_store = true;
    return STA_OK;
}

static void finish_short(struct streamed_response *streamed, int status, struct sta_response *response,
                         const struct sta_error *err)
{
    struct sta_exchange *exchange = streamed->call.exchange;
    sta_running_leave(streamed->view->server->running, &streamed->running, status, err);
    if (status == STA_OK)
        sta_view_note_missing(streamed->view, response);
    if (status != STA_OK || response->no_store) {
        sta_call_respond(&streamed->call, status, response, err, true);
    } else {
        struct sta_representation *content = sta_representation_create(response, "private, no-cache");
        sta_exchange_finish(exchange, sta_representation_choose(content, exchange));
        sta_representation_release(content);
        sta_response_fini(response);
    }
    release_late(streamed, false);
}

/* A response that the client has: nothing is computed. */
static bool is_unmodified(struct streamed_response *streamed, struct sta_response *response)
{
    struct sta_exchange *exchange = streamed->call.exchange;
    if (streamed->view->explain || sta_exchange_method(exchange) == STA_POST ||
        !sta_etag_matches(sta_exchange_header(exchange, "If-None-Match"), streamed->etag))
        return false;
    response->status = 304;
    response->no_store = true;
    sta_response_header(response, "ETag", streamed->etag);
    return true;
}

static void run_long(void *context, bool dropped)
{
    struct streamed_response *streamed = context;
    struct sta_view *view = streamed->view;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_response response;
    bool ended = false;
    sta_response_init(&response);
    response.body.limit = view->server->options.query_memory;
    response.body.account = view->server->options.account;
    streamed->running.kind = view->kind->name;
    streamed->running.trace = view->trace;
    streamed->running.cancel = &streamed->cancel;
    sta_running_enter(view->server->running, &streamed->running);
    int status = dropped ? sta_fail(&err, STA_EBUSY, "The daemon is stopping") : sta_view_open(view, &err);
    if (status == STA_OK) {
        make_etag(streamed);
        ended = is_unmodified(streamed, &response);
        if (!ended)
            status = begin(streamed, &response, &ended, &err);
    }
    if (status == STA_OK && !ended && !sta_shares_take(view->server->stream_places, streamed->client))
        status = sta_fail(&err, STA_EBUSY,
                          "As many long responses are being sent to this client as its share is of %d for "
                          "each of the setting "
                          "running_queries; ask again in a moment",
                          STA_STREAMS_PER_THREAD);
    if (status != STA_OK || ended) {
        finish_short(streamed, status, &response, &err);
        return;
    }
    start_stream(streamed, &response.body);
    sta_response_fini(&response);
}

void sta_view_stream_result(struct sta_call *call, struct sta_view *view)
{
    struct sta_error err = STA_ERROR_INIT;
    struct streamed_response *streamed = streamed_create(call, view);
    sta_exchange_park(call->exchange, on_gone, streamed);
    if (sta_workers_submit(view->server->queries, run_long, streamed, &err) == STA_OK)
        return;
    struct sta_response response;
    sta_response_init(&response);
    sta_call_respond(call, err.status, &response, &err, true);
    streamed_release(streamed);
}
