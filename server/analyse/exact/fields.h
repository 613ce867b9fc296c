/* fields.h - the integers that every column of an exact table is made of (private to exact).
 *
 * All are bounded sums: what does not fit is STA_TOO_LARGE.  A cell is a row's part of one layer, or of one
 * derived metric.  The pass fills an array per field, with a value per cell: ticks, bytes or numbers of
 * things; columns.h turns them into what is shown. */
#ifndef STA_ANALYSE_EXACT_FIELDS_H
#define STA_ANALYSE_EXACT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/views/size_bins.h"
#include "common/account.h"

enum sta_field {
    STA_FIELD_EVENTS, /* that touch the cell; a row exists where there are any */
    STA_FIELD_COUNT,  /* that start there */
    STA_FIELD_TIME,
    STA_FIELD_SIZE,
    STA_FIELD_BIN, /* .. of sizes: STA_SIZE_BINS fields */
    STA_FIELD_BUSY = STA_FIELD_BIN + STA_SIZE_BINS,
    STA_FIELD_PROCESSES,
    STA_FIELD_PROCESS_MIN, /* of the measures by process .. */
    STA_FIELD_PROCESS_MAX,
    STA_FIELD_PROCESS_SUM,
    STA_FIELD_GROUP_SUM, /* .. by rank group */
    STA_FIELD_EXPOSED_SUM,
    STA_FIELD_EXPOSED_MAX,
    STA_FIELD_SELF_SUM,
    STA_FIELD_THREADS,
    STA_FIELD_HOSTS,
    STA_FIELD_FILES,
    STA_FIELDS
};

/* What a query needs: bits. */
enum sta_wants {
    STA_WANT_SIZES = 1,     /* bytes */
    STA_WANT_SIZE_BINS = 2, /* events by size */
    STA_WANT_BUSY = 4,      /* the union of each row */
    STA_WANT_UNITS = 8,     /* processes, rank groups, threads, hosts and their unions */
    STA_WANT_FILES = 16,
    STA_WANT_METRICS = 32, /* the derived metrics */
    STA_WANT_ALL = 63
};
#define STA_WANT_ORDER (STA_WANT_BUSY | STA_WANT_UNITS) /* these need events in order of time */

struct sta_fields {
    int64_t *values[STA_FIELDS]; /* NULL: not wanted */
    size_t cells;
    struct sta_account *account;
};

/** All 0, charged.  @wants: bits; counts and times are always there.  @metric: only what a derived metric
 * has. Fini also after a failure. */
STA_MUSTCHECK int sta_fields_init(struct sta_fields *fields, struct sta_account *account, size_t cells,
                                  unsigned wants, bool metric, struct sta_error *err);
void sta_fields_fini(struct sta_fields *fields);
/** Bytes that so many cells take. */
double sta_fields_bytes(size_t cells, unsigned wants, bool metric);

#endif
