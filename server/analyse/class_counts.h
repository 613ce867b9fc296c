/* class_counts.h - how many events are of each class (private to analyse). */
#ifndef STA_ANALYSE_CLASS_COUNTS_H
#define STA_ANALYSE_CLASS_COUNTS_H

#include "analyse/scan.h"

struct sta_class_counts {
    struct sta_class_counter *counters; /* by worker */
    unsigned workers;
};

void sta_class_counts_init(struct sta_class_counts *counts, const struct sta_budget *budget);
void sta_class_counts_fini(struct sta_class_counts *counts);
/** What a scan with classes feeds. */
struct sta_accumulator sta_class_counts_accumulator(struct sta_class_counts *counts);
/** Events of a class, after the scan. */
uint64_t sta_class_counts_total(const struct sta_class_counts *counts, uint32_t class);

#endif
