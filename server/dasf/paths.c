/* Paths through the task graph: the longest by durations, the one that ended last as it ran, and what each
 * task can spare. */
#include "dasf/paths.h"

#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"

static const char WHAT[] = "paths through the tasks";

/* ---- an order behind inputs */

static uint32_t inputs_left(const struct dasf_request *request, uint32_t node)
{
    const struct dasf_list *before = &request->dasf->before;
    uint32_t count = 0;
    for (uint32_t i = before->first[node]; i < before->first[node + 1]; i++)
        count += dasf_node_ran(request, before->nodes[i]);
    return count;
}

/* Names a circle: from a task that waits for ever back along such, until one comes again. */
static int fail_circle(const struct dasf_request *request, const uint32_t *left, struct sta_error *err)
{
    const struct sta_dasf *dasf = request->dasf;
    struct sta_buffer names = {0};
    uint32_t node = DASF_NEVER, first = DASF_NEVER;
    for (uint32_t i = 0; i < dasf->mention_count && node == DASF_NEVER; i++)
        if (dasf_node_ran(request, dasf->mentioned[i]) && left[dasf->mentioned[i]] > 0)
            node = dasf->mentioned[i];
    for (uint64_t step = 0; step < 2 * (uint64_t)dasf->mention_count + 8; step++) {
        uint32_t next = node;
        for (uint32_t i = dasf->before.first[node]; i < dasf->before.first[node + 1] && next == node; i++)
            if (dasf_node_ran(request, dasf->before.nodes[i]) && left[dasf->before.nodes[i]] > 0)
                next = dasf->before.nodes[i];
        if (step == dasf->mention_count) /* by now it goes round */
            first = node;
        if (step >= dasf->mention_count && names.size < 800)
            sta_put_format(&names, "%.100s <- ", dasf_node_text(dasf, node).bytes);
        node = next;
        if (node == first && step >= dasf->mention_count)
            break;
    }
    sta_put_format(&names, "%.100s", dasf_node_text(dasf, node).bytes);
    sta_put_char(&names, '\0');
    sta_fail(err, STA_ELIMIT, "the tasks depend on each other in a circle: %.900s", names.data);
    sta_buffer_fini(&names);
    return err->status;
}

static int order_nodes(const struct dasf_request *request, uint32_t *order, uint32_t *left, size_t *count,
                       struct sta_error *err)
{
    const struct sta_dasf *dasf = request->dasf;
    size_t chosen = 0, ready = 0;
    int status = STA_OK;
    for (uint32_t i = 0; i < dasf->mention_count; i++) {
        uint32_t node = dasf->mentioned[i];
        if (!dasf_node_ran(request, node))
            continue;
        left[node] = inputs_left(request, node);
        chosen++;
        if (left[node] == 0)
            order[ready++] = node;
    }
    for (size_t i = 0; i < ready && status == STA_OK; i++) {
        status = sta_budget_check_step(request->budget, i, err);
        for (uint32_t e = dasf->after.first[order[i]]; e < dasf->after.first[order[i] + 1]; e++) {
            uint32_t user = dasf->after.nodes[e];
            if (dasf_node_ran(request, user) && --left[user] == 0)
                order[ready++] = user;
        }
    }
    *count = ready;
    return status == STA_OK && ready < chosen ? fail_circle(request, left, err) : status;
}

int dasf_topological(const struct dasf_request *request, uint32_t **order, size_t *count,
                     struct sta_error *err)
{
    struct sta_account *account = request->budget->account;
    size_t nodes = (size_t)request->dasf->node_count + 1;
    uint32_t *left = sta_account_alloc(account, nodes, sizeof *left, WHAT, err);
    *order = left ? sta_account_alloc(account, nodes, sizeof **order, WHAT, err) : NULL;
    int status = *order != NULL ? order_nodes(request, *order, left, count, err) : err->status;
    sta_account_free(account, left);
    if (status != STA_OK)
        sta_account_free(account, *order);
    return status;
}

/* ---- values of nodes along the order */

static const struct dasf_task *task_of(const struct dasf_request *request, uint32_t node)
{
    return &request->dasf->tasks[request->dasf->last[node]];
}

