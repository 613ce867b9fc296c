/* Lists of tasks.
 *
 * DESIGN.  Members wait until there are some tens of them: they lie anywhere in a large dictionary, and so
 * its memory is waited for once in place of each time.  Then the lists themselves are interned likewise, and
 * the rows get their codes.  Most lists have one member, and are found by its code. */
#include "decode/dasf/lists.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "decode/dasf/payload.h"
#include "decode/json_text.h"

#define TOGETHER 64 /* texts that are interned at once; lists that wait for their members */

/* Texts of one dictionary on their way to codes. */
struct waiting {
    struct sta_dictionary_cache cache;
    uint32_t count;
    struct sta_text texts[TOGETHER];
    uint64_t hashes[TOGETHER];
    void *codes[TOGETHER]; /* where each code goes; not aligned */
};

/* Lists of one member on their way to codes. */
struct waiting_singles {
    uint32_t count;
    uint32_t members[TOGETHER];
    uint32_t *codes[TOGETHER]; /* where each code goes */
};

/* A key that holds lists. */
struct list_key {
    uint32_t key; /* STA_NO_CODE: it holds none */
    struct waiting waiting;
    struct waiting_singles singles;
};

struct list {
    uint32_t members;
    uint32_t column, at;  /* of its value in the batch */
    struct list_key *key; /* NULL: no row has it */
};

static const char *const list_keys[] = {"dependencies", "dependents"};
#define LIST_KEYS STA_COUNT_OF(list_keys)

struct sta_task_lists {
    struct waiting tasks;
    struct list_key keys[LIST_KEYS];
    struct sta_buffer texts;           /* of all members that wait, struct sta_text */
    struct sta_buffer entries;         /* of all lists, as they go to the dictionary */
    struct sta_buffer lists;           /* struct list */
    size_t placed;                     /* bytes of these whose rows are known, or that have none */
    struct sta_buffer codes, rendered; /* of a text that may be a list */
};

struct sta_task_lists *sta_task_lists_create(struct sta_tables *tables)
{
    struct sta_task_lists *lists = sta_alloc(sizeof *lists);
    const uint32_t tasks = sta_tables_intern_key(tables, "key", 3);
    if (tasks != STA_NO_CODE)
        sta_dictionary_cache_init(&lists->tasks.cache, sta_tables_values(tables, tasks));
    for (size_t i = 0; i < LIST_KEYS; i++) {
        const uint32_t key = sta_tables_intern_key(tables, list_keys[i], strlen(list_keys[i]));
        const bool holds = sta_tables_hold_lists(tables, key, tasks);
        lists->keys[i].key = holds ? key : STA_NO_CODE;
        if (holds)
            sta_dictionary_cache_init(&lists->keys[i].waiting.cache, sta_tables_values(tables, key));
    }
    return lists;
}

void sta_task_lists_destroy(struct sta_task_lists *lists)
{
    sta_buffer_fini(&lists->texts);
    sta_buffer_fini(&lists->entries);
    sta_buffer_fini(&lists->lists);
    sta_buffer_fini(&lists->codes);
    sta_buffer_fini(&lists->rendered);
    free(lists);
}

/* NULL: the key holds no lists. */
static struct list_key *list_key_of(struct sta_task_lists *lists, uint32_t key)
{
    for (size_t i = 0; i < LIST_KEYS; i++)
        if (lists->keys[i].key == key && key != STA_NO_CODE)
            return &lists->keys[i];
    return NULL;
}

/* ---- interning */

static void intern_waiting(struct waiting *waiting)
{
    uint32_t codes[TOGETHER];
    sta_dictionary_cache_intern_many(&waiting->cache, waiting->texts, waiting->hashes, waiting->count, codes);
    for (uint32_t i = 0; i < waiting->count; i++)
        memcpy(waiting->codes[i], &codes[i], sizeof codes[i]);
    waiting->count = 0;
}

