/* ranges.h - a large file as ranges of whole lines, which several processes read (part of decode.h).
 *
 * DESIGN.  A plain file is cut where lines end; where members of a gzip file do is only known by inflating
 * them.  So its ranges begin as places where somebody starts to look, and each who counts one finds out where
 * it really begins and ends: behind the first member from there on that inflates whole and ends a line.  What
 * was found must begin where the range before ends; where it does not, as what looked like a member was none,
 * it is counted again from there on.  Behind damage there is nothing: the range that has it is the last. */
#ifndef STA_DECODE_RANGES_H
#define STA_DECODE_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/error.h"
#include "common/ledger.h"
#include "common/roots.h"

enum sta_range_state { STA_RANGE_NEW, STA_RANGE_BEING_COUNTED, STA_RANGE_COUNTED };

struct sta_file_range {
    struct sta_source_range range;
    enum sta_range_state state;
    bool search; /* of a gzip file: where it begins is to be looked for */
    bool done;   /* it was read already */
};

struct sta_file_ranges {
    struct sta_source found;      /* what the file was: size, time and fingerprints; no path */
    bool members;                 /* it is a gzip file */
    struct sta_file_range *items; /* one behind the other, from its beginning to its end */
    size_t count;
    size_t known;  /* of so many the bytes, and what is before them, are known */
    bool outdated; /* one that was read already does not begin where the one before it ends */
};

/** Cuts a file, absolute path @file, into ranges of about @bytes.  None at all (count 0) when it would be
 * one, also since members are large or very much looks like them and is none.  @done: ranges that were read
 * already, ascending: what lies between them is cut.  Return: 0, or why it cannot be read.  Release with
 * sta_file_ranges_fini, also after a failure. */
STA_MUSTCHECK int sta_file_ranges_find(struct sta_file_ranges *ranges, struct sta_roots *roots,
                                       const char *file, uint64_t bytes, const struct sta_source_range *done,
                                       size_t done_count, struct sta_error *err);
void sta_file_ranges_fini(struct sta_file_ranges *ranges);
/** The next range to be counted; `count`: none.  Of the last one nobody wants to know it. */
size_t sta_file_ranges_to_count(const struct sta_file_ranges *ranges);
/** A range has been counted by sta_file_range_count. */
void sta_file_ranges_counted(struct sta_file_ranges *ranges, size_t number,
                             const struct sta_source_range *counted);
/** Fills in lines and text of a range, and of a gzip file where it begins (@search) and ends.  Return: 0;
 * STA_ECANCELLED; STA_EOUTDATED when the file has become shorter; why it cannot be read. */
STA_MUSTCHECK int sta_file_range_count(struct sta_roots *roots, const char *file, bool search,
                                       const _Atomic bool *cancel, struct sta_source_range *range,
                                       struct sta_error *err);
/** Whether the file still is what it was when it was cut; what was appended since does not count.  Return: 0;
 * STA_EOUTDATED; why it cannot be looked at. */
STA_MUSTCHECK int sta_file_ranges_check(const struct sta_file_ranges *ranges, struct sta_roots *roots,
                                        const char *file, struct sta_error *err);

#endif
