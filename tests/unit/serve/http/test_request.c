/* The pieces of a request, taken apart. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#include "serve/http/request.h"

static const struct {
    const char *text, *decoded; /* NULL: refused */
    bool plus;
} texts[] = {
    {"a%20b", "a b", false},
    {"a+b", "a+b", false},
    {"a+b", "a b", true},
    {"%C3%A9", "\xC3\xA9", false},
    {"%e2%82%ac", "\xE2\x82\xAC", false},
    {"", "", true},
    {"%zz", NULL, false},
    {"%4", NULL, false},
    {"%", NULL, false},
    {"a%00b", NULL, false},
    {"%FF", NULL, false},
    {"\x80", NULL, false},
};

Test(request, percent_escapes_become_what_they_stand_for)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sta_error err = STA_ERROR_INIT;
        char *text = strdup(texts[i].text);
        int status = sta_percent_decode(text, texts[i].plus, &err);
        if (texts[i].decoded == NULL)
            cr_expect_eq(status, STA_EINPUT, "%s", texts[i].text);
        else
            cr_expect(status == STA_OK && strcmp(text, texts[i].decoded) == 0, "%s: %s", texts[i].text, text);
        free(text);
    }
}

static const struct {
    const char *header;
    bool gzip;
} encodings[] = {
    {NULL, false},
    {"", false},
    {"gzip", true},
    {"GZIP", true},
    {"deflate, gzip", true},
    {"gzip;q=0", false},
    {"gzip; q=0.0", false},
    {"gzip;q=0.001", true},
    {"*", true},
    {"*;q=0", false},
    {"gzip;q=0, *", false},
    {"br;q=1, *;q=0.1", true},
    {"identity", false},
    {"xgzip", false},
};

Test(request, gzip_is_taken_by_its_weight)
{
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        cr_expect_eq(sta_accepts_gzip(encodings[i].header), encodings[i].gzip, "%s", encodings[i].header);
}

static const struct {
    const char *header;
    bool matches;
} etags[] = {
    {NULL, false},
    {"", false},
    {"*", true},
    {"\"ab\"", true},
    {"\"ab-gzip\"", true},
    {"W/\"ab\"", true},
    {"\"x\", \"ab\"", true},
    {"\"x\",W/\"ab\"", true},
    {"\"a\"", false},
    {"\"abc\"", false},
    {"ab", false},
    {"\"ab", false},
    {"\"x\"", false},
};

Test(request, etags_are_compared_weakly_and_across_encodings)
{
    for (size_t i = 0; i < sizeof etags / sizeof *etags; i++) {
        cr_expect_eq(sta_etag_matches(etags[i].header, "\"ab\""), etags[i].matches, "%s", etags[i].header);
        cr_expect_eq(sta_etag_matches(etags[i].header, "\"ab-gzip\""), etags[i].matches, "%s",
                     etags[i].header);
    }
}

static const struct {
    const char *header, *name; /* NULL: none */
} hosts[] = {
    {"localhost", "localhost"},
    {"LocalHost:7878", "localhost"},
    {"[::1]:7878", "::1"},
    {"[::1]", "::1"},
    {"lab.example.", "lab.example"},
    {"127.0.0.1:", "127.0.0.1"},
    {NULL, NULL},
    {"", NULL},
    {"a:b", NULL},
    {"a b", NULL},
    {"evil@localhost", NULL},
    {"a/b", NULL},
    {"[::1", NULL},
    {"[::1]x", NULL},
    {"localhost:80:80", NULL},
};

Test(request, a_host_is_known_by_its_name)
{
    char name[STA_HOST_SIZE];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        bool found = sta_host_name(hosts[i].header, name);
        cr_expect_eq(found, hosts[i].name != NULL, "%s", hosts[i].header);
        if (found && hosts[i].name)
            cr_expect_str_eq(name, hosts[i].name);
    }
}

Test(request, a_pattern_captures_single_parts)
{
    struct sta_capture captures[STA_CAPTURES];
    cr_assert(sta_path_match("/t/{id}/summary", "/t/abc/summary", captures));
    cr_expect_eq(captures[0].length, 3);
    cr_expect_arr_eq(captures[0].text, "abc", 3);
    cr_expect(!sta_path_match("/t/{id}/summary", "/t//summary", captures));
    cr_expect(!sta_path_match("/t/{id}/summary", "/t/a/b/summary", captures));
    cr_expect(!sta_path_match("/t/{id}", "/t/abc/", captures));
    cr_expect(!sta_path_match("/t/{id}", "/t/", captures));
    cr_expect(sta_path_match("/t", "/t", captures));
}

Test(request, a_query_is_taken_part_by_part)
{
    char text[] = "a=1&&b&c=x=y&";
    char *rest = text, *name, *value;
    const char *const expected[][2] = {{"a", "1"}, {"b", ""}, {"c", "x=y"}};
    for (size_t i = 0; i < 3; i++) {
        cr_assert(sta_query_next(&rest, &name, &value));
        cr_expect_str_eq(name, expected[i][0]);
        cr_expect_str_eq(value, expected[i][1]);
    }
    cr_expect(!sta_query_next(&rest, &name, &value));
}

Test(request, credentials_are_found)
{
    char value[8];
    cr_expect_str_eq(sta_bearer_token("Bearer abc"), "abc");
    cr_expect_str_eq(sta_bearer_token("bearer  abc"), "abc");
    cr_expect_null(sta_bearer_token("Basic abc"));
    cr_expect_null(sta_bearer_token("Bearer "));
    cr_expect_null(sta_bearer_token(NULL));
    cr_expect(sta_cookie_find("x=1; id=abc; y=2", "id", value, sizeof value));
    cr_expect_str_eq(value, "abc");
    cr_expect(!sta_cookie_find("xid=abc", "id", value, sizeof value));
    cr_expect(!sta_cookie_find("id=too-long-a-value", "id", value, sizeof value));
    cr_expect(!sta_cookie_find(NULL, "id", value, sizeof value));
}

Test(request, an_origin_has_a_host_or_is_none)
{
    char host[STA_HOST_SIZE];
    cr_assert(sta_origin_host("https://Lab.example:8443", host));
    cr_expect_str_eq(host, "lab.example:8443");
    cr_expect(!sta_origin_host("null", host));
    cr_expect(!sta_origin_host("https://", host));
    cr_expect(!sta_origin_host("https://a/b", host));
}

Test(request, the_next_page_keeps_what_was_asked)
{
    static const struct {
        const char *query, *wanted;
    } cases[] = {{"", "?cursor=T"},
                 {"limit=7", "?limit=7&cursor=T"},
                 {"offset=7&a=1", "?a=1&cursor=T"},
                 {"cursor=old&a=%26b&&limit=7", "?a=%26b&limit=7&cursor=T"},
                 {"a=<\">&cursor=", "?a=%3C%22%3E&cursor=T"}};
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        char *next = sta_query_next_page(cases[i].query, "T");
        cr_expect_str_eq(next, cases[i].wanted, "%s", cases[i].query);
        free(next);
    }
}
