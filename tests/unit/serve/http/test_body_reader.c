/* Bodies, whole and in chunks, however they come in. */
#include <criterion/criterion.h>
#include <string.h>

#include "common/memory.h"
#include "serve/http/body_reader.h"

/* Reads what comes in @step bytes at a time.  *rest: how many bytes were not of the body. */
static enum sta_body_state read_all(bool chunked, uint64_t length, const char *text, size_t size, size_t step,
                                    struct sta_buffer *body, size_t *rest)
{
    struct sta_head head = {.chunked = chunked, .content_length = length};
    struct sta_body_reader reader;
    struct sta_error err = STA_ERROR_INIT;
    enum sta_body_state state = STA_BODY_MORE;
    size_t taken, at = 0;
    sta_buffer_init(body);
    sta_body_reader_init(&reader, &head);
    for (size_t have = 0; have < size && state == STA_BODY_MORE;) {
        have = STA_MIN(have + step, size);
        state = sta_body_read_input(&reader, text + at, have - at, &taken, body, &err);
        at += taken;
    }
    cr_expect(state != STA_BODY_BAD || err.text[0] != '\0');
    *rest = size - at;
    return state;
}

static void expect(bool chunked, uint64_t length, const char *text, enum sta_body_state wanted,
                   const char *data, size_t wanted_rest)
{
    for (size_t step = 1; step <= strlen(text); step++) {
        struct sta_buffer body;
        size_t rest;
        enum sta_body_state state = read_all(chunked, length, text, strlen(text), step, &body, &rest);
        cr_expect_eq(state, wanted, "%s: %d, in steps of %zu", text, (int)state, step);
        if (wanted == STA_BODY_WHOLE) {
            cr_expect(body.size == strlen(data) &&
                          (body.size == 0 || memcmp(body.data, data, body.size) == 0),
                      "%s", text);
            cr_expect_eq(rest, wanted_rest, "%s: %zu", text, rest);
        }
        sta_buffer_fini(&body);
    }
}

Test(body_reader, a_body_ends_where_it_says)
{
    expect(false, 5, "helloGET /", STA_BODY_WHOLE, "hello", 5);
    expect(false, 50, "hello", STA_BODY_MORE, NULL, 0);
    expect(true, 0, "5\r\nhello\r\n0\r\n\r\nGET /", STA_BODY_WHOLE, "hello", 5);
    expect(true, 0, "2;a=\"b\"\r\nhe\r\n003\r\nllo\r\n0;x\r\nTrailer: x\r\n\r\n", STA_BODY_WHOLE, "hello", 0);
    expect(true, 0, "0\r\n\r\n", STA_BODY_WHOLE, "", 0);
    expect(true, 0, "A\r\n0123456789\r\n", STA_BODY_MORE, NULL, 0);
}

Test(body_reader, chunks_that_two_readers_could_cut_differently_are_refused)
{
    static const char *const bad[] = {
        "xyz\r\nhello\r\n",      "0x5\r\nhello\r\n0\r\n\r\n", "-1\r\n",
        " 5\r\nhello\r\n",       "5 \r\nhello\r\n",           "5\nhello\n0\n\n",
        "5\r\nhelloX\r\n",       "5\r\nhello\n0\r\n\r\n",     "\r\n",
        "5\rhello\r\n0\r\n\r\n", "1000000000000000000\r\n",   "5;a\nb\r\nhello\r\n0\r\n\r\n",
        "0\r\nX: y\n\r\n",       "0\r\nX\r: y\r\n\r\n"};
    for (size_t i = 0; i < STA_COUNT_OF(bad); i++)
        expect(true, 0, bad[i], STA_BODY_BAD, NULL, 0);
}

Test(body_reader, lines_that_nobody_reads_are_bounded)
{
    char text[20000] = "5;";
    memset(text + 2, 'x', 2000);
    expect(true, 0, text, STA_BODY_BAD, NULL, 0);
}
