/* explain.h - what the bucket method says of the same sets, beside the exact answer (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_EXPLAIN_H
#define STA_ANALYSE_OVERLAP_EXPLAIN_H

#include "analyse/overlap/pass.h"

/**
 * sta_overlap_explain - one more pass; fills answer->explain
 * @answer: its pairs and sets are there
 * A row per pair: a, b, granularity (s), and of the busy time of each, their overlap and each without the
 * other first the exact time (s), then that of the bucket method.  Sets named as those of the older analyser
 * (compute, io, app_io) are disjoint there, so they are here.
 */
STA_MUSTCHECK int sta_overlap_explain(const struct sta_overlap_request *request,
                                      const struct sta_budget *budget, struct sta_overlap_result *answer,
                                      struct sta_error *err);

#endif
