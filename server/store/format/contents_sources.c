/* contents_sources.c - the sources of a trace, with their ledgers and notes, as bytes. */
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/format/contents.h"
#include "store/format/contents_private.h"

void sta_stored_sources_free(struct sta_stored_source **sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sta_source_fini(&sources[i]->source);
        free(sources[i]);
    }
    free(sources);
}

static void put_notes(struct sta_buffer *out, const struct sta_line_notes *notes)
{
    sta_put_varint(out, notes->count);
    for (size_t i = 0; i < notes->count; i++) {
        sta_put_varint(out, notes->items[i].line);
        sta_put_varint(out, notes->items[i].offset);
        sta_put_optional(out, notes->items[i].reason);
        sta_put_optional(out, notes->items[i].text);
    }
}

static void put_source(struct sta_buffer *out, const struct sta_stored_source *stored)
{
    const struct sta_source *source = &stored->source;
    sta_put_u32(out, stored->id);
    sta_put_optional(out, source->path);
    sta_put_varint(out, source->state);
    sta_put_optional(out, source->reason);
    sta_put_varint(out, source->size);
    sta_put_signed(out, source->mtime_ns);
    sta_put_u64(out, source->fingerprint);
    sta_put_varint(out, source->resumable);
    sta_put_u64(out, source->resume_fingerprint);
#define X(name) sta_put_varint(out, source->counts.name);
    STA_LEDGER_LIST(X)
#undef X
    put_notes(out, &source->malformed);
    put_notes(out, &source->repaired);
}

void sta_sources_put(struct sta_buffer *out, struct sta_stored_source *const *sources, size_t count)
{
    sta_put_varint(out, count);
    for (size_t i = 0; i < count; i++)
        put_source(out, sources[i]);
}

static void get_notes(struct sta_cursor *in, struct sta_line_notes *notes)
{
    size_t count = sta_get_count(in);
    if (count > STA_LINE_NOTES)
        in->failed = true;
    for (size_t i = 0; i < count && !in->failed; i++) {
        uint64_t line = sta_get_varint(in), offset = sta_get_varint(in);
        char *reason = sta_get_optional(in), *text = sta_get_optional(in);
        if (reason == NULL || text == NULL)
            in->failed = true;
        else
            sta_line_notes_add(notes, line, offset, reason, text, strlen(text));
        free(reason);
        free(text);
    }
}

static struct sta_stored_source *get_source(struct sta_cursor *in)
{
    struct sta_stored_source *stored = sta_alloc(sizeof *stored);
    struct sta_source *source = &stored->source;
    stored->id = sta_get_u32(in);
    source->path = sta_get_optional(in);
    uint64_t state = sta_get_varint(in);
    source->state = (enum sta_source_state)state;
    source->reason = sta_get_optional(in);
    source->size = sta_get_varint(in);
    source->mtime_ns = sta_get_signed(in);
    source->fingerprint = sta_get_u64(in);
    source->resumable = sta_get_varint(in);
    source->resume_fingerprint = sta_get_u64(in);
#define X(name) source->counts.name = sta_get_varint(in);
    STA_LEDGER_LIST(X)
#undef X
    get_notes(in, &source->malformed);
    get_notes(in, &source->repaired);
    if (source->path == NULL || state >= STA_SOURCE_STATE_COUNT)
        in->failed = true;
    return stored;
}

int sta_sources_get(const char *bytes, size_t size, struct sta_stored_source ***sources, size_t *count,
                    struct sta_error *err)
{
    struct sta_cursor in = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    size_t expected = sta_get_count(&in), got = 0;
    struct sta_stored_source **made = sta_alloc_array(expected, sizeof *made);
    while (got < expected && !in.failed)
        made[got++] = get_source(&in);
    if (in.failed || in.at != in.end) {
        sta_stored_sources_free(made, got);
        return sta_fail(err, STA_ECORRUPT, "the sources' content makes no sense");
    }
    *sources = made;
    *count = got;
    return STA_OK;
}
