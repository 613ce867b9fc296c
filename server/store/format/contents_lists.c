/* contents_lists.c - values of args keys that are lists of values of another key. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/event.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "common/value_lists.h"
#include "store/format/contents_private.h"

/* Lists of codes that follow each other are written together; several such pieces at the same time. */
#define LISTS_OF_PIECE ((uint32_t)1 << 16)

struct list_pieces {
    const struct sta_dictionary *dictionary;
    struct sta_buffer *bytes; /* by piece */
    uint32_t count, lists;
    _Atomic uint32_t next;
};

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
static void put_lists(struct sta_buffer *out, const struct sta_dictionary *dictionary, uint32_t first,
                      uint32_t end)
{
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

static void put_some_lists(void *context, unsigned worker)
{
    struct list_pieces *pieces = context;
    (void)worker;
    for (uint32_t piece; (piece = atomic_fetch_add(&pieces->next, 1)) < pieces->count;) {
        const uint32_t first = piece * LISTS_OF_PIECE;
        put_lists(&pieces->bytes[piece], pieces->dictionary, first,
                  STA_MIN(pieces->lists - first, LISTS_OF_PIECE) + first);
    }
}

void sta_lists_put(struct sta_buffer *out, const struct sta_dictionary *dictionary)
{
    const uint32_t lists = sta_dictionary_count(dictionary);
    struct list_pieces pieces = {.dictionary = dictionary,
                                 .lists = lists,
                                 .count = lists / LISTS_OF_PIECE + (lists % LISTS_OF_PIECE > 0)};
    pieces.bytes = sta_alloc_array(pieces.count, sizeof *pieces.bytes);
    sta_put_varint(out, lists);
    sta_parallel_run(STA_MIN(sta_usable_cores(), STA_MAX(pieces.count, 1)), put_some_lists, &pieces);
    for (uint32_t piece = 0; piece < pieces.count; piece++) {
        out->failed |= pieces.bytes[piece].failed;
        sta_put(out, pieces.bytes[piece].data, pieces.bytes[piece].size);
        sta_buffer_fini(&pieces.bytes[piece]);
    }
    free(pieces.bytes);
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
