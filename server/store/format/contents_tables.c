/* contents_tables.c - the tables of a trace as bytes: every text in the order of its code, so that reading
 * them back gives the same codes.
 *
 * DESIGN: the content is a list of sections, each a dictionary or a set of definitions, that fill separate
 * tables.  So large ones are read on several threads: copying a few hundred thousand texts is all that
 * opening a trace takes.  Sources, which definitions name, are read before these; threads, which
 * name hosts, behind. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "common/parallel.h"
#include "store/format/contents.h"
#include "store/format/contents_private.h"
#include "store/format/pieces.h"

/* ---- writing */

static void put_texts(struct sta_buffer *out, const void *context, uint32_t first, uint32_t end)
{
    const struct sta_dictionary *dictionary = context;
    for (uint32_t code = first; code < end; code++) {
        struct sta_text text = sta_dictionary_text(dictionary, code);
        sta_put_block(out, text.bytes, text.length);
    }
}

static void put_dictionary(struct sta_content *out, const struct sta_dictionary *dictionary)
{
    const uint32_t texts = sta_dictionary_count(dictionary);
    sta_put_varint(&out->text, texts);
    sta_content_put_items(out, put_texts, dictionary, texts);
}

#define LISTS                                                                                                \
    (1U << STA_VALUE_KINDS) /* beside the kinds of values: some are lists of values of another key */

static void put_values(struct sta_content *out, const struct sta_tables *tables, uint32_t key)
{
    const uint32_t members = sta_tables_list_members(tables, key);
    const struct sta_dictionary *dictionary = sta_tables_values(tables, key);
    sta_put_varint(&out->text, sta_tables_kinds(tables, key) | (members != STA_NO_CODE ? LISTS : 0));
    if (members == STA_NO_CODE) {
        put_dictionary(out, dictionary);
        return;
    }
    sta_put_varint(&out->text, members);
    const size_t size = sta_content_begin_size(out);
    sta_lists_put(out, dictionary);
    sta_content_end_size(out, size);
}

