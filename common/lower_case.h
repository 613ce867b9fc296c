/* lower_case.h - texts that compare without case, such as categories. */
#ifndef STA_COMMON_LOWER_CASE_H
#define STA_COMMON_LOWER_CASE_H

#include <stddef.h>

#define STA_LOWER_CASE_CAPACITY(length) ((length) + (length) / 2) /* some small letters take a byte more */

/** Writes a UTF-8 text in Unicode's simple lower case to @out, which has STA_LOWER_CASE_CAPACITY(@length)
 * bytes. Bytes that are not UTF-8 stay as they are.  Return: the size written. */
size_t sta_lower_case(const char *text, size_t length, char *out);

#endif