static inline void intern_soon(struct waiting *waiting, struct sta_text text, void *code)
{
    uint64_t hash;
    const uint32_t known = sta_dictionary_cache_find(&waiting->cache, text.bytes, text.length, &hash);
    if (known != STA_NO_CODE) {
        memcpy(code, &known, sizeof known);
        return;
    }
    waiting->texts[waiting->count] = text;
    waiting->hashes[waiting->count] = hash;
    waiting->codes[waiting->count++] = code;
    if (waiting->count == TOGETHER)
        intern_waiting(waiting);
}

static void intern_waiting_singles(struct list_key *key)
{
    struct waiting_singles *singles = &key->singles;
    uint32_t codes[TOGETHER];
    if (singles->count > 0)
        sta_dictionary_intern_singles(key->waiting.cache.dictionary, singles->members, singles->count, codes);
    for (uint32_t i = 0; i < singles->count; i++)
        *singles->codes[i] = codes[i];
    singles->count = 0;
}

static void intern_single_soon(struct list_key *key, uint32_t member, uint32_t *code)
{
    struct waiting_singles *singles = &key->singles;
    *code = sta_dictionary_find_single(key->waiting.cache.dictionary, member);
    if (*code != STA_NO_CODE)
        return;
    singles->members[singles->count] = member;
    singles->codes[singles->count++] = code;
    if (singles->count == TOGETHER)
        intern_waiting_singles(key);
}

static size_t entry_size(const struct list *list)
{
    return 1 + list->members * sizeof(uint32_t);
}

static void intern_members(struct sta_task_lists *lists, size_t count)
{
    const struct list *list = (const struct list *)(const void *)lists->lists.data;
    const struct sta_text *text = (const struct sta_text *)(const void *)lists->texts.data;
    char *code = lists->entries.data;
    for (size_t i = 0; i < count; i++, list++) {
        code++; /* the mark */
        for (uint32_t member = 0; member < list->members; member++, code += sizeof(uint32_t))
            intern_soon(&lists->tasks, *text++, code);
    }
    intern_waiting(&lists->tasks);
}

static void intern_lists(const struct sta_task_lists *lists, const struct sta_batch *batch, size_t count)
{
    const struct list *list = (const struct list *)(const void *)lists->lists.data;
    const char *entry = lists->entries.data;
    for (size_t i = 0; i < count; entry += entry_size(&list[i]), i++) {
        if (list[i].key == NULL)
            continue;
        uint32_t *code = &batch->args[list[i].column].values[list[i].at].code, member;
        if (list[i].members != 1) {
            intern_soon(&list[i].key->waiting, (struct sta_text){entry, (uint32_t)entry_size(&list[i])},
                        code);
            continue;
        }
        memcpy(&member, entry + 1, sizeof member);
        intern_single_soon(list[i].key, member, code);
    }
}

void sta_task_lists_flush(struct sta_task_lists *lists, const struct sta_batch *batch, bool all)
{
    const size_t count = lists->lists.size / sizeof(struct list);
    if (count < TOGETHER && !all)
        return;
    intern_members(lists, count);
    intern_lists(lists, batch, count);
    for (size_t i = 0; i < LIST_KEYS; i++) {
        intern_waiting(&lists->keys[i].waiting);
        intern_waiting_singles(&lists->keys[i]);
    }
    sta_payload_clear_buffer(&lists->texts);
    sta_payload_clear_buffer(&lists->entries);
    sta_payload_clear_buffer(&lists->lists);
    lists->placed = 0;
}

/* ---- taking */

/* Appends the members of an array.  Return: false when one is no text. */
static bool put_members(struct sta_buffer *texts, const struct sta_message_value *array)
{
    struct sta_record_message in = {.at = array->bytes, .end = array->end};
    struct sta_message_value item;
    struct sta_text *text = (struct sta_text *)(void *)sta_buffer_reserve(texts, array->count * sizeof *text);
    for (uint32_t i = 0; i < array->count; i++, text++) {
        if (text == NULL || !sta_message_next(&in, &item) || item.type != STA_MESSAGE_TEXT ||
            sta_utf8_valid_prefix(item.bytes, item.count) != item.count)
            return false;
        *text = (struct sta_text){item.bytes, item.count};
    }
    return true;
}

