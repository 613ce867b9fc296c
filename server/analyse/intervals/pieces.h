/* pieces.h - intervals that a sweep finds piece by piece, put together afterwards.
 *
 * Intervals of a unit never overlap, but they come cut where slices are cut; joined, no two touch. */
#ifndef STA_ANALYSE_INTERVALS_PIECES_H
#define STA_ANALYSE_INTERVALS_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/intervals/sweep.h"

struct sta_pieces;

struct sta_pieces_options {
    const struct sta_budget *budget; /* borrowed; memory is charged to its account */
    /* Of the intervals that no cut goes through only so many are kept, the longest; 0: all.  Of equally long
     * ones those that begin first, then those of units that go before by `compare`, which any worker may
     * call. */
    uint32_t longest;
    int (*compare)(const void *context, uint32_t unit, uint32_t other);
    const void *context;
};

struct sta_pieces *sta_pieces_create(const struct sta_pieces_options *options);
void sta_pieces_destroy(struct sta_pieces *pieces); /* NULL allowed */
/** Adds a interval.  Context: worker @worker, one call at a time each, in the order in which the sweep gives
 * them. */
STA_MUSTCHECK int sta_pieces_add(struct sta_pieces *pieces, unsigned worker,
                                 const struct sta_sweep_interval *interval, struct sta_error *err);

/* Joined intervals: those of unit u are items[first[u]] .. items[first[u] + counts[u] - 1], ascending. */
struct sta_joined {
    uint32_t units;
    size_t *first, *counts;
    struct sta_interval {
        int64_t from, to;
    } * items;
    struct sta_account *account;
};

/** After the pass, once; the pieces are let go.  Return: 0; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY of the
 * budget; sta_joined_fini also then. */
STA_MUSTCHECK int sta_pieces_join(struct sta_pieces *pieces, uint32_t units, struct sta_joined *joined,
                                  struct sta_error *err);
void sta_joined_fini(struct sta_joined *joined);

#endif
