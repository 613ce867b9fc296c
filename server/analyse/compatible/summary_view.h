/* summary_view.h - the summary as the reference has it (private to compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_SUMMARY_VIEW_H
#define STA_ANALYSE_COMPATIBLE_SUMMARY_VIEW_H

#include "analyse/compatible/by.h"

/** metrics.md section 8: a row per layer, and facts of the whole trace.  @table: fini it also after a
 * failure. */
STA_MUSTCHECK int sta_summary_view(const struct sta_hlm *hlm, const struct sta_by *by,
                                   const struct sta_budget *budget, struct sta_table *table,
                                   struct sta_facts *facts, struct sta_error *err);

#endif
