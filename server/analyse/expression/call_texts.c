/* Methods of texts, behind ".str.". */
#include "analyse/expression/parser.h"

#include "analyse/expression/suggest.h"
#include "analyse/expression/texts.h"
#include "common/number.h"

static bool option(const struct sta_function_call *call, const char *name, bool otherwise)
{
    for (unsigned i = call->option_count; i-- > 0;)
        if (sta_text_is(sta_token_text(call->options[i].name), name))
            return call->options[i].value;
    return otherwise;
}

const struct sta_pattern *sta_compile_pattern(struct sta_parser *parser, struct sta_term constant,
                                              enum sta_anchoring anchoring, bool caseless)
{
    struct sta_tree *tree = parser->builder.tree;
    struct sta_text text = sta_literal_text(&parser->builder, constant);
    size_t characters = sta_utf8_count(text.bytes, text.length);
    if (characters > sta_expression_limits.pattern) {
        sta_build_fail(&parser->builder, STA_ELIMIT, constant.position,
                       "the pattern has %zu characters; the limit is %u", characters,
                       sta_expression_limits.pattern);
        return NULL;
    }
    char message[256];
    struct sta_pattern *pattern = sta_pattern_create(text, anchoring, caseless, message, sizeof message);
    if (pattern == NULL) {
        sta_build_fail(&parser->builder, STA_EINPUT, constant.position, "bad pattern: %s", message);
        return NULL;
    }
    STA_GROW(tree->patterns, tree->pattern_capacity, tree->pattern_count + 1);
    tree->patterns[tree->pattern_count++] = pattern;
    return pattern;
}

struct sta_term sta_build_replace(struct sta_parser *parser, struct sta_term of, struct sta_term pattern,
                                  struct sta_term by, bool caseless, uint32_t position)
{
    struct sta_builder *builder = &parser->builder;
    struct sta_tree *tree = builder->tree;
    struct sta_text_call call = {.apply = sta_text_replace,
                                 .pattern = sta_compile_pattern(parser, pattern, STA_ANYWHERE, caseless)};
    if (call.pattern == NULL)
        return of;
    char message[256];
    struct sta_replacement *replacement =
        sta_replacement_create(sta_literal_text(builder, by), call.pattern, message, sizeof message);
    if (replacement == NULL) {
        sta_build_fail(builder, STA_EINPUT, by.position, "%s", message);
        return of;
    }
    STA_GROW(tree->replacements, tree->replacement_capacity, tree->replacement_count + 1);
    tree->replacements[tree->replacement_count++] = replacement;
    call.replacement = replacement;
    return sta_build_call(builder, call, STA_TYPE_TEXT, of, position);
}

/* ---- one builder per kind of method; terms[0] is the text itself */

static struct sta_term build_made(const struct sta_function_call *call, struct sta_text_call made,
                                  enum sta_type type)
{
    return sta_build_call(&call->parser->builder, made, type, call->terms[0], call->terms[0].position);
}

static struct sta_term build_test(const struct sta_function_call *call, struct sta_text_call made)
{
    made.when_missing = option(call, "na", false);
    return build_made(call, made, STA_TYPE_BOOL);
}

static struct sta_term build_literal_test(const struct sta_function_call *call, sta_text_function apply)
{
    struct sta_builder *builder = &call->parser->builder;
    struct sta_text_call made = {.apply = apply, .caseless = call->caseless};
    made.first = sta_keep_literal(builder, call->terms[1], made.caseless);
    return build_test(call, made);
}

static struct sta_term build_pattern_test(const struct sta_function_call *call, enum sta_anchoring anchoring)
{
    struct sta_text_call made = {.apply = sta_text_matches};
    made.pattern = sta_compile_pattern(call->parser, call->terms[1], anchoring, call->caseless);
    return made.pattern != NULL ? build_test(call, made) : call->terms[0];
}

/* Whether a pattern stands for itself alone. */
static bool is_plain(struct sta_text pattern)
{
    for (uint32_t i = 0; i < pattern.length; i++)
        if (pattern.bytes[i] == '\0' || strchr("\\^$.|?*+()[]{}", pattern.bytes[i]) != NULL)
            return false;
    return true;
}

static struct sta_term build_contains(const struct sta_function_call *call)
{
    struct sta_text pattern = sta_literal_text(&call->parser->builder, call->terms[1]);
    if (!option(call, "regex", true) ||
        (is_plain(pattern) && pattern.length <= sta_expression_limits.pattern))
        return build_literal_test(call, sta_text_contains);
    return build_pattern_test(call, STA_ANYWHERE);
}

