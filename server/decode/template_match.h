/* template_match.h - matching a line against the trie, to be compiled for one instruction set.
 *
 * The includer defines, for its set:
 *   has_fragment(node, at)        whether the text is the node's fragment
 *   has_piece(step, at)           the same of a step
 *   is_within(bounds, at)         whether the bytes are within their bounds
 *   number(tables, at, length)    the number that so many digits stand for, any if there are more than 16
 *   string_stop(at)               the first '"', '\\', control character or byte that is not ASCII
 *   digits(tables, at, &value)    how many digits there are; *value if no more than 16, and any number above
 *                                 is as good as another
 *   count_digits(tables, at)      how many digits there are; any number above 24 is as good as another
 * and the name of the function, STA_TEMPLATE_MATCH. */
#include "decode/template_trie.h"

static inline uint64_t load_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Which predictor is that of the text. */
static inline size_t predictor_of(const char *at)
{
    const uint64_t mixed = load_word(at) * UINT64_C(0x9e3779b97f4a7c15) ^
                           load_word(at + 8) * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                           load_word(at + 16) * UINT64_C(0x165667b19e3779f9);
    return mixed >> 56;
}

_Static_assert(STA_TEMPLATE_PREDICTORS == 256, "eight bits of the hash choose the predictor");

/* The child that fits, found by trying all; the next line is expected to be alike. */
static struct sta_template_node *search_children(struct sta_template_node *parent, const char *at,
                                                 struct sta_template_node **predictor)
{
    for (struct sta_template_node *child = parent->first_child; child != NULL; child = child->next_sibling) {
        if (has_fragment(child, at)) {
            *predictor = child;
            return child;
        }
    }
    return NULL;
}

static inline struct sta_template_node *child_for(struct sta_template_node *parent, const char *at)
{
    struct sta_template_node **predictor = &parent->likely;
    if (*predictor == NULL && parent->predictors != NULL)
        predictor = &parent->predictors[predictor_of(at + parent->shared)];
    return *predictor != NULL && has_fragment(*predictor, at) ? *predictor
                                                              : search_children(parent, at, predictor);
}

static inline const char *take_int(struct sta_json_value *value, const char *at, size_t length,
                                   int64_t integer)
{
    value->kind = STA_JSON_INT;
    value->text = at;
    value->length = (uint32_t)length;
    value->integer = integer;
    return at + length;
}

/* An integer that is no plain one: with a sign, very long, or wrong. */
static __attribute__((noinline)) const char *match_rare_int(const struct sta_digit_tables *tables,
                                                            const char *at, struct sta_json_value *value)
{
    uint64_t sum = 0;
    size_t count = *at == '-' ? digits(tables, at + 1, &sum) : 0;
    if (sum < tables->least[count])
        return sta_template_bare_value(at, value);
    return take_int(value, at, count + 1, -(int64_t)sum);
}

/* An integer of up to 16 digits.  A point or an exponent behind it fails the next fragment. */
static inline const char *match_int(const struct sta_digit_tables *tables, const char *at,
                                    struct sta_json_value *value)
{
    uint64_t sum;
    size_t count = digits(tables, at, &sum);
    if (sum < tables->least[count])
        return match_rare_int(tables, at, value);
    return take_int(value, at, count, (int64_t)sum);
}

/* A hash is a text, whatever its digits stand for. */
static inline const char *match_hash(const struct sta_digit_tables *tables, const char *at,
                                     struct sta_json_value *value)
{
    size_t count = count_digits(tables, at);
    if (count - 1 >= 24 || *at == '0')
        return sta_template_bare_value(at, value);
    value->kind = STA_JSON_BIG;
    value->text = at;
    value->length = (uint32_t)count;
    return at + count;
}

static inline const char *match_string(const char *at, struct sta_json_value *value)
{
    const char *stop = string_stop(at);
    value->kind = STA_JSON_STRING;
    value->text = at;
    value->length = (uint32_t)(stop - at);
    return *stop == '"' ? stop : NULL;
}

static inline void begin_record(struct sta_record *record)
{
    for (unsigned field = 0; field < STA_FIELD_COUNT; field++)
        record->fields[field].kind = STA_JSON_ABSENT;
    record->unstored = 0;
    record->repaired = false;
    record->path = NULL;
}

/* Where a node with constants was met. */
struct mark {
    const struct sta_template_node *node;
    const char *at;
};

static void take_constants(const struct mark *mark, struct sta_record *record)
{
    for (unsigned i = 0; i < mark->node->constant_count; i++) {
        const struct sta_template_constant *constant = &mark->node->constants[i];
        struct sta_json_value *value = &record->fields[constant->field];
        value->kind = STA_JSON_STRING;
        value->text = mark->at + constant->offset;
        value->length = constant->length;
    }
}

