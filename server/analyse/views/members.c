/* Members by type, with the sentences that say what was expected. */
#include "analyse/views/members.h"

#include <string.h>

#include "common/buffer.h"

const struct sta_document *sta_member_given(const struct sta_document *object, const char *name)
{
    const struct sta_document *member = sta_document_member(object, name);
    return member != NULL && member->type != STA_DOCUMENT_NULL ? member : NULL;
}

static int fail_kind(const struct sta_document *member, const char *wanted, struct sta_error *err)
{
    return sta_fail_member(err, STA_EINPUT, member->name, NULL, "expected %s, not %s", wanted,
                           sta_document_kind(member));
}

int sta_member_bool(const struct sta_document *object, const char *name, bool *value, struct sta_error *err)
{
    const struct sta_document *member = sta_member_given(object, name);
    if (member == NULL)
        return 0;
    if (member->type != STA_DOCUMENT_BOOL)
        return fail_kind(member, "true or false", err);
    *value = member->truth;
    return 0;
}

int sta_member_number(const struct sta_document *object, const char *name, double *value, bool *given,
                      struct sta_error *err)
{
    const struct sta_document *member = sta_member_given(object, name);
    if (member == NULL)
        return 0;
    if (!sta_document_number(member, value))
        return fail_kind(member, "a number", err);
    *given = true;
    return 0;
}

int sta_member_text(const struct sta_document *object, const char *name, const char **value,
                    struct sta_error *err)
{
    const struct sta_document *member = sta_member_given(object, name);
    if (member == NULL)
        return 0;
    if (member->type != STA_DOCUMENT_TEXT)
        return fail_kind(member, "a string", err);
    *value = member->text.bytes;
    return 0;
}

static int fail_word(const char *name, const char *const *words, size_t count, const char *wrong,
                     struct sta_error *err)
{
    struct sta_buffer list;
    sta_buffer_init(&list);
    for (size_t i = 0; i < count; i++)
        sta_put_format(&list, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", words[i]);
    sta_put_char(&list, '\0');
    sta_fail(err, STA_EINPUT, "expected %s, not \"%.60s\"", list.data, wrong);
    sta_buffer_fini(&list);
    return sta_at_member(err, name, NULL, -1);
}

int sta_member_word(const struct sta_document *object, const char *name, const char *const *words,
                    size_t count, size_t *value, struct sta_error *err)
{
    const char *text = NULL;
    int rc = sta_member_text(object, name, &text, err);
    if (rc != 0 || text == NULL)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], text) == 0) {
            *value = i;
            return 0;
        }
    return fail_word(name, words, count, text, err);
}