static struct sta_term build_match(const struct sta_function_call *call)
{
    return build_pattern_test(call, STA_AT_START);
}

static struct sta_term build_fullmatch(const struct sta_function_call *call)
{
    return build_pattern_test(call, STA_WHOLE);
}

static struct sta_term build_startswith(const struct sta_function_call *call)
{
    return build_literal_test(call, sta_text_startswith);
}

static struct sta_term build_endswith(const struct sta_function_call *call)
{
    return build_literal_test(call, sta_text_endswith);
}

static struct sta_term build_count(const struct sta_function_call *call)
{
    struct sta_text_call made = {.apply = sta_text_count};
    made.pattern = sta_compile_pattern(call->parser, call->terms[1], STA_ANYWHERE, call->caseless);
    if (made.pattern == NULL)
        return call->terms[0];
    return build_made(call, made, STA_TYPE_INT);
}

/* A literal that is found without case is a quoted pattern. */
static struct sta_term quoted_pattern(struct sta_builder *builder, struct sta_term literal)
{
    struct sta_text text = sta_literal_text(builder, literal);
    struct sta_buffer quoted;
    sta_buffer_init(&quoted);
    for (uint32_t i = 0; i < text.length; i++) {
        if (text.bytes[i] != '\0' && strchr("\\^$.|?*+()[]{}", text.bytes[i]) != NULL)
            sta_put_char(&quoted, '\\');
        sta_put_char(&quoted, text.bytes[i]);
    }
    struct sta_term term =
        sta_build_text(builder, (struct sta_text){quoted.size > 0 ? quoted.data : "", (uint32_t)quoted.size},
                       literal.position);
    sta_buffer_fini(&quoted);
    return term;
}

static struct sta_term build_replace(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    struct sta_term pattern = call->terms[1], by = call->terms[2];
    if (option(call, "regex", false))
        return sta_build_replace(call->parser, call->terms[0], pattern, by, call->caseless,
                                 call->terms[0].position);
    struct sta_text_call made = {.apply = sta_text_replace_literal,
                                 .second = sta_keep_literal(builder, by, false)};
    if (call->caseless) {
        made.apply = sta_text_replace;
        made.pattern =
            sta_compile_pattern(call->parser, quoted_pattern(builder, pattern), STA_ANYWHERE, true);
    } else {
        made.first = sta_keep_literal(builder, pattern, false);
    }
    return builder->failed ? call->terms[0] : build_made(call, made, STA_TYPE_TEXT);
}

static struct sta_term build_slice(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    struct sta_text_call made = {.apply = sta_text_slice, .has_to = call->count > 2};
    made.from = sta_build_node(builder, call->terms[1])->value.integer;
    made.to = made.has_to ? sta_build_node(builder, call->terms[2])->value.integer : 0;
    return build_made(call, made, STA_TYPE_TEXT);
}

enum argument_kind { TEXTS, INTEGERS, OWN };

