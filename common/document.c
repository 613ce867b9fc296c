/* A tree of values in an arena. */
#include "common/document.h"

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
