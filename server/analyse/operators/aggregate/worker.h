/* worker.h - what one worker of a grouping has: its table, its scratch, its written runs (private to
 * aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_WORKER_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_WORKER_H

#include "analyse/operators/aggregate/functions.h"
#include "analyse/operators/aggregate/run.h"
#include "analyse/operators/aggregate/table.h"

/* Values of one argument for the rows of the present minibatch, those where it is missing left out. */
struct sta_argument {
    bool ready;
    struct sta_agg_input input;
    struct sta_argument_space {
        uint64_t values[STA_MINIBATCH_ROWS], others[STA_MINIBATCH_ROWS];
        uint8_t other_missing[STA_MINIBATCH_ROWS];
        uint32_t groups[STA_MINIBATCH_ROWS], rows[STA_MINIBATCH_ROWS];
        uint8_t *states[STA_MINIBATCH_ROWS];
    } * space; /* NULL: not needed yet */
};

struct sta_group_worker {
    const struct sta_shape *shape;
    struct sta_state_arena arena;
    struct sta_group_table table; /* takes rows */
    struct sta_group_table *sealed;
    size_t sealed_count, sealed_capacity, sealed_bytes;
    size_t working_set;             /* of a table until it is sealed */
    uint8_t *sealed_keys;           /* bits of a sample of the keys of sealed tables, by hash; NULL: none */
    struct sta_argument *arguments; /* by call; those of one argument share the first's */
    uint32_t *argument_of;          /* by call: whose */
    uint32_t *key_dictionaries;     /* by key, of the present batch */
    uint64_t *words;                /* packed keys of a minibatch */
    struct sta_exact_terms terms;
    struct sta_group_run **runs;
    size_t run_count, run_capacity;
    struct sta_spill *spill; /* NULL: nothing was written */
    uint64_t rows, memory;   /* taken; bytes held at most */
    size_t charged;          /* bytes, to the account */
    struct sta_group_limits *limits;
    const struct sta_budget *budget;
    struct sta_account *account;
    uint32_t kept[STA_MINIBATCH_ROWS], groups[STA_MINIBATCH_ROWS]; /* of a minibatch */
    uint8_t *states[STA_MINIBATCH_ROWS];                           /* likewise */
};

/** Its tables: number 0 .. sealed_count, the last of which takes rows. */
static inline struct sta_group_table *sta_group_worker_table(struct sta_group_worker *worker, size_t number)
{
    return number < worker->sealed_count ? &worker->sealed[number] : &worker->table;
}

#define STA_GROUP_WORKING_SET                                                                                \
    ((size_t)3 << 18) /* bytes of a table until it is sealed, at first: they stay in the cache of a core */

struct sta_group_limits {
    size_t memory; /* bytes of one worker */
    unsigned workers;
    const char *spill_folder; /* NULL: none */
    uint64_t most_groups;     /* 0: any number */
    _Atomic bool full;        /* some worker has more */
};

/** @limits, @budget: borrowed; tables are charged to the budget's account before they grow.  NULL: they are
 * not, and never spilled. */
void sta_group_worker_init(struct sta_group_worker *worker, const struct sta_shape *shape,
                           struct sta_group_limits *limits, const struct sta_budget *budget);
void sta_group_worker_fini(struct sta_group_worker *worker);
/** Frees tables whose groups were written out; no rows may follow. */
void sta_group_worker_free_tables(struct sta_group_worker *worker);
STA_MUSTCHECK int sta_group_worker_update(struct sta_group_worker *worker,
                                          const struct sta_aggregation_input *rows, struct sta_error *err);
/** Notes the dictionaries of a batch's keys; sta_group_worker_update does so itself. */
void sta_group_worker_see(struct sta_group_worker *worker, const struct sta_aggregation_input *rows);
/** Only the groups of a minibatch's rows, to worker->groups; new ones are added, in the order of rows.  For a
 * table that is never sealed. */
STA_MUSTCHECK int sta_group_worker_number(struct sta_group_worker *worker,
                                          const struct sta_aggregation_input *rows,
                                          struct sta_minibatch minibatch, struct sta_error *err);
/** Space in the table for so many rows, if need be by sealing or writing out what is there. */
STA_MUSTCHECK int sta_group_worker_make_space(struct sta_group_worker *worker, uint32_t rows,
                                              struct sta_error *err);
/** Unites groups that have states of their own with the worker's; their groups are worker->groups then.
 * @batch: at most STA_MINIBATCH_ROWS of them, of which only keys and count are looked at.  @records: by row.
 * @entries: of any list that will be added for them. */
STA_MUSTCHECK int sta_group_worker_unite(struct sta_group_worker *worker,
                                         const struct sta_aggregation_input *batch, const uint8_t *records,
                                         uint32_t entries, struct sta_error *err);
/** Makes the one group that there is without keys, should no row have come. */
STA_MUSTCHECK int sta_group_worker_add_empty(struct sta_group_worker *worker, struct sta_error *err);
/** Writes all tables out as runs and empties them. */
STA_MUSTCHECK int sta_group_worker_spill(struct sta_group_worker *worker, struct sta_error *err);

#endif
