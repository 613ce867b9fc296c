/* access.h - which data calls go on where the last one ended, and which bytes are moved again (private to
 * findings). */
#ifndef STA_FINDINGS_ACCESS_H
#define STA_FINDINGS_ACCESS_H

#include "findings/phases.h"

enum sta_access_kind { STA_ACCESS_READ, STA_ACCESS_WRITE, STA_ACCESS_KINDS };

/* Of reads or of writes (findings.md part 6). */
struct sta_access_sums {
    int64_t ops, unknown, first, consecutive, sequential, random;
    __int128 bytes, known_bytes, distinct_bytes;
    int64_t random_time, exposed; /* ticks: not overlapped with the rank's compute */
};

struct sta_access_file {
    uint32_t file; /* code of the column file_name; STA_NO_CODE: missing */
    __int128 bytes, distinct;
};

struct sta_access_patterns {
    struct sta_overlap_query query;
    struct sta_overlap_request request;
    struct sta_overlap_binding binding; /* threads */
    struct sta_access_sums sums[STA_ACCESS_KINDS];
    struct sta_access_file *files[STA_ACCESS_KINDS]; /* most bytes moved again first */
    size_t file_counts[STA_ACCESS_KINDS];
    struct sta_account *account;
};

/** One pass in event order.  Fini also after a failure. */
STA_MUSTCHECK int sta_access_measure(struct sta_run *run, const struct sta_phases *phases,
                                     struct sta_access_patterns *access, struct sta_error *err);
void sta_access_fini(struct sta_access_patterns *access);

#endif
