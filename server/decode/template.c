/* Building the trie of templates; matching a line against it is in template_match.h. */
#include "decode/template.h"

#include <stdlib.h>
#include <string.h>

#include "common/number.h"
#include "decode/json_text.h"
#include "decode/template_trie.h"

#define NODES 8192
#define CACHE_LINE 64
#define CHILDREN 128   /* fragments with constants below one node; other texts become values */
#define FEW_CHILDREN 3 /* that are tried in turn */
#define WITH_PREDICTORS 256

static void forget(struct sta_templates *templates)
{
    sta_template_free_paths(templates);
    memset(&templates->nodes[0], 0, sizeof templates->nodes[0]);
    memset(templates->predictors, 0, WITH_PREDICTORS * sizeof *templates->predictors);
    templates->count = 1;
    templates->predictor_count = 0;
}

struct sta_templates *sta_templates_create(void)
{
    struct sta_templates *templates = sta_alloc(sizeof *templates);
    templates->block = sta_alloc((NODES + 1) * sizeof *templates->nodes);
    templates->nodes = (struct sta_template_node *)(((uintptr_t)templates->block + CACHE_LINE - 1) &
                                                    ~(uintptr_t)(CACHE_LINE - 1));
    templates->predictors = sta_alloc_array(WITH_PREDICTORS, sizeof *templates->predictors);
    templates->match = sta_template_match_portable;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
        templates->match = sta_template_match_avx2;
#endif
    forget(templates);
    return templates;
}

void sta_templates_destroy(struct sta_templates *templates)
{
    if (templates == NULL)
        return;
    sta_template_free_paths(templates);
    free(templates->block);
    free(templates->predictors);
    free(templates);
}

const char *sta_templates_match(struct sta_templates *templates, const char *at, struct sta_record *record)
{
    return templates->match(templates, at, record);
}

#define NONE UINT64_MAX
#define EIGHT(value) value, value, value, value, value, value, value, value
const struct sta_digit_tables sta_digit_tables = {
    .zeros = {EIGHT('0'), EIGHT('0'), EIGHT('0'), EIGHT('0')},
    .nines = {EIGHT(9), EIGHT(9), EIGHT(9), EIGHT(9)},
    .to_the_end = {EIGHT(-1), EIGHT(-1), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    .least = {NONE, 0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
              EIGHT(NONE), EIGHT(NONE)},
};

const char *sta_template_bare_value(const char *at, struct sta_json_value *value)
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
    static const uint8_t families[] = {
        [STA_TEMPLATE_END] = 0,  [STA_TEMPLATE_INT] = 1,    [STA_TEMPLATE_BARE] = 1,
        [STA_TEMPLATE_HASH] = 1, [STA_TEMPLATE_STRING] = 2, [STA_TEMPLATE_NUMERAL] = 2};
    return families[a] == families[b];
}

static bool same_node(const struct sta_template_node *a, const struct sta_template_node *b)
{
    return a->length == b->length && same_kind(a->kind, b->kind) && a->field == b->field &&
           a->key == b->key && a->constant_count == b->constant_count &&
           memcmp(a->constants, b->constants, sizeof a->constants) == 0 &&
           memcmp(a->fragment, b->fragment, a->length) == 0;
}

static struct sta_template_node *find_child(const struct sta_template_node *parent,
                                            const struct sta_template_node *wanted)
{
    struct sta_template_node *child = parent->first_child;
    while (child != NULL && !same_node(child, wanted))
        child = child->next_sibling;
    return child;
}

static uint8_t in_common(const struct sta_template_node *a, const struct sta_template_node *b, uint8_t most)
{
    uint8_t count = 0;
    while (count < most && count < a->length && count < b->length && a->fragment[count] == b->fragment[count])
        count++;
    return count;
}

/* Predictors hash the text where children begin to differ, which another child may move. */
static void renew_predictors(struct sta_templates *templates, struct sta_template_node *parent)
{
    if (parent->child_count > FEW_CHILDREN && parent->predictors == NULL &&
        templates->predictor_count < WITH_PREDICTORS)
        parent->predictors = templates->predictors[templates->predictor_count++];
    if (parent->predictors != NULL)
        memset(parent->predictors, 0, sizeof *templates->predictors);
    parent->likely = NULL;
}

