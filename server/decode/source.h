/* source.h - where bytes come from: a plain file, a gzip file, memory (private to decode).
 *
 * A source is read from beginning to end by one thread at a time.  It gives decompressed bytes and says how
 * it ended. */
#ifndef STA_DECODE_SOURCE_H
#define STA_DECODE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

enum sta_bytes_state {
    STA_BYTES_OK,  /* some bytes were given */
    STA_BYTES_END, /* the end, and all was well; bytes may have been given too */
    STA_BYTES_CUT  /* nothing more can be read: reason says why; bytes may have been given too */
};

struct sta_byte_source {
    /** Fills up to @room bytes; *got says how many.  After END or CUT it is not called again. */
    enum sta_bytes_state (*read)(struct sta_byte_source *source, char *out, size_t room, size_t *got);
    void (*close)(struct sta_byte_source *source); /* frees it */
    uint64_t consumed;                             /* bytes of the file on disk so far */
    uint64_t file_size; /* when it was opened: what is written behind that is for the next time */
    int64_t mtime_ns;   /* and its time then */
    char reason[160];   /* after CUT */
};

/** Opens a plain or gzip file, told apart by content, to be read from byte @offset of the file (a gzip
 * member's beginning).  *gzip says which.  Return: 0, STA_EINPUT if it is neither, or why it can't be
 * opened. */
STA_MUSTCHECK int sta_source_open(const char *path, uint64_t offset, struct sta_byte_source **source,
                                  bool *gzip, struct sta_error *err);

/* The fillings; each takes over the open file. */
struct sta_byte_source *sta_plain_source_create(int fd);
struct sta_byte_source *sta_gzip_source_create(int fd);
/** @bytes stay the caller's and must outlive the source. */
struct sta_byte_source *sta_memory_source_create(const char *bytes, size_t size);

#endif
