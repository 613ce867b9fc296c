/* head.h - the head of an HTTP/1 request, taken apart strictly.
 *
 * Two programs that read one request differently let a client hide a second request inside the first
 * (request smuggling).  So whatever RFC 9112 leaves to the taste of a recipient is refused here: bare CR or
 * LF, control characters, folded lines, a blank before a colon, a repeated Host or Content-Length,
 * Content-Length beside Transfer-Encoding, and every coding but chunked.  Pure functions over bytes that a
 * client chose. */
#ifndef STA_SERVE_HEAD_H
#define STA_SERVE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

enum sta_method { STA_GET, STA_HEAD, STA_POST, STA_PUT, STA_PATCH, STA_DELETE, STA_OPTIONS, STA_METHODS };
const char *sta_method_name(enum sta_method method); /* "OTHER" for STA_METHODS */

#define STA_HEAD_FIELDS 100

struct sta_head_field {
    const char *name, *value;
};

/* All texts lie in the bytes that were parsed. */
struct sta_head {
    enum sta_method method; /* STA_METHODS: none of these */
    char *target;           /* path and query, also of a target in absolute form */
    const char *host;       /* of a target in absolute form, else the field Host; NULL: neither (HTTP/1.0) */
    bool http_1_0, keep_alive, chunked, expects_continue;
    uint64_t content_length; /* 0 without the field; UINT64_MAX when it does not fit */
    size_t field_count;
    struct sta_head_field fields[STA_HEAD_FIELDS];
};

enum sta_head_state { STA_HEAD_MORE, STA_HEAD_WHOLE, STA_HEAD_BAD };

/**
 * sta_head_scan - look for the end of a head
 * @scanned: how many bytes were looked at before; then: now, or with WHOLE the size of the head
 * @err: with BAD what is wrong: bytes that no head may have
 */
enum sta_head_state sta_head_scan(const char *bytes, size_t size, size_t *scanned, struct sta_error *err);

/**
 * sta_head_parse - take a whole head apart, in place
 * @bytes: from the request line to the empty line; changed
 * Return: 0, or the HTTP status of a refusal (400, 415, 417, 431, 505) with a sentence in @err
 */
STA_MUSTCHECK int sta_head_parse(char *bytes, size_t size, struct sta_head *head, struct sta_error *err);

/** The value of the first field of that name, whatever its case; NULL: there is none. */
const char *sta_head_find(const struct sta_head *head, const char *name);

#endif
