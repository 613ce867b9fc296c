/* hash_conflicts.h - hashes that sources define differently, for the report (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_HASH_CONFLICTS_H
#define STA_ANALYSE_LAYERS_HASH_CONFLICTS_H

#include "analyse/analyse.h"

/** Counts them, and describes the first.  @account: charged meanwhile.  Return: 0, STA_ELIMIT, STA_EBUSY,
 * STA_ENOMEM. */
STA_MUSTCHECK int sta_content_report_conflicts(const struct sta_tables *tables, struct sta_account *account,
                                               struct sta_content_report *report, struct sta_error *err);

#endif
