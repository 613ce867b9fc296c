/* unions.h - measures of unions of spans, one per slot, fed by the slices of a timeline.
 *
 * With spans in order of time a union needs only its running end: a span [ts, te) adds the piece [max(ts, end), te).  The end at
 * the start of a slice is the largest te of all earlier slices, which is known before those are measured; so slices are
 * measured in parallel, and what they add up is exact and independent of the cuts. */
#ifndef STA_ANALYSE_INTERVALS_UNIONS_H
#define STA_ANALYSE_INTERVALS_UNIONS_H

#include <stdint.h>

#include "analyse/intervals/cells.h"
#include "analyse/intervals/timeline.h"

struct sta_unions;

/** Takes a piece [from, to) that the union of a slot has gained.  Pieces of a slot never overlap; all together they are its union.
 * Called on worker @worker. */
typedef void (*sta_union_piece)(void *context, unsigned worker, uint32_t slot, int64_t from, int64_t to);

/** @cells: borrowed; may grow during the pass.  @piece: NULL when the measures are enough. */
struct sta_unions *sta_unions_create(struct sta_cells *cells, unsigned workers, sta_union_piece piece,
                                     void *context);
/** Before the pass: unions cover nothing before @begin, wherever their spans start. */
void sta_unions_set_begin(struct sta_unions *unions, int64_t begin);
void sta_unions_destroy(struct sta_unions *unions);

/* The three steps of struct sta_timeline_work, for a work whose context holds the unions. */
void sta_unions_prepare(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice);
void sta_unions_carry(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice);
void sta_unions_measure(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice);

/** After the pass: the measure of a slot's union, in ticks.  Context: one thread. */
int64_t sta_unions_total(const struct sta_unions *unions, uint32_t slot);
/** The same by set and unit; 0 where no event counted. */
int64_t sta_unions_of(struct sta_unions *unions, uint32_t set, uint32_t unit);

#endif
