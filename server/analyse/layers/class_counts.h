/* class_counts.h - how many events are of each class, and of each function in it (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_CLASS_COUNTS_H
#define STA_ANALYSE_LAYERS_CLASS_COUNTS_H

#include "analyse/operators/aggregate.h"
#include "analyse/sources/scan.h"

struct sta_class_counts {
    struct sta_aggregation *aggregation; /* by class, and by category and function */
    struct sta_aggregation_table table;
    bool by_function;
    struct sta_columns *columns; /* of sta_class_counts_bind; else NULL */
    struct sta_classes *classes;
};

void sta_class_counts_fini(struct sta_class_counts *counts); /* of one that is zeroed, too */
/** Columns and classes of a preset, which is borrowed, for a scan of the caller's.  @counts: zeroed. */
STA_MUSTCHECK int sta_class_counts_bind(struct sta_class_counts *counts, const struct sta_presets *presets,
                                        struct sta_snapshot *snapshot, const struct sta_preset *preset,
                                        struct sta_error *err);
/** Runs a scan with classes, which has no accumulators, and counts; those of the binding where it has none.
 * @by_function: also by category, refined, and function; @also: an accumulator beside, or NULL. */
STA_MUSTCHECK int sta_class_counts_run(struct sta_class_counts *counts, struct sta_scan scan,
                                       bool by_function, const struct sta_accumulator *also,
                                       const struct sta_budget *budget, struct sta_error *err);
/** Events of a class, after that. */
uint64_t sta_class_counts_total(const struct sta_class_counts *counts, uint32_t class);
/** Of all classes that have a bit. */
uint64_t sta_class_counts_of_bit(const struct sta_class_counts *counts, const struct sta_classes *classes,
                                 uint32_t bit);

struct sta_counted_function {
    struct sta_text cat, name; /* "" where there is none */
    uint64_t events;
};
/** Whether the functions of a class, of which this is one, are listed; cat may be set to "", if it does not
 * matter. */
typedef bool (*sta_function_chooser)(void *context, uint32_t class, struct sta_counted_function *function);
/** The functions that @choose takes, each once: the most frequent first, then by category and name.  Counts
 * by function, after the scan; texts live as long as they do.  *functions: sta_account_free of @budget's. */
STA_MUSTCHECK int sta_class_counts_functions(const struct sta_class_counts *counts,
                                             sta_function_chooser choose, void *context,
                                             const struct sta_budget *budget,
                                             struct sta_counted_function **functions, size_t *count,
                                             struct sta_error *err);

#endif