/* The constants are only wanted while the template's plan is not known. */
static inline void end_record(struct sta_template_node *end, const struct mark *marks, unsigned count,
                              struct sta_record *record)
{
    record->plan = end->decided ? &end->plan : NULL;
    for (unsigned i = 0; i < count && !end->plan.known; i++)
        take_constants(&marks[i], record);
}

/* Digits in quotes mean what they mean without; any other text is itself. */
static inline const char *match_numeral(const struct sta_digit_tables *tables, const char *at,
                                        struct sta_json_value *value)
{
    uint64_t sum;
    size_t count = digits(tables, at, &sum);
    if (sum < tables->least[count] || at[count] != '"')
        return match_string(at, value);
    return take_int(value, at, count, (int64_t)sum);
}

static inline const char *match_value(const struct sta_digit_tables *tables, enum sta_template_kind kind,
                                      const char *at, struct sta_json_value *value)
{
    if (kind == STA_TEMPLATE_INT)
        return match_int(tables, at, value);
    if (kind == STA_TEMPLATE_HASH)
        return match_hash(tables, at, value);
    if (kind == STA_TEMPLATE_NUMERAL)
        return match_numeral(tables, at, value);
    return kind == STA_TEMPLATE_STRING ? match_string(at, value) : sta_template_bare_value(at, value);
}

/* What follows a value of @found bytes.  Most values are as long as the one before; then the processor is
 * given this place as the sum of two known numbers, which it has long before it has found the value's end,
 * and goes on with the next values meanwhile. */
static inline const char *predicted_length(uint16_t *last, const char *at, size_t found)
{
    size_t predicted = *last;
    bool same = found == predicted;
    __asm__("" : "+r"(predicted)); /* or the compiler would add what was found, being the same */
    if (__builtin_expect(same, 1))
        return at + predicted;
    *last = (uint16_t)found;
    return at + found;
}

/* A value that is neither a plain integer nor a hash.  Return: its length; SIZE_MAX when it is none. */
static __attribute__((noinline)) size_t match_other(struct sta_template_path *path, unsigned step,
                                                    const char *at)
{
    path->others |= UINT64_C(1) << step;
    const char *behind = match_value(&sta_digit_tables, path->values[step].otherwise, at, &path->other[step]);
    return behind != NULL ? (size_t)(behind - at) : SIZE_MAX;
}

/* Goes past the value of a step.  Return: false when it has none. */
static inline bool follow_value(const struct sta_digit_tables *tables, struct sta_template_path *path,
                                struct sta_path_value *value, const char **at)
{
    uint64_t sum;
    size_t length = 0;
    value->text = *at;
    if (__builtin_expect(value->kind == STA_TEMPLATE_INT, 1)) {
        length = digits(tables, *at, &sum);
        value->integer = (int64_t)sum;
        length = sum >= tables->least[length] ? length : 0;
    } else if (value->kind == STA_TEMPLATE_HASH) {
        length = count_digits(tables, *at);
        length = length <= 24 && **at != '0' ? length : 0;
    }
    if (__builtin_expect(length == 0, 0)) {
        length = match_other(path, (unsigned)(value - path->values), *at);
        if (length == SIZE_MAX)
            return false;
    }
    *at = predicted_length(&value->predicted, *at, length);
    return true;
}

/* A line that is read in parts.  Return: what follows the object; NULL when some part does not fit. */
static inline const char *follow_parts(struct sta_template_path *path, const char *at)
{
    const struct sta_digit_tables *tables = sta_load_digit_tables();
    const struct sta_byte_bounds *bounds = path->bounds;
    const struct sta_fixed_value *fixed = path->fixed;
    const struct sta_template_part *part = path->parts, *end = part + path->part_count;
    path->others = 0;
    do {
        if (part->value != NULL && !follow_value(tables, path, part->value, &at))
            return NULL;
        const char *text = at;
        const struct sta_byte_bounds *last = bounds + part->vector_count;
        for (; bounds < last; bounds++, text += STA_BOUNDS_VECTOR)
            if (__builtin_expect(!is_within(bounds, text), 0))
                return NULL;
        const struct sta_fixed_value *behind = fixed + part->fixed_count;
        for (; fixed < behind; fixed++) {
            fixed->value->text = at + fixed->at;
            fixed->value->integer = (int64_t)number(tables, at + fixed->at, fixed->length);
        }
        at += part->length;
    } while (++part < end);
    path->alike++;
    return at;
}

