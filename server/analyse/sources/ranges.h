/* ranges.h - the time of a scan cut into ranges, one for each process that works on it (private to analyse).
 *
 * For what needs rows in order of time.  All processes cut alike: where to follows from the row groups' first
 * times alone.  An event belongs to the range that it starts in; the time that it covers is measured range by
 * range, so that a row group that reaches over a cut is read on both sides of it. */
#ifndef STA_ANALYSE_SOURCES_RANGES_H
#define STA_ANALYSE_SOURCES_RANGES_H

#include "analyse/sources/scan.h"

/* From <= time < to, in ticks; open: INT64_MIN, INT64_MAX. */
struct sta_time_range {
    int64_t from, to;
};

#define STA_ALL_TIME ((struct sta_time_range){INT64_MIN, INT64_MAX})

/** Whether events of a row group may reach into the range. */
static inline bool sta_time_range_meets(const struct sta_time_range *range,
                                        const struct sta_row_group *row_group)
{
    const bool ahead = row_group->ts_min >= range->to && range->to != INT64_MAX;
    return !ahead && (row_group->te_max > range->from || row_group->ts_max >= range->from);
}

/**
 * sta_time_ranges - cut so that about as many rows start in each range
 * @most: of the rows, how many one of the ranges may read at most, as a share
 * @ranges: @count of them, in order of time, which together are all time
 * Return: false when one of them would read more, or memory for the list of row groups is refused.
 */
bool sta_time_ranges(const struct sta_scan *scan, unsigned count, double most, struct sta_account *account,
                     struct sta_time_range *ranges);
/** The range of a stripe, however much it reads.  Return: 0, STA_EOUTDATED: memory for the list of row groups
 * is refused. */
STA_MUSTCHECK int sta_time_range_of(const struct sta_scan *scan, const struct sta_stripe *stripe,
                                    struct sta_account *account, struct sta_time_range *range,
                                    struct sta_error *err);

#endif
