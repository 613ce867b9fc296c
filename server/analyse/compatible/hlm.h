/* hlm.h - the high-level metrics: events summed by view types, category, class of call and function (private
 * to compatible).
 *
 * metrics.md section 4.  One pass over the events makes them; all other tables are made from them and never
 * look at an event.  In memory they are finer than the table: events of which a layer's condition tells more
 * than category and function are groups of their own, so that every layer and derived metric takes whole
 * groups. */
#ifndef STA_ANALYSE_COMPATIBLE_HLM_H
#define STA_ANALYSE_COMPATIBLE_HLM_H

#include "analyse/views/bounded_sum.h"
#include "analyse/compatible/axes.h"
#include "analyse/views/size_bins.h"

/* The signature of an event: what the events of a group have in common beside its key. */
struct sta_signature {
    struct sta_text cat, func; /* refined category */
    uint8_t io_cat;
    struct sta_class class;
};

#define STA_NO_SIZES UINT32_MAX

struct sta_group {
    uint64_t key;
    uint32_t signature;
    uint32_t sizes; /* index of its struct sta_group_sizes, or STA_NO_SIZES when no event has a size */
    int64_t count;
    double time; /* s; infinite: too large */
};

struct sta_group_sizes {
    int64_t size; /* a bounded sum */
    int64_t bins[STA_SIZE_BINS];
};

/* The distinct values that the events of each group have of a view type which is not grouped by. */
struct sta_hlm_members {
    size_t *start;   /* by group, and one more: its items are start[g] .. start[g + 1]; NULL: not collected */
    uint32_t *items; /* ranks of the axis, ascending */
    uint8_t *missing; /* by group: one of its events has none, so it has no set (quirk) */
};

/* Events of the trace by what became of them. */
struct sta_hlm_counts {
    struct sta_fate_counts fates;
    int64_t taken; /* by the layer that was asked for, or by any */
    int64_t of_layer[STA_CLASS_BITS];
    int64_t keyless; /* kept, but without file, category or function to be grouped by */
};

struct sta_hlm {
    const struct sta_bound_query *bound;
    struct sta_axes *axes;
    struct sta_signature *signatures; /* in no order */
    size_t *groups_of;                /* by signature: how many groups have it */
    uint32_t signature_count;
    struct sta_group *groups; /* by key, then the order of their signatures: cat, io_cat, func, class */
    size_t count;
    struct sta_group_sizes *sizes;
    struct sta_hlm_members members[STA_AXES];
    struct sta_hlm_counts counts;
    struct sta_pool pool; /* of all these */
};

/* What to collect. */
struct sta_hlm_options {
    uint32_t layer;   /* only its events, or STA_NO_LAYER: of all layers, and .. */
    bool unmatched;   /* .. also what no layer takes */
    bool all_members; /* also files of layers that do not show any */
};

/** One pass over the events of a query.  @axes: gets the values that occur; borrowed like @bound while the
 * hlm lives.  Needs sta_hlm_fini, also after a failure. */
STA_MUSTCHECK int sta_hlm_init(struct sta_hlm *hlm, const struct sta_bound_query *bound,
                               struct sta_axes *axes, const struct sta_hlm_options *options,
                               const struct sta_budget *budget, struct sta_error *err);
void sta_hlm_fini(struct sta_hlm *hlm);

/** Whether a layer shows sizes and files: those whose name contains "posix". */
bool sta_layer_has_files(const struct sta_layer *layer);

#endif
