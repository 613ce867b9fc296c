/* Records in the store: of each the texts as blocks, then the time as u64. */
#include "serve/api/kept_records.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/buffer.h"
#include "common/memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void record_fini(struct sta_kept_record *record)
{
    for (size_t t = 0; t < STA_RECORD_TEXTS; t++)
        free(record->texts[t]);
}

void sta_kept_records_fini(struct sta_kept_records *records)
{
    for (size_t i = 0; i < records->count; i++)
        record_fini(&records->items[i]);
    free(records->items);
}

/* ---- in the store */

static char *get_text(struct sta_cursor *in)
{
    size_t size;
    const char *bytes = sta_get_block(in, &size);
    return bytes != NULL ? sta_strndup(bytes, size) : sta_strdup("");
}

int sta_kept_records_load(struct sta_store *store, const struct sta_kept_records_kind *kind,
                          struct sta_kept_records *records, struct sta_error *err)
{
    char *bytes;
    size_t size;
    *records = (struct sta_kept_records){.kind = kind};
    int status = sta_store_get_kept(store, NULL, 0, kind->name, &bytes, &size, err);
    if (status == STA_ENOTFOUND)
        return STA_OK;
    if (status != STA_OK)
        return status;
    struct sta_cursor in = {(const unsigned char *)bytes, (const unsigned char *)bytes + size, false};
    while (in.at < in.end && !in.failed) {
        struct sta_kept_record *record = sta_kept_records_insert(records, records->count);
        for (size_t t = 0; t < kind->text_count; t++)
            record->texts[t] = get_text(&in);
        record->at_us = (int64_t)sta_get_u64(&in);
    }
    free(bytes);
    if (!in.failed)
        return STA_OK;
    sta_kept_records_fini(records);
    return sta_fail(err, STA_ECORRUPT, "The %s cannot be read", kind->plural);
}

static int keep(struct sta_store *store, const struct sta_kept_records *records, struct sta_error *err)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (size_t i = 0; i < records->count; i++) {
        const struct sta_kept_record *record = &records->items[i];
        for (size_t t = 0; t < records->kind->text_count; t++)
            sta_put_block(&out, record->texts[t], strlen(record->texts[t]));
        sta_put_u64(&out, (uint64_t)record->at_us);
    }
    int status = sta_store_put_kept(store, NULL, 0, records->kind->name, out.data != NULL ? out.data : "",
                                    out.size, err);
    sta_buffer_fini(&out);
    return status;
}

/* ---- changes */

struct sta_kept_record *sta_kept_records_insert(struct sta_kept_records *records, size_t at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    STA_GROW(records->items, records->capacity, records->count + 1);
    struct sta_kept_record *record = &records->items[at];
    memmove(record + 1, record, (records->count++ - at) * sizeof *record);
    *record = (struct sta_kept_record){.at_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000};
    return record;
}

void sta_kept_records_remove(struct sta_kept_records *records, size_t at)
{
    struct sta_kept_record *record = &records->items[at];
    record_fini(record);
    memmove(record, record + 1, (--records->count - at) * sizeof *record);
}

int sta_kept_records_change(struct sta_store *store, const struct sta_kept_records_kind *kind,
                            sta_records_change *change, void *context, struct sta_error *err)
{
    struct sta_kept_records records;
    pthread_mutex_lock(&lock);
    int status = sta_kept_records_load(store, kind, &records, err);
    if (status == STA_OK) {
        status = change(&records, context, err);
        if (status == STA_OK)
            status = keep(store, &records, err);
        sta_kept_records_fini(&records);
    }
    pthread_mutex_unlock(&lock);
    return status;
}
