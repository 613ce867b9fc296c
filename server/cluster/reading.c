/* Units of an ingest, read into segments of the trace's folder. */
#include <stdlib.h>
#include <string.h>

#include "cluster/codes.h"
#include "cluster/private.h"
#include "cluster/units.h"
#include "common/account.h"
#include "common/memory.h"
#include "decode/decode.h"

struct sta_reading {
    struct sta_task task;
    struct sta_cluster *cluster;
    struct sta_message *ingest;
    struct sta_message *unit, *grant; /* that rank 0 has sent; guarded by the cluster's lock */
    bool wants;                       /* a unit */
    struct unit *last;                /* that was sealed; its thread syncs and reports it; NULL: none */
    struct sta_decode_progress progress;
    char trace[STA_TRACE_ID_SIZE];
    enum sta_trace_kind kind;
    uint64_t json_limit;
    bool accept_rewritten;
    struct sta_account account;
};

/* Files to read, and what they are read into. */
struct unit {
    struct sta_reading *reading;
    uint32_t kind, first_file, files_allowed;
    bool search;
    struct sta_decode_file *files;
    uint32_t *numbers;
    size_t count;
    struct sta_tables *tables;
    struct sta_codes *codes;
    struct sta_part_options options;
    struct sta_writer *part;
    struct sta_buffer done; /* the report that rank 0 receives */
    uv_thread_t thread;
    int status; /* of the thread, with its error */
    struct sta_error error;
};

/* ---- asking rank 0 */

/* Says something to rank 0. */
static int send_message(struct sta_reading *reading, enum sta_message_kind kind,
                        const struct sta_buffer *bytes, struct sta_error *err)
{
    struct sta_message *message = bytes->failed ? NULL : sta_message_of(kind, reading->task.subject, bytes);
    if (message == NULL)
        return sta_fail(err, STA_ENOMEM, "what rank 0 is to know does not fit the memory, or 1 GiB");
    sta_cluster_send(reading->cluster, 0, message);
    return STA_OK;
}

static struct sta_message *take_reply(struct sta_reading *reading, struct sta_message **slot)
{
    uv_mutex_lock(&reading->cluster->lock);
    struct sta_message *message = *slot;
    *slot = NULL;
    uv_mutex_unlock(&reading->cluster->lock);
    return message;
}

static struct sta_message *wait_for_reply(struct sta_reading *reading, struct sta_message **slot)
{
    struct sta_cluster *cluster = reading->cluster;
    const uint64_t began = uv_hrtime();
    sta_transport_expect(cluster->transport, 1);
    uv_mutex_lock(&cluster->lock);
    while (*slot == NULL)
        uv_cond_wait(&cluster->changed, &cluster->lock);
    uv_mutex_unlock(&cluster->lock);
    sta_transport_expect(cluster->transport, -1);
    cluster->times.exchanging += uv_hrtime() - began;
    return take_reply(reading, slot);
}

static int request_codes(void *context, const struct sta_buffer *request, struct sta_error *err)
{
    return send_message(context, STA_MESSAGE_GRANT_WANTED, request, err);
}

static int take_codes(void *context, bool wait, unsigned char **reply, size_t *size, struct sta_error *err)
{
    struct sta_reading *reading = context;
    struct sta_message *message =
        wait ? wait_for_reply(reading, &reading->grant) : take_reply(reading, &reading->grant);
    if (message == NULL)
        return STA_OK;
    struct sta_cursor in = sta_message_cursor(message);
    const int status = (int)sta_get_u32(&in);
    *size = (size_t)(in.end - in.at);
    *reply = sta_try_alloc(*size + 1);
    if (*reply != NULL)
        memcpy(*reply, in.at, *size);
    free(message);
    if (status != STA_OK)
        return sta_fail(err, status, "rank 0 could not grant codes");
    return *reply != NULL ? STA_OK : sta_fail(err, STA_ENOMEM, "no memory for codes");
}