bool sta_task_lists_take(struct sta_task_lists *lists, uint32_t key, const struct sta_message_value *array,
                         struct sta_json_value *value)
{
    const struct list list = {.members = array->count};
    if (array->type != STA_MESSAGE_ARRAY || list_key_of(lists, key) == NULL)
        return false;
    char *entry = sta_buffer_reserve(&lists->entries, entry_size(&list));
    char *place = sta_buffer_reserve(&lists->lists, sizeof list);
    if (entry == NULL || place == NULL || !put_members(&lists->texts, array))
        return false;
    entry[0] = STA_LIST_MARK;
    memcpy(place, &list, sizeof list);
    *value = (struct sta_json_value){.kind = STA_JSON_LATER,
                                     .integer = (int64_t)(lists->lists.size / sizeof list)};
    lists->texts.size += array->count * sizeof(struct sta_text);
    lists->entries.size += entry_size(&list);
    lists->lists.size += sizeof list;
    return true;
}

/* Lists of a record that is dropped, or whose key came again, are interned in vain. */
void sta_task_lists_place(struct sta_task_lists *lists, const struct sta_record *record,
                          struct sta_rows *rows, struct sta_batch *batch)
{
    if (lists->lists.size == lists->placed)
        return;
    lists->placed = lists->lists.size;
    for (size_t i = 0; i < record->arg_count; i++) {
        const struct sta_record_arg *arg = &record->args[i];
        if (arg->value.kind != STA_JSON_LATER)
            continue;
        struct list *list = (struct list *)(void *)lists->lists.data + arg->value.integer;
        list->key = list_key_of(lists, arg->key);
        list->column = sta_rows_column(rows, batch, arg->key);
        list->at = batch->args[list->column].count - 1;
    }
}

/* ---- texts that read like lists */

/* The codes of the texts in a list; what is no list is not noticed. */
static void read_codes(struct sta_task_lists *lists, struct sta_json_text *in)
{
    const char *text;
    uint32_t length;
    sta_payload_clear_buffer(&lists->codes);
    sta_put_char(&lists->codes, STA_LIST_MARK);
    while (in->at < in->end && *in->at == '"' && sta_json_string(in, &text, &length)) {
        const uint32_t code = sta_dictionary_cache_intern(&lists->tasks.cache, text, length);
        sta_put(&lists->codes, &code, sizeof code);
        in->at += in->at < in->end && *in->at == ',';
    }
}

static uint32_t intern_now(struct list_key *key, struct sta_text list)
{
    struct sta_dictionary *dictionary = key->waiting.cache.dictionary;
    uint32_t member, code;
    if (list.length != 1 + sizeof member)
        return sta_dictionary_cache_intern(&key->waiting.cache, list.bytes, list.length);
    memcpy(&member, list.bytes + 1, sizeof member);
    sta_dictionary_intern_singles(dictionary, &member, 1, &code);
    return code;
}

bool sta_task_lists_from_text(struct sta_task_lists *lists, uint32_t key, const struct sta_json_value *value,
                              uint32_t *code)
{
    struct sta_arena unescaped = {0};
    struct list_key *of_key = list_key_of(lists, key);
    if (value->length < 2 || value->text[0] != '[' || of_key == NULL)
        return false;
    struct sta_json_text in = {
        .at = value->text + 1, .end = value->text + value->length, .arena = &unescaped};
    read_codes(lists, &in);
    sta_arena_fini(&unescaped);
    sta_payload_clear_buffer(&lists->rendered);
    const struct sta_text list = {lists->codes.data, (uint32_t)lists->codes.size};
    const bool same = !lists->codes.failed &&
                      sta_list_put(&lists->rendered, lists->tasks.cache.dictionary, list) &&
                      lists->rendered.size == value->length &&
                      memcmp(lists->rendered.data, value->text, value->length) == 0;
    if (same)
        *code = intern_now(of_key, list);
    return same;
}