static const struct method {
    const char *name;
    unsigned least, most; /* arguments between the parentheses */
    enum argument_kind kind;
    const char *options[STA_WORD_OPTIONS];
    struct sta_term (*build)(const struct sta_function_call *call);
    struct sta_help help;
} methods[] = {
#define METHOD(name, least, most, kind, build, options, ...)                                                 \
    {                                                                                                        \
        name, least, most, kind, options, build,                                                             \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define OPTIONS(...)                                                                                         \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
    METHOD("contains", 1, 1, TEXTS, build_contains, OPTIONS("case", "regex", "na"),
           "s.str.contains(\"pattern\")",
           "Whether the pattern matches somewhere; regex=false takes it literally, case=false ignores case.",
           "\"DLIOBenchmark.run\".str.contains(\"run$\")", "true"),
    METHOD("match", 1, 1, TEXTS, build_match, OPTIONS("case", "na"), "s.str.match(\"pattern\")",
           "Whether the pattern matches from the start.", "\"read64\".str.match(\"read\")", "true"),
    METHOD("fullmatch", 1, 1, TEXTS, build_fullmatch, OPTIONS("case", "na"), "s.str.fullmatch(\"pattern\")",
           "Whether the pattern matches the whole text.", "\"read64\".str.fullmatch(\"read\")", "false"),
    METHOD("startswith", 1, 1, TEXTS, build_startswith, OPTIONS("na"), "s.str.startswith(\"text\")",
           "Whether it begins with the text, literally.", "\"/data/a.npz\".str.startswith(\"/data\")",
           "true"),
    METHOD("endswith", 1, 1, TEXTS, build_endswith, OPTIONS("na"), "s.str.endswith(\"text\")",
           "Whether it ends with the text, literally.", "\"/data/a.npz\".str.endswith(\".npz\")", "true"),
    METHOD("count", 1, 1, TEXTS, build_count, OPTIONS(NULL), "s.str.count(\"pattern\")",
           "How often the pattern matches.", "\"/data/train/a.npz\".str.count(\"/\")", "3"),
    METHOD("replace", 2, 2, TEXTS, build_replace, OPTIONS("regex", "case"), "s.str.replace(\"text\", \"by\")",
           "Every occurrence replaced, literally, or with regex=true of a pattern.",
           "\"a.b\".str.replace(\".\", \"-\")", "\"a-b\""),
    METHOD("slice", 1, 2, INTEGERS, build_slice, OPTIONS(NULL), "s.str.slice(a[, b])",
           "The characters from a to before b, as Python slices.", "\"checkpoint\".str.slice(0, 5)",
           "\"check\""),
    METHOD("lower", 0, 0, OWN, sta_build_function, OPTIONS(NULL), "s.str.lower()", "As the function lower.",
           "\"POSIX\".str.lower()", "\"posix\""),
    METHOD("upper", 0, 0, OWN, sta_build_function, OPTIONS(NULL), "s.str.upper()", "As the function upper.",
           "\"read\".str.upper()", "\"READ\""),
    METHOD("strip", 0, 0, OWN, sta_build_function, OPTIONS(NULL), "s.str.strip()", "As the function strip.",
           "\" read \".str.strip()", "\"read\""),
    METHOD("len", 0, 0, OWN, sta_build_function, OPTIONS(NULL), "s.str.len()", "As the function len.",
           "\"read\".str.len()", "4"),
    /* pandas' expand says whether a table comes back; a column does, always */
    METHOD("extract", 1, 1, OWN, sta_build_function, OPTIONS("expand"), "s.str.extract(\"pattern\")",
           "As the function extract.", "\"epoch7\".str.extract(\"[0-9]+\")", "\"7\""),
};

bool sta_text_method_word(size_t index, struct sta_language_word *word)
{
    if (index >= STA_COUNT_OF(methods))
        return false;
    *word = (struct sta_language_word){
        .name = methods[index].name, .help = methods[index].help, .options = methods[index].options};
    return true;
}

static const struct method *find_method(const struct sta_function_call *call)
{
    const char *names[STA_COUNT_OF(methods)];
    for (size_t i = 0; i < STA_COUNT_OF(methods); i++) {
        names[i] = methods[i].name;
        if (sta_text_is(call->name, names[i]))
            return &methods[i];
    }
    sta_fail_unknown(&call->parser->builder, "method of text", call->name, call->position, names,
                     STA_COUNT_OF(names));
    return NULL;
}

static bool check_options(const struct sta_function_call *call, const struct method *method)
{
    for (unsigned i = 0; i < call->option_count; i++) {
        struct sta_text name = sta_token_text(call->options[i].name);
        bool known = false;
        for (unsigned k = 0; k < STA_COUNT_OF(method->options) && method->options[k] != NULL; k++)
            known = known || sta_text_is(name, method->options[k]);
        if (known)
            continue;
        sta_build_fail(&call->parser->builder, STA_EINPUT, call->position, "%s has no option '%.*s'",
                       method->name, (int)STA_MIN(name.length, 120u), name.bytes);
        return false;
    }
    return true;
}

static bool check_terms(const struct sta_function_call *call, const struct method *method)
{
    struct sta_builder *builder = &call->parser->builder;
    for (unsigned i = 1; i < call->count; i++) {
        const struct sta_term *term = &call->terms[i];
        if (method->kind == TEXTS && !(term->literal && term->type == STA_TYPE_TEXT)) {
            sta_build_fail(builder, STA_EINPUT, term->position, "%s needs a text constant here",
                           method->name);
            return false;
        }
        if (method->kind == INTEGERS && !(term->literal && term->type == STA_TYPE_INT)) {
            sta_build_fail(builder, STA_EINPUT, call->position, "%s takes 1 or 2 constant integers",
                           method->name);
            return false;
        }
    }
    return true;
}

struct sta_term sta_parse_text_method(struct sta_function_call *call)
{
    const struct method *method = find_method(call);
    if (method == NULL || !check_options(call, method) ||
        !sta_check_count(call, method->least, method->most) || !check_terms(call, method))
        return call->terms[0];
    call->caseless = !option(call, "case", true) || sta_is_caseless(&call->parser->builder, call->terms[0]);
    return method->build(call);
}
