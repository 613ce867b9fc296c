/* pieces.h - intervals that a sweep finds piece by piece, put together afterwards.
 *
 * Intervals of a unit never overlap, but they come cut where slices are cut; joined, no two touch. */
#ifndef STA_ANALYSE_INTERVALS_PIECES_H
#define STA_ANALYSE_INTERVALS_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/intervals/span.h"
#include "analyse/intervals/sweep.h"

struct sta_pieces;

/** Takes an interval of a unit, on worker @worker.  A failure ends the pass. */
typedef int (*sta_pieces_take)(void *context, unsigned worker, uint32_t unit,
                               const struct sta_interval *interval, struct sta_error *err);

struct sta_pieces_options {
    const struct sta_budget *budget; /* borrowed; memory is charged to its account */
    /* Of the intervals that no cut goes through only so many are kept, the longest; 0: all.  Of equally long
     * ones those that go before by `compare`, which any worker may call; the unit is the span's cell. */
    uint32_t longest;
    int (*compare)(const void *context, const struct sta_span *span, const struct sta_span *other);
    const void *context;
    /* Gets each interval once, as soon as it is whole: by the worker that finds it, or, when a cut goes
     * through it, by sta_pieces_join as worker 0.  NULL: nobody; else `longest` is not 0. */
    sta_pieces_take take;
    void *taker;
};

struct sta_pieces *sta_pieces_create(const struct sta_pieces_options *options);
void sta_pieces_destroy(struct sta_pieces *pieces); /* NULL allowed */
/** Adds an interval.  Context: worker @worker, one call at a time each, in the order in which the sweep gives
 * them. */
STA_MUSTCHECK int sta_pieces_add(struct sta_pieces *pieces, unsigned worker,
                                 const struct sta_sweep_interval *interval, struct sta_error *err);

/* Joined intervals: those of unit u are items[first[u]] .. items[first[u] + counts[u] - 1], ascending. */
struct sta_joined {
    uint32_t units;
    size_t *first, *counts;
    struct sta_interval *items;
    int64_t left_out; /* that are not among the longest */
    struct sta_account *account;
};

/** After the pass, once; frees the pieces.  Return: 0; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY of the
 * budget; sta_joined_fini also then. */
STA_MUSTCHECK int sta_pieces_join(struct sta_pieces *pieces, uint32_t units, struct sta_joined *joined,
                                  struct sta_error *err);
/** How many intervals there are, with those that were left out. */
int64_t sta_joined_count(const struct sta_joined *joined);
void sta_joined_fini(struct sta_joined *joined);

#endif
