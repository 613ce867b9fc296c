/* Members of `aggregate`: the grammar of expressions, in which a call of an aggregate stands for a column of
 * what is gathered.
 *
 * DESIGN.  Two trees grow at a time.  Outside of aggregates the builder's schema is the grouped one; while
 * the arguments of an aggregate are parsed a builder over the schema of rows takes its place, and what it
 * built is kept as expressions of their own.  Arguments are known by a key (the column, or their tokens, and
 * their type), primitives by theirs, so that sum(time), mean(time) and sum(time) / count() gather the
 * ticks of dur once. */
#include "analyse/expression/aggregates.h"

#include <stdlib.h>

#include "analyse/expression/parser.h"
#include "common/buffer.h"

/* What may be an argument. */
enum takes {
    NOTHING,
    ANY,     /* lists too */
    ORDERED, /* all but lists */
    ADDABLE, /* numbers and conditions */
    NUMBERS  /* conditions as integers */
};

/* How an aggregate of ticks becomes one of times. */
enum scaling {
    NOT_TAKEN, /* it is not gathered from ticks */
    AS_IT_IS,
    DIVIDED,
    DIVIDED_TWICE,
    QUOTIENT /* a mean: the sum divided by the count */
};

struct rule {
    unsigned least, most; /* arguments between the parentheses */
    enum takes takes;
    enum scaling scaling;
    bool keeps_unit;
};

static const struct rule rules[STA_AGGREGATES] = {
    [STA_AGGREGATE_ROWS] = {0, 1, NOTHING, NOT_TAKEN, false},
    [STA_AGGREGATE_COUNT] = {0, 1, ANY, AS_IT_IS, false},
    [STA_AGGREGATE_NUNIQUE] = {1, 1, ORDERED, AS_IT_IS, false},
    [STA_AGGREGATE_SUM] = {1, 1, ADDABLE, DIVIDED, true},
    [STA_AGGREGATE_MIN] = {1, 1, ORDERED, DIVIDED, true},
    [STA_AGGREGATE_MAX] = {1, 1, ORDERED, DIVIDED, true},
    [STA_AGGREGATE_FIRST] = {1, 1, ANY, DIVIDED, true},
    [STA_AGGREGATE_LAST] = {1, 1, ANY, DIVIDED, true},
    [STA_AGGREGATE_MEAN] = {1, 1, NUMBERS, QUOTIENT, true},
    [STA_AGGREGATE_MEDIAN] = {1, 1, NUMBERS, DIVIDED, true},
    [STA_AGGREGATE_STD] = {1, 1, NUMBERS, DIVIDED, true},
    [STA_AGGREGATE_VAR] = {1, 1, NUMBERS, DIVIDED_TWICE, false},
    [STA_AGGREGATE_QUANTILE] = {2, 2, NUMBERS, DIVIDED, true},
    [STA_AGGREGATE_UNIQUE] = {1, 1, ORDERED, NOT_TAKEN, false},
    [STA_AGGREGATE_ARGMAX] = {2, 2, ANY, DIVIDED, false},
    [STA_AGGREGATE_BUSY] = {0, 0, NOTHING, DIVIDED, true},
};

static const struct sta_language_word words[STA_AGGREGATES] = {
#define X(id, word, arguments, ...) {.name = word, .help = {__VA_ARGS__}},
    STA_AGGREGATE_LIST(X)
#undef X
};

unsigned sta_primitive_arguments(const struct sta_primitive *primitive)
{
    static const uint8_t counts[STA_AGGREGATES] = {
#define X(id, name, arguments, ...) arguments,
        STA_AGGREGATE_LIST(X)
#undef X
    };
    return counts[primitive->aggregate];
}

enum sta_type sta_primitive_type(const struct sta_primitive *primitive)
{
    switch (primitive->aggregate) {
    case STA_AGGREGATE_ROWS:
    case STA_AGGREGATE_COUNT:
    case STA_AGGREGATE_NUNIQUE:
    case STA_AGGREGATE_BUSY:
        return STA_TYPE_INT;
    case STA_AGGREGATE_SUM:
        return primitive->types[0] == STA_TYPE_FLOAT ? STA_TYPE_FLOAT : STA_TYPE_INT;
    case STA_AGGREGATE_MIN:
    case STA_AGGREGATE_MAX:
    case STA_AGGREGATE_FIRST:
    case STA_AGGREGATE_LAST:
    case STA_AGGREGATE_ARGMAX:
        return primitive->types[0];
    case STA_AGGREGATE_UNIQUE:
        return STA_TYPE_LIST;
    default:
        return STA_TYPE_FLOAT;
    }
}

