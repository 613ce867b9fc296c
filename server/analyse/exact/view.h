/* view.h - views and summary with the cuts of time that tests choose (private to exact).
 *
 * No result may depend on where time is cut into slices; tests hold the engine to that with slices of a few
 * rows. */
#ifndef STA_ANALYSE_EXACT_VIEW_H
#define STA_ANALYSE_EXACT_VIEW_H

#include "analyse/analyse.h"

/** sta_view_exact with slices of about @slice_rows rows; 0: as many as is good. */
STA_MUSTCHECK int sta_exact_view(const struct sta_table_query *query, size_t slice_rows,
                                 const struct sta_budget *budget, struct sta_table *table,
                                 struct sta_facts *facts, struct sta_error *err);
/** The summary likewise. */
STA_MUSTCHECK int sta_exact_summary(const struct sta_table_query *query, size_t slice_rows,
                                    const struct sta_budget *budget, struct sta_table *table,
                                    struct sta_facts *facts, struct sta_error *err);

#endif
