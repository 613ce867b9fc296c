/* scan.h - one parallel pass over the rows of a snapshot, for many accumulators at once (private to analyse).
 *
 * Each row group that may matter is visited by some worker, which narrows its rows to the window and the
 * filter, classifies them, and shows them to every accumulator.  It is visited once; but where rows are
 * wanted in order of time and memory is short, in parts that follow one another in time, so that each row is
 * still shown once.  Accumulators keep one state per worker and merge them after the pass; whatever they add
 * must be associative and commutative, so that results do not depend on who saw which rows. */
#ifndef STA_ANALYSE_SOURCES_SCAN_H
#define STA_ANALYSE_SOURCES_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/analyse.h"
#include "analyse/layers/classify.h"
#include "analyse/sources/columns.h"
#include "analyse/operators/ordered.h"

/* The rows of one row group, as an accumulator sees them. */
struct sta_scan_rows {
    struct sta_column_reader *reader; /* decodes what is asked for */
    const struct sta_row_group *row_group;
    const uint32_t *classes;  /* by row, of those selected; NULL when the scan has no classes */
    const uint32_t *selected; /* row numbers inside window and filter, ascending; NULL: all of them */
    uint32_t count;           /* of the selected rows, at least 1 */
};

static inline uint32_t sta_scan_row(const struct sta_scan_rows *rows, uint32_t i)
{
    return rows->selected != NULL ? rows->selected[i] : i;
}

/** Of some rows (@selected; NULL: 0 .. @count - 1) those that a condition holds for, to @kept, which may be
 * @selected.  Return: how many. */
uint32_t sta_scan_keep(const uint8_t *holds, const uint32_t *selected, uint32_t count, uint32_t *kept);

struct sta_accumulator {
    void *self;
    /** Context: worker @worker, numbered from 0; calls of one worker never overlap. */
    int (*update)(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err);
};

struct sta_scan {
    const struct sta_columns *columns;
    struct sta_classes *classes;         /* NULL: rows are not classified */
    const struct sta_expression *filter; /* a condition over the columns' schema; NULL: every row */
    int64_t from, to;                    /* ticks: keeps from <= ts < to.  INT64_MIN, INT64_MAX: open */
    const struct sta_accumulator *accumulators;
    size_t accumulator_count;
    /* Who wants the rows in order of time: `take` is shown a struct sta_scan_rows. */
    const struct sta_ordered_consumer *ordered;
    size_t ordered_count;
    /** Whether a row group may be left out beyond what window and filter rule out (sta_predicates_rule_out);
     * NULL: none. */
    bool (*skip)(void *context, const struct sta_row_group *row_group);
    void *skip_context;
    size_t slice_rows; /* of the ordered consumers; 0: STA_SLICE_ROWS */
};

/** Return: 0, STA_ECANCELLED, STA_ELIMIT (deadline, a pattern's match limit), STA_ENOMEM, STA_ECORRUPT, or
 * what an accumulator returned. */
STA_MUSTCHECK int sta_scan_run(const struct sta_scan *scan, const struct sta_budget *budget,
                               struct sta_error *err);

/* ---- the parts of a pass, for those who go through the row groups in an order of their own */

/** Numbers of the row groups that may matter, ascending, for at most sta_snapshot_row_group_count; *numbers:
 * free(). */
size_t sta_scan_choose(const struct sta_scan *scan, uint32_t **numbers);

struct sta_scan_visitor; /* one thread's view of a row group after the other */
/** @filter: the program of the scan's filter, shared by visitors; NULL without one.  @scan: borrowed.
 * @budget: of the filter. */
struct sta_scan_visitor *sta_scan_visitor_create(const struct sta_scan *scan, struct sta_program *filter,
                                                 const struct sta_budget *budget);
void sta_scan_visitor_destroy(struct sta_scan_visitor *visitor); /* NULL allowed */
/** Its reader, for who goes to row groups without narrowing their rows. */
struct sta_column_reader *sta_scan_visitor_reader(struct sta_scan_visitor *visitor);
/** Goes to a row group.  @rows: those inside window and filter, maybe none; theirs until the next visit.
 * Classes only when there are rows. */
STA_MUSTCHECK int sta_scan_visit(struct sta_scan_visitor *visitor, const struct sta_row_group *row_group,
                                 struct sta_scan_rows *rows, struct sta_error *err);

#endif
