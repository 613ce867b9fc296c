/* Alignments of a trace's own steps: ranks stand for GPUs. */
#include "common/account.h"
#include "simulate/align_private.h"
#include "simulate/model.h"

static bool all_have_jobs(const struct sta_model *model, uint32_t epoch, uint32_t k)
{
    for (size_t r = 0; r < model->rank_count; r++)
        if (sta_model_step(model, sta_model_epoch(model, r, epoch), k)->job_count == 0)
            return false;
    return true;
}

/* When an iteration ends: at the next request, or with the last step. */
static int64_t iteration_end(const struct sta_model *model, size_t rank, uint32_t n, uint32_t k)
{
    const struct sta_model_epoch *epoch = sta_model_epoch(model, rank, n);
    const struct sta_model_step *step = sta_model_step(model, epoch, k);
    if (k + 1 < epoch->step_count)
        return step[1].asked;
    int64_t end = step->ended;
    for (size_t r = 0; model->barrier && r < model->rank_count; r++)
        end = STA_MAX(end, sta_model_step(model, sta_model_epoch(model, r, n), k)->ended);
    return end;
}

static void put_row(const struct sta_model *model, uint32_t n, uint32_t k, struct sta_align_input *input,
                    size_t row)
{
    input->epoch[row] = n + 1;
    input->index[row] = k;
    for (size_t r = 0; r < model->rank_count; r++) {
        const struct sta_model_step *step = sta_model_step(model, sta_model_epoch(model, r, n), k);
        const size_t at = row * input->gpus + r;
        int64_t first = INT64_MAX, last = INT64_MIN;
        for (uint32_t i = 0; i < step->job_count; i++) {
            first = STA_MIN(first, model->jobs[step->job_first + i].ts);
            last = STA_MAX(last, model->jobs[step->job_first + i].te);
        }
        input->fetch[at] = (double)(last - first) / 1e6;
        input->start[at] = (model->origin_us + first) * 1000;
        input->arrival[at] = (model->origin_us + step->got) * 1000;
        input->stall[at] = (double)(step->got - step->asked) / 1e6;
        input->iteration[at] = (double)(iteration_end(model, r, n, k) - step->asked) / 1e6;
    }
}

int sta_align_of_model(const struct sta_model *model, int64_t epoch, const struct sta_budget *budget,
                       struct sta_align_input *input, struct sta_error *err)
{
    size_t rows = 0;
    if (epoch > model->most_epochs) {
        sta_fail(err, STA_EINPUT, "epoch must be from 1 to %u", model->most_epochs);
        return sta_at(err, "epoch", -1);
    }
    if (!sta_model_is_even(model))
        return sta_model_refuse(err, "shape", "ranks differ in epochs or steps");
    for (int pass = 0; pass < 2; pass++) {
        size_t row = 0;
        for (uint32_t n = 0; n < model->most_epochs; n++)
            for (uint32_t k = 0; k < sta_model_epoch(model, 0, n)->step_count; k++) {
                if ((epoch > 0 && n + 1 != epoch) || !all_have_jobs(model, n, k))
                    continue;
                if (pass == 1)
                    put_row(model, n, k, input, row);
                row++;
            }
        rows = row;
        if (pass == 0 &&
            sta_align_input_init(input, (uint32_t)model->rank_count, rows, budget->account, err) != STA_OK)
            return err->status;
    }
    return STA_OK;
}
