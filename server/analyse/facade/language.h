/* language.h - the words of the expression language, for documentation and editors (facade of analyse). */
#ifndef STA_ANALYSE_FACADE_LANGUAGE_H
#define STA_ANALYSE_FACADE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

enum sta_word_kind {
    STA_WORD_SCALAR,      /* a function of a row: abs(x) */
    STA_WORD_AGGREGATE,   /* a function of a group: sum(x) */
    STA_WORD_METHOD,      /* of any value: x.isna() */
    STA_WORD_TEXT_METHOD, /* of a text: s.str.contains("p") */
    STA_WORD_KEYWORD,
    STA_WORD_OPERATOR,
    STA_WORD_KINDS
};

/* Static texts. */
struct sta_help {
    const char *signature; /* "round(x[, n])": what stands in brackets may be left out; .. repeats */
    const char *text;      /* one sentence */
    const char *example;   /* an expression; of an aggregate, over the events of docs/expressions.md */
    const char *result;    /* of the example, as JSON */
};

#define STA_WORD_OPTIONS 3 /* the most that a word has */

struct sta_language_word {
    const char *name;
    struct sta_help help;
    const char *const *options; /* names of options that are true or false; up to a NULL or STA_WORD_OPTIONS;
                                   NULL: it has none */
};

/** The word of a kind at @index, from 0; false beyond the last.  Context: any thread. */
bool sta_language_word(enum sta_word_kind kind, size_t index, struct sta_language_word *word);

#endif
