/* members.h - a measure of each rank, process, thread, host or file, in the whole run and epoch by epoch
 * (private to findings). */
#ifndef STA_FINDINGS_MEMBERS_H
#define STA_FINDINGS_MEMBERS_H

#include "findings/phases.h"

enum sta_member_kind {
    STA_BY_RANK,
    STA_BY_PROCESS,
    STA_BY_THREAD,
    STA_BY_HOST,
    STA_BY_FILE,
    STA_MEMBER_KINDS
};
enum sta_measure {
    STA_MEASURE_BUSY,
    STA_MEASURE_EXPOSED,
    STA_MEASURE_TIME,
    STA_MEASURE_SIZE,
    STA_MEASURE_COUNT,
    STA_MEASURE_BW,
    STA_MEASURES
};

/* Of one member, in the run or in one epoch. */
struct sta_member_sum {
    __int128 time; /* ticks, of all events together */
    __int128 size; /* bytes */
    int64_t count; /* events; 0: it has none there */
    int64_t busy;  /* ticks: union; of STA_MEASURE_EXPOSED less the rank's compute */
};

struct sta_members {
    struct sta_overlap_query query;
    struct sta_overlap_request request;
    struct sta_overlap_binding binding;
    struct sta_overlap_results results;
    struct sta_member_sum *sums; /* by unit, then slot: 0 is the whole, 1 + place in phases.numbers */
    size_t slots;
    uint32_t unit_count;
    uint32_t *rank_of_unit; /* of kinds whose members are of one rank each */
    uint32_t *order;        /* units that have an event of the condition, by key; no member without a file */
    uint32_t order_count;
    struct sta_account *account;
};

/** One pass.  @condition: of the user's; a mistake has the parameter /of.  Of a rule whose conditions are
 * bound it is as presets have them.  Fini also after a failure. */
STA_MUSTCHECK int sta_members_measure(struct sta_run *run, const struct sta_phases *phases,
                                      enum sta_member_kind kind, enum sta_measure measure,
                                      const char *condition, struct sta_members *members,
                                      struct sta_error *err);
void sta_members_fini(struct sta_members *members);

/** The measure of a sum: ticks, bytes, events, or bytes per second; NAN of a bandwidth without bytes or
 * time. */
double sta_member_value(const struct sta_run *run, const struct sta_member_sum *sum,
                        enum sta_measure measure);

#endif
