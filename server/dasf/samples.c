/* Samples and the tasks that cover them.
 *
 * DESIGN.  The samples are sorted by time.  Tasks come in the order of the stream, and each takes all samples
 * inside of it that none has taken: samples that are taken are passed over by links to the next free one,
 * which are shortened as they are followed.  So each sample is taken once, by the first task that covers it.
 */
#include <math.h>
#include <string.h>

#include "dasf/samples.h"
#include "analyse/operators/radix.h"

static const char WHAT[] = "resource samples and their tasks";

struct matching {
    const struct dasf_request *request;
    double *times;     /* of the samples, host after host, ascending */
    uint32_t *samples; /* which each is */
    uint32_t *next;    /* the first free one from each place on */
    int64_t *starts;   /* how many tasks begin to cover here, less those that end: sums say how many do */
    size_t *hosts;     /* where each host's begin; one more than there are */
    size_t *near;      /* by host: where the task before began to cover */
    uint32_t *tasks;   /* the result, by sample */
};

static size_t host_of(const struct matching *matching, uint32_t host)
{
    return matching->request->query->compatible ? 0 : host;
}

/* ---- samples by host and time */

static int sort_samples(struct matching *matching, struct sta_error *err)
{
    const struct dasf_request *request = matching->request;
    const struct sta_dasf *dasf = request->dasf;
    struct sta_account *account = request->budget->account;
    size_t count = dasf->sample_count;
    uint64_t *records = sta_account_alloc(account, 6 * count + 1, sizeof *records, WHAT, err);
    if (records == NULL)
        return err->status;
    for (size_t i = 0; i < count; i++) {
        records[3 * i] = host_of(matching, dasf->samples[i].host);
        records[3 * i + 1] = dasf_ordered_bits(dasf->samples[i].timestamp);
        records[3 * i + 2] = i;
    }
    int status = sta_radix_sort_on(sta_budget_workers(request->budget), records, records + 3 * count, count,
                                   3, false, request->budget->cancel);
    for (size_t i = 0; i < count && status == STA_OK; i++) {
        matching->samples[i] = (uint32_t)records[3 * i + 2];
        matching->times[i] = dasf->samples[matching->samples[i]].timestamp;
        matching->hosts[records[3 * i] + 1]++;
    }
    for (uint32_t host = 0; host < dasf->host_count; host++)
        matching->hosts[host + 1] += matching->hosts[host];
    sta_account_free(account, records);
    return status == STA_OK ? STA_OK : sta_radix_failed(status, "samples", count, err);
}

/* ---- tasks take them */

/* The first sample in begin .. end that is not before @time.  @near: where it may be, in begin .. end: tasks
 * that follow each other in the stream mostly do so in time. */
static size_t first_from(const double *times, size_t begin, size_t end, size_t near, double time)
{
    size_t step = 1;
    if (near > begin && times[near - 1] >= time) {
        for (end = near; end - begin > step && times[end - step] >= time; step *= 2)
            end -= step;
        begin = end - begin > step ? end - step : begin;
    } else {
        for (begin = near; end - begin > step && times[begin + step] < time; step *= 2)
            begin += step;
        end = end - begin > step ? begin + step : end;
    }
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (times[middle] < time)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The first free place from @at on. */
static uint32_t free_from(uint32_t *next, uint32_t at)
{
    while (next[at] != at) {
        next[at] = next[next[at]];
        at = next[at];
    }
    return at;
}

static void take(struct matching *matching, uint32_t number)
{
    const struct sta_dasf *dasf = matching->request->dasf;
    const struct dasf_task *task = &dasf->tasks[number];
    bool compatible = matching->request->query->compatible;
    double from = compatible ? task->timestamp : task->timestamp - task->duration;
    double to = compatible ? task->timestamp + task->duration : task->timestamp;
    size_t host = host_of(matching, dasf->workers[task->worker].host);
    size_t end = matching->hosts[host + 1];
    size_t at = first_from(matching->times, matching->hosts[host], end, matching->near[host], from),
           behind = at;
    matching->near[host] = at;
    if (at == end || matching->times[at] > to)
        return;
    while (behind < end && matching->times[behind] <= to)
        behind++;
    matching->starts[at]++;
    matching->starts[behind]--;
    for (uint32_t i = free_from(matching->next, (uint32_t)at); i < behind;
         i = free_from(matching->next, i + 1)) {
        matching->tasks[matching->samples[i]] = number;
        matching->next[i] = i + 1;
    }
}

static void count_candidates(const struct matching *matching, uint64_t candidates[3])
{
    int64_t covering = 0;
    memset(candidates, 0, 3 * sizeof *candidates);
    for (size_t i = 0; i < matching->request->dasf->sample_count; i++) {
        covering += matching->starts[i];
        candidates[covering > 1 ? 2 : covering]++;
    }
}

static int take_all(struct matching *matching, uint64_t candidates[3], struct sta_error *err)
{
    const struct sta_dasf *dasf = matching->request->dasf;
    int status = sort_samples(matching, err);
    for (size_t i = 0; i <= dasf->sample_count; i++)
        matching->next[i] = (uint32_t)i;
    memcpy(matching->near, matching->hosts, dasf->host_count * sizeof *matching->near);
    memset(matching->tasks, 0xff, dasf->sample_count * sizeof *matching->tasks);
    for (size_t i = 0; i < dasf->task_count && status == STA_OK; i++) {
        status = sta_budget_check_step(matching->request->budget, i, err);
        take(matching, (uint32_t)i);
    }
    if (status == STA_OK)
        count_candidates(matching, candidates);
    return status;
}

int dasf_match_samples(const struct dasf_request *request, uint32_t **tasks, uint64_t candidates[3],
                       struct sta_error *err)
{
    struct sta_account *account = request->budget->account;
    size_t count = request->dasf->sample_count + 2;
    struct matching matching = {
        .request = request,
        .times = sta_account_alloc(account, count, sizeof *matching.times, WHAT, err),
        .samples = sta_account_alloc(account, count, sizeof *matching.samples, WHAT, err),
        .next = sta_account_alloc(account, count, sizeof *matching.next, WHAT, err),
        .starts = sta_account_calloc(account, count, sizeof *matching.starts, WHAT, err),
        .hosts = sta_account_calloc(account, (size_t)request->dasf->host_count + 2, sizeof *matching.hosts,
                                    WHAT, err),
        .near = sta_account_calloc(account, (size_t)request->dasf->host_count + 1, sizeof *matching.near,
                                   WHAT, err),
        .tasks = sta_account_alloc(account, count, sizeof *matching.tasks, WHAT, err),
    };
    bool have = matching.times && matching.samples && matching.next && matching.starts && matching.hosts &&
                matching.near && matching.tasks;
    int status = have ? take_all(&matching, candidates, err) : err->status;
    sta_account_free(account, matching.times);
    sta_account_free(account, matching.samples);
    sta_account_free(account, matching.next);
    sta_account_free(account, matching.starts);
    sta_account_free(account, matching.hosts);
    sta_account_free(account, matching.near);
    *tasks = matching.tasks;
    if (status != STA_OK)
        sta_account_free(account, matching.tasks);
    return status;
}
