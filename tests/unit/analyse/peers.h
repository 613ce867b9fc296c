/* peers.h - processes that are none: each query is worked on where it is asked (for tests). */
#ifndef STA_TESTS_ANALYSE_PEERS_H
#define STA_TESTS_ANALYSE_PEERS_H

#include "analyse/analyse.h"
#include "analyse/exec/peers.h"
#include "common/buffer.h"

#define PEERS 4

struct peers {
    struct sta_peers calls; /* for a budget */
    struct sta_presets *presets;
    struct sta_snapshot *snapshot;
    struct sta_buffer query, states[PEERS];
    int status[PEERS]; /* by rank: how its work ends; 0: by itself */
    unsigned asked_count, ended;
};

/** @count: of processes, 2 .. PEERS; @presets, @snapshot: borrowed.  A stripe is one row group. */
void peers_init(struct peers *peers, unsigned count, struct sta_presets *presets,
                struct sta_snapshot *snapshot);
void peers_fini(struct peers *peers);
/** What @size bytes of the last query come to; the state goes to @state. */
int peers_work(struct peers *peers, size_t size, unsigned rank, const struct sta_budget *budget,
               struct sta_buffer *state, struct sta_error *err);

#endif
