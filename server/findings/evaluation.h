/* evaluation.h - what rules ask about a run, each measured once (private to findings). */
#ifndef STA_FINDINGS_EVALUATION_H
#define STA_FINDINGS_EVALUATION_H

#include "findings/access.h"
#include "findings/attribution.h"
#include "findings/event_order.h"
#include "findings/rules.h"
#include "findings/shared.h"
#include "findings/stragglers.h"
#include "findings/utilisation.h"

#define STA_CONDITIONS 256

/* A condition whose events' time is measured, rank by rank. */
struct sta_condition_cost {
    const char *text;
    bool measured;
    int64_t events;
    __int128 busy, exposed; /* ticks, over ranks; exposed: less the rank's compute */
    int64_t *of_rank;       /* busy ticks, by number of the rank; NULL: not wanted */
    bool by_rank;           /* it is */
};

struct sta_rule_query;

/* What the ledger and the events say of the trace itself. */
struct sta_unclassified_counts {
    int64_t unresolved;                     /* events whose hash no line defines */
    int64_t posix, unclassified, functions; /* file system calls; those of no class, and their functions */
    struct sta_table strange;               /* the most frequent of these functions */
};

/* Stall, layers and conditions of ranks, in one pass (evaluation_ranks.c). */
struct sta_ranks_sweep {
    struct sta_overlap_query query;
    struct sta_overlap_request request;
    struct sta_named_expression conditions[STA_SIGNATURE_CONDITIONS];
    uint32_t count;
    uint32_t of_layer[STA_OVERLAP_SETS];   /* by set of the chain of layers: its condition */
    uint32_t of_condition[STA_CONDITIONS]; /* by condition that is measured */
    uint32_t compute;                      /* UINT32_MAX: the preset has none */
};

struct sta_evaluation {
    struct sta_run *run;
    const struct sta_rules *rules;
    const struct sta_rule **asked; /* the rules that are evaluated */
    size_t asked_count;
    struct sta_phases phases;
    double goal;
    const char *base_kind;
    __int128 base; /* ticks */
    bool has_stall;
    struct sta_figure_list context;

    struct sta_condition_cost conditions[STA_CONDITIONS];
    size_t condition_count;
    const char *unmatched; /* condition of the calls in no layer; NULL: not asked, or there are no layers */
    struct sta_rule_query *queries;
    size_t query_count;

    enum {
        STA_NOT_MEASURED,
        STA_MEASURED,
        STA_NOT_APPLICABLE
    } stall_measured,
        layers_measured, ranks_measured, utilisation_measured, access_measured, shared_measured,
        order_measured;
    struct sta_attribution stall, layers;
    struct sta_ranks_sweep ranks;
    struct sta_charged charged, blocked;
    struct sta_charged_rows stall_rows; /* by unit, epoch, step */
    struct sta_utilisation utilisation;
    struct sta_access_patterns access;
    struct sta_shared_sums shared[2];
    struct sta_event_order order;
    bool ledger_measured;
    struct sta_unclassified_counts ledger;
};

/** Reads the run's phases and what all rules have in common.  Fini also after a failure. */
STA_MUSTCHECK int sta_evaluation_init(struct sta_evaluation *evaluation, struct sta_run *run,
                                      const struct sta_rules *rules, const struct sta_rule **asked,
                                      size_t count, double goal, struct sta_error *err);
void sta_evaluation_fini(struct sta_evaluation *evaluation);

/**
 * sta_evaluate - the figures of an ask, and its rows as evidence
 * @evidence: at most ten rows; without columns when there are none.  Initialised
 */
STA_MUSTCHECK int sta_evaluate(struct sta_evaluation *evaluation, const struct sta_rule *rule,
                               const struct sta_ask *ask, struct sta_figure_list *figures,
                               struct sta_table *evidence, struct sta_error *err);
/** What a condition's events cost: their time less compute, over ranks, in ticks. */
STA_MUSTCHECK int sta_evaluate_exposed(struct sta_evaluation *evaluation, const char *condition,
                                       __int128 *ticks, struct sta_error *err);

/* ---- between the evaluation*.c files */

/** Registers a condition, before any is measured. */
void sta_evaluation_note(struct sta_evaluation *evaluation, const char *condition, bool by_rank);
STA_MUSTCHECK int sta_evaluate_condition(struct sta_evaluation *evaluation, const char *condition,
                                         bool by_rank, const struct sta_condition_cost **cost,
                                         struct sta_error *err);
void sta_evaluation_conditions_fini(struct sta_evaluation *evaluation);
/** Figures of a query's first row. */
STA_MUSTCHECK int sta_evaluate_query(struct sta_evaluation *evaluation, const struct sta_rule *rule,
                                     const struct sta_ask *ask, struct sta_figure_list *figures,
                                     struct sta_error *err);
/** A request about the run's events, to which members of queries may be added; its first rows.  Fini and
 * release also after a failure. */
struct sta_document *sta_evaluation_request(const struct sta_evaluation *evaluation, const char *filter);
STA_MUSTCHECK int sta_evaluation_query(struct sta_evaluation *evaluation, const struct sta_document *request,
                                       size_t rows, struct sta_query_result **result, struct sta_table *table,
                                       struct sta_error *err);
void sta_evaluation_queries_fini(struct sta_evaluation *evaluation);
STA_MUSTCHECK int sta_evaluate_ledger(struct sta_evaluation *evaluation, const char *ask,
                                      struct sta_figure_list *figures, struct sta_table *evidence,
                                      struct sta_error *err);
void sta_evaluation_ledger_fini(struct sta_evaluation *evaluation);
STA_MUSTCHECK int sta_evaluate_stall(struct sta_evaluation *evaluation, struct sta_error *err);
/** Whether a rule asks for the stall of single steps or ranks. */
bool sta_evaluation_want_rows(const struct sta_evaluation *evaluation);
/** The chain that findings are about; NULL: the preset has none. */
const char *sta_evaluation_chain(const struct sta_evaluation *evaluation);
/** What rules ask of stall, layers and conditions, together: tried once, before the first of these is asked.
 * What is not measured afterwards is to be measured alone. */
STA_MUSTCHECK int sta_evaluation_sweep_ranks(struct sta_evaluation *evaluation, struct sta_error *err);
void sta_evaluation_ranks_fini(struct sta_evaluation *evaluation);

#endif