static void put_keys(struct sta_content *out, const struct sta_tables *tables)
{
    const struct sta_dictionary *keys = sta_tables_keys(tables);
    uint32_t count = sta_dictionary_count(keys);
    sta_put_varint(&out->text, count);
    for (uint32_t key = 0; key < count; key++) {
        struct sta_text text = sta_dictionary_text(keys, key);
        sta_put_block(&out->text, text.bytes, text.length);
        put_values(out, tables, key);
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

static void put_definitions(struct sta_buffer *out, const struct sta_tables *tables,
                            enum sta_definition_kind kind)
{
    struct definition_writer writer = {0};
    sta_tables_each_definition(tables, kind, put_definition, &writer);
    sta_put_varint(out, writer.count);
    sta_put(out, writer.definitions.data, writer.definitions.size);
    out->failed |= writer.definitions.failed;
    sta_buffer_fini(&writer.definitions);
}

/* ---- reading */

#define LISTED_KEYS 8 /* that hold lists */
struct later;

/* What reading needs besides the bytes. */
struct reading {
    struct sta_tables *tables;
    bool (*dropped)(const void *context, const char *path); /* NULL: none */
    const void *context;
    struct later *later; /* written while the section of keys is read */
};

static void get_dictionary(struct sta_cursor *in, struct sta_dictionary *dictionary)
{
    size_t count = sta_get_count(in);
    for (size_t code = 0; code < count; code++) {
        size_t length;
        const char *text = sta_get_block(in, &length);
        if (text == NULL || length >= UINT32_MAX || sta_dictionary_append(dictionary, text, length) != code)
            in->failed = true;
        if (in->failed)
            return;
    }
}

struct later {
    struct sta_stored_lists lists[LISTED_KEYS];
    uint32_t count;
    _Atomic uint32_t next;
};

static bool holds_lists(const struct later *later, uint64_t key)
{
    uint32_t i = 0;
    while (i < later->count && later->lists[i].key != key)
        i++;
    return i < later->count;
}

/* Goes past the lists of a key, for later.  Their members are no lists. */
static void put_off_lists(struct sta_cursor *in, const struct reading *reading, uint32_t key)
{
    const uint64_t members = sta_get_varint(in), size = sta_get_u64(in);
    const unsigned char *bytes = sta_get_bytes(in, size);
    in->failed |=
        members >= key || holds_lists(reading->later, members) || reading->later->count == LISTED_KEYS;
    if (in->failed)
        return;
    reading->later->lists[reading->later->count++] =
        (struct sta_stored_lists){.tables = reading->tables,
                                  .key = key,
                                  .members = (uint32_t)members,
                                  .in = {.at = bytes, .end = bytes + size}};
}

static void get_some_lists(void *context, unsigned worker)
{
    struct later *later = context;
    (void)worker;
    for (uint32_t i; (i = atomic_fetch_add(&later->next, 1)) < later->count;)
        sta_lists_get(&later->lists[i]);
}

/* Return: false when they make no sense. */
static bool get_all_lists(struct later *later)
{
    bool good = true;
    sta_parallel_run(STA_MIN(sta_usable_cores(), STA_MAX(later->count, 1)), get_some_lists, later);
    for (uint32_t i = 0; i < later->count; i++)
        good &= !later->lists[i].in.failed;
    return good;
}

static void get_keys(struct sta_cursor *in, const struct reading *reading)
{
    struct sta_tables *tables = reading->tables;
    size_t count = sta_get_count(in);
    for (size_t key = 0; key < count; key++) {
        size_t length;
        const char *text = sta_get_block(in, &length);
        uint64_t kinds = sta_get_varint(in);
        if (in->failed || kinds >= 2 * LISTS || sta_tables_intern_key(tables, text, length) != key)
            in->failed = true;
        if (in->failed)
            return;
        if (reading->dropped == NULL) /* else the values that stay say it */
            sta_tables_note_kinds(tables, (uint32_t)key, (unsigned)kinds & ~LISTS);
        if (kinds & LISTS)
            put_off_lists(in, reading, (uint32_t)key);
        else
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

static void get_definitions(struct sta_cursor *in, const struct reading *reading,
                            enum sta_definition_kind kind)
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
        struct sta_definition definition = {
            .text = text, .length = (uint32_t)text_length, .path = path, .line = line};
        if (reading->dropped == NULL || !reading->dropped(reading->context, path))
            sta_tables_define(reading->tables, kind, key, key_length, &definition);
        free(path);
    }
}

/* ---- sections */

/* X(name, how to write it from `tables`, how to read it into reading->tables) */
#define SECTION_LIST(X)                                                                                      \
    X(names, put_dictionary(out, sta_tables_names(tables)),                                                  \
      get_dictionary(in, sta_tables_names(reading->tables)))                                                 \
    X(cats, put_dictionary(out, sta_tables_cats(tables)),                                                    \
      get_dictionary(in, sta_tables_cats(reading->tables)))                                                  \
    X(file_refs, put_dictionary(out, sta_tables_file_refs(tables)),                                          \
      get_dictionary(in, sta_tables_file_refs(reading->tables)))                                             \
    X(host_refs, put_dictionary(out, sta_tables_host_refs(tables)),                                          \
      get_dictionary(in, sta_tables_host_refs(reading->tables)))                                             \
    X(keys, put_keys(out, tables), get_keys(in, reading))                                                    \
    X(files, put_definitions(&out->text, tables, STA_DEFINES_FILE),                                          \
      get_definitions(in, reading, STA_DEFINES_FILE))                                                        \
    X(hosts, put_definitions(&out->text, tables, STA_DEFINES_HOST),                                          \
      get_definitions(in, reading, STA_DEFINES_HOST))                                                        \
    X(threads, put_threads(&out->text, tables), get_threads(in, reading->tables))                            \
    X(sources, put_dictionary(out, sta_tables_sources(tables)),                                              \
      get_dictionary(in, sta_tables_sources(reading->tables)))

#define X(name, put, get)                                                                                    \
    static void put_section_##name(struct sta_content *out, const struct sta_tables *tables)                 \
    {                                                                                                        \
        put;                                                                                                 \
    }                                                                                                        \
    static void get_section_##name(struct sta_cursor *in, const struct reading *reading)                     \
    {                                                                                                        \
        get;                                                                                                 \
    }
SECTION_LIST(X)
#undef X

/* In the order of the file. */
static const struct {
    void (*put)(struct sta_content *out, const struct sta_tables *tables);
    void (*get)(struct sta_cursor *in, const struct reading *reading);
} sections[] = {
#define X(name, put, get) {put_section_##name, get_section_##name},
    SECTION_LIST(X)
#undef X
};
enum { SECTIONS = STA_COUNT_OF(sections), SOURCES_SECTION = SECTIONS - 1, THREADS_SECTION = SECTIONS - 2 };

void sta_tables_put_content(struct sta_content *out, const struct sta_tables *tables)
{
    for (size_t s = 0; s < SECTIONS; s++) {
        const size_t size = sta_content_begin_size(out);
        sections[s].put(out, tables);
        sta_content_end_size(out, size);
    }
}

void sta_tables_put(struct sta_buffer *out, const struct sta_tables *tables)
{
    struct sta_content content = {0};
    sta_tables_put_content(&content, tables);
    sta_content_join(&content, out);
    sta_content_fini(&content);
}

#define WORTH_THREADS ((size_t)1 << 20) /* bytes of content */

struct parallel_reading {
    struct reading reading;
    struct sta_cursor cursors[SECTIONS];
    _Atomic unsigned next;
};

static void get_some(void *context, unsigned worker)
{
    struct parallel_reading *parallel = context;
    for (unsigned s; (s = atomic_fetch_add(&parallel->next, 1)) < THREADS_SECTION;)
        sections[s].get(&parallel->cursors[s], &parallel->reading);
}

/* Return: false when the sizes make no sense.  Sources are missing in files of before they were kept. */
static bool find_sections(const char *bytes, size_t size, struct sta_cursor cursors[SECTIONS])
{
    static const unsigned char none[] = {0};
    struct sta_cursor in = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    cursors[SOURCES_SECTION] = (struct sta_cursor){.at = none, .end = none + sizeof none};
    for (size_t s = 0; s < SECTIONS && !(s == SOURCES_SECTION && in.at == in.end); s++) {
        uint64_t length = sta_get_u64(&in);
        cursors[s].at = sta_get_bytes(&in, length);
        if (cursors[s].at == NULL)
            return false;
        cursors[s].end = cursors[s].at + length;
    }
    return in.at == in.end;
}

int sta_tables_get(const char *bytes, size_t size, bool (*dropped)(const void *context, const char *path),
                   const void *context, struct sta_account *account, struct sta_tables **tables,
                   struct sta_error *err)
{
    struct later later = {.count = 0};
    struct parallel_reading parallel = {.reading = {sta_tables_create(account), dropped, context, &later}};
    bool good = find_sections(bytes, size, parallel.cursors);
    if (good) {
        sections[SOURCES_SECTION].get(&parallel.cursors[SOURCES_SECTION], &parallel.reading);
        sta_parallel_run(size < WORTH_THREADS ? 1 : STA_MIN(sta_usable_cores(), (unsigned)SECTIONS), get_some,
                         &parallel);
        sections[THREADS_SECTION].get(&parallel.cursors[THREADS_SECTION], &parallel.reading);
    }
    for (size_t s = 0; good && s < SECTIONS; s++)
        good = !parallel.cursors[s].failed && parallel.cursors[s].at == parallel.cursors[s].end;
    good = good && get_all_lists(&later);
    int status = sta_tables_failure(parallel.reading.tables, err); /* codes are not as written then */
    if (status == STA_OK && !good)
        status = sta_fail(err, STA_ECORRUPT, "the tables' content makes no sense");
    if (status != STA_OK) {
        sta_tables_destroy(parallel.reading.tables);
        return status;
    }
    *tables = parallel.reading.tables;
    return STA_OK;
}
