/* phases.h - epochs, steps, compute and training of each rank (private to findings).
 *
 * findings.md part 1.  Times are ticks.  Ranks have the numbers that a scope of rank groups gives them, which
 * are the same for every such scope of a snapshot. */
#ifndef STA_FINDINGS_PHASES_H
#define STA_FINDINGS_PHASES_H

#include "findings/run.h"
#include "analyse/intervals/pieces.h"

/* Disjoint, ascending. */
struct sta_moments {
    struct sta_interval *items;
    size_t count;
};
/** How long they are, cut to [from, to). */
int64_t sta_moments_within(const struct sta_moments *moments, int64_t from, int64_t to);
/** How long they are. */
int64_t sta_moments_length(const struct sta_moments *moments);

struct sta_epoch {
    int64_t number;
    int64_t from, to;
    /* Shared with the epochs of equal number of other ranks that run at the same time, also by way of a third
     * one: a trace may hold jobs that ran one after the other, each with an epoch 1. */
    uint32_t shared;
};

/* Steps tile their epoch. */
struct sta_step {
    int64_t epoch;
    int64_t number; /* from 1; 0: what follows the last step */
    int64_t from, to;
    int64_t compute; /* how long it computes */
};

struct sta_rank {
    int64_t start, end; /* of all its events; start > end: it has none */
    struct sta_moments compute, training, checkpoint;
    struct sta_epoch *epochs;
    size_t epoch_count;
    struct sta_step *steps; /* of the epochs, one after another */
    size_t step_count;
};

struct sta_phases {
    struct sta_overlap_request request;
    struct sta_overlap_binding binding; /* its scope names the ranks */
    struct sta_rank *ranks;             /* by number */
    uint32_t rank_count;
    uint32_t *order; /* numbers of the ranks that have events, by key */
    uint32_t order_count;
    int64_t *numbers; /* of epochs: all that some rank has, ascending */
    size_t number_count;
    uint64_t events;
    uint32_t hosts, processes;     /* that have events */
    struct sta_host_span *of_host; /* by code of the entities' hosts, one more for a missing one */
    uint32_t host_limit;
    uint8_t *has_steps; /* by thread code: 1 when it has events of the phase step */
    struct sta_account *account;
};

/** The first epoch of a rank that ends behind a moment; epoch_count when there is none. */
size_t sta_rank_epoch_behind(const struct sta_rank *rank, int64_t moment);

/** One pass.  Return: 0, or what reading the request or the pass failed with; fini also then. */
STA_MUSTCHECK int sta_phases_read(struct sta_run *run, struct sta_phases *phases, struct sta_error *err);
void sta_phases_fini(struct sta_phases *phases);

#endif
