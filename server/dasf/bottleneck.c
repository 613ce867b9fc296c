/* function_bottleneck and task_bottleneck: what each worker spent its time on.
 *
 * Sums of doubles run in the order of the stream, so tasks are sorted by (worker, function or key, place in
 * the stream), and groups then ordered as the original numbers its rows: worker by worker as they appear,
 * inside of one as its groups appear.  The rows go out by duration, longest first. */
#include <math.h>
#include <string.h>

#include "dasf/samples.h"
#include "analyse/exec/tasks.h"
#include "common/memory.h"

static const char WHAT[] = "groups of tasks";

/* The tasks of one row. */
struct group {
    uint32_t first, count; /* of the sorted pairs */
    uint32_t task, key;    /* the first of them, and its key */
    double duration, total, percent;
};

struct grouping {
    struct dasf_request *request;
    bool by_key;
    struct sta_word_pair *tasks; /* worker and group, place among the tasks; sorted */
    size_t task_count;
    struct sta_word_pair *scratch; /* of all sorts: as many as tasks */
    struct group *groups;          /* in the order of the original's rows */
    struct sta_word_pair *order;   /* of the rows that go out: minor is a group */
    size_t group_count;
    size_t keys; /* the column of keys or functions */
};

static const struct dasf_task *task_at(const struct grouping *grouping, const struct group *group, size_t i)
{
    return &grouping->request->dasf->tasks[grouping->tasks[group->first + i].minor];
}

static const struct dasf_task *first_task(const struct grouping *grouping, const struct group *group)
{
    return &grouping->request->dasf->tasks[group->task];
}

static void grouping_fini(struct grouping *grouping)
{
    struct sta_account *account = grouping->request->budget->account;
    sta_account_free(account, grouping->tasks);
    sta_account_free(account, grouping->scratch);
    sta_account_free(account, grouping->groups);
    sta_account_free(account, grouping->order);
}

/* ---- groups */

static int sort_tasks(struct grouping *grouping, struct sta_error *err)
{
    const struct dasf_request *request = grouping->request;
    const struct sta_dasf *dasf = request->dasf;
    struct sta_account *account = request->budget->account;
    grouping->tasks = sta_account_alloc(account, dasf->task_count + 1, sizeof *grouping->tasks, WHAT, err);
    grouping->scratch = grouping->tasks ? sta_account_alloc(account, dasf->task_count + 1,
                                                            sizeof *grouping->scratch, WHAT, err)
                                        : NULL;
    if (grouping->scratch == NULL)
        return err->status;
    for (size_t i = 0; i < dasf->task_count; i++) {
        if (sta_budget_check_step(request->budget, i, err) != STA_OK)
            return err->status;
        const struct dasf_task *task = &dasf->tasks[i];
        uint64_t group = grouping->by_key ? task->key : task->name;
        if (dasf_is_chosen(request, task->position))
            grouping->tasks[grouping->task_count++] =
                (struct sta_word_pair){(uint64_t)task->worker << 32 | group, i};
    }
    return dasf_sort_pairs(request, grouping->tasks, grouping->scratch, grouping->task_count, "tasks", err);
}

/* Where each worker first appears. */
static int find_workers(const struct grouping *grouping, uint32_t **appears, struct sta_error *err)
{
    const struct dasf_request *request = grouping->request;
    size_t size = ((size_t)request->dasf->worker_count + 1) * sizeof **appears;
    *appears = sta_account_alloc(request->budget->account, 1, size, WHAT, err);
    if (*appears == NULL)
        return err->status;
    memset(*appears, 0xff, size);
    for (size_t i = 0; i < grouping->task_count; i++) {
        uint32_t worker = (uint32_t)(grouping->tasks[i].major >> 32);
        (*appears)[worker] = (uint32_t)STA_MIN((uint64_t)(*appears)[worker], grouping->tasks[i].minor);
    }
    return STA_OK;
}

static size_t count_groups(const struct grouping *grouping)
{
    size_t count = 0;
    for (size_t i = 0; i < grouping->task_count; i++)
        count += i == 0 || grouping->tasks[i].major != grouping->tasks[i - 1].major;
    return count;
}

