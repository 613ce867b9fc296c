/* contents.h - what the envelopes of a trace hold, as bytes and as structs: its manifest, tables, sources,
 * catalogue entry. */
#ifndef STA_STORE_CONTENTS_H
#define STA_STORE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/error.h"
#include "common/event.h"
#include "common/ledger.h"
#include "store/store.h"

/* Files of a trace are numbered through; the number and what it is make the name. */
struct sta_manifest_segment {
    uint32_t file;
    uint64_t size, rows;
    uint64_t checksum; /* of the header: which segment must be under that name */
};

struct sta_manifest {
    uint64_t version;
    int64_t published_us;
    uint32_t tables_file, sources_file;
    uint32_t next_source; /* id */
    struct sta_manifest_segment *segments;
    size_t segment_count;
    uint32_t *counters; /* files */
    size_t counters_count;
    uint32_t journal_after; /* not on disk: number + 1 of a journal that stays; 0: none */
};
void sta_manifest_fini(struct sta_manifest *manifest);
void sta_manifest_put(struct sta_buffer *out, const struct sta_manifest *manifest);
STA_MUSTCHECK int sta_manifest_get(const char *bytes, size_t size, struct sta_manifest *manifest,
                                   struct sta_error *err);

void sta_tables_put(struct sta_buffer *out, const struct sta_tables *tables);
struct sta_content;
/** The same, long dictionaries as pieces; the tables do not change until these are written. */
void sta_tables_put_content(struct sta_content *out, const struct sta_tables *tables);
/** @dropped: whether the source of a path leaves, and the definitions it made with it; @context is its own.
 * The kinds of values that args keys have are then left out.  NULL: none leaves.  @account: charged with what
 * the tables hold.  Release with sta_tables_destroy.  Return: 0; STA_ECORRUPT; STA_ELIMIT, STA_EBUSY or
 * STA_ENOMEM when they do not fit. */
STA_MUSTCHECK int sta_tables_get(const char *bytes, size_t size,
                                 bool (*dropped)(const void *context, const char *path), const void *context,
                                 struct sta_account *account, struct sta_tables **tables,
                                 struct sta_error *err);

/* A source and the number by which chunks name it for ever. */
struct sta_stored_source {
    uint32_t id;
    struct sta_source source;
};
void sta_stored_sources_free(struct sta_stored_source **sources, size_t count);
void sta_sources_put(struct sta_buffer *out, struct sta_stored_source *const *sources, size_t count);
STA_MUSTCHECK int sta_sources_get(const char *bytes, size_t size, struct sta_stored_source ***sources,
                                  size_t *count, struct sta_error *err);

void sta_entry_put(struct sta_buffer *out, const struct sta_trace_entry *entry);
STA_MUSTCHECK int sta_entry_get(const char *bytes, size_t size, struct sta_trace_entry *entry,
                                struct sta_error *err);

#endif
