/* The workers: each reads a chunk of some source, then scans it.
 *
 * DESIGN.  A worker stays with its source while there are chunks (its text is still in the cache that
 * inflated it).  When sources run out it helps with one that others are reading.  One worker at a time reads
 * a source, which takes two thirds of the time of scanning: of a source that several share it reads some
 * chunks ahead, so that nobody waits for text while another is busy with what a full segment takes.
 * Sources are opened when first read and closed at their end, so few files are open at a time. */
#include "decode/decode.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "decode/chunk_ring.h"
#include "decode/chunks.h"
#include "decode/files_private.h"
#include "decode/formats.h"

struct source_run {
    /* These belong to the worker that reads. */
    const struct sta_decode_file *file;
    int fd;                            /* -1: not open */
    struct sta_file_identity identity; /* when it was opened */
    struct sta_chunker chunker;
    bool opened;
    bool gzip;
    uint64_t added; /* of chunker.consumed, added to the progress so far */

    pthread_mutex_t lock;         /* guards what follows, and the source's counts and notes */
    pthread_cond_t read;          /* a chunk was read, or nobody reads any more */
    bool reading;                 /* a worker does */
    bool exhausted;               /* no further chunk can be read */
    struct sta_chunk_ring *ahead; /* what was read ahead; NULL while no other worker has come to help */
};

struct decode_run {
    const struct sta_decode_request *request;
    const struct sta_trace_format *format;
    struct source_run *sources;
    atomic_size_t next; /* the next source that nobody has begun */
    atomic_bool failed;
    pthread_mutex_t lock; /* guards the error */
    struct sta_error *err;
};

static bool must_stop(struct decode_run *run)
{
    return atomic_load(&run->failed) || atomic_load(&run->request->progress->cancel);
}

static void fail(struct decode_run *run, const struct sta_error *cause)
{
    pthread_mutex_lock(&run->lock);
    if (!atomic_exchange(&run->failed, true))
        *run->err = *cause;
    pthread_mutex_unlock(&run->lock);
}

/* ---- one source: all under its lock */

static void set_reason(struct sta_source *source, enum sta_source_state state, const char *reason)
{
    source->state = state;
    free(source->reason);
    source->reason = reason ? sta_strdup(reason) : NULL;
}

static int open_file(struct decode_run *run, struct source_run *source, struct sta_byte_source **bytes,
                     struct sta_error *err)
{
    const struct sta_decode_file *file = source->file;
    int status = sta_roots_open(run->request->roots, file->file, O_RDONLY | O_NOCTTY | O_NONBLOCK, NULL,
                                &source->fd, err);
    if (status == STA_OK)
        status = sta_file_identify(source->fd, file->file, file->range.end, &source->identity, err);
    if (status == STA_OK && file->resume)
        status = sta_source_check_beginning(file->source, source->fd, file->file, err);
    if (status == STA_OK)
        status = sta_source_open(source->fd, file->file, run->format->framing == STA_FRAMING_LINES,
                                 file->resume ? file->source : NULL, bytes, &source->gzip, err);
    if (status == STA_OK && file->range.begin > 0) {
        status = sta_source_begin_at(*bytes, source->fd, file->range.begin, file->file, err);
        if (status != STA_OK)
            (*bytes)->close(*bytes);
    }
    if (status == STA_OK) /* what was appended since it was identified is for the next time */
        (*bytes)->file_size = STA_MAX(source->identity.size, (*bytes)->consumed);
    return status;
}