/* The groups as (appearance of the worker, of the group), with where their tasks begin. */
static int order_groups(struct grouping *grouping, struct sta_error *err)
{
    struct sta_account *account = grouping->request->budget->account;
    uint32_t *appears;
    size_t count = count_groups(grouping), at = 0;
    grouping->groups = sta_account_calloc(account, count + 1, sizeof *grouping->groups, WHAT, err);
    grouping->order =
        grouping->groups ? sta_account_alloc(account, count + 1, sizeof *grouping->order, WHAT, err) : NULL;
    if (grouping->order == NULL || find_workers(grouping, &appears, err) != STA_OK)
        return err->status;
    for (size_t i = 0; i < grouping->task_count; i++)
        if (i == 0 || grouping->tasks[i].major != grouping->tasks[i - 1].major)
            grouping->order[at++] = (struct sta_word_pair){
                (uint64_t)appears[grouping->tasks[i].major >> 32] << 32 | grouping->tasks[i].minor, i};
    sta_account_free(account, appears);
    grouping->group_count = count;
    return dasf_sort_pairs(grouping->request, grouping->order, grouping->scratch, count, "tasks", err);
}

static void measure_group(struct grouping *grouping, struct group *group, size_t first)
{
    uint64_t major = grouping->tasks[first].major;
    group->first = (uint32_t)first;
    group->task = (uint32_t)grouping->tasks[first].minor;
    group->key = first_task(grouping, group)->key;
    while (first + group->count < grouping->task_count &&
           grouping->tasks[first + group->count].major == major)
        group->duration += task_at(grouping, group, group->count++)->duration;
}

/* Sums of durations, and their shares of all that the worker did. */
static int measure_groups(struct grouping *grouping, struct sta_error *err)
{
    size_t work = 0;
    for (size_t i = 0, begin = 0; i < grouping->group_count; i++) {
        struct group *group = &grouping->groups[i];
        measure_group(grouping, group, grouping->order[i].minor);
        uint32_t worker = task_at(grouping, group, 0)->worker;
        if (worker != task_at(grouping, &grouping->groups[begin], 0)->worker)
            begin = i;
        group->total = (i == begin ? 0.0 : group[-1].total) + group->duration;
        if (sta_budget_check_work(grouping->request->budget, &work, group->count, err) != STA_OK)
            return err->status;
    }
    for (size_t i = grouping->group_count; i-- > 0;) {
        struct group *group = &grouping->groups[i];
        bool last = i + 1 == grouping->group_count ||
                    task_at(grouping, group + 1, 0)->worker != task_at(grouping, group, 0)->worker;
        group->total = last ? group->total : group[1].total;
        group->percent = group->duration / group->total * 100; /* NAN when it did nothing */
        if (sta_budget_check_step(grouping->request->budget, i, err) != STA_OK)
            return err->status;
    }
    return STA_OK;
}

/* The original divides by the time of each worker. */
static int check_totals(const struct grouping *grouping, struct sta_error *err)
{
    for (size_t i = 0; i < grouping->group_count && grouping->request->query->compatible; i++)
        if (grouping->groups[i].total == 0) {
            const struct sta_dasf *dasf = grouping->request->dasf;
            uint32_t worker = task_at(grouping, &grouping->groups[i], 0)->worker;
            return sta_fail(err, STA_ELIMIT,
                            "the original has no such table: the tasks of worker %s took no time in all, by "
                            "which it divides; semantics=exact leaves these shares out",
                            dasf->workers[worker].name.bytes);
        }
    return STA_OK;
}

static int sort_by_duration(struct grouping *grouping, struct sta_error *err)
{
    for (size_t i = 0; i < grouping->group_count; i++)
        grouping->order[i] = (struct sta_word_pair){~dasf_ordered_bits(grouping->groups[i].duration), i};
    return dasf_sort_pairs(grouping->request, grouping->order, grouping->scratch, grouping->group_count,
                           "tasks", err);
}

static int make_groups(struct grouping *grouping, struct sta_error *err)
{
    int status = sort_tasks(grouping, err);
    if (status == STA_OK)
        status = order_groups(grouping, err);
    if (status == STA_OK)
        status = measure_groups(grouping, err);
    if (status == STA_OK)
        status = check_totals(grouping, err);
    return status == STA_OK ? sort_by_duration(grouping, err) : status;
}

/* ---- columns */

static const struct group *row_group(const struct grouping *grouping, size_t row)
{
    return &grouping->groups[grouping->order[row].minor];
}

#define AHEAD 16 /* rows whose group and task are fetched before they are wanted */

/* By duration, groups and tasks lie anywhere. */
static void fetch_ahead(const struct grouping *grouping, size_t row)
{
    if (row + 2 * AHEAD < grouping->group_count)
        __builtin_prefetch(row_group(grouping, row + 2 * AHEAD));
    if (row + AHEAD < grouping->group_count)
        __builtin_prefetch(first_task(grouping, row_group(grouping, row + AHEAD)));
}

static void add_column(const struct grouping *grouping, const char *exact, const char *compatible,
                       enum sta_type type, const char *unit)
{
    bool original = grouping->request->query->compatible;
    (void)sta_table_add(grouping->request->table, original ? compatible : exact, type,
                        original ? NULL : unit);
}