/* The first aggregate of that name, or STA_AGGREGATES. */
static enum sta_aggregate find_aggregate(struct sta_text name)
{
    unsigned i = 0;
    while (i < STA_AGGREGATES && !sta_text_is(name, words[i].name))
        i++;
    return (enum sta_aggregate)i;
}

bool sta_is_aggregate(struct sta_text name)
{
    return find_aggregate(name) < STA_AGGREGATES;
}

bool sta_aggregate_word(size_t index, struct sta_language_word *word)
{
    const size_t aggregate = STA_AGGREGATE_COUNT + index; /* ROWS before it has the same name */
    if (aggregate >= STA_AGGREGATES)
        return false;
    *word = words[aggregate];
    return true;
}

/* ---- what is gathered */

void sta_aggregates_init(struct sta_aggregates *aggregates, const struct sta_schema *rows, bool events,
                         const struct sta_schema_column *keys, size_t key_count)
{
    *aggregates = (struct sta_aggregates){
        .rows = rows, .events = events, .key_count = key_count, .known = sta_dictionary_create()};
    struct sta_schema_column *grouped = NULL;
    STA_GROW(grouped, aggregates->grouped_capacity, key_count + 1);
    for (size_t i = 0; i < key_count; i++)
        grouped[i] = keys[i];
    aggregates->grouped = (struct sta_schema){grouped, key_count};
}

void sta_aggregates_fini(struct sta_aggregates *aggregates)
{
    for (size_t i = 0; i < aggregates->argument_count; i++)
        sta_expression_destroy(aggregates->arguments[i]);
    free(aggregates->arguments);
    free(aggregates->primitives);
    free((void *)aggregates->grouped.columns);
    free(aggregates->places);
    sta_dictionary_destroy(aggregates->known);
    *aggregates = (struct sta_aggregates){.rows = NULL};
}

/* Where what has this key lies; if it is new: at @place, and *is_new. */
static uint32_t place_of(struct sta_aggregates *aggregates, struct sta_buffer *key, size_t place,
                         bool *is_new)
{
    uint32_t known = sta_dictionary_count(aggregates->known);
    uint32_t code = sta_dictionary_intern(aggregates->known, key->data, key->size);
    sta_buffer_fini(key);
    *is_new = code == known;
    STA_GROW(aggregates->places, aggregates->place_capacity, (size_t)code + 1);
    if (*is_new)
        aggregates->places[code] = (uint32_t)place;
    return aggregates->places[code];
}

/* Return: its column in the grouped schema. */
static uint32_t add_primitive(struct sta_aggregates *aggregates, const struct sta_primitive *primitive,
                              const char *unit)
{
    bool is_new;
    struct sta_buffer key;
    sta_buffer_init(&key);
    sta_put_format(&key, "%u of %u at %a", primitive->aggregate, primitive->first_argument,
                   primitive->quantile);
    uint32_t place = place_of(aggregates, &key, aggregates->primitive_count, &is_new);
    uint32_t column = (uint32_t)aggregates->key_count + place;
    if (!is_new)
        return column;
    STA_GROW(aggregates->primitives, aggregates->primitive_capacity, aggregates->primitive_count + 1);
    aggregates->primitives[aggregates->primitive_count++] = *primitive;
    struct sta_schema_column *grouped = (struct sta_schema_column *)aggregates->grouped.columns;
    STA_GROW(grouped, aggregates->grouped_capacity, (size_t)column + 1);
    grouped[column] =
        (struct sta_schema_column){.name = "", .type = sta_primitive_type(primitive), .unit = unit};
    aggregates->grouped = (struct sta_schema){grouped, (size_t)column + 1};
    return column;
}

/* ---- arguments */

/* A call while it is parsed. */
struct call {
    enum sta_aggregate aggregate;
    uint32_t position;
    double quantile;
    struct sta_term terms[2];             /* of rows */
    const struct sta_token *start, *stop; /* of the arguments */
    int64_t ticks;                        /* terms[0] was a time and is its ticks: so many; 0: it is not */
    const char *unit;                     /* of the first argument as written */
    uint32_t first_argument;
};

