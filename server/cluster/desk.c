/* Rank 0: an ingest whose files all ranks read.
 *
 * DESIGN.  Files are dealt as units, the largest first; a rank that has read one asks for the next, rank 0
 * too, by messages to itself.  One thread, the desk, answers them: units, codes, and what a unit gave, which
 * becomes part of the version that the writer publishes, and of its journal.  Files that go on where they
 * ended before are rank 0's own, and read by the writer itself. */
#include <stdlib.h>
#include <string.h>

#include "cluster/codes.h"
#include "cluster/private.h"
#include "common/log.h"
#include "common/memory.h"

#define UNITS_PER_RANK 8
#define LOOK_NS UINT64_C(50000000)
/* Numbers of files that a unit may use: of segments, of which the smallest are of some KiB of a file. */
#define NUMBERS_BYTES 4096
#define NUMBERS_LEAST 4096

struct sta_desk {
    struct sta_desk *next;
    struct sta_cluster *cluster;
    const struct sta_shared_reading *reading;
    uint64_t subject;
    uv_mutex_t lock; /* guards all below */
    uv_cond_t changed;
    struct sta_message *first, **last; /* that have come */
    size_t *order;                     /* files, as they are dealt */
    size_t count, next_file;
    uint64_t unit_bytes;
    unsigned done; /* ranks that have ended */
    bool told;     /* that nobody wants it any more */
    int status;    /* of the first failure */
    struct sta_error *err;
};

/* ---- units */

static uint64_t bytes_of(const struct sta_desk *desk, size_t file)
{
    return desk->reading->bytes[file];
}

static int larger_first(const void *a, const void *b, void *context)
{
    const struct sta_desk *desk = context;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const uint64_t left = bytes_of(desk, x), right = bytes_of(desk, y);
    return left != right ? (left < right ? 1 : -1) : (x > y) - (x < y);
}

/* Whether only rank 0 can read it. */
static bool is_own(const struct sta_decode_file *file)
{
    return file->resume || file->end != 0;
}

static void order_files(struct sta_desk *desk)
{
    const struct sta_decode_request *request = desk->reading->request;
    uint64_t bytes = 0;
    desk->order = sta_alloc_array(request->file_count, sizeof *desk->order);
    for (size_t i = 0; i < request->file_count; i++) {
        if (is_own(&request->files[i]))
            continue;
        desk->order[desk->count++] = i;
        bytes += bytes_of(desk, i);
    }
    qsort_r(desk->order, desk->count, sizeof *desk->order, larger_first, desk);
    desk->unit_bytes = bytes / (UNITS_PER_RANK * sta_cluster_size(desk->cluster));
}

/* The next files, *first .. in the order.  Return: how many; 0: none are left, or the ingest has failed. */
static size_t claim(struct sta_desk *desk, size_t *first, uint64_t *bytes)
{
    const bool ended = atomic_load(&desk->reading->request->progress->cancel);
    size_t count = 0;
    *bytes = 0;
    uv_mutex_lock(&desk->lock);
    *first = desk->next_file;
    while (!ended && desk->status == STA_OK && desk->next_file < desk->count &&
           (count == 0 || *bytes + bytes_of(desk, desk->order[desk->next_file]) <= desk->unit_bytes)) {
        *bytes += bytes_of(desk, desk->order[desk->next_file++]);
        count++;
    }
    uv_mutex_unlock(&desk->lock);
    return count;
}

static void fail(struct sta_desk *desk, const struct sta_error *cause)
{
    uv_mutex_lock(&desk->lock);
    if (desk->status == STA_OK) {
        desk->status = cause->status;
        *desk->err = *cause;
    }
    uv_mutex_unlock(&desk->lock);
    atomic_store(&desk->reading->request->progress->cancel, true); /* of what rank 0 reads itself */
}

/* ---- the ranks */

static void reply(struct sta_desk *desk, unsigned rank, enum sta_message_kind kind,
                  const struct sta_buffer *bytes)
{
    struct sta_message *message = bytes->failed ? NULL : sta_message_of(kind, desk->subject, bytes);
    if (message == NULL)
        sta_transport_abort("there is no memory for what another rank waits for");
    sta_cluster_send(desk->cluster, rank, message);
}

static void send_to_others(struct sta_desk *desk, enum sta_message_kind kind, const struct sta_buffer *bytes)
{
    for (unsigned rank = 1; rank < sta_cluster_size(desk->cluster); rank++)
        reply(desk, rank, kind, bytes);
}

