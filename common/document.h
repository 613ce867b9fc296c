/* document.h - a request's body as a tree, whoever parsed it.
 *
 * The serve stage reads JSON or query parameters into it; the analyse stage checks what the members mean, so
 * that the first mistake in the order of the contract is the one that is reported. */
#ifndef STA_COMMON_DOCUMENT_H
#define STA_COMMON_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/dictionary.h"
#include "common/error.h"
#include "common/memory.h"

enum sta_document_type {
    STA_DOCUMENT_NULL,
    STA_DOCUMENT_BOOL,
    STA_DOCUMENT_INT,
    STA_DOCUMENT_FLOAT,
    STA_DOCUMENT_TEXT,
    STA_DOCUMENT_LIST,
    STA_DOCUMENT_OBJECT
};

/* One value; lives in the arena that it was made in. */
struct sta_document {
    enum sta_document_type type;
    const char *name;                         /* of a member; NULL in a list and at the top */
    struct sta_document *next, *first, *last; /* siblings and children, as written */
    size_t count;                             /* of children */
    union {
        bool truth;
        int64_t integer;
        double number;
        struct sta_text text;
    };
};

struct sta_document *sta_document_create(struct sta_arena *arena, enum sta_document_type type);
/** Puts a value behind the others of a list or object.  @name: copied; NULL in a list. */
void sta_document_append(struct sta_arena *arena, struct sta_document *parent, const char *name,
                         struct sta_document *child);
struct sta_document *sta_document_text(struct sta_arena *arena, const char *bytes, size_t length);
/* The same for a text and for a FLOAT, which are made. */
void sta_document_add_text(struct sta_arena *arena, struct sta_document *parent, const char *name,
                           const char *text);
void sta_document_add_number(struct sta_arena *arena, struct sta_document *parent, const char *name,
                             double number);
/** The member of that name, or NULL; @object may be NULL. */
const struct sta_document *sta_document_member(const struct sta_document *object, const char *name);
/** Takes a member out of its object; NULL: it has none of that name. */
struct sta_document *sta_document_take(struct sta_document *object, const char *name);
/** The value as bytes for another process; sta_document_get makes the same of them. */
void sta_document_put(struct sta_buffer *out, const struct sta_document *value);
/** NULL, and the cursor has failed, when the bytes are none of a value. */
struct sta_document *sta_document_get(struct sta_cursor *in, struct sta_arena *arena);
/** INT and FLOAT as a double. */
bool sta_document_number(const struct sta_document *value, double *number);
/** "a text", "a list", .. for messages. */
const char *sta_document_kind(const struct sta_document *value);

/** Notes the parameter "/first/second" (second NULL: none), with the escapes of JSON pointers.  Return:
 * err->status. */
int sta_at_member(struct sta_error *err, const char *first, const char *second, int64_t position);
/** sta_fail about that parameter, whatever the position in it. */
int sta_fail_member(struct sta_error *err, int status, const char *first, const char *second,
                    const char *format, ...) STA_PRINTF(5, 6);
/** Refuses an object with a member that is not among @known: STA_EINPUT, with the member as the parameter.
 * @where: of the sentence, "here". */
STA_MUSTCHECK int sta_document_check(const struct sta_document *object, const char *where,
                                     const char *const *known, size_t count, struct sta_error *err);

#endif
