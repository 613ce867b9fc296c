/* Workers: most records of a file are of the same few. */
#include "decode/dasf/workers.h"

#include <string.h>
#include <xxhash.h>

#include "common/event.h"
#include "common/number.h"
#include "decode/json_text.h"

#define NO_WORKER (INT64_C(1) << 32) /* above the numbers of workers: for those without one */

/* @seed: 0 of texts; a list without items has as many bytes as a map without. */
static int64_t made_number(const void *bytes, size_t size, enum sta_message_type seed)
{
    return NO_WORKER + (int64_t)(XXH3_64bits_withSeed(bytes, size, seed) >> 32);
}

/* The number behind "worker-HOST-", as a number is written: others stand for workers of their own. */
static bool has_number(const struct sta_message_value *host, const struct sta_message_value *thread,
                       int64_t *number)
{
    const char *text = thread->bytes;
    const size_t size = thread->count,
                 begin = strlen("worker--") + (host->type == STA_MESSAGE_TEXT ? host->count : size);
    if (size <= begin || memcmp(text, "worker-", 7) != 0 || memcmp(text + 7, host->bytes, host->count) != 0 ||
        text[begin - 1] != '-')
        return false;
    const bool plain = text[begin] >= '1' && text[begin] <= '9';
    return (plain || (text[begin] == '0' && size == begin + 1)) &&
           sta_parse_int(text + begin, size - begin, number) && *number < NO_WORKER;
}

/* One that is no text: an integer has the number that its digits as a text have. */
static int64_t number_of_other(const struct sta_message_value *thread)
{
    char text[STA_DOUBLE_TEXT];
    switch (thread->type) {
    case STA_MESSAGE_WHOLE:
        return thread->whole <= INT64_MAX ? made_number(text, sta_format_int((int64_t)thread->whole, text), 0)
                                          : made_number(&thread->whole, sizeof thread->whole, thread->type);
    case STA_MESSAGE_NEGATIVE:
        return made_number(text, sta_format_int(thread->negative, text), 0);
    case STA_MESSAGE_BOOL:
        return made_number(thread->whole ? "\1" : "\0", 1, thread->type);
    case STA_MESSAGE_FLOAT:
        return made_number(&thread->number, sizeof thread->number, thread->type);
    case STA_MESSAGE_ARRAY:
    case STA_MESSAGE_MAP:
        return made_number(thread->bytes, (size_t)(thread->end - thread->bytes), thread->type);
    default:
        return NO_WORKER;
    }
}

int64_t sta_worker_number(const struct sta_message_value *host, const struct sta_message_value *thread)
{
    int64_t number;
    if (thread->type == STA_MESSAGE_ABSENT || thread->type == STA_MESSAGE_NIL)
        return STA_NO_ID;
    if (thread->type != STA_MESSAGE_TEXT)
        return number_of_other(thread);
    return has_number(host, thread, &number) ? number : made_number(thread->bytes, thread->count, 0);
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
