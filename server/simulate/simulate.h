/* simulate.h - what if: the data loading of a training run under other workers, storage and accelerators.
 *
 * From a trace's steps and samples a model of its loader is made, which first reproduces the run as it was
 * and says how well, then runs scenarios.  Where the trace does not fit the model it is refused
 * (STA_EUNFIT, with a code word and a sentence) rather than guessed.  The published simulation of aligned
 * fetches stands beside it, on traces and on its own logs.  Knows events only through the facade of analyse,
 * and no HTTP. */
#ifndef STA_SIMULATE_SIMULATE_H
#define STA_SIMULATE_SIMULATE_H

#include "common/document.h"
#include "decode/decode.h"
#include "simulate/align.h"

/* What other samples that are made at the same time do to the time of a sample: a sign of full cores or
 * storage, which the model does not know. */
struct sta_contention {
    bool measured;    /* samples were made beside few and beside many others */
    double growth;    /* relative, of the time of a sample, by one more beside it */
    bool significant; /* far from chance, and not small */
};

struct sta_model; /* of one version of one trace; immutable, any thread */

/* What a request says about the trace that the trace does not; 0: found out. */
struct sta_assumption {
    int64_t batch;     /* samples of a batch */
    uint32_t prefetch; /* batches ahead of each worker */
};

/** Reads the member `assume` of a request.  Mistakes: STA_EINPUT with the parameter. */
STA_MUSTCHECK int sta_whatif_assumption(const struct sta_document *request, struct sta_assumption *assumed,
                                        struct sta_error *err);

/**
 * sta_model_create - the model of a trace
 * Return: 0; STA_EUNFIT with reason; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ECORRUPT.  Its
 * memory is charged to the budget's account until the last reference goes.
 */
STA_MUSTCHECK int sta_model_create(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                                   const struct sta_assumption *assumed, const struct sta_budget *budget,
                                   struct sta_model **model, struct sta_error *err);
struct sta_model *sta_model_retain(struct sta_model *model);
void sta_model_release(struct sta_model *model); /* NULL allowed */

/* Models that were made, for the next query to the same trace. */
struct sta_models;
/** @capacity: bytes that kept models may hold; @account: what they are charged to */
struct sta_models *sta_models_create(size_t capacity, struct sta_account *account);
void sta_models_destroy(struct sta_models *models);
/** Drops models that were used longest ago, until about so many bytes are free.  Return: how many are. */
size_t sta_models_shrink(struct sta_models *models, size_t bytes);
/**
 * sta_models_get - the kept model of a version of a trace, or a new one, which is kept if there is space
 * As sta_model_create; release the model.  Context: any thread.
 */
STA_MUSTCHECK int sta_models_get(struct sta_models *models, const char *trace, struct sta_snapshot *snapshot,
                                 const struct sta_presets *presets, const struct sta_assumption *assumed,
                                 const struct sta_budget *budget, struct sta_model **model,
                                 struct sta_error *err);

/* ---- scenarios */

/* How the model was made, and what it is made of; seconds. */
struct sta_model_summary {
    const char *loader;
    int64_t ranks, epochs, steps, workers;
    int64_t batch, prefetch;     /* 0: null */
    const char *prefetch_source; /* NULL: null */
    bool barrier;
    struct sta_table overheads; /* pid, get, hand, busy, wake, fill: a row per rank */
    struct sta_table work;      /* one row: jobs, production, storage, preprocess, compute, .. */
};

struct sta_whatif_check {
    double train_time_traced, train_time_modelled, train_error;
    double epoch_error_mean, epoch_error_max, step_error_median, step_error_p90;
    double stall_traced, stall_modelled;
    int64_t predicted_steps;
    bool tested, reproduced; /* not tested: reproduced is null */
};

/* Tables that a request may ask for; those that were not asked for have no columns. */
#define STA_WHATIF_TABLE_LIST(X)                                                                             \
    X(SCENARIOS, "scenarios")                                                                                \
    X(SWEEP, "sweep")                                                                                        \
    X(RANKS, "ranks")                                                                                        \
    X(EPOCHS, "epochs")                                                                                      \
    X(STEPS, "steps")                                                                                        \
    X(TIMELINE, "timeline")
