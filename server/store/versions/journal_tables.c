/* journal_tables.c - what has come into tables since some moment, as bytes. */
#include "common/memory.h"
#include "store/format/contents_private.h"
#include "store/versions/journal.h"

/* A text comes after those that have its code in them: so it is counted before them. */
static struct sta_dictionary *(*const dictionaries[])(const struct sta_tables *tables) = {
    sta_tables_file_refs, sta_tables_host_refs, sta_tables_sources,
    sta_tables_names,     sta_tables_cats,      sta_tables_keys};
enum { DICTIONARIES = STA_COUNT_OF(dictionaries), KEYS = DICTIONARIES - 1 };

void sta_tables_mark(const struct sta_tables *tables, struct sta_tables_marks *marks)
{
    marks->threads = sta_tables_thread_count(tables);
    for (size_t d = 0; d < DICTIONARIES; d++)
        marks->dictionaries[d] = sta_dictionary_count(dictionaries[d](tables));
    for (uint32_t key = 0; key < STA_ARGS_KEYS_LIMIT; key++)
        marks->values[key] =
            key < marks->dictionaries[KEYS] ? sta_dictionary_count(sta_tables_values(tables, key)) : 0;
}

static void put_texts(struct sta_buffer *out, const struct sta_dictionary *dictionary, uint32_t first,
                      uint32_t end)
{
    sta_put_varint(out, first);
    sta_put_varint(out, end - first);
    for (uint32_t code = first; code < end; code++) {
        const struct sta_text text = sta_dictionary_text(dictionary, code);
        sta_put_block(out, text.bytes, text.length);
    }
}

static void put_threads(struct sta_buffer *out, const struct sta_tables *tables, uint32_t first, uint32_t end)
{
    sta_put_varint(out, first);
    sta_put_varint(out, end - first);
    for (uint32_t code = first; code < end; code++) {
        const struct sta_thread thread = sta_tables_thread(tables, code);
        sta_put_signed(out, thread.pid);
        sta_put_signed(out, thread.tid);
        sta_put_u32(out, thread.host);
    }
}

void sta_tables_put_new(struct sta_buffer *out, const struct sta_tables *tables,
                        struct sta_tables_marks *marks)
{
    struct sta_tables_marks *now = sta_alloc(sizeof *now);
    sta_tables_mark(tables, now);
    for (size_t d = 0; d < DICTIONARIES; d++)
        put_texts(out, dictionaries[d](tables), marks->dictionaries[d], now->dictionaries[d]);
    for (uint32_t key = 0; key < now->dictionaries[KEYS]; key++) {
        if (now->values[key] == marks->values[key])
            continue;
        sta_put_varint(out, key + 1);
        put_texts(out, sta_tables_values(tables, key), marks->values[key], now->values[key]);
    }
    sta_put_varint(out, 0);
    put_threads(out, tables, marks->threads, now->threads);
    *marks = *now;
    free(now);
}

/* ---- reading */

/* Return: the code that the first must get; *end: past the last. */
static uint64_t get_range(struct sta_cursor *in, uint64_t *end)
{
    const uint64_t first = sta_get_varint(in), count = sta_get_varint(in);
    in->failed |= first >= STA_NO_CODE || count > (uint64_t)(in->end - in->at);
    *end = in->failed ? 0 : first + count;
    return in->failed ? 0 : first;
}

/* @dictionary: NULL: args keys. */
static void get_texts(struct sta_cursor *in, struct sta_tables *tables, struct sta_dictionary *dictionary)
{
    uint64_t end;
    for (uint64_t code = get_range(in, &end); code < end && !in->failed; code++) {
        size_t length;
        const char *text = sta_get_block(in, &length);
        if (text == NULL || length >= UINT32_MAX)
            in->failed = true;
        else if (dictionary != NULL)
            in->failed = sta_dictionary_intern(dictionary, text, length) != code;
        else
            in->failed = sta_tables_intern_key(tables, text, length) != code;
    }
}

static void get_threads(struct sta_cursor *in, struct sta_tables *tables)
{
    const uint32_t hosts = sta_dictionary_count(sta_tables_host_refs(tables));
    uint64_t end;
    for (uint64_t code = get_range(in, &end); code < end && !in->failed; code++) {
        struct sta_thread thread = {.pid = sta_get_signed(in), .tid = sta_get_signed(in)};
        thread.host = sta_get_u32(in);
        in->failed |= thread.host != STA_NO_CODE && thread.host >= hosts;
        if (!in->failed)
            in->failed = sta_tables_intern_thread(tables, thread) != code;
    }
}

int sta_tables_get_new(struct sta_cursor *in, struct sta_tables *tables, struct sta_error *err)
{
    for (size_t d = 0; d < DICTIONARIES; d++)
        get_texts(in, tables, d == KEYS ? NULL : dictionaries[d](tables));
    for (uint64_t key; !in->failed && (key = sta_get_varint(in)) > 0;) {
        in->failed |= key > sta_dictionary_count(sta_tables_keys(tables));
        if (!in->failed)
            get_texts(in, tables, sta_tables_values(tables, (uint32_t)key - 1));
    }
    get_threads(in, tables);
    const int status = sta_tables_failure(tables, err); /* codes are others then */
    if (status != STA_OK || !in->failed)
        return status;
    return sta_fail(err, STA_ECORRUPT, "the journal has other codes than the tables");
}
