/* Memory that was freed goes back to the system when it is asked for, and not before. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/account.h"
#include "common/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#define PIECE 100000 /* too small to be mapped apart */
#define PIECES 2000

static size_t resident(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file != NULL && fscanf(file, "%*u %lu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

/* Frees all but the last, which keeps the allocator from returning the others to the system by itself. */
static char *leave_holes(void)
{
    static char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = sta_try_alloc(PIECE);
        cr_assert_not_null(pieces[i]);
        memset(pieces[i], 1, PIECE);
    }
    for (size_t i = 0; i + 1 < PIECES; i++)
        free(pieces[i]);
    return pieces[PIECES - 1];
}

Test(memory, what_was_freed_is_given_back)
{
#if SANITIZED
    cr_skip_test("needs allocator: sanitizers bring their own");
#endif
    char *last = leave_holes();
    size_t before = resident();
    cr_assert_gt(before, (size_t)PIECE * PIECES * 9 / 10);
    sta_memory_trim_grown(before * 2);
    cr_expect_gt(resident(), before * 9 / 10, "less is held than may be kept");
    sta_memory_trim_grown(before / 4);
    cr_expect_lt(resident(), before / 4, "%zu bytes of %zu are left", resident(), before);
    free(last);
}

Test(memory, large_blocks_that_were_freed_serve_the_next_who_ask)
{
#if SANITIZED
    cr_skip_test("needs allocator: sanitizers find uses of memory that is really freed");
#endif
    const size_t size = 3 * STA_HUGE_PAGE;
    sta_memory_configure(1, 4 * size);
    char *block = sta_try_alloc(size);
    memset(block, 1, size);
    sta_free(block);
    char *other = sta_try_alloc(8 * size), *again = sta_try_alloc(size);
    cr_expect(again == block, "a block that fits is used again");
    cr_expect(other != block, "one that is too small is not");
    sta_free(again);
    memset(other, 1, 8 * size);
    size_t before = resident();
    sta_free(other); /* larger than all that may be kept */
    cr_expect_lt(resident() + 7 * size, before, "what exceeds the bound goes back at once");
    cr_expect(sta_memory_trim(0), "trimming drops the list");
    cr_expect_lt(resident() + 8 * size, before);
}

Test(memory, a_buffer_of_records_that_nearly_fills_a_huge_page_serves_the_next_who_asks)
{
#if SANITIZED
    cr_skip_test("needs allocator: sanitizers find uses of memory that is really freed");
#endif
    enum { RECORD = 24, BLOCKS = 8 };
    const size_t size = STA_HUGE_PAGE / RECORD * RECORD;
    char *blocks[BLOCKS];
    sta_memory_configure(1, 4 * BLOCKS * STA_HUGE_PAGE); /* a block may take as much again for its place */
    cr_assert_lt(size, STA_HUGE_PAGE);
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = sta_try_alloc(size);
        memset(blocks[i], 1, size);
    }
    const size_t held = resident();
    for (size_t i = 0; i < BLOCKS; i++)
        sta_free(blocks[i]);
    cr_expect_gt(resident() + size, held, "all stay");
    char *again = sta_try_alloc(size);
    bool known = false;
    for (size_t i = 0; i < BLOCKS; i++)
        known |= again == blocks[i];
    cr_expect(known, "one of them is used again");
    sta_free(again);
    cr_expect(sta_memory_trim(0), "trimming drops the list");
    cr_expect_lt(resident() + (BLOCKS - 1) * size, held);
}

/* Lets the process have so many bytes more than it has. */
static void limit_data(size_t more)
{
    char line[128];
    size_t kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmData: %zu kB", &kib) != 1)
        ;
    fclose(status);
    const struct rlimit limit = {kib * 1024 + more, RLIM_INFINITY};
    cr_assert(kib > 0 && setrlimit(RLIMIT_DATA, &limit) == 0);
}

Test(memory, when_the_system_refuses_small_needs_live_on_the_reserve_and_accounts_refuse)
{
#if SANITIZED
    cr_skip_test("needs allocator: sanitizers bring their own");
#endif
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    char *pieces[100];
    sta_memory_configure(1, 0);
    sta_memory_reserve((size_t)64 << 20);
    sta_account_init(&account, (size_t)1 << 30, "memory", NULL);
    limit_data((size_t)4 << 20);
    cr_expect_null(sta_account_alloc(&account, 1, (size_t)16 << 20, "a test", &err));
    cr_expect_eq(err.status, STA_ENOMEM);
    cr_expect(!sta_memory_is_short(), "what input sizes does not open the reserve");
    for (size_t i = 0; i < STA_COUNT_OF(pieces);
         i++) /* 60 MB: nearly all of the reserve, so that it cannot be filled */
        memset(pieces[i] = sta_alloc(600000), 1, 600000);
    cr_expect(sta_memory_is_short());
    cr_expect_eq(sta_account_charge(&account, 1, "a test", &err), STA_ENOMEM);
    cr_expect_eq(sta_account_check(&account, 0, "a test", &err), STA_ENOMEM);
    cr_expect_str_eq(err.text, "memory for a test: the system has none");
    for (size_t i = 0; i < STA_COUNT_OF(pieces); i++)
        free(pieces[i]);
    cr_expect(!sta_memory_is_short(), "the reserve is filled as soon as there is memory");
    cr_expect_eq(sta_account_check(&account, 0, "a test", &err), STA_OK);
    sta_account_fini(&account);
}

Test(memory, an_arena_takes_about_what_it_is_asked_for)
{
    struct sta_arena arena = {0};
    for (size_t asked = 100; asked <= 200000; asked += 100) {
        sta_arena_alloc(&arena, 100, 1);
        cr_assert_leq(arena.bytes, 3 * asked + 1024, "%zu bytes are held for %zu", arena.bytes, asked);
    }
    sta_arena_fini(&arena);
}

Test(memory, an_arena_takes_over_what_another_holds)
{
    struct sta_arena arena = {0}, other = {0}, empty = {0};
    const char *kept = sta_arena_copy(&arena, "kept", 4);
    sta_arena_adopt(&arena, &empty);
    for (unsigned i = 0; i < 100; i++)
        sta_arena_alloc(&other, 5000, 8);
    const char *adopted = sta_arena_copy(&other, "adopted", 7);
    const size_t bytes = arena.bytes + other.bytes;
    sta_arena_adopt(&arena, &other);
    cr_assert(other.head == NULL && other.bytes == 0 && arena.bytes == bytes);
    const char *more = sta_arena_copy(&arena, "more", 4);
    cr_assert(strcmp(kept, "kept") == 0 && strcmp(adopted, "adopted") == 0 && strcmp(more, "more") == 0);
    sta_arena_fini(&other);
    sta_arena_fini(&arena);
}
