/* tally.h - what was measured in each accumulator over one bin, and what that means for the rows (private to
 * exact).
 *
 * A bin may be measured in several intervals by several workers.  Each keeps what it has; where one has not
 * measured a bin alone, the parts are put together, and the bin is settled when its whole width has been
 * measured. */
#ifndef STA_ANALYSE_EXACT_TALLY_H
#define STA_ANALYSE_EXACT_TALLY_H

#include "analyse/exact/bins.h"
#include "analyse/exact/contributions.h"
#include "common/buffer.h"

/* Of one accumulator; nothing of a presence. */
struct sta_exact_measure {
    int64_t total;   /* its union */
    int64_t covered; /* the part of it in which the compute layer was busy .. */
    int64_t inner;   /* .. in which a child was */
};

struct sta_tallies;

/** All borrowed. */
struct sta_tallies *sta_tallies_create(struct sta_contributions *contributions,
                                       const struct sta_exact_bins *bins, struct sta_account *account);
void sta_tallies_destroy(struct sta_tallies *tallies); /* NULL allowed */
/** Instead of being settled, what workers bring is put into @state, for another process. */
void sta_tallies_put_into(struct sta_tallies *tallies, struct sta_buffer *state);
/** Where settled bins go; NULL until that is known: then bins wait for sta_tallies_finish. */
void sta_tallies_set_fields(struct sta_tallies *tallies, struct sta_fields *cells,
                            struct sta_fields *metrics);

/* What was measured in an accumulator. */
struct sta_tally_item {
    uint32_t accumulator;
    struct sta_exact_measure measure;
};

/* What one worker brings. */
struct sta_tally {
    size_t bin;
    int64_t width;                      /* ticks of the bin that it has measured */
    const struct sta_tally_item *items; /* of distinct accumulators with an event in the bin */
    size_t item_count;
};

/* What the numbers of another process are here: STA_NO_CODE where there is none. */
struct sta_tally_names {
    uint32_t *accumulators; /* by number there */
    uint32_t accumulator_count;
};
/** Takes a worker's tally.  Return: 0, or what a charge returns.  Context: any worker. */
STA_MUSTCHECK int sta_tallies_take(struct sta_tallies *tallies, const struct sta_tally *tally,
                                   struct sta_error *err);
/** Reads a tally that was put into a state, which has some left.  @tally: its list is scratch memory for
 * all names.  Return: 0, STA_ECORRUPT. */
STA_MUSTCHECK int sta_tally_get(struct sta_cursor *in, const struct sta_tally_names *names,
                                const struct sta_exact_bins *bins, struct sta_tally *tally,
                                struct sta_error *err);
/** Settles what has come but waits.  Context: after the pass. */
void sta_tallies_finish(struct sta_tallies *tallies);
#endif
