/* The JSON object of a request body. */
#include "serve/body.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"

static int fail_at(struct sta_error *err, const char *member, long index)
{
    char pointer[sizeof err->parameter];
    if (index < 0)
        snprintf(pointer, sizeof pointer, "/%.200s", member);
    else
        snprintf(pointer, sizeof pointer, "/%.200s/%ld", member, index);
    return sta_at(err, pointer, -1);
}

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
            if (++depth > STA_BODY_DEPTH)
                return true;
        } else if ((bytes[i] == '}' || bytes[i] == ']') && depth > 0) {
            depth--;
        }
    }
    return false;
}

static int parse(const char *bytes, size_t size, json_t **document, struct sta_error *err)
{
    json_error_t where;
    if (size == 0)
        return sta_fail(err, STA_EINPUT, "The request needs a body: a JSON object");
    if (is_too_deep(bytes, size))
        return sta_fail(err, STA_EINPUT, "The body is nested deeper than %d levels", STA_BODY_DEPTH);
    *document = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    if (*document == NULL) {
        size_t valid = sta_utf8_valid_prefix(bytes, size),
               at = where.position > 0 ? (size_t)where.position : 0;
        sta_fail(err, STA_EINPUT, "The body is not JSON: %s", where.text);
        return sta_at(err, "", (int64_t)sta_utf8_count(bytes, STA_MIN(valid, at)));
    }
    if (!json_is_object(*document))
        return sta_fail(err, STA_EINPUT, "The body must be a JSON object");
    return STA_OK;
}

static int fail_unknown(const char *name, const struct sta_member *members, size_t count,
                        struct sta_error *err)
{
    struct sta_buffer list;
    sta_buffer_init(&list);
    for (size_t i = 0; i < count; i++)
        sta_put_format(&list, "%s%s", i ? ", " : "", members[i].name);
    sta_put_char(&list, '\0');
    sta_fail(err, STA_EINPUT, "There is no member \"%.60s\"; allowed: %s", name, list.data);
    sta_buffer_fini(&list);
    return fail_at(err, name, -1);
}

static int read_text(const json_t *value, const struct sta_member *member, long index, const char **text,
                     struct sta_error *err)
{
    *text = json_string_value(value);
    if (*text == NULL)
        sta_fail(err, STA_EINPUT, "%s must be a text", member->name);
    else if (**text == '\0')
        sta_fail(err, STA_EINPUT, "%s is empty", member->name);
    else if (sta_utf8_count(*text, strlen(*text)) > member->longest)
        sta_fail(err, STA_EINPUT, "%s has more than %zu characters", member->name, member->longest);
    else
        return STA_OK;
    return fail_at(err, member->name, index);
}

static int read_member(const json_t *value, const struct sta_member *member, struct sta_body *body,
                       size_t index, struct sta_error *err)
{
    if (member->type == STA_MEMBER_TEXT)
        return read_text(value, member, -1, &body->values[index].text, err);
    if (!json_is_array(value) || json_array_size(value) > member->most) {
        sta_fail(err, STA_EINPUT, "%s must be a list of at most %zu texts", member->name, member->most);
        return fail_at(err, member->name, -1);
    }
    size_t count = json_array_size(value);
    body->values[index].texts = sta_alloc_array(count + 1, sizeof(char *));
    body->values[index].count = count;
    for (size_t i = 0; i < count; i++)
        if (read_text(json_array_get(value, i), member, (long)i, &body->values[index].texts[i], err) !=
            STA_OK)
            return err->status;
    return STA_OK;
}

static int read_members(json_t *document, const struct sta_member *members, size_t count,
                        struct sta_body *body, struct sta_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(document, name, value)
    {
        size_t i = 0;
        while (i < count && strcmp(members[i].name, name) != 0)
            i++;
        if (i == count)
            return fail_unknown(name, members, count, err);
        if (read_member(value, &members[i], body, i, err) != STA_OK)
            return err->status;
    }
    for (size_t i = 0; i < count; i++)
        if (members[i].required && body->values[i].text == NULL && body->values[i].texts == NULL) {
            sta_fail(err, STA_EINPUT, "%s is missing", members[i].name);
            return fail_at(err, members[i].name, -1);
        }
    return STA_OK;
}

int sta_body_read(const char *bytes, size_t size, const struct sta_member *members, size_t member_count,
                  struct sta_body *body, struct sta_error *err)
{
    json_t *document = NULL;
    STA_ASSERT(member_count <= STA_BODY_MEMBERS);
    *body = (struct sta_body){0};
    int status = parse(bytes, size, &document, err);
    body->document = document;
    if (status == STA_OK)
        status = read_members(document, members, member_count, body, err);
    if (status != STA_OK)
        sta_body_fini(body);
    return status;
}

void sta_body_fini(struct sta_body *body)
{
    for (size_t i = 0; i < STA_BODY_MEMBERS; i++)
        free(body->values[i].texts);
    json_decref(body->document);
    *body = (struct sta_body){0};
}
