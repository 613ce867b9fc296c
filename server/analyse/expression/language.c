/* What the language consists of, from the tables that the parser reads. */
#include "analyse/facade/language.h"

#include "analyse/expression/parser.h"

bool sta_language_word(enum sta_word_kind kind, size_t index, struct sta_language_word *word)
{
    static bool (*const tables[STA_WORD_KINDS])(size_t, struct sta_language_word *) = {
        [STA_WORD_SCALAR] = sta_function_word, [STA_WORD_AGGREGATE] = sta_aggregate_word,
        [STA_WORD_METHOD] = sta_method_word,   [STA_WORD_TEXT_METHOD] = sta_text_method_word,
        [STA_WORD_KEYWORD] = sta_keyword_word, [STA_WORD_OPERATOR] = sta_operator_word,
    };
    return tables[kind](index, word);
}
