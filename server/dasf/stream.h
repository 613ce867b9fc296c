/* stream.h - the records of a trace in the order of the stream: files by path, records as they stand there
 * (private to dasf). */
#ifndef STA_DASF_STREAM_H
#define STA_DASF_STREAM_H

#include <math.h>

#include "analyse/analyse.h"
#include "analyse/sources/columns.h"
#include "dasf/dasf.h"
#include "analyse/operators/radix.h"
#include "analyse/sources/scan.h"

/* A Compute record. */
struct dasf_task {
    double timestamp, duration; /* s, as recorded: the timestamp is the end */
    int64_t size;               /* bytes of the result */
    uint32_t key;               /* node of the graph */
    uint32_t name;              /* code of the tables' names */
    uint32_t worker;            /* of sta_dasf.workers */
    uint32_t position;          /* in the stream */
    uint32_t inputs, users;     /* codes of the lists of dependencies and dependents; STA_NO_CODE: none */
};

/* A Managed Memory record. */
struct dasf_holding {
    double timestamp;
    int64_t tasks;
    uint32_t worker, position;
};

/* A Resource Usage record with its GPU. */
struct dasf_sample {
    double timestamp;
    double utilization, memory, cpu; /* percent, bytes, percent of a core; NAN: not recorded */
    uint32_t host, position;
};

struct dasf_worker {
    uint32_t host; /* of sta_dasf.hosts */
    struct sta_text name,
        gpu; /* its thread_id, and the part behind the last "-"; empty: a record without one */
};

struct dasf_list {
    uint32_t *first; /* by node; one more than there are nodes */
    uint32_t *nodes;
};

#define DASF_NEVER UINT32_MAX /* of a node: no such place */

struct sta_dasf {
    struct sta_snapshot *snapshot;
    struct sta_columns *columns;
    uint64_t bytes;
    struct dasf_task *tasks;
    struct dasf_holding *holdings;
    struct dasf_sample *samples;
    size_t task_count, holding_count, sample_count;
    uint32_t record_count;
    struct dasf_worker *workers;
    uint32_t worker_count;
    struct sta_dictionary *made_names; /* of workers whose column holds no texts */
    struct sta_text *hosts;            /* ascending by text */
    uint32_t host_count;
    /* A node is a text of args.key, or of `unknown` behind them. */
    const struct sta_dictionary *keys;
    struct sta_dictionary *unknown;
    uint32_t key_count, node_count;
    uint32_t *last;     /* by node: its last task; DASF_NEVER: it did not run here */
    uint32_t ran_count; /* nodes that ran */
    /* The graph. */
    bool linked;         /* it is there; then all but `last` and what follows is lent */
    uint32_t *mentioned; /* nodes in the order of their first mention */
    uint32_t mention_count;
    uint32_t *mention;              /* by node: place among these */
    int64_t *input_size;            /* by node: bytes of its predecessors; INT64_MAX: more than fit */
    struct dasf_list before, after; /* predecessors and successors, each once */
};

static inline struct sta_text dasf_node_text(const struct sta_dasf *dasf, uint32_t node)
{
    return node < dasf->key_count ? sta_dictionary_text(dasf->keys, node)
                                  : sta_dictionary_text(dasf->unknown, node - dasf->key_count);
}

/** Reads the records. */
STA_MUSTCHECK int dasf_read_stream(struct sta_dasf *dasf, const struct sta_budget *budget,
                                   struct sta_error *err);
/** Sets `last`, of the nodes that there are. */
STA_MUSTCHECK int dasf_find_last(struct sta_dasf *dasf, const struct sta_budget *budget,
                                 struct sta_error *err);
/** Builds the graph from the tasks. */
STA_MUSTCHECK int dasf_build_graph(struct sta_dasf *dasf, const struct sta_budget *budget,
                                   struct sta_error *err);
