/* ledger.h - what became of every byte and line: filled by decode, kept by the store, shown by serve. */
#ifndef STA_COMMON_LEDGER_H
#define STA_COMMON_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

/* X(name): sums over sources; lines = events + metadata + counters + other + framing + blank + malformed.
 * repaired lines are also counted where they belong.  unstored_args: values whose key came past
 * STA_ARGS_KEYS_LIMIT, or that are nested deeper than 512.  physical_lines: as the file has them, where glued
 * objects share one. */
/* clang-format off */
#define STA_LEDGER_LIST(X) \
    X(bytes) \
    X(json_bytes) \
    X(lines) \
    X(events) \
    X(metadata) \
    X(counters) \
    X(other) \
    X(framing) \
    X(blank) \
    X(malformed) \
    X(repaired) \
    X(unstored_args) \
    X(physical_lines)
/* clang-format on */

struct sta_ledger_counts {
#define X(name) uint64_t name;
    STA_LEDGER_LIST(X)
#undef X
};

void sta_ledger_add(struct sta_ledger_counts *sum, const struct sta_ledger_counts *part);

/* A line that was malformed or repaired. */
struct sta_line_note {
    uint64_t line;   /* from 1 */
    uint64_t offset; /* byte in the decompressed file */
    char *reason;    /* a phrase: "cut off inside a string" */
    char *text;      /* first 200 characters, valid UTF-8, control characters as they are */
};

#define STA_LINE_NOTES 100 /* kept per source and kind; the first ones by line */

struct sta_line_notes {
    struct sta_line_note *items; /* ascending by line */
    size_t count, capacity;
};
void sta_line_notes_add(struct sta_line_notes *notes, uint64_t line, uint64_t offset, const char *reason,
                        const char *text, size_t length); /* keeps the STA_LINE_NOTES smallest lines */
/** Adds copies of all notes of @from. */
void sta_line_notes_merge(struct sta_line_notes *notes, const struct sta_line_notes *from);
void sta_line_notes_fini(struct sta_line_notes *notes);

/* X(NAME, name, what the state means) */
#define STA_SOURCE_STATE_LIST(X)                                                                             \
    X(COMPLETE, "complete", "all of it was read")                                                            \
    X(TRUNCATED, "truncated", "what could be read of it is kept")                                            \
    X(REJECTED, "rejected", "nothing of it could be read")                                                   \
    X(VANISHED, "vanished", "it was there at an earlier ingest; its events have left")                       \
    X(STALE, "stale", "it was rewritten while it was read: its events are not proven to be its content")

enum sta_source_state {
#define X(NAME, name, meaning) STA_SOURCE_##NAME,
    STA_SOURCE_STATE_LIST(X)
#undef X
        STA_SOURCE_STATE_COUNT
};
const char *sta_source_state_name(enum sta_source_state state);

/* One file of a trace: what it was when it was read, and what it gave. */
struct sta_source {
    char *path; /* inside the trace, UTF-8 repaired only for display; bytes as on disk here */
    enum sta_source_state state;
    char *reason;  /* why it is not complete; NULL when it is */
    uint64_t size; /* bytes on disk */
    int64_t mtime_ns;
    uint64_t fingerprint; /* hash of the first and last 64 KiB of `size` bytes */
    /* Reading can go on when the file has grown: a plain one behind the last whole line (counts.json_bytes),
     * a gzip file behind `size` if it ended at a member's and a line's end. */
    uint64_t resumable;          /* 0 or 1 */
    uint64_t resume_fingerprint; /* hash of the last 64 KiB before `size`, so that growth is distinguished
                                    from rewriting */
    struct sta_ledger_counts counts;
    struct sta_line_notes malformed, repaired;
};
/* A part of a file that is read by itself: whole lines. */
struct sta_source_range {
    uint64_t begin, end;          /* bytes on disk */
    uint64_t lines_before, lines; /* that end before it, and in it */
    uint64_t text_before, text;   /* bytes, decompressed */
};
void sta_source_range_put(struct sta_buffer *out, const struct sta_source_range *range);
struct sta_source_range sta_source_range_get(struct sta_cursor *in);

/** Whether a file holds objects, and not one of them is an event or a counter: it is complete, and still gave
 * nothing. */
bool sta_source_is_unread(const struct sta_source *source);
void sta_source_fini(struct sta_source *source);
void sta_source_copy(struct sta_source *to, const struct sta_source *from);
/** Adds what one range of the file gave, where several were read by themselves, in any order.  Of a range the
 * counts of bytes and of physical lines reach from the beginning of the file. */
void sta_source_join(struct sta_source *whole, const struct sta_source *range);

#endif
