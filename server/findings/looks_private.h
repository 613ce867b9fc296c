/* looks_private.h - shared by the looks*.c files only. */
#ifndef STA_FINDINGS_LOOKS_PRIVATE_H
#define STA_FINDINGS_LOOKS_PRIVATE_H

#include "findings/looks.h"

struct sta_finding;

#define EVIDENCE_ROWS 10 /* at most */

/** Binds what the asked rules measure. */
void sta_looks_bind(struct sta_looks *looks);

/* ---- evidence */

void sta_evidence_begin(struct sta_table *evidence, size_t rows, const char *const *names,
                        const enum sta_type *types, const char *const *units, size_t columns);
void sta_evidence_name(struct sta_table *table, size_t column, size_t row, const char *name);
char *sta_unit_key(const struct sta_scope *scope, uint32_t unit, bool file);
void sta_evidence_units(const struct sta_scope *scope, const uint32_t *units, size_t rows,
                        struct sta_table *evidence);

/* ---- looks: the figures of an ask of that kind, and its rows */

STA_MUSTCHECK int sta_look_causes(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                                  struct sta_table *evidence, struct sta_error *err);
STA_MUSTCHECK int sta_look_layers(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                                  struct sta_table *evidence, struct sta_error *err);
STA_MUSTCHECK int sta_look_utilisation(struct sta_looks *looks, const char *ask,
                                       struct sta_figure_list *figures, struct sta_table *evidence,
                                       struct sta_error *err);
STA_MUSTCHECK int sta_look_stragglers(struct sta_looks *looks, const struct sta_ask *ask,
                                      struct sta_figure_list *figures, struct sta_table *evidence,
                                      struct sta_error *err);
STA_MUSTCHECK int sta_look_arrivals(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                                    struct sta_table *evidence, struct sta_error *err);
STA_MUSTCHECK int sta_look_access(struct sta_looks *looks, const struct sta_ask *ask,
                                  struct sta_figure_list *figures, struct sta_table *evidence,
                                  struct sta_error *err);
STA_MUSTCHECK int sta_look_shared(struct sta_looks *looks, const struct sta_ask *ask,
                                  struct sta_figure_list *figures, struct sta_error *err);
STA_MUSTCHECK int sta_look_busy(struct sta_looks *looks, const struct sta_ask *ask,
                                struct sta_figure_list *figures, struct sta_error *err);
STA_MUSTCHECK int sta_look_slowest_rank(struct sta_looks *looks, const struct sta_ask *ask,
                                        struct sta_figure_list *figures, struct sta_error *err);
/** Registers the conditions of sta_look_unmatched. */
void sta_looks_note_unmatched(struct sta_looks *looks);
STA_MUSTCHECK int sta_look_unmatched(struct sta_looks *looks, const char *ask,
                                     struct sta_figure_list *figures, struct sta_error *err);
/** The condition of the events that sta_look_ledger counts as unresolved; of the looks' memory. */
const char *sta_look_unresolved_condition(const struct sta_looks *looks);
/** The rule's link, as the trace and its preset complete it.  @finding: gets it. */
void sta_look_link(const struct sta_looks *looks, struct sta_finding *finding);
STA_MUSTCHECK int sta_look_cold(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                                struct sta_table *evidence, struct sta_error *err);
STA_MUSTCHECK int sta_look_first_steps(struct sta_looks *looks, const char *ask,
                                       struct sta_figure_list *figures, struct sta_error *err);
STA_MUSTCHECK int sta_look_threads(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                                   struct sta_error *err);

#endif
