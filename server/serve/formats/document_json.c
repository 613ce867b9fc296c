/* JSON <-> struct sta_document. */
#include "serve/formats/document_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/number.h"

/* Jansson recurses, so the depth is limited before it is asked. */
static bool is_too_deep(const char *bytes, size_t size)
{
    unsigned depth = 0;
    bool text = false;
    for (size_t i = 0; i < size; i++) {
        if (text) {
            if (bytes[i] == '\\')
                i++;
            else if (bytes[i] == '"')
                text = false;
        } else if (bytes[i] == '"') {
            text = true;
        } else if (bytes[i] == '{' || bytes[i] == '[') {
            if (++depth > STA_JSON_DEPTH)
                return true;
        } else if ((bytes[i] == '}' || bytes[i] == ']') && depth > 0) {
            depth--;
        }
    }
    return false;
}

static struct sta_document *convert(const json_t *json, struct sta_arena *arena);

static struct sta_document *convert_list(const json_t *json, struct sta_arena *arena)
{
    struct sta_document *list = sta_document_create(arena, STA_DOCUMENT_LIST);
    for (size_t i = 0; i < json_array_size(json); i++)
        sta_document_append(arena, list, NULL, convert(json_array_get(json, i), arena));
    return list;
}

static struct sta_document *convert_object(const json_t *json, struct sta_arena *arena)
{
    struct sta_document *object = sta_document_create(arena, STA_DOCUMENT_OBJECT);
    json_t *members = (json_t *)(uintptr_t)json; /* jansson's iterators are not const */
    for (void *at = json_object_iter(members); at != NULL; at = json_object_iter_next(members, at))
        sta_document_append(arena, object, json_object_iter_key(at),
                            convert(json_object_iter_value(at), arena));
    return object;
}

static struct sta_document *convert(const json_t *json, struct sta_arena *arena)
{
    struct sta_document *value;
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return convert_object(json, arena);
    case JSON_ARRAY:
        return convert_list(json, arena);
    case JSON_STRING:
        return sta_document_text(arena, json_string_value(json), json_string_length(json));
    case JSON_INTEGER:
        value = sta_document_create(arena, STA_DOCUMENT_INT);
        value->integer = json_integer_value(json);
        return value;
    case JSON_REAL:
        value = sta_document_create(arena, STA_DOCUMENT_FLOAT);
        value->number = json_real_value(json);
        return value;
    case JSON_NULL:
        return sta_document_create(arena, STA_DOCUMENT_NULL);
    default:
        value = sta_document_create(arena, STA_DOCUMENT_BOOL);
        value->truth = json_is_true(json);
        return value;
    }
}

int sta_document_parse(const char *bytes, size_t size, const char *what, struct sta_arena *arena,
                       struct sta_document **document, struct sta_error *err)
{
    json_error_t where;
    if (is_too_deep(bytes, size))
        return sta_fail(err, STA_EINPUT, "%s is nested deeper than %d levels", what, STA_JSON_DEPTH);
    json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    if (json == NULL) {
        size_t valid = sta_utf8_valid_prefix(bytes, size),
               at = where.position > 0 ? (size_t)where.position : 0;
        sta_fail(err, STA_EINPUT, "%s is not JSON: %s", what,
                 json_error_code(&where) == json_error_null_character
                     ? "a text has the character \\u0000, which none may have here"
                     : where.text);
        return sta_at(err, "", (int64_t)sta_utf8_count(bytes, STA_MIN(valid, at)));
    }
    *document = convert(json, arena);
    json_decref(json);
    return STA_OK;
}

/* ---- writing */

static int compare_names(const void *a, const void *b)
{
    const struct sta_document *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static const struct sta_document **children_of(const struct sta_document *parent)
{
    const struct sta_document **children = sta_alloc_array(parent->count + 1, sizeof *children);
    size_t count = 0;
    for (const struct sta_document *child = parent->first; child != NULL; child = child->next)
        children[count++] = child;
    return children;
}

static void put_value(struct sta_buffer *out, const struct sta_document *value, bool request);

static void put_children(struct sta_buffer *out, const struct sta_document *parent, bool request)
{
    const struct sta_document **children = children_of(parent);
    if (request && parent->type == STA_DOCUMENT_OBJECT)
        qsort(children, parent->count, sizeof *children, compare_names);
    for (size_t i = 0; i < parent->count; i++) {
        if (i > 0)
            sta_put_char(out, ',');
        if (parent->type == STA_DOCUMENT_OBJECT) {
            sta_put_json_string(out, children[i]->name, strlen(children[i]->name));
            sta_put_char(out, ':');
        }
        put_value(out, children[i],
                  request && parent->type == STA_DOCUMENT_OBJECT && strcmp(children[i]->name, "then") == 0);
    }
    free(children);
}

static void put_value(struct sta_buffer *out, const struct sta_document *value, bool request)
{
    switch (value->type) {
    case STA_DOCUMENT_NULL:
        sta_put_text(out, "null");
        break;
    case STA_DOCUMENT_BOOL:
        sta_put_text(out, value->truth ? "true" : "false");
        break;
    case STA_DOCUMENT_INT:
        sta_put_int(out, value->integer);
        break;
    case STA_DOCUMENT_FLOAT:
        sta_put_double(out, value->number);
        break;
    case STA_DOCUMENT_TEXT:
        sta_put_json_string(out, value->text.bytes, value->text.length);
        break;
    case STA_DOCUMENT_LIST:
    case STA_DOCUMENT_OBJECT:
        sta_put_char(out, value->type == STA_DOCUMENT_LIST ? '[' : '{');
        put_children(out, value, request);
        sta_put_char(out, value->type == STA_DOCUMENT_LIST ? ']' : '}');
        break;
    }
}

void sta_put_document(struct sta_buffer *out, const struct sta_document *document)
{
    put_value(out, document, false);
}

void sta_put_request(struct sta_buffer *out, const struct sta_document *request)
{
    put_value(out, request, true);
}
