/* The JSON object of a request body. */
#include "serve/api/body.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"
#include "serve/formats/document_json.h"

static int fail_at(struct sta_error *err, const char *member, long index)
{
    char pointer[sizeof err->parameter];
    if (index < 0)
        snprintf(pointer, sizeof pointer, "/%.200s", member);
    else
        snprintf(pointer, sizeof pointer, "/%.200s/%ld", member, index);
    return sta_at(err, pointer, -1);
}

static int parse(const char *bytes, size_t size, struct sta_arena *arena, struct sta_document **document,
                 struct sta_error *err)
{
    if (size == 0)
        return sta_fail(err, STA_EINPUT, "The request needs a body: a JSON object");
    int status = sta_document_parse(bytes, size, "The body", arena, document, err);
    if (status == STA_OK && (*document)->type != STA_DOCUMENT_OBJECT)
        status = sta_fail(err, STA_EINPUT, "The body must be a JSON object");
    return status;
}

static int fail_unknown(const char *name, const struct sta_member *members, size_t count,
                        struct sta_error *err)
{
    char *names = sta_join_names(members, sizeof *members, count);
    sta_fail(err, STA_EINPUT, "There is no member \"%.60s\"; allowed: %s", name, names);
    free(names);
    return fail_at(err, name, -1);
}

/* U+0000 to U+001F and U+007F to U+009F. */
static bool has_control_character(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        if (*at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
            return true;
    return false;
}

static int read_text(const struct sta_document *value, const struct sta_member *member, long index,
                     const char **text, struct sta_error *err)
{
    *text = value->type == STA_DOCUMENT_TEXT ? value->text.bytes : NULL;
    if (*text == NULL)
        sta_fail(err, STA_EINPUT, "%s must be a text", member->name);
    else if (**text == '\0')
        sta_fail(err, STA_EINPUT, "%s is empty", member->name);
    else if (sta_utf8_count(*text, strlen(*text)) > member->longest)
        sta_fail(err, STA_EINPUT, "%s has more than %zu characters", member->name, member->longest);
    else if (member->line && has_control_character(*text))
        sta_fail(err, STA_EINPUT, "%s has a control character, such as the end of a line", member->name);
    else
        return STA_OK;
    return fail_at(err, member->name, index);
}

static int read_truth(const struct sta_document *value, const struct sta_member *member,
                      struct sta_body *body, size_t index, struct sta_error *err)
{
    if (value->type != STA_DOCUMENT_BOOL) {
        sta_fail(err, STA_EINPUT, "%s must be true or false", member->name);
        return fail_at(err, member->name, -1);
    }
    body->values[index].given = true;
    body->values[index].truth = value->truth;
    return STA_OK;
}

static int read_member(const struct sta_document *value, const struct sta_member *member,
                       struct sta_body *body, size_t index, struct sta_error *err)
{
    if (member->type == STA_MEMBER_TEXT)
        return read_text(value, member, -1, &body->values[index].text, err);
    if (member->type == STA_MEMBER_BOOL)
        return read_truth(value, member, body, index, err);
    if (value->type != STA_DOCUMENT_LIST || value->count > member->most) {
        sta_fail(err, STA_EINPUT, "%s must be a list of at most %zu texts", member->name, member->most);
        return fail_at(err, member->name, -1);
    }
    body->values[index].texts = sta_alloc_array(value->count + 1, sizeof(char *));
    for (const struct sta_document *item = value->first; item != NULL; item = item->next) {
        size_t i = body->values[index].count++;
        if (read_text(item, member, (long)i, &body->values[index].texts[i], err) != STA_OK)
            return err->status;
    }
    return STA_OK;
}

static int read_members(const struct sta_document *document, const struct sta_member *members, size_t count,
                        struct sta_body *body, struct sta_error *err)
{
    for (const struct sta_document *value = document->first; value != NULL; value = value->next) {
        size_t i = 0;
        while (i < count && strcmp(members[i].name, value->name) != 0)
            i++;
        if (i == count)
            return fail_unknown(value->name, members, count, err);
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

int sta_body_read(const struct sta_buffer *bytes, const struct sta_member *members, size_t member_count,
                  struct sta_body *body, struct sta_error *err)
{
    struct sta_document *document;
    STA_ASSERT(member_count <= STA_BODY_MEMBERS);
    *body = (struct sta_body){0};
    int status = parse(bytes->data, bytes->size, &body->memory, &document, err);
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
    sta_arena_fini(&body->memory);
    *body = (struct sta_body){0};
}
