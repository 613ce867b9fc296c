/* What goes from task to task: results between workers, edges between functions. */
#include <stdlib.h>
#include <string.h>

#include "dasf/stream.h"
#include "common/memory.h"

static const char WHAT[] = "the edges between tasks";

/* Words by which edges are sorted: those of equal words are one row, or one result. */
struct edges {
    const struct dasf_request *request;
    struct sta_word_pair *items; /* twice as many: the second half is scratch */
    size_t count, capacity;
};

struct sum {
    uint64_t where;
    int64_t count;
    __int128 size;
};

static const struct dasf_task *last_of(const struct sta_dasf *dasf, uint32_t node)
{
    return &dasf->tasks[dasf->last[node]];
}

/* Collects all edges between chosen tasks for which @word says something. */
static int collect(struct edges *edges,
                   bool (*word)(void *context, uint32_t from, uint32_t to, struct sta_word_pair *word),
                   void *context, struct sta_error *err)
{
    const struct sta_dasf *dasf = edges->request->dasf;
    struct sta_account *account = edges->request->budget->account;
    int status = STA_OK;
    edges->capacity = dasf->before.first[dasf->node_count];
    edges->items = sta_account_alloc(account, 2 * edges->capacity + 1, sizeof *edges->items, WHAT, err);
    if (edges->items == NULL)
        return err->status;
    for (uint32_t to = 0; to < dasf->node_count && status == STA_OK; to++) {
        status = sta_budget_check_step(edges->request->budget, to, err);
        if (!dasf_node_ran(edges->request, to))
            continue;
        for (uint32_t i = dasf->before.first[to]; i < dasf->before.first[to + 1]; i++) {
            uint32_t from = dasf->before.nodes[i];
            if (dasf_node_ran(edges->request, from) && word(context, from, to, &edges->items[edges->count]))
                edges->count++;
        }
    }
    return status == STA_OK ? dasf_sort_pairs(edges->request, edges->items, edges->items + edges->capacity,
                                              edges->count, "edges", err)
                            : status;
}

/* Adds up what has the same major word; the minor one is a node, whose size is added.  In place of the
 * items.  Return: how many sums. */
static size_t add_up(const struct edges *edges, struct sum *sums)
{
    size_t count = 0;
    for (size_t i = 0; i < edges->count; i++) {
        if (count == 0 || sums[count - 1].where != edges->items[i].major)
            sums[count++] = (struct sum){.where = edges->items[i].major};
        sums[count - 1].count++;
        sums[count - 1].size += last_of(edges->request->dasf, (uint32_t)edges->items[i].minor)->size;
    }
    return count;
}

static void set_sum(struct sta_table *table, size_t column, size_t row, const struct sum *sum)
{
    sta_table_set_int(&table->columns[column], row, sum->count);
    if (sum->size >= INT64_MIN && sum->size <= INT64_MAX)
        sta_table_set_int(&table->columns[column + 1], row, (int64_t)sum->size);
    else
        table->columns[column + 1].too_large++;
}

static int sums_of(const struct edges *edges, struct sum **sums, size_t *count, struct sta_error *err)
{
    *sums = sta_account_alloc(edges->request->budget->account, edges->count + 1, sizeof **sums, WHAT, err);
    if (*sums == NULL)
        return err->status;
    *count = add_up(edges, *sums);
    return STA_OK;
}

static void begin_table(const struct dasf_request *request, size_t rows)
{
    sta_table_init(request->table, rows);
    sta_table_count_in(request->table, request->budget->account);
}

/* ---- transfers */

/* Workers by host and name, and where each stands among them. */
struct ranks {
    const struct sta_dasf *dasf;
    uint32_t *workers, *rank;
};

static int by_names(const void *a, const void *b, void *context)
{
    const struct sta_dasf *dasf = context;
    const struct dasf_worker *x = &dasf->workers[*(const uint32_t *)a],
                             *y = &dasf->workers[*(const uint32_t *)b];
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return sta_text_order(x->name, y->name);
}

static struct ranks rank_workers(const struct sta_dasf *dasf)
{
    size_t count = (size_t)dasf->worker_count + 1;
    struct ranks ranks = {dasf, sta_alloc_array(count, sizeof *ranks.workers),
                          sta_alloc_array(count, sizeof *ranks.rank)};
    for (uint32_t i = 0; i < dasf->worker_count; i++)
        ranks.workers[i] = i;
    qsort_r(ranks.workers, dasf->worker_count, sizeof *ranks.workers, by_names, (void *)(uintptr_t)dasf);
    for (uint32_t i = 0; i < dasf->worker_count; i++)
        ranks.rank[ranks.workers[i]] = i;
    return ranks;
}

/* A result that another worker needs. */
static bool is_transfer(void *context, uint32_t from, uint32_t to, struct sta_word_pair *word)
{
    const struct ranks *ranks = context;
    uint32_t here = last_of(ranks->dasf, from)->worker, there = last_of(ranks->dasf, to)->worker;
    *word = (struct sta_word_pair){(uint64_t)ranks->rank[here] << 32 | ranks->rank[there], from};
    return here != there;
}