static struct sta_template_node *add_child(struct sta_templates *templates, struct sta_template_node *parent,
                                           const struct sta_template_node *wanted)
{
    struct sta_template_node *added = &templates->nodes[templates->count++];
    /* A longer fragment goes first: one that begins another must not hide it. */
    struct sta_template_node **link = &parent->first_child;
    while (*link != NULL && (*link)->length >= wanted->length)
        link = &(*link)->next_sibling;
    *added = *wanted;
    added->parent = parent;
    added->next_sibling = *link;
    *link = added;
    parent->shared =
        in_common(parent->first_child, wanted, parent->child_count++ > 0 ? parent->shared : wanted->length);
    renew_predictors(templates, parent);
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

static void add_constant(struct sta_template_node *node, const struct sta_layout_item *item,
                         const char *begin)
{
    node->constants[node->constant_count++] = (struct sta_template_constant){
        (uint8_t)item->field, (uint8_t)(item->begin - begin), (uint8_t)(item->end - item->begin)};
}

static uint8_t kind_of(const struct sta_layout_item *item)
{
    int64_t number;
    if (item->kind == STA_JSON_STRING)
        return sta_parse_int(item->begin, (size_t)(item->end - item->begin), &number) ? STA_TEMPLATE_NUMERAL
                                                                                      : STA_TEMPLATE_STRING;
    if (item->kind != STA_JSON_INT && item->kind != STA_JSON_BIG)
        return STA_TEMPLATE_BARE;
    return item->hash ? STA_TEMPLATE_HASH : STA_TEMPLATE_INT;
}

static const char *begin_of(const struct sta_line_layout *layout, size_t item)
{
    return item < layout->count ? layout->items[item].begin : layout->end;
}

/* The node for the text from @begin on, with the constants among the next items if @constants; moves *item to
 * the first that is a value of its own.  Return: false when the fragment is too long. */
static bool make_node(const struct sta_line_layout *layout, const char *begin, size_t *item, bool constants,
                      struct sta_template_node *node)
{
    memset(node, 0, sizeof *node);
    while (constants && *item < layout->count && is_constant(&layout->items[*item]) &&
           node->constant_count < STA_TEMPLATE_CONSTANTS &&
           begin_of(layout, *item + 1) - begin <= STA_TEMPLATE_FRAGMENT)
        add_constant(node, &layout->items[(*item)++], begin);
    const char *end = begin_of(layout, *item);
    if (end - begin > STA_TEMPLATE_FRAGMENT)
        return false;
    node->length = (uint8_t)(end - begin);
    memcpy(node->fragment, begin, node->length);
    node->mask = sta_template_mask(node->length);
    if (*item < layout->count) {
        node->kind = kind_of(&layout->items[*item]);
        node->field = (uint8_t)layout->items[*item].field;
        node->key = layout->items[*item].key;
    }
    return true;
}

/* The child of @parent for what comes next; NULL when there can be none. */
static struct sta_template_node *learn_child(struct sta_templates *templates,
                                             struct sta_template_node *parent,
                                             const struct sta_line_layout *layout, const char *begin,
                                             size_t *item)
{
    struct sta_template_node node;
    size_t first = *item;
    if (!make_node(layout, begin, item, true, &node))
        return NULL;
    struct sta_template_node *child = find_child(parent, &node);
    if (child == NULL && node.constant_count > 0 && parent->child_count >= CHILDREN) {
        *item = first;
        if (!make_node(layout, begin, item, false, &node))
            return NULL;
        child = find_child(parent, &node);
    }
    if (child == NULL)
        return add_child(templates, parent, &node);
    if (node.kind == STA_TEMPLATE_BARE)
        child->kind = STA_TEMPLATE_BARE;
    return child;
}

void sta_templates_learn(struct sta_templates *templates, const struct sta_line_layout *layout)
{
    struct sta_template_node *node = &templates->nodes[0];
    const char *begin = layout->begin;
    size_t item = 0;
    bool decided = true;
    if (!layout->plain)
        return;
    if (templates->count + layout->count + 1 > NODES)
        forget(templates); /* the lines to come say anew what matters */
    do {
        node = learn_child(templates, node, layout, begin, &item);
        if (node == NULL)
            return;
        if (item < layout->count) {
            begin = layout->items[item].end;
            decided &= !is_decisive((enum sta_record_field)node->field);
        }
    } while (item++ < layout->count);
    node->decided = decided;
}
