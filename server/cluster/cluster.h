/* cluster.h - one daemon of several processes: ranks of an MPI job that work on one store.
 *
 * Rank 0 is the daemon: it holds the store's lock, serves HTTP, plans and publishes, and works like the
 * others.  All others serve rank 0 and end with it.  A process that MPI did not start calls nothing here but
 * sta_cluster_is_rank.  Without MPI (none.c) that is false. */
#ifndef STA_CLUSTER_CLUSTER_H
#define STA_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/exec/peers.h"
#include "common/error.h"
#include "server/ingest.h"
#include "server/library.h"

struct sta_account;
struct sta_cluster;

struct sta_cluster_options {
    const char *store; /* folder, which all ranks see */
    const char *spill; /* folder of this node for what does not fit the memory */
    struct sta_preset_folders presets;
    struct sta_roots *roots;     /* where files may be read */
    unsigned workers;            /* threads of a query */
    size_t memory;               /* bytes of this process */
    uint64_t columns;            /* bytes of decoded columns that a rank keeps */
    uint32_t stripe;             /* row groups next to each other that one rank has */
    uint64_t range;              /* least bytes of a file's range that a rank reads */
    uint64_t silence;            /* seconds without a word from a rank after which the job is ended */
    struct sta_account *account; /* of this process; borrowed, as all above */
    /** Rank 0: another rank got a signal to end.  Context: another thread; must not wait. */
    void (*stop_wanted)(void *context);
    void *stop_context;
};

/** Whether this process was started as a rank. */
bool sta_cluster_is_rank(void);
/** Starts MPI.  Return: 0, STA_EINTERNAL.  Context: once in a process, main thread. */
STA_MUSTCHECK int sta_cluster_join(const struct sta_cluster_options *options, struct sta_cluster **cluster,
                                   struct sta_error *err);
unsigned sta_cluster_rank(const struct sta_cluster *cluster);
unsigned sta_cluster_size(const struct sta_cluster *cluster);
/** Ranks 1 and more: works for rank 0 until that ends the job.  Context: main thread. */
STA_MUSTCHECK int sta_cluster_work(struct sta_cluster *cluster, struct sta_error *err);
/** Ends the job, of rank 0, or this rank's part in it; waits for the other ranks to do the same.  Frees. */
void sta_cluster_leave(struct sta_cluster *cluster);

/** Rank 0: who shares queries; NULL when there is one rank alone.  Lives as long as the cluster. */
const struct sta_peers *sta_cluster_peers(const struct sta_cluster *cluster);
/** Rank 0: who reads the files of an ingest along; likewise. */
const struct sta_fellow_readers *sta_cluster_readers(const struct sta_cluster *cluster);
/** Rank 0: says where it listens, in the file `address` of the store. */
STA_MUSTCHECK int sta_cluster_announce(const struct sta_cluster *cluster, const char *address,
                                       struct sta_error *err);

/** Rank 0: appends what is known of the ranks, as a JSON list.  Return: the rank that has been silent for a
 * fifth of the time that ends the job, -1: none.  Context: any thread. */
int sta_cluster_put_ranks(struct sta_cluster *cluster, struct sta_buffer *out);
/** Rank 0: appends figures in the text format of Prometheus. */
void sta_cluster_put_metrics(struct sta_cluster *cluster, struct sta_buffer *out);

#endif
