/* extract.h - from events to a model, in steps (private to simulate). */
#ifndef STA_SIMULATE_EXTRACT_H
#define STA_SIMULATE_EXTRACT_H

#include "simulate/model.h"

/* The samples that one worker makes in one epoch. */
struct sta_share {
    const struct sta_role_thread *thread;
    size_t first, count; /* of its events of role ITEM */
};

/* A rank while the model is made. */
struct sta_rank_source {
    struct sta_role_thread *thread; /* computes */
    struct sta_role_thread *
        *workers; /* the group's other threads with samples, in the order of their forks */
    size_t worker_count;
};

struct sta_extraction {
    struct sta_model *model;
    struct sta_role_events *events;
    const struct sta_budget *budget;
    struct sta_assumption assumed;
    struct sta_rank_source *sources;  /* by rank */
    struct sta_role_thread **workers; /* of all ranks */
    struct sta_share *shares;         /* by epoch of the model: its workers, those with samples */
    size_t share_count, share_capacity;
    size_t *share_first; /* by epoch; one more at the end */
    /* By file, of the job that is being made: its place among the model's files; where its calls ended. */
    size_t *place_of_file;
    int64_t *end_of_file;
};

/** Finds ranks and workers.  Refuses compute-threads, no-compute, orphans. */
STA_MUSTCHECK int sta_extract_ranks(struct sta_extraction *extraction, struct sta_error *err);
/** Epochs and steps of all ranks.  Refuses no-steps. */
STA_MUSTCHECK int sta_extract_steps(struct sta_extraction *extraction, struct sta_error *err);
/** Which worker makes which samples in which epoch.  Refuses no-items, mixed. */
STA_MUSTCHECK int sta_extract_shares(struct sta_extraction *extraction, struct sta_error *err);

/* Jobs by kind of loader; each removes the jobs that there were. */
STA_MUSTCHECK int sta_extract_inline(struct sta_extraction *extraction, struct sta_error *err);
/** *fits: false when no batch size fits, or the prefetch would be too deep: then it is none of this kind.
 * Refuses batch. */
STA_MUSTCHECK int sta_extract_round_robin(struct sta_extraction *extraction, bool *fits,
                                          struct sta_error *err);
STA_MUSTCHECK int sta_extract_pool(struct sta_extraction *extraction, struct sta_error *err);

/** The small times around the work, once there are jobs. */
STA_MUSTCHECK int sta_extract_overheads(struct sta_extraction *extraction, struct sta_error *err);

/** Adds the job that a thread did in [ts, te). */
STA_MUSTCHECK int sta_add_job(struct sta_extraction *extraction, const struct sta_role_thread *thread,
                              int64_t ts, int64_t te, uint32_t lane, struct sta_error *err);

/** First of @count events, ascending by start, that begins at @ts or later. */
size_t sta_first_event(const struct sta_role_event *events, size_t count, int64_t ts);

#endif
