/* A tree of shapes, followed fragment by fragment. */
#include "decode/shape.h"

#include <stdlib.h>
#include <string.h>

#include "decode/bytes.h"

#define NODES 4096
#define FRAGMENT 56

/* A value and the fragment before it.  A leaf (kind ABSENT) is the fragment after the last value. */
struct node {
    uint64_t head, head_mask; /* the fragment's first 8 bytes, for a quick no */
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
           (node->length <= 8 || memcmp(at + 8, node->fragment + 8, node->length - 8u) == 0);
}

/* An integer as JSON has it; what may not follow it (a point, an exponent) fails the next fragment. */
static inline const char *match_int(const char *at, const char *end, struct sta_json_value *value)
{
    const char *begin = at;
    bool negative = *at == '-';
    uint64_t sum = 0;
    at += negative;
    const char *digits = at;
    for (; at < end; at++) {
        unsigned digit = (unsigned char)*at - '0';
        if (digit > 9)
            break;
        sum = sum * 10 + digit;
    }
    ptrdiff_t count = at - digits;
    value->text = begin;
    value->length = (uint32_t)(at - begin);
    if (count == 0 || (count > 1 && *digits == '0'))
        return NULL;
    if (count <= 18) {
        value->kind = STA_JSON_INT;
        value->integer = negative ? -(int64_t)sum : (int64_t)sum;
        return at;
    }
    return sta_json_classify_number(begin, (size_t)(at - begin), value) ? at : NULL;
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

static bool set_fragment(struct node *node, const char *begin, const char *end)
{
    if (end - begin > FRAGMENT)
        return false;
    node->length = (uint16_t)(end - begin);
    memcpy(node->fragment, begin, node->length);
    node->head = load8(node->fragment);
    node->head_mask = node->length >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * node->length)) - 1;
    node->head &= node->head_mask;
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