static void close_file(struct source_run *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

/* A file that cannot be opened.  What it is, or that it is gone, is a fact about it; any other failure proves
 * nothing about the events that it gave before. */
static void reject(struct decode_run *run, struct source_run *source, const struct sta_error *err)
{
    struct sta_source *ledger = source->file->source;
    bool is_fact = err->status == STA_EINPUT || err->status == STA_EFORBIDDEN || err->status == STA_ENOTFOUND;
    bool our_fault = err->status == STA_EBUSY || err->status == STA_ENOMEM;
    if (our_fault || (source->file->known && !is_fact))
        fail(run, err);
    set_reason(ledger, err->status == STA_ENOTFOUND ? STA_SOURCE_VANISHED : STA_SOURCE_REJECTED, err->text);
    if (err->status == STA_EINPUT) { /* it is compared with these when it is looked at again */
        ledger->size = source->identity.size;
        ledger->mtime_ns = source->identity.mtime_ns;
        ledger->fingerprint = source->identity.fingerprint;
    }
    close_file(source);
}

static void open_source(struct decode_run *run, struct source_run *source)
{
    struct sta_byte_source *bytes;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_source *ledger = source->file->source;
    bool resume = source->file->resume;
    source->opened = true;
    if (open_file(run, source, &bytes, &err) != STA_OK) {
        reject(run, source, &err);
        return;
    }
    set_reason(ledger, STA_SOURCE_COMPLETE, NULL);
    source->added = bytes->consumed;
    sta_chunker_init(&source->chunker, bytes,
                     (resume ? ledger->counts.physical_lines : source->file->range.lines_before) + 1,
                     resume ? ledger->counts.json_bytes : source->file->range.text_before,
                     run->request->json_limit, &run->request->progress->cancel);
    source->chunker.framing = run->format->framing;
    source->chunker.account = run->request->account;
}

static void add_reading(struct sta_source *ledger, const struct sta_chunker *chunker)
{
    char reason[160];
    ledger->counts.physical_lines = chunker->next_line - 1;
    ledger->counts.json_bytes = chunker->next_offset;
    ledger->counts.lines += chunker->long_line_count;
    ledger->counts.malformed += chunker->long_line_count;
    sta_line_notes_merge(&ledger->malformed, &chunker->long_lines);
    if (chunker->state == STA_BYTES_CUT)
        set_reason(ledger, STA_SOURCE_TRUNCATED, chunker->reason);
    if (chunker->withheld == 0)
        return;
    snprintf(reason, sizeof reason, "ends inside a %s; it is read on from byte %llu when the file has grown",
             chunker->framing == STA_FRAMING_LINES ? "line" : "record",
             (unsigned long long)chunker->next_offset);
    set_reason(ledger, STA_SOURCE_TRUNCATED, reason);
}

/* Of a file that could not be read to its end nothing can be compared later: it is read again then. */
static void identify_part(struct source_run *source)
{
    struct sta_source *ledger = source->file->source;
    ledger->size = ledger->counts.bytes = source->chunker.consumed;
    ledger->mtime_ns = 0;
    ledger->fingerprint = 0;
}

/* Whether the file is still what it was when it was opened.  A file that was rewritten meanwhile gave old and
 * new lines: the run is to begin again, or takes note of it. */
static void compare_with_opening(struct decode_run *run, struct source_run *source)
{
    struct sta_source *ledger = source->file->source;
    struct sta_error err = STA_ERROR_INIT;
    bool rewritten;
    int status = sta_file_was_rewritten(source->fd, ledger->path, &source->identity, &rewritten, &err);
    if (status == STA_OK && !rewritten) {
        sta_source_identify(ledger, &source->identity);
        return;
    }
    if (status == STA_OK)
        status = sta_fail(&err, STA_EOUTDATED, "%s was rewritten while it was read", ledger->path);
    identify_part(source);
    bool lost = status != STA_EOUTDATED && source->file->known;
    if (!lost && (run->request->accept_rewritten || status != STA_EOUTDATED))
        set_reason(ledger, STA_SOURCE_STALE, err.text);
    else
        fail(run, &err);
}

static void close_source(struct decode_run *run, struct source_run *source)
{
    struct sta_source *ledger = source->file->source;
    struct sta_chunker *chunker = &source->chunker;
    pthread_mutex_lock(&source->lock);
    add_reading(ledger, chunker);
    ledger->resumable = chunker->state == STA_BYTES_END &&
                        (chunker->ends_with_line || (chunker->withheld > 0 && !source->gzip)) &&
                        source->identity.size > 0;
    if (chunker->failed)
        identify_part(source);
    else if (!must_stop(run))
        compare_with_opening(run, source);
    pthread_mutex_unlock(&source->lock);
    if (chunker->failed && source->file->known) {
        struct sta_error err = STA_ERROR_INIT;
        sta_fail(&err, STA_EIO, "%s %s", ledger->path, chunker->reason);
        fail(run, &err);
    }
    close_file(source);
    sta_chunker_fini(chunker);
}

static void tell_progress(struct decode_run *run, struct source_run *source, size_t json_bytes)
{
    atomic_fetch_add(&run->request->progress->json_bytes, json_bytes);
    atomic_fetch_add(&run->request->progress->bytes, source->chunker.consumed - source->added);
    source->added = source->chunker.consumed;
}

/* Reads the source's next chunk.  Return: false when it has none left. */
static bool read_chunk(struct decode_run *run, struct source_run *source, void *scanner,
                       struct sta_chunk_text *chunk)
{
    struct sta_error err = STA_ERROR_INIT;
    if (!source->opened)
        open_source(run, source);
    if (source->fd < 0)
        return false;
    bool more = sta_chunker_next(&source->chunker, chunk, &err);
    if (err.status != STA_OK) {
        sta_error_wrap(&err, "cannot read %s", source->file->source->path);
        fail(run, &err);
    }
    if (more && chunk->unended && !source->gzip && source->chunker.state == STA_BYTES_END &&
        !run->format->last_is_whole(scanner, chunk))
        more = sta_chunker_withhold(&source->chunker, chunk);
    tell_progress(run, source, more ? chunk->size : 0);
    if (!more)
        close_source(run, source);
    return more;
}

/* ---- one worker */

struct worker {
    struct decode_run *run;
    unsigned number;
    void *scanner; /* of the format */
    struct sta_chunk_text chunk;
    struct sta_batch batch;
    struct sta_buffer counters;
};

/* Reads until as many chunks lie ahead as may, while others take of them, and one for this worker: the last
 * one, which is still in its cache.  The source's lock is held but while reading.  Return: false when no
 * chunk was left to read. */
static bool read_on(struct worker *worker, struct source_run *source)
{
    source->reading = true;
    bool more, enough = false;
    do {
        pthread_mutex_unlock(&source->lock);
        more = read_chunk(worker->run, source, worker->scanner, &worker->chunk);
        pthread_mutex_lock(&source->lock);
        if (more)
            enough = source->ahead == NULL || !sta_chunk_ring_put(source->ahead, &worker->chunk);
        if (more && !enough)
            pthread_cond_signal(&source->read);
    } while (more && !enough);
    source->reading = false;
    source->exhausted = !more;
    pthread_cond_broadcast(&source->read);
    return more;
}

/* The source's next chunk.  Return: false when it has none left. */
static bool next_chunk(struct worker *worker, struct source_run *source)
{
    bool got = false;
    pthread_mutex_lock(&source->lock);
    while (source->reading && !(got = sta_chunk_ring_take(source->ahead, &worker->chunk)))
        pthread_cond_wait(&source->read, &source->lock);
    if (!got)
        got = (!source->exhausted && read_on(worker, source)) ||
              sta_chunk_ring_take(source->ahead, &worker->chunk);
    pthread_mutex_unlock(&source->lock);
    return got;
}

static void add_outcome(struct source_run *source, struct sta_chunk_outcome *outcome)
{
    struct sta_source *ledger = source->file->source;
    pthread_mutex_lock(&source->lock);
    sta_ledger_add(&ledger->counts, &outcome->counts);
    sta_line_notes_merge(&ledger->malformed, &outcome->malformed);
    sta_line_notes_merge(&ledger->repaired, &outcome->repaired);
    pthread_mutex_unlock(&source->lock);
}

static int hand_over(struct worker *worker, struct sta_error *err)
{
    const struct sta_decode_request *request = worker->run->request;
    int status = sta_tables_failure(request->tables, err);
    if (status == STA_OK && worker->counters.failed)
        status = sta_fail(err, STA_ENOMEM, "no memory for the counters of a chunk");
    if (status == STA_OK && worker->batch.count > 0)
        status = request->batch(request->context, worker->number, &worker->batch, err);
    if (status == STA_OK && worker->counters.size > 0)
        status = request->counters(request->context, worker->number, worker->counters.data,
                                   worker->counters.size, err);
    sta_batch_clear(&worker->batch);
    sta_buffer_clear(&worker->counters);
    return status;
}

static void scan_chunk(struct worker *worker, struct source_run *source)
{
    const struct sta_decode_request *request = worker->run->request;
    struct sta_chunk_outcome outcome = {0};
    struct sta_error err = STA_ERROR_INIT;
    worker->batch.source = (uint32_t)(source - worker->run->sources);
    worker->batch.first_line = worker->chunk.first_line;
    worker->run->format->scan(worker->scanner, &worker->chunk, source->file->source->path, &worker->batch,
                              request->counters ? &worker->counters : NULL, &outcome);
    atomic_fetch_add(&request->progress->lines, outcome.counts.lines);
    atomic_fetch_add(&request->progress->events, outcome.counts.events);
    add_outcome(source, &outcome);
    sta_line_notes_fini(&outcome.malformed);
    sta_line_notes_fini(&outcome.repaired);
    if (hand_over(worker, &err) != STA_OK)
        fail(worker->run, &err);
}

/* A source that others have begun and that is not at its end, beginning behind this worker's own. */
static struct source_run *source_to_help(struct decode_run *run, size_t from)
{
    size_t count = run->request->file_count;
    for (size_t i = 0; i < count; i++) {
        struct source_run *source = &run->sources[(from + i) % count];
        pthread_mutex_lock(&source->lock);
        bool useful = !source->exhausted || (source->ahead != NULL && source->ahead->count > 0);
        if (useful && source->ahead == NULL)
            source->ahead = sta_chunk_ring_create(run->request->account);
        pthread_mutex_unlock(&source->lock);
        if (useful)
            return source;
    }
    return NULL;
}

static struct source_run *next_source(struct decode_run *run, unsigned worker)
{
    size_t next = atomic_fetch_add(&run->next, 1);
    return next < run->request->file_count ? &run->sources[next] : source_to_help(run, worker);
}

/* What a chunk takes is bounded, but not asked for piece by piece: so no chunk is begun when memory is gone.
 */
static bool has_memory(struct decode_run *run)
{
    struct sta_error err = STA_ERROR_INIT;
    if (sta_account_check(run->request->account, 0, "the text and events of a file", &err) != STA_OK)
        fail(run, &err);
    return err.status == STA_OK;
}

static void worker_main(void *context, unsigned number)
{
    struct decode_run *run = context;
    if (!has_memory(run))
        return;
    struct worker worker = {.run = run, .number = number, .chunk.account = run->request->account};
    worker.scanner = run->format->create(run->request->tables);
    struct source_run *source = next_source(run, number);
    while (source != NULL && !must_stop(run) && has_memory(run)) {
        if (next_chunk(&worker, source))
            scan_chunk(&worker, source);
        else
            source = next_source(run, number);
    }
    run->format->destroy(worker.scanner);
    sta_chunk_text_fini(&worker.chunk);
    sta_batch_fini(&worker.batch);
    sta_buffer_fini(&worker.counters);
}

/* ---- the run */

static void source_run_fini(struct source_run *source)
{
    if (source->fd >= 0) {
        sta_chunker_fini(&source->chunker);
        close_file(source);
    }
    sta_chunk_ring_destroy(source->ahead);
    pthread_cond_destroy(&source->read);
    pthread_mutex_destroy(&source->lock);
}

static int outcome_of(struct decode_run *run, struct sta_error *err)
{
    const struct sta_decode_request *request = run->request;
    if (atomic_load(&run->failed))
        return err->status;
    if (atomic_load(&request->progress->cancel))
        return sta_fail(err, STA_ECANCELLED, "cancelled");
    return STA_OK;
}

int sta_decode_run(const struct sta_decode_request *request, struct sta_error *err)
{
    struct decode_run run = {.request = request, .format = sta_trace_format(request->kind), .err = err};
    run.sources = sta_account_calloc(request->account, request->file_count, sizeof *run.sources,
                                     "the files of a trace", err);
    if (run.sources == NULL)
        return err->status;
    pthread_mutex_init(&run.lock, NULL);
    for (size_t i = 0; i < request->file_count; i++) {
        run.sources[i].file = &request->files[i];
        run.sources[i].fd = -1;
        run.sources[i].opened = run.sources[i].exhausted = request->files[i].skip;
        pthread_mutex_init(&run.sources[i].lock, NULL);
        pthread_cond_init(&run.sources[i].read, NULL);
    }
    sta_parallel_run(request->workers, worker_main, &run);
    for (size_t i = 0; i < request->file_count; i++)
        source_run_fini(&run.sources[i]);
    pthread_mutex_destroy(&run.lock);
    sta_account_free(request->account, run.sources);
    return outcome_of(&run, err);
}

/* ---- memory */

struct sta_memory_decoder {
    const struct sta_trace_format *format;
    void *scanner;
    struct sta_chunk_text chunk;
};

struct sta_memory_decoder *sta_memory_decoder_create(struct sta_tables *tables, enum sta_trace_kind kind,
                                                     enum sta_decode_path path)
{
    struct sta_memory_decoder *decoder = sta_alloc(sizeof *decoder);
    decoder->format = sta_trace_format(kind);
    decoder->scanner = path == STA_DECODE_STRICT_ONLY ? sta_line_scanner_create(tables, path)
                                                      : decoder->format->create(tables);
    return decoder;
}

void sta_memory_decoder_destroy(struct sta_memory_decoder *decoder)
{
    sta_chunk_text_fini(&decoder->chunk);
    decoder->format->destroy(decoder->scanner);
    free(decoder);
}

void sta_memory_decoder_run(struct sta_memory_decoder *decoder, const char *text, size_t size,
                            struct sta_source *source, struct sta_batch *batch)
{
    struct sta_chunker chunker;
    struct sta_chunk_outcome outcome = {0};
    struct sta_error err;
    sta_chunker_init(&chunker, sta_memory_source_create(text, size), 1, 0, 0, NULL);
    chunker.framing = decoder->format->framing;
    while (sta_chunker_next(&chunker, &decoder->chunk, &err))
        decoder->format->scan(decoder->scanner, &decoder->chunk, source->path, batch, NULL, &outcome);
    sta_ledger_add(&source->counts, &outcome.counts);
    source->counts.json_bytes += chunker.next_offset;
    source->counts.physical_lines += chunker.next_line - 1;
    source->counts.lines += chunker.long_line_count;
    source->counts.malformed += chunker.long_line_count;
    sta_line_notes_merge(&source->malformed, &outcome.malformed);
    sta_line_notes_merge(&source->malformed, &chunker.long_lines);
    sta_line_notes_merge(&source->repaired, &outcome.repaired);
    sta_line_notes_fini(&outcome.malformed);
    sta_line_notes_fini(&outcome.repaired);
    sta_chunker_fini(&chunker);
}

void sta_decode_memory(const char *text, size_t size, enum sta_decode_path path, struct sta_tables *tables,
                       struct sta_source *source, struct sta_batch *batch)
{
    struct sta_memory_decoder *decoder = sta_memory_decoder_create(tables, STA_TRACE_EVENTS, path);
    sta_memory_decoder_run(decoder, text, size, source, batch);
    sta_memory_decoder_destroy(decoder);
}
