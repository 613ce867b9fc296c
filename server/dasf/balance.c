/* task_balance: results that each worker holds, second by second; resources: a host's samples over time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dasf/samples.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

static const char WHAT[] = "the table by seconds";

/* The columns: names of workers by text.  Workers of the same name share one, as in the original. */
struct balance {
    struct dasf_request *request;
    struct sta_text *names;
    size_t name_count;
    uint32_t *column_of; /* by worker */
    int64_t *seconds;    /* that have a row, ascending, each once; NULL: all from the first to the last */
    size_t second_count;
    int64_t first, last;
};

static int by_text(const void *a, const void *b)
{
    return sta_text_order(*(const struct sta_text *)a, *(const struct sta_text *)b);
}

/* The whole second of a record, towards zero, on the clock of all. */
static int64_t second_of(const struct dasf_request *request, const struct dasf_holding *holding)
{
    int64_t offset = request->offsets[request->dasf->workers[holding->worker].host];
    return (int64_t)(holding->timestamp + (double)offset / 1e9);
}

static bool counts(const struct balance *balance, const struct dasf_holding *holding)
{
    return balance->request->dasf->workers[holding->worker].name.length > 0 &&
           dasf_is_chosen(balance->request, holding->position);
}

static void name_columns(struct balance *balance)
{
    const struct sta_dasf *dasf = balance->request->dasf;
    uint8_t *used = sta_alloc_array((size_t)dasf->worker_count + 1, 1);
    for (size_t i = 0; i < dasf->holding_count; i++)
        used[dasf->holdings[i].worker] |= counts(balance, &dasf->holdings[i]);
    balance->names = sta_alloc_array((size_t)dasf->worker_count + 1, sizeof *balance->names);
    balance->column_of = sta_alloc_array((size_t)dasf->worker_count + 1, sizeof *balance->column_of);
    for (uint32_t i = 0; i < dasf->worker_count; i++)
        if (used[i])
            balance->names[balance->name_count++] = dasf->workers[i].name;
    qsort(balance->names, balance->name_count, sizeof *balance->names, by_text);
    size_t kept = 0;
    for (size_t i = 0; i < balance->name_count; i++)
        if (i == 0 || by_text(&balance->names[i], &balance->names[kept - 1]) != 0)
            balance->names[kept++] = balance->names[i];
    balance->name_count = kept;
    for (uint32_t i = 0; i < dasf->worker_count; i++)
        if (used[i])
            balance->column_of[i] =
                (uint32_t)((struct sta_text *)bsearch(&dasf->workers[i].name, balance->names, kept,
                                                      sizeof *balance->names, by_text) -
                           balance->names);
    free(used);
}

/* ---- seconds */

static int list_seconds(struct balance *balance, struct sta_error *err)
{
    const struct sta_dasf *dasf = balance->request->dasf;
    struct sta_account *account = balance->request->budget->account;
    size_t count = 0, kept = 0;
    uint64_t *values = sta_account_alloc(account, 2 * dasf->holding_count + 2, sizeof *values, WHAT, err);
    if (values == NULL)
        return err->status;
    for (size_t i = 0; i < dasf->holding_count; i++)
        if (counts(balance, &dasf->holdings[i]))
            values[count++] = (uint64_t)second_of(balance->request, &dasf->holdings[i]) ^ UINT64_C(1) << 63;
    int status = sta_radix_sort(values, values + count, count, 1, false, balance->request->budget->cancel);
    balance->seconds = (int64_t *)values;
    for (size_t i = 0; i < count && status == STA_OK; i++)
        if (i == 0 || values[i] != ((uint64_t)balance->seconds[kept - 1] ^ UINT64_C(1) << 63))
            balance->seconds[kept++] = (int64_t)(values[i] ^ UINT64_C(1) << 63);
    balance->second_count = kept;
    balance->first = kept > 0 ? balance->seconds[0] : 0;
    balance->last = kept > 0 ? balance->seconds[kept - 1] : -1;
    return status == STA_OK ? STA_OK : sta_radix_failed(status, "seconds", count, err);
}

