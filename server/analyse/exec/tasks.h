/* tasks.h - the one loop that shares out morsels of work among threads.
 *
 * A morsel is a row group, a slice, a partition: some milliseconds of work that needs no other.  Before each,
 * cancellation, deadline and account are checked.  The first failure stops the rest at their next morsel.
 *
 *     static int add_up(void *context, unsigned worker, size_t morsel, struct sta_error *err)
 *     {
 *         struct adding *adding = context;
 *         return add_row_group(&adding->states[worker], adding->row_groups[morsel], err);
 *     }
 *     rc = sta_tasks_run(budget, row_group_count, add_up, &adding, err);
 *
 * States are by worker, sta_budget_workers(budget) of them at most; the caller combines them afterwards. */
#ifndef STA_ANALYSE_EXEC_TASKS_H
#define STA_ANALYSE_EXEC_TASKS_H

#include <stddef.h>

#include "analyse/exec/budget.h"

/** Works on morsel @morsel.  Context: thread of @worker, numbered from 0, which has one at a time. */
typedef int (*sta_task)(void *context, unsigned worker, size_t morsel, struct sta_error *err);

/**
 * sta_tasks_run - work on morsels 0 .. @count - 1
 * They are handed out in this order, so the costly ones should come first.  Each is a step of the request's
 * progress.
 * Return: 0, or what the first morsel (by number) that failed returned; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY
 * of the budget.
 */
STA_MUSTCHECK int sta_tasks_run(const struct sta_budget *budget, size_t count, sta_task run, void *context,
                                struct sta_error *err);

#endif
