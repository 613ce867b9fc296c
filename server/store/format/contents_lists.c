/* contents_lists.c - values of args keys that are lists of values of another key. */
#include <string.h>
#include "common/account.h"
#include "common/event.h"
#include "common/memory.h"
#include "common/value_lists.h"
#include "store/format/contents_private.h"
#include "store/format/pieces.h"

/* The last member before a list, in the order of codes; 0: there is none. */
static uint32_t member_before(const struct sta_dictionary *dictionary, uint32_t code)
{
    uint32_t member = 0;
    while (code-- > 0) {
        const struct sta_text text = sta_dictionary_text(dictionary, code);
        if (sta_text_is_list(text) && text.length > sizeof member) {
            memcpy(&member, text.bytes + text.length - sizeof member, sizeof member);
            break;
        }
    }
    return member;
}

/* Codes of members that follow each other are near each other. */
static void put_lists(struct sta_buffer *out, const void *context, uint32_t first, uint32_t end)
{
    const struct sta_dictionary *dictionary = context;
    uint32_t before = member_before(dictionary, first), member;
    for (uint32_t code = first; code < end; code++) {
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

void sta_lists_put(struct sta_content *out, const struct sta_dictionary *dictionary)
{
    const uint32_t lists = sta_dictionary_count(dictionary);
    sta_put_varint(&out->text, lists);
    sta_content_put_items(out, put_lists, dictionary, lists);
}

/* Codes of members that are there. */
static int get_list(struct sta_stored_lists *lists, uint64_t count, struct sta_error *err)
{
    struct sta_cursor *in = &lists->in;
    if (count > (uint64_t)(in->end - in->at)) /* each takes at least one byte */
        return sta_fail(err, STA_ECORRUPT, "a list of %llu members", (unsigned long long)count);
    uint32_t *codes = sta_value_lists_add(lists->values, count, err);
    if (codes == NULL)
        return err->status;
    for (uint64_t i = 0; i < count; i++) {
        codes[i] = lists->before += (uint32_t)sta_get_signed(in);
        in->failed |= codes[i] >= lists->known;
    }
    return STA_OK;
}

static int get_value(struct sta_stored_lists *lists, struct sta_error *err)
{
    const uint64_t head = sta_get_varint(&lists->in);
    if (head % 2 != 0)
        return get_list(lists, head / 2, err);
    const char *bytes = (const char *)sta_get_bytes(&lists->in, head / 2);
    if (bytes == NULL || head / 2 >= UINT32_MAX)
        return sta_fail(err, STA_ECORRUPT, "a text among lists that is cut off");
    return sta_value_lists_add_text(lists->values, bytes, head / 2, err);
}

void sta_lists_get(struct sta_stored_lists *lists)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account *account = sta_tables_account(lists->tables);
    const struct sta_dictionary *members = sta_tables_values(lists->tables, lists->members);
    const size_t count = sta_get_count(&lists->in);
    int status = STA_OK;
    lists->known = sta_dictionary_count(members);
    lists->values = sta_value_lists_create(account, lists->members, members);
    for (size_t code = 0; code < count && status == STA_OK && !lists->in.failed; code++)
        status = get_value(lists, &err);
    if (status != STA_OK && status != STA_ECORRUPT)
        sta_account_fail(account, &err);
    lists->in.failed |= status != STA_OK || lists->in.at != lists->in.end;
    sta_tables_set_lists(lists->tables, lists->key, lists->values);
}