/* The chosen node of a list with the largest value; of equal ones the first mentioned.  DASF_NEVER: none. */
static uint32_t best_of(const struct dasf_request *request, const uint32_t *nodes, size_t count,
                        const int64_t *value)
{
    const uint32_t *mention = request->dasf->mention;
    uint32_t best = DASF_NEVER;
    for (size_t i = 0; i < count; i++) {
        uint32_t node = nodes[i];
        if (!dasf_node_ran(request, node))
            continue;
        if (best == DASF_NEVER || value[node] > value[best] ||
            (value[node] == value[best] && mention[node] < mention[best]))
            best = node;
    }
    return best;
}

static uint32_t best_before(const struct dasf_request *request, uint32_t node, const int64_t *value)
{
    const struct dasf_list *before = &request->dasf->before;
    return best_of(request, before->nodes + before->first[node],
                   before->first[node + 1] - before->first[node], value);
}

/* When each task is finished at the earliest, from the beginning of the longest chain to it. */
static int find_finish(const struct dasf_request *request, const uint32_t *order, size_t count,
                       int64_t *finish, struct sta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (sta_budget_check_step(request->budget, i, err) != STA_OK)
            return err->status;
        uint32_t before = best_before(request, order[i], finish);
        finish[order[i]] =
            dasf_duration(task_of(request, order[i])) + (before != DASF_NEVER ? finish[before] : 0);
    }
    return STA_OK;
}

/* The longest chain from each task to an end, itself included. */
static int find_tail(const struct dasf_request *request, const uint32_t *order, size_t count, int64_t *tail,
                     struct sta_error *err)
{
    const struct dasf_list *after = &request->dasf->after;
    for (size_t i = count; i-- > 0;) {
        if (sta_budget_check_step(request->budget, i, err) != STA_OK)
            return err->status;
        int64_t most = 0;
        for (uint32_t e = after->first[order[i]]; e < after->first[order[i] + 1]; e++)
            if (dasf_node_ran(request, after->nodes[e]))
                most = STA_MAX(most, tail[after->nodes[e]]);
        tail[order[i]] = dasf_duration(task_of(request, order[i])) + most;
    }
    return STA_OK;
}

/* ---- chains */

/* A chain, last task first; and what its choice was made by. */
struct chain {
    uint32_t *order, *steps;
    size_t order_count, step_count;
    int64_t *value; /* by node */
};

static void chain_fini(const struct dasf_request *request, struct chain *chain)
{
    sta_account_free(request->budget->account, chain->order);
    sta_account_free(request->budget->account, chain->steps);
    sta_account_free(request->budget->account, chain->value);
}

/* Allocates, and orders the tasks.  Fini also after a failure. */
static int chain_init(const struct dasf_request *request, struct chain *chain, struct sta_error *err)
{
    struct sta_account *account = request->budget->account;
    size_t nodes = (size_t)request->dasf->node_count + 1;
    *chain = (struct chain){0};
    int status = dasf_topological(request, &chain->order, &chain->order_count, err);
    if (status != STA_OK)
        return chain->order = NULL, status;
    chain->steps = sta_account_alloc(account, nodes, sizeof *chain->steps, WHAT, err);
    chain->value = chain->steps ? sta_account_alloc(account, nodes, sizeof *chain->value, WHAT, err) : NULL;
    return chain->value != NULL ? STA_OK : err->status;
}

/* From the task of the largest value back, each time to the predecessor of the largest. */
static void follow_back(const struct dasf_request *request, struct chain *chain)
{
    uint32_t node = best_of(request, chain->order, chain->order_count, chain->value);
    while (node != DASF_NEVER) {
        chain->steps[chain->step_count++] = node;
        node = best_before(request, node, chain->value);
    }
}

/* ---- tables */

static void add_task_columns(struct sta_table *table)
{
    sta_table_add(table, "step", STA_TYPE_INT, NULL);
    sta_table_add(table, "key", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "host", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "worker", STA_TYPE_TEXT, NULL);
}