static void deal(struct sta_desk *desk, unsigned rank)
{
    const struct sta_shared_reading *reading = desk->reading;
    struct sta_buffer unit;
    size_t first;
    uint64_t bytes;
    const size_t count = claim(desk, &first, &bytes);
    const uint32_t numbers = (uint32_t)STA_MIN(NUMBERS_LEAST + bytes / NUMBERS_BYTES, UINT32_MAX / 64);
    sta_buffer_init(&unit);
    sta_put_u32(&unit, count > 0 ? sta_writer_take_files(reading->writer, numbers) : 0);
    sta_put_u32(&unit, numbers);
    sta_put_varint(&unit, count);
    for (size_t i = first; i < first + count; i++) {
        const size_t file = desk->order[i];
        const struct sta_decode_file *given = &reading->request->files[file];
        sta_put_block(&unit, given->file, strlen(given->file));
        sta_put_block(&unit, given->source->path, strlen(given->source->path));
        sta_put_u32(&unit, sta_writer_source_id(reading->writer, reading->numbers[file]));
        sta_put_char(&unit, given->known);
    }
    reply(desk, rank, STA_MESSAGE_UNIT, &unit);
    sta_buffer_fini(&unit);
}

static void grant(struct sta_desk *desk, const struct sta_message *message)
{
    struct sta_buffer answer;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_cursor request = sta_message_cursor(message);
    sta_buffer_init(&answer);
    sta_put_u32(&answer, STA_OK);
    int status = sta_codes_grant(sta_writer_tables(desk->reading->writer), &request, &answer, &err);
    if (status != STA_OK) {
        fail(desk, &err);
        sta_buffer_clear(&answer);
        answer.failed = false;
        sta_put_u32(&answer, (uint32_t)status);
    }
    reply(desk, message->rank, STA_MESSAGE_GRANT, &answer);
    sta_buffer_fini(&answer);
}

static void take_unit(struct sta_desk *desk, const struct sta_message *message)
{
    struct sta_decode_progress *progress = desk->reading->request->progress;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_cursor report = sta_message_cursor(message);
    const uint64_t bytes = sta_get_u64(&report), json_bytes = sta_get_u64(&report);
    const uint64_t lines = sta_get_u64(&report), events = sta_get_u64(&report);
    if (sta_writer_adopt(desk->reading->writer, &report, &err) != STA_OK)
        fail(desk, &err);
    atomic_fetch_add(&progress->bytes, bytes);
    atomic_fetch_add(&progress->json_bytes, json_bytes);
    atomic_fetch_add(&progress->lines, lines);
    atomic_fetch_add(&progress->events, events);
    desk->cluster->times.units += message->rank > 0;
}

static void take_end(struct sta_desk *desk, const struct sta_message *message)
{
    struct sta_cursor end = sta_message_cursor(message);
    struct sta_error err = STA_ERROR_INIT;
    size_t length = 0;
    const int status = (int)sta_get_u32(&end);
    const char *text = sta_get_block(&end, &length);
    desk->done++;
    if (status == STA_OK)
        return;
    sta_fail(&err, status, "%.*s", (int)length, text != NULL ? text : "");
    fail(desk, &err);
}

static void answer(struct sta_desk *desk, struct sta_message *message)
{
    struct sta_cluster_times *times = &desk->cluster->times;
    const uint64_t began = uv_hrtime();
    switch ((enum sta_message_kind)message->head.kind) {
    case STA_MESSAGE_UNIT_WANTED:
        deal(desk, message->rank);
        break;
    case STA_MESSAGE_GRANT_WANTED:
        grant(desk, message);
        times->granting += uv_hrtime() - began;
        break;
    case STA_MESSAGE_UNIT_DONE:
        take_unit(desk, message);
        times->merging += uv_hrtime() - began;
        break;
    default:
        take_end(desk, message);
        break;
    }
    free(message);
}

static struct sta_message *next_message(struct sta_desk *desk)
{
    uv_mutex_lock(&desk->lock);
    if (desk->first == NULL)
        uv_cond_timedwait(&desk->changed, &desk->lock, LOOK_NS);
    struct sta_message *message = desk->first;
    if (message != NULL)
        desk->first = message->next;
    if (desk->first == NULL)
        desk->last = &desk->first;
    uv_mutex_unlock(&desk->lock);
    return message;
}

/* When the job is cancelled, or one has failed, all are told once. */
static void tell_end(struct sta_desk *desk)
{
    const struct sta_buffer nothing = {0};
    if (desk->told || !atomic_load(&desk->reading->request->progress->cancel))
        return;
    desk->told = true;
    send_to_others(desk, STA_MESSAGE_CANCEL, &nothing);
    reply(desk, 0, STA_MESSAGE_CANCEL, &nothing);
}

static void desk_main(void *argument)
{
    struct sta_desk *desk = argument;
    while (desk->done < sta_cluster_size(desk->cluster)) {
        struct sta_message *message = next_message(desk);
        if (message != NULL)
            answer(desk, message);
        tell_end(desk);
    }
}

