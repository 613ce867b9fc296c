/* Making the tree of shapes; the walks down it are in shape_walk.h. */
#include "decode/shape.h"

#include <stdlib.h>
#include <string.h>

#include "common/number.h"
#include "decode/json_text.h"
#include "decode/shape_tree.h"

#define NODES 8192
#define CHILDREN 128   /* fragments with constants below one node; other texts become values */
#define FEW_CHILDREN 3 /* that are tried in turn */
#define GUESSERS 256

static void forget(struct sta_shapes *shapes)
{
    memset(&shapes->nodes[0], 0, sizeof shapes->nodes[0]);
    memset(shapes->guesses, 0, GUESSERS * sizeof *shapes->guesses);
    shapes->count = 1;
    shapes->guess_count = 0;
}

struct sta_shapes *sta_shapes_create(void)
{
    struct sta_shapes *shapes = sta_alloc(sizeof *shapes);
    shapes->nodes = aligned_alloc(64, NODES * sizeof *shapes->nodes);
    STA_ASSERT(shapes->nodes != NULL);
    shapes->guesses = sta_alloc_array(GUESSERS, sizeof *shapes->guesses);
    shapes->walk = sta_shape_walk_portable;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
        shapes->walk = sta_shape_walk_avx2;
#endif
    forget(shapes);
    return shapes;
}

void sta_shapes_destroy(struct sta_shapes *shapes)
{
    if (shapes == NULL)
        return;
    free(shapes->nodes);
    free(shapes->guesses);
    free(shapes);
}

const char *sta_shapes_match(struct sta_shapes *shapes, const char *at, struct sta_record *record)
{
    STA_GROW(record->args, record->arg_capacity, (size_t)STA_LAYOUT_ITEMS);
    return shapes->walk(shapes->nodes, at, record);
}

#define NONE UINT64_MAX
const uint64_t sta_shape_least[33] = {NONE, 0,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                      1e10, 1e11, 1e12, 1e13, 1e14, 1e15, NONE, NONE, NONE, NONE, NONE,
                                      NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE};

const char *sta_shape_bare_value(const char *at, struct sta_json_value *value)
{
    struct sta_json_text text = {.at = at, .end = at};
    while ((*text.end >= '0' && *text.end <= '9') || (*text.end >= 'a' && *text.end <= 'z') ||
           *text.end == 'E' || *text.end == '.' || *text.end == '-' || *text.end == '+')
        text.end++;
    return text.end > at && sta_json_value(&text, value) && text.at == text.end ? text.end : NULL;
}

/* ---- learning */

/* What is no string is read in the most general way that was seen. */
static bool same_kind(uint8_t a, uint8_t b)
{
    static const uint8_t families[] = {[STA_SHAPE_END] = 0,  [STA_SHAPE_INT] = 1,    [STA_SHAPE_BARE] = 1,
                                       [STA_SHAPE_HASH] = 1, [STA_SHAPE_STRING] = 2, [STA_SHAPE_NUMERAL] = 2};
    return families[a] == families[b];
}

static bool same_node(const struct sta_shape_node *a, const struct sta_shape_node *b)
{
    return a->length == b->length && same_kind(a->kind, b->kind) && a->field == b->field &&
           a->key == b->key && a->constant_count == b->constant_count &&
           memcmp(a->constants, b->constants, sizeof a->constants) == 0 &&
           memcmp(a->fragment, b->fragment, a->length) == 0;
}

static struct sta_shape_node *find_child(const struct sta_shape_node *parent,
                                         const struct sta_shape_node *wanted)
{
    struct sta_shape_node *child = parent->first_child;
    while (child != NULL && !same_node(child, wanted))
        child = child->next_sibling;
    return child;
}

static uint8_t in_common(const struct sta_shape_node *a, const struct sta_shape_node *b, uint8_t most)
{
    uint8_t count = 0;
    while (count < most && count < a->length && count < b->length && a->fragment[count] == b->fragment[count])
        count++;
    return count;
}

/* What the guesses stood for began elsewhere before there was another child. */
static void renew_guesses(struct sta_shapes *shapes, struct sta_shape_node *parent)
{
    if (parent->child_count > FEW_CHILDREN && parent->guesses == NULL && shapes->guess_count < GUESSERS)
        parent->guesses = shapes->guesses[shapes->guess_count++];
    if (parent->guesses != NULL)
        memset(parent->guesses, 0, sizeof *shapes->guesses);
    parent->likely = NULL;
}

