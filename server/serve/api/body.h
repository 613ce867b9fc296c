/* body.h - the JSON object of a request body, read and checked by a list of its members. */
#ifndef STA_SERVE_BODY_H
#define STA_SERVE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include "common/buffer.h"
#include "common/error.h"
#include "common/memory.h"

#define STA_BODY_MEMBERS 8

enum sta_member_type { STA_MEMBER_TEXT, STA_MEMBER_TEXTS, STA_MEMBER_BOOL };

struct sta_member {
    const char *name;
    enum sta_member_type type;
    bool required;
    size_t longest; /* characters of a text */
    size_t most;    /* texts of a list */
    bool line;      /* texts of one line: no control characters */
};

struct sta_body {
    struct sta_arena memory; /* of the texts */
    struct {
        const char *text;   /* TEXT; NULL: not given */
        const char **texts; /* TEXTS; NULL: not given */
        size_t count;
        bool given, truth; /* BOOL */
    } values[STA_BODY_MEMBERS];
};

/**
 * sta_body_read - parse and check
 * Return: 0; STA_EINPUT with err->parameter (JSON pointer) and, for what is not JSON, err->position.  Fini
 * after success.
 */
STA_MUSTCHECK int sta_body_read(const struct sta_buffer *bytes, const struct sta_member *members,
                                size_t member_count, struct sta_body *body, struct sta_error *err);
void sta_body_fini(struct sta_body *body);

#endif
