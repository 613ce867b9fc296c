/* A tree of shapes, followed fragment by fragment. */
#include "decode/shape.h"

#include <stdlib.h>
#include <string.h>

#include "decode/bytes.h"

#define NODES 4096
#define FRAGMENT 56

/* A value and the fragment before it.  A leaf (kind ABSENT) is the fragment after the last value. */
struct node {
    uint64_t head, head_mask; /* the fragment's first 8 bytes, those it has */
    uint64_t next, next_mask; /* and the 8 after them */
    uint16_t length;
    uint16_t first_child, next_sibling; /* 0: none; node 0 is the root */
    uint8_t kind;                       /* enum sta_json_kind: INT, STRING, or ABSENT for a leaf */
    uint8_t field;                      /* enum sta_record_field */
    uint32_t key;
    char fragment[FRAGMENT];
};

struct sta_shapes {
    struct node nodes[NODES];
    uint16_t count;
};

struct sta_shapes *sta_shapes_create(void)
{
    struct sta_shapes *shapes = sta_alloc(sizeof *shapes);
    shapes->count = 1;
    return shapes;
}

void sta_shapes_destroy(struct sta_shapes *shapes)
{
    free(shapes);
}

static inline uint64_t load8(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline bool has_fragment(const struct node *node, const char *at, const char *end)
{
    return (load8(at) & node->head_mask) == node->head && end - at >= node->length &&
           (node->length <= 8 || (load8(at + 8) & node->next_mask) == node->next) &&
           (node->length <= 16 || memcmp(at + 16, node->fragment + 16, node->length - 16u) == 0);
}

/* How many of the 8 bytes are digits before the first that is none.  After the exclusive or, digits are 0 .. 9; adding 0x76 sets
 * the top bit of what is more.  A carry can only spoil bytes above the first such, which do not matter. */
static inline unsigned leading_digits(uint64_t word)
{
    uint64_t values = word ^ UINT64_C(0x3030303030303030);
    uint64_t others = ((values + UINT64_C(0x7676767676767676)) | values) & UINT64_C(0x8080808080808080);
    return others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
}

/* The number that the first @count (1 .. 8) bytes, all digits, stand for: pairs, then fours, then eight at once. */
static inline uint64_t digits_value(uint64_t word, unsigned count)
{
    word <<= 64 - 8 * count;
    word = (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

/* Up to 19 digits: their value; more are counted as 20 or above and left to the full classification. */
static inline unsigned read_digits(const char *at, uint64_t *value)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    unsigned total = 0;
    *value = 0;
    for (int words = 0; words < 3; words++) {
        uint64_t word = load8(at + total);
        unsigned count = leading_digits(word);
        if (count > 0 && total + count <= 19)
            *value = *value * powers[count] + digits_value(word, count);
        total += count;
        if (count < 8)
            break;
    }
    return total;
}

/* An integer as JSON has it; what may not follow it (a point, an exponent) fails the next fragment. */
static inline const char *match_int(const char *at, const char *end, struct sta_json_value *value)
{
    uint64_t sum;
    bool negative = *at == '-';
    const char *digits = at + negative;
    unsigned count = read_digits(digits, &sum);
    const char *behind = digits + count;
    if (count == 0 || count >= 24 || behind > end || (count > 1 && *digits == '0'))
        return NULL;
    value->text = at;
    value->length = (uint32_t)(behind - at);
    if (count <= 19 && sum <= INT64_MAX) {
        value->kind = STA_JSON_INT;
        value->integer = negative ? -(int64_t)sum : (int64_t)sum;
        return behind;
    }
    return sta_json_classify_number(at, value->length, value) ? behind : NULL;
}

static inline const char *match_string(const struct sta_byte_kernels *kernels, const char *at,
                                       const char *end, struct sta_json_value *value)
{
    const char *stop = kernels->string_end(at, end);
    value->kind = STA_JSON_STRING;
    value->text = at;
    value->length = (uint32_t)(stop - at);
    return stop < end && *stop == '"' ? stop : NULL;
}

static inline const struct node *child_for(const struct sta_shapes *shapes, const struct node *parent,
                                           const char *at, const char *end)
{
    for (uint16_t i = parent->first_child; i != 0; i = shapes->nodes[i].next_sibling)
        if (has_fragment(&shapes->nodes[i], at, end))
            return &shapes->nodes[i];
    return NULL;
}

/* Where the value of a node goes. */
static inline struct sta_json_value *place_for(const struct node *node, struct sta_record *record,
                                               struct sta_json_value *nowhere)
{
    if (node->field < STA_FIELD_COUNT)
        return &record->fields[node->field];
    if (node->field == STA_FIELD_IGNORED)
        return nowhere;
    struct sta_record_arg *arg = &record->args[record->arg_count++];
    arg->key = node->key;
    return &arg->value;
}

bool sta_shapes_match(const struct sta_shapes *shapes, const char *at, const char *end,
                      struct sta_record *record, const char **behind)
{
    const struct sta_byte_kernels *kernels = sta_byte_kernels();
    const struct node *node = &shapes->nodes[0];
    struct sta_json_value nowhere;
    sta_record_clear(record);
    STA_GROW(record->args, record->arg_capacity, (size_t)STA_LAYOUT_ITEMS);
    while ((node = child_for(shapes, node, at, end)) != NULL) {
        at += node->length;
        if (node->kind == STA_JSON_ABSENT) {
            *behind = at;
            return true;
        }
        struct sta_json_value *value = place_for(node, record, &nowhere);
        at = node->kind == STA_JSON_INT ? match_int(at, end, value) : match_string(kernels, at, end, value);
        if (at == NULL)
            return false;
    }
    return false;
}

/* ---- learning */

static bool same_node(const struct node *a, const struct node *b)
{
    return a->length == b->length && a->kind == b->kind && a->field == b->field && a->key == b->key &&
           memcmp(a->fragment, b->fragment, a->length) == 0;
}

static uint16_t find_or_add(struct sta_shapes *shapes, uint16_t parent, const struct node *wanted)
{
    uint16_t *link = &shapes->nodes[parent].first_child;
    for (; *link != 0; link = &shapes->nodes[*link].next_sibling)
        if (same_node(&shapes->nodes[*link], wanted))
            return *link;
    if (shapes->count == NODES)
        return 0;
    /* A longer fragment goes first: one that begins another must not hide it. */
    link = &shapes->nodes[parent].first_child;
    while (*link != 0 && shapes->nodes[*link].length >= wanted->length)
        link = &shapes->nodes[*link].next_sibling;
    uint16_t added = shapes->count++;
    shapes->nodes[added] = *wanted;
    shapes->nodes[added].next_sibling = *link;
    *link = added;
    return added;
}

static uint64_t first_bytes(unsigned count)
{
    return count >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * count)) - 1;
}

