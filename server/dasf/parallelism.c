/* parallelism: how many workers were busy over time, and what they finished. */
#include <string.h>

#include "dasf/paths.h"
#include "common/memory.h"

static const char WHAT[] = "a row for each bin of time; a larger granularity makes them fewer";

struct bin {
    int64_t busy, tasks; /* busy: ns, of all workers */
    __int128 size;
};

struct bins {
    struct dasf_request *request;
    struct bin *items; /* all of the span */
    size_t count;
    int64_t origin, width; /* ns */
};

static void add_tasks(const struct bins *bins)
{
    const struct sta_dasf *dasf = bins->request->dasf;
    for (size_t i = 0; i < dasf->task_count; i++) {
        const struct dasf_task *task = &dasf->tasks[i];
        if (!dasf_is_chosen(bins->request, task->position))
            continue;
        struct bin *bin = &bins->items[(dasf_end(bins->request, task) - bins->origin) / bins->width];
        bin->tasks++;
        bin->size += task->size;
    }
}

/* One interval of a worker, spread over the bins. */
static void add_run(const struct bins *bins, int64_t begin, int64_t end)
{
    while (begin < end) {
        int64_t bin = begin / bins->width, upto = STA_MIN(end, (bin + 1) * bins->width);
        bins->items[bin].busy += upto - begin;
        begin = upto;
    }
}

static int fill_bins(const struct bins *bins, struct sta_error *err)
{
    struct dasf_runs runs;
    const struct sta_dasf *dasf = bins->request->dasf;
    int status = dasf_runs_create(bins->request, &runs, err);
    if (status != STA_OK)
        return status;
    size_t count = runs.first[dasf->worker_count];
    for (size_t i = 0; i < count && status == STA_OK; i++) {
        status = sta_budget_check_step(bins->request->budget, i, err);
        add_run(bins, runs.begins[i] - bins->origin, runs.ends[i] - bins->origin);
    }
    add_tasks(bins);
    dasf_runs_fini(bins->request, &runs);
    return status;
}

static bool is_row(const struct bin *bin)
{
    return bin->busy > 0 || bin->tasks > 0;
}

static void fill_table(const struct bins *bins)
{
    struct sta_table *table = bins->request->table;
    size_t rows = 0, row = 0;
    for (size_t i = 0; i < bins->count; i++)
        rows += is_row(&bins->items[i]);
    sta_table_init(table, rows);
    sta_table_count_in(table, bins->request->budget->account);
    sta_table_add(table, "bin", STA_TYPE_INT, NULL);
    sta_table_add(table, "time_start", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "busy", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "tasks", STA_TYPE_INT, NULL);
    sta_table_add(table, "size", STA_TYPE_INT, "B");
    for (size_t i = 0; i < bins->count; i++) {
        const struct bin *bin = &bins->items[i];
        if (!is_row(bin))
            continue;
        sta_table_set_int(&table->columns[0], row, (int64_t)i);
        sta_table_set_number(&table->columns[1], row,
                             dasf_from_start(bins->request, bins->origin + (int64_t)i * bins->width));
        sta_table_set_number(&table->columns[2], row, dasf_seconds(bin->busy));
        sta_table_set_int(&table->columns[3], row, bin->tasks);
        if (bin->size >= INT64_MIN && bin->size <= INT64_MAX)
            sta_table_set_int(&table->columns[4], row, (int64_t)bin->size);
        else
            table->columns[4].too_large++;
        row++;
    }
}

int dasf_parallelism(struct dasf_request *request, struct sta_error *err)
{
    const struct sta_dasf *dasf = request->dasf;
    struct bins bins = {
        .request = request, .origin = dasf_origin(request), .width = request->query->granularity_us * 1000};
    for (size_t i = 0; i < dasf->task_count; i++)
        if (dasf_is_chosen(request, dasf->tasks[i].position)) {
            int64_t last = (dasf_end(request, &dasf->tasks[i]) - bins.origin) / bins.width;
            bins.count = STA_MAX(bins.count, (size_t)last + 1);
        }
    bins.items = sta_account_calloc(request->budget->account, bins.count + 1, sizeof *bins.items, WHAT, err);
    int status = bins.items != NULL ? fill_bins(&bins, err) : err->status;
    if (status == STA_OK)
        fill_table(&bins);
    sta_account_free(request->budget->account, bins.items);
    return status;
}
