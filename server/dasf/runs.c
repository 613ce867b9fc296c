/* When workers ran something: their tasks' intervals, merged. */
#include <string.h>

#include "dasf/paths.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

static const char WHAT[] = "what workers ran";

static void merge(const struct dasf_request *request, const uint64_t *records, size_t count,
                  struct dasf_runs *runs)
{
    size_t used = 0;
    uint32_t worker = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dasf_task *task = &request->dasf->tasks[records[3 * i + 2]];
        int64_t begin = dasf_begin(request, task), end = dasf_end(request, task);
        while (worker < task->worker)
            runs->first[++worker] = used;
        bool merges = used > runs->first[worker] && begin <= runs->ends[used - 1];
        if (merges) {
            runs->ends[used - 1] = STA_MAX(runs->ends[used - 1], end);
            continue;
        }
        bool more = used > runs->first[worker];
        runs->before[used] =
            more ? runs->before[used - 1] + (runs->ends[used - 1] - runs->begins[used - 1]) : 0;
        runs->begins[used] = begin;
        runs->ends[used++] = end;
    }
    while (worker < request->dasf->worker_count)
        runs->first[++worker] = used;
}

static int sort_and_merge(const struct dasf_request *request, struct dasf_runs *runs, struct sta_error *err)
{
    const struct sta_dasf *dasf = request->dasf;
    struct sta_account *account = request->budget->account;
    size_t count = 0;
    uint64_t *records = sta_account_alloc(account, 6 * dasf->task_count + 1, sizeof *records, WHAT, err);
    if (records == NULL)
        return err->status;
    for (size_t i = 0; i < dasf->task_count; i++) {
        const struct dasf_task *task = &dasf->tasks[i];
        if (!dasf_is_chosen(request, task->position))
            continue;
        records[3 * count] = task->worker;
        records[3 * count + 1] = (uint64_t)dasf_begin(request, task) ^ UINT64_C(1) << 63;
        records[3 * count++ + 2] = i;
    }
    int status =
        sta_radix_sort(records, records + 3 * dasf->task_count, count, 3, false, request->budget->cancel);
    if (status == STA_OK)
        merge(request, records, count, runs);
    sta_account_free(account, records);
    return status == STA_OK ? STA_OK : sta_radix_failed(status, "tasks", count, err);
}

int dasf_runs_create(const struct dasf_request *request, struct dasf_runs *runs, struct sta_error *err)
{
    struct sta_account *account = request->budget->account;
    size_t count = request->dasf->task_count + 1;
    *runs = (struct dasf_runs){.begins = sta_account_alloc(account, count, sizeof *runs->begins, WHAT, err),
                               .ends = sta_account_alloc(account, count, sizeof *runs->ends, WHAT, err),
                               .before = sta_account_alloc(account, count, sizeof *runs->before, WHAT, err),
                               .first = sta_account_calloc(account, (size_t)request->dasf->worker_count + 2,
                                                           sizeof *runs->first, WHAT, err)};
    bool have = runs->begins && runs->ends && runs->before && runs->first;
    int status = have ? sort_and_merge(request, runs, err) : err->status;
    if (status != STA_OK)
        dasf_runs_fini(request, runs);
    return status;
}

void dasf_runs_fini(const struct dasf_request *request, struct dasf_runs *runs)
{
    struct sta_account *account = request->budget->account;
    sta_account_free(account, runs->begins);
    sta_account_free(account, runs->ends);
    sta_account_free(account, runs->before);
    sta_account_free(account, runs->first);
    *runs = (struct dasf_runs){0};
}

/* How long the worker ran something before @time. */
static int64_t time_before(const struct dasf_runs *runs, uint32_t worker, int64_t time)
{
    size_t begin = runs->first[worker], end = runs->first[worker + 1], first = begin;
    while (begin < end) { /* to the first that begins at @time or later */
        size_t middle = begin + (end - begin) / 2;
        if (runs->begins[middle] < time)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == first)
        return 0;
    return runs->before[begin - 1] + STA_MIN(time, runs->ends[begin - 1]) - runs->begins[begin - 1];
}

int64_t dasf_runs_time(const struct dasf_runs *runs, uint32_t worker, int64_t from, int64_t to)
{
    return to > from ? time_before(runs, worker, to) - time_before(runs, worker, from) : 0;
}
