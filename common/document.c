/* A tree of values in an arena, and the mistakes in one. */
#include "common/document.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct sta_document *sta_document_create(struct sta_arena *arena, enum sta_document_type type)
{
    struct sta_document *document = sta_arena_alloc(arena, sizeof *document, _Alignof(struct sta_document));
    *document = (struct sta_document){.type = type};
    return document;
}

void sta_document_append(struct sta_arena *arena, struct sta_document *parent, const char *name,
                         struct sta_document *child)
{
    child->name = name != NULL ? sta_arena_copy(arena, name, strlen(name)) : NULL;
    if (parent->last != NULL)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

struct sta_document *sta_document_text(struct sta_arena *arena, const char *bytes, size_t length)
{
    struct sta_document *document = sta_document_create(arena, STA_DOCUMENT_TEXT);
    document->text = (struct sta_text){sta_arena_copy(arena, bytes, length), (uint32_t)length};
    return document;
}

void sta_document_add_text(struct sta_arena *arena, struct sta_document *parent, const char *name,
                           const char *text)
{
    sta_document_append(arena, parent, name, sta_document_text(arena, text, strlen(text)));
}

void sta_document_add_number(struct sta_arena *arena, struct sta_document *parent, const char *name,
                             double number)
{
    struct sta_document *value = sta_document_create(arena, STA_DOCUMENT_FLOAT);
    value->number = number;
    sta_document_append(arena, parent, name, value);
}

const struct sta_document *sta_document_member(const struct sta_document *object, const char *name)
{
    if (object == NULL || object->type != STA_DOCUMENT_OBJECT)
        return NULL;
    for (const struct sta_document *member = object->first; member != NULL; member = member->next)
        if (strcmp(member->name, name) == 0)
            return member;
    return NULL;
}

struct sta_document *sta_document_take(struct sta_document *object, const char *name)
{
    struct sta_document *before = NULL;
    for (struct sta_document *member = object->first; member != NULL;
         before = member, member = member->next) {
        if (strcmp(member->name, name) != 0)
            continue;
        *(before ? &before->next : &object->first) = member->next;
        if (object->last == member)
            object->last = before;
        object->count--;
        member->next = NULL;
        return member;
    }
    return NULL;
}

void sta_document_put(struct sta_buffer *out, const struct sta_document *value)
{
    sta_put_char(out, (char)value->type);
    if (value->type == STA_DOCUMENT_TEXT)
        sta_put_block(out, value->text.bytes, value->text.length);
    else if (value->type == STA_DOCUMENT_BOOL)
        sta_put_char(out, value->truth);
    else if (value->type == STA_DOCUMENT_INT || value->type == STA_DOCUMENT_FLOAT)
        sta_put_u64(out, (uint64_t)value->integer); /* of a number its bits */
    sta_put_varint(out, value->count);
    for (const struct sta_document *child = value->first; child != NULL; child = child->next) {
        const char *name = child->name != NULL ? child->name : "";
        sta_put_block(out, name, strlen(name));
        sta_document_put(out, child);
    }
}

static void get_value(struct sta_cursor *in, struct sta_arena *arena, struct sta_document *value)
{
    size_t length = 0;
    const char *text = value->type == STA_DOCUMENT_TEXT ? sta_get_block(in, &length) : NULL;
    if (text != NULL)
        value->text = (struct sta_text){sta_arena_copy(arena, text, length), (uint32_t)length};
    if (value->type == STA_DOCUMENT_INT || value->type == STA_DOCUMENT_FLOAT)
        value->integer = (int64_t)sta_get_u64(in);
    const unsigned char *truth = value->type == STA_DOCUMENT_BOOL ? sta_get_bytes(in, 1) : NULL;
    if (truth != NULL)
        value->truth = *truth != 0;
}

struct sta_document *sta_document_get(struct sta_cursor *in, struct sta_arena *arena)
{
    const unsigned char *type = sta_get_bytes(in, 1);
    in->failed = in->failed || type == NULL || *type > STA_DOCUMENT_OBJECT;
    if (in->failed)
        return NULL;
    struct sta_document *value = sta_document_create(arena, (enum sta_document_type) * type);
    get_value(in, arena, value);
    for (uint64_t count = sta_get_varint(in); count > 0 && !in->failed; count--) {
        size_t length;
        const char *bytes = sta_get_block(in, &length);
        char *name = bytes != NULL && value->type == STA_DOCUMENT_OBJECT ? sta_strndup(bytes, length) : NULL;
        struct sta_document *child = sta_document_get(in, arena);
        if (child != NULL)
            sta_document_append(arena, value, name, child);
        free(name);
    }
    return in->failed ? NULL : value;
}

bool sta_document_number(const struct sta_document *value, double *number)
{
    if (value->type == STA_DOCUMENT_INT)
        *number = (double)value->integer;
    else if (value->type == STA_DOCUMENT_FLOAT)
        *number = value->number;
    else
        return false;
    return true;
}

const char *sta_document_kind(const struct sta_document *value)
{
    static const char *const kinds[] = {"null",     "a truth value", "a whole number", "a number",
                                        "a string", "a list",        "an object"};
    return kinds[value->type];
}

/* ---- mistakes */

static void put_escaped(struct sta_buffer *out, const char *name)
{
    sta_put_char(out, '/');
    for (; *name != '\0'; name++) {
        if (*name == '~')
            sta_put_text(out, "~0");
        else if (*name == '/')
            sta_put_text(out, "~1");
        else
            sta_put_char(out, *name);
    }
}

int sta_at_member(struct sta_error *err, const char *first, const char *second, int64_t position)
{
    struct sta_buffer pointer;
    sta_buffer_init(&pointer);
    put_escaped(&pointer, first);
    if (second != NULL)
        put_escaped(&pointer, second);
    sta_put_char(&pointer, '\0');
    sta_at(err, pointer.data, position);
    sta_buffer_fini(&pointer);
    return err->status;
}

int sta_fail_member(struct sta_error *err, int status, const char *first, const char *second,
                    const char *format, ...)
{
    va_list args;
    char sentence[sizeof err->text];
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    sta_fail(err, status, "%s", sentence);
    return sta_at_member(err, first, second, -1);
}

int sta_document_check(const struct sta_document *object, const char *where, const char *const *known,
                       size_t count, struct sta_error *err)
{
    for (const struct sta_document *member = object->first; member != NULL; member = member->next) {
        size_t i = 0;
        while (i < count && strcmp(known[i], member->name) != 0)
            i++;
        if (i < count)
            continue;
        char *names = sta_join_names(known, sizeof *known, count);
        sta_fail_member(err, STA_EINPUT, member->name, NULL, "there is no member \"%.60s\" %s; there are %s",
                        member->name, where, names);
        free(names);
        return err->status;
    }
    return STA_OK;
}
