/* One combination: what becomes of the fetches, then of the training, row by row. */
#include "simulate/align_private.h"

#include <math.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"

#define STALL_FLOOR 0.000002 /* s: replaces a stall that would become negative */
#define STALL_GROWS 0.01     /* s: a stall up to this does not grow: the delay is taken to be hidden */
#define EFFECTIVE 0.030      /* s: a delay above this is counted */

/* Arrays that live and end together. */
struct part {
    void **array;
    size_t count;
};

static int allocate(struct sta_account *account, const struct part *parts, size_t count,
                    struct sta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        *parts[i].array = sta_account_calloc(account, STA_MAX(parts[i].count, 1), sizeof(int64_t),
                                             "the iterations of a training", err);
        if (*parts[i].array == NULL)
            return err->status;
    }
    return STA_OK;
}

int sta_align_input_init(struct sta_align_input *input, uint32_t gpus, size_t rows,
                         struct sta_account *account, struct sta_error *err)
{
    *input = (struct sta_align_input){.gpus = gpus, .rows = rows, .account = account};
    const size_t all = rows * gpus;
    const struct part parts[] = {
        {(void **)&input->epoch, rows}, {(void **)&input->index, rows},  {(void **)&input->fetch, all},
        {(void **)&input->start, all},  {(void **)&input->arrival, all}, {(void **)&input->iteration, all},
        {(void **)&input->stall, all},
    };
    int rc = allocate(account, parts, STA_COUNT_OF(parts), err);
    if (rc != STA_OK)
        sta_align_input_fini(input);
    return rc;
}

void sta_align_input_fini(struct sta_align_input *input)
{
    void *const arrays[] = {input->epoch,   input->index,     input->fetch, input->start,
                            input->arrival, input->iteration, input->stall};
    for (size_t i = 0; i < STA_COUNT_OF(arrays); i++)
        sta_account_free(input->account, arrays[i]);
    *input = (struct sta_align_input){0};
}

int sta_aligned_init(struct sta_aligned *aligned, const struct sta_align_input *input, struct sta_error *err)
{
    const size_t rows = input->rows, all = rows * input->gpus;
    *aligned = (struct sta_aligned){.account = input->account};
    const struct part parts[] = {
        {(void **)&aligned->start, all},         {(void **)&aligned->done, all},
        {(void **)&aligned->fetch, all},         {(void **)&aligned->stall, all},
        {(void **)&aligned->pure, all},          {(void **)&aligned->time, rows},
        {(void **)&aligned->worst, rows},        {(void **)&aligned->delay, rows},
        {(void **)&aligned->start_diff, rows},   {(void **)&aligned->fetch_diff, rows},
        {(void **)&aligned->slowest, rows},      {(void **)&aligned->end, rows},
        {(void **)&aligned->end_repaired, rows}, {(void **)&aligned->end_corrected, rows},
        {(void **)&aligned->scratch, rows},
    };
    int rc = allocate(aligned->account, parts, STA_COUNT_OF(parts), err);
    if (rc != STA_OK)
        sta_aligned_fini(aligned);
    return rc;
}

void sta_aligned_fini(struct sta_aligned *aligned)
{
    void *const arrays[] = {aligned->start,        aligned->done,          aligned->fetch,   aligned->stall,
                            aligned->pure,         aligned->time,          aligned->worst,   aligned->delay,
                            aligned->start_diff,   aligned->fetch_diff,    aligned->slowest, aligned->end,
                            aligned->end_repaired, aligned->end_corrected, aligned->scratch};
    for (size_t i = 0; i < STA_COUNT_OF(arrays); i++)
        sta_account_free(aligned->account, arrays[i]);
    *aligned = (struct sta_aligned){0};
}

int64_t sta_align_ns(double seconds)
{
    int64_t whole = (int64_t)seconds;
    double fraction = rint((seconds - (double)whole) * 1e9) / 1e9;
    return whole * 1000000000 + (int64_t)(fraction * 1e9);
}

static double seconds_of(int64_t ns)
{
    return (double)ns / 1e9;
}

