/* pieces.h - intervals that a pass finds piece by piece, put together afterwards.
 *
 * A piece belongs to a track of a unit (say, the set io of rank 7).  Pieces of a track never overlap, but they come cut where slices are
 * cut; joined, no two touch. */
#ifndef STA_ANALYSE_INTERVALS_PIECES_H
#define STA_ANALYSE_INTERVALS_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/intervals/span.h"

struct sta_pieces;

struct sta_pieces *sta_pieces_create(uint32_t tracks, unsigned workers);
void sta_pieces_destroy(struct sta_pieces *pieces); /* NULL allowed */
/** Adds [from, to).  Context: worker @worker, one call at a time each; ascending in time where a worker adds to one track. */
void sta_pieces_add(struct sta_pieces *pieces, unsigned worker, uint32_t unit, uint32_t track, int64_t from,
                    int64_t to);
/** Bytes held, for the budget; joining takes as much again.  Context: any thread. */
size_t sta_pieces_bytes(const struct sta_pieces *pieces);

/** After the pass: the joined intervals by unit (cell), track (mask) and start; free() it.  Empties the pieces. */
struct sta_span *sta_pieces_join(struct sta_pieces *pieces, size_t *count);

#endif
