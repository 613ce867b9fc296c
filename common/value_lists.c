/* Values of a key that are lists of values of another key, and their texts.
 *
 * Codes of all lists lie behind each other.  A value that is a text is one code too, of a dictionary of such.
 */
#include "common/value_lists.h"

#include <string.h>

#include "common/account.h"
#include "common/buffer.h"
#include "common/memory.h"

struct sta_value_lists {
    struct sta_account *account;
    const struct sta_dictionary *members;
    struct sta_dictionary *texts;
    uint32_t key;   /* that members are values of */
    uint64_t *ends; /* by value: where its codes end, times two, and 1 when it is a list */
    uint32_t *codes;
    size_t count, ends_capacity, size, codes_capacity;
};

static const char WHAT[] = "lists of texts";

struct sta_value_lists *sta_value_lists_create(struct sta_account *account, uint32_t key,
                                               const struct sta_dictionary *members)
{
    struct sta_value_lists *lists = sta_alloc(sizeof *lists);
    *lists = (struct sta_value_lists){
        .account = account, .members = members, .texts = sta_dictionary_create_in(account), .key = key};
    return lists;
}

void sta_value_lists_destroy(struct sta_value_lists *lists)
{
    if (lists == NULL)
        return;
    sta_dictionary_destroy(lists->texts);
    sta_account_free(lists->account, lists->ends);
    sta_account_free(lists->account, lists->codes);
    free(lists);
}

uint32_t sta_value_lists_key(const struct sta_value_lists *lists)
{
    return lists->key;
}

uint32_t sta_value_lists_count(const struct sta_value_lists *lists)
{
    return (uint32_t)lists->count;
}

/* Space for the codes of the next value. */
static uint32_t *add(struct sta_value_lists *lists, size_t count, bool list, struct sta_error *err)
{
    if (STA_ACCOUNT_GROW(lists->account, lists->ends, lists->ends_capacity, lists->count + 1, WHAT, err) !=
            STA_OK ||
        STA_ACCOUNT_GROW(lists->account, lists->codes, lists->codes_capacity, lists->size + count + 1, WHAT,
                         err) != STA_OK)
        return NULL;
    uint32_t *codes = lists->codes + lists->size;
    lists->size += count;
    lists->ends[lists->count++] = (uint64_t)lists->size << 1 | list;
    return codes;
}

uint32_t *sta_value_lists_add(struct sta_value_lists *lists, size_t count, struct sta_error *err)
{
    return add(lists, count, true, err);
}

int sta_value_lists_add_text(struct sta_value_lists *lists, const char *bytes, size_t length,
                             struct sta_error *err)
{
    uint32_t *code = add(lists, 1, false, err);
    if (code == NULL)
        return err->status;
    *code = sta_dictionary_append(lists->texts, bytes, length);
    return STA_OK;
}

static const uint32_t *codes_of(const struct sta_value_lists *lists, uint32_t code, size_t *count)
{
    STA_ASSERT(code < lists->count);
    const uint64_t from = code > 0 ? lists->ends[code - 1] >> 1 : 0;
    *count = (lists->ends[code] >> 1) - from;
    return lists->codes + from;
}

const uint32_t *sta_value_lists_codes(const struct sta_value_lists *lists, uint32_t code, size_t *count)
{
    return code < lists->count && lists->ends[code] % 2 != 0 ? codes_of(lists, code, count) : NULL;
}

static void put_member(struct sta_buffer *out, const struct sta_dictionary *members, uint32_t code,
                       bool first)
{
    const struct sta_text text = sta_dictionary_text(members, code);
    sta_put_char(out, first ? '[' : ',');
    sta_put_json_string(out, text.bytes, text.length);
}

void sta_value_lists_put(const void *context, uint32_t code, struct sta_buffer *out)
{
    const struct sta_value_lists *lists = context;
    size_t count;
    const uint32_t *codes = codes_of(lists, code, &count);
    if (lists->ends[code] % 2 == 0) {
        const struct sta_text text = sta_dictionary_text(lists->texts, *codes);
        sta_put(out, text.bytes, text.length);
        return;
    }
    for (size_t i = 0; i < count; i++)
        put_member(out, lists->members, codes[i], i == 0);
    sta_put_text(out, count > 0 ? "]" : "[]");
}

bool sta_list_put(struct sta_buffer *out, const struct sta_dictionary *members, struct sta_text list)
{
    const size_t codes = list.length / sizeof(uint32_t);
    const uint32_t known = sta_dictionary_count(members);
    if (list.length != 1 + codes * sizeof(uint32_t) || !sta_text_is_list(list))
        return false;
    for (size_t i = 0; i < codes; i++) {
        uint32_t code;
        memcpy(&code, list.bytes + 1 + i * sizeof code, sizeof code);
        if (code >= known)
            return false;
        put_member(out, members, code, i == 0);
    }
    sta_put_text(out, codes > 0 ? "]" : "[]");
    return true;
}
