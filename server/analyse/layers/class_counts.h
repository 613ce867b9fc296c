/* class_counts.h - how many events are of each class (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_CLASS_COUNTS_H
#define STA_ANALYSE_LAYERS_CLASS_COUNTS_H

#include "analyse/operators/aggregate.h"
#include "analyse/sources/scan.h"

struct sta_class_counts {
    struct sta_aggregation *aggregation; /* by class */
    struct sta_aggregation_table table;
};

STA_MUSTCHECK int sta_class_counts_init(struct sta_class_counts *counts, const struct sta_budget *budget,
                                        struct sta_error *err);
void sta_class_counts_fini(struct sta_class_counts *counts); /* also after init failed */
/** What a scan with classes feeds. */
struct sta_accumulator sta_class_counts_accumulator(struct sta_class_counts *counts);
/** After the scan. */
STA_MUSTCHECK int sta_class_counts_finish(struct sta_class_counts *counts, struct sta_error *err);
/** Events of a class, after that. */
uint64_t sta_class_counts_total(const struct sta_class_counts *counts, uint32_t class);

#endif
