/* axes.h - the view types as dimensions of a table's rows (private to compatible).
 *
 * A row of the high-level metrics or of a main view has one value of each view type that is grouped by.  The
 * values that occur are ranked, files and processes by name, time bins by number; the ranks of a row pack
 * into one integer, its *key*, and ascending keys are the order of the table. */
#ifndef STA_ANALYSE_COMPATIBLE_AXES_H
#define STA_ANALYSE_COMPATIBLE_AXES_H

#include "analyse/analyse.h"
#include "analyse/compatible/pool.h"
#include "analyse/views/bound_query.h"

/* In the order of their names, which is that of key columns. */
enum sta_axis { STA_AXIS_FILE, STA_AXIS_PROC, STA_AXIS_TIME, STA_AXES };
extern const char *const sta_axis_names[STA_AXES];

struct sta_axes {
    bool grouped[STA_AXES];
    const struct sta_dictionary *texts[STA_AXES]; /* FILE, PROC */
    int64_t bin_ticks;
    uint32_t *values[STA_AXES];               /* by rank: code of a text, or bin */
    uint32_t count[STA_AXES];                 /* of ranks */
    unsigned bits[STA_AXES], shift[STA_AXES]; /* place in a key; 0 bits when not grouped by */
};

/**
 * sta_axes_init - read `views` and `granularity` of a query; proc_name is always grouped by
 * Mistakes: STA_EINPUT with /views or /granularity; STA_ELIMIT with /granularity when bins would not fit.
 */
STA_MUSTCHECK int sta_axes_init(struct sta_axes *axes, const struct sta_table_query *query,
                                const struct sta_bound_query *bound, struct sta_error *err);
/**
 * sta_axes_rank - rank the values of an axis
 * @items: codes or bins in any order; each is replaced by its rank.  STA_NO_CODE stays
 * @pool: of the ranked values
 */
STA_MUSTCHECK int sta_axes_rank(struct sta_axes *axes, enum sta_axis axis, uint32_t *items, size_t count,
                                struct sta_pool *pool, struct sta_error *err);
/** The same of codes of any dictionary: @values are the codes by rank. */
STA_MUSTCHECK int sta_rank_texts(const struct sta_dictionary *dictionary, uint32_t *items, size_t count,
                                 uint32_t **values, uint32_t *value_count, struct sta_pool *pool,
                                 struct sta_error *err);
/** Lays out the keys once all axes that are grouped by are ranked.  STA_ELIMIT with /granularity when they do
 * not fit. */
STA_MUSTCHECK int sta_axes_pack(struct sta_axes *axes, struct sta_error *err);

/** Rank in a key. */
static inline uint32_t sta_axes_of(const struct sta_axes *axes, enum sta_axis axis, uint64_t key)
{
    return axes->bits[axis] == 0
               ? 0
               : (uint32_t)(key >> axes->shift[axis] & ((UINT64_C(1) << axes->bits[axis]) - 1));
}

/** Name of a file or process by its rank. */
struct sta_text sta_axes_text(const struct sta_axes *axes, enum sta_axis axis, uint32_t rank);

/** Fails with STA_EINPUT at @parameter: "there is no WHAT "NAME"; allowed: A, B".  @allowed: as of
 * sta_join_names. */
int sta_not_among(struct sta_error *err, const char *parameter, const char *what, const char *name,
                  const void *allowed, size_t size, size_t count);

#endif
