/* Codes: whatever the order in which ranks meet texts, rows end with the codes of the same texts in the
 * trace's tables. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/codes.h"
#include "common/counters.h"
#include "common/memory.h"

/* Rank 0, at hand. */
struct coordinator {
    struct sta_tables *tables;
    unsigned asked;
    size_t cut;  /* bytes that are missing of the answer */
    bool slow;   /* has answered only when one waits for it */
    bool waited; /* somebody has */
    int status;  /* of what it has answered */
    struct sta_buffer answer;
    struct sta_codes_calls calls;
};

static int answer(void *context, const struct sta_buffer *request, struct sta_error *err)
{
    struct coordinator *coordinator = context;
    struct sta_cursor in = {.at = (const unsigned char *)request->data,
                            .end = (const unsigned char *)request->data + request->size};
    coordinator->asked++;
    cr_assert_null(coordinator->answer.data, "one request at a time");
    coordinator->status = sta_codes_grant(coordinator->tables, &in, &coordinator->answer, err);
    return STA_OK;
}

static int take(void *context, bool wait, unsigned char **bytes, size_t *size, struct sta_error *err)
{
    struct coordinator *coordinator = context;
    coordinator->waited |= wait;
    *bytes = NULL;
    if (coordinator->slow && !wait)
        return STA_OK;
    *bytes = sta_alloc(coordinator->answer.size + 1);
    *size = coordinator->answer.size - STA_MIN(coordinator->cut, coordinator->answer.size);
    memcpy(*bytes, coordinator->answer.data, *size);
    sta_buffer_fini(&coordinator->answer);
    return coordinator->status;
}

static uint32_t intern(struct sta_dictionary *dictionary, const char *text)
{
    return sta_dictionary_intern(dictionary, text, strlen(text));
}

/* A reference by hash 77 that an event of a source makes. */
static uint32_t intern_hash(struct sta_tables *tables, struct sta_dictionary *dictionary, const char *source)
{
    const uint32_t code = intern(sta_tables_sources(tables), source);
    char text[] = "s77....";
    for (size_t byte = 0; byte < STA_REFERENCE_SOURCE; byte++)
        text[3 + byte] = (char)(code >> 8 * byte);
    return sta_dictionary_intern(dictionary, text, 3 + STA_REFERENCE_SOURCE);
}

static const char *text_of(const struct sta_dictionary *dictionary, uint32_t code)
{
    cr_assert_lt(code, sta_dictionary_count(dictionary));
    return sta_dictionary_text(dictionary, code).bytes;
}

/* A batch of one row, as decode makes it of the tables of a unit. */
static void fill(struct sta_batch *batch, struct sta_tables *tables, const char *name, const char *source,
                 const char *key, const char *value)
{
    const uint32_t code = sta_tables_intern_key(tables, key, strlen(key));
    const struct sta_thread thread = {
        .pid = 7, .tid = 8, .host = intern_hash(tables, sta_tables_host_refs(tables), source)};
    sta_batch_init(batch);
    sta_batch_reserve(batch, 1);
    batch->count = 1;
    batch->name[0] = intern(sta_tables_names(tables), name);
    batch->cat[0] = STA_NO_CODE;
    batch->file[0] = intern_hash(tables, sta_tables_file_refs(tables), source);
    batch->thread[0] = sta_tables_intern_thread(tables, thread);
    batch->args = sta_alloc_array(2, sizeof *batch->args);
    batch->args_count = batch->args_capacity = 2;
    batch->args[0] = (struct sta_args_column){.key = code, .count = 1, .capacity = 1};
    batch->args[0].rows = sta_alloc_array(1, sizeof(uint32_t));
    batch->args[0].kinds = sta_alloc_array(1, 1);
    batch->args[0].values = sta_alloc_array(1, sizeof(union sta_value));
    batch->args[0].kinds[0] = STA_VALUE_TEXT;
    batch->args[0].values[0].code = intern(sta_tables_values(tables, code), value);
    batch->args[1] = (struct sta_args_column){.key = 4000}; /* what is left of an earlier batch */
}

static void check_reference(const struct coordinator *coordinator, const struct sta_dictionary *dictionary,
                            uint32_t code, const char *source)
{
    const struct sta_reference_parts parts = sta_reference_split(sta_dictionary_text(dictionary, code));
    cr_assert(parts.hash);
    cr_assert_eq(parts.text.length, 2);
    cr_assert_str_eq(text_of(sta_tables_sources(coordinator->tables), parts.source), source);
}

