/* Whether the samples of a trace took longer beside others: a sign of full cores or storage, which the model
 * of a loader does not know.
 *
 * For each batch, the time that other batches of the host were made beside it gives its mean number of
 * neighbours; a straight line through (neighbours, span) gives the growth per neighbour.  Only a slope that
 * is far from chance, and not small, counts. */
#include <math.h>
#include <string.h>

#include "simulate/model.h"

#define LEAST_JOBS 50
#define LEAST_GROWTH 0.05 /* of the span, per neighbour */
#define LEAST_T 5.0       /* slope by its standard error */

struct edge {
    int64_t time;
    uint32_t job, host;
    bool ends;
};

static int by_time(const void *a, const void *b, void *context)
{
    const struct edge *x = a, *y = b;
    (void)context;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->ends != y->ends)
        return x->ends ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static void collect_edges(const struct sta_model *model, struct edge *edges, size_t *count)
{
    *count = 0;
    for (size_t r = 0; r < model->rank_count; r++)
        for (uint32_t n = 0; n < model->ranks[r].epoch_count; n++) {
            const struct sta_model_epoch *epoch = sta_model_epoch(model, r, n);
            for (uint32_t k = 0; k < epoch->step_count; k++) {
                const struct sta_model_step *step = sta_model_step(model, epoch, k);
                for (uint32_t i = 0; i < step->job_count; i++) {
                    const size_t j = step->job_first + i;
                    const uint32_t host = model->ranks[r].host_number;
                    if (sta_job_span(&model->jobs[j]) <= 0)
                        continue;
                    edges[(*count)++] = (struct edge){model->jobs[j].ts, (uint32_t)j, host, false};
                    edges[(*count)++] = (struct edge){model->jobs[j].te, (uint32_t)j, host, true};
                }
            }
        }
}

/* Neighbours of each job: the integral of the number of jobs over its span, by its span, less itself. */
static void count_neighbours(const struct sta_model *model, const struct edge *edges, size_t count,
                             double *neighbours)
{
    double integral = 0; /* of the number of jobs, over time, on the present host */
    int64_t running = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && edges[i].host != edges[i - 1].host)
            running = 0;
        else if (i > 0)
            integral += (double)running * (double)(edges[i].time - edges[i - 1].time);
        const double span = (double)sta_job_span(&model->jobs[edges[i].job]);
        if (!edges[i].ends) {
            running++;
            neighbours[edges[i].job] = integral;
        } else {
            running--;
            neighbours[edges[i].job] = (integral - neighbours[edges[i].job]) / span - 1;
        }
    }
}

static void fit(const struct sta_model *model, const struct edge *edges, size_t count,
                const double *neighbours, struct sta_contention *contention)
{
    const size_t half = count / 2;
    const double n = (double)half;
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < count; i++)
        if (!edges[i].ends) {
            x += neighbours[edges[i].job] / n;
            y += (double)sta_job_span(&model->jobs[edges[i].job]) / n;
        }
    for (size_t i = 0; i < count; i++)
        if (!edges[i].ends) {
            const double dx = neighbours[edges[i].job] - x;
            const double dy = (double)sta_job_span(&model->jobs[edges[i].job]) - y;
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
    if (!(xx / n > 0.01) || !(y > 0))
        return; /* always as many beside each: nothing can be seen */
    const double slope = xy / xx, rest = fmax(0, yy - slope * xy), alone = fmax(y - slope * x, 0.1 * y);
    const double error = sqrt(rest / (n - 2) / xx);
    contention->measured = true;
    contention->growth = slope / alone;
    contention->significant = contention->growth >= LEAST_GROWTH && slope > LEAST_T * error;
}

int sta_measure_contention(const struct sta_model *model, const struct sta_budget *budget,
                           struct sta_contention *contention, struct sta_error *err)
{
    struct sta_account *account = budget->account;
    size_t count = 0;
    *contention = (struct sta_contention){0};
    if (model->loader == STA_LOADER_INLINE || model->job_count < LEAST_JOBS || model->job_count > UINT32_MAX)
        return STA_OK;
    struct edge *edges = sta_account_alloc(account, 2 * model->job_count, sizeof *edges, "batches", err);
    double *neighbours =
        edges == NULL ? NULL
                      : sta_account_calloc(account, model->job_count, sizeof *neighbours, "batches", err);
    int rc = neighbours == NULL ? err->status : STA_OK;
    if (rc == STA_OK) {
        collect_edges(model, edges, &count);
        rc = sta_sort(budget, edges, count, sizeof *edges, by_time, NULL, err);
    }
    if (rc == STA_OK && count >= 2 * LEAST_JOBS) {
        count_neighbours(model, edges, count, neighbours);
        fit(model, edges, count, neighbours, contention);
    }
    sta_account_free(account, neighbours);
    sta_account_free(account, edges);
    return rc;
}