static size_t row_of(const struct balance *balance, int64_t second)
{
    size_t begin = 0, end = balance->second_count;
    if (!balance->request->query->compatible)
        return (size_t)(second - balance->first);
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (balance->seconds[middle] < second)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Exact has a row for each second: of clocks that are far apart these are many. */
static int begin_table(struct balance *balance, struct sta_error *err)
{
    struct sta_table *table = balance->request->table;
    double rows = balance->request->query->compatible ? (double)balance->second_count
                                                      : (double)balance->last - (double)balance->first + 1;
    int status = sta_budget_memory(balance->request->budget, rows * (9.0 * (double)(balance->name_count + 1)),
                                   "a row for each second; offset= brings the clocks of hosts together", err);
    if (status != STA_OK)
        return status;
    sta_table_init(table, (size_t)rows);
    sta_table_count_in(table, balance->request->budget->account);
    bool original = balance->request->query->compatible;
    sta_table_add(table, original ? "Time Interval (seconds from begin)" : "second", STA_TYPE_INT,
                  original ? NULL : "s");
    for (size_t i = 0; i < balance->name_count; i++)
        sta_table_add(table, balance->names[i].bytes, STA_TYPE_INT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_int(&table->columns[0], row,
                          original ? balance->seconds[row] - balance->first : (int64_t)row);
    return STA_OK;
}

/* The last record of a second in the stream stands for it. */
static int fill_cells(const struct balance *balance, struct sta_error *err)
{
    const struct sta_dasf *dasf = balance->request->dasf;
    for (size_t i = 0; i < dasf->holding_count; i++) {
        const struct dasf_holding *holding = &dasf->holdings[i];
        if (sta_budget_check_step(balance->request->budget, i, err) != STA_OK)
            return err->status;
        if (counts(balance, holding))
            sta_table_set_int(&balance->request->table->columns[1 + balance->column_of[holding->worker]],
                              row_of(balance, second_of(balance->request, holding)), holding->tasks);
    }
    return STA_OK;
}

/* A second without a record: exact repeats what the worker held; the original shows none. */
static int fill_gaps(const struct balance *balance, struct sta_error *err)
{
    struct sta_table *table = balance->request->table;
    for (size_t i = 1; i < table->column_count; i++) {
        int64_t held = 0;
        for (size_t row = 0; row < table->rows; row++) {
            if (sta_budget_check_step(balance->request->budget, row, err) != STA_OK)
                return err->status;
            if (table->columns[i].missing[row])
                sta_table_set_int(&table->columns[i], row, held);
            held = balance->request->query->compatible ? 0 : table->columns[i].integers[row];
        }
    }
    return STA_OK;
}

int dasf_task_balance(struct dasf_request *request, struct sta_error *err)
{
    struct balance balance = {.request = request};
    name_columns(&balance);
    int status = list_seconds(&balance, err);
    if (status == STA_OK)
        status = begin_table(&balance, err);
    if (status == STA_OK)
        status = fill_cells(&balance, err);
    if (status == STA_OK)
        status = fill_gaps(&balance, err);
    if (status == STA_OK)
        sta_facts_number(request->facts, "time_start", "s",
                         dasf_from_start(request, balance.first * 1000000000));
    sta_account_free(request->budget->account, balance.seconds);
    free(balance.names);
    free(balance.column_of);
    return status;
}

/* ---- resources */

/* The samples of a bin on a host. */
struct bin {
    uint64_t count, gpu_count, cpu_count;
    double utilization, most, memory, cpu;
};

struct bins {
    struct dasf_request *request;
    struct sta_word_pair *samples; /* host and bin, place in the stream; sorted */
    size_t sample_count;
    int64_t width, origin; /* ns */
};

#define BIN_BITS 40 /* of a sample's word; the host is above them */

static int64_t time_of(const struct dasf_request *request, const struct dasf_sample *sample)
{
    return (int64_t)rint(sample->timestamp * 1e9) + request->offsets[sample->host];
}

static int sort_into_bins(struct bins *bins, struct sta_error *err)
{
    const struct dasf_request *request = bins->request;
    const struct sta_dasf *dasf = request->dasf;
    int64_t origin = dasf_origin(request);
    for (size_t i = 0; i < dasf->sample_count; i++)
        if (dasf_is_chosen(request, dasf->samples[i].position))
            origin = STA_MIN(origin, time_of(request, &dasf->samples[i]));
    bins->origin = dasf_origin(request);
    int64_t before = (bins->origin - origin + bins->width - 1) / bins->width; /* bins before the first task */
    bins->samples = sta_account_alloc(request->budget->account, 2 * dasf->sample_count + 2,
                                      sizeof *bins->samples, WHAT, err);
    if (bins->samples == NULL)
        return err->status;
    for (size_t i = 0; i < dasf->sample_count; i++) {
        const struct dasf_sample *sample = &dasf->samples[i];
        int64_t bin = (time_of(request, sample) - bins->origin + before * bins->width) / bins->width;
        if (dasf_is_chosen(request, sample->position))
            bins->samples[bins->sample_count++] =
                (struct sta_word_pair){(uint64_t)sample->host << BIN_BITS | (uint64_t)bin, i};
    }
    bins->origin -= before * bins->width;
    int status = sta_radix_sort_pairs(bins->samples, bins->samples + bins->sample_count, bins->sample_count,
                                      request->budget->cancel);
    return status == STA_OK ? STA_OK : sta_radix_failed(status, "samples", bins->sample_count, err);
}

static struct bin add_up(const struct bins *bins, size_t from, size_t to)
{
    struct bin bin = {.count = to - from};
    for (size_t i = from; i < to; i++) {
        const struct dasf_sample *sample = &bins->request->dasf->samples[bins->samples[i].minor];
        if (!isnan(sample->utilization) && !isnan(sample->memory)) {
            bin.gpu_count++;
            bin.utilization += sample->utilization;
            bin.memory += sample->memory;
            bin.most = fmax(bin.most, sample->memory);
        }
        if (!isnan(sample->cpu)) {
            bin.cpu_count++;
            bin.cpu += sample->cpu;
        }
    }
    return bin;
}

static size_t end_of_bin(const struct bins *bins, size_t from)
{
    size_t to = from;
    while (to < bins->sample_count && bins->samples[to].major == bins->samples[from].major)
        to++;
    return to;
}

static void fill_bin(const struct bins *bins, size_t row, size_t from, size_t to)
{
    struct sta_table *table = bins->request->table;
    struct bin bin = add_up(bins, from, to);
    uint64_t major = bins->samples[from].major;
    int64_t number = (int64_t)(major & ((UINT64_C(1) << BIN_BITS) - 1));
    int64_t begin = bins->origin + number * bins->width;
    dasf_set_text(table, &table->columns[0], row, bins->request->dasf->hosts[major >> BIN_BITS]);
    sta_table_set_number(&table->columns[1], row, dasf_from_start(bins->request, begin));
    sta_table_set_int(&table->columns[2], row, (int64_t)bin.count);
    if (bin.gpu_count > 0) {
        sta_table_set_number(&table->columns[3], row, bin.utilization / (double)bin.gpu_count);
        sta_table_set_number(&table->columns[4], row, bin.memory / (double)bin.gpu_count);
        sta_table_set_number(&table->columns[5], row, bin.most);
    }
    if (bin.cpu_count > 0)
        sta_table_set_number(&table->columns[6], row, bin.cpu / (double)bin.cpu_count);
}

int dasf_resources(struct dasf_request *request, struct sta_error *err)
{
    struct bins bins = {.request = request, .width = request->query->granularity_us * 1000};
    size_t rows = 0, row = 0;
    int status = sort_into_bins(&bins, err);
    for (size_t at = 0; at < bins.sample_count && status == STA_OK; at = end_of_bin(&bins, at))
        rows++;
    if (status == STA_OK) {
        sta_table_init(request->table, rows);
        sta_table_count_in(request->table, request->budget->account);
        sta_table_add(request->table, "host", STA_TYPE_TEXT, NULL);
        sta_table_add(request->table, "time_start", STA_TYPE_FLOAT, "s");
        sta_table_add(request->table, "samples", STA_TYPE_INT, NULL);
        sta_table_add(request->table, "gpu_utilization", STA_TYPE_FLOAT, NULL);
        sta_table_add(request->table, "gpu_memory", STA_TYPE_FLOAT, "B");
        sta_table_add(request->table, "gpu_memory_max", STA_TYPE_FLOAT, "B");
        sta_table_add(request->table, "cpu", STA_TYPE_FLOAT, NULL);
        for (size_t at = 0; at < bins.sample_count; at = end_of_bin(&bins, at))
            fill_bin(&bins, row++, at, end_of_bin(&bins, at));
    }
    sta_account_free(request->budget->account, bins.samples);
    return status;
}
