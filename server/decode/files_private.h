/* files_private.h - what a file on disk is, for later comparison (private to decode). */
#ifndef STA_DECODE_FILES_PRIVATE_H
#define STA_DECODE_FILES_PRIVATE_H

#include "common/ledger.h"

/** Notes size, time and fingerprints of a file of which @size bytes were read. */
void sta_source_identify(struct sta_source *source, const char *file, uint64_t size);

#endif