/* Once for each unit. */
static int want_unit(struct sta_reading *reading, struct sta_error *err)
{
    const struct sta_buffer nothing = {0};
    int status = reading->wants ? STA_OK : send_message(reading, STA_MESSAGE_UNIT_WANTED, &nothing, err);
    reading->wants = status == STA_OK;
    return status;
}

/* ---- a unit */

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    const struct unit *unit = context;
    int status = sta_codes_send_ahead(unit->codes, err);
    return status == STA_OK ? sta_writer_add(unit->part, worker, unit->numbers[batch->source], batch, err)
                            : status;
}

static int take_counters(void *context, unsigned worker, const char *chunk, size_t size,
                         struct sta_error *err)
{
    const struct unit *unit = context;
    struct sta_buffer translated = {0};
    int status = sta_codes_translate_counters(unit->codes, chunk, size, &translated, err);
    if (status == STA_OK)
        status = sta_writer_add_counters(unit->part, worker, translated.data, translated.size, err);
    sta_buffer_fini(&translated);
    return status;
}

static int translate(void *context, struct sta_batch *batch, struct sta_error *err)
{
    return sta_codes_translate(context, batch, err);
}

static int begin_part(struct unit *unit, struct sta_error *err)
{
    struct sta_reading *reading = unit->reading;
    const struct sta_cluster_options *options = &reading->cluster->options;
    unit->options = (struct sta_part_options){.workers = options->workers,
                                              .memory = options->memory / 2,
                                              .cancel = &reading->progress.cancel,
                                              .account = &reading->account,
                                              .first_file = unit->first_file,
                                              .files = unit->files_allowed,
                                              .tables = unit->tables,
                                              .translate = translate,
                                              .context = unit->codes};
    return sta_part_begin(reading->cluster->store, reading->trace, &unit->options, &unit->part, err);
}

static int fail_dealt(struct sta_error *err)
{
    return sta_fail(err, STA_ECORRUPT, "the files that rank 0 has dealt make no sense");
}

/* Stays in the message. */
static const char *get_text(struct sta_cursor *in)
{
    size_t length = 0;
    const char *text = sta_get_block(in, &length);
    in->failed |= length == 0 || text[length - 1] != '\0';
    return in->failed ? "" : text;
}

/* With a source of the part for each, if there is one. */
static int get_files(struct unit *unit, struct sta_cursor *in, struct sta_error *err)
{
    for (size_t i = 0; i < unit->count; i++) {
        struct sta_decode_file *file = &unit->files[i];
        file->file = get_text(in);
        const char *inside = get_text(in);
        const uint32_t id = sta_get_u32(in);
        file->known = sta_get_u32(in) != 0;
        file->range = sta_source_range_get(in);
        if (in->failed)
            return fail_dealt(err);
        if (unit->part == NULL)
            continue;
        unit->numbers[i] = sta_part_add_source(unit->part, inside, id);
        file->source = sta_writer_source(unit->part, unit->numbers[i]);
    }
    return STA_OK;
}

static int decode(struct unit *unit, struct sta_error *err)
{
    struct sta_reading *reading = unit->reading;
    const struct sta_decode_request request = {.roots = reading->cluster->options.roots,
                                               .kind = reading->kind,
                                               .files = unit->files,
                                               .file_count = unit->count,
                                               .json_limit = reading->json_limit,
                                               .accept_rewritten = reading->accept_rewritten,
                                               .tables = unit->tables,
                                               .workers = reading->cluster->options.workers,
                                               .progress = &reading->progress,
                                               .batch = take_batch,
                                               .counters = take_counters,
                                               .context = unit};
    return sta_decode_run(&request, err);
}

