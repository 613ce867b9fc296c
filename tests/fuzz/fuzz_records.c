/* Record files of DASF: whatever they hold, every record read is counted once, every row names its record,
 * and the values of a payload are those that msgpack-c finds in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "decode/chunks.h"
#include "decode/decode.h"
#include "tests/unit/decode/message_reference.h"

#define INPUTS 500 /* before the tables are made anew */

static struct sta_tables *tables;
static struct sta_memory_decoder *decoder;
static struct sta_batch batch;
static unsigned inputs;

static void make_anew(void)
{
    if (decoder != NULL) {
        sta_memory_decoder_destroy(decoder);
        sta_tables_destroy(tables);
        sta_batch_fini(&batch);
    }
    tables = sta_tables_create(NULL);
    decoder = sta_memory_decoder_create(tables, STA_TRACE_DASF, STA_DECODE_BOTH);
    sta_batch_init(&batch);
}

/* The payloads of all whole records. */
static void compare_with_library(const char *bytes, size_t size)
{
    while (size >= STA_RECORD_LENGTH && sta_record_length(bytes) <= size - STA_RECORD_LENGTH) {
        const size_t payload = (size_t)sta_record_length(bytes);
        STA_ASSERT(same_message(bytes + STA_RECORD_LENGTH, payload));
        bytes += STA_RECORD_LENGTH + payload;
        size -= STA_RECORD_LENGTH + payload;
    }
}

/* Each list names values that are there, one of a single member is there once, and a text that reads like a
 * list is one. */
static void check_lists(const struct sta_args_column *column)
{
    const uint32_t key = sta_tables_list_members(tables, column->key);
    struct sta_buffer text = {0};
    for (uint32_t i = 0; i < column->count && key != STA_NO_CODE; i++) {
        if (column->kinds[i] != STA_VALUE_TEXT)
            continue;
        const struct sta_dictionary *values = sta_tables_values(tables, column->key);
        const struct sta_text value = sta_dictionary_text(values, column->values[i].code);
        uint32_t member;
        sta_buffer_clear(&text);
        if (sta_text_is_list(value) && value.length == 1 + sizeof member) {
            memcpy(&member, value.bytes + 1, sizeof member);
            STA_ASSERT(sta_dictionary_find_single(values, member) == column->values[i].code);
        }
        if (sta_text_is_list(value))
            STA_ASSERT(sta_list_put(&text, sta_tables_values(tables, key), value));
        else
            STA_ASSERT(value.length != 2 || memcmp(value.bytes, "[]", 2) != 0);
    }
    sta_buffer_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sta_source source = {.path = sta_strdup("a.msgpack")};
    if (inputs++ % INPUTS == 0)
        make_anew();
    sta_batch_clear(&batch);
    sta_memory_decoder_run(decoder, (const char *)data, size, &source, &batch);
    const struct sta_ledger_counts *counts = &source.counts;
    STA_ASSERT(counts->lines == counts->events + counts->counters + counts->other + counts->malformed);
    STA_ASSERT(batch.count == counts->events + counts->counters);
    STA_ASSERT(counts->json_bytes <= size && source.malformed.count <= counts->malformed);
    for (uint32_t a = 0; a < batch.args_count; a++) {
        for (uint32_t i = 0; i < batch.args[a].count; i++)
            STA_ASSERT(batch.args[a].rows[i] < batch.count);
        check_lists(&batch.args[a]);
    }
    sta_source_fini(&source);
    compare_with_library((const char *)data, size);
    return 0;
}
