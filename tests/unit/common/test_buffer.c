/* Buffers: what is put is what is read, and a failure sticks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/buffer.h"

static void expect(struct sta_buffer *buffer, const char *text)
{
    cr_assert_eq(buffer->size, strlen(text));
    cr_assert_eq(memcmp(buffer->data, text, buffer->size), 0, "%.*s", (int)buffer->size, buffer->data);
    sta_buffer_clear(buffer);
}

Test(buffer, json_strings_are_escaped)
{
    struct sta_buffer buffer;
    sta_buffer_init(&buffer);
    sta_put_json_string(&buffer, "a\"b\\c\n\x01\xc3\xa9", 9);
    expect(&buffer, "\"a\\\"b\\\\c\\n\\u0001\xc3\xa9\"");
    sta_buffer_fini(&buffer);
}

Test(buffer, csv_cells_are_quoted_where_needed)
{
    struct sta_buffer buffer;
    sta_buffer_init(&buffer);
    sta_put_csv_text(&buffer, "plain", 5);
    expect(&buffer, "plain");
    sta_put_csv_text(&buffer, "a,\"b\"", 5);
    expect(&buffer, "\"a,\"\"b\"\"\"");
    sta_put_csv_text(&buffer, "two\nlines", 9);
    expect(&buffer, "\"two\nlines\"");
    sta_buffer_fini(&buffer);
}

Test(buffer, unsigned_integers_have_all_their_digits)
{
    struct sta_buffer buffer;
    sta_buffer_init(&buffer);
    sta_put_uint(&buffer, 0);
    expect(&buffer, "0");
    sta_put_uint(&buffer, INT64_MAX);
    expect(&buffer, "9223372036854775807");
    sta_put_uint(&buffer, (uint64_t)INT64_MAX + 1);
    expect(&buffer, "9223372036854775808");
    sta_put_uint(&buffer, UINT64_MAX);
    expect(&buffer, "18446744073709551615");
    sta_buffer_fini(&buffer);
}

Test(buffer, a_failure_sticks)
{
    struct sta_buffer buffer;
    sta_buffer_init(&buffer);
    buffer.limit = 8;
    sta_put_text(&buffer, "12345678");
    cr_assert_not(buffer.failed);
    sta_put_char(&buffer, '9');
    cr_assert(buffer.failed);
    sta_put_text(&buffer, "more");
    cr_assert_eq(buffer.size, 8);
    sta_buffer_fini(&buffer);
}

Test(buffer, a_cursor_reads_what_was_put)
{
    struct sta_buffer buffer;
    size_t size;
    sta_buffer_init(&buffer);
    sta_put_u32(&buffer, 0xdeadbeef);
    sta_put_u64(&buffer, UINT64_MAX - 1);
    sta_put_varint(&buffer, 300);
    sta_put_varint(&buffer, UINT64_MAX);
    sta_put_block(&buffer, "text", 4);
    struct sta_cursor cursor = {(unsigned char *)buffer.data, (unsigned char *)buffer.data + buffer.size,
                                false};
    cr_assert_eq(sta_get_u32(&cursor), 0xdeadbeef);
    cr_assert_eq(sta_get_u64(&cursor), UINT64_MAX - 1);
    cr_assert_eq(sta_get_varint(&cursor), 300);
    cr_assert_eq(sta_get_varint(&cursor), UINT64_MAX);
    cr_assert_eq(memcmp(sta_get_block(&cursor, &size), "text", 4), 0);
    cr_assert(size == 4 && !cursor.failed && cursor.at == cursor.end);
    cr_assert_null(sta_get_bytes(&cursor, 1));
    cr_assert(cursor.failed);
    sta_buffer_fini(&buffer);
}

Test(buffer, capacity_is_charged_until_it_is_taken_or_freed)
{
    struct sta_account account;
    struct sta_buffer buffer;
    sta_account_init(&account, 100000, "memory", NULL);
    sta_buffer_init(&buffer);
    buffer.account = &account;
    sta_put_text(&buffer, "some text");
    size_t capacity = buffer.capacity;
    cr_expect_eq(atomic_load(&account.used), capacity);
    char *taken = sta_buffer_take(&buffer);
    cr_expect_eq(atomic_load(&account.used), capacity); /* who took it owes it */
    sta_account_release(&account, capacity);
    free(taken);
    for (int i = 0; i < 200000 && !buffer.failed; i++)
        sta_put_char(&buffer, 'x');
    cr_expect(buffer.failed && buffer.size < 100000);
    sta_buffer_fini(&buffer);
    cr_expect_eq(atomic_load(&account.used), 0);
    sta_account_fini(&account);
}

Test(buffer, what_is_trimmed_is_given_back)
{
    struct sta_account account;
    struct sta_buffer buffer;
    sta_account_init(&account, 100000, "memory", NULL);
    sta_buffer_init(&buffer);
    buffer.account = &account;
    sta_buffer_trim(&buffer);
    cr_expect(buffer.data == NULL && buffer.capacity == 0);
    sta_buffer_reserve(&buffer, 5000);
    sta_put_text(&buffer, "some text");
    sta_buffer_trim(&buffer);
    cr_expect_eq(buffer.capacity, 9);
    cr_expect_eq(atomic_load(&account.used), 9);
    sta_put_text(&buffer, " and more");
    cr_expect_eq(memcmp(buffer.data, "some text and more", buffer.size), 0);
    sta_buffer_fini(&buffer);
    cr_expect_eq(atomic_load(&account.used), 0);
    sta_account_fini(&account);
}

Test(buffer, what_says_that_an_account_is_full_can_be_said)
{
    struct sta_account account;
    struct sta_buffer buffer;
    sta_account_init(&account, 100, "memory", NULL);
    sta_buffer_init(&buffer);
    buffer.account = &account;
    for (int i = 0; i < 5000; i++)
        sta_put_text(&buffer, "refused ");
    cr_expect(!buffer.failed && buffer.size == 40000);
    cr_expect_geq(atomic_load(&account.used), buffer.size);
    sta_buffer_fini(&buffer);
    sta_account_fini(&account);
}