static void check(const struct coordinator *coordinator, const struct sta_batch *batch, const char *name,
                  const char *source, const char *key, const char *value)
{
    const struct sta_args_column *args = &batch->args[0];
    cr_assert_str_eq(text_of(sta_tables_names(coordinator->tables), batch->name[0]), name);
    cr_assert_eq(batch->cat[0], STA_NO_CODE);
    cr_assert_str_eq(text_of(sta_tables_keys(coordinator->tables), args->key), key);
    cr_assert_str_eq(text_of(sta_tables_values(coordinator->tables, args->key), args->values[0].code), value);
    check_reference(coordinator, sta_tables_file_refs(coordinator->tables), batch->file[0], source);
    const struct sta_thread thread = sta_tables_thread(coordinator->tables, batch->thread[0]);
    cr_assert_eq(thread.pid, 7);
    check_reference(coordinator, sta_tables_host_refs(coordinator->tables), thread.host, source);
}

static struct coordinator *coordinator_create(void)
{
    struct coordinator *coordinator = sta_alloc(sizeof *coordinator);
    coordinator->tables = sta_tables_create(NULL);
    coordinator->calls = (struct sta_codes_calls){coordinator, answer, take};
    intern(sta_tables_names(coordinator->tables), "what rank 0 met");
    intern(sta_tables_sources(coordinator->tables), "0.pfw");
    sta_tables_intern_key(coordinator->tables, "ret", 3);
    return coordinator;
}

static void coordinator_destroy(struct coordinator *coordinator)
{
    sta_buffer_fini(&coordinator->answer);
    sta_tables_destroy(coordinator->tables);
    free(coordinator);
}

/* A coordinator, and the tables and codes of a unit that asks it. */
static struct coordinator *open_unit(struct sta_tables **tables, struct sta_codes **codes)
{
    struct coordinator *coordinator = coordinator_create();
    *tables = sta_tables_create(NULL);
    *codes = sta_codes_create(*tables, &coordinator->calls);
    return coordinator;
}

static void close_unit(struct coordinator *coordinator, struct sta_tables *tables, struct sta_codes *codes)
{
    sta_codes_destroy(codes);
    sta_tables_destroy(tables);
    coordinator_destroy(coordinator);
}

Test(cluster_codes, rows_of_units_get_the_codes_of_the_trace)
{
    struct coordinator *coordinator = coordinator_create();
    static const char *const names[] = {"read", "write", "what rank 0 met", "read"};
    for (size_t unit = 0; unit < 2; unit++) {
        struct sta_tables *tables = sta_tables_create(NULL);
        struct sta_codes *codes = sta_codes_create(tables, &coordinator->calls);
        const unsigned before = coordinator->asked;
        intern(sta_tables_names(tables), unit == 0 ? "x" : "y"); /* codes differ from unit to unit */
        for (size_t i = 0; i < STA_COUNT_OF(names); i++) {
            struct sta_batch batch;
            struct sta_error err = STA_ERROR_INIT;
            const char *source = unit == 0 ? "a.pfw" : "b.pfw", *key = i % 2 ? "ret" : "step";
            fill(&batch, tables, names[i], source, key, names[i]);
            cr_assert_eq(sta_codes_translate(codes, &batch, &err), STA_OK, "%s", err.text);
            check(coordinator, &batch, names[i], source, key, names[i]);
            sta_batch_fini(&batch);
        }
        cr_assert_leq(coordinator->asked - before, 4);
        sta_codes_destroy(codes);
        sta_tables_destroy(tables);
    }
    coordinator_destroy(coordinator);
}

Test(cluster_codes, what_is_known_is_not_asked_again)
{
    struct sta_tables *tables;
    struct sta_codes *codes;
    struct coordinator *coordinator = open_unit(&tables, &codes);
    for (int i = 0; i < 3; i++) {
        struct sta_batch batch;
        struct sta_error err = STA_ERROR_INIT;
        fill(&batch, tables, "read", "a.pfw", "ret", "one");
        cr_assert_eq(sta_codes_translate(codes, &batch, &err), STA_OK);
        sta_batch_fini(&batch);
    }
    cr_assert_eq(coordinator->asked, 1);
    close_unit(coordinator, tables, codes);
}

