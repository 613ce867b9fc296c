/* lane_file.h - the file that holds a version's events by thread, as bytes (private to store).
 *
 * store.h has what other stages see of it; FORMAT.md "Lane file" has the bytes. */
#ifndef STA_STORE_LANE_FILE_H
#define STA_STORE_LANE_FILE_H

#include "common/files.h"
#include "store/disk.h"
#include "store/store.h"

struct sta_lane_file {
    char *path; /* NULL: bytes that are no file */
    struct sta_mapping mapping;
    struct sta_disk_lane_footer footer;
    unsigned char *directory; /* a copy: entries of the blocks, then the head */
};

/** Checks @size bytes and takes them for a lane file of this version and program; they are borrowed.
 * STA_ECORRUPT (also when they are of another version), STA_ENOTFOUND (of another build of the program),
 * STA_ENEWER, STA_ENOMEM.  Detach also after
 * a failure. */
STA_MUSTCHECK int sta_lane_file_attach(struct sta_lane_file *file, const void *bytes, size_t size,
                                       uint64_t version, struct sta_error *err);
void sta_lane_file_detach(struct sta_lane_file *file);
/** What footers of this program say of it. */
uint64_t sta_lane_file_build(void);

#endif