/* The columns that both tables have; under compatible there is none of the worker's name. */
static void add_columns(struct grouping *grouping)
{
    const struct dasf_request *request = grouping->request;
    sta_table_init(request->table, grouping->group_count);
    sta_table_count_in(request->table, request->budget->account);
    add_column(grouping, "host", "Host", STA_TYPE_TEXT, NULL);
    add_column(grouping, "gpu", "GPU", STA_TYPE_TEXT, NULL);
    if (!request->query->compatible)
        (void)sta_table_add(request->table, "worker", STA_TYPE_TEXT, NULL);
    grouping->keys = request->table->column_count;
    if (grouping->by_key)
        add_column(grouping, "key", "Task Key", STA_TYPE_TEXT, NULL);
    else
        add_column(grouping, "function", "Function", STA_TYPE_TEXT, NULL);
    add_column(grouping, "duration", "Duration (s)", STA_TYPE_FLOAT, "s");
    add_column(grouping, "percent", "Percentage of total time (%)", STA_TYPE_FLOAT, NULL);
}

/* Fills these of one row.  Return: the column behind them. */
static struct sta_table_column *fill_columns(const struct grouping *grouping, size_t row)
{
    const struct dasf_request *request = grouping->request;
    const struct sta_dasf *dasf = request->dasf;
    const struct group *group = row_group(grouping, row);
    const struct dasf_task *task = first_task(grouping, group);
    const struct dasf_worker *worker = &dasf->workers[task->worker];
    struct sta_table_column *column = request->table->columns;
    fetch_ahead(grouping, row);
    dasf_lend_text(column++, row, dasf->hosts[worker->host]);
    dasf_lend_text(column++, row, worker->gpu);
    if (!request->query->compatible)
        dasf_lend_text(column++, row, worker->name);
    if (!grouping->by_key && task->name != STA_NO_CODE)
        dasf_lend_text(
            column, row,
            sta_dictionary_text(sta_tables_names(sta_snapshot_tables(dasf->snapshot)), task->name));
    sta_table_set_number(++column, row, group->duration);
    sta_table_set_number(++column, row, group->percent);
    return column + 1;
}

static void fill_task_row(const struct grouping *grouping, size_t row)
{
    const struct sta_dasf *dasf = grouping->request->dasf;
    struct sta_table_column *column = fill_columns(grouping, row);
    const int64_t size = dasf->tasks[dasf->last[row_group(grouping, row)->key]].size;
    if (grouping->request->query->compatible)
        sta_table_set_number(column, row, (double)size / 1e6);
    else
        sta_table_set_int(column, row, size);
}

/* The keys by themselves: the processor then waits for many of them together. */
static void fill_task_rows(const void *context, size_t first, size_t end)
{
    const struct grouping *grouping = context;
    struct sta_table_column *keys = &grouping->request->table->columns[grouping->keys];
    for (size_t row = first; row < end; row++) {
        if (row + AHEAD < end)
            __builtin_prefetch(row_group(grouping, row + AHEAD));
        dasf_lend_text(keys, row, dasf_node_text(grouping->request->dasf, row_group(grouping, row)->key));
    }
    for (size_t row = first; row < end; row++)
        fill_task_row(grouping, row);
}

int dasf_task_bottleneck(struct dasf_request *request, struct sta_error *err)
{
    struct grouping grouping = {.request = request, .by_key = true};
    int status = make_groups(&grouping, err);
    if (status == STA_OK) {
        add_columns(&grouping);
        add_column(&grouping, "size", "Memory usage (Mb)",
                   request->query->compatible ? STA_TYPE_FLOAT : STA_TYPE_INT, "B");
        status = dasf_fill_rows(request, fill_task_rows, &grouping, err);
    }
    grouping_fini(&grouping);
    return status;
}

/* ---- what the samples and the graph say of a function */

/* Return: the column behind those of the samples. */
static struct sta_table_column *fill_means(const struct grouping *grouping, const struct dasf_means *means,
                                           size_t row, struct sta_table_column *column)
{
    const struct dasf_request *request = grouping->request;
    const bool original = request->query->compatible;
    const struct dasf_mean *mean =
        dasf_find_mean(request, means, first_task(grouping, row_group(grouping, row)));
    const double memory = mean ? mean->memory / (double)mean->count : 0;
    sta_table_set_number(column++, row, mean ? mean->utilization / (double)mean->count : 0);
    sta_table_set_number(column++, row, original ? memory / 1e9 : memory);
    if (!original)
        sta_table_set_int(column++, row, mean ? (int64_t)mean->count : 0);
    return column;
}

