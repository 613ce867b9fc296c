/* hash_conflicts.h - hashes that sources define differently, for the report (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_HASH_CONFLICTS_H
#define STA_ANALYSE_LAYERS_HASH_CONFLICTS_H

#include "analyse/analyse.h"

/** Counts them, and describes the first. */
void sta_content_report_conflicts(const struct sta_tables *tables, struct sta_content_report *report);
void sta_content_report_free_conflicts(struct sta_content_report *report);

#endif
