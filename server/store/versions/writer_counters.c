/* writer_counters.c - counter records of the next version: each worker gathers some and writes them as a
 * file. */
#include "common/memory.h"
#include "store/format/envelope.h"
#include "store/versions/writer.h"

#define COUNTERS_BYTES ((size_t)4 << 20) /* of records, before they are written */

void sta_writer_note_counters(struct sta_writer *writer, uint32_t number)
{
    pthread_mutex_lock(&writer->lock);
    STA_GROW(writer->manifest.counters, writer->counters_capacity, writer->manifest.counters_count + 1);
    writer->manifest.counters[writer->manifest.counters_count++] = number;
    pthread_mutex_unlock(&writer->lock);
}

int sta_writer_seal_counters(struct sta_writer *writer, unsigned worker, struct sta_error *err)
{
    struct sta_writer_worker *own = &writer->workers[worker];
    uint32_t number;
    if (own->counters.size == 0 && !own->counters.failed)
        return STA_OK;
    int status = sta_writer_create_file(writer, STA_FILE_COUNTERS, STA_ENVELOPE_COUNTERS, &own->counters,
                                        &number, err);
    if (status != STA_OK)
        return status;
    sta_buffer_clear(&own->counters);
    sta_writer_note_counters(writer, number);
    return STA_OK;
}

int sta_writer_add_counters(struct sta_writer *writer, unsigned worker, const char *chunk, size_t size,
                            struct sta_error *err)
{
    STA_ASSERT(worker < writer->worker_count);
    struct sta_writer_worker *own = &writer->workers[worker];
    sta_put(&own->counters, chunk, size);
    return own->counters.size >= COUNTERS_BYTES || own->counters.failed
               ? sta_writer_seal_counters(writer, worker, err)
               : STA_OK;
}
