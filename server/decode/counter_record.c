/* Of a counter record its time, process, host, name and numbers are kept. */
#include "decode/counter_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/counters.h"
#include "common/memory.h"
#include "common/number.h"
#include "decode/json_text.h"
#include "decode/rows.h"

/* A value as a number, if it is one; integers in a text are, as in events. */
static bool number_of(const struct sta_json_value *value, double *number)
{
    int64_t integer;
    switch (value->kind) {
    case STA_JSON_INT:
        *number = (double)value->integer;
        return true;
    case STA_JSON_DOUBLE:
        *number = value->number;
        return isfinite(*number);
    case STA_JSON_BIG:
    case STA_JSON_NUMBER:
        return sta_parse_double(value->text, value->length, number) && isfinite(*number);
    case STA_JSON_STRING:
        if (!sta_parse_int(value->text, value->length, &integer))
            return false;
        *number = (double)integer;
        return true;
    default:
        return false;
    }
}

/* Which of the args names the host: a hash, else a name; or arg_count. */
static size_t host_arg(const struct sta_record *record, const struct sta_dictionary *keys,
                       enum sta_reference *reference)
{
    static const struct {
        const char *key;
        enum sta_reference reference;
    } known[] = {{"hhash", STA_REFERENCE_HASH}, {"hostname", STA_REFERENCE_NAME}};
    for (size_t k = 0; k < STA_COUNT_OF(known); k++)
        for (size_t i = 0; i < record->arg_count; i++) {
            const struct sta_text key = sta_dictionary_text(keys, record->args[i].key);
            if (record->args[i].value.kind != STA_JSON_NULL && key.length == strlen(known[k].key) &&
                memcmp(key.bytes, known[k].key, key.length) == 0) {
                *reference = known[k].reference;
                return i;
            }
        }
    return record->arg_count;
}

static int64_t pid_of(const struct sta_json_value *value)
{
    double number;
    if (value->kind == STA_JSON_INT)
        return value->integer;
    return number_of(value, &number) && fabs(number) < 9e15 && number == floor(number) ? (int64_t)number
                                                                                       : STA_NO_ID;
}

static void put_numbers(const struct sta_record *record, size_t host, struct sta_buffer *out)
{
    double number;
    for (size_t i = 0; i < record->arg_count; i++)
        if (i != host && number_of(&record->args[i].value, &number))
            sta_counter_put_value(out, record->args[i].key, number);
}

void sta_counter_record_put(const struct sta_record *record, const struct sta_tables *tables,
                            int64_t *last_ns, struct sta_buffer *out)
{
    char name_buffer[STA_DOUBLE_TEXT], host_buffer[STA_DOUBLE_TEXT];
    struct sta_counter_record made = {.pid = pid_of(&record->fields[STA_FIELD_pid])};
    struct sta_buffer host;
    struct sta_time ts;
    enum sta_reference reference = STA_REFERENCE_NAME;
    double number;
    if (sta_time_parse(&record->fields[STA_FIELD_ts], &ts) != STA_TIME_GOOD)
        return;
    made.ns = ts.us * 1000 + ts.ns;
    made.name.bytes = sta_json_as_text(&record->fields[STA_FIELD_name], &made.name.length, name_buffer);
    if (made.name.bytes == NULL)
        made.name = (struct sta_text){"", 0};
    const size_t at = host_arg(record, sta_tables_keys(tables), &reference);
    for (size_t i = 0; i < record->arg_count; i++)
        made.values += i != at && number_of(&record->args[i].value, &number);
    sta_buffer_init(&host);
    if (at < record->arg_count) {
        uint32_t length;
        const char *text = sta_json_as_text(&record->args[at].value, &length, host_buffer);
        sta_put_char(&host, (char)reference);
        sta_put(&host, text, length);
    }
    made.host = (struct sta_text){host.size > 0 ? host.data : "", (uint32_t)host.size};
    sta_counter_put(out, &made, *last_ns);
    put_numbers(record, at, out);
    sta_buffer_fini(&host);
    *last_ns = made.ns;
}