/* The same of a line that is read step by step.  Return: NULL when it does not follow the path. */
static const char *follow_steps(struct sta_template_path *path, const char *at)
{
    const struct sta_digit_tables *tables = sta_load_digit_tables();
    path->others = 0;
    for (unsigned i = 0; i < path->step_count; i++) {
        struct sta_path_value *value = &path->values[i];
        if (value->kind != STA_TEMPLATE_PIECE && !follow_value(tables, path, value, &at))
            return NULL;
        if (!has_piece(&path->steps[i], at))
            return NULL;
        at += path->steps[i].length;
    }
    if (path->part_count > 0)
        sta_template_correct(path);
    else if (--path->lines == 0)
        sta_template_look(path);
    return at;
}

/* A line that is expected to follow a path.  @path: NULL: none.  Return: NULL when it does not. */
static inline const char *follow_expected(struct sta_templates *templates, struct sta_template_path *path,
                                          const char *at)
{
    const char *behind = path != NULL && path->part_count > 0 ? follow_parts(path, at) : NULL;
    if (behind != NULL)
        templates->last = path;
    return behind;
}

/* Follows the path of the node with the name; the next line of that name is expected to do so, too. @name_at:
 * from the line's begin: where names begin to differ. */
static const char *follow_named(struct sta_templates *templates, struct sta_template_node *named,
                                const char *at, size_t name_at)
{
    struct sta_template_path *path = named->path;
    const char *behind = follow_expected(templates, path, at);
    if (behind == NULL)
        behind = follow_steps(path, at);
    if (behind == NULL) {
        sta_template_doubt(named);
        return NULL;
    }
    if (name_at <= STA_TEMPLATE_FRAGMENT) {
        templates->name_at = name_at;
        templates->expected[predictor_of(at + name_at)] = path;
    }
    templates->last = path;
    return behind;
}

/* A line that has left the path which was expected of it: its name is found by the trie.  Return: NULL: it is
 * to be matched node by node. */
static const char *match_named(struct sta_templates *templates, const char *begin)
{
    struct sta_template_node *parent = templates->nodes, *node;
    struct sta_json_value ignored;
    const char *at = begin;
    for (; (node = child_for(parent, at)) != NULL && node->kind != STA_TEMPLATE_END; parent = node) {
        const size_t name_at = (size_t)(at - begin) + (parent->child_count > 1 ? parent->shared : 0);
        at += node->length;
        if (node->path != NULL)
            return follow_named(templates, node, begin, name_at);
        const char *behind = node->field == STA_FIELD_IGNORED
                                 ? match_value(&sta_digit_tables, node->kind, at, &ignored)
                                 : NULL;
        if (behind == NULL)
            return NULL;
        at = predicted_length(&node->predicted, at, (size_t)(behind - at));
    }
    return NULL;
}

/* A line of another path than the one that followed the last line's path before.  Return: NULL: as above. */
static __attribute__((noinline)) const char *match_other_path(struct sta_templates *templates, const char *at)
{
    struct sta_template_path *last = templates->last;
    const char *behind =
        follow_expected(templates, templates->expected[predictor_of(at + templates->name_at)], at);
    if (behind == NULL) {
        templates->last = NULL;
        behind = match_named(templates, at);
    }
    if (last != NULL)
        last->next = templates->last;
    return behind;
}

static __attribute__((noinline)) const char *match_by_nodes(struct sta_templates *templates, const char *at,
                                                            struct sta_record *record)
{
    const struct sta_digit_tables *tables = sta_load_digit_tables();
    struct sta_template_node *node = templates->nodes;
    struct sta_record_arg *arg = record->args;
    struct mark marks[STA_TEMPLATE_CONSTANTS]; /* enough: no path has a field twice */
    unsigned mark_count = 0;
    begin_record(record);
    while ((node = child_for(node, at)) != NULL) {
        if (node->constant_count > 0)
            marks[mark_count++] = (struct mark){node, at};
        at += node->length;
        if (node->kind == STA_TEMPLATE_END) {
            record->arg_count = (size_t)(arg - record->args);
            end_record(node, marks, mark_count, record);
            sta_template_expect(templates, node);
            return at;
        }
        struct sta_json_value *value = &record->fields[node->field];
        if (node->field == STA_FIELD_ARGS) {
            arg->key = node->key;
            value = &arg++->value;
        }
        const char *behind = match_value(tables, node->kind, at, value);
        if (behind == NULL)
            return NULL;
        at = predicted_length(&node->predicted, at, (size_t)(behind - at));
    }
    return NULL;
}

/* Most lines: nothing that is wanted stands before the name, and they follow the path that followed the last
 * line's path before. */
const char *STA_TEMPLATE_MATCH(struct sta_templates *templates, const char *at, struct sta_record *record)
{
    const struct sta_template_path *last = templates->last;
    const char *behind = last != NULL ? follow_expected(templates, last->next, at) : NULL;
    if (behind == NULL)
        behind = match_other_path(templates, at);
    record->path = templates->last;
    return behind != NULL ? behind : match_by_nodes(templates, at, record);
}
