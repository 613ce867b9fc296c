/* msgpack objects as values of a record.
 *
 * DESIGN.  Most texts stay in the payload.  The others go to a buffer that may move while it grows, so until
 * all are there a value holds the place of its text, plus 1, where an integer would be. */
#include "decode/dasf/values.h"

#include <math.h>
#include <string.h>

#include "common/number.h"
#include "decode/json_text.h"

static struct sta_json_value text_behind(const struct sta_value_texts *texts, size_t from,
                                         enum sta_json_kind kind)
{
    return (struct sta_json_value){
        .kind = kind, .length = (uint32_t)(texts->text.size - from), .integer = (int64_t)from + 1};
}

/* Appends a text, made valid UTF-8. */
static void put_repaired(struct sta_value_texts *texts, const char *bytes, size_t size)
{
    char *room = sta_buffer_reserve(&texts->text, 3 * size);
    if (room != NULL)
        texts->text.size += sta_utf8_repair(bytes, size, room);
    texts->repaired = true;
}

static struct sta_json_value value_of_text(struct sta_value_texts *texts, const msgpack_object_str *text)
{
    size_t from = texts->text.size;
    if (sta_utf8_valid_prefix(text->ptr, text->size) == text->size)
        return (struct sta_json_value){.kind = STA_JSON_STRING, .text = text->ptr, .length = text->size};
    put_repaired(texts, text->ptr, text->size);
    return text_behind(texts, from, STA_JSON_STRING);
}

static struct sta_json_value value_of_large(struct sta_value_texts *texts, uint64_t number)
{
    size_t from = texts->text.size;
    sta_put_uint(&texts->text, number);
    return text_behind(texts, from, STA_JSON_BIG);
}

/* ---- nested values, as compact JSON */

static void put_value(struct sta_value_texts *texts, const msgpack_object *object);

static void put_text(struct sta_value_texts *texts, const msgpack_object_str *text)
{
    struct sta_buffer valid = {0};
    if (sta_utf8_valid_prefix(text->ptr, text->size) == text->size) {
        sta_put_json_string(&texts->text, text->ptr, text->size);
        return;
    }
    char *room = sta_buffer_reserve(&valid, 3 * (size_t)text->size);
    if (room != NULL)
        sta_put_json_string(&texts->text, room, sta_utf8_repair(text->ptr, text->size, room));
    sta_buffer_fini(&valid);
    texts->repaired = true;
}

static void put_array(struct sta_value_texts *texts, const msgpack_object_array *array)
{
    sta_put_char(&texts->text, '[');
    for (uint32_t i = 0; i < array->size; i++) {
        if (i > 0)
            sta_put_char(&texts->text, ',');
        put_value(texts, &array->ptr[i]);
    }
    sta_put_char(&texts->text, ']');
}

/* JSON knows texts alone as keys: numbers are put in quotes. */
static void put_key(struct sta_value_texts *texts, const msgpack_object *key)
{
    bool text = key->type == MSGPACK_OBJECT_STR;
    bool nested = key->type == MSGPACK_OBJECT_ARRAY || key->type == MSGPACK_OBJECT_MAP;
    if (!text)
        sta_put_char(&texts->text, '"');
    if (!nested)
        put_value(texts, key);
    if (!text)
        sta_put_char(&texts->text, '"');
}

static void put_map(struct sta_value_texts *texts, const msgpack_object_map *map)
{
    sta_put_char(&texts->text, '{');
    for (uint32_t i = 0; i < map->size; i++) {
        if (i > 0)
            sta_put_char(&texts->text, ',');
        put_key(texts, &map->ptr[i].key);
        sta_put_char(&texts->text, ':');
        put_value(texts, &map->ptr[i].val);
    }
    sta_put_char(&texts->text, '}');
}

static void put_value(struct sta_value_texts *texts, const msgpack_object *object)
{
    switch (object->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        sta_put_text(&texts->text, object->via.boolean ? "true" : "false");
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        sta_put_uint(&texts->text, object->via.u64);
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        sta_put_int(&texts->text, object->via.i64);
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        sta_put_double(&texts->text, object->via.f64);
        break;
    case MSGPACK_OBJECT_STR:
        put_text(texts, &object->via.str);
        break;
    case MSGPACK_OBJECT_ARRAY:
        put_array(texts, &object->via.array);
        break;
    case MSGPACK_OBJECT_MAP:
        put_map(texts, &object->via.map);
        break;
    default:
        sta_put_text(&texts->text, "null");
        break;
    }
}

/* ---- any value */

bool sta_number_of(const msgpack_object *object, double *number)
{
    switch (object->type) {
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        *number = (double)object->via.u64;
        return true;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        *number = (double)object->via.i64;
        return true;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        *number = object->via.f64;
        return isfinite(*number);
    default:
        return false;
    }
}

struct sta_json_value sta_value_of(struct sta_value_texts *texts, const msgpack_object *object)
{
    static const struct sta_json_value none = {.kind = STA_JSON_DEEP, .text = ""};
    size_t from = texts->text.size;
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
        return (struct sta_json_value){.kind = STA_JSON_ABSENT};
    case MSGPACK_OBJECT_BOOLEAN:
        return (struct sta_json_value){.kind = STA_JSON_BOOL, .text = "", .integer = object->via.boolean};
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        if (object->via.u64 > INT64_MAX)
            return value_of_large(texts, object->via.u64);
        return (struct sta_json_value){.kind = STA_JSON_INT, .integer = (int64_t)object->via.u64};
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return (struct sta_json_value){.kind = STA_JSON_INT, .integer = object->via.i64};
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return isfinite(object->via.f64)
                   ? (struct sta_json_value){.kind = STA_JSON_DOUBLE, .number = object->via.f64}
                   : none;
    case MSGPACK_OBJECT_STR:
        return value_of_text(texts, &object->via.str);
    case MSGPACK_OBJECT_ARRAY:
    case MSGPACK_OBJECT_MAP:
        put_value(texts, object);
        return text_behind(texts, from, STA_JSON_NESTED);
    default:
        return none;
    }
}

void sta_value_place(const struct sta_value_texts *texts, struct sta_json_value *value)
{
    bool text =
        value->kind == STA_JSON_STRING || value->kind == STA_JSON_NESTED || value->kind == STA_JSON_BIG;
    if (text && value->text == NULL)
        value->text = value->integer > 0 ? texts->text.data + (value->integer - 1) : "";
}
