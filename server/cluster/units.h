/* units.h - what there is to read of an ingest, unit by unit (private to cluster).
 *
 * DESIGN.  A unit is some files, or a range of a large one.  A range can be read once it is known what is
 * before it; so the ranges of a file are first dealt to be counted, which takes little beside reading them
 * (of a gzip file a third).  The largest come first. */
#ifndef STA_CLUSTER_UNITS_H
#define STA_CLUSTER_UNITS_H

#include "server/ingest.h"

enum sta_unit_kind {
    STA_UNIT_NONE, /* nothing is left */
    STA_UNIT_WAIT, /* what is left waits for lines that are being counted */
    STA_UNIT_COUNT,
    STA_UNIT_RANGE,
    STA_UNIT_FILES
};

struct sta_unit {
    enum sta_unit_kind kind;
    uint64_t bytes; /* that are read */
    const size_t *files;
    size_t file_count; /* 1 but for FILES */
    size_t number;     /* of COUNT and RANGE: which of the file's */
    struct sta_source_range range;
    bool search; /* of COUNT: where it begins is to be looked for */
};

struct sta_units;

/** @least: bytes of a range.  Files that only one process can read are left out.  @reading: borrowed. */
struct sta_units *sta_units_create(const struct sta_shared_reading *reading, unsigned ranks, uint64_t least);
void sta_units_destroy(struct sta_units *units);
/** Whether a file goes on where it ended before, or is not read to its end: these are left out. */
bool sta_units_leave_out(const struct sta_decode_file *file);
/** The next unit.  Its pointers stay as long as @units. */
struct sta_unit sta_units_next(struct sta_units *units);
/** A unit of kind COUNT has been done. */
void sta_units_counted(struct sta_units *units, const struct sta_unit *unit,
                       const struct sta_source_range *range);
/** Whether the files that were cut are what they were, also when ranges of them were read before that the
 * writer has.  Return: 0, STA_EOUTDATED, .. */
STA_MUSTCHECK int sta_units_check(const struct sta_units *units, struct sta_error *err);

#endif
