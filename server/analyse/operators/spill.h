/* spill.h - what does not fit the memory: bytes in a file without a name, written once, read back in pieces
 * (private to analyse). */
#ifndef STA_ANALYSE_OPERATORS_SPILL_H
#define STA_ANALYSE_OPERATORS_SPILL_H

#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

struct sta_spill; /* one file; its space is freed when it is destroyed, also by a crash */

/** Context: any thread; one file may be written by one thread at a time and read by any. */
STA_MUSTCHECK int sta_spill_create(const char *folder, struct sta_spill **spill, struct sta_error *err);
void sta_spill_destroy(struct sta_spill *spill); /* NULL allowed */
/** Appends.  STA_ENOSPC names the folder, and the bytes that were missing, or that all files together would
 * be larger than what they leave free. */
STA_MUSTCHECK int sta_spill_write(struct sta_spill *spill, const void *bytes, size_t size,
                                  struct sta_error *err);
/** STA_EIO: what is read is not what was written. */
STA_MUSTCHECK int sta_spill_read(const struct sta_spill *spill, uint64_t offset, void *bytes, size_t size,
                                 struct sta_error *err);
uint64_t sta_spill_size(const struct sta_spill *spill);

#endif
