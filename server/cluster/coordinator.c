/* Rank 0: an ingest whose files all ranks read.
 *
 * DESIGN.  Files, and ranges of large ones, are dealt as units (units.h); a rank that has read one asks
 * for the next, rank 0 too, by messages to itself.  One thread, the coordinator, responds to them: units,
 * codes, and what a unit gave, which becomes part of the version that the writer publishes, and of its
 * journal. Files that go on where they ended before are rank 0's own, and read by the writer itself. */
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

struct sta_coordinator {
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

static void fail(struct sta_coordinator *coordinator, const struct sta_error *cause)
{
    uv_mutex_lock(&coordinator->lock);
    if (coordinator->status == STA_OK) {
        coordinator->status = cause->status;
        *coordinator->err = *cause;
    }
    uv_mutex_unlock(&coordinator->lock);
    atomic_store(&coordinator->reading->request->progress->cancel, true); /* of what rank 0 reads itself */
}

/* ---- the ranks */

static void send_to(struct sta_coordinator *coordinator, unsigned rank, enum sta_message_kind kind,
                    const struct sta_buffer *bytes)
{
    sta_cluster_say(coordinator->cluster, rank, kind, coordinator->task.subject, bytes);
}

static void send_to_others(struct sta_coordinator *coordinator, enum sta_message_kind kind,
                           const struct sta_buffer *bytes)
{
    for (unsigned rank = 1; rank < sta_cluster_size(coordinator->cluster); rank++)
        send_to(coordinator, rank, kind, bytes);
}

/* None once the ingest has failed. */
static struct sta_unit claim(struct sta_coordinator *coordinator)
{
    const bool ended = atomic_load(&coordinator->reading->request->progress->cancel);
    return ended ? (struct sta_unit){.kind = STA_UNIT_NONE} : sta_units_next(coordinator->units);
}

static void put_file(const struct sta_coordinator *coordinator, size_t file, const struct sta_unit *unit,
                     struct sta_buffer *out)
{
    const struct sta_shared_reading *reading = coordinator->reading;
    const struct sta_decode_file *given = &reading->request->files[file];
    sta_put_block(out, given->file, strlen(given->file) + 1);
    sta_put_block(out, given->source->path, strlen(given->source->path) + 1);
    sta_put_u32(out, sta_writer_source_id(reading->writer, reading->numbers[file]));
    sta_put_u32(out, given->known);
    sta_source_range_put(out, &unit->range);
}

static void deal(struct sta_coordinator *coordinator, unsigned rank)
{
    struct sta_buffer bytes;
    const struct sta_unit unit = coordinator->dealt[rank] = claim(coordinator);
    if (unit.kind == STA_UNIT_WAIT)
        return;
    const uint32_t numbers = (uint32_t)STA_MIN(NUMBERS_LEAST + unit.bytes / NUMBERS_BYTES, UINT32_MAX / 64);
    sta_buffer_init(&bytes);
    sta_put_u32(&bytes, unit.kind);
    sta_put_u32(&bytes, unit.search);
    sta_put_u32(&bytes,
                unit.file_count > 0 ? sta_writer_take_files(coordinator->reading->writer, numbers) : 0);
    sta_put_u32(&bytes, numbers);
    sta_put_varint(&bytes, unit.file_count);
    for (size_t i = 0; i < unit.file_count; i++)
        put_file(coordinator, unit.files[i], &unit, &bytes);
    send_to(coordinator, rank, STA_MESSAGE_UNIT, &bytes);
    sta_buffer_fini(&bytes);
}

/* To those that wait for a unit: there may be one now, or there never will be. */
static void deal_to_waiting(struct sta_coordinator *coordinator)
{
    for (unsigned rank = 0; rank < sta_cluster_size(coordinator->cluster); rank++)
        if (coordinator->dealt[rank].kind == STA_UNIT_WAIT)
            deal(coordinator, rank);
}

static void take_count(struct sta_coordinator *coordinator, const struct sta_message *message)
{
    struct sta_cursor in = sta_message_cursor(message);
    const struct sta_source_range range = sta_source_range_get(&in);
    sta_units_counted(coordinator->units, &coordinator->dealt[message->rank], &range);
    deal_to_waiting(coordinator);
}

static void grant(struct sta_coordinator *coordinator, const struct sta_message *message)
{
    struct sta_buffer reply;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_cursor request = sta_message_cursor(message);
    sta_buffer_init(&reply);
    sta_put_u32(&reply, STA_OK);
    int status = sta_codes_grant(sta_writer_tables(coordinator->reading->writer), &request, &reply, &err);
    if (status != STA_OK) {
        fail(coordinator, &err);
        sta_buffer_clear(&reply);
        reply.failed = false;
        sta_put_u32(&reply, (uint32_t)status);
    }
    send_to(coordinator, message->rank, STA_MESSAGE_GRANT, &reply);
    sta_buffer_fini(&reply);
}

static void take_unit(struct sta_coordinator *coordinator, const struct sta_message *message)
{
    struct sta_decode_progress *progress = coordinator->reading->request->progress;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_cursor report = sta_message_cursor(message);
    const bool range = sta_get_u32(&report) == STA_UNIT_RANGE;
    const uint64_t bytes = sta_get_u64(&report), json_bytes = sta_get_u64(&report);
    const uint64_t lines = sta_get_u64(&report), events = sta_get_u64(&report);
    const struct sta_source_range read = sta_source_range_get(&report);
    int status = sta_writer_adopt(coordinator->reading->writer, &report, range ? &read : NULL, &err);
    if (status != STA_OK)
        fail(coordinator, &err);
    atomic_fetch_add(&progress->bytes, bytes);
    atomic_fetch_add(&progress->json_bytes, json_bytes);
    atomic_fetch_add(&progress->lines, lines);
    atomic_fetch_add(&progress->events, events);
    coordinator->cluster->times.units += message->rank > 0;
}

static void take_end(struct sta_coordinator *coordinator, const struct sta_message *message)
{
    struct sta_cursor end = sta_message_cursor(message);
    struct sta_error err = STA_ERROR_INIT;
    size_t length = 0;
    const int status = (int)sta_get_u32(&end);
    const char *text = sta_get_block(&end, &length);
    coordinator->done++;
    if (status == STA_OK)
        return;
    sta_fail(&err, status, "%.*s", (int)length, text != NULL ? text : "");
    fail(coordinator, &err);
}

static void respond(struct sta_coordinator *coordinator, struct sta_message *message)
{
    struct sta_cluster_times *times = &coordinator->cluster->times;
    const uint64_t began = uv_hrtime();
    switch ((enum sta_message_kind)message->head.kind) {
    case STA_MESSAGE_UNIT_WANTED:
        deal(coordinator, message->rank);
        break;
    case STA_MESSAGE_COUNTED:
        take_count(coordinator, message);
        break;
    case STA_MESSAGE_GRANT_WANTED:
        grant(coordinator, message);
        times->granting += uv_hrtime() - began;
        break;
    case STA_MESSAGE_UNIT_DONE:
        take_unit(coordinator, message);
        times->merging += uv_hrtime() - began;
        break;
    default:
        take_end(coordinator, message);
        break;
    }
    free(message);
}

static struct sta_message *next_message(struct sta_coordinator *coordinator)
{
    uv_mutex_lock(&coordinator->lock);
    if (coordinator->first == NULL)
        uv_cond_timedwait(&coordinator->changed, &coordinator->lock, LOOK_NS);
    struct sta_message *message = coordinator->first;
    if (message != NULL)
        coordinator->first = message->next;
    if (coordinator->first == NULL)
        coordinator->last = &coordinator->first;
    uv_mutex_unlock(&coordinator->lock);
    return message;
}

/* Once the job is cancelled, or a rank has failed, sends that to all, once. */
static void send_end(struct sta_coordinator *coordinator)
{
    const struct sta_buffer nothing = {0};
    if (coordinator->stop_sent || !atomic_load(&coordinator->reading->request->progress->cancel))
        return;
    coordinator->stop_sent = true;
    send_to_others(coordinator, STA_MESSAGE_CANCEL, &nothing);
    send_to(coordinator, 0, STA_MESSAGE_CANCEL, &nothing);
    deal_to_waiting(coordinator);
}

static void coordinator_main(void *argument)
{
    struct sta_coordinator *coordinator = argument;
    while (coordinator->done < sta_cluster_size(coordinator->cluster)) {
        struct sta_message *message = next_message(coordinator);
        if (message != NULL)
            respond(coordinator, message);
        send_end(coordinator);
    }
}

void sta_coordinator_arrived(struct sta_cluster *cluster, struct sta_message *message)
{
    uv_mutex_lock(&cluster->lock);
    struct sta_coordinator *coordinator =
        (struct sta_coordinator *)sta_task_find(cluster->ingests, message->head.subject);
    if (coordinator != NULL) {
        uv_mutex_lock(&coordinator->lock);
        message->next = NULL;
        *coordinator->last = message;
        coordinator->last = &message->next;
        uv_cond_signal(&coordinator->changed);
        uv_mutex_unlock(&coordinator->lock);
        message = NULL;
    }
    uv_mutex_unlock(&cluster->lock);
    free(message);
}

/* ---- what rank 0 alone can read */

static void read_own(struct sta_coordinator *coordinator)
{
    struct sta_decode_request own = *coordinator->reading->request;
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
        fail(coordinator, &err);
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

static void open_coordinator(struct sta_coordinator *coordinator)
{
    struct sta_cluster *cluster = coordinator->cluster;
    STA_ASSERT(uv_mutex_init(&coordinator->lock) == 0 && uv_cond_init(&coordinator->changed) == 0);
    coordinator->last = &coordinator->first;
    coordinator->units =
        sta_units_create(coordinator->reading, sta_cluster_size(cluster), cluster->options.range);
    coordinator->dealt = sta_alloc_array(sta_cluster_size(cluster), sizeof *coordinator->dealt);
    sta_task_begin(cluster, &cluster->ingests, &coordinator->task, 0);
}

static void close_coordinator(struct sta_coordinator *coordinator)
{
    sta_task_end(coordinator->cluster, &coordinator->cluster->ingests, &coordinator->task);
    uv_cond_destroy(&coordinator->changed);
    uv_mutex_destroy(&coordinator->lock);
    sta_units_destroy(coordinator->units);
    free(coordinator->dealt);
}

void sta_cluster_note_alone(void *context, uint64_t plan_ns, uint64_t publish_ns)
{
    struct sta_cluster *cluster = context;
    cluster->times.planning += plan_ns;
    cluster->times.publishing += publish_ns;
}

int sta_cluster_read(void *context, const struct sta_shared_reading *reading, struct sta_error *err)
{
    struct sta_coordinator coordinator = {.cluster = context, .reading = reading, .err = err};
    struct sta_buffer ingest;
    uv_thread_t thread;
    int status = sta_writer_begin_journal(reading->writer, err);
    if (status != STA_OK)
        return status;
    open_coordinator(&coordinator);
    sta_buffer_init(&ingest);
    put_ingest(&ingest, reading);
    if (uv_thread_create(&thread, coordinator_main, &coordinator) != 0)
        sta_transport_abort("cannot start a thread for an ingest");
    send_to_others(&coordinator, STA_MESSAGE_INGEST, &ingest);
    read_own(&coordinator);
    send_to(&coordinator, 0, STA_MESSAGE_INGEST, &ingest);
    uv_thread_join(&thread);
    sta_buffer_fini(&ingest);
    if (coordinator.status == STA_OK)
        coordinator.status = sta_units_check(coordinator.units, err);
    close_coordinator(&coordinator);
    return coordinator.status;
}
