/* spill_file.h - a file without a name, for what does not fit the memory: its space is freed when it is
 * closed, also by a crash.
 *
 * All files of the process together never grow beyond what is still free beside them, so what is spilled
 * takes at most half of the space that was free, however many queries spill. */
#ifndef STA_COMMON_SPILL_FILE_H
#define STA_COMMON_SPILL_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/error.h"

struct sta_spill_file {
    int fd;
    char *folder;          /* for messages */
    uint64_t looked;       /* size at the last look at the free space */
    _Atomic uint64_t size; /* bytes; readers on other threads see what was written before it grew */
};

/** Makes @folder if need be.  Close after success only. */
STA_MUSTCHECK int sta_spill_file_open(struct sta_spill_file *file, const char *folder, struct sta_error *err);
void sta_spill_file_close(struct sta_spill_file *file);
/** Before the file grows by @more bytes, by one thread at a time.  STA_ENOSPC: all files together would be
 * larger than what they leave free. */
STA_MUSTCHECK int sta_spill_file_check(struct sta_spill_file *file, uint64_t more, struct sta_error *err);
/** It has grown by them. */
void sta_spill_file_grown(struct sta_spill_file *file, uint64_t more);

#endif
