/* Tokens: what was put in comes out; what was changed, is of another request or of an older version is told
 * apart. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "serve/responses/cursor.h"

static const struct sta_token_subject subject = {0x1122334455667788, 0x99aabbccddeeff00};

static int decode(const char *token, const struct sta_token_subject *of, struct sta_buffer *position)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_buffer_init(position);
    int status = sta_cursor_decode(token, of, position, &err);
    cr_expect(status == STA_OK || strcmp(err.parameter, "/cursor") == 0);
    return status;
}

Test(cursor, positions_of_any_length_come_back)
{
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t size = 0; size < sizeof bytes; size++) {
        struct sta_buffer position;
        char *token = sta_cursor_encode(&subject, bytes, size);
        cr_assert_eq(strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                     strlen(token));
        cr_assert_eq(decode(token, &subject, &position), STA_OK);
        cr_assert_eq(position.size, size);
        cr_assert(size == 0 || memcmp(position.data, bytes, size) == 0);
        sta_buffer_fini(&position);
        free(token);
    }
}

Test(cursor, every_changed_character_is_noticed)
{
    char *token = sta_cursor_encode(&subject, "position", 8);
    for (size_t i = 0; i < strlen(token); i++) {
        struct sta_buffer position;
        char was = token[i];
        token[i] = was == 'A' ? 'B' : 'A';
        cr_expect_eq(decode(token, &subject, &position), STA_EINPUT, "at %zu", i);
        sta_buffer_fini(&position);
        token[i] = was;
    }
    free(token);
}

Test(cursor, another_request_and_another_version_are_different_mistakes)
{
    struct sta_buffer position;
    char *token = sta_cursor_encode(&subject, "x", 1);
    struct sta_token_subject other = subject;
    other.request++;
    cr_expect_eq(decode(token, &other, &position), STA_EINPUT);
    sta_buffer_fini(&position);
    other = subject;
    other.data++;
    cr_expect_eq(decode(token, &other, &position), STA_EOUTDATED);
    sta_buffer_fini(&position);
    free(token);
}

Test(cursor, what_is_no_token_is_refused)
{
    static const char *const texts[] = {
        "", "A", "AAAA", "AQ", "not a token", "\xC3\xA9", "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sta_buffer position;
        cr_expect_eq(decode(texts[i], &subject, &position), STA_EINPUT, "%s", texts[i]);
        sta_buffer_fini(&position);
    }
}
