/* parser.h - state shared by the files of the parser (private to expression). */
#ifndef STA_ANALYSE_EXPRESSION_PARSER_H
#define STA_ANALYSE_EXPRESSION_PARSER_H

#include <string.h>
#include "analyse/expression/aggregates.h"
#include "analyse/expression/build.h"
#include "analyse/expression/lexer.h"
#include "analyse/facade/language.h"

struct sta_parser {
    struct sta_builder builder;
    struct sta_token *tokens;
    const struct sta_token *at;
    unsigned nesting;
    struct sta_aggregates *aggregates; /* in a member of `aggregate`, else NULL */
    bool gathers; /* there, among the arguments of an aggregate: rows are in scope, not groups */
};

#define STA_MOST_OPTIONS 8

struct sta_option {
    const struct sta_token *name;
    bool value;
};

/* A call of a function or a method, and what stands between its parentheses. */
struct sta_function_call {
    struct sta_parser *parser;
    struct sta_text name;
    uint32_t position;                   /* of the name */
    bool is_method;                      /* its first argument stood before the dot */
    bool caseless;                       /* of a method of texts: it compares without case */
    const struct sta_function *function; /* that was found by the name; NULL: none was looked for */
    struct sta_term *terms;              /* arguments; free() */
    unsigned count;
    size_t capacity;
    struct sta_option options[STA_MOST_OPTIONS];
    unsigned option_count;
};

/* ---- expression.c */
/** Reads the tokens and makes ready for the first rule.  Close also after a failure. */
int sta_parser_open(struct sta_parser *parser, const char *text, size_t length,
                    const struct sta_schema *schema, struct sta_error *err);
/** Fails unless all tokens have been used. */
void sta_parser_end(struct sta_parser *parser);
/** Return: 0, or the status of the first mistake. */
int sta_parser_close(struct sta_parser *parser);
/** Makes of the term of a whole text what is wanted, or fails. */
typedef struct sta_term (*sta_term_wanted)(struct sta_builder *builder, struct sta_term term);
/** Text to expression.  @aggregates: of a member of `aggregate`, else NULL; @make: NULL when any is. */
int sta_parse_whole(const char *text, size_t length, const struct sta_schema *schema,
                    struct sta_aggregates *aggregates, sta_term_wanted make,
                    struct sta_expression **expression, struct sta_error *err);
/** The expression that a term stands for; null alone is a missing number. */
struct sta_expression *sta_parser_keep(struct sta_parser *parser, struct sta_term term);

/* ---- parser.c */
bool sta_parser_at(const struct sta_parser *parser, const char *word);
/** The next token if it is this word. */
const struct sta_token *sta_parser_take(struct sta_parser *parser, const char *word);
void sta_parser_need(struct sta_parser *parser, const char *word);
/** "expected .., found ..", at the present token */
void sta_parser_expected(struct sta_parser *parser, const char *what);
/** One step deeper; false, and a failure, past the limit.  Every step in is left by `nesting--`. */
bool sta_parser_enter(struct sta_parser *parser);
struct sta_term sta_parse_or(struct sta_parser *parser);
/** A list in brackets or parentheses.  Elements must compare with type @of. */
const struct sta_list *sta_parse_values(struct sta_parser *parser, enum sta_type of);
struct sta_term sta_nothing(void);

/* ---- calls.c */
/** What stands behind a value: ".name(..)" and ".str.name(..)", repeatedly. */
struct sta_term sta_parse_methods(struct sta_parser *parser, struct sta_term of);
struct sta_term sta_parse_call(struct sta_parser *parser, const struct sta_token *name);
/** Reads what stands between parentheses; free() the terms.  @first: what stood before the dot of a method,
 * or NULL. */
void sta_parse_arguments(struct sta_function_call *call, const struct sta_term *first);
bool sta_refuse_options(const struct sta_function_call *call);
/** Fails unless there are @least to @most arguments (a method's own value not counted). */
bool sta_check_count(const struct sta_function_call *call, unsigned least, unsigned most);

/* ---- call_texts.c */
struct sta_term sta_parse_text_method(struct sta_function_call *call);
/** NULL, and a failure at the constant, if it is no pattern. */
const struct sta_pattern *sta_compile_pattern(struct sta_parser *parser, struct sta_term constant,
                                              enum sta_anchoring anchoring, bool caseless);
struct sta_term sta_build_replace(struct sta_parser *parser, struct sta_term of, struct sta_term pattern,
                                  struct sta_term by, bool caseless, uint32_t position);

/* ---- functions.c */
/** Whether there is a function of that name; else fails at the name, before its arguments are blamed. */
bool sta_check_function(const struct sta_function_call *call);
/** Calls the function of that name, which there is, with these arguments. */
struct sta_term sta_build_function(const struct sta_function_call *call);

/* ---- choices.c: functions whose result is one of their arguments */
/** Fails unless all arguments are numbers. */
bool sta_check_numbers(const struct sta_function_call *call);
/** The same value under another position, no longer a bare column or a constant as written. */
struct sta_term sta_renamed(struct sta_term term, uint32_t position);
struct sta_term sta_build_coalesce(const struct sta_function_call *call);
struct sta_term sta_build_where(const struct sta_function_call *call);
/** @of_integers: STA_OP_LEAST_I or STA_OP_GREATEST_I. */
struct sta_term sta_build_extreme(const struct sta_function_call *call, enum sta_operation of_integers);

/* ---- binning.c */
struct sta_term sta_build_bin(const struct sta_function_call *call);
struct sta_term sta_build_cut(const struct sta_function_call *call);

/* ---- the tables behind sta_language_word(): the word at @index, false beyond the last */
bool sta_function_word(size_t index, struct sta_language_word *word);
bool sta_aggregate_word(size_t index, struct sta_language_word *word);
bool sta_method_word(size_t index, struct sta_language_word *word);
bool sta_text_method_word(size_t index, struct sta_language_word *word);
bool sta_keyword_word(size_t index, struct sta_language_word *word);

/* ---- aggregates.c */
/** Whether an aggregate has this name. */
bool sta_is_aggregate(struct sta_text name);
/** The call of an aggregate, whose name is @name. */
struct sta_term sta_parse_aggregate(struct sta_parser *parser, const struct sta_token *name);
/** A column outside the arguments of aggregates. */
struct sta_term sta_parse_key(struct sta_parser *parser, struct sta_text name, uint32_t position);

static inline struct sta_text sta_token_text(const struct sta_token *token)
{
    return (struct sta_text){token->text, token->length};
}

static inline bool sta_text_is(struct sta_text text, const char *word)
{
    return strlen(word) == text.length && memcmp(text.bytes, word, text.length) == 0;
}

#endif
