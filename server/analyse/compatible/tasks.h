/* tasks.h - independent pieces of work, shared out among threads (private to compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_TASKS_H
#define STA_ANALYSE_COMPATIBLE_TASKS_H

#include <stddef.h>

#include "analyse/analyse.h"

/** @run: does piece @task; of one @worker one at a time. */
typedef int (*sta_task)(void *context, unsigned worker, size_t task, struct sta_error *err);

/** Does pieces 0 .. @count - 1.  Return: 0, or what the first piece that failed returned; STA_ECANCELLED,
 * STA_ELIMIT of the budget. */
STA_MUSTCHECK int sta_tasks_run(const struct sta_budget *budget, size_t count, sta_task run, void *context,
                                struct sta_error *err);

#endif
