/* parameters.h - what queries name: everything that can be wrong with it is found here (private to exact). */
#ifndef STA_ANALYSE_EXACT_PARAMETERS_H
#define STA_ANALYSE_EXACT_PARAMETERS_H

#include "analyse/views/bound_query.h"

/** The number of a layer.  STA_EINPUT with parameter /layer, naming those there are. */
STA_MUSTCHECK int sta_exact_layer(const struct sta_bound_query *bound, const char *name, uint32_t *layer,
                                  struct sta_error *err);
/** A width of bins in ticks.  STA_EINPUT with parameter /granularity. */
STA_MUSTCHECK int sta_exact_granularity(const struct sta_bound_query *bound, int64_t granularity_us,
                                        int64_t *ticks, struct sta_error *err);

#endif
