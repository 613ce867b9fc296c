/* JSON bodies: members are checked by their list, mistakes carry a pointer. */
#include <criterion/criterion.h>
#include <string.h>

#include "serve/api/body.h"

static const struct sta_member members[] = {
    {"path", STA_MEMBER_TEXT, true, 10, 0, false},
    {"tags", STA_MEMBER_TEXTS, false, 3, 2, false},
};

static struct sta_buffer bytes_of(const char *text, size_t size)
{
    return (struct sta_buffer){.data = (char *)(uintptr_t)text, .size = size};
}

static int read_text(const char *text, struct sta_body *body, struct sta_error *err)
{
    const struct sta_buffer bytes = bytes_of(text, strlen(text));
    *err = STA_ERROR_INIT;
    return sta_body_read(&bytes, members, 2, body, err);
}

Test(body, members_are_read)
{
    struct sta_body body;
    struct sta_error err;
    cr_assert_eq(read_text("{\"tags\": [\"a\", \"\\u00e9\"], \"path\": \"/x\"}", &body, &err), STA_OK, "%s",
                 err.text);
    cr_expect_str_eq(body.values[0].text, "/x");
    cr_assert_eq(body.values[1].count, 2);
    cr_expect_str_eq(body.values[1].texts[1], "\xC3\xA9");
    sta_body_fini(&body);
}

Test(body, an_empty_list_is_a_list)
{
    struct sta_body body;
    struct sta_error err;
    cr_assert_eq(read_text("{\"path\": \"/x\", \"tags\": []}", &body, &err), STA_OK);
    cr_expect_not_null(body.values[1].texts);
    cr_expect_eq(body.values[1].count, 0);
    sta_body_fini(&body);
}

Test(body, mistakes_carry_a_pointer)
{
    static const struct {
        const char *text, *pointer;
    } cases[] = {
        {"", ""},
        {"[]", ""},
        {"{", ""},
        {"{\"path\": \"a\", \"path\": \"b\"}", ""},
        {"{}", "/path"},
        {"{\"path\": 1}", "/path"},
        {"{\"path\": \"\"}", "/path"},
        {"{\"path\": \"12345678901\"}", "/path"},
        {"{\"path\": \"a\", \"nope\": 1}", "/nope"},
        {"{\"path\": \"a\", \"tags\": \"x\"}", "/tags"},
        {"{\"path\": \"a\", \"tags\": [\"a\", 2]}", "/tags/1"},
        {"{\"path\": \"a\", \"tags\": [\"a\", \"b\", \"c\"]}", "/tags"},
        {"{\"path\": \"a\", \"tags\": [\"abcd\"]}", "/tags/0"},
        {"{\"path\": \"a\\u0000b\"}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sta_body body;
        struct sta_error err;
        cr_expect_eq(read_text(cases[i].text, &body, &err), STA_EINPUT, "%s", cases[i].text);
        cr_expect_str_eq(err.parameter, cases[i].pointer, "%s: %s", cases[i].text, err.text);
        cr_expect_neq(err.text[0], '\0');
    }
}

Test(body, the_position_of_a_mistake_counts_code_points)
{
    struct sta_body body;
    struct sta_error err;
    cr_expect_eq(read_text("{\"path\": \"\xC3\xA9\" !}", &body, &err), STA_EINPUT);
    cr_expect_eq(err.position, 14, "%lld", (long long)err.position);
}

Test(body, depth_is_limited_but_not_by_brackets_in_texts)
{
    struct sta_body body;
    struct sta_error err;
    char deep[200];
    memset(deep, '[', sizeof deep);
    const struct sta_buffer deep_bytes = bytes_of(deep, sizeof deep);
    cr_expect_eq(sta_body_read(&deep_bytes, members, 2, &body, &err), STA_EINPUT);
    cr_expect(strstr(err.text, "deeper") != NULL, "%s", err.text);
    static const struct sta_member wide[] = {{"path", STA_MEMBER_TEXT, true, 1000, 0, false}};
    char text[300] = "{\"path\": \"\\\"";
    memset(text + strlen(text), '[', 100);
    strcat(text, "\"}");
    const struct sta_buffer bytes = bytes_of(text, strlen(text));
    cr_expect_eq(sta_body_read(&bytes, wide, 1, &body, &err), STA_OK, "%s", err.text);
    sta_body_fini(&body);
}
