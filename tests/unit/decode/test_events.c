/* What an event's line says is what its row holds. */
#include <criterion/criterion.h>

#include "decoded.h"

Test(events, a_hashed_line_becomes_a_row)
{
    struct decoded d = decode_text(
        "{\"id\":7,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":5,\"tid\":6,\"ts\":1700000000000001,\"dur\":9,"
        "\"ph\":\"X\",\"args\":{\"hhash\":18446744073709551614,\"fhash\":\"fa03\",\"ret\":4096}}\n");
    cr_assert_eq(d.batch.count, 1);
    cr_assert(d.batch.ts[0] == 1700000000000001 && d.batch.dur[0] == 9 && d.batch.ts_ns == NULL);
    cr_assert_str_eq(text_of(sta_tables_names(d.tables), d.batch.name[0]), "read");
    cr_assert_str_eq(text_of(sta_tables_cats(d.tables), d.batch.cat[0]), "posix");
    cr_assert_str_eq(text_of(sta_tables_file_refs(d.tables), d.batch.file[0]), "sfa03");
    struct sta_thread thread = sta_tables_thread(d.tables, d.batch.thread[0]);
    cr_assert(thread.pid == 5 && thread.tid == 6);
    cr_assert_str_eq(text_of(sta_tables_host_refs(d.tables), thread.host), "s18446744073709551614");
    const struct sta_args_column *ret = args_of(&d, "ret");
    cr_assert(ret->kinds[0] == STA_VALUE_INT && ret->values[0].integer == 4096);
    cr_assert_null(args_of(&d, "fhash"), "what names the file is no argument besides");
    decoded_fini(&d);
}

Test(events, a_plain_line_means_the_same)
{
    struct decoded d = decode_text(
        "{\"args\":{\"fname\":\"/a\",\"hostname\":\"n1\",\"ret\":\"-7\",\"whence\":\"05\"},\"ph\":\"X\","
        "\"dur\":\"8\",\"ts\":\" 12 \",\"tid\":\"6\",\"pid\":\"5\",\"cat\":\"x\",\"name\":\"f\"},\n");
    cr_assert_eq(d.batch.count, 1);
    cr_assert(d.batch.ts[0] == 12 && d.batch.dur[0] == 8);
    cr_assert_str_eq(text_of(sta_tables_file_refs(d.tables), d.batch.file[0]), "n/a");
    struct sta_thread thread = sta_tables_thread(d.tables, d.batch.thread[0]);
    cr_assert_str_eq(text_of(sta_tables_host_refs(d.tables), thread.host), "nn1");
    cr_assert(args_of(&d, "ret")->kinds[0] == STA_VALUE_INT && args_of(&d, "ret")->values[0].integer == -7);
    cr_assert_eq(args_of(&d, "whence")->kinds[0], STA_VALUE_TEXT, "05 is no canonical integer");
    decoded_fini(&d);
}

Test(events, times_may_be_negative_fractional_and_exponential)
{
    static const struct {
        const char *text;
        int64_t us;
        unsigned ns;
    } times[] = {{"-5", -5, 0},
                 {"1.5", 1, 500},
                 {"-0.25", -1, 750},
                 {"12e3", 12000, 0},
                 {"1234.5678e-1", 123, 457},
                 {"\"7.001\"", 7, 1},
                 {"2.0", 2, 0},
                 {"1e-9", 0, 0},
                 {"0.0006", 0, 1},
                 {"-0", 0, 0}};
    for (size_t i = 0; i < STA_COUNT_OF(times); i++) {
        char line[128];
        snprintf(line, sizeof line, "{\"ph\":\"X\",\"ts\":%s,\"dur\":0}", times[i].text);
        struct decoded d = decode_text(line);
        cr_assert_eq(d.batch.count, 1, "%s", line);
        cr_assert_eq(d.batch.ts[0], times[i].us, "%s", line);
        cr_assert_eq(d.batch.ts_ns ? d.batch.ts_ns[0] : 0, times[i].ns, "%s", line);
        decoded_fini(&d);
    }
}

Test(events, values_keep_their_kinds)
{
    struct decoded d = decode_text("{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"i\":-3,\"f\":5.0,\"b\":"
                                   "false,\"t\":\"x\",\"z\":null,\"big\":9223372036854775808,"
                                   "\"n\":{\"a\" : [1, 2.50, {\"b\":null}, \"\\u00e9\"]}}}\n");
    cr_assert_eq(args_of(&d, "i")->kinds[0], STA_VALUE_INT);
    cr_assert(args_of(&d, "f")->kinds[0] == STA_VALUE_FLOAT && args_of(&d, "f")->values[0].number == 5.0);
    cr_assert(args_of(&d, "b")->kinds[0] == STA_VALUE_BOOL && args_of(&d, "b")->values[0].integer == 0);
    cr_assert_null(args_of(&d, "z"));
    const struct sta_args_column *big = args_of(&d, "big");
    cr_assert_str_eq(text_of(sta_tables_values(d.tables, big->key), big->values[0].code),
                     "9223372036854775808");
    const struct sta_args_column *nested = args_of(&d, "n");
    cr_assert_str_eq(text_of(sta_tables_values(d.tables, nested->key), nested->values[0].code),
                     "{\"a\":[1,2.5,{\"b\":null},\"\xc3\xa9\"]}");
    decoded_fini(&d);
}

