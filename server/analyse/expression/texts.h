/* texts.h - functions of one text (private to expression). */
#ifndef STA_ANALYSE_EXPRESSION_TEXTS_H
#define STA_ANALYSE_EXPRESSION_TEXTS_H

#include "analyse/expression/tree.h"

/* clang-format off */
#define STA_TEXT_FUNCTIONS(X) \
    X(compare) X(in) X(contains) X(startswith) X(endswith) X(matches) \
    X(len) X(count) X(to_int) X(to_float) \
    X(lower) X(upper) X(strip) X(basename) X(dirname) X(part) X(slice) X(replace) X(replace_literal) X(extract) \
    X(append) X(prepend) X(same)
/* clang-format on */

#define X(name)                                                                                              \
    void sta_text_##name(const struct sta_text_call *call, struct sta_text text,                             \
                         struct sta_text_scratch *scratch, struct sta_text_result *result,                   \
                         struct sta_error *err);
STA_TEXT_FUNCTIONS(X)
#undef X

/** Applies a function of text.  @result: zeroed.  Return: 0; STA_ELIMIT if the text that it makes, or what it
 * takes, goes too far. */
int sta_text_apply(const struct sta_text_call *call, struct sta_text text, struct sta_text_scratch *scratch,
                   struct sta_text_result *result, struct sta_error *err);
bool sta_comparison_holds(enum sta_comparison_operator comparison, int order);
/** Lower case of ASCII letters, into the buffer from its start. */
struct sta_text sta_text_fold(struct sta_text text, struct sta_buffer *buffer);

#endif
