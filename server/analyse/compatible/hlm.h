/* hlm.h - the high-level metrics: events summed by view types, category, class of call and function (private
 * to compatible).
 *
 * metrics.md section 4.  One pass over the events makes them; all other tables are made from them and never
 * look at an event.  In memory they are finer than the table: events of which a layer's condition tells more
 * than category and function are groups of their own, so that every layer and derived metric takes whole
 * groups. */
#ifndef STA_ANALYSE_COMPATIBLE_HLM_H
#define STA_ANALYSE_COMPATIBLE_HLM_H

#include "analyse/compatible/axes.h"
#include "analyse/bounded_sum.h"
#include "analyse/compatible/sum.h"
#include "analyse/size_bins.h"

/* What the events of a group have in common beside its key. */
struct sta_hlm_kind {
    struct sta_text cat, func; /* refined category */
    uint8_t io_cat;
    struct sta_class class;
};

#define STA_NO_SIZES UINT32_MAX

struct sta_group {
    uint64_t key;
    uint32_t kind;
    uint32_t sizes; /* index of its struct sta_group_sizes, or STA_NO_SIZES when no event has a size */
    int64_t count;
    double time; /* s; infinite: too large */
};

struct sta_group_sizes {
    int64_t size; /* a bounded sum */
    int64_t bins[STA_SIZE_BINS];
};

/* The distinct values that the events of each group have of a view type which is not grouped by.  The values
 * that occur at all are numbered in their order: bins by time, files by name. */
struct sta_members {
    size_t *start;   /* by group, and one more: its items are start[g] .. start[g + 1]; NULL: not collected */
    uint32_t *items; /* numbers of values, ascending */
    uint8_t *missing; /* by group: one of its events has none, so it has no set (quirk) */
    uint32_t *values; /* by number: bin, or code of the file */
    uint32_t value_count;
};

/* Events of the trace by what became of them. */
struct sta_hlm_counts {
    int64_t filtered_by_file, filtered_by_function, unmatched, multiple;
    int64_t taken; /* by the layer that was asked for, or by any */
    int64_t of_layer[STA_CLASS_BITS];
    int64_t keyless; /* kept, but without file, category or function to be grouped by */
};

struct sta_hlm {
    const struct sta_bound_question *bound;
    const struct sta_axes *axes;
    struct sta_hlm_kind *kinds; /* by cat, io_cat, func */
    uint32_t kind_count;
    struct sta_group *groups; /* by key, then kind */
    size_t count;
    struct sta_group_sizes *sizes;
    struct sta_members members[STA_AXES];
    struct sta_hlm_counts counts;
};

/* What to collect. */
struct sta_hlm_wish {
    uint32_t layer;   /* only its events, or STA_NO_LAYER: of all layers, and .. */
    bool unmatched;   /* .. also what no layer takes */
    bool all_members; /* also files of layers that do not show any */
};

/** One pass over the events of a question.  @bound, @axes: borrowed while the hlm lives.  Needs sta_hlm_fini,
 * also after a failure. */
STA_MUSTCHECK int sta_hlm_init(struct sta_hlm *hlm, const struct sta_bound_question *bound,
                               const struct sta_axes *axes, const struct sta_hlm_wish *wish,
                               const struct sta_budget *budget, struct sta_error *err);
void sta_hlm_fini(struct sta_hlm *hlm);
/** Of memory. */
uint64_t sta_hlm_bytes(const struct sta_hlm *hlm);

/** Whether a layer shows sizes and files: those whose name contains "posix". */
bool sta_layer_has_files(const struct sta_layer *layer);

#endif
