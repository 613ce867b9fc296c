/* Accelerator utilisation: exact, and by DLIO's formula (findings.md part 4). */
#include "findings/utilisation.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"

/* ---- DLIO's formula */

/* An interval between two checkpoints: what it adds to the weighted mean. */
static void add_interval(int64_t from, int64_t to, const struct sta_step *steps, size_t count,
                         const struct sta_utilisation_options *options, double *total, double *weight)
{
    size_t first = 0, end = count;
    while (first < count && steps[first].to <= from)
        first++;
    while (end > first && steps[end - 1].to > to)
        end--;
    const int64_t mine = (int64_t)(end - first), last = mine - options->end_steps;
    int64_t compute = 0, time = to - from;
    if (mine <= 0)
        return;
    for (int64_t k = 0; k < mine; k++) {
        const struct sta_step *step = &steps[first + (size_t)k];
        const bool left_out = k < options->warmup_steps || k >= STA_MAX(last, options->warmup_steps);
        if (!left_out)
            compute += step->compute;
        if (k < options->warmup_steps)
            time -= step->to - (k == 0 ? from : steps[first + (size_t)k - 1].to);
        if (k >= STA_MAX(last, options->warmup_steps))
            time -= step->to - (k == 0 ? from : steps[first + (size_t)k - 1].to);
    }
    if (compute > 0 && time > 0)
        *total += (double)compute / (double)time * (double)mine;
    *weight += (double)mine;
}

static double dlio_of(const struct sta_rank *rank, const struct sta_epoch *epoch,
                      const struct sta_step *steps, size_t count,
                      const struct sta_utilisation_options *options)
{
    double total = 0, weight = 0;
    int64_t at = epoch->from;
    for (size_t c = 0; c < rank->checkpoint.count; c++) {
        const struct sta_interval *save = &rank->checkpoint.items[c];
        const int64_t from = STA_MAX(save->from, epoch->from), to = STA_MIN(save->to, epoch->to);
        if (from >= to)
            continue;
        add_interval(at, from, steps, count, options, &total, &weight);
        at = to;
    }
    add_interval(at, epoch->to, steps, count, options, &total, &weight);
    return weight > 0 ? total / weight : 0;
}

/* ---- an epoch of a rank */

const struct sta_step *sta_rank_steps(const struct sta_rank *rank, const struct sta_epoch *epoch,
                                      size_t *count)
{
    size_t first = 0;
    while (first < rank->step_count && rank->steps[first].epoch != epoch->number)
        first++;
    *count = 0;
    while (first + *count < rank->step_count && rank->steps[first + *count].epoch == epoch->number)
        ++*count;
    return rank->steps + first;
}

struct sta_utilisation_row sta_utilisation_of(const struct sta_rank *rank, const struct sta_epoch *epoch,
                                              const struct sta_step *steps, size_t count,
                                              const struct sta_utilisation_options *options)
{
    const int64_t n = count > 0 ? (int64_t)count - 1 : 0; /* without what follows the last one */
    struct sta_utilisation_row row = {.steps = (size_t)n};
    row.au_dlio = dlio_of(rank, epoch, steps, (size_t)n, options);
    if (n <= options->warmup_steps + options->end_steps)
        return row;
    const int64_t from = options->warmup_steps > 0 ? steps[options->warmup_steps - 1].to : epoch->from;
    const int64_t to = options->end_steps > 0 ? steps[n - 1 - options->end_steps].to : epoch->to;
    row.counted = true;
    row.window = to - from;
    row.compute = sta_moments_within(&rank->compute, from, to);
    return row;
}

/* ---- sums */

void sta_utilisation_add(struct sta_utilisation_sum *sum, const struct sta_utilisation_row *row)
{
    if (row->counted && row->window > 0) {
        sum->window += row->window;
        sum->compute += row->compute;
    }
    sum->dlio_sum += row->au_dlio;
    sum->dlio_count++;
    sum->au_dlio = sum->dlio_sum / (double)sum->dlio_count;
}

double sta_utilisation_share(const struct sta_utilisation_sum *sum)
{
    return sum->window > 0 ? (double)sum->compute / (double)sum->window : NAN;
}

static size_t place_of(const struct sta_phases *phases, int64_t number)
{
    size_t i = 0;
    while (phases->numbers[i] != number)
        i++;
    return i;
}

static void add_rank(const struct sta_phases *phases, const struct sta_rank *rank,
                     const struct sta_utilisation_options *options, struct sta_utilisation *utilisation)
{
    size_t at = 0;
    for (size_t e = 0; e < rank->epoch_count; e++) {
        size_t count = 0;
        while (at + count < rank->step_count && rank->steps[at + count].epoch == rank->epochs[e].number)
            count++;
        struct sta_utilisation_row row =
            sta_utilisation_of(rank, &rank->epochs[e], rank->steps + at, count, options);
        at += count;
        sta_utilisation_add(&utilisation->whole, &row);
        sta_utilisation_add(&utilisation->epochs[place_of(phases, rank->epochs[e].number)], &row);
    }
}

static void add_job(const struct sta_phases *phases, struct sta_utilisation *utilisation)
{
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (uint32_t i = 0; i < phases->order_count; i++) {
        const struct sta_rank *rank = &phases->ranks[phases->order[i]];
        start = STA_MIN(start, rank->start);
        end = STA_MAX(end, rank->end);
        utilisation->ranks += rank->compute.count > 0;
        utilisation->job_compute += sta_moments_length(&rank->compute);
    }
    utilisation->job = start < end ? end - start : 0;
}

int sta_utilisation_measure(const struct sta_phases *phases, const struct sta_utilisation_options *options,
                            struct sta_utilisation *utilisation, struct sta_error *err)
{
    *utilisation = (struct sta_utilisation){.account = phases->account, .au_dlio_std = NAN};
    utilisation->whole.au_dlio = NAN;
    utilisation->epochs =
        sta_account_calloc(phases->account, phases->number_count + 1, sizeof *utilisation->epochs,
                           "the utilisation of accelerators", err);
    if (utilisation->epochs == NULL)
        return err->status;
    for (uint32_t i = 0; i < phases->order_count; i++)
        add_rank(phases, &phases->ranks[phases->order[i]], options, utilisation);
    double sum = 0, squares = 0;
    const double n = (double)phases->number_count;
    for (size_t e = 0; e < phases->number_count; e++)
        sum += utilisation->epochs[e].au_dlio;
    utilisation->whole.au_dlio = n > 0 ? sum / n : NAN;
    for (size_t e = 0; e < phases->number_count; e++)
        squares += pow(utilisation->epochs[e].au_dlio - utilisation->whole.au_dlio, 2);
    utilisation->au_dlio_std = n > 0 ? sqrt(squares / n) : NAN;
    add_job(phases, utilisation);
    return STA_OK;
}

void sta_utilisation_fini(struct sta_utilisation *utilisation)
{
    sta_account_free(utilisation->account, utilisation->epochs);
    utilisation->epochs = NULL;
}