static unsigned argument_count(const struct call *call)
{
    return sta_primitive_arguments(&(struct sta_primitive){.aggregate = call->aggregate});
}

static struct sta_term prepare_argument(struct sta_parser *parser, const struct call *call,
                                        struct sta_term term, enum takes takes)
{
    struct sta_builder *builder = &parser->builder;
    const char *name = words[call->aggregate].name;
    bool needs_number = takes == ADDABLE || takes == NUMBERS;
    if (term.list != NULL || (takes != ANY && term.type == STA_TYPE_LIST))
        sta_build_fail(builder, STA_EINPUT, term.position, "%s needs %s, not a list", name,
                       needs_number ? "numbers" : "single values");
    else if (needs_number && !sta_is_numeric(term.type))
        sta_build_fail(builder, STA_EINPUT, term.position, "%s needs numbers, not %s", name,
                       STA_A_TYPE(term));
    if (builder->failed)
        return term;
    if (term.type == STA_TYPE_NULL)
        return sta_build_cast(builder, term, STA_TYPE_FLOAT);
    return takes == NUMBERS && term.type == STA_TYPE_BOOL ? sta_build_cast(builder, term, STA_TYPE_INT)
                                                          : term;
}

static void put_argument_key(struct sta_buffer *key, const struct call *call, unsigned index)
{
    const struct sta_term *term = &call->terms[index];
    sta_put_format(key, "argument %u %d", index, term->type);
    if (term->column >= 0) {
        sta_put_format(key, " column %d", term->column);
        return;
    }
    for (const struct sta_token *token = call->start; token < call->stop; token++) {
        sta_put_char(key, ' ');
        sta_put(key, token->text, token->length);
    }
}

static void keep_arguments(struct sta_parser *parser, struct call *call)
{
    struct sta_aggregates *aggregates = parser->aggregates;
    unsigned count = argument_count(call);
    struct sta_buffer key;
    bool is_new;
    if (count == 0)
        return;
    sta_buffer_init(&key);
    for (unsigned i = 0; i < count; i++)
        put_argument_key(&key, call, i);
    call->first_argument = place_of(aggregates, &key, aggregates->argument_count, &is_new);
    for (unsigned i = 0; i < count && is_new; i++) {
        STA_GROW(aggregates->arguments, aggregates->argument_capacity, aggregates->argument_count + 1);
        aggregates->arguments[aggregates->argument_count++] = sta_parser_keep(parser, call->terms[i]);
    }
}

/* The arguments as they are gathered: of the right types, and ticks where they were times. */
static void lower_arguments(struct sta_parser *parser, struct call *call)
{
    const struct rule *rule = &rules[call->aggregate];
    struct sta_builder *builder = &parser->builder;
    bool ranks = call->aggregate == STA_AGGREGATE_ARGMAX;
    if (rule->takes != NOTHING)
        call->terms[0] = prepare_argument(parser, call, call->terms[0], rule->takes);
    if (ranks && !builder->failed)
        call->terms[1] = prepare_argument(parser, call, call->terms[1], NUMBERS);
    if (builder->failed)
        return;
    if (rule->takes != NOTHING && rule->scaling != NOT_TAKEN) {
        call->unit = call->terms[0].unit;
        call->ticks = sta_build_ticks(builder, &call->terms[0]);
    }
    if (ranks)
        sta_build_ticks(builder, &call->terms[1]);
    keep_arguments(parser, call);
}

/* ---- calls */

static void check_quantile(struct sta_parser *parser, struct call *call, struct sta_term part)
{
    bool number = part.literal && (part.type == STA_TYPE_INT || part.type == STA_TYPE_FLOAT);
    call->quantile = number ? sta_literal_number(&parser->builder, part) : -1;
    if (!(call->quantile >= 0 && call->quantile <= 1))
        sta_build_fail(&parser->builder, STA_EINPUT, part.position, "expected a constant from 0 to 1");
    while (!sta_text_is(sta_token_text(--call->stop), ","))
        ;
}

/* An end of an event, ts or te, in whole ticks.  Return: how many make a second; 0: there is no such column.
 */
