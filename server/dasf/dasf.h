/* dasf.h - tables of a Dask computation: which function, task and worker holds it back (public part of
 * analyse.h). */
#ifndef STA_DASF_DASF_H
#define STA_DASF_DASF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/table.h"
#include "store/store.h"

struct sta_presets;
struct sta_budget;
struct sta_facts;
struct sta_dasf; /* the records of a version, with or without their task graph, in memory; immutable, used by
                    any thread */

/**
 * sta_dasf_create - read all records of a snapshot
 * @snapshot: of a trace of kind DASF; retained
 * Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ECANCELLED, STA_ECORRUPT.  Memory that outlives the call
 * is charged to the budget's account until that is closed.
 */
STA_MUSTCHECK int sta_dasf_create(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                                  const struct sta_budget *budget, struct sta_dasf **dasf,
                                  struct sta_error *err);
/** The same records with their task graph.  @records outlive it.  Return: as sta_dasf_create. */
STA_MUSTCHECK int sta_dasf_link(const struct sta_dasf *records, const struct sta_budget *budget,
                                struct sta_dasf **dasf, struct sta_error *err);
void sta_dasf_destroy(struct sta_dasf *dasf);
uint64_t sta_dasf_bytes(const struct sta_dasf *dasf);

/* X(name, compatible, linked, what a row is): whether the original has the table; whether it is of the task
 * graph */
#define STA_DASF_TABLE_LIST(X)                                                                               \
    X(function_bottleneck, true, true, "a function on a worker")                                             \
    X(task_bottleneck, true, false, "a task on a worker")                                                    \
    X(task_balance, true, false, "a second, a column for each worker: results that it holds")                \
    X(graph, true, true, "a task, with the size of its inputs")                                              \
    X(critical_path, false, true, "a step of the longest chain of tasks")                                    \
    X(as_it_ran, false, true, "a step of the chain that ended last, with its waits")                         \
    X(slack, false, true, "a task, and how much longer it may take")                                         \
    X(transfers, false, true, "a pair of workers, with the results that went from one to the other")         \
    X(function_graph, false, true, "a pair of functions, with the edges between their tasks")                \
    X(parallelism, false, false, "a bin of time, with busy workers and tasks that ended")                    \
    X(resources, false, false, "a bin of time on a host: its resource samples")                              \
    X(clocks, false, true, "a host, with the offset of its clock")

enum sta_dasf_table {
#define X(name, compatible, linked, row) STA_DASF_##name,
    STA_DASF_TABLE_LIST(X)
#undef X
        STA_DASF_TABLES
};
/** Return: STA_DASF_TABLES when no table has the name. */
enum sta_dasf_table sta_dasf_table_find(const char *name);
/** Whether the table is asked of records with their graph. */
bool sta_dasf_table_linked(enum sta_dasf_table table);

struct sta_dasf_query {
    const struct sta_dasf *dasf;
    const struct sta_presets *presets;
    enum sta_dasf_table table;
    bool compatible; /* the rules and headings of the original */
    /* exact alone: which tasks (of task_balance and resources: samples) are rows.  Their inputs are those of
     * the whole trace. */
    bool has_from, has_to;
    double from, to;            /* seconds from the origin, as recorded */
    const char *filter;         /* expression, or NULL */
    int64_t granularity_us;     /* of parallelism and resources */
    const char *const *offsets; /* "HOST:SECONDS", added to the clock of that host */
    size_t offset_count;
};

/**
 * sta_dasf_run - one table in whole
 * @facts: records and what could not be found
 * Return: 0; STA_EINPUT with the parameter; STA_ELIMIT, also where the original fails or the tasks depend on
 * each other in a circle; STA_ECANCELLED, STA_ENOMEM, STA_ECORRUPT.  Fini the table after success.
 */
STA_MUSTCHECK int sta_dasf_run(const struct sta_dasf_query *query, const struct sta_budget *budget,
                               struct sta_table *table, struct sta_facts *facts, struct sta_error *err);

#endif
