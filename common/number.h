/* number.h - numbers as text, exactly and without locale; division. */
#ifndef STA_COMMON_NUMBER_H
#define STA_COMMON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STA_DOUBLE_TEXT 32 /* space for any number these write, with the terminator */

/** value / by, rounded down.  @by: above 0. */
static inline int64_t sta_floor_divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/** -?(0|[1-9][0-9]*) that fits 64 bits signed. */
bool sta_parse_int(const char *text, size_t length, int64_t *value);
/** A JSON number as the nearest double; false if it is none or not finite. */
bool sta_parse_double(const char *text, size_t length, double *value);
/** Shortest text that reads back the same, the way Python's repr and JSON have it: 5.0, 0.1, 1e+22, 1e-07.
 * Return: length. */
size_t sta_format_double(double value, char out[STA_DOUBLE_TEXT]);
size_t sta_format_int(int64_t value, char out[STA_DOUBLE_TEXT]);
/** "512MiB", "2G", "1048576": bytes. */
bool sta_parse_size(const char *text, uint64_t *bytes);
/** Length in bytes of the valid UTF-8 prefix. */
size_t sta_utf8_valid_prefix(const char *text, size_t length);
/** Code points of valid UTF-8. */
size_t sta_utf8_count(const char *text, size_t length);
/** Bytes of its first so many code points, or of all when there are no more. */
size_t sta_utf8_prefix(const char *text, size_t length, size_t count);

static inline bool sta_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool sta_is_hex_digit(char c)
{
    return sta_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

#endif
