/* document_json.h - JSON <-> struct sta_document.  The only user of jansson. */
#ifndef STA_SERVE_DOCUMENT_JSON_H
#define STA_SERVE_DOCUMENT_JSON_H

#include "common/buffer.h"
#include "common/document.h"
#include "common/error.h"

#define STA_JSON_DEPTH 64 /* most levels of nesting */

/**
 * sta_document_parse - a JSON text as a tree
 * Members keep their order; integers stay integers; a member that is given twice, an integer beyond 64 bits
 * and a zero inside a text are mistakes.
 * @what: subject of messages, such as "The body"
 * @document: lives in @arena
 * Return: 0; STA_EINPUT with err->position (code points from the start) for what is not JSON, or is nested
 * too deep.
 */
STA_MUSTCHECK int sta_document_parse(const char *bytes, size_t size, const char *what,
                                     struct sta_arena *arena, struct sta_document **document,
                                     struct sta_error *err);

/** The value as JSON; equal documents give equal bytes. */
void sta_put_document(struct sta_buffer *out, const struct sta_document *document);
/** The same of a request whose members act in an order of their own, whatever order they are written in:
 * those of the object itself, and of the objects in its member `then`, come by name. */
void sta_put_request(struct sta_buffer *out, const struct sta_document *request);

#endif
