/* The tables of a trace: definitions in reading order, keys up to the limit, threads by value. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/event.h"

static void define(struct sta_tables *tables, const char *path, uint64_t line, const char *text)
{
    struct sta_definition definition = {
        .text = text, .length = text ? (uint32_t)strlen(text) : 0, .path = path, .line = line};
    sta_tables_define(tables, STA_DEFINES_FILE, "77", 2, &definition);
}

Test(tables, the_first_definition_in_reading_order_wins)
{
    struct sta_tables *tables = sta_tables_create(NULL);
    struct sta_definition found;
    define(tables, "b.pfw", 1, "later file");
    define(tables, "a.pfw", 9, "later line");
    define(tables, "a.pfw", 3, "first");
    define(tables, "a.pfw", 4, "loses");
    cr_assert(sta_tables_find_definition(tables, STA_DEFINES_FILE, "77", 2, STA_NO_CODE, &found, NULL));
    cr_assert_str_eq(found.text, "first");
    cr_assert_not(sta_tables_find_definition(tables, STA_DEFINES_HOST, "77", 2, STA_NO_CODE, &found, NULL));
    sta_tables_destroy(tables);
}

static const char *text_for(struct sta_tables *tables, const char *path, bool *own)
{
    struct sta_definition found;
    uint32_t source = sta_dictionary_find(sta_tables_sources(tables), path, strlen(path));
    cr_assert(sta_tables_find_definition(tables, STA_DEFINES_FILE, "77", 2, source, &found, own));
    return found.text ? found.text : "-";
}

Test(tables, a_source_keeps_to_its_own_definition)
{
    struct sta_tables *tables = sta_tables_create(NULL);
    uint32_t count;
    bool own;
    define(tables, "c.pfw", 7, "of c, later");
    define(tables, "c.pfw", 5, "of c");
    define(tables, "a.pfw", 9, "of a");
    define(tables, "b.pfw", 1, NULL);
    cr_assert_str_eq(text_for(tables, "a.pfw", &own), "of a");
    cr_assert_str_eq(text_for(tables, "c.pfw", &own), "of c");
    cr_assert_str_eq(text_for(tables, "b.pfw", &own), "-");
    cr_assert(own);
    cr_assert_str_eq(text_for(tables, "d.pfw", &own), "of a", "what comes first in the trace");
    cr_assert_not(own);
    struct sta_error err = STA_ERROR_INIT;
    uint8_t *conflicts = sta_tables_conflicts(tables, STA_DEFINES_FILE, NULL, &count, &err);
    cr_assert(count == 1 && conflicts[0] == 1);
    free(conflicts);
    sta_tables_destroy(tables);
}

Test(tables, sources_that_agree_are_no_conflict)
{
    struct sta_tables *tables = sta_tables_create(NULL);
    uint32_t count;
    define(tables, "b.pfw", 7, "other");
    define(tables, "a.pfw", 9, "same");
    define(tables, "b.pfw", 2, "same"); /* the line before, read after */
    struct sta_error err = STA_ERROR_INIT;
    uint8_t *conflicts = sta_tables_conflicts(tables, STA_DEFINES_FILE, NULL, &count, &err);
    cr_assert(count == 1 && conflicts[0] == 0);
    free(conflicts);
    sta_tables_destroy(tables);
}

Test(tables, a_definition_may_lack_a_name)
{
    struct sta_tables *tables = sta_tables_create(NULL);
    struct sta_definition found;
    define(tables, "a.pfw", 1, NULL);
    cr_assert(sta_tables_find_definition(tables, STA_DEFINES_FILE, "77", 2, STA_NO_CODE, &found, NULL));
    cr_assert_null(found.text);
    sta_tables_destroy(tables);
}

Test(tables, keys_end_at_the_limit)
{
    struct sta_tables *tables = sta_tables_create(NULL);
    char key[16];
    for (uint32_t i = 0; i < STA_ARGS_KEYS_LIMIT; i++) {
        int length = snprintf(key, sizeof key, "key%u", i);
        cr_assert_eq(sta_tables_intern_key(tables, key, (size_t)length), i);
    }
    cr_assert_eq(sta_tables_intern_key(tables, "one more", 8), STA_NO_CODE);
    cr_assert_eq(sta_tables_intern_key(tables, "key5", 4), 5);
    sta_tables_note_kinds(tables, 5, 1u << STA_VALUE_INT);
    sta_tables_note_kinds(tables, 5, 1u << STA_VALUE_TEXT);
    cr_assert_eq(sta_tables_kinds(tables, 5), (1u << STA_VALUE_INT) | (1u << STA_VALUE_TEXT));
    sta_tables_destroy(tables);
}

Test(tables, threads_are_told_apart_by_host_pid_and_tid)
{
    struct sta_tables *tables = sta_tables_create(NULL);
    uint32_t a = sta_tables_intern_thread(tables, (struct sta_thread){.pid = 1, .tid = 2, .host = 0});
    uint32_t b = sta_tables_intern_thread(tables, (struct sta_thread){.pid = 1, .tid = 2, .host = 1});
    uint32_t c = sta_tables_intern_thread(
        tables, (struct sta_thread){.pid = 1, .tid = STA_NO_ID, .host = STA_NO_CODE});
    cr_assert(a != b && b != c && a != c);
    cr_assert_eq(sta_tables_intern_thread(tables, (struct sta_thread){.pid = 1, .tid = 2, .host = 1}), b);
    cr_assert_eq(sta_tables_thread(tables, c).host, STA_NO_CODE);
    cr_assert_eq(sta_tables_thread_count(tables), 3);
    sta_tables_destroy(tables);
}

Test(tables, what_does_not_fit_is_a_failure_and_nothing_breaks)
{
    struct sta_account account;
    for (size_t limit = 0; limit < (size_t)1 << 21; limit += limit / 3 + 4096) {
        struct sta_error err = STA_ERROR_INIT;
        char text[64];
        sta_account_init(&account, limit, "memory", NULL);
        struct sta_tables *tables = sta_tables_create(&account);
        for (int i = 0; i < 20000; i++) {
            const int length = snprintf(text, sizeof text, "text number %d", i);
            const uint32_t key = sta_tables_intern_key(tables, text, (size_t)length);
            if (key != STA_NO_CODE)
                sta_dictionary_intern(sta_tables_values(tables, key), text, (size_t)length);
            sta_tables_thread(tables,
                              sta_tables_intern_thread(tables, (struct sta_thread){i, i, STA_NO_CODE}));
            define(tables, i % 2 ? "a.pfw" : "b.pfw", (uint64_t)i + 1, text);
        }
        cr_expect_eq(sta_tables_failure(tables, &err), STA_ELIMIT);
        cr_expect_not_null(strstr(err.text, "(setting memory)"), "%s", err.text);
        cr_expect_gt(sta_tables_bytes(tables), 0);
        sta_tables_destroy(tables);
        sta_account_fini(&account);
    }
}