enum sta_whatif_table {
#define X(NAME, name) STA_WHATIF_##NAME,
    STA_WHATIF_TABLE_LIST(X)
#undef X
        STA_WHATIF_TABLES
};
const char *sta_whatif_table_name(enum sta_whatif_table table);

struct sta_whatif_result {
    struct sta_model_summary model;
    struct sta_whatif_check check;
    struct sta_contention contention;
    struct sta_table tables[STA_WHATIF_TABLES];
    struct sta_table knee; /* a row per combination of the other factors */
    char **notes;
    size_t note_count;
};

/**
 * sta_whatif_run - the result of one request (whatif.md section 6)
 * @request: an object, its member `assume` being that of the model
 * Scenarios run on all of the budget's workers; the result does not depend on their number.
 * Return: 0; STA_EINPUT with parameter; STA_EUNFIT with reason; of the budget.  Fini after success.
 */
STA_MUSTCHECK int sta_whatif_run(const struct sta_model *model, const struct sta_document *request,
                                 const struct sta_budget *budget, struct sta_whatif_result *result,
                                 struct sta_error *err);
void sta_whatif_result_fini(struct sta_whatif_result *result);
/** Checks a request as far as that needs no model. */
STA_MUSTCHECK int sta_whatif_check_request(const struct sta_document *request, struct sta_error *err);

/* ---- alignments */

/* A request for alignments (whatif.md section 7). */
struct sta_align_request {
    int64_t epoch; /* from 1; 0: all */
    int64_t skip;
    struct sta_alignments alignments;
    bool has_fetch, has_start, has_epoch, has_skip; /* which the request says */
};
/** Mistakes: STA_EINPUT with parameter. */
STA_MUSTCHECK int sta_align_request_read(const struct sta_document *request, struct sta_align_request *read,
                                         struct sta_error *err);
/** Puts what the request says in the place of other alignments. */
void sta_align_request_apply(const struct sta_align_request *request, struct sta_alignments *alignments);
/** Rows of a trace: where all ranks have a batch.  Refuses shape. */
STA_MUSTCHECK int sta_align_of_model(const struct sta_model *model, int64_t epoch,
                                     const struct sta_budget *budget, struct sta_align_input *input,
                                     struct sta_error *err);

/* ---- imported logs: traces of kind dataload */

/* The configuration of the published simulation. */
struct sta_align_conf {
    char name[512]; /* FILE */
    struct sta_alignments alignments;
};
/** From sim_conf.json; what it lacks stays as it is: all alignments, the name given before.  Mistakes:
 * STA_EINPUT with parameter below "conf". */
STA_MUSTCHECK int sta_align_conf_read(const struct sta_document *conf, struct sta_align_conf *read,
                                      struct sta_error *err);
/** The text of the sim_conf.json that a trace was read with; NULL: it has none.  Valid while the snapshot
 * is. */
const char *sta_align_conf_text(const struct sta_snapshot *snapshot, size_t *length);

/** Rows of a log: fetches and iterations joined by epoch and index, where all GPUs have both.  @epoch: as in
 * the log.  Refuses no-fetches, no-iterations. */
STA_MUSTCHECK int sta_align_of_log(struct sta_training_log *log, int64_t epoch,
                                   const struct sta_budget *budget, struct sta_align_input *input,
                                   struct sta_error *err);
/** The same of a trace that a log was read into. */
STA_MUSTCHECK int sta_align_of_trace(struct sta_snapshot *snapshot, struct sta_presets *presets,
                                     int64_t epoch, const struct sta_budget *budget,
                                     struct sta_align_input *input, struct sta_error *err);

#define STA_ALIGN_LOG_SKIP 11 /* first iterations that are left out of the figures of a log, as warm-up */
#define STA_ALIGN_LOG_EPOCH 1 /* the epoch that is looked at */

#endif