static void put_counts(struct unit *unit)
{
    struct sta_source_range range = unit->files->range;
    struct sta_decode_progress *progress = &unit->reading->progress;
    sta_put_u32(&unit->done, unit->kind);
    sta_put_u64(&unit->done, atomic_exchange(&progress->bytes, 0));
    sta_put_u64(&unit->done, atomic_exchange(&progress->json_bytes, 0));
    sta_put_u64(&unit->done, atomic_exchange(&progress->lines, 0));
    sta_put_u64(&unit->done, atomic_exchange(&progress->events, 0));
    range.lines = unit->files->source->counts.physical_lines - range.lines_before;
    range.text = unit->files->source->counts.json_bytes - range.text_before;
    sta_source_range_put(&unit->done, &range);
}

static int read_files(struct unit *unit, struct sta_cursor *in, struct sta_error *err)
{
    int status = begin_part(unit, err);
    if (status != STA_OK)
        return status;
    status = get_files(unit, in, err);
    if (status == STA_OK)
        status = decode(unit, err);
    if (status == STA_OK) /* it comes while this one is sealed */
        status = want_unit(unit->reading, err);
    if (status == STA_OK)
        status = sta_part_seal(unit->part, err);
    if (status != STA_OK)
        sta_writer_abort(unit->part);
    return status;
}

static void free_unit(struct unit *unit)
{
    sta_tables_destroy(unit->tables);
    free(unit->numbers);
    free(unit->files);
    sta_buffer_fini(&unit->done);
    free(unit);
}

/* Tells what the unit gave, which is durable by then. */
static void report_unit(void *argument)
{
    struct unit *unit = argument;
    unit->status = sta_part_end(unit->part, &unit->done, &unit->error);
    if (unit->status == STA_OK)
        unit->status = send_message(unit->reading, STA_MESSAGE_UNIT_DONE, &unit->done, &unit->error);
}

/* Waits until the unit before is reported.  Return: @status, or else what became of that. */
static int end_last(struct sta_reading *reading, int status, struct sta_error *err)
{
    struct unit *last = reading->last;
    reading->last = NULL;
    if (last == NULL)
        return status;
    uv_thread_join(&last->thread);
    if (status == STA_OK && last->status != STA_OK)
        *err = last->error;
    status = status == STA_OK ? last->status : status;
    free_unit(last);
    return status;
}

/* While it is synced the next one is read. */
static int read_unit(struct unit *unit, struct sta_cursor *in, struct sta_error *err)
{
    struct sta_reading *reading = unit->reading;
    const struct sta_codes_calls calls = {reading, request_codes, take_codes};
    unit->error = STA_ERROR_INIT;
    unit->tables = sta_tables_create(&reading->account);
    unit->codes = sta_codes_create(unit->tables, &calls);
    int status = read_files(unit, in, err);
    sta_codes_destroy(unit->codes);
    if (status != STA_OK) {
        free_unit(unit);
        return status;
    }
    put_counts(unit);
    status = end_last(reading, STA_OK, err);
    reading->last = unit;
    if (uv_thread_create(&unit->thread, report_unit, unit) != 0)
        sta_transport_abort("cannot start a thread for a unit");
    return status;
}

/* What is in a range. */
static int count(struct unit *unit, struct sta_cursor *in, struct sta_error *err)
{
    struct sta_reading *reading = unit->reading;
    struct sta_source_range *range = &unit->files->range;
    int status = get_files(unit, in, err);
    if (status == STA_OK)
        status = sta_file_range_count(reading->cluster->options.roots, unit->files->file, unit->search,
                                      &reading->progress.cancel, range, err);
    sta_source_range_put(&unit->done, range);
    if (status == STA_OK)
        status = send_message(reading, STA_MESSAGE_COUNTED, &unit->done, err);
    free_unit(unit);
    return status;
}

