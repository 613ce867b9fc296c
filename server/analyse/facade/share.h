/* share.h - work on the stripe of a query that another process has asked (public part of analyse.h). */
#ifndef STA_ANALYSE_FACADE_SHARE_H
#define STA_ANALYSE_FACADE_SHARE_H

#include "analyse/exec/peers.h"
#include "store/store.h"

struct sta_presets;

/* What the process has that a query may name. */
struct sta_share_host {
    void *context;
    /** A version of a trace; STA_EOUTDATED when it is not the published one any more. */
    int (*open)(void *context, const char *trace, uint64_t version, struct sta_snapshot **snapshot,
                struct sta_error *err);
    /** The presets of a fingerprint, retained; STA_EOUTDATED when these here are others. */
    int (*find_presets)(void *context, uint64_t fingerprint, struct sta_presets **presets,
                        struct sta_error *err);
};

/**
 * sta_share_work - compute the partial state of a stripe
 * @query: what sta_peers.send was given; @state: the bytes are appended
 * Return: 0; STA_EOUTDATED, STA_ECORRUPT when the query is none that this program asks, or what computing
 * it returned.  Context: any thread.
 */
STA_MUSTCHECK int sta_share_work(const struct sta_share_host *host, struct sta_cursor *query,
                                 const struct sta_stripe *stripe, const struct sta_budget *budget,
                                 struct sta_buffer *state, struct sta_error *err);

#endif
