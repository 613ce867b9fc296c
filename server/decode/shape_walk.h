/* shape_walk.h - the text of a walk down the tree, to be compiled for one instruction set.
 *
 * The includer defines, for its set:
 *   has_fragment(node, at)        whether the text is the node's fragment
 *   string_stop(at)               the first '"', '\\', control character or byte that is not ASCII
 *   digits(at, &value)            how many digits there are; *value if no more than 18
 *   count_digits(at)              how many digits there are; any number above 24 is as good as another
 * and the name of the function, STA_SHAPE_WALK. */
#include "decode/shape_tree.h"

static inline uint64_t load_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline struct sta_shape_node **guess_for(const struct sta_shape_node *parent, const char *at)
{
    const char *differs = at + parent->shared;
    uint64_t mixed = load_word(differs) * UINT64_C(0x9e3779b97f4a7c15) ^
                     load_word(differs + 8) * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                     load_word(differs + 16) * UINT64_C(0x165667b19e3779f9);
    return &parent->guesses[mixed >> 58];
}

_Static_assert(STA_SHAPE_GUESSES == 64, "six bits of the hash choose the guess");

/* The child that fits, found by trying all; the next line is expected to be alike. */
static struct sta_shape_node *search_children(struct sta_shape_node *parent, const char *at,
                                              struct sta_shape_node **guess)
{
    for (struct sta_shape_node *child = parent->first_child; child != NULL; child = child->next_sibling) {
        if (has_fragment(child, at)) {
            *guess = child;
            return child;
        }
    }
    return NULL;
}

static inline struct sta_shape_node *child_for(struct sta_shape_node *parent, const char *at)
{
    struct sta_shape_node **guess = parent->guesses == NULL ? &parent->likely : guess_for(parent, at);
    return *guess != NULL && has_fragment(*guess, at) ? *guess : search_children(parent, at, guess);
}

/* An integer of up to 18 digits.  A point or an exponent behind it fails the next fragment. */
static inline const char *match_digits(const char *at, struct sta_json_value *value)
{
    uint64_t sum;
    unsigned count = digits(at, &sum);
    value->text = at;
    value->length = count;
    value->kind = STA_JSON_INT;
    value->integer = (int64_t)sum;
    return count - 1 < 18 && (*at != '0' || count == 1) ? at + count : sta_shape_bare_value(at, value);
}

static inline const char *match_int(const char *at, struct sta_json_value *value)
{
    if (*at != '-')
        return match_digits(at, value);
    if (at[1] == '-') /* a second sign must not be read as the digits' own */
        return NULL;
    const char *behind = match_digits(at + 1, value);
    if (behind == NULL || value->kind != STA_JSON_INT)
        return sta_shape_bare_value(at, value);
    value->text = at;
    value->length++;
    value->integer = -value->integer;
    return behind;
}

/* A hash is a text, whatever its digits stand for. */
static inline const char *match_hash(const char *at, struct sta_json_value *value)
{
    unsigned count = count_digits(at);
    value->text = at;
    value->length = count;
    value->kind = STA_JSON_BIG;
    return count - 1 < 24 && *at != '0' ? at + count : sta_shape_bare_value(at, value);
}

static inline const char *match_string(const char *at, struct sta_json_value *value)
{
    const char *stop = string_stop(at);
    value->kind = STA_JSON_STRING;
    value->text = at;
    value->length = (uint32_t)(stop - at);
    return *stop == '"' ? stop : NULL;
}

static inline void take_constants(struct sta_shape_node *node, const char *at, struct sta_record *record)
{
    for (unsigned i = 0; i < node->constant_count; i++) {
        const struct sta_shape_constant *constant = &node->constants[i];
        struct sta_json_value *value = &record->fields[constant->field];
        value->kind = STA_JSON_STRING;
        value->text = at + constant->offset;
        value->length = constant->length;
    }
    if (node->says_codes)
        record->codes = &node->codes;
}

/* Where the value of a node goes. */
static inline struct sta_json_value *place_for(const struct sta_shape_node *node, struct sta_record *record)
{
    if (node->field != STA_FIELD_ARGS)
        return &record->fields[node->field];
    struct sta_record_arg *arg = &record->args[record->arg_count++];
    arg->key = node->key;
    return &arg->value;
}

const char *STA_SHAPE_WALK(struct sta_shape_node *root, const char *at, struct sta_record *record)
{
    struct sta_shape_node *node = root;
    while (at != NULL && (node = child_for(node, at)) != NULL) {
        if (node->constant_count > 0)
            take_constants(node, at, record);
        at += node->length;
        if (node->kind == STA_SHAPE_END)
            return at;
        struct sta_json_value *value = place_for(node, record);
        if (node->kind == STA_SHAPE_INT)
            at = match_int(at, value);
        else if (node->kind == STA_SHAPE_HASH)
            at = match_hash(at, value);
        else
            at = node->kind == STA_SHAPE_STRING ? match_string(at, value) : sta_shape_bare_value(at, value);
    }
    return NULL;
}
