/* compatible.h - the older analyser's numbers (private to overlap; overlap.md section 4). */
#ifndef STA_ANALYSE_OVERLAP_COMPATIBLE_H
#define STA_ANALYSE_OVERLAP_COMPATIBLE_H

#include "analyse/overlap/request.h"

/** The answer of a request under compatible: facts and phases. */
STA_MUSTCHECK int sta_overlap_compatible(const struct sta_overlap_request *request,
                                         const struct sta_budget *budget, struct sta_overlap_result *answer,
                                         struct sta_error *err);

#endif
