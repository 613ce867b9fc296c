/* by.h - what the rows of a layer or flat view stand for (private to compatible).
 *
 * A view type that is grouped by, or a logical view: an expression of the names of files or processes, whose
 * values are texts. */
#ifndef STA_ANALYSE_COMPATIBLE_BY_H
#define STA_ANALYSE_COMPATIBLE_BY_H

#include "analyse/compatible/main_view.h"

struct sta_by {
    const char *name;
    enum sta_axis axis; /* that it is or is derived from */
    bool logical;
    uint32_t count;          /* values are below, in the order of rows */
    uint32_t *value_of_rank; /* logical; STA_NO_CODE where the expression is missing: no row then */
    uint32_t *codes;         /* logical, by value: of .. */
    struct sta_dictionary *texts;
    struct sta_pool pool;
};

/** Mistakes: STA_EINPUT with /by.  Needs sta_by_fini, also after a failure. */
STA_MUSTCHECK int sta_by_init(struct sta_by *by, const char *name, const struct sta_axes *axes,
                              const struct sta_preset *preset, const struct sta_budget *budget,
                              struct sta_error *err);
void sta_by_fini(struct sta_by *by);

/** The text of a value, of any view but time_range. */
struct sta_text sta_by_text(const struct sta_by *by, const struct sta_axes *axes, uint32_t value);

/* The rows of a main view as a layer view takes them together: by value, within that in units, over which it
 * takes minima, means ..  A unit is a process, but for proc_name itself, where it is a row. */
struct sta_by_rows {
    uint32_t *order; /* rows */
    size_t unit_count;
    uint32_t *unit_start; /* by unit, and one more: into order */
    size_t count;
    uint32_t *value_start; /* by value that occurs, and one more: into units */
    uint32_t *values;      /* ascending */
};
/** Of the pool of @rows. */
STA_MUSTCHECK int sta_by_rows_init(struct sta_by_rows *by_rows, const struct sta_by *by,
                                   struct sta_main_rows *rows, const struct sta_budget *budget,
                                   struct sta_error *err);

/** Whether units are rows: V = proc_name of metrics.md section 6. */
static inline bool sta_by_units_are_rows(const struct sta_by *by)
{
    return by->axis == STA_AXIS_PROC && !by->logical;
}

#endif
