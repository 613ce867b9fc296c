/* template.h - the fast path: lines of one trace repeat a few templates (private to decode).
 *
 * A template is what stands between the values of a line: `{"id":`, `,"name":"read","cat":"POSIX","pid":` ..
 * and which kind each value has.  The templates seen so far form a trie, so that lines which begin alike are
 * distinguished only where they differ.  A line that follows a known path to its end is valid JSON by
 * construction and fills a record without any look-up of keys; any other goes to the full parser, from which
 * a new path is learnt. */
#ifndef STA_DECODE_TEMPLATE_H
#define STA_DECODE_TEMPLATE_H

#include "decode/json_line.h"
#include "decode/record.h"

struct sta_templates;

struct sta_templates *sta_templates_create(void);
void sta_templates_destroy(struct sta_templates *templates); /* NULL allowed */

/** Reads the object at @at if it has a known template.  @record: has memory for STA_LAYOUT_ITEMS args.  A
 * '\n' or a zero byte must stand behind the line, and STA_BYTES_PADDING bytes behind that must be readable.
 * Return: what follows the object; NULL if the template is not known, and then the record is undefined.  A
 * line that followed a path fills no more of the record than that. */
const char *sta_templates_match(struct sta_templates *templates, const char *at, struct sta_record *record);

/** Learns the layout of a line that the full parser has just read, if it is plain. */
void sta_templates_learn(struct sta_templates *templates, const struct sta_line_layout *layout);

#endif