static int64_t take_end(struct sta_builder *builder, struct sta_text name, uint32_t position,
                        struct sta_term *end)
{
    int column = sta_schema_find(builder->schema, name);
    if (column < 0)
        return 0;
    *end = sta_build_column(builder, (uint32_t)column, position);
    if (end->type == STA_TYPE_INT)
        return 1000000;
    if (end->type != STA_TYPE_FLOAT)
        return 0;
    if (sta_build_ticks(builder, end) ==
        0) { /* microseconds of a stage before, with nanoseconds behind the point */
        struct sta_scalar thousand = {.integer = 1000};
        struct sta_term ns = sta_build_arithmetic(
            builder, '*', position, *end, sta_build_constant(builder, STA_TYPE_INT, thousand, position));
        *end = sta_build_plain(builder, STA_OP_ROUND_F, STA_TYPE_INT, position, &ns, 1);
    }
    return 1000000000;
}

static void take_measure(struct sta_parser *parser, struct call *call)
{
    static const struct sta_text ends[] = {{"ts", 2}, {"te", 2}};
    struct sta_builder *builder = &parser->builder;
    for (unsigned i = 0; i < 2; i++) {
        int64_t ticks =
            parser->aggregates->events ? take_end(builder, ends[i], call->position, &call->terms[i]) : 0;
        if (ticks == 0 || (i > 0 && ticks != call->ticks)) {
            sta_build_fail(builder, STA_EINPUT, call->position,
                           "busy() needs events; these rows are the result of a stage that grouped them");
            return;
        }
        call->ticks = ticks;
    }
    call->unit = "s";
}

static void take_arguments(const struct sta_function_call *written, struct call *call)
{
    const struct rule *rule = &rules[call->aggregate];
    if (!sta_refuse_options(written) || !sta_check_count(written, rule->least, rule->most))
        return;
    if (call->aggregate == STA_AGGREGATE_ROWS && written->count == 1)
        call->aggregate = STA_AGGREGATE_COUNT;
    for (unsigned i = 0; i < written->count; i++)
        call->terms[i] = written->terms[i];
    call->quantile = call->aggregate == STA_AGGREGATE_MEDIAN ? 0.5 : 0;
    if (call->aggregate == STA_AGGREGATE_QUANTILE)
        check_quantile(written->parser, call, written->terms[1]);
}

/* The value of the call, over the grouped schema. */
static struct sta_term build_value(struct sta_parser *parser, const struct call *call)
{
    struct sta_builder *builder = &parser->builder;
    const struct rule *rule = &rules[call->aggregate];
    bool quotient = call->ticks != 0 && rule->scaling == QUOTIENT;
    struct sta_primitive primitive = {.aggregate = quotient ? STA_AGGREGATE_SUM : call->aggregate,
                                      .types = {call->terms[0].type, call->terms[1].type},
                                      .quantile = call->quantile,
                                      .first_argument = call->first_argument};
    const char *unit = rule->keeps_unit ? call->terms[0].unit : NULL;
    uint32_t column = add_primitive(parser->aggregates, &primitive, unit);
    struct sta_term value = sta_build_column(builder, column, call->position);
    if (call->ticks == 0 || rule->scaling == AS_IT_IS)
        return value;
    struct sta_scalar divisor = {.integer = rule->scaling == DIVIDED_TWICE ? call->ticks * call->ticks
                                                                           : call->ticks};
    struct sta_term seconds = sta_build_constant(builder, STA_TYPE_INT, divisor, call->position);
    if (quotient) {
        primitive.aggregate = STA_AGGREGATE_COUNT;
        column = add_primitive(parser->aggregates, &primitive, NULL);
        seconds = sta_build_arithmetic(builder, '*', call->position,
                                       sta_build_column(builder, column, call->position), seconds);
    }
    value = sta_build_arithmetic(builder, '/', call->position, value, seconds);
    value.unit = rule->keeps_unit ? call->unit : NULL;
    return value;
}

/* Puts a builder of rows in the place of that of groups, which is returned. */
static struct sta_builder enter_rows(struct sta_parser *parser)
{
    struct sta_builder groups = parser->builder;
    sta_builder_init(&parser->builder, parser->aggregates->rows, groups.err);
    parser->gathers = true;
    return groups;
}

static void leave_rows(struct sta_parser *parser, struct sta_builder *groups)
{
    groups->failed = parser->builder.failed;
    sta_builder_fini(&parser->builder);
    parser->builder = *groups;
    parser->gathers = false;
}

