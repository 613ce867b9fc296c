/* lexer.h - text to tokens (private to analyse). */
#ifndef STA_ANALYSE_EXPRESSION_LEXER_H
#define STA_ANALYSE_EXPRESSION_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/facade/language.h"
#include "common/error.h"

enum sta_token_kind {
    STA_TOKEN_NUMBER,
    STA_TOKEN_STRING,
    STA_TOKEN_QUOTED,
    STA_TOKEN_NAME,
    STA_TOKEN_SIGN,
    STA_TOKEN_END
};

struct sta_token {
    enum sta_token_kind kind;
    uint32_t position; /* code points from the start */
    uint32_t length;   /* bytes */
    const char *text;  /* as written, quotes included */
    bool whole;        /* NUMBER: digits alone */
};

/** Tokens of the whole text, the last of them END; free() them.  STA_EINPUT with its position for a character
 * or string that is none, STA_ELIMIT for a text that is too long. */
STA_MUSTCHECK int sta_lex(const char *text, size_t length, struct sta_token **tokens, struct sta_error *err);

/** Characters that a STRING token stands for: at most its length of bytes are written.  Return: how many. */
size_t sta_token_unescape(const struct sta_token *token, char *out);

/** The operator at @index; false beyond the last. */
bool sta_operator_word(size_t index, struct sta_language_word *word);

#endif
