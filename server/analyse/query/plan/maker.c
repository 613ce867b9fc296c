/* Failures of a request, and the JSON pointers (RFC 6901) that say where. */
#include "analyse/query/plan/maker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyse/expression/suggest.h"
#include "common/buffer.h"

static void refuse(struct sta_maker *maker, int status, const char *pointer, int64_t position,
                   const char *format, va_list args)
{
    if (maker->failed)
        return;
    char text[sizeof maker->err->text];
    vsnprintf(text, sizeof text, format, args);
    sta_fail(maker->err, status, "%s", text);
    sta_at(maker->err, pointer, position);
    maker->failed = true;
}

void sta_refuse(struct sta_maker *maker, int status, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(maker, status, pointer, -1, format, args);
    va_end(args);
}

void sta_refuse_start(struct sta_maker *maker, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(maker, STA_EINPUT, pointer, 0, format, args);
    va_end(args);
}

void sta_refuse_name(struct sta_maker *maker, const char *pointer, const char *what, struct sta_text wrong,
                     const char *const *names, size_t count)
{
    struct sta_buffer message;
    sta_buffer_init(&message);
    sta_put_unknown(&message, what, wrong, names, count);
    sta_refuse(maker, STA_EINPUT, pointer, "%.*s", (int)message.size, message.data);
    sta_buffer_fini(&message);
}

void sta_check_limit(struct sta_maker *maker, const char *pointer, const char *what, size_t count,
                     size_t most)
{
    if (count > most)
        sta_refuse(maker, STA_ELIMIT, pointer, "%zu %s are too many; the limit is %zu", count, what, most);
}

void *sta_maker_alloc(struct sta_maker *maker, size_t count, size_t size)
{
    return sta_arena_array(&maker->plan->memory, count, size);
}

char *sta_maker_copy(struct sta_maker *maker, const char *text)
{
    return sta_arena_copy(&maker->plan->memory, text, strlen(text));
}

const char *sta_point(struct sta_maker *maker, const char *parent, const char *member)
{
    struct sta_buffer pointer;
    sta_buffer_init(&pointer);
    sta_put_format(&pointer, "%s/", parent);
    for (const char *c = member; *c != '\0'; c++) {
        if (*c == '~' || *c == '/')
            sta_put_text(&pointer, *c == '~' ? "~0" : "~1");
        else
            sta_put_char(&pointer, *c);
    }
    char *copy = sta_arena_copy(&maker->plan->memory, pointer.data, pointer.size);
    sta_buffer_fini(&pointer);
    return copy;
}

const char *sta_point_at(struct sta_maker *maker, const char *parent, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    return sta_point(maker, parent, number);
}

const char *sta_point_member(struct sta_maker *maker, const char *member)
{
    return sta_point(maker, maker->where, member);
}

const struct sta_document *sta_stage_member(const struct sta_maker *maker, const char *name)
{
    return sta_document_member(maker->request, name);
}

struct sta_text sta_text_of(const char *name)
{
    return (struct sta_text){name, (uint32_t)strlen(name)};
}
