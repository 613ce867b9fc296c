/* align.h - the published data-loading simulation: what if the fetches of a batch took equally long on all
 * GPUs (fetch alignment), or had started at the same moment (start alignment)? (public part of simulate.h)
 *
 * Each iteration is looked at alone.  Times are nanoseconds since 1970, durations seconds as doubles, as in
 * the original, whose defects are kept where its results are compared and corrected where they are not. */
#ifndef STA_SIMULATE_ALIGN_H
#define STA_SIMULATE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/analyse.h"
#include "common/error.h"
#include "common/table.h"

/* The merged input: a row per iteration of all GPUs; values of a GPU are at row * gpus + gpu. */
struct sta_align_input {
    uint32_t gpus;
    size_t rows;
    int64_t *epoch, *index; /* by row, ascending */
    double *fetch;          /* s: duration */
    int64_t *start;         /* ns: of the fetch */
    int64_t *arrival;       /* ns: when the loader handed the batch over */
    double *iteration;      /* s, stall included */
    double *stall;          /* s */
    struct sta_account *account;
};
STA_MUSTCHECK int sta_align_input_init(struct sta_align_input *input, uint32_t gpus, size_t rows,
                                       struct sta_account *account, struct sta_error *err);
void sta_align_input_fini(struct sta_align_input *input);

enum sta_align { STA_ALIGN_NONE, STA_ALIGN_AVG, STA_ALIGN_MIN };
/* A value of sim_conf.json.  One that is neither avg nor min but true means per GPU for the fetches, and
 * aligned for the training. */
struct sta_align_value {
    enum sta_align align;
    bool aligned;
    char label[32]; /* as the notebook prints it: "False", "avg" */
};

/* Alignments to combine, each with each. */
struct sta_alignments {
    struct sta_align_value fetch[16], start[16];
    size_t fetch_count, start_count;
};
/** False, avg, min of both. */
struct sta_alignments sta_alignments_all(void);

/* Statistics of one combination over its rows: mean and standard deviation (of a sample; not a number for
 * one row). */
enum sta_align_figure {
    STA_FIGURE_ITERATION,
    STA_FIGURE_STALL,
    STA_FIGURE_DELAY,
    STA_FIGURE_START_DIFF,
    STA_FIGURE_FETCH_DIFF,
    STA_ALIGN_FIGURES
};

/**
 * sta_align_table - a row per combination: sums, means and deviations, how many rows are delayed
 * @skip: rows whose index is below this are left out
 */
STA_MUSTCHECK int sta_align_table(const struct sta_align_input *input,
                                  const struct sta_alignments *alignments, int64_t skip,
                                  const struct sta_budget *budget, struct sta_table *table,
                                  struct sta_error *err);

/* The notebook's files. */
#define STA_ALIGN_FILE_LIST(X)                                                                               \
    X(ITERATIONS, "iterations")                                                                              \
    X(DATALOAD_SIM, "dataload_sim")                                                                          \
    X(TRAIN_SIM, "train_sim")                                                                                \
    X(SIM_INFO, "sim_info")                                                                                  \
    X(SUMMARY, "summary")                                                                                    \
    X(SUMMARY_FULL, "summary_full")
enum sta_align_file {
#define X(NAME, name) STA_ALIGN_FILE_##NAME,
    STA_ALIGN_FILE_LIST(X)
#undef X
        STA_ALIGN_FILES
};
const char *sta_align_file_name(enum sta_align_file file);

/**
 * sta_align_file - one of the notebook's files as a table
 * @name: FILE of the configuration, from which the summary takes its columns
 * Files of a combination are of the first value of each list.
 */
STA_MUSTCHECK int sta_align_file(const struct sta_align_input *input, const struct sta_alignments *alignments,
                                 enum sta_align_file file, const char *name, const struct sta_budget *budget,
                                 struct sta_table *table, struct sta_error *err);

#endif