Test(events, the_last_of_equal_keys_counts)
{
    struct decoded d = decode_text("{\"ph\":\"M\",\"ts\":1,\"ts\":2,\"dur\":1,\"args\":{\"a\":9},\"ph\":"
                                   "\"X\",\"args\":{\"a\":1,\"a\":2}}\n");
    cr_assert_eq(d.batch.count, 1);
    cr_assert_eq(d.batch.ts[0], 2);
    cr_assert(args_of(&d, "a")->count == 1 && args_of(&d, "a")->values[0].integer == 2);
    decoded_fini(&d);
}

Test(events, wrong_ids_do_not_lose_the_event)
{
    struct decoded d = decode_text(
        "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":\"x\",\"tid\":2.0,\"name\":5,\"cat\":null,\"args\":3}\n");
    cr_assert_eq(d.batch.count, 1);
    struct sta_thread thread = sta_tables_thread(d.tables, d.batch.thread[0]);
    cr_assert(thread.pid == STA_NO_ID && thread.tid == 2 && thread.host == STA_NO_CODE);
    cr_assert_str_eq(text_of(sta_tables_names(d.tables), d.batch.name[0]), "5");
    cr_assert_eq(d.batch.cat[0], STA_NO_CODE);
    decoded_fini(&d);
}

Test(events, definitions_come_from_metadata)
{
    struct decoded d =
        decode_text("{\"ph\":\"M\",\"name\":\"FH\",\"args\":{\"name\":\"/f\",\"value\":77}}\n"
                    "{\"ph\":\"M\",\"name\":\"HH\",\"args\":{\"name\":\"n1\",\"hhash\":\"ab\",\"value\":3}}\n"
                    "{\"ph\":\"M\",\"name\":\"FH\",\"args\":{\"name\":\"/second\",\"value\":\"77\"}}\n"
                    "{\"ph\":\"M\",\"name\":\"PR\",\"args\":{\"name\":\"x\",\"value\":3}}\n");
    struct sta_definition found;
    cr_assert_eq(d.source.counts.metadata, 4);
    cr_assert(sta_tables_find_definition(d.tables, STA_DEFINES_FILE, "77", 2, STA_NO_CODE, &found, NULL));
    cr_assert_str_eq(found.text, "/f");
    cr_assert(sta_tables_find_definition(d.tables, STA_DEFINES_HOST, "ab", 2, STA_NO_CODE, &found, NULL));
    cr_assert_not(sta_tables_find_definition(d.tables, STA_DEFINES_HOST, "3", 1, STA_NO_CODE, &found, NULL));
    decoded_fini(&d);
}

#define EVENT_OF(args)                                                                                       \
    "{\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,\"ph\":\"X\",\"args\":"     \
    "{" args "}}\n"

/* What the first lines of a shape refer to may be null in a later one, and the other way round. */
Test(events, a_null_refers_to_nothing_among_lines_that_refer)
{
    struct decoded decoded = decode_text(
        EVENT_OF("\"fhash\":7,\"fname\":\"/a\"") EVENT_OF("\"fhash\":8,\"fname\":\"/b\"")
            EVENT_OF("\"fhash\":null,\"fname\":\"/c\"") EVENT_OF("\"fhash\":9,\"fname\":\"/d\"")
                EVENT_OF("\"hhash\":null,\"hostname\":\"n1\"") EVENT_OF("\"hhash\":12,\"hostname\":\"n2\""));
    static const char *const files[] = {"s7", "s8", "n/c", "s9", "-", "-"};
    static const char *const hosts[] = {"-", "-", "-", "-", "nn1", "s12"};
    cr_assert_eq(decoded.batch.count, 6);
    for (uint32_t i = 0; i < decoded.batch.count; i++) {
        struct sta_thread thread = sta_tables_thread(decoded.tables, decoded.batch.thread[i]);
        cr_expect_str_eq(text_of(sta_tables_file_refs(decoded.tables), decoded.batch.file[i]), files[i]);
        cr_expect_str_eq(text_of(sta_tables_host_refs(decoded.tables), thread.host), hosts[i]);
        cr_expect_str_eq(text_of(sta_tables_names(decoded.tables), decoded.batch.name[i]), "read");
    }
    cr_expect_eq(args_of(&decoded, "fname")->count, 3);
    decoded_fini(&decoded);
}

/* A name and a hash of the same text are not the same reference, however often they take turns. */
Test(events, a_name_that_reads_like_a_hash_is_none)
{
    static const char pair[] =
        EVENT_OF("\"fname\":\"77\",\"hostname\":\"12\"") EVENT_OF("\"fhash\":\"77\",\"hhash\":\"12\"");
    enum { TURNS = 20 };
    char text[TURNS * sizeof pair + 1] = "";
    for (size_t i = 0; i < TURNS; i++)
        memcpy(text + i * (sizeof pair - 1), pair, sizeof pair);
    struct decoded decoded = decode_text(text);
    cr_assert_eq(decoded.batch.count, 2 * TURNS);
    for (uint32_t i = 0; i < decoded.batch.count; i++) {
        struct sta_thread thread = sta_tables_thread(decoded.tables, decoded.batch.thread[i]);
        cr_expect_str_eq(text_of(sta_tables_file_refs(decoded.tables), decoded.batch.file[i]),
                         i % 2 ? "s77" : "n77");
        cr_expect_str_eq(text_of(sta_tables_host_refs(decoded.tables), thread.host), i % 2 ? "s12" : "n12");
    }
    decoded_fini(&decoded);
}
