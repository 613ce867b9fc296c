/* access_walk.h - calls of threads in their order, and what they come to (private to findings). */
#ifndef STA_FINDINGS_ACCESS_WALK_H
#define STA_FINDINGS_ACCESS_WALK_H

#include "findings/access.h"

#define STA_NO_OFFSET INT64_MIN /* a number that is missing */

enum sta_access_op {
    STA_OP_OTHER,
    STA_OP_TRANSFER,  /* at the position of its descriptor */
    STA_OP_AT_OFFSET, /* at its own offset, in `ret` */
    STA_OP_OPEN,      /* flags in `size` */
    STA_OP_CLOSE,
    STA_OP_LSEEK,
    STA_OP_FSEEK /* whence in `size`, offset in `ret` */
};

struct sta_access_record {
    int64_t ts, from, to; /* from, to: cut to the window */
    int64_t size, ret, fd;
    uint32_t file;
    uint8_t op, kind, posix, unused;
};

struct sta_access_walk;

/** @access: its request and binding are there; its units are walked. */
STA_MUSTCHECK int sta_access_walk_create(const struct sta_phases *phases,
                                         const struct sta_access_patterns *access, const struct sta_run *run,
                                         struct sta_access_walk **walk, struct sta_error *err);
void sta_access_walk_destroy(struct sta_access_walk *walk); /* NULL allowed */
/** The records of the next slice, in turn.  Then, in parallel, the bytes that its calls moved.  Both for the
 * worker of the slice. */
STA_MUSTCHECK int sta_access_walk_slice(struct sta_access_walk *walk, unsigned worker,
                                        const struct sta_slice *slice, struct sta_error *err);
STA_MUSTCHECK int sta_access_walk_extents(struct sta_access_walk *walk, unsigned worker,
                                          const struct sta_slice *slice, struct sta_error *err);
/** After all: sums but `exposed`, which stays, and files. */
STA_MUSTCHECK int sta_access_walk_finish(struct sta_access_walk *walk, struct sta_access_patterns *access,
                                         struct sta_error *err);

#endif
