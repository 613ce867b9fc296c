/* YAML files as trees of nodes; the only file that includes yaml.h of libyaml.
 *
 * libyaml gives a stream of events; a node is built by the recursive descent that its events suggest, to a
 * bounded depth.  An alias is resolved as soon as it is met, to a node that is already whole, so the result
 * has no cycles; a node counts the nodes below it, aliases as copies, so that a few nested aliases cannot
 * become a billion nodes for whoever walks the tree. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/files.h"
#include "common/memory.h"
#include "common/yaml.h"

struct anchor {
    char *name;
    struct sta_yaml_node *node;
    size_t nodes;
};

struct builder {
    yaml_parser_t parser;
    yaml_event_t event; /* the one looked at */
    bool has_event;
    struct sta_yaml *yaml;
    const char *path;
    struct anchor *anchors;
    size_t anchor_count, anchor_capacity;
    struct sta_error *err;
};

/* The children of a node while it grows. */
struct children {
    struct sta_yaml_node **keys, **items;
    size_t count, key_capacity, item_capacity;
};

static int fail_at(const struct builder *builder, size_t line, const char *what)
{
    return sta_fail(builder->err, STA_EINPUT, "%s:%zu: %s", builder->path, line + 1, what);
}

static int next_event(struct builder *builder)
{
    if (builder->has_event)
        yaml_event_delete(&builder->event);
    builder->has_event = yaml_parser_parse(&builder->parser, &builder->event) != 0;
    if (builder->has_event)
        return STA_OK;
    const yaml_parser_t *parser = &builder->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "not valid YAML";
    if (parser->error == YAML_READER_ERROR)
        return sta_fail(builder->err, STA_EINPUT, "%s: %s at byte %zu", builder->path, problem,
                        parser->problem_offset);
    return fail_at(builder, parser->problem_mark.line, problem);
}

static int build_node(struct builder *builder, unsigned depth, struct sta_yaml_node **node, size_t *nodes);

static struct sta_yaml_node *new_node(struct builder *builder, enum sta_yaml_kind kind)
{
    struct sta_yaml_node *node =
        sta_arena_alloc(&builder->yaml->arena, sizeof *node, _Alignof(struct sta_yaml_node));
    *node = (struct sta_yaml_node){
        .kind = kind, .path = builder->path, .line = (unsigned)builder->event.start_mark.line + 1};
    return node;
}

static void remember_anchor(struct builder *builder, char *name, struct sta_yaml_node *node, size_t nodes)
{
    STA_GROW(builder->anchors, builder->anchor_capacity, builder->anchor_count + 1);
    builder->anchors[builder->anchor_count++] = (struct anchor){name, node, nodes};
}

static int build_alias(struct builder *builder, struct sta_yaml_node **node, size_t *nodes)
{
    const char *name = (const char *)builder->event.data.alias.anchor;
    for (size_t i = builder->anchor_count; i-- > 0;) { /* the last definition counts */
        if (strcmp(builder->anchors[i].name, name) != 0)
            continue;
        *node = builder->anchors[i].node;
        *nodes += builder->anchors[i].nodes;
        return STA_OK;
    }
    return fail_at(builder, builder->event.start_mark.line,
                   "alias of an anchor that does not stand before it");
}

static int build_scalar(struct builder *builder, struct sta_yaml_node **node)
{
    const char *text = (const char *)builder->event.data.scalar.value;
    size_t length = builder->event.data.scalar.length;
    if (memchr(text, 0, length) != NULL)
        return fail_at(builder, builder->event.start_mark.line, "a text holds a zero character");
    *node = new_node(builder, STA_YAML_SCALAR);
    (*node)->text = sta_arena_copy(&builder->yaml->arena, text, length);
    (*node)->length = length;
    (*node)->quoted = builder->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return STA_OK;
}

static struct sta_yaml_node **keep(struct builder *builder, struct sta_yaml_node **from, size_t count)
{
    if (count == 0)
        return NULL;
    struct sta_yaml_node **kept =
        sta_arena_alloc(&builder->yaml->arena, count * sizeof *from, _Alignof(struct sta_yaml_node *));
    memcpy(kept, from, count * sizeof *from);
    return kept;
}

static int build_key(struct builder *builder, unsigned depth, struct children *children, size_t *nodes)
{
    struct sta_yaml_node *key;
    int status = build_node(builder, depth, &key, nodes);
    if (status != STA_OK)
        return status;
    if (key->kind != STA_YAML_SCALAR)
        return fail_at(builder, key->line - 1, "a key must be a text");
    for (size_t i = 0; i < children->count; i++) {
        if (strcmp(children->keys[i]->text, key->text) == 0)
            return sta_fail(builder->err, STA_EINPUT, "%s:%u: \"%s\" stands here twice, first in line %u",
                            builder->path, key->line, key->text, children->keys[i]->line);
    }
    STA_GROW(children->keys, children->key_capacity, children->count + 1);
    children->keys[children->count] = key;
    return next_event(builder);
}

static int build_children(struct builder *builder, unsigned depth, yaml_event_type_t end, bool keyed,
                          struct children *children, size_t *nodes)
{
    int status = next_event(builder);
    while (status == STA_OK && builder->event.type != end) {
        if (keyed)
            status = build_key(builder, depth, children, nodes);
        struct sta_yaml_node *item = NULL;
        if (status == STA_OK)
            status = build_node(builder, depth, &item, nodes);
        if (status != STA_OK)
            break;
        STA_GROW(children->items, children->item_capacity, children->count + 1);
        children->items[children->count++] = item;
        status = next_event(builder);
    }
    return status;
}

