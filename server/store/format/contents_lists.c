/* contents_lists.c - values of args keys that are lists of values of another key, and their texts. */
#include <string.h>
#include "common/account.h"
#include "common/event.h"
#include "store/format/contents_private.h"

/* Codes of members that follow each other are near each other. */
void sta_lists_put(struct sta_buffer *out, const struct sta_dictionary *dictionary)
{
    const uint32_t count = sta_dictionary_count(dictionary);
    uint32_t before = 0, member;
    sta_put_varint(out, count);
    for (uint32_t code = 0; code < count; code++) {
        const struct sta_text text = sta_dictionary_text(dictionary, code);
        if (!sta_text_is_list(text)) {
            sta_put_varint(out, 2 * (uint64_t)text.length);
            sta_put(out, text.bytes, text.length);
            continue;
        }
        sta_put_varint(out, 2 * (uint64_t)(text.length / sizeof member) + 1);
        for (const char *at = text.bytes + 1; at < text.bytes + text.length; at += sizeof member) {
            memcpy(&member, at, sizeof member);
            sta_put_signed(out, (int64_t)member - before);
            before = member;
        }
    }
}

/* Appends a list as its text. */
static void get_list(struct sta_stored_lists *lists, uint64_t count)
{
    struct sta_cursor *in = &lists->in;
    sta_put_char(&lists->codes, STA_LIST_MARK);
    for (uint64_t i = 0; i < count && !in->failed && !lists->codes.failed; i++) {
        lists->before += (uint32_t)sta_get_signed(in);
        sta_put(&lists->codes, &lists->before, sizeof lists->before);
    }
    const struct sta_text list = {lists->codes.data, (uint32_t)lists->codes.size};
    in->failed |= lists->codes.failed || lists->codes.size >= UINT32_MAX ||
                  !sta_list_put(&lists->text, sta_tables_values(lists->tables, lists->members), list);
}

/* A text or a list, as the next text of the dictionary. */
static void get_value(struct sta_stored_lists *lists, size_t code)
{
    const uint64_t head = sta_get_varint(&lists->in);
    sta_buffer_clear(&lists->codes);
    sta_buffer_clear(&lists->text);
    if (head % 2 != 0) {
        get_list(lists, head / 2);
    } else {
        const void *bytes = sta_get_bytes(&lists->in, head / 2);
        sta_put(&lists->text, bytes, bytes != NULL ? head / 2 : 0);
    }
    if (lists->in.failed || lists->text.failed || lists->text.size >= UINT32_MAX) {
        lists->in.failed = true;
        return;
    }
    sta_tables_note_list(lists->tables, lists->key, lists->members,
                         head % 2 != 0 ? lists->codes.data + 1 : NULL, head / 2);
    lists->in.failed =
        sta_dictionary_append(sta_tables_values(lists->tables, lists->key),
                              lists->text.size > 0 ? lists->text.data : "", lists->text.size) != code;
}

void sta_lists_get(struct sta_stored_lists *lists)
{
    struct sta_account *account = sta_tables_account(lists->tables);
    struct sta_error err = STA_ERROR_INIT;
    lists->codes.account = lists->text.account = account;
    const size_t count = sta_get_count(&lists->in);
    for (size_t code = 0; code < count && !lists->in.failed; code++)
        get_value(lists, code);
    lists->in.failed |= lists->in.at != lists->in.end;
    if (lists->codes.failed || lists->text.failed) {
        sta_fail(&err, STA_ENOMEM, "no memory for the text of a list");
        sta_account_fail(account, &err);
    }
    sta_buffer_fini(&lists->codes);
    sta_buffer_fini(&lists->text);
}
