/* Record files of DASF: what becomes of each record, and of what is none. */
#include <criterion/criterion.h>
#include <math.h>

#include "common/buffer.h"
#include "common/number.h"
#include "common/memory.h"
#include "decoded.h"
#include "message_reference.h"

/* ---- writing msgpack */

static void put_str(struct sta_buffer *out, const char *text)
{
    sta_put_char(out, (char)0xd9);
    sta_put_char(out, (char)strlen(text));
    sta_put_text(out, text);
}

static void put_big_endian(struct sta_buffer *out, uint64_t value)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        sta_put_char(out, (char)(value >> shift));
}

static void put_float(struct sta_buffer *out, const char *key, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_str(out, key);
    sta_put_char(out, (char)0xcb);
    put_big_endian(out, bits);
}

static void put_texts(struct sta_buffer *out, const char *key, const char *value)
{
    put_str(out, key);
    put_str(out, value);
}

static void put_record(struct sta_buffer *file, struct sta_buffer *payload)
{
    put_big_endian(file, payload->size);
    sta_put(file, payload->data, payload->size);
    sta_buffer_clear(payload);
}

/* The members of a Compute record before its args. */
static void begin_compute(struct sta_buffer *to, double timestamp, double duration, const char *thread)
{
    struct sta_buffer out = {0};
    sta_put_char(&out, (char)0x87);
    put_texts(&out, "name", "Compute");
    put_float(&out, "timestamp", timestamp);
    put_float(&out, "duration", duration);
    put_texts(&out, "phase", "X");
    put_texts(&out, "process_id", "h");
    put_texts(&out, "thread_id", thread);
    put_str(&out, "args");
    sta_put(to, out.data, out.size);
    sta_buffer_fini(&out);
}

/* A Compute record of key "k", function "f", one dependency. */
static void put_compute(struct sta_buffer *file, double timestamp, double duration, const char *thread)
{
    struct sta_buffer out = {0};
    begin_compute(&out, timestamp, duration, thread);
    sta_put_char(&out, (char)0x84);
    put_texts(&out, "key", "k");
    put_texts(&out, "name", "f");
    put_str(&out, "size");
    sta_put_char(&out, 7);
    put_str(&out, "dependencies");
    sta_put_char(&out, (char)0x91);
    put_str(&out, "a\"b");
    put_record(file, &out);
    sta_buffer_fini(&out);
}

static void put_bytes(struct sta_buffer *file, const char *payload, size_t size)
{
    put_big_endian(file, size);
    sta_put(file, payload, size);
}

static struct decoded decode_records(const struct sta_buffer *file)
{
    struct decoded decoded = {.tables = sta_tables_create(NULL)};
    struct sta_memory_decoder *decoder =
        sta_memory_decoder_create(decoded.tables, STA_TRACE_DASF, STA_DECODE_BOTH);
    decoded.source.path = sta_strdup("a.msgpack");
    sta_memory_decoder_run(decoder, file->data, file->size, &decoded.source, &decoded.batch);
    sta_memory_decoder_destroy(decoder);
    return decoded;
}

/* What row has as args.dependencies. */
static struct sta_text list_of(const struct decoded *decoded, uint32_t row)
{
    const struct sta_args_column *inputs = args_of(decoded, "dependencies");
    cr_assert(inputs->rows[row] == row && inputs->kinds[row] == STA_VALUE_TEXT);
    return sta_dictionary_text(sta_tables_values(decoded->tables, inputs->key), inputs->values[row].code);
}

static void expect_list(const struct decoded *decoded, uint32_t row, const char *wanted)
{
    const struct sta_args_column *inputs = args_of(decoded, "dependencies");
    const uint32_t tasks = sta_tables_list_members(decoded->tables, inputs->key);
    struct sta_buffer text = {0};
    cr_assert_str_eq(text_of(sta_tables_keys(decoded->tables), tasks), "key");
    cr_assert(sta_list_put(&text, sta_tables_values(decoded->tables, tasks), list_of(decoded, row)));
    cr_assert(text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0, "row %u is %.*s", row,
              (int)text.size, text.data);
    sta_buffer_fini(&text);
}

/* ---- what is kept */

/* A Compute record with some packed value, or several, as its dependencies. */
static void put_inputs(struct sta_buffer *file, double duration, unsigned count, const char *packed,
                       size_t size)
{
    struct sta_buffer out = {0};
    begin_compute(&out, 104, duration, "worker-h-3");
    sta_put_char(&out, (char)(0x82 + count));
    put_texts(&out, "key", "k");
    put_texts(&out, "name", "f");
    sta_put(&out, packed, size);
    put_record(file, &out);
    sta_buffer_fini(&out);
}
#define PUT_INPUTS(file, count, packed) put_inputs(file, 1, count, packed, sizeof packed - 1)
#define INPUTS                                                                                               \
    "\xac"                                                                                                   \
    "dependencies"

