/* The head of a request: what is understood, and what is refused because two readers could disagree. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/http/head.h"

struct parsed {
    char bytes[2000];
    struct sta_head head;
    struct sta_error err;
    int status; /* -1: not whole, -2: refused while it came in */
};

static struct parsed *parse(const char *text, size_t size)
{
    struct parsed *parsed = sta_alloc(sizeof *parsed);
    size_t scanned = 0;
    cr_assert_lt(size, sizeof parsed->bytes);
    memcpy(parsed->bytes, text, size);
    parsed->err = STA_ERROR_INIT;
    enum sta_head_state state = STA_HEAD_MORE;
    for (size_t have = 1; have <= size && state == STA_HEAD_MORE;
         have++) /* as it may come in, byte by byte */
        state = sta_head_scan(parsed->bytes, have, &scanned, &parsed->err);
    if (state == STA_HEAD_WHOLE)
        parsed->status = sta_head_parse(parsed->bytes, scanned, &parsed->head, &parsed->err);
    else
        parsed->status = state == STA_HEAD_MORE ? -1 : -2;
    return parsed;
}

#define PARSE(text) parse(text, sizeof(text) - 1)

Test(head, a_request_is_taken_apart)
{
    struct parsed *p = PARSE("POST /api/v1/traces?x=1 HTTP/1.1\r\nHost: lab.example:80\r\nx-Empty:\r\n"
                             "Content-Length:  12 \t\r\nExpect: 100-continue\r\n\r\n");
    cr_assert_eq(p->status, 0, "%s", p->err.text);
    cr_expect_eq(p->head.method, STA_POST);
    cr_expect_str_eq(p->head.target, "/api/v1/traces?x=1");
    cr_expect_str_eq(p->head.host, "lab.example:80");
    cr_expect_eq(p->head.content_length, 12);
    cr_expect(p->head.keep_alive && p->head.expects_continue && !p->head.chunked && !p->head.http_1_0);
    cr_expect_str_eq(sta_head_find(&p->head, "X-EMPTY"), "");
    cr_expect_null(sta_head_find(&p->head, "Cookie"));
    free(p);
}

Test(head, targets_in_absolute_form_name_the_host)
{
    static const struct {
        const char *text, *target, *host;
    } cases[] = {
        {"GET http://a.example/x?y HTTP/1.1\r\nHost: b\r\n\r\n", "/x?y", "a.example"},
        {"GET HTTPS://a.example:8443 HTTP/1.1\r\nHost: b\r\n\r\n", "/", "a.example:8443"},
        {"GET http://a.example?y=1 HTTP/1.1\r\nHost: b\r\n\r\n", "/?y=1", "a.example"},
        {"OPTIONS * HTTP/1.1\r\nHost: b\r\n\r\n", "*", "b"},
    };
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        struct parsed *p = parse(cases[i].text, strlen(cases[i].text));
        cr_assert_eq(p->status, 0, "%s: %s", cases[i].text, p->err.text);
        cr_expect_str_eq(p->head.target, cases[i].target);
        cr_expect_str_eq(p->head.host, cases[i].host);
        free(p);
    }
}

Test(head, connections_stay_open_as_the_version_says)
{
    static const struct {
        const char *text;
        bool keep_alive;
    } cases[] = {{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
                 {"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, Close\r\n\r\n", false},
                 {"GET / HTTP/1.0\r\n\r\n", false},
                 {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true}};
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        struct parsed *p = parse(cases[i].text, strlen(cases[i].text));
        cr_assert_eq(p->status, 0, "%s: %s", cases[i].text, p->err.text);
        cr_expect_eq(p->head.keep_alive, cases[i].keep_alive, "%s", cases[i].text);
        free(p);
    }
}

#define REFUSED(expected, text)                                                                              \
    {                                                                                                        \
        text, sizeof(text) - 1, expected                                                                     \
    }
#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"

