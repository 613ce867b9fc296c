/* pieces.h - intervals that a sweep finds piece by piece, put together afterwards.
 *
 * A piece belongs to a track of a unit (say, the set io of rank 7).  Intervals of a track never overlap, but
 * they come cut where slices are cut; joined, no two touch. */
#ifndef STA_ANALYSE_INTERVALS_PIECES_H
#define STA_ANALYSE_INTERVALS_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/intervals/sweep.h"

struct sta_pieces;

struct sta_pieces_options {
    uint32_t tracks; /* at most STA_SWEEP_SETS */
    unsigned workers;
    /* Of the intervals that no cut goes through only so many are kept, the longest; 0: all.  Of equally long
     * ones those that begin first, then those of units that go before by `compare`, which any worker may
     * call. */
    uint32_t longest;
    int (*compare)(const void *context, uint32_t unit, uint32_t other);
    const void *context;
};

struct sta_pieces *sta_pieces_create(const struct sta_pieces_options *options);
void sta_pieces_destroy(struct sta_pieces *pieces); /* NULL allowed */
/** Adds a stretch to a track.  Context: worker @worker, one call at a time each, in the order in which the
 * sweep gives them. */
void sta_pieces_add(struct sta_pieces *pieces, unsigned worker, const struct sta_sweep_stretch *stretch,
                    uint32_t track);
/** Bytes held, for the budget; joining takes as much again.  Context: any thread. */
size_t sta_pieces_bytes(const struct sta_pieces *pieces);

/* Joined intervals.  Of track t of unit u, with n = u * tracks + t: from[i] for i from first[n] on, counts[n]
 * of them, ascending.  before[i]: how much of the track is covered before from[i]; it has one more, so that
 * interval i ends at from[i] + before[i + 1] - before[i]. */
struct sta_tracks {
    uint32_t units, tracks;
    size_t *first, *counts;
    int64_t *from, *before;
    struct sta_account *account;
};

/** After the pass, once: what is kept, but for the longest; the pieces are let go.  Charged to the budget's
 * account.  Return: 0; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY of the budget; sta_tracks_fini also then. */
STA_MUSTCHECK int sta_pieces_join(struct sta_pieces *pieces, uint32_t units, const struct sta_budget *budget,
                                  struct sta_tracks *tracks, struct sta_error *err);
/** After the join: the longest of the whole intervals of each worker, as unit (cell) and track (mask), in no
 * order; free() it. */
struct sta_span *sta_pieces_longest(const struct sta_pieces *pieces, size_t *count);
void sta_tracks_fini(struct sta_tracks *tracks);

static inline int64_t sta_tracks_end(const struct sta_tracks *tracks, size_t i)
{
    return tracks->from[i] + tracks->before[i + 1] - tracks->before[i];
}

/** How much of a track lies before a moment. */
int64_t sta_tracks_before(const struct sta_tracks *tracks, size_t track, int64_t at);

#endif
