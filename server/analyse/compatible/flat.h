/* flat.h - all layers' views joined, what only the join knows, and the summary of it (private to
 * compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_FLAT_H
#define STA_ANALYSE_COMPATIBLE_FLAT_H

#include "analyse/compatible/join.h"

/**
 * sta_flat_view - metrics.md section 7
 * @whole: all of it; false: without derived metrics, scores and additional metrics, for the summary
 * @table: fini it also after a failure
 */
STA_MUSTCHECK int sta_flat_view(const struct sta_hlm *hlm, const struct sta_by *by, bool whole,
                                bool quantiles, const struct sta_budget *budget, struct sta_table *table,
                                struct sta_error *err);

/**
 * sta_additional - fill column @at of a flat view from a formula in which {T} and {epsilon} stand for @time
 * and 1e-9
 * Missing where a column of the formula is, and where all its denominators are missing or 0.  STA_EINPUT when
 * it names a column that the table does not have.
 */
STA_MUSTCHECK int sta_additional(struct sta_table *table, const struct sta_named_expression *metric,
                                 const char *time, size_t at, struct sta_error *err);

/** metrics.md section 8: a row per layer, and facts of the whole trace.  @table: fini it also after a
 * failure. */
STA_MUSTCHECK int sta_summary_view(const struct sta_hlm *hlm, const struct sta_by *by,
                                   const struct sta_budget *budget, struct sta_table *table,
                                   struct sta_facts *facts, struct sta_error *err);

#endif