Test(head, what_two_readers_could_understand_differently_is_refused)
{
    static const struct {
        const char *text;
        size_t size;
        int status;
    } cases[] = {
        REFUSED(400, GET "Host: b\r\n\r\n"),
        REFUSED(400, GET "Host: a\r\n\r\n"),
        REFUSED(400, GET "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        REFUSED(400, GET "Content-Length: 1, 1\r\n\r\n"),
        REFUSED(400, GET "Content-Length: +1\r\n\r\n"),
        REFUSED(400, GET "Content-Length: 0x1\r\n\r\n"),
        REFUSED(400, GET "Content-Length:\r\n\r\n"),
        REFUSED(400, GET "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        REFUSED(400, GET "Transfer-Encoding: gzip, chunked\r\n\r\n"),
        REFUSED(400, GET "Transfer-Encoding: xchunked\r\n\r\n"),
        REFUSED(400, GET "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"),
        REFUSED(400, "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        REFUSED(400, GET "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n"),
        REFUSED(400, GET "X : y\r\n\r\n"),
        REFUSED(400, GET "X\t: y\r\n\r\n"),
        REFUSED(400, GET ": y\r\n\r\n"),
        REFUSED(400, GET "nonsense\r\n\r\n"),
        REFUSED(400, GET " folded\r\n\r\n"),
        REFUSED(400, "GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n"),
        REFUSED(400, "GET / HTTP/1.1\r\nX: y\r\n\r\n"),
        REFUSED(400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED(400, "GET / x HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED(400, "GET /\tx HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED(400, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        REFUSED(400, "GET /\r\nHost: a\r\n\r\n"),
        REFUSED(400, "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED(400, "GET x HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED(400, "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED(505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        REFUSED(417, GET "Expect: tea\r\n\r\n"),
        REFUSED(415, POST "Content-Length: 2\r\nContent-Encoding: gzip\r\n\r\n"),
        REFUSED(415, POST "Transfer-Encoding: chunked\r\nContent-Encoding: br\r\n\r\n"),
        REFUSED(400,
                POST "Content-Length: 2\r\nContent-Encoding: gzip\r\nContent-Encoding: identity\r\n\r\n"),
        REFUSED(-2, GET "X: a\0b\r\n\r\n"),
        REFUSED(-2, "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED(-2, "GET / HTTP/1.1\nHost: a\n\n"),
        REFUSED(-2, GET "X: a\rY: b\r\n\r\n"),
        REFUSED(-2, GET "X: a\x7f\r\n\r\n"),
        REFUSED(-2, "\x16\x03\x01\x02"),
        REFUSED(-1, GET "X: a\r\n"),
        REFUSED(-1, GET "\r"),
    };
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        struct parsed *p = parse(cases[i].text, cases[i].size);
        cr_expect_eq(p->status, cases[i].status, "%s: %d, not %d: %s", cases[i].text, p->status,
                     cases[i].status, p->err.text);
        cr_expect(p->status == -1 || p->err.text[0] != '\0', "%s", cases[i].text);
        free(p);
    }
}

Test(head, more_lines_than_a_request_may_have_are_refused)
{
    char text[2000] = GET;
    for (int i = 0; i < STA_HEAD_FIELDS; i++)
        strcat(text, "X: y\r\n");
    strcat(text, "\r\n");
    struct parsed *p = parse(text, strlen(text));
    cr_expect_eq(p->status, 431);
    free(p);
}

Test(head, a_length_that_no_number_holds_is_too_large)
{
    struct parsed *p = PARSE(GET "Content-Length: 99999999999999999999999999\r\n\r\n");
    cr_expect_eq(p->status, 0);
    cr_expect_eq(p->head.content_length, UINT64_MAX);
    free(p);
    p = PARSE(GET "Content-Length: 00000000000000000000000000007\r\n\r\n");
    cr_expect_eq(p->head.content_length, 7);
    free(p);
}
