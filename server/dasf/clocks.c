/* clocks: by how much the clocks of hosts differ, as dependencies tell.
 *
 * A task cannot begin before its inputs have ended.  So an edge from host a to host b bounds the difference
 * of their offsets: offset(b) - offset(a) >= end of the input - begin of the task.  The bounds of a pair of
 * hosts follow from all paths between them; the middle of the least and the largest offsets against the first
 * host meets all of them at once, if they can be met at all. */
#include <string.h>

#include "dasf/stream.h"
#include "common/memory.h"

#define NONE (INT64_MAX / 4) /* no bound */

static const char WHAT[] = "the clocks of all pairs of hosts";

struct clocks {
    const struct dasf_request *request;
    uint32_t hosts;
    int64_t *slack;      /* from host a to b: at most so much may offset(a) exceed offset(b), ns; or NONE */
    int64_t *low, *high; /* by host, against the first */
    uint64_t *violated;  /* by host: edges to or from it that clocks as they are contradict */
};

static int64_t *slack_between(const struct clocks *clocks, uint32_t a, uint32_t b)
{
    return &clocks->slack[(size_t)a * clocks->hosts + b];
}

static void bound_edge(struct clocks *clocks, const struct dasf_task *input, const struct dasf_task *task)
{
    const struct sta_dasf *dasf = clocks->request->dasf;
    uint32_t a = dasf->workers[input->worker].host, b = dasf->workers[task->worker].host;
    int64_t slack = dasf_begin(clocks->request, task) - dasf_end(clocks->request, input);
    if (a == b)
        return;
    int64_t *least = slack_between(clocks, a, b);
    *least = STA_MIN(*least, slack);
    clocks->violated[a] += slack < 0;
    clocks->violated[b] += slack < 0;
}

static int bound_edges(struct clocks *clocks, struct sta_error *err)
{
    const struct sta_dasf *dasf = clocks->request->dasf;
    int status = STA_OK;
    for (uint32_t to = 0; to < dasf->node_count && status == STA_OK; to++) {
        status = sta_budget_check_step(clocks->request->budget, to, err);
        for (uint32_t i = dasf->before.first[to]; i < dasf->before.first[to + 1]; i++)
            if (dasf_node_ran(clocks->request, to) && dasf_node_ran(clocks->request, dasf->before.nodes[i]))
                bound_edge(clocks, &dasf->tasks[dasf->last[dasf->before.nodes[i]]],
                           &dasf->tasks[dasf->last[to]]);
    }
    return status;
}

/* Shortens the bounds of one direction until none gets shorter.  @forward: how much each host may exceed the
 * first; else how much the first may exceed each. */
static bool shorten(const struct clocks *clocks, int64_t *bounds, bool forward)
{
    bool shorter = false;
    for (uint32_t a = 0; a < clocks->hosts; a++)
        for (uint32_t b = 0; b < clocks->hosts; b++) {
            int64_t slack = *slack_between(clocks, a, b);
            uint32_t from = forward ? a : b, to = forward ? b : a;
            if (slack >= NONE || bounds[to] >= NONE || bounds[to] + slack >= bounds[from])
                continue;
            bounds[from] = bounds[to] + slack;
            shorter = true;
        }
    return shorter;
}

/* Return: whether all bounds can be met. */
static int find_bounds(struct clocks *clocks, bool *met, struct sta_error *err)
{
    bool shorter = true;
    int status = STA_OK;
    for (uint32_t i = 0; i < clocks->hosts; i++)
        clocks->high[i] = clocks->low[i] = i == 0 ? 0 : NONE;
    for (uint32_t i = 0; i <= clocks->hosts && shorter && status == STA_OK; i++) {
        status = sta_budget_check(clocks->request->budget, err);
        shorter = shorten(clocks, clocks->high, true);
        shorter |= shorten(clocks, clocks->low, false);
    }
    *met = !shorter;
    return status;
}

/* What is nearest to the clock as it is, where only one side is bounded. */
static int64_t estimate(int64_t low, int64_t high)
{
    if (low > -NONE && high < NONE)
        return low / 2 + high / 2;
    return low > -NONE ? STA_MAX(low, 0) : high < NONE ? STA_MIN(high, 0) : 0;
}

static void fill_host(const struct clocks *clocks, uint32_t host, bool met)
{
    struct sta_table *table = clocks->request->table;
    int64_t low = clocks->low[host] < NONE ? -clocks->low[host] : -NONE, high = clocks->high[host];
    dasf_set_text(table, &table->columns[0], host, clocks->request->dasf->hosts[host]);
    sta_table_set_number(&table->columns[1], host, dasf_seconds(clocks->request->offsets[host]));
    sta_table_set_int(&table->columns[2], host, (int64_t)clocks->violated[host]);
    if (met && low > -NONE)
        sta_table_set_number(&table->columns[3], host, dasf_seconds(low));
    if (met && high < NONE)
        sta_table_set_number(&table->columns[4], host, dasf_seconds(high));
    if (met)
        sta_table_set_number(&table->columns[5], host,
                             dasf_seconds(clocks->request->offsets[host] + estimate(low, high)));
}

static int fill_clocks(struct clocks *clocks, struct sta_error *err)
{
    struct sta_table *table = clocks->request->table;
    bool met;
    for (size_t i = 0; i < (size_t)clocks->hosts * clocks->hosts; i++)
        clocks->slack[i] = NONE;
    int status = bound_edges(clocks, err);
    if (status == STA_OK)
        status = find_bounds(clocks, &met, err);
    if (status != STA_OK)
        return status;
    sta_table_init(table, clocks->hosts);
    sta_table_count_in(table, clocks->request->budget->account);
    sta_table_add(table, "host", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "offset", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "contradicting_edges", STA_TYPE_INT, NULL);
    sta_table_add(table, "least_change", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "largest_change", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "estimated_offset", STA_TYPE_FLOAT, "s");
    for (uint32_t host = 0; host < clocks->hosts; host++)
        fill_host(clocks, host, met);
    return STA_OK;
}

int dasf_clocks(struct dasf_request *request, struct sta_error *err)
{
    struct sta_account *account = request->budget->account;
    size_t hosts = request->dasf->host_count;
    struct clocks clocks = {
        .request = request,
        .hosts = (uint32_t)hosts,
        .slack = sta_account_alloc(account, hosts * hosts + 1, sizeof *clocks.slack, WHAT, err),
        .low = sta_account_alloc(account, hosts + 1, sizeof *clocks.low, WHAT, err),
        .high = sta_account_alloc(account, hosts + 1, sizeof *clocks.high, WHAT, err),
        .violated = sta_account_calloc(account, hosts + 1, sizeof *clocks.violated, WHAT, err)};
    bool have = clocks.slack && clocks.low && clocks.high && clocks.violated;
    int status = have ? fill_clocks(&clocks, err) : err->status;
    sta_account_free(account, clocks.slack);
    sta_account_free(account, clocks.low);
    sta_account_free(account, clocks.high);
    sta_account_free(account, clocks.violated);
    return status;
}
