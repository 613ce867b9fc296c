/* warnings.h - what a reader of an answer should know before trusting it (private to overlap; overlap.md
 * section 3). */
#ifndef STA_ANALYSE_OVERLAP_WARNINGS_H
#define STA_ANALYSE_OVERLAP_WARNINGS_H

#include "analyse/overlap/pass.h"

void sta_overlap_warn(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                      struct sta_overlap_result *answer);

#endif
