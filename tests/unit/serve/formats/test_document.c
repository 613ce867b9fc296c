/* JSON as documents: order, types, mistakes; one text for the same request. */
#include <criterion/criterion.h>
#include <string.h>

#include "serve/formats/document_json.h"

static int parse(const char *text, struct sta_arena *arena, struct sta_document **document,
                 struct sta_error *err)
{
    *err = STA_ERROR_INIT;
    return sta_document_parse(text, strlen(text), "The body", arena, document, err);
}

static char *again(const char *text, void (*put)(struct sta_buffer *, const struct sta_document *))
{
    struct sta_arena arena = {0};
    struct sta_document *document;
    struct sta_error err;
    struct sta_buffer out;
    sta_buffer_init(&out);
    cr_assert_eq(parse(text, &arena, &document, &err), STA_OK, "%s: %s", text, err.text);
    put(&out, document);
    sta_arena_fini(&arena);
    return sta_buffer_take_text(&out);
}

Test(document, members_keep_their_order_and_values_their_types)
{
    struct sta_arena arena = {0};
    struct sta_document *document;
    struct sta_error err;
    cr_assert_eq(parse("{\"z\": 9223372036854775807, \"a\": [1.0, true, null, \"\\u00e9\"], \"m\": {}}",
                       &arena, &document, &err),
                 STA_OK);
    cr_expect_eq(document->count, 3);
    cr_expect_str_eq(document->first->name, "z");
    cr_expect_eq(document->first->type, STA_DOCUMENT_INT);
    cr_expect_eq(document->first->integer, INT64_MAX);
    const struct sta_document *list = sta_document_member(document, "a");
    cr_expect_eq(list->count, 4);
    cr_expect_eq(list->first->type, STA_DOCUMENT_FLOAT);
    cr_expect_str_eq(list->last->text.bytes, "\xC3\xA9");
    cr_expect_str_eq(document->last->name, "m");
    sta_arena_fini(&arena);
}

Test(document, a_member_can_be_taken_out_wherever_it_stands)
{
    static const char *const rest[] = {"{\"b\":2,\"c\":3}", "{\"a\":1,\"c\":3}", "{\"a\":1,\"b\":2}"};
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        struct sta_arena arena = {0};
        struct sta_document *document;
        struct sta_error err;
        struct sta_buffer out;
        sta_buffer_init(&out);
        cr_assert_eq(parse("{\"a\": 1, \"b\": 2, \"c\": 3}", &arena, &document, &err), STA_OK);
        cr_expect_eq(sta_document_take(document, names[i])->integer, (int64_t)i + 1);
        cr_expect_null(sta_document_take(document, names[i]));
        sta_put_document(&out, document);
        char *text = sta_buffer_take_text(&out);
        cr_expect_str_eq(text, rest[i]);
        sta_document_append(&arena, document, "d", sta_document_create(&arena, STA_DOCUMENT_NULL));
        cr_expect_str_eq(document->last->name, "d");
        cr_expect_eq(document->count, 3);
        free(text);
        sta_arena_fini(&arena);
    }
}

Test(document, what_is_no_json_has_a_position)
{
    static const struct {
        const char *text;
        int64_t position;
    } cases[] = {{"{\"a\": }", 7},
                 {"{\"\xC3\xA9\": !}", 7},
                 {"", 0},
                 {"{\"a\": 1, \"a\": 2}", 12},
                 {"{\"a\": 99999999999999999999}", 26}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sta_arena arena = {0};
        struct sta_document *document;
        struct sta_error err;
        cr_expect_eq(parse(cases[i].text, &arena, &document, &err), STA_EINPUT);
        cr_expect_eq(err.position, cases[i].position, "%s: %lld", cases[i].text, (long long)err.position);
        sta_arena_fini(&arena);
    }
}

/* Members of a stage act in an order of their own; those of other objects, such as aggregate, give the order
 * of columns. */
Test(document, the_same_request_has_one_text)
{
    char *a =
        again("{\"then\": {\"limit\": 2, \"filter\": \"x\"}, \"aggregate\": {\"z\": \"1\", \"a\": \"2\"}}",
              sta_put_request);
    char *b = again("{ \"aggregate\":{\"z\":\"1\",\"a\":\"2\"},\"then\":{\"filter\":\"x\",\"limit\":2}}",
                    sta_put_request);
    char *c =
        again("{\"then\": {\"limit\": 2, \"filter\": \"x\"}, \"aggregate\": {\"a\": \"2\", \"z\": \"1\"}}",
              sta_put_request);
    cr_expect_str_eq(a, b);
    cr_expect_str_neq(a, c);
    free(a);
    free(b);
    free(c);
}

Test(document, texts_come_out_as_they_went_in)
{
    static const char text[] = "{\"a\":[1,1.5,-0.0,\"\\\"\\\\\\n\xC3\xA9\",false,null,{\"b\":[]}]}";
    char *out = again(text, sta_put_document);
    cr_expect_str_eq(out, text);
    free(out);
}