static struct sta_text name_of(const struct dasf_request *request, const struct dasf_task *task)
{
    return sta_dictionary_text(sta_tables_names(sta_snapshot_tables(request->dasf->snapshot)), task->name);
}

static void set_task(const struct dasf_request *request, size_t row, uint32_t node, size_t column)
{
    const struct sta_dasf *dasf = request->dasf;
    struct sta_table *table = request->table;
    const struct dasf_task *task = task_of(request, node);
    dasf_set_text(table, &table->columns[column], row, dasf_node_text(dasf, node));
    if (task->name != STA_NO_CODE)
        dasf_set_text(table, &table->columns[column + 1], row, name_of(request, task));
}

static void set_step(const struct dasf_request *request, size_t row, uint32_t node)
{
    const struct sta_dasf *dasf = request->dasf;
    struct sta_table *table = request->table;
    const struct dasf_worker *worker = &dasf->workers[task_of(request, node)->worker];
    sta_table_set_int(&table->columns[0], row, (int64_t)row);
    set_task(request, row, node, 1);
    dasf_set_text(table, &table->columns[3], row, dasf->hosts[worker->host]);
    dasf_set_text(table, &table->columns[4], row, worker->name);
}

static void begin_table(const struct dasf_request *request, size_t rows)
{
    sta_table_init(request->table, rows);
    sta_table_count_in(request->table, request->budget->account);
}

static void set_seconds(struct sta_table *table, size_t column, size_t row, int64_t ns)
{
    sta_table_set_number(&table->columns[column], row, dasf_seconds(ns));
}

int dasf_critical_path(struct dasf_request *request, struct sta_error *err)
{
    struct chain chain;
    struct sta_table *table = request->table;
    int status = chain_init(request, &chain, err);
    if (status == STA_OK)
        status = find_finish(request, chain.order, chain.order_count, chain.value, err);
    if (status == STA_OK) {
        int64_t total = 0;
        follow_back(request, &chain);
        begin_table(request, chain.step_count);
        add_task_columns(table);
        sta_table_add(table, "duration", STA_TYPE_FLOAT, "s");
        sta_table_add(table, "total", STA_TYPE_FLOAT, "s");
        for (size_t row = 0; row < chain.step_count; row++) {
            uint32_t node = chain.steps[chain.step_count - 1 - row];
            set_step(request, row, node);
            total += dasf_duration(task_of(request, node));
            set_seconds(table, 5, row, dasf_duration(task_of(request, node)));
            set_seconds(table, 6, row, total);
        }
    }
    chain_fini(request, &chain);
    return status;
}

int64_t dasf_origin(const struct dasf_request *request)
{
    const struct sta_dasf *dasf = request->dasf;
    int64_t origin = INT64_MAX;
    for (size_t i = 0; i < dasf->task_count; i++)
        if (dasf_is_chosen(request, dasf->tasks[i].position))
            origin = STA_MIN(origin, dasf_begin(request, &dasf->tasks[i]));
    return origin == INT64_MAX ? 0 : origin;
}

/* One step of the chain as it ran; @ready: when the one before had ended. */
static void set_run(const struct dasf_request *request, const struct dasf_runs *runs, size_t row,
                    uint32_t node, int64_t origin, int64_t ready)
{
    struct sta_table *table = request->table;
    const struct dasf_task *task = task_of(request, node);
    int64_t start = dasf_begin(request, task), wait = STA_MAX(start - ready, 0);
    int64_t busy = dasf_runs_time(runs, task->worker, ready, start);
    set_step(request, row, node);
    set_seconds(table, 5, row, start - origin);
    set_seconds(table, 6, row, wait);
    set_seconds(table, 7, row, busy);
    set_seconds(table, 8, row, wait - busy);
    set_seconds(table, 9, row, STA_MAX(ready - start, 0));
    set_seconds(table, 10, row, dasf_duration(task));
}

