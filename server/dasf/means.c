/* What the samples say of a function: means over those that were taken during its tasks. */
#include <math.h>

#include "dasf/samples.h"

static const char WHAT[] = "samples by function";

static uint64_t where(const struct dasf_request *request, const struct dasf_task *task)
{
    uint64_t host = request->query->compatible ? 0 : request->dasf->workers[task->worker].host;
    return host << 32 | task->name;
}

const struct dasf_mean *dasf_find_mean(const struct dasf_request *request, const struct dasf_means *means,
                                       const struct dasf_task *task)
{
    const uint64_t place = where(request, task);
    size_t begin = 0, end = means->count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (means->items[middle].where < place)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < means->count && means->items[begin].where == place ? &means->items[begin] : NULL;
}

static void add_samples(const struct dasf_request *request, struct dasf_means *means,
                        const struct sta_word_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct dasf_sample *sample = &request->dasf->samples[pairs[i].minor];
        if (means->count == 0 || means->items[means->count - 1].where != pairs[i].major)
            means->items[means->count++] = (struct dasf_mean){.where = pairs[i].major};
        struct dasf_mean *mean = &means->items[means->count - 1];
        mean->utilization += sample->utilization;
        mean->memory += sample->memory;
        mean->count++;
    }
}

/* Samples by function, in the order of the stream.  Those without a GPU say nothing. */
int dasf_make_means(struct dasf_request *request, struct dasf_means *means, struct sta_error *err)
{
    const struct sta_dasf *dasf = request->dasf;
    struct sta_account *account = request->budget->account;
    uint32_t *tasks;
    uint64_t candidates[3];
    size_t count = 0;
    int status = dasf_match_samples(request, &tasks, candidates, err);
    if (status != STA_OK)
        return status;
    struct sta_word_pair *pairs =
        sta_account_alloc(account, dasf->sample_count + 1, sizeof *pairs, WHAT, err);
    struct sta_word_pair *scratch =
        pairs ? sta_account_alloc(account, dasf->sample_count + 1, sizeof *scratch, WHAT, err) : NULL;
    means->items =
        scratch ? sta_account_alloc(account, dasf->sample_count + 1, sizeof *means->items, WHAT, err) : NULL;
    for (size_t i = 0; i < dasf->sample_count && means->items != NULL; i++)
        if (tasks[i] != DASF_NEVER && !isnan(dasf->samples[i].utilization) && !isnan(dasf->samples[i].memory))
            pairs[count++] = (struct sta_word_pair){where(request, &dasf->tasks[tasks[i]]), i};
    status =
        means->items != NULL ? dasf_sort_pairs(request, pairs, scratch, count, "samples", err) : err->status;
    if (status == STA_OK)
        add_samples(request, means, pairs, count);
    sta_account_free(account, pairs);
    sta_account_free(account, scratch);
    sta_account_free(account, tasks);
    sta_facts_int(request->facts, "samples_of_no_task", (int64_t)candidates[0]);
    sta_facts_int(request->facts, "samples_of_one_task", (int64_t)candidates[1]);
    sta_facts_int(request->facts, "samples_of_more_tasks", (int64_t)candidates[2]);
    return status;
}
