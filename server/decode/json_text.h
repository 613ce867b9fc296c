/* json_text.h - strict JSON, piece by piece: strings, scalars, nested values (private to decode).
 *
 * A struct sta_json_text walks over one line.  After a failure `reason` says what was wrong, in words for the
 * ledger. */
#ifndef STA_DECODE_JSON_TEXT_H
#define STA_DECODE_JSON_TEXT_H

#include "common/buffer.h"
#include "common/number.h"
#include "decode/record.h"

#define STA_JSON_DEPTH 512 /* containers inside containers of a value that is kept */

struct sta_json_text {
    const char *at, *end;
    const char *reason;      /* NULL: all well so far; static */
    struct sta_arena *arena; /* for strings that are not in the line as they are */
    bool repaired;
};

void sta_json_skip_blanks(struct sta_json_text *text);
/** A string, from its opening quote: the decoded content. */
bool sta_json_string(struct sta_json_text *text, const char **content, uint32_t *length);
/** Any value, blanks before it allowed; a nested one is re-written compactly into the arena. */
bool sta_json_value(struct sta_json_text *text, struct sta_json_value *value);
/** What kind of number a JSON number is; the text has been validated or is checked here: false if it is
 * none. */
bool sta_json_classify_number(const char *number, size_t length, struct sta_json_value *value);
/** Whether the text is an integer by JSON's grammar, of any size. */
bool sta_json_is_integer(const char *number, size_t length);
/** Copies a text of any bytes as valid UTF-8, what is not becomes U+FFFD; zeros stay.  @out: space for 3
 * times
 * @size.  Return: the length. */
size_t sta_utf8_repair(const char *bytes, size_t size, char *out);
/** A scalar as text, whatever its JSON type: its own bytes, or numbers in their one form, written to @buffer.
 * NULL: it is missing. */
const char *sta_json_as_text(const struct sta_json_value *value, uint32_t *length,
                             char buffer[STA_DOUBLE_TEXT]);
bool sta_json_fail(struct sta_json_text *text, const char *reason); /* false, always */

#endif
