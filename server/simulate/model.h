/* model.h - the data loading of a run, as the simulation needs it (private to simulate).
 *
 * All times are whole microseconds from the trace's origin; quotients are rounded down, also negative ones.
 * Ranks have epochs, epochs have steps, steps have jobs; each list lies in one array, in this order. */
#ifndef STA_SIMULATE_MODEL_H
#define STA_SIMULATE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/analyse.h"
#include "common/memory.h"
#include "common/number.h"
#include "simulate/simulate.h"

enum sta_loader { STA_LOADER_INLINE, STA_LOADER_ROUND_ROBIN, STA_LOADER_POOL };

#define STA_WITHOUT INT64_MIN /* a time that is not known */

/* One file that a job read. */
struct sta_job_file {
    uint32_t file; /* below the model's file_count */
    int64_t time;  /* of its storage calls, each moment once */
    int64_t bytes; /* above 0 */
};

/* What a worker does without pause: a batch, or in a pool one sample. */
struct sta_model_job {
    int64_t ts, te;
    int64_t storage, preprocess; /* parts of te - ts; the rest is other work */
    size_t file_first;
    uint32_t file_count;
    uint32_t lane; /* number of its worker in the epoch */
    bool demanded; /* pool: begun after the rank asked for the batch */
};

struct sta_model_step {
    int64_t asked, got;   /* the rank wants a batch, and has it */
    int64_t begun, ended; /* it computes */
    int64_t checkpoint;   /* within the time until the next request */
    int64_t pre;          /* begun - got */
    int64_t post;         /* from the step's release to the next request, without checkpoints */
    size_t job_first;
    uint32_t job_count;
    bool fetched; /* an event says so; else it is taken from the yields and the computation */
};

struct sta_model_epoch {
    int64_t start, end;
    size_t step_first;
    uint32_t step_count, workers;
    int64_t ask;          /* first request - start */
    int64_t tail;         /* what follows the last step */
    int64_t first, extra; /* inline: when the first job begins; what the first fetch takes beyond it */
    int64_t first_hand;   /* what the first hand-over takes, or STA_WITHOUT */
    int64_t pitch;        /* what one more worker adds to the start */
    int64_t gap;          /* to the next epoch */
    size_t up_first;      /* when each worker's first job begins, after start */
    uint32_t up_count;
};

struct sta_model_rank {
    char *host; /* NULL: missing */
    uint32_t host_number;
    int64_t pid, tid;
    size_t epoch_first;
    uint32_t epoch_count;
    int64_t get, hand; /* taking a batch that is there; handing over one that is waited for */
    int64_t busy;      /* between two jobs of a busy worker */
    int64_t wake;      /* from an index sent to an idle worker to its job */
    int64_t fill;      /* inline: what a fetch takes beyond its job */
};

enum sta_prefetch_source {
    STA_PREFETCH_NONE, /* the loader has none */
    STA_PREFETCH_INFERRED,
    STA_PREFETCH_AT_LEAST, /* no worker ever waited for an index */
    STA_PREFETCH_DEFAULT,
    STA_PREFETCH_GIVEN
};

#define STA_MODEL_NOTES 16

struct sta_model {
    _Atomic unsigned references;
    struct sta_account *account; /* of the arrays */
    enum sta_loader loader;
    bool barrier;      /* ranks leave each step together */
    uint32_t workers;  /* most of a rank in an epoch */
    uint32_t prefetch; /* batches ahead of each worker; 0: not known */
    enum sta_prefetch_source prefetch_source;
    int64_t batch; /* samples; 0: not known */
    struct sta_model_rank *ranks;
    struct sta_model_epoch *epochs;
    struct sta_model_step *steps;
    struct sta_model_job *jobs;
    struct sta_job_file *files;
    int64_t *ups; /* of the epochs' workers */
    size_t rank_count, epoch_count, step_count, job_count, job_file_count, up_count;
    size_t epoch_capacity, step_capacity, job_capacity, job_file_capacity, up_capacity;
    uint32_t most_epochs; /* of a rank */
    uint32_t file_count;
    int64_t origin_us; /* Unix time of the times' zero */
    struct sta_contention contention;
    char *notes[STA_MODEL_NOTES];
    size_t note_count;
};

static inline const struct sta_model_epoch *sta_model_epoch(const struct sta_model *model, size_t rank,
                                                            size_t epoch)
{
    return &model->epochs[model->ranks[rank].epoch_first + epoch];
}

static inline const struct sta_model_step *sta_model_step(const struct sta_model *model,
                                                          const struct sta_model_epoch *epoch, size_t step)
{
    return &model->steps[epoch->step_first + step];
}

static inline int64_t sta_job_span(const struct sta_model_job *job)
{
    return job->te - job->ts;
}

/** Whether all ranks have as many epochs of as many steps. */
bool sta_model_is_even(const struct sta_model *model);
void sta_model_note(struct sta_model *model, const char *format, ...) STA_PRINTF(2, 3);

/** From events that were read already, which it changes.  As sta_model_create. */
STA_MUSTCHECK int sta_model_of_events(struct sta_role_events *events, const struct sta_assumption *assumed,
                                      int64_t origin_us, const struct sta_budget *budget,
                                      struct sta_model **model, struct sta_error *err);

/** Bytes that it holds. */
size_t sta_model_bytes(const struct sta_model *model);
/** Counts its memory in another account, if it fits there.  Context: before it is shared. */
bool sta_model_move(struct sta_model *model, struct sta_account *account);
/** See struct sta_contention.  Once the jobs are known. */
STA_MUSTCHECK int sta_measure_contention(const struct sta_model *model, const struct sta_budget *budget,
                                         struct sta_contention *contention, struct sta_error *err);

/** A refusal: the trace lacks what the model needs.  @reason: its code, static.  Return: STA_EUNFIT. */
int sta_model_refuse(struct sta_error *err, const char *reason, const char *format, ...) STA_PRINTF(3, 4);

/** Shared by the lower medians here: the middle value, the lower one of two; 0 of none. */
static inline size_t sta_lower_middle(size_t count)
{
    return (count - 1) / 2;
}

#endif