static void parse_call(struct sta_function_call *written, struct call *call)
{
    struct sta_parser *parser = written->parser;
    call->start = parser->at;
    sta_parse_arguments(written, NULL);
    call->stop = parser->at;
    if (!parser->builder.failed)
        take_arguments(written, call);
    if (!parser->builder.failed && call->aggregate == STA_AGGREGATE_BUSY)
        take_measure(parser, call);
    free(written->terms);
}

struct sta_term sta_parse_aggregate(struct sta_parser *parser, const struct sta_token *name)
{
    struct sta_function_call written = {
        .parser = parser, .name = sta_token_text(name), .position = name->position};
    struct call call = {.aggregate = find_aggregate(written.name), .position = name->position};
    if (parser->aggregates == NULL || parser->gathers) {
        sta_build_fail(&parser->builder, STA_EINPUT, name->position,
                       parser->gathers
                           ? "%.*s is an aggregate inside an aggregate; a second stage (\"then\") can do that"
                           : "%.*s is an aggregate; it belongs in \"aggregate\"",
                       (int)name->length, name->text);
        return sta_nothing();
    }
    struct sta_builder groups = enter_rows(parser);
    parse_call(&written, &call);
    if (!parser->builder.failed)
        lower_arguments(parser, &call);
    leave_rows(parser, &groups);
    return parser->builder.failed ? sta_nothing() : build_value(parser, &call);
}

/* ---- keys */

static void fail_key(struct sta_parser *parser, struct sta_text name, uint32_t position)
{
    const struct sta_schema *grouped = parser->builder.schema;
    struct sta_buffer keys;
    sta_buffer_init(&keys);
    sta_put_text(&keys, parser->aggregates->key_count > 0 ? "; the keys are " : "; there are no keys");
    for (size_t i = 0; i < parser->aggregates->key_count; i++)
        sta_put_format(&keys, "%s%s", i > 0 ? ", " : "", grouped->columns[i].name);
    sta_build_fail(
        &parser->builder, STA_EINPUT, position, "'%.*s' is neither a group key nor inside an aggregate%.*s",
        (int)STA_MIN(name.length, 120u), name.bytes, (int)STA_MIN(keys.size, (size_t)600), keys.data);
    sta_buffer_fini(&keys);
}

struct sta_term sta_parse_key(struct sta_parser *parser, struct sta_text name, uint32_t position)
{
    const struct sta_aggregates *aggregates = parser->aggregates;
    struct sta_schema keys = {parser->builder.schema->columns, aggregates->key_count};
    bool is_present = sta_schema_find(aggregates->rows, name) >= 0;
    int key = is_present ? sta_schema_find(&keys, name) : sta_schema_resolve(&keys, name);
    if (key >= 0)
        return sta_build_column(&parser->builder, (uint32_t)key, position);
    fail_key(parser, name, position);
    return sta_nothing();
}

/* ---- whole members */

int sta_aggregate_parse(const char *text, size_t length, struct sta_aggregates *aggregates,
                        struct sta_expression **expression, struct sta_error *err)
{
    return sta_parse_whole(text, length, &aggregates->grouped, aggregates, NULL, expression, err);
}

int sta_aggregate_apply(enum sta_aggregate aggregate, double quantile, const char *text, size_t length,
                        struct sta_aggregates *aggregates, struct sta_expression **expression,
                        struct sta_error *err)
{
    struct sta_parser parser;
    *expression = NULL;
    if (sta_parser_open(&parser, text, length, &aggregates->grouped, err) == 0) {
        struct call call = {.aggregate = aggregate, .quantile = quantile, .start = parser.at};
        parser.aggregates = aggregates;
        struct sta_builder groups = enter_rows(&parser);
        call.terms[0] = sta_parse_or(&parser);
        sta_parser_end(&parser);
        call.stop = parser.at;
        if (!parser.builder.failed)
            lower_arguments(&parser, &call);
        leave_rows(&parser, &groups);
        struct sta_term value = parser.builder.failed ? sta_nothing() : build_value(&parser, &call);
        bool counts = aggregate == STA_AGGREGATE_COUNT;
        if (!parser.builder.failed)
            *expression = sta_parser_keep(
                &parser, counts ? value : sta_build_cast(&parser.builder, value, STA_TYPE_FLOAT));
    }
    return sta_parser_close(&parser);
}