static struct sta_shape_node *add_child(struct sta_shapes *shapes, struct sta_shape_node *parent,
                                        const struct sta_shape_node *wanted)
{
    struct sta_shape_node *added = &shapes->nodes[shapes->count++];
    /* A longer fragment goes first: one that begins another must not hide it. */
    struct sta_shape_node **link = &parent->first_child;
    while (*link != NULL && (*link)->length >= wanted->length)
        link = &(*link)->next_sibling;
    *added = *wanted;
    added->next_sibling = *link;
    *link = added;
    parent->shared =
        in_common(parent->first_child, wanted, parent->child_count++ > 0 ? parent->shared : wanted->length);
    renew_guesses(shapes, parent);
    return added;
}

/* Says what a line is about. */
static bool is_decisive(enum sta_record_field field)
{
    return field == STA_FIELD_name || field == STA_FIELD_cat || field == STA_FIELD_ph;
}

static bool is_constant(const struct sta_layout_item *item)
{
    return item->kind == STA_JSON_STRING && is_decisive(item->field);
}

static void add_constant(struct sta_shape_node *node, const struct sta_layout_item *item, const char *begin)
{
    node->constants[node->constant_count++] = (struct sta_shape_constant){
        (uint8_t)item->field, (uint8_t)(item->begin - begin), (uint8_t)(item->end - item->begin)};
}

static uint8_t kind_of(const struct sta_layout_item *item)
{
    int64_t number;
    if (item->kind == STA_JSON_STRING)
        return sta_parse_int(item->begin, (size_t)(item->end - item->begin), &number) ? STA_SHAPE_NUMERAL
                                                                                      : STA_SHAPE_STRING;
    if (item->kind != STA_JSON_INT && item->kind != STA_JSON_BIG)
        return STA_SHAPE_BARE;
    return item->hash ? STA_SHAPE_HASH : STA_SHAPE_INT;
}

static const char *begin_of(const struct sta_layout *layout, size_t item)
{
    return item < layout->count ? layout->items[item].begin : layout->end;
}

/* The node for the text from @begin on, with the constants among the next items if @constants; moves *item to
 * the first that is a value of its own.  Return: false when the fragment is too long. */
static bool make_node(const struct sta_layout *layout, const char *begin, size_t *item, bool constants,
                      struct sta_shape_node *node)
{
    memset(node, 0, sizeof *node);
    while (constants && *item < layout->count && is_constant(&layout->items[*item]) &&
           node->constant_count < STA_SHAPE_CONSTANTS &&
           begin_of(layout, *item + 1) - begin <= STA_SHAPE_FRAGMENT)
        add_constant(node, &layout->items[(*item)++], begin);
    const char *end = begin_of(layout, *item);
    if (end - begin > STA_SHAPE_FRAGMENT)
        return false;
    node->length = (uint8_t)(end - begin);
    memcpy(node->fragment, begin, node->length);
    node->mask = node->length >= 32 ? UINT32_MAX : (1u << node->length) - 1;
    if (*item < layout->count) {
        node->kind = kind_of(&layout->items[*item]);
        node->field = (uint8_t)layout->items[*item].field;
        node->key = layout->items[*item].key;
    }
    return true;
}

/* The child of @parent for what comes next; NULL when there can be none. */
static struct sta_shape_node *learn_child(struct sta_shapes *shapes, struct sta_shape_node *parent,
                                          const struct sta_layout *layout, const char *begin, size_t *item)
{
    struct sta_shape_node node;
    size_t first = *item;
    if (!make_node(layout, begin, item, true, &node))
        return NULL;
    struct sta_shape_node *child = find_child(parent, &node);
    if (child == NULL && node.constant_count > 0 && parent->child_count >= CHILDREN) {
        *item = first;
        if (!make_node(layout, begin, item, false, &node))
            return NULL;
        child = find_child(parent, &node);
    }
    if (child == NULL)
        return add_child(shapes, parent, &node);
    if (node.kind == STA_SHAPE_BARE)
        child->kind = STA_SHAPE_BARE;
    return child;
}

void sta_shapes_learn(struct sta_shapes *shapes, const struct sta_layout *layout)
{
    struct sta_shape_node *node = &shapes->nodes[0];
    const char *begin = layout->begin;
    size_t item = 0;
    bool decided = true;
    if (!layout->plain)
        return;
    if (shapes->count + layout->count + 1 > NODES)
        forget(shapes); /* the lines to come say anew what matters */
    do {
        node = learn_child(shapes, node, layout, begin, &item);
        if (node == NULL)
            return;
        if (item < layout->count) {
            begin = layout->items[item].end;
            decided &= !is_decisive((enum sta_record_field)node->field);
        }
    } while (item++ < layout->count);
    node->decided = decided;
}
