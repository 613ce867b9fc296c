/* Rank 0: an ingest whose files all ranks read.
 *
 * DESIGN.  Files, and ranges of large ones, are dealt as units (units.h); a rank that has read one asks
 * for the next, rank 0 too, by messages to itself.  One thread, the desk, answers them: units, codes, and
 * what a unit gave, which becomes part of the version that the writer publishes, and of its journal.  Files
 * that go on where they ended before are rank 0's own, and read by the writer itself. */
#include <stdlib.h>
#include <string.h>

#include "cluster/codes.h"
#include "cluster/private.h"
#include "cluster/units.h"
#include "common/log.h"
#include "common/memory.h"

#define LOOK_NS UINT64_C(50000000)
/* Numbers of files that a unit may use: of segments, of which the smallest are of some KiB of a file. */
#define NUMBERS_BYTES 4096
#define NUMBERS_LEAST 4096

struct sta_desk {
    struct sta_task task;
    struct sta_cluster *cluster;
    const struct sta_shared_reading *reading;
    uv_mutex_t lock; /* guards all below */
    uv_cond_t changed;
    struct sta_message *first, **last; /* that have come */
    struct sta_units *units;
    struct sta_unit *dealt; /* by rank: the last one; kind WAIT: it waits for one */
    unsigned done;          /* ranks that have ended */
    bool stop_sent;         /* to all ranks: nobody wants it any more */
    int status;             /* of the first failure */
    struct sta_error *err;
};

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
    sta_cluster_say(desk->cluster, rank, kind, desk->task.subject, bytes);
}

static void send_to_others(struct sta_desk *desk, enum sta_message_kind kind, const struct sta_buffer *bytes)
{
    for (unsigned rank = 1; rank < sta_cluster_size(desk->cluster); rank++)
        reply(desk, rank, kind, bytes);
}

/* None once the ingest has failed. */
static struct sta_unit claim(struct sta_desk *desk)
{
    const bool ended = atomic_load(&desk->reading->request->progress->cancel);
    return ended ? (struct sta_unit){.kind = STA_UNIT_NONE} : sta_units_next(desk->units);
}

static void put_file(const struct sta_desk *desk, size_t file, const struct sta_unit *unit,
                     struct sta_buffer *out)
{
    const struct sta_shared_reading *reading = desk->reading;
    const struct sta_decode_file *given = &reading->request->files[file];
    sta_put_block(out, given->file, strlen(given->file) + 1);
    sta_put_block(out, given->source->path, strlen(given->source->path) + 1);
    sta_put_u32(out, sta_writer_source_id(reading->writer, reading->numbers[file]));
    sta_put_u32(out, given->known);
    sta_source_range_put(out, &unit->range);
}

static void deal(struct sta_desk *desk, unsigned rank)
{
    struct sta_buffer bytes;
    const struct sta_unit unit = desk->dealt[rank] = claim(desk);
    if (unit.kind == STA_UNIT_WAIT)
        return;
    const uint32_t numbers = (uint32_t)STA_MIN(NUMBERS_LEAST + unit.bytes / NUMBERS_BYTES, UINT32_MAX / 64);
    sta_buffer_init(&bytes);
    sta_put_u32(&bytes, unit.kind);
    sta_put_u32(&bytes, unit.search);
    sta_put_u32(&bytes, unit.file_count > 0 ? sta_writer_take_files(desk->reading->writer, numbers) : 0);
    sta_put_u32(&bytes, numbers);
    sta_put_varint(&bytes, unit.file_count);
    for (size_t i = 0; i < unit.file_count; i++)
        put_file(desk, unit.files[i], &unit, &bytes);
    reply(desk, rank, STA_MESSAGE_UNIT, &bytes);
    sta_buffer_fini(&bytes);
}

/* To those that wait for a unit: there may be one now, or there never will be. */
static void deal_to_waiting(struct sta_desk *desk)
{
    for (unsigned rank = 0; rank < sta_cluster_size(desk->cluster); rank++)
        if (desk->dealt[rank].kind == STA_UNIT_WAIT)
            deal(desk, rank);
}

static void take_count(struct sta_desk *desk, const struct sta_message *message)
{
    struct sta_cursor in = sta_message_cursor(message);
    const struct sta_source_range range = sta_source_range_get(&in);
    sta_units_counted(desk->units, &desk->dealt[message->rank], &range);
    deal_to_waiting(desk);
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
    const bool range = sta_get_u32(&report) == STA_UNIT_RANGE;
    const uint64_t bytes = sta_get_u64(&report), json_bytes = sta_get_u64(&report);
    const uint64_t lines = sta_get_u64(&report), events = sta_get_u64(&report);
    const struct sta_source_range read = sta_source_range_get(&report);
    int status = sta_writer_adopt(desk->reading->writer, &report, range ? &read : NULL, &err);
    if (status != STA_OK)
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
    case STA_MESSAGE_COUNTED:
        take_count(desk, message);
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
    if (desk->stop_sent || !atomic_load(&desk->reading->request->progress->cancel))
        return;
    desk->stop_sent = true;
    send_to_others(desk, STA_MESSAGE_CANCEL, &nothing);
    reply(desk, 0, STA_MESSAGE_CANCEL, &nothing);
    deal_to_waiting(desk);
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
    struct sta_desk *desk = (struct sta_desk *)sta_task_find(cluster->ingests, message->head.subject);
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

static void read_own(struct sta_desk *desk)
{
    struct sta_decode_request own = *desk->reading->request;
    struct sta_decode_file *files = sta_alloc_array(own.file_count, sizeof *files);
    struct sta_error err = STA_ERROR_INIT;
    bool any = false;
    for (size_t i = 0; i < own.file_count; i++) {
        files[i] = own.files[i];
        files[i].skip = !sta_units_leave_out(&files[i]);
        any |= !files[i].skip;
    }
    own.files = files;
    if (any && sta_decode_run(&own, &err) != STA_OK)
        fail(desk, &err);
    free(files);
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
    desk->units = sta_units_create(desk->reading, sta_cluster_size(cluster), cluster->options.range);
    desk->dealt = sta_alloc_array(sta_cluster_size(cluster), sizeof *desk->dealt);
    sta_task_begin(cluster, &cluster->ingests, &desk->task, 0);
}

static void close_desk(struct sta_desk *desk)
{
    sta_task_end(desk->cluster, &desk->cluster->ingests, &desk->task);
    uv_cond_destroy(&desk->changed);
    uv_mutex_destroy(&desk->lock);
    sta_units_destroy(desk->units);
    free(desk->dealt);
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
    if (desk.status == STA_OK)
        desk.status = sta_units_check(desk.units, err);
    close_desk(&desk);
    return desk.status;
}