static double least(const double *values, uint32_t count)
{
    double found = values[0];
    for (uint32_t i = 1; i < count; i++)
        found = values[i] < found ? values[i] : found;
    return found;
}

static double most(const double *values, uint32_t count)
{
    double found = values[0];
    for (uint32_t i = 1; i < count; i++)
        found = values[i] > found ? values[i] : found;
    return found;
}

static int64_t earliest(const int64_t *values, uint32_t count)
{
    int64_t found = values[0];
    for (uint32_t i = 1; i < count; i++)
        found = STA_MIN(found, values[i]);
    return found;
}

static int64_t latest(const int64_t *values, uint32_t count)
{
    int64_t found = values[0];
    for (uint32_t i = 1; i < count; i++)
        found = STA_MAX(found, values[i]);
    return found;
}

static double average(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

/* The fetches as they would have been.  An average start is the middle of the earliest and the latest, an
 * average duration the mean. */
static void align_fetches(const struct sta_align_input *input, enum sta_align fetch, enum sta_align start,
                          size_t row, struct sta_aligned *out)
{
    const uint32_t gpus = input->gpus;
    const size_t at = row * gpus;
    const int64_t first = earliest(&input->start[at], gpus), last = latest(&input->start[at], gpus);
    const int64_t common_start = start == STA_ALIGN_AVG ? last - (last - first) / 2 : first;
    const double common_fetch =
        fetch == STA_ALIGN_AVG ? average(&input->fetch[at], gpus) : least(&input->fetch[at], gpus);
    for (size_t i = at; i < at + gpus; i++) {
        out->start[i] = start == STA_ALIGN_NONE ? input->start[i] : common_start;
        out->fetch[i] = fetch == STA_ALIGN_NONE ? input->fetch[i] : common_fetch;
        out->done[i] = out->start[i] + sta_align_ns(out->fetch[i]);
    }
    out->slowest[row] = latest(&out->done[at], gpus);
    out->start_diff[row] = seconds_of(latest(&out->start[at], gpus) - earliest(&out->start[at], gpus));
    out->fetch_diff[row] = most(&out->fetch[at], gpus) - least(&out->fetch[at], gpus);
}

/* A fetch that ends earlier or later takes the whole shift off, or puts it on, the stall of its GPU. */
static double shifted_stall(double stall, int64_t was, int64_t now)
{
    if (was > now) {
        double less = stall - seconds_of(was - now);
        return less < 0.0 ? STALL_FLOOR : less;
    }
    return was < now && stall > STALL_GROWS ? stall + seconds_of(now - was) : stall;
}

static int64_t signed_ns(double seconds)
{
    return seconds >= 0 ? sta_align_ns(seconds) : -sta_align_ns(-seconds);
}

/* When the iteration ends.  The original adds the seconds of the longest iteration as nanoseconds; with the
 * unit repaired it counts the stall twice, since an arrival is the end of a stall. */
static void put_ends(const struct sta_align_input *input, bool aligned, size_t row, double largest_stall,
                     struct sta_aligned *out)
{
    const size_t at = row * input->gpus;
    const int64_t arrival = latest(&input->arrival[at], input->gpus);
    int64_t traced = INT64_MIN, corrected = INT64_MIN;
    for (size_t i = at; i < at + input->gpus; i++) {
        double time = aligned ? out->worst[row] + out->pure[i] : input->iteration[i];
        traced = STA_MAX(traced, input->arrival[i] + signed_ns(out->pure[i]));
        corrected = STA_MAX(corrected, input->arrival[i] - sta_align_ns(largest_stall) + signed_ns(time));
    }
    out->end[row] = aligned ? arrival + (int64_t)out->time[row] : traced;
    out->end_repaired[row] = aligned ? arrival + signed_ns(out->time[row]) : traced;
    out->end_corrected[row] = corrected;
}

static void train(const struct sta_align_input *input, bool aligned, size_t row, struct sta_aligned *out)
{
    const uint32_t gpus = input->gpus;
    const size_t at = row * gpus;
    const double largest_stall = most(&input->stall[at], gpus);
    for (size_t i = at; i < at + gpus; i++) {
        out->pure[i] = input->iteration[i] - largest_stall;
        out->stall[i] = !aligned
                            ? input->stall[i]
                            : shifted_stall(input->stall[i], input->start[i] + sta_align_ns(input->fetch[i]),
                                            out->done[i]);
    }
    out->worst[row] = most(&out->stall[at], gpus);
    out->delay[row] = out->worst[row] - least(&out->stall[at], gpus);
    out->time[row] =
        aligned ? out->worst[row] + most(&out->pure[at], gpus) : most(&input->iteration[at], gpus);
    put_ends(input, aligned, row, largest_stall, out);
}

int sta_align_run(const struct sta_align_input *input, const struct sta_align_value *fetch,
                  const struct sta_align_value *start, const struct sta_budget *budget,
                  struct sta_aligned *aligned, struct sta_error *err)
{
    for (size_t row = 0; row < input->rows; row++) {
        if (row * input->gpus % 65536 < input->gpus && sta_budget_check(budget, err) != STA_OK)
            return err->status;
        align_fetches(input, fetch->align, start->align, row, aligned);
        train(input, fetch->aligned || start->aligned, row, aligned);
    }
    return STA_OK;
}

/* ---- statistics */

/* A sum whose rounding errors are kept and added at the end. */
struct sum {
    double value, rest;
};

static void sum_add(struct sum *sum, double x)
{
    double next = sum->value + x;
    sum->rest += fabs(sum->value) >= fabs(x) ? (sum->value - next) + x : (x - next) + sum->value;
    sum->value = next;
}

static void mean_and_deviation(const double *values, size_t count, double *mean, double *deviation,
                               double *total)
{
    struct sum sum = {0}, squares = {0};
    for (size_t i = 0; i < count; i++)
        sum_add(&sum, values[i]);
    *total = sum.value + sum.rest;
    *mean = count > 0 ? *total / (double)count : NAN;
    for (size_t i = 0; i < count; i++)
        sum_add(&squares, (values[i] - *mean) * (values[i] - *mean));
    *deviation = count > 1 ? sqrt((squares.value + squares.rest) / (double)(count - 1)) : NAN;
}

/* Rows whose index is at least @first, moved to the front of copies: rows are by epoch, so they lie in runs.
 */
static size_t choose(const struct sta_align_input *input, int64_t first, const double *from, double *to)
{
    size_t count = 0;
    for (size_t row = 0; row < input->rows; row++)
        if (input->index[row] >= first)
            to[count++] = from[row];
    return count;
}

void sta_align_measure(const struct sta_align_input *input, const struct sta_aligned *aligned, int64_t first,
                       struct sta_align_statistics *statistics)
{
    const double *const figures[STA_ALIGN_FIGURES] = {
        [STA_FIGURE_ITERATION] = aligned->time,        [STA_FIGURE_STALL] = aligned->worst,
        [STA_FIGURE_DELAY] = aligned->delay,           [STA_FIGURE_START_DIFF] = aligned->start_diff,
        [STA_FIGURE_FETCH_DIFF] = aligned->fetch_diff,
    };
    double *chosen = aligned->scratch;
    size_t effective = 0;
    *statistics = (struct sta_align_statistics){0};
    for (size_t f = 0; f < STA_ALIGN_FIGURES; f++) {
        double total;
        size_t count = choose(input, first, figures[f], chosen);
        mean_and_deviation(chosen, count, &statistics->mean[f], &statistics->deviation[f], &total);
        statistics->rows = count;
        if (f == STA_FIGURE_ITERATION)
            statistics->iteration_sum = total;
        for (size_t i = 0; f == STA_FIGURE_DELAY && i < count; i++)
            effective += chosen[i] > EFFECTIVE;
    }
    statistics->effective = statistics->rows > 0 ? (double)effective / (double)statistics->rows * 100.0 : NAN;
    for (size_t row = 0; row < input->rows; row++)
        statistics->negative_pure +=
            input->index[row] >= first && least(&aligned->pure[row * input->gpus], input->gpus) < 0;
}
