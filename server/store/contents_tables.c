/* contents_tables.c - the tables of a trace as bytes: every text in the order of its code, so that reading them back gives the same
 * codes. */
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/contents.h"
#include "store/contents_private.h"

/* In the order of the file. */
static struct sta_dictionary *(*const dictionaries[])(const struct sta_tables *tables) = {
    sta_tables_names, sta_tables_cats, sta_tables_file_refs, sta_tables_host_refs};

/* ---- writing */

static void put_dictionary(struct sta_buffer *out, const struct sta_dictionary *dictionary)
{
    uint32_t count = sta_dictionary_count(dictionary);
    sta_put_varint(out, count);
    for (uint32_t code = 0; code < count; code++) {
        struct sta_text text = sta_dictionary_text(dictionary, code);
        sta_put_block(out, text.bytes, text.length);
    }
}

static void put_keys(struct sta_buffer *out, const struct sta_tables *tables)
{
    const struct sta_dictionary *keys = sta_tables_keys(tables);
    uint32_t count = sta_dictionary_count(keys);
    sta_put_varint(out, count);
    for (uint32_t key = 0; key < count; key++) {
        struct sta_text text = sta_dictionary_text(keys, key);
        sta_put_block(out, text.bytes, text.length);
        sta_put_varint(out, sta_tables_kinds(tables, key));
        put_dictionary(out, sta_tables_values(tables, key));
    }
}

static void put_threads(struct sta_buffer *out, const struct sta_tables *tables)
{
    uint32_t count = sta_tables_thread_count(tables);
    sta_put_varint(out, count);
    for (uint32_t code = 0; code < count; code++) {
        struct sta_thread thread = sta_tables_thread(tables, code);
        sta_put_signed(out, thread.pid);
        sta_put_signed(out, thread.tid);
        sta_put_u32(out, thread.host);
    }
}

struct definition_writer {
    struct sta_buffer definitions;
    uint64_t count;
};

static void put_definition(void *context, const char *key, size_t key_length,
                           const struct sta_definition *definition)
{
    struct definition_writer *writer = context;
    struct sta_buffer *out = &writer->definitions;
    sta_put_block(out, key, key_length);
    sta_put_char(out, definition->text != NULL);
    if (definition->text != NULL)
        sta_put_block(out, definition->text, definition->length);
    sta_put_block(out, definition->path, strlen(definition->path));
    sta_put_varint(out, definition->line);
    writer->count++;
}

void sta_tables_put(struct sta_buffer *out, const struct sta_tables *tables)
{
    for (size_t d = 0; d < STA_COUNT_OF(dictionaries); d++)
        put_dictionary(out, dictionaries[d](tables));
    put_keys(out, tables);
    put_threads(out, tables);
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        struct definition_writer writer = {0};
        sta_tables_each_definition(tables, kind, put_definition, &writer);
        sta_put_varint(out, writer.count);
        sta_put(out, writer.definitions.data, writer.definitions.size);
        out->failed |= writer.definitions.failed;
        sta_buffer_fini(&writer.definitions);
    }
}

/* ---- reading */

static void get_dictionary(struct sta_cursor *in, struct sta_dictionary *dictionary)
{
    size_t count = sta_get_count(in);
    for (size_t code = 0; code < count; code++) {
        size_t length;
        const char *text = sta_get_block(in, &length);
        if (text == NULL || length >= UINT32_MAX || sta_dictionary_intern(dictionary, text, length) != code)
            in->failed = true;
        if (in->failed)
            return;
    }
}

static void get_keys(struct sta_cursor *in, struct sta_tables *tables)
{
    size_t count = sta_get_count(in);
    for (size_t key = 0; key < count; key++) {
        size_t length;
        const char *text = sta_get_block(in, &length);
        uint64_t kinds = sta_get_varint(in);
        if (in->failed || kinds >= 1U << STA_VALUE_KINDS ||
            sta_tables_intern_key(tables, text, length) != key)
            in->failed = true;
        if (in->failed)
            return;
        sta_tables_note_kinds(tables, (uint32_t)key, (unsigned)kinds);
        get_dictionary(in, sta_tables_values(tables, (uint32_t)key));
    }
}

static void get_threads(struct sta_cursor *in, struct sta_tables *tables)
{
    size_t count = sta_get_count(in);
    uint32_t hosts = sta_dictionary_count(sta_tables_host_refs(tables));
    for (size_t code = 0; code < count; code++) {
        struct sta_thread thread = {.pid = sta_get_signed(in), .tid = sta_get_signed(in)};
        thread.host = sta_get_u32(in);
        if (in->failed || (thread.host != STA_NO_CODE && thread.host >= hosts) ||
            sta_tables_intern_thread(tables, thread) != code)
            in->failed = true;
        if (in->failed)
            return;
    }
}

/* Comes after every path: a definition whose source left gives way to any that a line still makes. */
#define PATH_OF_DROPPED "\xff"

static void get_definitions(struct sta_cursor *in, struct sta_tables *tables, enum sta_definition_kind kind,
                            bool (*dropped)(const void *context, const char *path), const void *context)
{
    size_t count = sta_get_count(in);
    for (size_t i = 0; i < count; i++) {
        size_t key_length, text_length = 0, path_length;
        const char *key = sta_get_block(in, &key_length);
        const unsigned char *has_text = sta_get_bytes(in, 1);
        const char *text = has_text && *has_text ? sta_get_block(in, &text_length) : NULL;
        const char *path_bytes = sta_get_block(in, &path_length);
        uint64_t line = sta_get_varint(in);
        in->failed |= text_length > UINT32_MAX;
        if (in->failed)
            return;
        char *path = sta_strndup(path_bytes, path_length);
        bool leaves = dropped != NULL && dropped(context, path);
        struct sta_definition definition = {.text = text,
                                            .length = (uint32_t)text_length,
                                            .path = leaves ? PATH_OF_DROPPED : path,
                                            .line = line};
        sta_tables_define(tables, kind, key, key_length, &definition);
        free(path);
    }
}

int sta_tables_get(const char *bytes, size_t size, bool (*dropped)(const void *context, const char *path),
                   const void *context, struct sta_tables **tables, struct sta_error *err)
{
    struct sta_cursor in = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    struct sta_tables *made = sta_tables_create();
    for (size_t d = 0; d < STA_COUNT_OF(dictionaries); d++)
        get_dictionary(&in, dictionaries[d](made));
    get_keys(&in, made);
    get_threads(&in, made);
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++)
        get_definitions(&in, made, kind, dropped, context);
    if (in.failed || in.at != in.end) {
        sta_tables_destroy(made);
        return sta_fail(err, STA_ECORRUPT, "the tables' content makes no sense");
    }
    *tables = made;
    return STA_OK;
}
