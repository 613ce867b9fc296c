/* contents.c - manifest and catalogue entry; the pieces that all contents use. */
#include "store/format/contents.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/format/contents_private.h"

/* ---- pieces */

void sta_put_optional(struct sta_buffer *out, const char *text)
{
    sta_put_char(out, text != NULL);
    if (text != NULL)
        sta_put_block(out, text, strlen(text));
}

char *sta_get_optional(struct sta_cursor *in)
{
    const unsigned char *there = sta_get_bytes(in, 1);
    if (there == NULL || *there == 0)
        return NULL;
    size_t length;
    const char *text = sta_get_block(in, &length);
    return text != NULL ? sta_strndup(text, length) : NULL;
}

size_t sta_get_count(struct sta_cursor *in)
{
    uint64_t count = sta_get_varint(in);
    if (count > (size_t)(in->end - in->at))
        in->failed = true;
    return in->failed ? 0 : count;
}

/* ---- manifest */

void sta_manifest_fini(struct sta_manifest *manifest)
{
    free(manifest->segments);
    free(manifest->counters);
    *manifest = (struct sta_manifest){0};
}

void sta_manifest_put(struct sta_buffer *out, const struct sta_manifest *manifest)
{
    sta_put_u64(out, manifest->version);
    sta_put_u64(out, (uint64_t)manifest->published_us);
    sta_put_u32(out, manifest->tables_file);
    sta_put_u32(out, manifest->sources_file);
    sta_put_u32(out, manifest->next_source);
    sta_put_varint(out, manifest->segment_count);
    for (size_t i = 0; i < manifest->segment_count; i++) {
        sta_put_u32(out, manifest->segments[i].file);
        sta_put_u64(out, manifest->segments[i].size);
        sta_put_u64(out, manifest->segments[i].rows);
        sta_put_u64(out, manifest->segments[i].checksum);
    }
    sta_put_varint(out, manifest->counters_count);
    for (size_t i = 0; i < manifest->counters_count; i++)
        sta_put_u32(out, manifest->counters[i]);
}

int sta_manifest_get(const char *bytes, size_t size, struct sta_manifest *manifest, struct sta_error *err)
{
    struct sta_cursor in = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    *manifest = (struct sta_manifest){0};
    manifest->version = sta_get_u64(&in);
    manifest->published_us = (int64_t)sta_get_u64(&in);
    manifest->tables_file = sta_get_u32(&in);
    manifest->sources_file = sta_get_u32(&in);
    manifest->next_source = sta_get_u32(&in);
    manifest->segment_count = sta_get_count(&in);
    manifest->segments = sta_alloc_array(manifest->segment_count, sizeof *manifest->segments);
    for (size_t i = 0; i < manifest->segment_count; i++) {
        manifest->segments[i].file = sta_get_u32(&in);
        manifest->segments[i].size = sta_get_u64(&in);
        manifest->segments[i].rows = sta_get_u64(&in);
        manifest->segments[i].checksum = sta_get_u64(&in);
    }
    manifest->counters_count = sta_get_count(&in);
    manifest->counters = sta_alloc_array(manifest->counters_count, sizeof *manifest->counters);
    for (size_t i = 0; i < manifest->counters_count; i++)
        manifest->counters[i] = sta_get_u32(&in);
    if (!in.failed && in.at == in.end)
        return STA_OK;
    sta_manifest_fini(manifest);
    return sta_fail(err, STA_ECORRUPT, "the manifest's content makes no sense");
}

/* ---- catalogue entry */

void sta_trace_entry_fini(struct sta_trace_entry *entry)
{
    free(entry->path);
    free(entry->name);
    for (size_t i = 0; i < entry->tag_count; i++)
        free(entry->tags[i]);
    free(entry->tags);
    free(entry->preset);
    free(entry->preset_why);
    free(entry->failure);
    *entry = (struct sta_trace_entry){0};
}

static char *copy(const char *text)
{
    return text != NULL ? sta_strdup(text) : NULL;
}

void sta_trace_entry_copy(struct sta_trace_entry *to, const struct sta_trace_entry *from)
{
    *to = *from;
    to->path = copy(from->path);
    to->name = copy(from->name);
    to->preset = copy(from->preset);
    to->preset_why = copy(from->preset_why);
    to->failure = copy(from->failure);
    to->tags = sta_alloc_array(from->tag_count, sizeof *to->tags);
    for (size_t i = 0; i < from->tag_count; i++)
        to->tags[i] = sta_strdup(from->tags[i]);
}

void sta_entry_put(struct sta_buffer *out, const struct sta_trace_entry *entry)
{
    sta_put_block(out, entry->id, strlen(entry->id));
    sta_put_optional(out, entry->path);
    sta_put_optional(out, entry->name);
    sta_put_u64(out, (uint64_t)entry->created_us);
    sta_put_optional(out, entry->preset);
    sta_put_optional(out, entry->preset_why);
    sta_put_optional(out, entry->failure);
    sta_put_varint(out, entry->tag_count);
    for (size_t i = 0; i < entry->tag_count; i++)
        sta_put_block(out, entry->tags[i], strlen(entry->tags[i]));
    const char *kind = sta_trace_kind_name(entry->kind);
    sta_put_block(out, kind, strlen(kind));
}

/* Entries of before there were kinds end without one: they are of event traces. */
static enum sta_trace_kind get_kind(struct sta_cursor *in)
{
    enum sta_trace_kind kind = STA_TRACE_EVENTS;
    size_t length;
    if (in->failed || in->at == in->end)
        return kind;
    const char *name = sta_get_block(in, &length);
    if (name == NULL || !sta_trace_kind_find(name, length, &kind))
        in->failed = true;
    return kind;
}

int sta_entry_get(const char *bytes, size_t size, struct sta_trace_entry *entry, struct sta_error *err)
{
    struct sta_cursor in = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    size_t length;
    *entry = (struct sta_trace_entry){0};
    const char *id = sta_get_block(&in, &length);
    if (id == NULL || length != STA_TRACE_ID_SIZE - 1)
        return sta_fail(err, STA_ECORRUPT, "the catalogue entry makes no sense");
    memcpy(entry->id, id, length);
    entry->path = sta_get_optional(&in);
    entry->name = sta_get_optional(&in);
    entry->created_us = (int64_t)sta_get_u64(&in);
    entry->preset = sta_get_optional(&in);
    entry->preset_why = sta_get_optional(&in);
    entry->failure = sta_get_optional(&in);
    size_t tags = sta_get_count(&in);
    entry->tags = sta_alloc_array(tags, sizeof *entry->tags);
    for (; entry->tag_count < tags; entry->tag_count++) {
        const char *tag = sta_get_block(&in, &length);
        entry->tags[entry->tag_count] = sta_strndup(tag ? tag : "", length);
    }
    entry->kind = get_kind(&in);
    if (!in.failed && in.at == in.end && entry->path != NULL && entry->name != NULL)
        return STA_OK;
    sta_trace_entry_fini(entry);
    return sta_fail(err, STA_ECORRUPT, "the catalogue entry makes no sense");
}