static void fill_as_it_ran(const struct dasf_request *request, const struct chain *chain,
                           const struct dasf_runs *runs)
{
    static const char *const names[] = {"start", "wait", "worker_busy", "idle", "overlap", "duration"};
    int64_t origin = dasf_origin(request), ready = origin;
    begin_table(request, chain->step_count);
    add_task_columns(request->table);
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_table_add(request->table, names[i], STA_TYPE_FLOAT, "s");
    for (size_t row = 0; row < chain->step_count; row++) {
        uint32_t node = chain->steps[chain->step_count - 1 - row];
        set_run(request, runs, row, node, origin, ready);
        ready = dasf_end(request, task_of(request, node));
    }
}

int dasf_as_it_ran(struct dasf_request *request, struct sta_error *err)
{
    struct chain chain;
    struct dasf_runs runs = {0};
    int status = chain_init(request, &chain, err);
    if (status == STA_OK)
        status = dasf_runs_create(request, &runs, err);
    if (status == STA_OK) {
        for (size_t i = 0; i < chain.order_count; i++)
            chain.value[chain.order[i]] = dasf_end(request, task_of(request, chain.order[i]));
        follow_back(request, &chain);
        fill_as_it_ran(request, &chain, &runs);
    }
    dasf_runs_fini(request, &runs);
    chain_fini(request, &chain);
    return status;
}

struct slack_table {
    const struct dasf_request *request;
    const int64_t *finish, *tail; /* by node */
    const uint32_t *nodes;        /* by row */
    int64_t longest;
};

static void fill_slack_row(const struct slack_table *slack, size_t row)
{
    const struct dasf_request *request = slack->request;
    const uint32_t node = slack->nodes[row];
    const struct dasf_task *task = task_of(request, node);
    struct sta_table_column *columns = request->table->columns;
    dasf_lend_text(&columns[0], row, dasf_node_text(request->dasf, node));
    if (task->name != STA_NO_CODE)
        dasf_lend_text(&columns[1], row, name_of(request, task));
    set_seconds(request->table, 2, row, dasf_duration(task));
    set_seconds(request->table, 3, row, slack->finish[node]);
    set_seconds(request->table, 4, row,
                slack->longest - (slack->finish[node] + slack->tail[node] - dasf_duration(task)));
}

static void fill_slack_rows(const void *context, size_t first, size_t end)
{
    for (size_t row = first; row < end; row++)
        fill_slack_row(context, row);
}

/* The rows are in the order of first mention: for that the chain's order, which has served, is written anew.
 */
static int fill_slack(const struct dasf_request *request, struct chain *chain, const int64_t *tail,
                      struct sta_error *err)
{
    static const char *const names[] = {"duration", "earliest_finish", "slack"};
    const struct sta_dasf *dasf = request->dasf;
    const uint32_t last = best_of(request, chain->order, chain->order_count, chain->value);
    const struct slack_table slack = {request, chain->value, tail, chain->order,
                                      last != DASF_NEVER ? chain->value[last] : 0};
    size_t rows = 0;
    begin_table(request, chain->order_count);
    sta_table_add(request->table, "key", STA_TYPE_TEXT, NULL);
    sta_table_add(request->table, "name", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_table_add(request->table, names[i], STA_TYPE_FLOAT, "s");
    for (uint32_t i = 0; i < dasf->mention_count; i++)
        if (dasf_node_ran(request, dasf->mentioned[i]))
            chain->order[rows++] = dasf->mentioned[i];
    return dasf_fill_rows(request, fill_slack_rows, &slack, err);
}

int dasf_slack(struct dasf_request *request, struct sta_error *err)
{
    struct chain chain;
    struct sta_account *account = request->budget->account;
    int status = chain_init(request, &chain, err);
    int64_t *tail =
        sta_account_alloc(account, (size_t)request->dasf->node_count + 1, sizeof *tail, WHAT, err);
    if (status == STA_OK && tail == NULL)
        status = err->status;
    if (status == STA_OK)
        status = find_finish(request, chain.order, chain.order_count, chain.value, err);
    if (status == STA_OK)
        status = find_tail(request, chain.order, chain.order_count, tail, err);
    if (status == STA_OK)
        status = fill_slack(request, &chain, tail, err);
    sta_account_free(account, tail);
    chain_fini(request, &chain);
    return status;
}