/** Where records of a source begin in the stream, by source number; free().  *records: of all. */
uint64_t *dasf_stream_places(const struct sta_snapshot *snapshot, uint64_t *records);
/** The code of a key of args; STA_NO_CODE: no record has it. */
uint32_t dasf_args_key(const struct sta_dasf *dasf, const char *name);
/** Memory that is part of the stream. */
void *dasf_alloc(struct sta_dasf *dasf, const struct sta_budget *budget, size_t count, size_t size,
                 struct sta_error *err);

/* ---- one query */

struct dasf_request {
    const struct sta_dasf_query *query;
    const struct sta_dasf *dasf;
    const struct sta_budget *budget;
    uint8_t *chosen;  /* by position in the stream; NULL: all */
    int64_t *offsets; /* ns, by host */
    struct sta_table *table;
    struct sta_facts *facts;
};

static inline bool dasf_is_chosen(const struct dasf_request *request, uint32_t position)
{
    return request->chosen == NULL || request->chosen[position];
}

static inline bool dasf_node_ran(const struct dasf_request *request, uint32_t node)
{
    uint32_t last = request->dasf->last[node];
    return last != DASF_NEVER && dasf_is_chosen(request, request->dasf->tasks[last].position);
}

/* In whole nanoseconds; decode has seen to it that they fit. */
static inline int64_t dasf_duration(const struct dasf_task *task)
{
    return (int64_t)rint(task->duration * 1e9);
}

static inline int64_t dasf_end(const struct dasf_request *request, const struct dasf_task *task)
{
    return (int64_t)rint(task->timestamp * 1e9) + request->offsets[request->dasf->workers[task->worker].host];
}

static inline int64_t dasf_begin(const struct dasf_request *request, const struct dasf_task *task)
{
    return dasf_end(request, task) - dasf_duration(task);
}

/** Sorts ascending, on all workers.  @what: they are, for an error */
STA_MUSTCHECK int dasf_sort_pairs(const struct dasf_request *request, struct sta_word_pair *pairs,
                                  struct sta_word_pair *scratch, size_t count, const char *what,
                                  struct sta_error *err);
/** Smallest begin of the chosen tasks; 0 without one. */
int64_t dasf_origin(const struct dasf_request *request);
/** Bytes per second of a node's inputs; false when its last task took no time. */
bool dasf_throughput(const struct sta_dasf *dasf, uint32_t node, double *rate);
/** The original divides by the duration of every node: STA_ELIMIT, under compatible, when one took no time.
 */
STA_MUSTCHECK int dasf_check_durations(const struct dasf_request *request, struct sta_error *err);
/** A moment of the records' clocks as seconds from the trace's start. */
double dasf_from_start(const struct dasf_request *request, int64_t ns);

/* A table fills the query's table.  Return: as sta_dasf_run. */
typedef int dasf_table(struct dasf_request *request, struct sta_error *err);
dasf_table dasf_function_bottleneck, dasf_task_bottleneck, dasf_task_balance, dasf_graph, dasf_critical_path,
    dasf_as_it_ran, dasf_slack, dasf_transfers, dasf_function_graph, dasf_parallelism, dasf_resources,
    dasf_clocks;

/* Columns of a table that is being filled. */
void dasf_set_text(struct sta_table *table, struct sta_table_column *column, size_t row,
                   struct sta_text text);

/** Fills the rows [first, end) of all columns; texts are lent.  Context: any thread. */
typedef void dasf_fill(const void *context, size_t first, size_t end);
/** Fills all rows of the query's table, on all workers, and copies the texts that were lent. */
STA_MUSTCHECK int dasf_fill_rows(const struct dasf_request *request, dasf_fill *fill, const void *context,
                                 struct sta_error *err);
static inline void dasf_lend_text(struct sta_table_column *column, size_t row, struct sta_text text)
{
    if (column->refused)
        return;
    column->texts[row] = text;
    column->missing[row] = 0;
}

static inline double dasf_seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

#endif
