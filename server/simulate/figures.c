/* Figures of a simulated run, and how far it is from the traced one. */
#include <math.h>
#include <string.h>

#include "analyse/operators/radix.h"
#include "simulate/scenario.h"

#define EPOCH_TOLERANCE 0.02 /* largest relative error of an epoch .. */
#define STEP_TOLERANCE 0.05  /* .. and the median one of a step, with which the run counts as reproduced */

struct sta_rank_figures sta_figures_of_rank(const struct sta_simulation *simulation, size_t rank)
{
    const struct sta_model *model = simulation->model;
    struct sta_rank_figures figures = {0};
    for (uint32_t n = 0; n < model->ranks[rank].epoch_count; n++) {
        const struct sta_model_epoch *epoch = sta_model_epoch(model, rank, n);
        const struct sta_simulated_epoch *simulated = &simulation->epochs[model->ranks[rank].epoch_first + n];
        figures.time += simulated->end - simulated->start;
        for (size_t k = epoch->step_first; k < epoch->step_first + epoch->step_count; k++) {
            const struct sta_simulated_step *step = &simulation->steps[k];
            figures.stall += step->got - step->asked;
            figures.compute += step->ended - step->begun;
            figures.barrier += step->released - step->ended;
        }
    }
    return figures;
}

static uint64_t ordered_word(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

/* The value at a place of the ascending order of simulation->words. */
static int sort_words(struct sta_simulation *simulation, size_t count, const struct sta_budget *budget,
                      struct sta_error *err)
{
    int rc = sta_radix_sort(simulation->words, simulation->scratch, count, 1, false, budget->cancel);
    return rc == STA_OK ? STA_OK : sta_radix_failed(rc, "steps", count, err);
}

static int step_median(struct sta_simulation *simulation, const struct sta_budget *budget, int64_t *median,
                       struct sta_error *err)
{
    const size_t count = simulation->model->step_count;
    for (size_t k = 0; k < count; k++)
        simulation->words[k] = ordered_word(simulation->steps[k].released - simulation->steps[k].asked);
    int rc = sort_words(simulation, count, budget, err);
    if (rc == STA_OK)
        *median = (int64_t)ordered_word((int64_t)simulation->words[sta_lower_middle(count)]);
    return rc;
}

static int64_t train_time(const struct sta_simulation *simulation)
{
    const struct sta_model *model = simulation->model;
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (size_t r = 0; r < model->rank_count; r++) {
        const struct sta_model_rank *rank = &model->ranks[r];
        start = STA_MIN(start, simulation->epochs[rank->epoch_first].start);
        end = STA_MAX(end, simulation->epochs[rank->epoch_first + rank->epoch_count - 1].end);
    }
    return end - start;
}

int sta_figures_of(struct sta_simulation *simulation, const struct sta_budget *budget,
                   struct sta_run_figures *figures, struct sta_error *err)
{
    const struct sta_model *model = simulation->model;
    const double ranks = (double)model->rank_count;
    double time = 0;
    *figures = (struct sta_run_figures){.train = train_time(simulation)};
    for (size_t r = 0; r < model->rank_count; r++) {
        const struct sta_rank_figures rank = sta_figures_of_rank(simulation, r);
        time += (double)rank.time;
        figures->stall_total += (double)rank.stall;
        figures->barrier += (double)rank.barrier / ranks;
        figures->compute += (double)rank.compute / ranks;
        figures->au += (rank.time > 0 ? (double)rank.compute / (double)rank.time : 0) / ranks;
        figures->stall_most = r == 0 ? rank.stall : STA_MAX(figures->stall_most, rank.stall);
    }
    figures->stall = figures->stall_total / ranks;
    figures->epoch_mean = time / (double)model->epoch_count;
    return step_median(simulation, budget, &figures->step_median, err);
}

/* ---- against the trace */

static int64_t traced_release(const struct sta_model *model, size_t rank, size_t epoch, size_t k)
{
    int64_t latest = sta_model_step(model, sta_model_epoch(model, rank, epoch), k)->ended;
    for (size_t r = 0; model->barrier && r < model->rank_count; r++)
        latest = STA_MAX(latest, sta_model_step(model, sta_model_epoch(model, r, epoch), k)->ended);
    return latest;
}

static uint64_t number_word(double value) /* of one that is not negative: orders like it */
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static double word_number(uint64_t word)
{
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static double relative_error(int64_t modelled, int64_t traced)
{
    return fabs((double)(modelled - traced)) / (double)traced;
}

/* Errors of epochs into the check, of steps into simulation->words. */
static size_t compare(struct sta_simulation *simulation, struct sta_check *check)
{
    const struct sta_model *model = simulation->model;
    size_t steps = 0, epochs = 0;
    double sum = 0;
    for (size_t r = 0; r < model->rank_count; r++)
        for (uint32_t n = 0; n < model->ranks[r].epoch_count; n++) {
            const size_t e = model->ranks[r].epoch_first + n;
            const struct sta_model_epoch *epoch = &model->epochs[e];
            check->predicted_steps += epoch->step_count - 1;
            for (size_t k = 0; k < epoch->step_count; k++) {
                const struct sta_model_step *traced = &model->steps[epoch->step_first + k];
                const struct sta_simulated_step *modelled = &simulation->steps[epoch->step_first + k];
                const int64_t time = traced_release(model, r, n, k) - traced->asked;
                check->stall_traced += (double)(traced->got - traced->asked);
                if (time > 0)
                    simulation->words[steps++] =
                        number_word(relative_error(modelled->released - modelled->asked, time));
            }
            if (epoch->end <= epoch->start)
                continue;
            double error = relative_error(simulation->epochs[e].end - simulation->epochs[e].start,
                                          epoch->end - epoch->start);
            check->epoch_error_max = fmax(check->epoch_error_max, error);
            sum += error;
            epochs++;
        }
    check->epoch_error_mean = epochs > 0 ? sum / (double)epochs : 0;
    return steps;
}

static int64_t traced_train_time(const struct sta_model *model)
{
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (size_t r = 0; r < model->rank_count; r++) {
        start = STA_MIN(start, sta_model_epoch(model, r, 0)->start);
        end = STA_MAX(end, sta_model_epoch(model, r, model->ranks[r].epoch_count - 1)->end);
    }
    return end - start;
}

int sta_check_model(struct sta_simulation *simulation, const struct sta_budget *budget,
                    struct sta_check *check, struct sta_error *err)
{
    struct sta_run_figures figures;
    int rc = sta_figures_of(simulation, budget, &figures, err);
    if (rc != STA_OK)
        return rc;
    *check = (struct sta_check){.train_traced = traced_train_time(simulation->model),
                                .train_modelled = figures.train,
                                .stall_modelled = figures.stall_total};
    size_t steps = compare(simulation, check);
    rc = sort_words(simulation, steps, budget, err);
    if (rc != STA_OK)
        return rc;
    if (steps > 0) {
        check->step_error_median = word_number(simulation->words[sta_lower_middle(steps)]);
        check->step_error_p90 = word_number(simulation->words[(9 * steps + 9) / 10 - 1]);
    }
    if (check->train_traced > 0)
        check->train_error =
            (double)(check->train_modelled - check->train_traced) / (double)check->train_traced;
    check->reproduced = check->predicted_steps > 0 && check->epoch_error_max <= EPOCH_TOLERANCE &&
                        check->step_error_median <= STEP_TOLERANCE;
    return STA_OK;
}
