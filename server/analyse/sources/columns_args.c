/* args.<key>: one type over the whole trace, and values of it whatever kind each event has.
 *
 * The store keeps each value with its kind; the table of kinds says which a key has had, and from these
 * follows the type of the column.  The keys from which decode made file and host references (fhash, fname,
 * ..) are not stored as args at all: their values are read back from the references. */
#include <stdlib.h>
#include <string.h>

#include "analyse/sources/columns_private.h"
#include "common/memory.h"
#include "common/number.h"

#define KIND(name) (1u << STA_VALUE_##name)

/* The keys that references are made from. */
static const struct {
    const char *key;
    char kind;
    bool of_host;
} reference_keys[] = {{"fhash", STA_REFERENCE_HASH, false},
                      {"fname", STA_REFERENCE_NAME, false},
                      {"filename", STA_REFERENCE_FILENAME, false},
                      {"hhash", STA_REFERENCE_HASH, true},
                      {"hostname", STA_REFERENCE_NAME, true}};

static enum sta_type type_of_kinds(unsigned kinds)
{
    if (kinds == KIND(INT))
        return STA_TYPE_INT;
    if (kinds == KIND(BOOL))
        return STA_TYPE_BOOL;
    return (kinds & ~(KIND(INT) | KIND(FLOAT))) == 0 ? STA_TYPE_FLOAT : STA_TYPE_TEXT;
}

/* ---- finding the columns */

/* @kind, @of_host: of the references that may have values of this key. */
static void add_args(struct sta_columns *columns, const char *key, size_t length, uint32_t code, char kind,
                     bool of_host)
{
    const struct sta_entities *entities = columns->entities;
    const unsigned stored = code != STA_NO_CODE ? sta_tables_kinds(columns->tables, code) : 0;
    const unsigned referred = (of_host ? entities->host_kinds : entities->file_kinds)[(unsigned char)kind];
    if ((stored | referred) == 0)
        return;
    size_t at = columns->args_count++;
    columns->args_names[at] = sta_sprintf("args.%.*s", (int)length, key);
    struct sta_args_source *source = &columns->args[at];
    *source = (struct sta_args_source){.key = stored != 0 ? code : STA_NO_CODE,
                                       .of_host = of_host,
                                       .type = type_of_kinds(stored | referred)};
    source->kind = referred != 0 ? kind : 0;
    if (source->type != STA_TYPE_TEXT)
        return;
    if (stored != KIND(TEXT) || source->kind != 0)
        source->own = sta_dictionary_create_in(&columns->account);
    source->texts = source->own != NULL ? source->own : sta_tables_values(columns->tables, code);
}

/* The place among reference_keys of a key, or their number. */
static size_t find_reference_key(struct sta_text key)
{
    size_t i = 0;
    while (i < STA_COUNT_OF(reference_keys) && (strlen(reference_keys[i].key) != key.length ||
                                                memcmp(reference_keys[i].key, key.bytes, key.length) != 0))
        i++;
    return i;
}

struct named_key {
    struct sta_text text;
    uint32_t code;
};

static int by_text(const void *a, const void *b)
{
    return sta_text_order(((const struct named_key *)a)->text, ((const struct named_key *)b)->text);
}

/* All keys, those of references too, each once, by text.  NULL: no memory. */
static struct named_key *sorted_keys(const struct sta_columns *columns, size_t *count)
{
    const struct sta_dictionary *dictionary = sta_tables_keys(columns->tables);
    struct named_key *keys =
        sta_try_alloc_array(columns->key_count + STA_COUNT_OF(reference_keys), sizeof *keys);
    *count = 0;
    if (keys == NULL)
        return NULL;
    for (uint32_t code = 0; code < columns->key_count; code++)
        keys[(*count)++] = (struct named_key){sta_dictionary_text(dictionary, code), code};
    for (size_t i = 0; i < STA_COUNT_OF(reference_keys); i++) {
        const char *key = reference_keys[i].key;
        if (sta_dictionary_find(dictionary, key, strlen(key)) == STA_NO_CODE)
            keys[(*count)++] = (struct named_key){{key, (uint32_t)strlen(key)}, STA_NO_CODE};
    }
    qsort(keys, *count, sizeof *keys, by_text);
    return keys;
}

