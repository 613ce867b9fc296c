/* What is published of the language is what the parser takes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyse/expression/aggregates.h"
#include "analyse/facade/language.h"
#include "rows.h"

/* Adds the names of a kind as a message lists them. */
static void list_words(enum sta_word_kind kind, char *list, size_t size)
{
    struct sta_language_word word;
    for (size_t i = 0; sta_language_word(kind, i, &word); i++)
        snprintf(list + strlen(list), size - strlen(list), "%s%s", *list ? ", " : "", word.name);
}

/* The message of an unknown name lists all that the parser knows. */
Test(language, is_what_the_parser_lists)
{
    static const struct {
        enum sta_word_kind kind;
        const char *unknown, *before;
    } cases[] = {{STA_WORD_SCALAR, "qqqqqq(1)", ""},
                 {STA_WORD_METHOD, "size.qqqqqq()", "str"},
                 {STA_WORD_TEXT_METHOD, "name.str.qqqqqq()", ""}};
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        char list[1024];
        snprintf(list, sizeof list, "%s", cases[i].before);
        list_words(cases[i].kind, list, sizeof list);
        rows_evaluate(cases[i].unknown);
        const char *listed = strstr(rows_mistake(), "there are ");
        cr_assert(listed != NULL, "%s", rows_mistake());
        cr_expect_str_eq(listed + strlen("there are "), list);
    }
}

Test(language, every_aggregate_is_published_once)
{
    static const char *const names[] = {
#define X(id, name, ...) name,
        STA_AGGREGATE_LIST(X)
#undef X
    };
    for (size_t i = 0; i < STA_COUNT_OF(names); i++) {
        struct sta_language_word word;
        unsigned found = 0;
        for (size_t k = 0; sta_language_word(STA_WORD_AGGREGATE, k, &word); k++)
            found += strcmp(word.name, names[i]) == 0;
        cr_expect_eq(found, 1, "%s is published %u times", names[i], found);
    }
}

/* Whether a result, JSON, is what the first row has: texts without quotes, conditions as T and F. */
static bool is_result(const char *values, const char *result)
{
    bool quoted = *result == '"';
    size_t length = strlen(result) - 2 * quoted, shown = strcspn(values, "|");
    double wanted = 0, got = 0;
    if (!quoted && sscanf(result, "%lf", &wanted) == 1 && sscanf(values, "%lf", &got) == 1)
        return wanted == got;
    if (strcmp(result, "true") == 0 || strcmp(result, "false") == 0)
        return shown == 1 && *values == (*result == 't' ? 'T' : 'F');
    return shown == length && memcmp(values, result + quoted, length) == 0;
}

Test(language, examples_give_their_results)
{
    static const enum sta_word_kind kinds[] = {STA_WORD_SCALAR, STA_WORD_METHOD, STA_WORD_TEXT_METHOD,
                                               STA_WORD_KEYWORD, STA_WORD_OPERATOR};
    for (size_t k = 0; k < STA_COUNT_OF(kinds); k++) {
        struct sta_language_word word;
        size_t count = 0;
        for (; sta_language_word(kinds[k], count, &word); count++) {
            const char *values = rows_evaluate(word.help.example);
            cr_expect(is_result(values, word.help.result), "%s gives %s, not %s (%s)", word.help.example,
                      values, word.help.result, rows_mistake());
            cr_expect(strstr(word.help.example, word.name) != NULL, "%s: %s", word.name, word.help.example);
        }
        cr_expect_gt(count, 5);
    }
}
