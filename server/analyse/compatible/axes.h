/* axes.h - the view types as dimensions of a table's rows (private to compatible).
 *
 * A row of the high-level metrics or of a main view is told by one value of each view type that is grouped
 * by.  Files and processes are ranked by name and time bins numbered, so that a row's values pack into one
 * integer, its *key*, and ascending keys are the order of the table. */
#ifndef STA_ANALYSE_COMPATIBLE_AXES_H
#define STA_ANALYSE_COMPATIBLE_AXES_H

#include "analyse/analyse.h"
#include "analyse/question.h"

/* In the order of their names, which is that of key columns. */
enum sta_axis { STA_AXIS_FILE, STA_AXIS_PROC, STA_AXIS_TIME, STA_AXES };
extern const char *const sta_axis_names[STA_AXES];

struct sta_axes {
    bool grouped[STA_AXES];
    unsigned bits[STA_AXES], shift[STA_AXES];     /* place in a key; 0 bits when not grouped by */
    uint32_t count[STA_AXES];                     /* ranks, codes and bins are below */
    const struct sta_dictionary *texts[STA_AXES]; /* FILE, PROC */
    uint32_t *rank_of_code[STA_AXES];             /* of those that are grouped by .. */
    uint32_t *code_of_rank[STA_AXES];             /* .. and the other way round */
    int64_t bin_ticks;
};

/**
 * sta_axes_init - read `views` and `granularity` of a question; proc_name is always grouped by
 * Mistakes: STA_EINPUT with /views or /granularity; STA_ELIMIT with /granularity when keys or bins would not
 * fit.  Needs sta_axes_fini, also after a failure.
 */
STA_MUSTCHECK int sta_axes_init(struct sta_axes *axes, const struct sta_view_question *question,
                                const struct sta_bound_question *bound, struct sta_error *err);
void sta_axes_fini(struct sta_axes *axes);

/** Rank or bin of a key. */
static inline uint32_t sta_axes_rank(const struct sta_axes *axes, enum sta_axis axis, uint64_t key)
{
    return axes->bits[axis] == 0
               ? 0
               : (uint32_t)(key >> axes->shift[axis] & ((UINT64_C(1) << axes->bits[axis]) - 1));
}

/** Name of a file or process by its rank. */
struct sta_text sta_axes_text(const struct sta_axes *axes, enum sta_axis axis, uint32_t rank);

/** Fails with STA_EINPUT at @parameter: "there is no WHAT "NAME"; allowed: A, B". */
int sta_not_among(struct sta_error *err, const char *parameter, const char *what, const char *name,
                  const char *const *allowed, size_t count);

#endif