void sta_desk_arrived(struct sta_cluster *cluster, struct sta_message *message)
{
    uv_mutex_lock(&cluster->lock);
    struct sta_desk *desk = cluster->desks;
    while (desk != NULL && desk->subject != message->head.subject)
        desk = desk->next;
    if (desk != NULL) {
        uv_mutex_lock(&desk->lock);
        message->next = NULL;
        *desk->last = message;
        desk->last = &message->next;
        uv_cond_signal(&desk->changed);
        uv_mutex_unlock(&desk->lock);
        message = NULL;
    }
    uv_mutex_unlock(&cluster->lock);
    free(message);
}

/* ---- what rank 0 alone can read */

/* Some files of a request as a request of their own. */
struct own {
    const struct sta_decode_request *whole;
    size_t *files; /* of the whole, by file of the part */
};

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    const struct own *own = context;
    batch->source = (uint32_t)own->files[batch->source];
    return own->whole->batch(own->whole->context, worker, batch, err);
}

static int take_counters(void *context, unsigned worker, const char *chunk, size_t size,
                         struct sta_error *err)
{
    const struct own *own = context;
    return own->whole->counters(own->whole->context, worker, chunk, size, err);
}

static void read_own(struct sta_desk *desk)
{
    const struct sta_decode_request *request = desk->reading->request;
    struct own own = {request, sta_alloc_array(request->file_count, sizeof *own.files)};
    struct sta_decode_file *files = sta_alloc_array(request->file_count, sizeof *files);
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_request part = *request;
    part.files = files;
    part.file_count = 0;
    for (size_t i = 0; i < request->file_count; i++) {
        if (!is_own(&request->files[i]))
            continue;
        own.files[part.file_count] = i;
        files[part.file_count++] = request->files[i];
    }
    part.batch = take_batch;
    part.counters = take_counters;
    part.context = &own;
    if (part.file_count > 0 && sta_decode_run(&part, &err) != STA_OK)
        fail(desk, &err);
    free(files);
    free(own.files);
}

/* ---- all of it */

static void put_ingest(struct sta_buffer *out, const struct sta_shared_reading *reading)
{
    const struct sta_decode_request *request = reading->request;
    sta_put_block(out, reading->trace, strlen(reading->trace));
    sta_put_u32(out, request->kind);
    sta_put_u64(out, request->json_limit);
    sta_put_char(out, request->accept_rewritten);
}

static void open_desk(struct sta_desk *desk)
{
    struct sta_cluster *cluster = desk->cluster;
    STA_ASSERT(uv_mutex_init(&desk->lock) == 0 && uv_cond_init(&desk->changed) == 0);
    desk->last = &desk->first;
    order_files(desk);
    uv_mutex_lock(&cluster->lock);
    desk->subject = ++cluster->next_subject;
    desk->next = cluster->desks;
    cluster->desks = desk;
    cluster->working++;
    uv_mutex_unlock(&cluster->lock);
}

static void close_desk(struct sta_desk *desk)
{
    struct sta_cluster *cluster = desk->cluster;
    uv_mutex_lock(&cluster->lock);
    struct sta_desk **at = &cluster->desks;
    while (*at != desk)
        at = &(*at)->next;
    *at = desk->next;
    cluster->working--;
    uv_mutex_unlock(&cluster->lock);
    uv_cond_destroy(&desk->changed);
    uv_mutex_destroy(&desk->lock);
    free(desk->order);
}

void sta_cluster_note_alone(void *context, uint64_t plan_ns, uint64_t publish_ns)
{
    struct sta_cluster *cluster = context;
    cluster->times.planning += plan_ns;
    cluster->times.publishing += publish_ns;
}

int sta_cluster_read(void *context, const struct sta_shared_reading *reading, struct sta_error *err)
{
    struct sta_desk desk = {.cluster = context, .reading = reading, .err = err};
    struct sta_buffer ingest;
    uv_thread_t thread;
    int status = sta_writer_begin_journal(reading->writer, err);
    if (status != STA_OK)
        return status;
    open_desk(&desk);
    sta_buffer_init(&ingest);
    put_ingest(&ingest, reading);
    if (uv_thread_create(&thread, desk_main, &desk) != 0)
        sta_transport_abort("cannot start a thread for an ingest");
    send_to_others(&desk, STA_MESSAGE_INGEST, &ingest);
    read_own(&desk);
    reply(&desk, 0, STA_MESSAGE_INGEST, &ingest);
    uv_thread_join(&thread);
    sta_buffer_fini(&ingest);
    close_desk(&desk);
    return desk.status;
}
