/* peers.h - the processes of one job, which share the row groups of a query.
 *
 * Rank 0 has the query.  What it can share it sends to all others, works on its own stripe meanwhile, takes
 * their partial states and combines them with its own.  A stripe that a rank cannot give is done by rank 0,
 * so that a shared query fails where an unshared one would, and nowhere else.  Who carries the bytes is
 * server/cluster. */
#ifndef STA_ANALYSE_EXEC_PEERS_H
#define STA_ANALYSE_EXEC_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/exec/budget.h"
#include "common/buffer.h"

struct sta_shared; /* a query that the other ranks work on */

struct sta_peers {
    unsigned count; /* of processes, this one included */
    uint32_t width; /* of a stripe, in row groups */
    double
        most; /* of the rows that one range of time may read, where time is shared: else it is not worth it */
    void *context;
    /** Sends a query to all others.  Return: NULL when it cannot be sent. */
    struct sta_shared *(*send)(void *context, const struct sta_buffer *query,
                               const struct sta_budget *budget);
    /** Waits for the state of a rank, 1 .. count - 1.  *state: valid until `end`.  Return: 0; STA_ECANCELLED,
     * STA_ELIMIT of the budget; STA_EOUTDATED: that rank could not do it. */
    int (*take)(struct sta_shared *shared, unsigned rank, const struct sta_budget *budget,
                struct sta_cursor *state, struct sta_error *err);
    /** Who still works on it stops.  Frees. */
    void (*end)(struct sta_shared *shared);
};

/* Which row groups are whose: runs of `width`, dealt in turn, so that what is read often stays decoded where
 * it was, and what statistics leave of the row groups is spread. */
struct sta_stripe {
    unsigned own, count;
    uint32_t width;
};

static inline bool sta_stripe_has(const struct sta_stripe *stripe, size_t row_group)
{
    return row_group / stripe->width % stripe->count == stripe->own;
}

#endif
