/* join.h - sums and distinct files, joined with what the sweep measured by layer and key (private to
 * exact). */
#ifndef STA_ANALYSE_EXACT_JOIN_H
#define STA_ANALYSE_EXACT_JOIN_H

#include "analyse/exact/share.h"

/** Brings the sums in order, and makes a place of each layer and key that they have.  After the pass.
 * @shared: what other processes have measured. */
STA_MUSTCHECK int sta_exact_join_keys(struct sta_intake *intake, const struct sta_exact_shared *shared,
                                      struct sta_error *err);
/** Adds sums and files to the fields, which are there by now. */
STA_MUSTCHECK int sta_exact_join(struct sta_intake *intake, const struct sta_exact_shared *shared,
                                 struct sta_exact_result *result, struct sta_error *err);

#endif
