/* cursor.h - the token by which a client asks for the next page: where to go on, of which request, of which
 * data.
 *
 * A token is base64url of: a version, a hash of the request, a hash of the data's version, the place, a
 * checksum.  It says all that is needed, so nothing is kept for it and it stays good over a restart.  The
 * checksum tells what is no token of ours; whoever makes one up can only ask for rows that the request gives
 * him anyway. */
#ifndef STA_SERVE_CURSOR_H
#define STA_SERVE_CURSOR_H

#include "common/buffer.h"
#include "common/error.h"

struct sta_token_subject {
    uint64_t request; /* hash of what is asked, without limit and cursor */
    uint64_t data;    /* hash of the versions of all that the response follows from */
};

/** The token, as text owned by the caller. */
char *sta_cursor_encode(const struct sta_token_subject *subject, const void *position, size_t size);
/**
 * sta_cursor_decode - check a token and take the place out of it
 * @position: initialised; appended to
 * Return: 0; STA_EINPUT for what is no token, or one of another request; STA_EOUTDATED when the data has
 * changed since.  All with parameter /cursor.
 */
STA_MUSTCHECK int sta_cursor_decode(const char *token, const struct sta_token_subject *subject,
                                    struct sta_buffer *position, struct sta_error *err);

#endif
