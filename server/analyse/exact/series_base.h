/* series_base.h - series at a base resolution, kept with the trace (private to exact).
 *
 * What adds up over bins of time - counts, times, bytes, unions, exposed and self time - is made once for all
 * layers of a preset, in bins of a power of ten microseconds, and kept by layer.  Any series in multiples of
 * that width then comes from what is kept, without reading an event, and equals the one that a scan would
 * make. */
#ifndef STA_ANALYSE_EXACT_SERIES_BASE_H
#define STA_ANALYSE_EXACT_SERIES_BASE_H

#include "analyse/exact/columns.h"
#include "analyse/exact/engine.h"

#define STA_SERIES_BASE_BINS 20000 /* at most */

/** Width of the base bins in ticks. */
int64_t sta_series_base_width(const struct sta_bound_query *bound);
/** Whether the base has what the column is made of: values for a bin that are sums of those of its parts. */
bool sta_series_base_has(const struct sta_exact_column *column);

/**
 * sta_series_base_run - what sta_exact_run gives for @request, from the base: kept, or made and kept now
 * @request: by time, in whole bins of a multiple of the base width, or one row over such a window with bins
 * of its width; wants nothing but what adds up; its query has no filter and the preset's filters
 */
STA_MUSTCHECK int sta_series_base_run(const struct sta_series_base *base,
                                      const struct sta_exact_request *request,
                                      const struct sta_budget *budget, struct sta_exact_result *result,
                                      struct sta_error *err);

#endif