Test(cluster_codes, what_is_asked_ahead_is_there_when_rows_want_it)
{
    struct sta_tables *tables;
    struct sta_codes *codes;
    struct coordinator *coordinator = open_unit(&tables, &codes);
    struct sta_batch batch;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_codes_send_ahead(codes, &err), STA_OK);
    cr_assert_eq(coordinator->asked, 0, "there is nothing yet");
    fill(&batch, tables, "read", "a.pfw", "ret", "one");
    cr_assert_eq(sta_codes_send_ahead(codes, &err), STA_OK);
    cr_assert_eq(sta_codes_send_ahead(codes, &err), STA_OK);
    cr_assert_eq(coordinator->asked, 1);
    cr_assert_eq(sta_codes_translate(codes, &batch, &err), STA_OK);
    cr_assert(!coordinator->waited);
    check(coordinator, &batch, "read", "a.pfw", "ret", "one");
    sta_batch_fini(&batch);
    coordinator->slow = true;
    intern(sta_tables_names(tables), "asked");
    cr_assert_eq(sta_codes_send_ahead(codes, &err), STA_OK);
    fill(&batch, tables, "asked", "a.pfw", "step", "met since");
    cr_assert_eq(sta_codes_send_ahead(codes, &err), STA_OK);
    cr_assert_eq(coordinator->asked, 2, "one request at a time");
    cr_assert_eq(sta_codes_translate(codes, &batch, &err), STA_OK);
    cr_assert(coordinator->waited);
    check(coordinator, &batch, "asked", "a.pfw", "step", "met since");
    sta_batch_fini(&batch);
    intern(sta_tables_names(tables), "nobody wants it");
    cr_assert_eq(sta_codes_send_ahead(codes, &err), STA_OK);
    sta_codes_destroy(codes);
    cr_assert_null(coordinator->answer.data, "what is under way is taken");
    sta_tables_destroy(tables);
    coordinator_destroy(coordinator);
}

Test(cluster_codes, counters_name_the_keys_of_the_trace)
{
    struct sta_tables *tables;
    struct sta_codes *codes;
    struct coordinator *coordinator = open_unit(&tables, &codes);
    struct sta_buffer records = {0}, chunk = {0}, translated = {0};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_counter_record record = {.ns = 5, .pid = 3, .host = {"", 0}, .name = {"cpu", 3}, .values = 1};
    const uint32_t user = sta_tables_intern_key(tables, "user_pct", 8);
    sta_counter_put(&records, &record, 0);
    sta_counter_put_value(&records, user, 12.5);
    sta_counters_put_chunk(&chunk, "a.pfw", records.data, records.size);
    cr_assert_eq(sta_codes_translate_counters(codes, chunk.data, chunk.size, &translated, &err), STA_OK);
    struct sta_cursor in = {.at = (const unsigned char *)translated.data,
                            .end = (const unsigned char *)translated.data + translated.size};
    struct sta_cursor got;
    struct sta_text path;
    struct sta_counter_record read = {0};
    uint32_t key;
    double value;
    cr_assert(sta_counters_get_chunk(&in, &path, &got));
    cr_assert_eq(path.length, 5);
    cr_assert(sta_counter_get(&got, &read));
    cr_assert_eq(read.ns, 5);
    sta_counter_get_value(&got, &key, &value);
    cr_assert_str_eq(text_of(sta_tables_keys(coordinator->tables), key), "user_pct");
    cr_assert_eq(value, 12.5);
    sta_buffer_fini(&records);
    sta_buffer_fini(&chunk);
    sta_buffer_fini(&translated);
    close_unit(coordinator, tables, codes);
}

Test(cluster_codes, too_many_keys_are_a_sentence)
{
    struct sta_tables *tables;
    struct sta_codes *codes;
    struct coordinator *coordinator = open_unit(&tables, &codes);
    struct sta_batch batch;
    struct sta_error err = STA_ERROR_INIT;
    char key[16];
    for (int i = 0; i < STA_ARGS_KEYS_LIMIT; i++)
        sta_tables_intern_key(coordinator->tables, key, (size_t)snprintf(key, sizeof key, "k%d", i));
    fill(&batch, tables, "read", "a.pfw", "one more", "x");
    cr_assert_eq(sta_codes_translate(codes, &batch, &err), STA_ELIMIT);
    cr_assert(strstr(err.text, "4096 distinct args keys") != NULL, "%s", err.text);
    sta_batch_fini(&batch);
    close_unit(coordinator, tables, codes);
}

Test(cluster_codes, damaged_messages_are_refused)
{
    struct coordinator *coordinator = coordinator_create();
    struct sta_tables *tables = sta_tables_create(NULL);
    struct sta_batch batch;
    struct sta_error err = STA_ERROR_INIT;
    fill(&batch, tables, "read", "a.pfw", "ret", "one");
    coordinator->cut = 1;
    struct sta_codes *codes = sta_codes_create(tables, &coordinator->calls);
    cr_assert_eq(sta_codes_translate(codes, &batch, &err), STA_ECORRUPT);
    sta_codes_destroy(codes);
    static const unsigned char bytes[] = {1, 5, 'a', '.', 'p', 'f', 'w', 1, 4, 'r', 'e'};
    for (size_t size = 0; size < sizeof bytes; size++) {
        struct sta_cursor request = {.at = bytes, .end = bytes + size};
        struct sta_buffer answer = {0};
        cr_assert_eq(sta_codes_grant(coordinator->tables, &request, &answer, &err), STA_ECORRUPT, "%zu bytes",
                     size);
        sta_buffer_fini(&answer);
    }
    sta_batch_fini(&batch);
    sta_tables_destroy(tables);
    coordinator_destroy(coordinator);
}
