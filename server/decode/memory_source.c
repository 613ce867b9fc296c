/* Bytes that are in memory already: for tests, fuzzing, and a first look at a file. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "decode/source.h"

struct memory_source {
    struct sta_byte_source base;
    const char *bytes;
    size_t left;
};

static enum sta_bytes_state memory_read(struct sta_byte_source *base, char *out, size_t capacity, size_t *got)
{
    struct memory_source *source = (struct memory_source *)base;
    *got = STA_MIN(capacity, source->left);
    if (*got > 0)
        memcpy(out, source->bytes, *got);
    source->bytes += *got;
    source->left -= *got;
    base->consumed += *got;
    return source->left == 0 ? STA_BYTES_END : STA_BYTES_OK;
}

static void memory_close(struct sta_byte_source *base)
{
    free(base);
}

struct sta_byte_source *sta_memory_source_create(const char *bytes, size_t size)
{
    struct memory_source *source = sta_alloc(sizeof *source);
    source->base.read = memory_read;
    source->base.close = memory_close;
    source->bytes = bytes;
    source->left = size;
    return &source->base;
}
