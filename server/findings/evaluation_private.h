/* evaluation_private.h - shared by the evaluation*.c files only. */
#ifndef STA_FINDINGS_EVALUATION_PRIVATE_H
#define STA_FINDINGS_EVALUATION_PRIVATE_H

#include "findings/evaluation.h"

struct sta_finding;

#define EVIDENCE_ROWS 10 /* at most */

/** Binds what the asked rules measure. */
void sta_evaluation_bind(struct sta_evaluation *evaluation);

/* ---- evidence */

void sta_evidence_begin(struct sta_table *evidence, size_t rows, const char *const *names,
                        const enum sta_type *types, const char *const *units, size_t columns);
void sta_evidence_name(struct sta_table *table, size_t column, size_t row, const char *name);
char *sta_unit_key(const struct sta_scope *scope, uint32_t unit, bool file);
void sta_evidence_units(const struct sta_scope *scope, const uint32_t *units, size_t rows,
                        struct sta_table *evidence);

/* ---- the figures of an ask of that kind, and its rows */

STA_MUSTCHECK int sta_evaluate_causes(struct sta_evaluation *evaluation, const char *ask,
                                      struct sta_figure_list *figures, struct sta_table *evidence,
                                      struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_layers(struct sta_evaluation *evaluation, const char *ask,
                                      struct sta_figure_list *figures, struct sta_table *evidence,
                                      struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_utilisation(struct sta_evaluation *evaluation, const char *ask,
                                           struct sta_figure_list *figures, struct sta_table *evidence,
                                           struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_stragglers(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                                          struct sta_figure_list *figures, struct sta_table *evidence,
                                          struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_arrivals(struct sta_evaluation *evaluation, const char *ask,
                                        struct sta_figure_list *figures, struct sta_table *evidence,
                                        struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_access(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                                      struct sta_figure_list *figures, struct sta_table *evidence,
                                      struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_shared(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                                      struct sta_figure_list *figures, struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_busy(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                                    struct sta_figure_list *figures, struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_slowest_rank(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                                            struct sta_figure_list *figures, struct sta_error *err);
/** Registers the conditions of sta_evaluate_unmatched. */
void sta_evaluation_note_unmatched(struct sta_evaluation *evaluation);
STA_MUSTCHECK int sta_evaluate_unmatched(struct sta_evaluation *evaluation, const char *ask,
                                         struct sta_figure_list *figures, struct sta_error *err);
/** The condition of the events that sta_evaluate_ledger counts as unresolved; of the evaluation' memory. */
const char *sta_evaluate_unresolved_condition(const struct sta_evaluation *evaluation);
/** The rule's link, as the trace and its preset complete it.  @finding: gets it. */
void sta_evaluate_link(const struct sta_evaluation *evaluation, struct sta_finding *finding);
STA_MUSTCHECK int sta_evaluate_cold(struct sta_evaluation *evaluation, const char *ask,
                                    struct sta_figure_list *figures, struct sta_table *evidence,
                                    struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_first_steps(struct sta_evaluation *evaluation, const char *ask,
                                           struct sta_figure_list *figures, struct sta_error *err);
STA_MUSTCHECK int sta_evaluate_threads(struct sta_evaluation *evaluation, const char *ask,
                                       struct sta_figure_list *figures, struct sta_error *err);

#endif
