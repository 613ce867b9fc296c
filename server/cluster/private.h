/* private.h - what the files of the cluster share. */
#ifndef STA_CLUSTER_PRIVATE_H
#define STA_CLUSTER_PRIVATE_H

#include <stdatomic.h>
#include <uv.h>

#include "cluster/cluster.h"
#include "cluster/transport.h"
#include "store/store.h"

#define STA_HOST_SIZE 64
#define STA_KEPT_OPEN 16 /* traces that a rank keeps open */

/* A rank, as this one knows it. */
struct sta_cluster_member {
    char host[STA_HOST_SIZE];
    uint64_t heard;   /* when, uv_hrtime */
    uint32_t queries; /* that it works on */
};

/* Seconds of rank 0 that no other rank shortens, in ns: what the cost model wants to know. */
struct sta_cluster_times {
    _Atomic uint64_t waiting; /* for states of other ranks, its own stripe being done */
    _Atomic uint64_t planning, granting, merging, publishing; /* of ingests that ranks share */
    _Atomic uint64_t exchanging;              /* what rank 0 itself waits for units and codes */
    _Atomic uint64_t queries, queries_redone; /* shared; stripes that rank 0 did for another */
    _Atomic uint64_t units;                   /* of ingests that other ranks have read */
};

/* Something under way: the head of what is known of it. */
struct sta_task {
    struct sta_task *next;
    uint64_t subject;
    _Atomic bool *cancel; /* of what a rank does */
};
struct sta_waiting;

struct sta_cluster {
    struct sta_cluster_options options;
    struct sta_transport *transport;
    struct sta_peers peers;
    struct sta_fellow_readers readers;
    struct sta_cluster_member *members; /* by rank */
    uv_mutex_t lock;                    /* guards members and all below */
    uv_cond_t changed;
    bool stopped;                /* rank 0 has ended the job */
    struct sta_waiting *waiting; /* rank 1 and more: for the end */
    uv_async_t *stop_async;      /* rank 1 and more: wakes its main loop; NULL: none */
    uint64_t next_subject;
    struct sta_task *queries, *ingests; /* rank 0: that are shared */
    struct sta_task *work, *readings;   /* what a rank does of them, also rank 0 of ingests */
    _Atomic unsigned working;           /* as many of all four; read without the lock by the transport */
    struct sta_store
        *store; /* attached: parts are written by it, and other ranks read by it; NULL: not yet */
    bool store_is_ready;
    struct sta_snapshot *open[STA_KEPT_OPEN]; /* likewise: versions that were asked lately */
    size_t next_open;
    struct sta_presets *presets; /* likewise */
    struct sta_cluster_times times;
};

/** Sends a message to any rank, this one too.  Takes it over.  Context: any thread. */
void sta_cluster_send(struct sta_cluster *cluster, unsigned rank, struct sta_message *message);
/** The same with what the job cannot go on without: where memory is short, it is ended. */
void sta_cluster_say(struct sta_cluster *cluster, unsigned rank, enum sta_message_kind kind, uint64_t subject,
                     const struct sta_buffer *bytes);
/** Adds it to a list of the cluster.  @subject: 0: the next number of rank 0. */
void sta_task_begin(struct sta_cluster *cluster, struct sta_task **list, struct sta_task *task,
                    uint64_t subject);
void sta_task_end(struct sta_cluster *cluster, struct sta_task **list, const struct sta_task *task);
/** NULL: there is none.  Context: the cluster's lock is held. */
struct sta_task *sta_task_find(struct sta_task *list, uint64_t subject);
/** Takes a message over.  Context: the transport's thread, as all that these do; of one to oneself its
 * sender's. */
void sta_members_heard(struct sta_cluster *cluster, struct sta_message *message);
void sta_members_beat(void *cluster);
/** Rank 0: the state of a stripe has come. */
void sta_queries_arrived(struct sta_cluster *cluster, struct sta_message *message);
/** Other ranks: a query has come. */
void sta_work_begin(struct sta_cluster *cluster, struct sta_message *message);
/** Cancels all work and waits for its end.  Context: main thread. */
void sta_work_end_all(struct sta_cluster *cluster);

struct sta_shared;
struct sta_shared *sta_queries_send(void *context, const struct sta_buffer *query,
                                    const struct sta_budget *budget);
int sta_queries_take(struct sta_shared *shared, unsigned rank, const struct sta_budget *budget,
                     struct sta_cursor *state, struct sta_error *err);
void sta_queries_end(struct sta_shared *shared);

int sta_cluster_read(void *context, const struct sta_shared_reading *reading, struct sta_error *err);
/** Rank 0: before and after that it worked alone. */
void sta_cluster_note_alone(void *context, uint64_t plan_ns, uint64_t publish_ns);
/** Rank 0: a rank wants a unit or codes, or has done a unit or the whole ingest. */
void sta_coordinator_arrived(struct sta_cluster *cluster, struct sta_message *message);
/** An ingest has begun, rank 0 has replied. */
void sta_reading_begin(struct sta_cluster *cluster, struct sta_message *message);
void sta_reading_reply(struct sta_cluster *cluster, struct sta_message *message);

/** Starts a thread that nobody joins. */
void sta_work_start_thread(void *(*run)(void *argument), void *argument);
/** Opens the store of rank 0, which may have made it after this rank began. */
STA_MUSTCHECK int sta_work_attach_store(struct sta_cluster *cluster, struct sta_error *err);

#endif
