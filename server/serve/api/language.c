/* The expression language as the parser has it, for editors and documentation. */
#include "serve/api/routes.h"

static void put_options(struct sta_buffer *out, const struct sta_language_word *word)
{
    sta_begin_list(out, "options");
    for (size_t i = 0; word->options != NULL && i < STA_WORD_OPTIONS && word->options[i] != NULL; i++) {
        sta_put_text(out, i > 0 ? "," : "");
        sta_put_json_text(out, word->options[i]);
    }
    sta_put_char(out, ']');
}

/* @kind_name: NULL: not said. */
static void put_words(struct sta_buffer *out, enum sta_word_kind kind, const char *kind_name, bool *first)
{
    struct sta_language_word word;
    for (size_t i = 0; sta_language_word(kind, i, &word); i++) {
        sta_put_text(out, *first ? "\n{" : ",\n{");
        *first = false;
        sta_put_member_text(out, "name", word.name);
        if (kind_name != NULL)
            sta_put_member_text(out, "kind", kind_name);
        sta_put_member_text(out, "signature", word.help.signature);
        sta_put_member_text(out, "text", word.help.text);
        sta_put_member_text(out, "example", word.help.example);
        sta_put_member(out, "result");
        sta_put_text(out, word.help.result);
        if (kind_name != NULL)
            put_options(out, &word);
        sta_put_char(out, '}');
    }
}

int sta_api_language(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const char *const kinds[] = {[STA_WORD_SCALAR] = "scalar",
                                        [STA_WORD_AGGREGATE] = "aggregate",
                                        [STA_WORD_METHOD] = "method",
                                        [STA_WORD_TEXT_METHOD] = "text_method"};
    struct sta_buffer *out = &response->body;
    bool first = true;
    sta_put_text(out, "{\"functions\":[");
    for (enum sta_word_kind kind = STA_WORD_SCALAR; kind <= STA_WORD_TEXT_METHOD; kind++)
        put_words(out, kind, kinds[kind], &first);
    sta_put_text(out, "],\"keywords\":[");
    first = true;
    put_words(out, STA_WORD_KEYWORD, NULL, &first);
    sta_put_text(out, "],\"operators\":[");
    first = true;
    put_words(out, STA_WORD_OPERATOR, NULL, &first);
    sta_put_text(out, "]}");
    return STA_OK;
}