bool dasf_throughput(const struct sta_dasf *dasf, uint32_t node, double *rate)
{
    double duration = dasf->last[node] != DASF_NEVER ? dasf->tasks[dasf->last[node]].duration : 1;
    *rate = (double)dasf->input_size[node] / duration;
    return duration != 0;
}

/* The means over a group's tasks; a rate is only of those that took time. */
static struct sta_table_column *fill_graph(const struct grouping *grouping, size_t row,
                                           struct sta_table_column *column)
{
    const struct dasf_request *request = grouping->request;
    const double unit = request->query->compatible ? 1e6 : 1;
    const struct group *group = row_group(grouping, row);
    __int128 sizes = 0;
    double rates = 0, rate;
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const uint32_t key = task_at(grouping, group, i)->key;
        sizes += request->dasf->input_size[key];
        if (dasf_throughput(request->dasf, key, &rate)) {
            rates += rate;
            count++;
        }
    }
    sta_table_set_number(column++, row, (double)sizes / (double)group->count / unit);
    if (count > 0)
        sta_table_set_number(column, row, rates / (double)count / unit);
    return column + 1;
}

struct function_table {
    const struct grouping *grouping;
    const struct dasf_means *means;
};

static void add_function_columns(struct grouping *grouping)
{
    add_columns(grouping);
    add_column(grouping, "gpu_utilization", "Mean GPU Utilization (%)", STA_TYPE_FLOAT, NULL);
    add_column(grouping, "gpu_memory", "Mean GPU Memory Used (GB)", STA_TYPE_FLOAT, "B");
    if (!grouping->request->query->compatible) /* 0: the means are of none */
        (void)sta_table_add(grouping->request->table, "gpu_samples", STA_TYPE_INT, NULL);
    add_column(grouping, "mean_size", "Mean Data Size (MB)", STA_TYPE_FLOAT, "B");
    add_column(grouping, "mean_throughput", "Mean Throughput (MB/s)", STA_TYPE_FLOAT, "B/s");
    add_column(grouping, "tasks", "Num Tasks (chunks)", STA_TYPE_INT, NULL);
    add_column(grouping, "mean_duration", "Mean Task time (s)", STA_TYPE_FLOAT, "s");
}

static void fill_function_row(const struct function_table *functions, size_t row)
{
    const struct grouping *grouping = functions->grouping;
    const struct group *group = row_group(grouping, row);
    struct sta_table_column *column = fill_columns(grouping, row);
    column = fill_means(grouping, functions->means, row, column);
    column = fill_graph(grouping, row, column);
    sta_table_set_int(column++, row, (int64_t)group->count);
    sta_table_set_number(column, row, group->duration / (double)group->count);
}

static void fill_function_rows(const void *context, size_t first, size_t end)
{
    for (size_t row = first; row < end; row++)
        fill_function_row(context, row);
}

int dasf_check_durations(const struct dasf_request *request, struct sta_error *err)
{
    const struct sta_dasf *dasf = request->dasf;
    for (uint32_t i = 0; i < dasf->mention_count && request->query->compatible; i++) {
        uint32_t last = dasf->last[dasf->mentioned[i]];
        if (last != DASF_NEVER && dasf->tasks[last].duration == 0)
            return sta_fail(err, STA_ELIMIT,
                            "the original has no such table: task %.200s took no time, by which it divides; "
                            "semantics=exact leaves its throughput out",
                            dasf_node_text(dasf, dasf->mentioned[i]).bytes);
    }
    return STA_OK;
}

/* Groups and means have nothing in common but the tasks. */
struct parts {
    struct grouping *grouping;
    struct dasf_means *means;
};

static int make_part(void *context, unsigned worker, size_t part, struct sta_error *err)
{
    const struct parts *parts = context;
    (void)worker;
    return part == 0 ? make_groups(parts->grouping, err)
                     : dasf_make_means(parts->grouping->request, parts->means, err);
}

int dasf_function_bottleneck(struct dasf_request *request, struct sta_error *err)
{
    struct grouping grouping = {.request = request};
    struct dasf_means means = {0};
    struct parts parts = {&grouping, &means};
    int status = dasf_check_durations(request, err);
    if (status == STA_OK)
        status = sta_tasks_run(request->budget, 2, make_part, &parts, err);
    if (status == STA_OK) {
        const struct function_table functions = {&grouping, &means};
        add_function_columns(&grouping);
        status = dasf_fill_rows(request, fill_function_rows, &functions, err);
    }
    sta_account_free(request->budget->account, means.items);
    grouping_fini(&grouping);
    return status;
}
