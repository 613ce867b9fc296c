/* rank.h - a rank's state, shared by the files that say what a rank does: rank.c, steps.c, sample.c. */
#ifndef STRATA_RANK_H
#define STRATA_RANK_H

#include "generator.h"

#define START_TIME INT64_C(1744611912981173) /* microseconds: of the first rank, about */

enum {
    SAMPLES = 4,            /* of a reader in a step */
    PREADS_MOST = 14,       /* reads of a file */
    TENSORS = 6,            /* writes of a checkpoint */
    COMPUTE_TIME = 1361000, /* microseconds, typically */
    INPUT_TIME = 400000     /* what a step that ranks end together leaves for its samples */
};

struct rank {
    const struct options *options;
    const struct shape_layers *shape;
    struct totals *totals;
    struct process *processes; /* the main one, then its readers */
    unsigned number, count;
    struct random random;
    int64_t now, latest;      /* the rank's clock; the latest end of its readers' start */
    uint64_t budget, written; /* events */
    unsigned epoch, step, samples_made, checkpoints;
    unsigned epoch_step;
    int64_t meeting; /* when ranks that go together end the current step */
    bool in_epoch, done;
    uint64_t run_id, epoch_id;
    int64_t run_ts, epoch_ts;
    int64_t *cursors; /* of a step: each reader's clock, and what it has yet to fetch */
    unsigned *hidden;
    struct intervals layers[LAYERS_LIMIT]; /* of the current window */
    int64_t exposed[LAYERS_LIMIT];
};

/* ---- calls.c */

/** A call that begins now; its id comes before those of what it calls. */
struct call call_at(struct process *process, enum kind kind, int64_t ts);
/** Ends and writes a call. */
void finish(struct process *process, struct call *call, int64_t end, uint64_t parent, int level);
/** A call without children: begins at *@now, moves it on. */
void simple(struct process *process, struct call call, int64_t *now, int64_t typical, uint64_t parent,
            int level);
void get_uri(struct process *process, int64_t *now, uint64_t parent, int level);
struct call file_call(enum kind kind, uint64_t file, int64_t fd);
/** Adds what the window holds to the totals, and begins the next. */
void close_window(struct rank *rank);

/* ---- sample.c */

/** Reads one file of the dataset in @process, beginning at *@now. */
void fetch_sample(struct rank *rank, struct process *process, int64_t *now, uint64_t parent);

/* ---- steps.c */

void step(struct rank *rank);
/** Moves the meeting to the end of the next step.  Return: what its compute takes, in all ranks alike. */
int64_t next_meeting(struct rank *rank);
void checkpoint(struct rank *rank);
/** The most events that a step may take. */
uint64_t step_cost(const struct rank *rank);

/* ---- rank.c */

void rank_begin(struct rank *rank);
/** Does the next thing.  Return: whether there is more to do. */
bool rank_advance(struct rank *rank);

#endif
