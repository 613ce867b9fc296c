/* Workers: most records of a file are of the same few. */
#include "decode/dasf/workers.h"

#include <string.h>
#include <xxhash.h>

#include "common/event.h"
#include "common/number.h"
#include "decode/json_text.h"

#define NO_WORKER (INT64_C(1) << 32) /* above the numbers of workers: for those without one */

int64_t sta_worker_number(const struct sta_message_value *host, const struct sta_message_value *thread)
{
    int64_t number;
    if (thread->type == STA_MESSAGE_ABSENT || thread->type == STA_MESSAGE_NIL)
        return STA_NO_ID;
    if (thread->type == STA_MESSAGE_WHOLE)
        return (int64_t)(thread->whole % NO_WORKER);
    if (thread->type != STA_MESSAGE_TEXT)
        return NO_WORKER;
    const char *text = thread->bytes;
    size_t size = thread->count, begin = strlen("worker--");
    begin += host->type == STA_MESSAGE_TEXT ? host->count : size;
    bool usual = size > begin && memcmp(text, "worker-", 7) == 0 &&
                 memcmp(text + 7, host->bytes, host->count) == 0 && text[begin - 1] == '-';
    if (usual && sta_parse_int(text + begin, size - begin, &number) && number >= 0 && number < NO_WORKER)
        return number;
    return NO_WORKER + (int64_t)(XXH3_64bits(text, size) >> 32);
}

static bool is_text(const struct sta_message_value *value, const char *text, uint32_t size)
{
    return value->type == STA_MESSAGE_TEXT && value->count == size && memcmp(value->bytes, text, size) == 0;
}

/* Whether it is a text that is stored as one, and short enough to be remembered. */
static bool can_be_known(const struct sta_message_value *value)
{
    int64_t integer;
    return value->type == STA_MESSAGE_TEXT && value->count > 0 && value->count <= STA_WORKER_TEXT &&
           sta_utf8_valid_prefix(value->bytes, value->count) == value->count &&
           !sta_parse_int(value->bytes, value->count, &integer);
}

static void remember(struct sta_known_workers *known, struct sta_known_worker *worker,
                     const struct sta_message_value *host, const struct sta_message_value *thread)
{
    memcpy(worker->host, host->bytes, host->count);
    memcpy(worker->thread, thread->bytes, thread->count);
    worker->host_size = host->count;
    worker->thread_size = thread->count;
    worker->number = sta_worker_number(host, thread);
    worker->code = sta_dictionary_intern(known->threads, thread->bytes, thread->count);
}

const struct sta_known_worker *sta_know_worker(struct sta_known_workers *known,
                                               const struct sta_message_value *host,
                                               const struct sta_message_value *thread)
{
    if (thread->type != STA_MESSAGE_TEXT || thread->count == 0)
        return NULL;
    const unsigned last = (unsigned char)thread->bytes[thread->count - 1];
    struct sta_known_worker *worker = &known->workers[last % STA_WORKERS];
    if (is_text(thread, worker->thread, worker->thread_size) &&
        is_text(host, worker->host, worker->host_size))
        return worker;
    if (known->threads == NULL || !can_be_known(thread) || !can_be_known(host))
        return NULL;
    remember(known, worker, host, thread);
    return worker;
}