bool sta_columns_find_args(struct sta_columns *columns)
{
    size_t count;
    struct named_key *keys = sorted_keys(columns, &count);
    columns->args = sta_try_alloc_array(count + 1, sizeof *columns->args);
    columns->args_names = sta_try_alloc_array(count + 1, sizeof *columns->args_names);
    const bool made = keys != NULL && columns->args != NULL && columns->args_names != NULL;
    for (size_t i = 0; made && i < count; i++) {
        size_t r = find_reference_key(keys[i].text);
        bool reference = r < STA_COUNT_OF(reference_keys);
        add_args(columns, keys[i].text.bytes, keys[i].text.length, keys[i].code,
                 reference ? reference_keys[r].kind : 0, reference && reference_keys[r].of_host);
    }
    free(keys);
    return made;
}

/* ---- values of references */

/* The texts of the key under their codes, so that stored codes need no translation. */
static int copy_texts(const struct sta_columns *columns, struct sta_args_source *source,
                      struct sta_error *err)
{
    const struct sta_dictionary *texts = sta_tables_values(columns->tables, source->key);
    const uint32_t count = sta_dictionary_count(texts);
    const int status = sta_dictionary_make(texts, err);
    for (uint32_t code = 0; status == STA_OK && code < count; code++) {
        struct sta_text text = sta_dictionary_text(texts, code);
        uint32_t copy = sta_dictionary_intern(source->own, text.bytes, text.length);
        STA_ASSERT(copy == code);
    }
    return status;
}

static void note_reference(struct sta_args_source *source, uint32_t code, const char *text, size_t length)
{
    struct sta_reference_values *values = &source->references;
    if (source->type == STA_TYPE_TEXT)
        values->codes[code] = sta_dictionary_intern(source->own, text, length);
    else
        values->present[code] = sta_parse_int(text, length, &values->integers[code]);
}

static void free_references(struct sta_reference_values *values)
{
    free(values->integers);
    free(values->codes);
    free(values->present);
    *values = (struct sta_reference_values){0};
}

static int fill_references(const struct sta_columns *columns, struct sta_args_source *source,
                           struct sta_error *err)
{
    const struct sta_dictionary *refs =
        source->of_host ? sta_tables_host_refs(columns->tables) : sta_tables_file_refs(columns->tables);
    uint32_t count = source->of_host ? columns->entities->host_ref_count : columns->entities->file_ref_count;
    struct sta_reference_values *values = &source->references;
    if (source->type == STA_TYPE_TEXT) {
        values->codes = sta_try_alloc_array(count, sizeof *values->codes);
    } else {
        values->integers = sta_try_alloc_array(count, sizeof *values->integers);
        values->present = sta_try_alloc_array(count, sizeof *values->present);
    }
    bool have = source->type == STA_TYPE_TEXT ? values->codes != NULL
                                              : values->integers != NULL && values->present != NULL;
    if (!have) {
        free_references(values);
        return sta_fail(err, STA_ENOMEM, "no memory for the values of %u references", count);
    }
    for (uint32_t code = 0; code < count; code++) {
        struct sta_reference_parts parts = sta_reference_split(sta_dictionary_text(refs, code));
        if (parts.kind == source->kind)
            note_reference(source, code, parts.text.bytes, parts.text.length);
        else if (values->codes != NULL)
            values->codes[code] = STA_NO_CODE;
        else
            values->present[code] = 0;
    }
    return STA_OK;
}

int sta_args_source_prepare(struct sta_columns *columns, struct sta_args_source *source,
                            struct sta_error *err)
{
    if (atomic_load_explicit(&source->ready, memory_order_acquire))
        return STA_OK;
    int status = STA_OK;
    pthread_mutex_lock(&columns->lock);
    if (!atomic_load(&source->ready)) {
        if (source->own != NULL && source->key != STA_NO_CODE)
            status = copy_texts(columns, source, err);
        if (status == STA_OK && source->kind != 0)
            status = fill_references(columns, source, err);
        atomic_store_explicit(&source->ready, status == STA_OK, memory_order_release);
    }
    pthread_mutex_unlock(&columns->lock);
    return status;
}

void sta_args_source_fini(struct sta_args_source *source)
{
    sta_dictionary_destroy(source->own);
    free_references(&source->references);
}
