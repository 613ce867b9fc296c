/* contents_private.h - pieces that the contents have in common. */
#ifndef STA_STORE_CONTENTS_PRIVATE_H
#define STA_STORE_CONTENTS_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/event.h"

/** A C string or NULL. */
void sta_put_optional(struct sta_buffer *out, const char *text);
/** Copies it (free it); NULL also after a failure. */
char *sta_get_optional(struct sta_cursor *in);
/** A count of items that take at least one byte each: fails when the input cannot hold them. */
size_t sta_get_count(struct sta_cursor *in);

/* Lists of values of one key, which are read when those of all keys that hold none have been. */
struct sta_stored_lists {
    struct sta_tables *tables;
    uint32_t key, members;
    struct sta_cursor in;
    struct sta_value_lists *values;
    uint32_t before, known; /* the last member; how many may be members */
};
struct sta_content;
/** Writes the values of a key that holds lists. */
void sta_lists_put(struct sta_content *out, const struct sta_dictionary *dictionary);
/** Reads them into the tables; lists->in says whether it failed. */
void sta_lists_get(struct sta_stored_lists *lists);

#endif
