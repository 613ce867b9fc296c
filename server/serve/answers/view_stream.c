/* Answers that may be long: streamed as fast as the client takes them, and never held whole.
 *
 * DESIGN.  Such a question is asked for one client alone; only its result is shared, by way of those that are
 * kept.  A question thread computes the result and writes a first piece.  When that is all, it goes out as
 * any other answer.  Else the client gets a stream: stream threads write the next pieces, at most
 * READY_PIECES ahead of what was sent.  A stream whose pieces wait for a slow client has no thread; when one
 * was sent the HTTP thread orders the next, which queues behind those of other streams.  So a few threads
 * serve all streams in turn, and a stream takes memory for its pieces and for the blocks that its reader is
 * in.
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
#include "serve/answers/views.h"

#define SHORT_ROWS 8192                 /* an answer of so many rows is no stream */
#define PIECE_ROWS 2048                 /* that are written at a time */
#define PIECE_BYTES (UINT64_C(1) << 18) /* about, of one piece */
#define READY_PIECES 2
#define SPARE_PIECES (READY_PIECES + 2) /* all there are: those ready, one sent, one written */

struct long_answer {
    _Atomic unsigned references;
    struct sta_call call;
    struct sta_view *view;
    struct sta_running_question running;
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
    struct sta_buffer
        spare[SPARE_PIECES]; /* memory of pieces that were sent, for the next; so no HTTP thread frees it */
    unsigned spare_count;
    bool writing, ended, failed;
};

bool sta_view_may_be_long(const struct sta_view *view)
{
    const struct sta_page *page = &view->page;
    if (view->kind->result == NULL || view->text_form != NULL)
        return false;
    return view->explain || (page->has_limit ? page->limit > SHORT_ROWS : page->format != STA_FORMAT_JSON);
}

static struct long_answer *answer_create(const struct sta_call *call, struct sta_view *view)
{
    struct long_answer *answer = sta_alloc(sizeof *answer);
    answer->references = 1;
    answer->call = *call;
    answer->view = view;
    answer->client = sta_exchange_client(call->exchange)->number;
    uv_mutex_init(&answer->lock);
    for (unsigned i = 0; i < READY_PIECES; i++)
        sta_buffer_init(&answer->ready[i]);
    return answer;
}

static void answer_release(struct long_answer *answer)
{
    if (atomic_fetch_sub(&answer->references, 1) != 1)
        return;
    sta_page_writer_destroy(answer->writer);
    sta_result_release(answer->result);
    if (answer->packed)
        deflateEnd(&answer->zip);
    for (unsigned i = 0; i < READY_PIECES; i++)
        sta_buffer_fini(&answer->ready[i]);
    for (unsigned i = 0; i < answer->spare_count; i++)
        sta_buffer_fini(&answer->spare[i]);
    uv_mutex_destroy(&answer->lock);
    sta_view_destroy(answer->view);
    free(answer);
}

/* ---- pieces */

/* Packs a piece, in place.  Flushed, so that none is empty: an empty one would look to the stream as if it
 * had to wait. */
