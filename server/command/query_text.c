/* Clauses to JSON.
 *
 * A word begins a clause where an expression cannot go on with it: outside of strings, quotes and
 * parentheses, not behind a comma or an operator, and not before "=" or ".".  So `limit` may name an
 * aggregate, and a column that is called like a clause is written in backquotes. */
#include "server/command/query_text.h"

#include <ctype.h>
#include <string.h>

#include "common/memory.h"
#include "common/number.h"

enum form {
    EXPRESSION, /* "filter": "text" */
    NUMBER,     /* "limit": 10 */
    WORD,       /* "preset": "dlio" */
    NAMED,      /* "derive": {"name": "text"} */
    AGGREGATES, /* the same; without a name, the text is the name */
    ITEMS,      /* "group_by": ["text", {"name": "text"}] */
    LIST,       /* "describe": ["text"] */
    ORDER,      /* "order_by": ["-name"] */
    STAGE       /* "then": {..} */
};

static const struct clause {
    const char *first, *second; /* second: NULL: of one word */
    const char *member;
    enum form form;
} clauses[] = {
    {"preset", NULL, "preset", WORD},
    {"from", NULL, "from", NUMBER},
    {"to", NULL, "to", NUMBER},
    {"derive", NULL, "derive", NAMED},
    {"filter", NULL, "filter", EXPRESSION},
    {"group", "by", "group_by", ITEMS},
    {"aggregate", NULL, "aggregate", AGGREGATES},
    {"describe", NULL, "describe", LIST},
    {"value", "counts", "value_counts", LIST},
    {"columns", NULL, "columns", ITEMS},
    {"order", "by", "order_by", ORDER},
    {"limit", NULL, "limit", NUMBER},
    {"then", NULL, "then", STAGE},
};

/* ---- text */

struct span {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return isspace((unsigned char)c) != 0;
}

static bool is_name(char c)
{
    return c == '_' || isalnum((unsigned char)c) != 0;
}

static struct span trim(struct span span)
{
    while (span.at < span.end && is_blank(*span.at))
        span.at++;
    while (span.end > span.at && is_blank(span.end[-1]))
        span.end--;
    return span;
}

/* Behind the string, quoted name or other character at @at. */
static const char *skip(const char *at)
{
    char quote = *at;
    if (quote != '"' && quote != '\'' && quote != '`')
        return at + 1;
    for (at++; *at != '\0' && *at != quote; at++)
        if (*at == '\\' && quote != '`' && at[1] != '\0')
            at++;
    return *at != '\0' ? at + 1 : at;
}

/* Behind the word @word at @at, or NULL. */
static const char *take_word(const char *at, const char *word)
{
    size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && !is_name(at[length]) ? at + length : NULL;
}

/* The clause that begins at @at, *end behind its name; NULL: none. */
static const struct clause *clause_at(const char *at, const char **end)
{
    for (size_t i = 0; i < STA_COUNT_OF(clauses); i++) {
        const char *behind = take_word(at, clauses[i].first);
        if (behind != NULL && clauses[i].second != NULL) {
            while (is_blank(*behind))
                behind++;
            behind = take_word(behind, clauses[i].second);
        }
        if (behind == NULL)
            continue;
        const char *next = behind;
        while (is_blank(*next))
            next++;
        if (*next == '.' || (*next == '=' && next[1] != '='))
            continue;
        *end = behind;
        return &clauses[i];
    }
    return NULL;
}

/* Where the next clause begins at or behind @at, or the end of the text. */
static const char *next_clause(const char *at)
{
    const char *start = at, *end;
    char before = '\0'; /* the last character that is no blank */
    unsigned depth = 0;
    while (*at != '\0') {
        bool begins = is_name(*at) && (at == start || !is_name(at[-1])) && depth == 0;
        bool goes_on = before == '\0' || strchr(",.+-*/%<>=&|~!", before) != NULL;
        if (begins && !goes_on && clause_at(at, &end) != NULL)
            return at;
        depth += *at == '(' || *at == '[';
        depth -= depth > 0 && (*at == ')' || *at == ']');
        before = is_blank(*at) ? before : *at;
        at = skip(at);
    }
    return at;
}

/* The next item up to a comma; false if there is none. */
static bool next_item(struct span *rest, struct span *item)
{
    unsigned depth = 0;
    const char *at = rest->at;
    if (at >= rest->end)
        return false;
    while (at < rest->end && (*at != ',' || depth > 0)) {
        depth += *at == '(' || *at == '[';
        depth -= depth > 0 && (*at == ')' || *at == ']');
        at = skip(at);
    }
    *item = trim((struct span){rest->at, at});
    rest->at = at < rest->end ? at + 1 : at;
    return true;
}

/* Splits "name = text"; false, with *text the whole, if it has no name. */
static bool split_name(struct span item, struct span *name, struct span *text)
{
    const char *at = item.at;
    *text = item;
    while (at < item.end && is_name(*at))
        at++;
    *name = (struct span){item.at, at};
    while (at < item.end && is_blank(*at))
        at++;
    bool named = name->end > name->at && at < item.end && *at == '=' && at[1] != '=';
    if (named)
        *text = trim((struct span){at + 1, item.end});
    return named;
}

/* ---- JSON */

static void put_text(struct sta_buffer *json, struct span span)
{
    sta_put_json_string(json, span.at, (size_t)(span.end - span.at));
}

