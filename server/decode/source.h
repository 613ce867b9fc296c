/* source.h - where bytes come from: a plain file, a gzip file, memory (private to decode).
 *
 * A source is read from beginning to end by one thread at a time.  It gives decompressed bytes and says how
 * it ended. */
#ifndef STA_DECODE_SOURCE_H
#define STA_DECODE_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/ledger.h"

enum sta_bytes_state {
    STA_BYTES_OK,  /* some bytes were given */
    STA_BYTES_END, /* the end, and all was well; bytes may have been given too */
    STA_BYTES_CUT  /* nothing more can be read: reason says why; bytes may have been given too */
};

struct sta_byte_source {
    /** Fills up to @capacity bytes; *got says how many.  After END or CUT it is not called again. */
    enum sta_bytes_state (*read)(struct sta_byte_source *source, char *out, size_t capacity, size_t *got);
    void (*close)(struct sta_byte_source *source); /* frees it */
    uint64_t consumed;                             /* bytes of the file on disk so far */
    uint64_t file_size; /* when it was opened: what is written behind that is for the next time */
    char reason[160];   /* after CUT */
    bool failed;        /* after CUT: reading failed, which says nothing about the content */
};

/**
 * sta_source_open - read a plain or gzip file, distinguished by content
 * @fd: of the file; stays the caller's, and must outlive the source
 * @path: for messages
 * @text: a file of other bytes is none
 * @resume: as it was read before, to go on behind that; NULL: from the beginning
 * *gzip: which of the two it is
 * Return: 0, STA_EINPUT if it is neither or no regular file, or why it can't be read.
 */
STA_MUSTCHECK int sta_source_open(int fd, const char *path, bool text, const struct sta_source *resume,
                                  struct sta_byte_source **source, bool *gzip, struct sta_error *err);

/** Has a source, from @fd, begin at a byte of the file. */
STA_MUSTCHECK int sta_source_begin_at(struct sta_byte_source *source, int fd, uint64_t byte, const char *path,
                                      struct sta_error *err);

/** Notes that reading failed past @byte of the file. */
void sta_source_fail(struct sta_byte_source *source, uint64_t byte, int errno_value);

/* The fillings. */
struct sta_byte_source *sta_plain_source_create(int fd);
struct sta_byte_source *sta_gzip_source_create(int fd);
size_t sta_gzip_source_bytes(void); /* of memory that one takes while it is paused */
/** Bytes of the file up to the end of the last member that was inflated whole; @lines: of the last one at
 * whose end a line ends too.  0: there was none. */
uint64_t sta_gzip_source_whole(const struct sta_byte_source *source, bool lines);
/* A member of which the text was dropped. */
struct sta_gzip_member {
    uint64_t begin, end; /* bytes of the file */
    uint64_t lines, text;
    bool ends_line; /* it has text, and that ends with a line's end */
};
/** Passes the next member, instead of `read`.  @scratch: @capacity bytes, and STA_BYTES_PADDING.  Return: OK;
 * END: none follows; CUT: it is not whole, or @cancel (NULL allowed) became true. */
enum sta_bytes_state sta_gzip_source_pass(struct sta_byte_source *source, char *scratch, size_t capacity,
                                          const _Atomic bool *cancel, struct sta_gzip_member *member);
/** After CUT: frees what is needed while reading alone.  Return: whether the file ended inside a member, so
 * that sta_gzip_source_go_on can read what is added to it. */
bool sta_gzip_source_pause(struct sta_byte_source *source);
/** Reads on from @fd, the same file opened again, up to @file_size.  For a new source too. */
void sta_gzip_source_go_on(struct sta_byte_source *source, int fd, uint64_t file_size);
/** @bytes stay the caller's and must outlive the source. */
struct sta_byte_source *sta_memory_source_create(const char *bytes, size_t size);

#endif
