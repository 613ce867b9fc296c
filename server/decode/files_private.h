/* files_private.h - what a file on disk is, for later comparison (private to decode). */
#ifndef STA_DECODE_FILES_PRIVATE_H
#define STA_DECODE_FILES_PRIVATE_H

#include "common/ledger.h"

/** Notes size, time and fingerprints of a file that had @size bytes at @mtime_ns, when it was opened. */
void sta_source_identify(struct sta_source *source, const char *file, uint64_t size, int64_t mtime_ns);

#endif
