/* mapped.h - copying out of a mapped file that may have become shorter or unreadable since (private to
 * store).
 */
#ifndef STA_STORE_MAPPED_H
#define STA_STORE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

/**
 * sta_copy_mapped - memcpy out of a mapping
 * The kernel answers a look at a page that it cannot give (beyond the end of a file that was cut, on a bad
 * sector) with SIGBUS, which ends the process; here it is a failure like that of a read.
 * Return: false when some of it cannot be read.  Context: any thread.
 */
bool sta_copy_mapped(void *to, const void *from, size_t size);

#endif
