/* ordered.h - rows in order of time, slice by slice, with a state that is carried from one to the next
 * (private to analyse).
 *
 * For what depends on what came before: unions of intervals, exposure, depth of calls, gaps.  One parallel
 * pass over row groups of rows feeds any number of consumers.  Of each row group a consumer gives records:
 * each of a unit (a thread, a process, a group), of a size of the consumer's choice, beginning with the time;
 * the rest is its own payload.
 *
 * Row groups are read by any worker, about in the order of time.  The time axis is cut into slices, the
 * morsels, of about equal numbers of rows; once every row group that reaches into a slice has been read, a
 * worker brings the slice's records together, by unit and in order of time, and takes each consumer through
 * its steps:
 *
 *     prepare  parallel  looks at the records of the slice alone
 *     carry    in turn   takes the state that all earlier slices left, and leaves that at the slice's end
 *     measure  parallel  goes through the records, from the state that was taken
 *     finalize in turn   exchanges what only measuring finds, such as a unit's total up to the slice
 *
 * In turn: in the order of slices, one at a time.  Records are held from when their row group has been read
 * until their last slice is done.  All memory is charged to the budget's account.  No result may depend on
 * where time is cut, nor on who does what. */
#ifndef STA_ANALYSE_OPERATORS_ORDERED_H
#define STA_ANALYSE_OPERATORS_ORDERED_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/exec/budget.h"
#include "common/error.h"

#define STA_SLICE_ROWS 16384     /* sorts within a core's cache, and is large beside what a slice costs */
#define STA_SLICE_ROW_GROUPS 256 /* of a slice with the rows aimed at; more make it larger */
#define STA_ORDERED_RECORD 64    /* bytes of a record at most */
#define STA_ORDERED_CONSUMERS 4

/* What is known of a row group before it is read. */
struct sta_ordered_row_group {
    int64_t ts_min, ts_max; /* of its rows */
    uint32_t rows;
};

/* ---- what a consumer gives: the records of a row group */

struct sta_ordered_out; /* where they go: of one consumer, worker and row group */

/**
 * sta_ordered_reserve - space for records of unit 0, to be written one after the other
 * They are ascending by time, and inside the row group's [ts_min, ts_max]; sta_ordered_put then says how many
 * there are.  Return: NULL when the memory is refused.
 */
void *sta_ordered_reserve(struct sta_ordered_out *out, size_t records, struct sta_error *err);
STA_MUSTCHECK int sta_ordered_put(struct sta_ordered_out *out, size_t records, struct sta_error *err);

/* The rows of a row group that give records. */
struct sta_ordered_rows {
    const uint32_t *rows; /* their numbers, ascending by time */
    uint32_t count;
    const int64_t *ts;     /* by row number */
    const uint32_t *units; /* by row number: all below .. */
    uint32_t unit_limit;
};

/* Those of one slice: rows[first] to rows[end - 1].  The record of such a row goes to records + next[its
 * unit]++ * (size of a record). */
struct sta_ordered_part {
    uint32_t first, end;
    void *records;
    uint32_t *next; /* by unit */
};

/**
 * sta_ordered_place - space for the records of these rows, slice by slice
 * @part: all zero at first; of each call the next slice that has rows, first == end behind the last one
 * For each row group the loop is gone through to its end, unless something fails; instead of
 * sta_ordered_reserve. Return: 0, or a status when the memory is refused.
 */
STA_MUSTCHECK int sta_ordered_place(struct sta_ordered_out *out, const struct sta_ordered_rows *rows,
                                    struct sta_ordered_part *part, struct sta_error *err);

/* ---- what a consumer gets: slices */

/* Records of one unit, ascending by time; equal ones in the order of row groups and rows. */
struct sta_ordered_unit {
    uint32_t unit;
    uint32_t first, last; /* the operator's own */
    size_t count;
    const void *records; /* valid until the slice is done */
};

/* All records with from <= time < to. */
struct sta_slice {
    size_t number; /* 0 .. in order of time */
    int64_t from, to;
    const struct sta_ordered_unit *units; /* those that have records, each once, in no order */
    size_t unit_count;
};

/** The records of a consumer whose records are all of unit 0. */
static inline const void *sta_slice_records(const struct sta_slice *slice, size_t *count)
{
    *count = slice->unit_count > 0 ? slice->units[0].count : 0;
    return slice->unit_count > 0 ? slice->units[0].records : NULL;
}

/* A step of a slice.  A failure ends the pass, as one of reading does. */
typedef int (*sta_ordered_step)(void *self, unsigned worker, const struct sta_slice *slice,
                                struct sta_error *err);

/* Each callback gets the worker that calls it, numbered from 0; calls of one worker never overlap. */
struct sta_ordered_consumer {
    void *self;
    size_t record; /* bytes of a record, a multiple of 8; begins with an int64_t, its time */
    /** Gives the records of a row group.  @rows: as the pass's reader has left them. */
    int (*take)(void *self, unsigned worker, const void *rows, struct sta_ordered_out *out,
                struct sta_error *err);
    sta_ordered_step prepare, carry, measure, finalize; /* NULL: there is nothing to do */
};

/* ---- the pass */

struct sta_ordered_pass {
    const struct sta_ordered_row_group *row_groups;
    size_t row_group_count;
    /** Goes to a row group.  *rows: what consumers are shown of it, valid until the worker reads its next
     * one; NULL: nothing. */
    int (*read)(void *context, unsigned worker, size_t row_group, const void **rows, struct sta_error *err);
    void *context;
    const struct sta_ordered_consumer *consumers;
    size_t consumer_count; /* 1 .. STA_ORDERED_CONSUMERS */
    size_t slice_rows;     /* that a slice aims at */
};

/**
 * sta_ordered_run - read all row groups, take all consumers through all slices
 * Checks the budget before each row group and each slice.  Return: 0; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY
 * of the budget; what a callback returned.
 */
STA_MUSTCHECK int sta_ordered_run(const struct sta_ordered_pass *pass, const struct sta_budget *budget,
                                  struct sta_error *err);

#endif
