/* Memory in files: what is written is there, at the same place, as long as it is wanted. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/dictionary.h"
#include "common/memory.h"
#include "common/spill_memory.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1 /* its own memory is in files too, and comes and goes */
#elif defined(__has_feature)
#define UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define UNDER_TSAN 0
#endif

Test(spill_memory, pieces_hold_what_was_written)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_spill_memory *memory = sta_spill_memory_create("/tmp", (size_t)1 << 30);
    unsigned char *pieces[64];
    for (size_t i = 0; i < 64; i++) {
        pieces[i] = sta_spill_memory_take(memory, 1 + i * 40000, &err);
        cr_assert_not_null(pieces[i], "%s", err.text);
        cr_assert_eq((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)i, 1 + i * 40000);
    }
    for (size_t i = 0; i < 64; i++) {
        cr_assert_geq(sta_spill_memory_size(memory, pieces[i]), 1 + i * 40000);
        cr_assert(pieces[i][0] == i && pieces[i][i * 40000] == i);
    }
    cr_assert_eq(sta_spill_memory_size(memory, &err), 0);
    cr_assert(!sta_spill_memory_give(memory, &err));
    cr_assert(sta_spill_memory_give(memory, pieces[63]));
    cr_assert_eq(sta_spill_memory_take(memory, 63 * 40000, &err), pieces[63]);
    sta_spill_memory_destroy(memory);
}

Test(spill_memory, pieces_that_were_let_go_hold_what_was_written)
{
    enum { SIZE = 8 << 20 };
    struct sta_error err = STA_ERROR_INIT;
    struct sta_spill_memory *first = sta_spill_memory_create("/tmp", SIZE * 4),
                            *second = sta_spill_memory_create("/tmp", SIZE * 4);
    unsigned char *pieces[] = {sta_spill_memory_take(first, SIZE, &err),
                               sta_spill_memory_take(second, SIZE, &err)};
    const uint64_t before = sta_memory_of_files();
    memset(pieces[0], 3, SIZE);
    memset(pieces[1], 4, SIZE);
    cr_expect(UNDER_TSAN || sta_memory_of_files() > before + SIZE);
    sta_spill_memory_let_go();
    cr_expect(UNDER_TSAN || sta_memory_of_files() < before + SIZE);
    for (size_t i = 0; i < SIZE; i += 999)
        cr_assert(pieces[0][i] == 3 && pieces[1][i] == 4);
    sta_spill_memory_destroy(first);
    sta_spill_memory_let_go();
    cr_assert_eq(pieces[1][SIZE - 1], 4);
    sta_spill_memory_destroy(second);
}

Test(spill_memory, a_folder_that_cannot_be_written_is_a_status)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_spill_memory *memory = sta_spill_memory_create("/proc/strata", (size_t)1 << 30);
    cr_assert_null(sta_spill_memory_take(memory, 100, &err));
    cr_assert_neq(err.status, STA_OK);
    sta_spill_memory_destroy(memory);
}

Test(spill_memory, more_than_the_file_may_take_is_refused)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_spill_memory *memory = sta_spill_memory_create("/tmp", (size_t)3 << 20);
    cr_assert_not_null(sta_spill_memory_take(memory, (size_t)1 << 20, &err), "%s", err.text);
    cr_assert_null(sta_spill_memory_take(memory, (size_t)2 << 20, &err));
    cr_assert_eq(err.status, STA_ELIMIT);
    cr_assert_not_null(strstr(err.text, "query_memory"), "%s", err.text);
    sta_spill_memory_destroy(memory);
}

Test(spill_memory, texts_past_the_limit_lie_in_a_file)
{
    enum { TEXTS = 200000, LIMIT = 1 << 20 };
    struct sta_account request, texts;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&request, (size_t)16 << 20, "query_memory", NULL);
    sta_account_init_texts(&texts, LIMIT, "/tmp", &request);
    struct sta_dictionary *dictionary = sta_dictionary_create_in(&texts);
    char text[64];
    for (uint32_t i = 0; i < TEXTS; i++) {
        int length = snprintf(text, sizeof text, "a text that is kept, number %u", i);
        cr_assert_eq(sta_dictionary_intern(dictionary, text, (size_t)length), i);
    }
    cr_assert_eq(sta_account_failure(&texts, &err), STA_OK, "%s", err.text);
    cr_assert_leq(texts.used, LIMIT);
    sta_account_detach(&texts);
    cr_assert_eq(request.used, 0);
    sta_account_fini(&request);
    for (uint32_t i = 0; i < TEXTS; i += 999) {
        int length = snprintf(text, sizeof text, "a text that is kept, number %u", i);
        cr_assert_eq(sta_dictionary_find(dictionary, text, (size_t)length), i);
        cr_assert_str_eq(sta_dictionary_text(dictionary, i).bytes, text);
    }
    sta_dictionary_destroy(dictionary);
    cr_assert_eq(texts.used, 0);
    sta_account_close(&texts);
}
