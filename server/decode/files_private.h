/* files_private.h - what a file on disk is, for later comparison, and which files of a trace are left out
 * (private to decode). */
#ifndef STA_DECODE_FILES_PRIVATE_H
#define STA_DECODE_FILES_PRIVATE_H

#include "common/error.h"
#include "common/ledger.h"
#include "decode/decode.h"

/* An open file at one moment. */
struct sta_file_identity {
    uint64_t size;
    int64_t mtime_ns;
    uint64_t fingerprint;     /* of both ends of its bytes */
    uint64_t end_fingerprint; /* of their end alone */
};

/** @end: the bytes behind that are not looked at; 0: all are */
STA_MUSTCHECK int sta_file_identify(int fd, const char *path, uint64_t end,
                                    struct sta_file_identity *identity, struct sta_error *err);
/** Whether the bytes that the file had when it was identified are known to be others now.  Bytes that were
 * appended since do not count. */
STA_MUSTCHECK int sta_file_was_rewritten(int fd, const char *path, const struct sta_file_identity *before,
                                         bool *rewritten, struct sta_error *err);
/** STA_EOUTDATED when the open file does not begin with what the source was read from. */
STA_MUSTCHECK int sta_source_check_beginning(const struct sta_source *source, int fd, const char *path,
                                             struct sta_error *err);
/** Notes in a source what the file was that it was read from. */
void sta_source_identify(struct sta_source *source, const struct sta_file_identity *identity);

/** Adds an entry that is not read.  Both texts are copied. */
void sta_listing_note(struct sta_listing *listing, const char *inside, const char *why, int status,
                      bool candidate);
/** Takes files out that others of the listing stand for, or that are none of its kind.  @listing: ascending
 * by path */
void sta_listing_leave_out(struct sta_listing *listing);

#endif