static bool set_fragment(struct node *node, const char *begin, const char *end)
{
    if (end - begin > FRAGMENT)
        return false;
    node->length = (uint16_t)(end - begin);
    memcpy(node->fragment, begin, node->length);
    node->head_mask = first_bytes(node->length);
    node->head = load8(node->fragment) & node->head_mask;
    node->next_mask = node->length > 8 ? first_bytes(node->length - 8u) : 0;
    node->next = load8(node->fragment + 8) & node->next_mask;
    return true;
}

void sta_shapes_learn(struct sta_shapes *shapes, const struct sta_layout *layout)
{
    uint16_t parent = 0;
    const char *at = layout->begin;
    for (size_t i = 0; layout->plain && i <= layout->count; i++) {
        struct node node = {.kind = STA_JSON_ABSENT};
        const char *fragment_end = layout->end;
        if (i < layout->count) {
            const struct sta_layout_item *item = &layout->items[i];
            node.kind = (uint8_t)item->kind;
            node.field = (uint8_t)item->field;
            node.key = item->key;
            fragment_end = item->begin;
        }
        if (!set_fragment(&node, at, fragment_end))
            return;
        parent = find_or_add(shapes, parent, &node);
        if (parent == 0)
            return;
        if (i < layout->count)
            at = layout->items[i].end;
    }
}