static int put_number(struct sta_buffer *json, const struct clause *clause, struct span span,
                      struct sta_error *err)
{
    double value;
    size_t length = (size_t)(span.end - span.at);
    if (!sta_parse_double(span.at, length, &value))
        return sta_fail(err, STA_EINPUT, "%s takes a number, not '%.*s'", clause->first, (int)length,
                        span.at);
    sta_put(json, span.at, length);
    return STA_OK;
}

/* "name" as it is, "name desc" as "-name". */
static void put_order(struct sta_buffer *json, struct span item)
{
    static const char *const words[] = {" asc", " desc"};
    for (unsigned descending = 0; descending < 2; descending++) {
        size_t length = strlen(words[descending]);
        if ((size_t)(item.end - item.at) <= length ||
            memcmp(item.end - length, words[descending], length) != 0)
            continue;
        struct span name = trim((struct span){item.at, item.end - length});
        sta_put_text(json, descending ? "\"-" : "\"");
        struct sta_buffer text;
        sta_buffer_init(&text);
        put_text(&text, name);
        sta_put(json, text.data + 1, text.size - 1);
        sta_buffer_fini(&text);
        return;
    }
    put_text(json, item);
}

static int put_item(struct sta_buffer *json, const struct clause *clause, struct span item,
                    struct sta_error *err)
{
    struct span name, text;
    bool named = split_name(item, &name, &text), object = clause->form == NAMED || clause->form == AGGREGATES;
    if (text.at == text.end)
        return sta_fail(err, STA_EINPUT, "an item of %s is empty", clause->member);
    if (clause->form == NAMED && !named)
        return sta_fail(err, STA_EINPUT, "derive takes name = expression, not '%.*s'",
                        (int)(item.end - item.at), item.at);
    if (clause->form == ORDER) {
        put_order(json, item);
    } else if (object || (named && clause->form == ITEMS)) {
        sta_put_text(json, object ? "" : "{");
        put_text(json, named ? name : text);
        sta_put_char(json, ':');
        put_text(json, text);
        sta_put_text(json, object ? "" : "}");
    } else {
        put_text(json, item);
    }
    return STA_OK;
}

static int put_items(struct sta_buffer *json, const struct clause *clause, struct span span,
                     struct sta_error *err)
{
    bool object = clause->form == NAMED || clause->form == AGGREGATES;
    struct span item;
    int status = STA_OK;
    sta_put_char(json, object ? '{' : '[');
    for (bool first = true; status == STA_OK && next_item(&span, &item); first = false) {
        sta_put_text(json, first ? "" : ",");
        status = put_item(json, clause, item, err);
    }
    sta_put_char(json, object ? '}' : ']');
    return status;
}

static int put_clause(struct sta_buffer *json, const struct clause *clause, struct span span,
                      struct sta_error *err)
{
    if (span.at == span.end && clause->form != STAGE)
        return sta_fail(err, STA_EINPUT, "nothing stands behind %s%s%s", clause->first,
                        clause->second != NULL ? " " : "", clause->second != NULL ? clause->second : "");
    if (clause->form == NUMBER)
        return put_number(json, clause, span, err);
    if (clause->form != EXPRESSION && clause->form != WORD)
        return put_items(json, clause, span, err);
    put_text(json, span);
    return STA_OK;
}

static int fail_clause(const char *at, struct sta_error *err)
{
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t i = 0; i < STA_COUNT_OF(clauses); i++)
        sta_put_format(&names, "%s%s%s%s", i > 0 ? ", " : "", clauses[i].first,
                       clauses[i].second != NULL ? " " : "",
                       clauses[i].second != NULL ? clauses[i].second : "");
    int status = sta_fail(err, STA_EINPUT, "a query begins with one of %.*s, not with '%.20s'",
                          (int)names.size, names.data, at);
    sta_buffer_fini(&names);
    return status;
}

/* The members of a stage and of those behind it. */
static int put_stage(struct sta_buffer *json, const char *at, struct sta_error *err)
{
    unsigned seen = 0, stages = 1;
    int status = STA_OK;
    bool first = true;
    sta_put_char(json, '{');
    while (is_blank(*at))
        at++;
    while (*at != '\0' && status == STA_OK) {
        const char *behind;
        const struct clause *clause = clause_at(at, &behind);
        if (clause == NULL)
            return fail_clause(at, err);
        unsigned bit = 1u << (clause - clauses);
        if (seen & bit)
            return sta_fail(err, STA_EINPUT, "%s stands twice; `then` begins the next stage", clause->first);
        seen |= bit;
        sta_put_format(json, "%s\"%s\":", first ? "" : ",", clause->member);
        first = false;
        if (clause->form == STAGE) {
            at = behind;
            while (is_blank(*at))
                at++;
            sta_put_char(json, '{');
            first = true;
            seen = 0;
            stages++;
            continue;
        }
        at = next_clause(behind);
        status = put_clause(json, clause, trim((struct span){behind, at}), err);
    }
    while (stages-- > 0)
        sta_put_char(json, '}');
    return status;
}

int sta_query_text_rewrite(const char *text, struct sta_buffer *json, struct sta_error *err)
{
    size_t length = strlen(text);
    if (sta_utf8_valid_prefix(text, length) < length)
        return sta_fail(err, STA_EINPUT, "the query is not UTF-8");
    return put_stage(json, text, err);
}
