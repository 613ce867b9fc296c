/* decoded.h - a text decoded in memory, for tests. */
#ifndef STA_TESTS_DECODED_H
#define STA_TESTS_DECODED_H

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "decode/decode.h"

/* Roots that hold all files. */
static inline struct sta_roots *whole_disk(void)
{
    static struct sta_roots *roots;
    struct sta_error err = STA_ERROR_INIT;
    if (roots == NULL && sta_roots_create((const char *const[]){"/"}, 1, &roots, &err) != STA_OK)
        abort();
    return roots;
}

struct decoded {
    struct sta_tables *tables;
    struct sta_source source;
    struct sta_batch batch;
};

static inline struct decoded decode_bytes(const char *text, size_t size)
{
    struct decoded decoded = {.tables = sta_tables_create(NULL)};
    decoded.source.path = sta_strdup("a.pfw");
    sta_decode_memory(text, size, STA_DECODE_BOTH, decoded.tables, &decoded.source, &decoded.batch);
    return decoded;
}

static inline struct decoded decode_text(const char *text)
{
    return decode_bytes(text, strlen(text));
}

static inline void decoded_fini(struct decoded *decoded)
{
    sta_batch_fini(&decoded->batch);
    sta_source_fini(&decoded->source);
    sta_tables_destroy(decoded->tables);
}

static inline const char *text_of(const struct sta_dictionary *dictionary, uint32_t code)
{
    return code == STA_NO_CODE ? "-" : sta_dictionary_text(dictionary, code).bytes;
}

/* The column of an args key, or NULL. */
static inline const struct sta_args_column *args_of(const struct decoded *decoded, const char *key)
{
    uint32_t code = sta_dictionary_find(sta_tables_keys(decoded->tables), key, strlen(key));
    for (uint32_t i = 0; i < decoded->batch.args_count; i++)
        if (decoded->batch.args[i].key == code && decoded->batch.args[i].count > 0)
            return &decoded->batch.args[i];
    return NULL;
}

#endif
