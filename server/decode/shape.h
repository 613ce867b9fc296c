/* shape.h - the fast path: lines of one trace repeat their shape (private to decode).
 *
 * A shape is what stands between the values of a line: `{"id":`, `,"name":"read","cat":"POSIX","pid":` .. and
 * which kind each value has.  The shapes seen so far form a tree, so that lines which begin alike are told
 * apart only where they differ.  A line that follows a known path to its end is valid JSON by construction
 * and fills a record without any look-up of keys; any other goes to the full parser, from which a new path is
 * learnt. */
#ifndef STA_DECODE_SHAPE_H
#define STA_DECODE_SHAPE_H

#include "decode/json_line.h"
#include "decode/record.h"

struct sta_shapes;

struct sta_shapes *sta_shapes_create(void);
void sta_shapes_destroy(struct sta_shapes *shapes); /* NULL allowed */

/** Reads the object at @at if it has a known shape.  A '\n' or a zero byte must stand behind the line, and
 * STA_BYTES_PADDING bytes behind that must be readable.  Return: what follows the object; NULL if the shape
 * is not known, and then the record is undefined. */
const char *sta_shapes_match(struct sta_shapes *shapes, const char *at, struct sta_record *record);

/** Learns the layout of a line that the full parser has just read, if it is plain. */
void sta_shapes_learn(struct sta_shapes *shapes, const struct sta_layout *layout);

#endif