/* *more: there was a unit. */
static int claim_and_read(struct sta_reading *reading, bool *more, struct sta_error *err)
{
    *more = false;
    int status = want_unit(reading, err);
    if (status != STA_OK)
        return status;
    struct sta_message *message = wait_for_reply(reading, &reading->unit);
    reading->wants = false;
    struct sta_cursor in = sta_message_cursor(message);
    struct unit *unit = sta_alloc(sizeof *unit);
    unit->reading = reading;
    unit->kind = sta_get_u32(&in);
    unit->search = sta_get_u32(&in) != 0;
    unit->first_file = sta_get_u32(&in);
    unit->files_allowed = sta_get_u32(&in);
    unit->count = sta_get_varint(&in);
    if (in.failed || unit->count > (uint64_t)(in.end - in.at))
        status = fail_dealt(err);
    *more = status == STA_OK && unit->count > 0;
    if (*more) {
        unit->files = sta_alloc_array(unit->count, sizeof *unit->files);
        unit->numbers = sta_alloc_array(unit->count, sizeof *unit->numbers);
        status = unit->kind == STA_UNIT_COUNT ? count(unit, &in, err) : read_unit(unit, &in, err);
    } else {
        free(unit);
    }
    free(message);
    return status;
}

/* ---- an ingest */

static int begin(struct sta_reading *reading, struct sta_error *err)
{
    struct sta_cursor in = sta_message_cursor(reading->ingest);
    size_t length = 0;
    const char *trace = sta_get_block(&in, &length);
    reading->kind = (enum sta_trace_kind)sta_get_u32(&in);
    reading->json_limit = sta_get_u64(&in);
    const unsigned char *accept = sta_get_bytes(&in, 1);
    if (accept == NULL || length != STA_TRACE_ID_SIZE - 1)
        return sta_fail(err, STA_ECORRUPT, "what rank 0 says of an ingest makes no sense");
    memcpy(reading->trace, trace, length);
    reading->accept_rewritten = *accept != 0;
    return sta_work_attach_store(reading->cluster, err);
}

static void send_end(struct sta_reading *reading, int status, const struct sta_error *err)
{
    struct sta_buffer end;
    sta_buffer_init(&end);
    sta_put_u32(&end, (uint32_t)status);
    sta_put_block(&end, err->text, strlen(err->text));
    sta_cluster_say(reading->cluster, 0, STA_MESSAGE_INGEST_DONE, reading->task.subject, &end);
    sta_buffer_fini(&end);
}

static void remove_reading(struct sta_reading *reading)
{
    sta_task_end(reading->cluster, &reading->cluster->readings, &reading->task);
    free(reading->unit);
    free(reading->ingest);
    free(reading);
}

static void *reading_main(void *argument)
{
    struct sta_reading *reading = argument;
    const struct sta_cluster_options *options = &reading->cluster->options;
    struct sta_error err = STA_ERROR_INIT;
    bool more = true;
    sta_account_init(&reading->account, options->memory, "memory", options->account);
    int status = begin(reading, &err);
    while (status == STA_OK && more)
        status = claim_and_read(reading, &more, &err);
    status = end_last(reading, status, &err);
    sta_account_close(&reading->account);
    send_end(reading, status, &err);
    remove_reading(reading);
    return NULL;
}

void sta_reading_begin(struct sta_cluster *cluster, struct sta_message *message)
{
    struct sta_reading *reading = sta_alloc(sizeof *reading);
    reading->cluster = cluster;
    reading->ingest = message;
    reading->task.cancel = &reading->progress.cancel;
    sta_task_begin(cluster, &cluster->readings, &reading->task, message->head.subject);
    sta_work_start_thread(reading_main, reading);
}

void sta_reading_reply(struct sta_cluster *cluster, struct sta_message *message)
{
    uv_mutex_lock(&cluster->lock);
    struct sta_reading *reading =
        (struct sta_reading *)sta_task_find(cluster->readings, message->head.subject);
    if (reading != NULL) {
        struct sta_message **slot = message->head.kind == STA_MESSAGE_UNIT ? &reading->unit : &reading->grant;
        STA_ASSERT(*slot == NULL);
        *slot = message;
        message = NULL;
        uv_cond_broadcast(&cluster->changed);
    }
    uv_mutex_unlock(&cluster->lock);
    free(message); /* it was wanted ahead, and then the ingest has failed */
}