static void pack(struct long_answer *answer, struct sta_buffer *piece, bool last)
{
    struct sta_buffer packed;
    z_stream *zip = &answer->zip;
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

static int write_piece(struct long_answer *answer, struct sta_buffer *piece, bool *ended,
                       struct sta_error *err)
{
    int status = STA_OK;
    *ended = false;
    while (status == STA_OK && !*ended && piece->size < PIECE_BYTES)
        status = sta_page_write(answer->writer, PIECE_ROWS, piece, ended, err);
    if (status == STA_OK && answer->packed)
        pack(answer, piece, *ended);
    if (status == STA_OK && piece->failed)
        status = sta_fail(err, STA_ENOMEM, "no memory for a piece of the answer");
    return status;
}

static void run_piece(void *context, bool dropped);

/* Has the next piece written, unless one is or all are.  The caller has a reference and not the lock. */
static void order_piece(struct long_answer *answer)
{
    struct sta_error err = STA_ERROR_INIT;
    uv_mutex_lock(&answer->lock);
    bool wanted = !answer->writing && !answer->ended && !answer->failed && answer->stream != NULL &&
                  answer->ready_count < READY_PIECES;
    answer->writing |= wanted;
    uv_mutex_unlock(&answer->lock);
    if (!wanted)
        return;
    atomic_fetch_add(&answer->references, 1);
    if (sta_workers_submit(answer->view->server->streams, run_piece, answer, &err) == STA_OK)
        return;
    uv_mutex_lock(&answer->lock);
    answer->writing = false;
    answer->failed = true;
    uv_mutex_unlock(&answer->lock);
    atomic_fetch_sub(&answer->references, 1); /* never the last: the caller has one */
}

static void take_spare(struct long_answer *answer, struct sta_buffer *piece)
{
    sta_buffer_init(piece);
    uv_mutex_lock(&answer->lock);
    if (answer->spare_count > 0)
        *piece = answer->spare[--answer->spare_count];
    uv_mutex_unlock(&answer->lock);
    sta_buffer_clear(piece);
}

static void run_piece(void *context, bool dropped)
{
    struct long_answer *answer = context;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer piece;
    bool ended = false;
    take_spare(answer, &piece);
    int status = dropped ? sta_fail(&err, STA_EBUSY, "The daemon is stopping")
                         : write_piece(answer, &piece, &ended, &err);
    answer->bytes += piece.size;
    sta_running_progress(answer->view->server->running, &answer->running, answer->bytes,
                         sta_page_written(answer->writer));
    if (status != STA_OK && status != STA_ECANCELLED)
        sta_log(STA_LOG_WARNING, "An answer was cut", "call", answer->call.route->id, "cause", err.text,
                NULL);
    uv_mutex_lock(&answer->lock);
    answer->writing = false;
    answer->ended = ended;
    answer->failed |= status != STA_OK;
    if (status == STA_OK)
        answer->ready[answer->ready_count++] = piece;
    else
        sta_buffer_fini(&piece);
    if (answer->stream != NULL)
        sta_stream_wake(answer->stream);
    uv_mutex_unlock(&answer->lock);
    order_piece(answer);
    answer_release(answer);
}

/* ---- the stream's side */

/* In exchange for the one that was sent. */
static void take_piece(struct long_answer *answer, struct sta_buffer *out)
{
    uv_mutex_lock(&answer->lock);
    if (out->data != NULL)
        answer->spare[answer->spare_count++] = *out;
    sta_buffer_init(out);
    if (answer->ready_count > 0) {
        *out = answer->ready[0];
        for (unsigned i = 1; i < answer->ready_count; i++)
            answer->ready[i - 1] = answer->ready[i];
        sta_buffer_init(&answer->ready[--answer->ready_count]);
    }
    uv_mutex_unlock(&answer->lock);
}

static enum sta_stream_state produce(void *context, struct sta_buffer *out, bool heartbeat)
{
    struct long_answer *answer = context;
    enum sta_stream_state state = STA_STREAM_OPEN;
    take_piece(answer, out);
    order_piece(answer);
    uv_mutex_lock(&answer->lock);
    if (answer->ready_count == 0 && answer->failed)
        state = STA_STREAM_FAILED;
    else if (answer->ready_count == 0 && answer->ended)
        state = STA_STREAM_END;
    uv_mutex_unlock(&answer->lock);
    return state;
}

static void release_late(void *context, bool dropped)
{
    struct long_answer *answer = context;
    uint64_t keep = answer->view->server->options.query_memory;
    answer_release(answer);
    sta_memory_trim_grown(keep);
}

/* The client has all, or has gone.  To let go of many rows takes a while, which is not for an HTTP thread. */
static void release_stream(void *context)
{
    struct long_answer *answer = context;
    struct sta_error err = STA_ERROR_INIT;
    uv_mutex_lock(&answer->lock);
    answer->stream = NULL;
    bool whole = answer->ended && answer->ready_count == 0;
    uv_mutex_unlock(&answer->lock);
    int status = whole ? STA_OK : sta_fail(&err, STA_ECANCELLED, "The client did not take the whole answer");
    sta_running_leave(answer->view->server->running, &answer->running, status, &err);
    atomic_store(&answer->cancel, true);
    sta_shares_release(answer->view->server->stream_places, answer->client);
    if (sta_workers_submit(answer->view->server->streams, release_late, answer, &err) != STA_OK)
        answer_release(answer);
}

static void start_stream(struct long_answer *answer, struct sta_buffer *begun)
{
    char *missing = sta_view_missing(answer->view);
    struct sta_header headers[5] = {{"Cache-Control", "private, no-cache"},
                                    {"Vary", "Accept, Accept-Encoding, Origin"},
                                    {"ETag", answer->etag}};
    size_t header_count = 3;
    if (missing != NULL)
        headers[header_count++] = (struct sta_header){"Strata-Missing", missing};
    answer->packed = sta_accepts_gzip(sta_exchange_header(answer->call.exchange, "Accept-Encoding")) &&
                     deflateInit2(&answer->zip, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (answer->packed) {
        headers[header_count++] = (struct sta_header){"Content-Encoding", "gzip"};
        snprintf(answer->etag + strlen(answer->etag) - 1, 8, "-gzip\"");
        pack(answer, begun, false);
    }
    answer->ready[answer->ready_count++] = *begun;
    sta_buffer_init(begun);
    struct sta_stream_source source = {.produce = produce,
                                       .release = release_stream,
                                       .context = answer,
                                       .headers = headers,
                                       .header_count = header_count,
                                       .whole = true};
    sta_exchange_finish_stream(answer->call.exchange, sta_format_content_type(answer->view->page.format),
                               &source, &answer->stream);
    free(missing);
}

/* ---- the question's side */

static bool on_gone(void *context)
{
    struct long_answer *answer = context;
    atomic_store(&answer->cancel, true);
    return false; /* the task finishes the exchange */
}

/* The same question to the same versions gives the same bytes, so its key can tag them before there are
 * any. */
static void make_etag(struct long_answer *answer)
{
    const struct sta_buffer *key = &answer->view->key;
    XXH128_hash_t hash = XXH3_128bits(key->data, key->size);
    snprintf(answer->etag, sizeof answer->etag, "\"%016llx%016llx\"", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static int find_result(struct long_answer *answer, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_view *view = answer->view;
    if (!view->explain)
        return sta_view_find_result(view, budget, &answer->result, err);
    int status = view->kind->result(view, budget, &answer->result, err);
    if (status != STA_OK)
        return sta_view_blame(view, err);
    sta_result_count_in(answer->result, view->server->options.account);
    return STA_OK;
}

/* Computes the result and writes what a short answer has. */
static int begin(struct long_answer *answer, struct sta_response *response, bool *ended,
                 struct sta_error *err)
{
    struct sta_view *view = answer->view;
    struct sta_budget budget = sta_view_budget(view, &answer->cancel);
    budget.progress = &answer->running.progress;
    int status = find_result(answer, &budget, err);
    if (status != STA_OK)
        return sta_view_say_why(view, &budget, status, err);
    budget.deadline_ns = 0;                  /* from here on it takes as long as the client takes */
    budget.memory /= STA_STREAMS_PER_THREAD; /* all streams together: what as many questions may hold */
    response->content_type = sta_format_content_type(view->page.format);
    status = sta_page_writer_create(answer->result, &view->page, &budget, &answer->writer, err);
    while (status == STA_OK && !*ended && !response->body.failed &&
           (view->explain || sta_page_written(answer->writer) < SHORT_ROWS))
        status = sta_page_write(answer->writer, PIECE_ROWS, &response->body, ended, err);
    if (status == STA_OK && response->body.failed)
        status = sta_view_fail_size(view, &response->body, err);
    if (status == STA_OK && *ended)
        response->next = sta_page_take_next(answer->writer);
    if (status != STA_OK || !view->explain)
        return status;
    response->body.size--; /* the brace */
    sta_put_member(&response->body, "explain");
    view->kind->explain(answer->result, &response->body);
    sta_put_char(&response->body, '}');
    response->no_store = true;
    return STA_OK;
}

static void finish_short(struct long_answer *answer, int status, struct sta_response *response,
                         const struct sta_error *err)
{
    struct sta_exchange *exchange = answer->call.exchange;
    sta_running_leave(answer->view->server->running, &answer->running, status, err);
    if (status == STA_OK)
        sta_view_note_missing(answer->view, response);
    if (status != STA_OK || response->no_store) {
        sta_call_answer(&answer->call, status, response, err, true);
    } else {
        struct sta_content *content = sta_content_create(response, "private, no-cache");
        sta_exchange_finish(exchange, sta_content_choose(content, exchange));
        sta_content_release(content);
        sta_response_fini(response);
    }
    release_late(answer, false);
}

/* An answer that the client has: nothing is computed. */
static bool is_unmodified(struct long_answer *answer, struct sta_response *response)
{
    struct sta_exchange *exchange = answer->call.exchange;
    if (answer->view->explain || sta_exchange_method(exchange) == STA_POST ||
        !sta_etag_matches(sta_exchange_header(exchange, "If-None-Match"), answer->etag))
        return false;
    response->status = 304;
    response->no_store = true;
    sta_response_header(response, "ETag", answer->etag);
    return true;
}

static void run_long(void *context, bool dropped)
{
    struct long_answer *answer = context;
    struct sta_view *view = answer->view;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_response response;
    bool ended = false;
    sta_response_init(&response);
    response.body.limit = view->server->options.query_memory;
    response.body.account = view->server->options.account;
    answer->running.kind = view->kind->name;
    answer->running.trace = view->trace;
    answer->running.cancel = &answer->cancel;
    sta_running_enter(view->server->running, &answer->running);
    int status = dropped ? sta_fail(&err, STA_EBUSY, "The daemon is stopping") : sta_view_open(view, &err);
    if (status == STA_OK) {
        make_etag(answer);
        ended = is_unmodified(answer, &response);
        if (!ended)
            status = begin(answer, &response, &ended, &err);
    }
    if (status == STA_OK && !ended && !sta_shares_take(view->server->stream_places, answer->client))
        status = sta_fail(&err, STA_EBUSY,
                          "As many long answers are on their way to this client as its share is of %d for "
                          "each of the setting "
                          "running_queries; ask again in a moment",
                          STA_STREAMS_PER_THREAD);
    if (status != STA_OK || ended) {
        finish_short(answer, status, &response, &err);
        return;
    }
    start_stream(answer, &response.body);
    sta_response_fini(&response);
}

void sta_view_answer_long(struct sta_call *call, struct sta_view *view)
{
    struct sta_error err = STA_ERROR_INIT;
    struct long_answer *answer = answer_create(call, view);
    sta_exchange_park(call->exchange, on_gone, answer);
    if (sta_workers_submit(view->server->questions, run_long, answer, &err) == STA_OK)
        return;
    struct sta_response response;
    sta_response_init(&response);
    sta_call_answer(call, err.status, &response, &err, true);
    answer_release(answer);
}