static int build_collection(struct builder *builder, unsigned depth, struct sta_yaml_node **node,
                            size_t *nodes)
{
    bool keyed = builder->event.type == YAML_MAPPING_START_EVENT;
    *node = new_node(builder, keyed ? STA_YAML_MAPPING : STA_YAML_SEQUENCE);
    struct children children = {0};
    int status = build_children(builder, depth + 1, keyed ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT,
                                keyed, &children, nodes);
    (*node)->items = keep(builder, children.items, children.count);
    (*node)->keys = keyed ? keep(builder, children.keys, children.count) : NULL;
    (*node)->count = children.count;
    free(children.items);
    free(children.keys);
    return status;
}

static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

/* Builds the node that begins with the present event and leaves its last event the present one; adds to
 * *nodes how many it holds. */
static int build_node(struct builder *builder, unsigned depth, struct sta_yaml_node **node, size_t *nodes)
{
    size_t line = builder->event.start_mark.line, before = *nodes;
    if (depth > STA_YAML_DEPTH)
        return fail_at(builder, line, "nested too deep");
    const yaml_char_t *anchor = event_anchor(&builder->event);
    char *name =
        anchor != NULL ? sta_arena_copy(&builder->yaml->arena, anchor, strlen((const char *)anchor)) : NULL;
    int status;
    if (builder->event.type == YAML_ALIAS_EVENT) {
        status = build_alias(builder, node, nodes);
    } else {
        ++*nodes;
        status = builder->event.type == YAML_SCALAR_EVENT ? build_scalar(builder, node)
                                                          : build_collection(builder, depth, node, nodes);
    }
    if (status == STA_OK && *nodes > STA_YAML_NODES)
        status = fail_at(builder, line, "too many values, aliases counted as copies");
    if (status == STA_OK && name != NULL)
        remember_anchor(builder, name, *node, *nodes - before);
    return status;
}

/* The stream holds at most one document. */
static int build_stream(struct builder *builder)
{
    static char nothing[] = "";
    int status = next_event(builder); /* start of the stream */
    if (status == STA_OK)
        status = next_event(builder);
    if (status == STA_OK && builder->event.type == YAML_STREAM_END_EVENT) {
        builder->yaml->root = new_node(builder, STA_YAML_SCALAR);
        *builder->yaml->root = (struct sta_yaml_node){.path = builder->path, .line = 1, .text = nothing};
        return STA_OK;
    }
    if (status != STA_OK)
        return status;
    status = next_event(builder); /* what follows the start of the document */
    size_t nodes = 0;
    if (status == STA_OK)
        status = build_node(builder, 0, &builder->yaml->root, &nodes);
    if (status == STA_OK)
        status = next_event(builder); /* end of the document */
    if (status == STA_OK)
        status = next_event(builder);
    if (status == STA_OK && builder->event.type != YAML_STREAM_END_EVENT)
        status = fail_at(builder, builder->event.start_mark.line, "a second document; one file holds one");
    return status;
}

int sta_yaml_parse(const char *path, const char *bytes, size_t size, struct sta_yaml **yaml,
                   struct sta_error *err)
{
    struct builder builder = {.yaml = sta_alloc(sizeof *builder.yaml), .err = err};
    builder.path = sta_arena_copy(&builder.yaml->arena, path, strlen(path));
    *yaml = NULL;
    int status = size > STA_YAML_BYTES
                     ? sta_fail(err, STA_ELIMIT, "%s: larger than %u bytes", path, STA_YAML_BYTES)
                     : STA_OK;
    if (status == STA_OK && !yaml_parser_initialize(&builder.parser))
        status = sta_fail(err, STA_ENOMEM, "%s: no memory to read it", path);
    if (status == STA_OK) {
        yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
        /* an empty text may be NULL, which the parser aborts on */
        yaml_parser_set_input_string(&builder.parser, (const unsigned char *)(size > 0 ? bytes : ""), size);
        status = build_stream(&builder);
        if (builder.has_event)
            yaml_event_delete(&builder.event);
        yaml_parser_delete(&builder.parser);
    }
    free(builder.anchors);
    if (status == STA_OK)
        *yaml = builder.yaml;
    else
        sta_yaml_destroy(builder.yaml);
    return status;
}

int sta_yaml_read(const char *path, struct sta_yaml **yaml, struct sta_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    *yaml = NULL;
    int status = sta_file_read(path, STA_YAML_BYTES, &bytes, &size, err);
    if (status == STA_OK)
        status = sta_yaml_parse(path, bytes, size, yaml, err);
    free(bytes);
    return status;
}

void sta_yaml_destroy(struct sta_yaml *yaml)
{
    if (yaml == NULL)
        return;
    sta_arena_fini(&yaml->arena);
    free(yaml);
}

int sta_yaml_fail(const struct sta_yaml_node *node, struct sta_error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sta_fail(err, STA_EINPUT, "%s:%u: %s", node->path, node->line, text);
}

const struct sta_yaml_node *sta_yaml_find(const struct sta_yaml_node *mapping, const char *key)
{
    STA_ASSERT(mapping->kind == STA_YAML_MAPPING);
    for (size_t i = 0; i < mapping->count; i++) {
        if (strcmp(mapping->keys[i]->text, key) == 0)
            return mapping->items[i];
    }
    return NULL;
}

bool sta_yaml_is_null(const struct sta_yaml_node *node)
{
    if (node == NULL)
        return true;
    if (node->kind != STA_YAML_SCALAR || node->quoted)
        return false;
    return node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0;
}

const char *sta_yaml_describe(const struct sta_yaml_node *node)
{
    static const char *const names[] = {
        [STA_YAML_SCALAR] = "a text", [STA_YAML_SEQUENCE] = "a list", [STA_YAML_MAPPING] = "a mapping"};
    return sta_yaml_is_null(node) ? "nothing" : names[node->kind];
}
