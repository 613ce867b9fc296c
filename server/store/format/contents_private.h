/* contents_private.h - pieces that the contents have in common. */
#ifndef STA_STORE_CONTENTS_PRIVATE_H
#define STA_STORE_CONTENTS_PRIVATE_H

#include <stdbool.h>
#include "common/buffer.h"

/** A C string or NULL. */
void sta_put_optional(struct sta_buffer *out, const char *text);
/** Copies it (free it); NULL also after a failure. */
char *sta_get_optional(struct sta_cursor *in);
void sta_put_signed(struct sta_buffer *out, int64_t value);
int64_t sta_get_signed(struct sta_cursor *in);
/** A count of items that take at least one byte each: fails when the input cannot hold them. */
size_t sta_get_count(struct sta_cursor *in);

#endif