Test(records, a_list_of_tasks_is_their_codes_however_it_is_written)
{
    struct sta_buffer file = {0};
    PUT_INPUTS(&file, 1, INPUTS "\x92\xa1k\xa2x\"");
    PUT_INPUTS(&file, 1, INPUTS "\xdc\x00\x02\xd9\x01k\xa2x\""); /* the same in other words */
    PUT_INPUTS(&file, 1, INPUTS "\xab[\"k\",\"x\\\"\"]");        /* and as a text */
    PUT_INPUTS(&file, 1, INPUTS "\x90");
    PUT_INPUTS(&file, 1, INPUTS "\xa2[]");
    PUT_INPUTS(&file, 2, INPUTS "\x91\xa1y" INPUTS "\x91\xa1k"); /* the last counts */
    PUT_INPUTS(&file, 1, INPUTS "\x91\xa1\xff");                 /* no UTF-8 */
    PUT_INPUTS(&file, 1, INPUTS "\xa5[\"k\"]");
    struct decoded decoded = decode_records(&file);
    static const char *const wanted[] = {"[\"k\",\"x\\\"\"]",
                                         "[\"k\",\"x\\\"\"]",
                                         "[\"k\",\"x\\\"\"]",
                                         "[]",
                                         "[]",
                                         "[\"k\"]",
                                         "[\"\xef\xbf\xbd\"]",
                                         "[\"k\"]"};
    cr_assert_eq(decoded.batch.count, STA_COUNT_OF(wanted));
    for (uint32_t row = 0; row < STA_COUNT_OF(wanted); row++)
        expect_list(&decoded, row, wanted[row]);
    const struct sta_args_column *inputs = args_of(&decoded, "dependencies");
    cr_assert(inputs->values[0].code == inputs->values[1].code &&
              inputs->values[1].code == inputs->values[2].code);
    cr_assert_eq(inputs->values[3].code, inputs->values[4].code);
    cr_assert_eq(inputs->values[5].code, inputs->values[7].code);
    const struct sta_args_column *key = args_of(&decoded, "key");
    uint32_t task;
    memcpy(&task, list_of(&decoded, 5).bytes + 1, sizeof task);
    cr_assert_eq(task, key->values[0].code, "a member is the task of that key");
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

Test(records, what_is_no_list_of_texts_is_the_text_that_it_was)
{
    struct sta_buffer file = {0};
    PUT_INPUTS(&file, 1, INPUTS "\x92\xa1k\x05");
    PUT_INPUTS(&file, 1, INPUTS "\xa6[\"k\" ]");
    PUT_INPUTS(&file, 1, INPUTS "\xa4[\"k\"");
    PUT_INPUTS(&file, 2, INPUTS "\x91\xa1y" INPUTS "\xa1z");
    struct decoded decoded = decode_records(&file);
    static const char *const wanted[] = {"[\"k\",5]", "[\"k\" ]", "[\"k\"", "z"};
    cr_assert_eq(decoded.batch.count, STA_COUNT_OF(wanted));
    for (uint32_t row = 0; row < STA_COUNT_OF(wanted); row++)
        cr_assert_str_eq(list_of(&decoded, row).bytes, wanted[row]);
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

/* Codes are set for many lists at once; those of records that are damaged are of no row. */
Test(records, each_of_many_records_has_its_own_list)
{
    enum { RECORDS = 1000 };
    struct sta_buffer file = {0}, packed = {0};
    char wanted[40];
    for (unsigned i = 0; i < RECORDS; i++) {
        sta_buffer_clear(&packed);
        sta_put_text(&packed, INPUTS);
        sta_put_char(&packed, (char)0x92);
        put_str(&packed, "k");
        snprintf(wanted, sizeof wanted, "task-%u", i);
        put_str(&packed, wanted);
        put_inputs(&file, i % 3 == 2 ? -1 : 1, 1, packed.data, packed.size);
    }
    struct decoded decoded = decode_records(&file);
    cr_assert_eq(decoded.source.counts.malformed, RECORDS / 3);
    for (unsigned i = 0, row = 0; i < RECORDS; i++) {
        if (i % 3 == 2)
            continue;
        snprintf(wanted, sizeof wanted, "[\"k\",\"task-%u\"]", i);
        expect_list(&decoded, row++, wanted);
    }
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
    sta_buffer_fini(&packed);
}

/* What stands where it stood before is recognised: a change is seen all the same. */
Test(records, a_value_that_comes_again_and_one_that_changes_are_told_apart)
{
    static const char *const types[] = {"float32", "float32", "float32", "float32", "float64", "float3",
                                        "float32", "12",      "12",      "12",      "float32"};
    struct sta_buffer file = {0}, packed = {0};
    for (size_t i = 0; i < STA_COUNT_OF(types); i++) {
        sta_buffer_clear(&packed);
        put_texts(&packed, "dtype", types[i]);
        put_str(&packed, "shape");
        sta_put_char(&packed, (char)0x92);
        sta_put_char(&packed, 5);
        sta_put_char(&packed, (char)(i / 4));
        put_inputs(&file, 1, 2, packed.data, packed.size);
    }
    struct decoded decoded = decode_records(&file);
    const struct sta_args_column *type = args_of(&decoded, "dtype"), *shape = args_of(&decoded, "shape");
    for (uint32_t row = 0; row < STA_COUNT_OF(types); row++) {
        char wanted[20];
        snprintf(wanted, sizeof wanted, "[5,%u]", row / 4);
        cr_assert_str_eq(text_of(sta_tables_values(decoded.tables, shape->key), shape->values[row].code),
                         wanted);
        if (type->kinds[row] == STA_VALUE_INT)
            cr_assert(type->values[row].integer == 12 && strcmp(types[row], "12") == 0);
        else
            cr_assert_str_eq(text_of(sta_tables_values(decoded.tables, type->key), type->values[row].code),
                             types[row]);
    }
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
    sta_buffer_fini(&packed);
}

Test(records, a_compute_record_ends_at_its_timestamp)
{
    struct sta_buffer file = {0};
    put_compute(&file, 104.0000000005, 2.25, "worker-h-3");
    struct decoded decoded = decode_records(&file);
    const struct sta_batch *batch = &decoded.batch;
    cr_assert(decoded.source.counts.lines == 1 && decoded.source.counts.events == 1 && batch->count == 1);
    cr_assert(batch->ts[0] == 101750000 && batch->dur[0] == 2250000);
    cr_assert_str_eq(text_of(sta_tables_names(decoded.tables), batch->name[0]), "f");
    cr_assert_str_eq(text_of(sta_tables_cats(decoded.tables), batch->cat[0]), "compute");
    struct sta_thread thread = sta_tables_thread(decoded.tables, batch->thread[0]);
    cr_assert(thread.pid == 3 && thread.tid == 3);
    cr_assert_str_eq(text_of(sta_tables_host_refs(decoded.tables), thread.host), "nh");
    const struct sta_args_column *stamp = args_of(&decoded, "timestamp"), *size = args_of(&decoded, "size");
    cr_assert_eq(stamp->values[0].number, 104.0000000005, "as recorded, to the last bit");
    cr_assert_eq(size->values[0].integer, 7);
    expect_list(&decoded, 0, "[\"a\\\"b\"]");
    cr_assert_eq(args_of(&decoded, "record")->values[0].integer, 1);
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

Test(records, workers_of_other_names_are_told_apart)
{
    struct sta_buffer file = {0};
    put_compute(&file, 1, 1, "worker-h-one");
    put_compute(&file, 1, 1, "worker-h-two");
    put_compute(&file, 1, 1, "other-h-1");
    put_compute(&file, 1, 1, "worker-h-1");
    struct decoded decoded = decode_records(&file);
    for (unsigned a = 0; a < 4; a++)
        for (unsigned b = 0; b < a; b++)
            cr_assert_neq(decoded.batch.thread[a], decoded.batch.thread[b]);
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

/* ---- what is damaged */

static void expect_damage(const char *payload, size_t size, const char *reason)
{
    struct sta_buffer file = {0};
    put_compute(&file, 1, 1, "worker-h-0");
    uint64_t offset = file.size;
    put_bytes(&file, payload, size);
    put_compute(&file, 2, 1, "worker-h-0");
    struct decoded decoded = decode_records(&file);
    const struct sta_line_note *note = decoded.source.malformed.items;
    cr_assert(decoded.source.counts.events == 2 && decoded.source.counts.malformed == 1, "%s", reason);
    cr_assert_str_eq(note->reason, reason);
    cr_assert(note->line == 2 && note->offset == offset);
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

Test(records, damaged_payloads_are_counted_and_explained)
{
    char deep[64];
    memset(deep, 0x91, sizeof deep);
    expect_damage("", 0, "cut off inside a value");
    expect_damage("\x93\x01\x02", 3, "cut off inside a value");
    expect_damage("\xdd\xff\xff\xff\xff", 5, "more than 1,048,576 values");
    expect_damage("\xdf\x00\x01\x00\x00\x01", 6, "cut off inside a value");
    expect_damage(deep, sizeof deep, "nested deeper than 32");
    expect_damage("\x01\x02", 2, "bytes behind the object");
    expect_damage("\xc1", 1, "not msgpack");
    expect_damage("\x93\x01\x02\x03", 4, "not a map");
    expect_damage("\x82\xa4name\xa7"
                  "Compute\xa5phase\xa1X",
                  22, "timestamp is missing");
}

Test(records, times_that_are_none_are_damage)
{
    struct sta_buffer file = {0};
    put_compute(&file, (double)NAN, 1, "w");
    put_compute(&file, 1e300, 1, "w");
    put_compute(&file, 1, -1, "w");
    put_compute(&file, 1, (double)INFINITY, "w");
    struct decoded decoded = decode_records(&file);
    cr_assert(decoded.source.counts.malformed == 4 && decoded.batch.count == 0);
    cr_assert_str_eq(decoded.source.malformed.items[1].reason, "timestamp or duration is out of range");
    cr_assert_str_eq(decoded.source.malformed.items[2].reason, "duration is negative");
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

Test(records, a_length_past_the_limit_ends_the_file)
{
    struct sta_buffer file = {0};
    put_compute(&file, 1, 1, "w");
    uint64_t offset = file.size;
    put_big_endian(&file, UINT64_C(1) << 40);
    put_compute(&file, 2, 1, "w");
    struct decoded decoded = decode_records(&file);
    cr_assert(decoded.batch.count == 1 && decoded.source.counts.lines == 2);
    cr_assert(decoded.source.counts.malformed == 1 && decoded.source.malformed.items[0].offset == offset);
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

Test(records, a_cut_file_gives_what_is_before_the_cut)
{
    struct sta_buffer file = {0};
    put_compute(&file, 1, 1, "w");
    size_t whole = file.size;
    put_compute(&file, 2, 1, "w");
    for (size_t cut = whole; cut < file.size; cut++) {
        struct sta_buffer part = {.data = file.data, .size = cut};
        struct decoded decoded = decode_records(&part);
        cr_assert(decoded.batch.count == 1 && decoded.source.counts.malformed == 0);
        cr_assert_eq(decoded.source.counts.json_bytes, whole);
        decoded_fini(&decoded);
    }
    sta_buffer_fini(&file);
}

Test(records, other_records_are_counted)
{
    static const char other[] = "\x83\xa4name\xa4step\xa9timestamp\x01\xa5phase\xa1"
                                "B";
    static const char phase[] = "\x83\xa4name\xa7"
                                "Compute\xa9timestamp\x01\xa5phase\xa1?";
    struct sta_buffer file = {0};
    put_bytes(&file, other, sizeof other - 1);
    put_bytes(&file, phase, sizeof phase - 1);
    struct decoded decoded = decode_records(&file);
    cr_assert(decoded.source.counts.other == 2 && decoded.source.counts.lines == 2);
    decoded_fini(&decoded);
    sta_buffer_fini(&file);
}

/* ---- the reader of payloads */

/* Payloads of every kind of value: the first byte is each there is, what follows is random but mostly small.
 */
Test(records, payloads_are_read_as_msgpack_c_reads_them)
{
    uint64_t random = 88172645463325252;
    char payload[40];
    unsigned good = 0;
    for (unsigned round = 0; round < 400000; round++) {
        const size_t size = round % sizeof payload;
        for (size_t i = 0; i < size; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            payload[i] = (char)(random % 3 == 0   ? random >> 8
                                : random % 3 == 1 ? 0x80 | (random >> 8 & 0x33)
                                                  : 0);
        }
        if (size > 0)
            payload[0] = (char)round;
        struct sta_record_message in = {.at = payload, .end = payload + size};
        struct sta_message_value value;
        good += sta_message_read(&in, &value, 0) && in.at == in.end;
        cr_assert(same_message(payload, size), "payload %u", round);
    }
    cr_assert(good > 1000, "%u were whole", good);
}

Test(records, containers_may_be_nested_32_deep)
{
    char payload[STA_MESSAGE_DEPTH + 1];
    for (size_t depth = 1; depth <= STA_MESSAGE_DEPTH; depth++) {
        memset(payload, 0x91, depth);
        payload[depth] = (char)(depth < STA_MESSAGE_DEPTH ? 0x80 : 0x01); /* an empty one counts too */
        struct sta_record_message in = {.at = payload, .end = payload + depth + 1};
        struct sta_message_value value;
        cr_assert(sta_message_read(&in, &value, 0) && in.at == in.end && value.end == in.end);
        cr_assert(same_message(payload, depth + 1));
    }
}
