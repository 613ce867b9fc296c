/* additional.h - additional metrics of a preset: formulas of columns of the flat view (private to
 * compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_ADDITIONAL_H
#define STA_ANALYSE_COMPATIBLE_ADDITIONAL_H

#include "analyse/analyse.h"

/**
 * sta_additional - fill column @at of a flat view from a formula in which {T} and {epsilon} stand for @time
 * and 1e-9
 * Missing where a column of the formula is, and where all its denominators are missing or 0.  STA_EINPUT when
 * it names a column that the table does not have.
 */
STA_MUSTCHECK int sta_additional(struct sta_table *table, const struct sta_named_expression *metric,
                                 const char *time, size_t at, struct sta_error *err);

#endif
