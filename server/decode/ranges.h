/* ranges.h - a large plain file as ranges of whole lines, which several processes read (part of decode.h). */
#ifndef STA_DECODE_RANGES_H
#define STA_DECODE_RANGES_H

#include <stdatomic.h>

#include "common/error.h"
#include "common/ledger.h"
#include "common/roots.h"

/* Bytes [begin, end) of a file: at both a line begins, or the file begins or ends. */
struct sta_file_range {
    uint64_t begin, end;
};

struct sta_file_ranges {
    struct sta_source found;      /* what the file was: size, time and fingerprints; no path */
    struct sta_file_range *items; /* one behind the other, from its beginning to its end */
    size_t count;
};

/** Cuts a file, absolute path @file, at ends of lines into ranges of about @bytes.  None at all (count 0)
 * when it would be one, and when it is no plain file.  @done: ranges that were read already, ascending: what
 * lies between them is cut.  Return: 0, or why it cannot be read.  Release with sta_file_ranges_fini, also
 * after a failure. */
STA_MUSTCHECK int sta_file_ranges_find(struct sta_file_ranges *ranges, struct sta_roots *roots,
                                       const char *file, uint64_t bytes, const struct sta_source_range *done,
                                       size_t done_count, struct sta_error *err);
void sta_file_ranges_fini(struct sta_file_ranges *ranges);
/** How many lines end in a range.  Return: 0; STA_ECANCELLED; STA_EOUTDATED when the file has become shorter;
 * why it cannot be read. */
STA_MUSTCHECK int sta_file_range_count_lines(struct sta_roots *roots, const char *file,
                                             struct sta_file_range range, const _Atomic bool *cancel,
                                             uint64_t *lines, struct sta_error *err);
/** Whether the file still is what it was when it was cut; what was appended since does not count.  Return: 0;
 * STA_EOUTDATED; why it cannot be looked at. */
STA_MUSTCHECK int sta_file_ranges_check(const struct sta_file_ranges *ranges, struct sta_roots *roots,
                                        const char *file, struct sta_error *err);

#endif
