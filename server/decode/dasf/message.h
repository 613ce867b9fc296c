/* message.h - the payload of one record, decoded by msgpack-c within our limits.
 *
 * The library allocates by the counts that a payload states, before it reads the items; so these are held
 * against the payload first. */
#ifndef STA_DECODE_DASF_MESSAGE_H
#define STA_DECODE_DASF_MESSAGE_H

#include <msgpack.h>
#include <stddef.h>

#define STA_MESSAGE_VALUES ((uint32_t)1 << 20) /* of one payload, inner ones too */
#define STA_MESSAGE_DEPTH 32                   /* containers inside containers; what msgpack-c can do */

struct sta_message {
    msgpack_zone *zone; /* the objects live here until the next payload */
    msgpack_object object;
};

void sta_message_init(struct sta_message *message);
void sta_message_fini(struct sta_message *message);
/** Decodes a payload, which is one object and nothing behind it.  Texts point into @bytes.
 * Return: NULL, or why it is damaged (static). */
const char *sta_message_read(struct sta_message *message, const char *bytes, size_t size);

#endif