/* Each result once per destination. */
static void drop_repeated(struct edges *edges)
{
    size_t kept = 0;
    for (size_t i = 0; i < edges->count; i++)
        if (i == 0 || edges->items[i].major != edges->items[kept - 1].major ||
            edges->items[i].minor != edges->items[kept - 1].minor)
            edges->items[kept++] = edges->items[i];
    edges->count = kept;
}

static void set_worker(const struct dasf_request *request, size_t column, size_t row, uint32_t number)
{
    const struct dasf_worker *worker = &request->dasf->workers[number];
    dasf_set_text(request->table, &request->table->columns[column], row, request->dasf->hosts[worker->host]);
    dasf_set_text(request->table, &request->table->columns[column + 1], row, worker->name);
}

static void fill_transfers(const struct dasf_request *request, const struct ranks *ranks,
                           const struct sum *sums, size_t count)
{
    static const char *const names[] = {"from_host", "from_worker", "to_host", "to_worker"};
    begin_table(request, count);
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_table_add(request->table, names[i], STA_TYPE_TEXT, NULL);
    sta_table_add(request->table, "count", STA_TYPE_INT, NULL);
    sta_table_add(request->table, "size", STA_TYPE_INT, "B");
    for (size_t row = 0; row < count; row++) {
        set_worker(request, 0, row, ranks->workers[sums[row].where >> 32]);
        set_worker(request, 2, row, ranks->workers[(uint32_t)sums[row].where]);
        set_sum(request->table, 4, row, &sums[row]);
    }
}

int dasf_transfers(struct dasf_request *request, struct sta_error *err)
{
    struct edges edges = {.request = request};
    struct ranks ranks = rank_workers(request->dasf);
    struct sum *sums = NULL;
    size_t count = 0;
    int status = collect(&edges, is_transfer, &ranks, err);
    if (status == STA_OK)
        drop_repeated(&edges);
    if (status == STA_OK)
        status = sums_of(&edges, &sums, &count, err);
    if (status == STA_OK)
        fill_transfers(request, &ranks, sums, count);
    sta_account_free(request->budget->account, sums);
    sta_account_free(request->budget->account, edges.items);
    free(ranks.workers);
    free(ranks.rank);
    return status;
}

/* ---- functions */

struct functions {
    const struct sta_dasf *dasf;
    const struct sta_dictionary *names;
    uint32_t *rank, *of_rank; /* of a name among all, and back */
    uint32_t count;
};

static uint32_t rank_of(const struct functions *functions, uint32_t node)
{
    uint32_t name = last_of(functions->dasf, node)->name;
    return name < functions->count ? functions->rank[name] : 0;
}

static bool is_edge(void *context, uint32_t from, uint32_t to, struct sta_word_pair *word)
{
    const struct functions *functions = context;
    *word = (struct sta_word_pair){(uint64_t)rank_of(functions, from) << 32 | rank_of(functions, to), from};
    return true;
}

static void fill_functions(const struct dasf_request *request, const struct functions *functions,
                           const struct sum *sums, size_t count)
{
    struct sta_table *table = request->table;
    begin_table(request, count);
    sta_table_add(table, "from", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "to", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "edges", STA_TYPE_INT, NULL);
    sta_table_add(table, "size", STA_TYPE_INT, "B");
    for (size_t row = 0; row < count; row++) {
        uint32_t from = functions->of_rank[sums[row].where >> 32],
                 to = functions->of_rank[(uint32_t)sums[row].where];
        dasf_set_text(table, &table->columns[0], row, sta_dictionary_text(functions->names, from));
        dasf_set_text(table, &table->columns[1], row, sta_dictionary_text(functions->names, to));
        set_sum(table, 2, row, &sums[row]);
    }
}

int dasf_function_graph(struct dasf_request *request, struct sta_error *err)
{
    struct edges edges = {.request = request};
    struct functions functions = {.dasf = request->dasf,
                                  .names = sta_tables_names(sta_snapshot_tables(request->dasf->snapshot))};
    struct sum *sums = NULL;
    size_t count = 0;
    struct sta_account *account = request->budget->account;
    functions.rank = sta_dictionary_ranks(functions.names, account, &functions.count, err);
    if (functions.rank != NULL)
        functions.of_rank =
            sta_account_alloc(account, functions.count, sizeof *functions.of_rank, "names of functions", err);
    for (uint32_t i = 0; functions.of_rank != NULL && i < functions.count; i++)
        functions.of_rank[functions.rank[i]] = i;
    int status = functions.of_rank != NULL ? collect(&edges, is_edge, &functions, err) : err->status;
    if (status == STA_OK)
        status = sums_of(&edges, &sums, &count, err);
    if (status == STA_OK)
        fill_functions(request, &functions, sums, count);
    sta_account_free(account, sums);
    sta_account_free(account, edges.items);
    sta_account_free(account, functions.rank);
    sta_account_free(account, functions.of_rank);
    return status;
}
