/* Minima, means, deviations, quantiles, shares and ranks of the values of a number. */
#include <math.h>

#include "analyse/compatible/layer_view.h"
#include "analyse/compatible/sum.h"
#include "analyse/exec/budget.h"
#include "analyse/operators/keys.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

/* 0 becomes missing. */
static double shown(double value)
{
    return value == 0 ? NAN : value;
}

/* ---- of one row */

struct sample {
    const double *values;
    size_t count;  /* of the values, none of which is 0 */
    size_t number; /* with those that are */
    double sum;
};

/* Squared distances from the mean, added up. */
static double squares_about(const struct sample *sample, double mean)
{
    double squares = (double)(sample->number - sample->count) * mean * mean;
    for (size_t i = 0; i < sample->count; i++)
        squares += (sample->values[i] - mean) * (sample->values[i] - mean);
    return squares;
}

/* Sample standard deviation, with 0 for equal values. */
static double standard_deviation(const struct sample *sample, double mean, double min, double max)
{
    if (min == max)
        return 0;
    double std = sample->number < 2 ? NAN : sqrt(squares_about(sample, mean) / (double)(sample->number - 1));
    return isfinite(std) ? shown(std) : NAN;
}

static double add_up(const double *values, size_t count)
{
    struct sta_sum sum = {0};
    for (size_t i = 0; i < count; i++)
        sta_sum_add(&sum, values[i]);
    return sum.sum;
}

static void describe(double *const *cells, size_t row, const struct sample *sample)
{
    if (sample->number == 0)
        return;
    double min = sample->count < sample->number ? 0 : INFINITY;
    double max = sample->count < sample->number ? 0 : -INFINITY;
    for (size_t i = 0; i < sample->count; i++) {
        min = fmin(min, sample->values[i]);
        max = fmax(max, sample->values[i]);
    }
    double mean = sample->sum / (double)sample->number;
    cells[STA_STAT_SUM][row] = shown(sample->sum);
    cells[STA_STAT_MIN][row] = shown(min);
    cells[STA_STAT_MAX][row] = shown(max);
    cells[STA_STAT_MEAN][row] = shown(mean);
    cells[STA_STAT_STD][row] = standard_deviation(sample, mean, shown(min), shown(max));
}

/* ---- quantiles */

static const struct {
    enum sta_stat stat;
    double low;
} quantiles[] = {{STA_STAT_Q1, 0.01}, {STA_STAT_Q5, 0.05}, {STA_STAT_Q10, 0.10}, {STA_STAT_Q25, 0.25}};

/* Linear interpolation, from the nearer neighbour: as numpy rounds, so that the ends fall in or out alike.
 * @sorted: by order number */
static double quantile(const uint64_t *sorted, size_t count, double share)
{
    double at = share * (double)(count - 1);
    size_t below = (size_t)at;
    size_t above = STA_MIN(below + 1, count - 1);
    double part = at - (double)below;
    double low = sta_unorder_number(sorted[below]), high = sta_unorder_number(sorted[above]);
    double step = high - low;
    return part >= 0.5 ? high - step * (1 - part) : low + step * part;
}

/* @kept: scratch memory for all values */
static void describe_between(double *out, const struct sample *sample, double from, double to, double *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++) {
        kept[count] = sample->values[i];
        count += sample->values[i] >= from && sample->values[i] <= to;
    }
    if (count == 0)
        return;
    double mean = sta_sum_pairwise(kept, count) / (double)count;
    for (size_t i = 0; i < count; i++)
        kept[i] = (kept[i] - mean) * (kept[i] - mean);
    out[0] = mean;
    out[1] = sqrt(sta_sum_pairwise(kept, count) / (double)count);
    out[2] = (double)count;
}

/* Scratch memory for all values of a row. */
struct scratch {
    uint64_t *sorted, *other;
    double *kept;
};

static int describe_quantiles(double *const *cells, size_t row, const struct sample *sample,
                              const struct scratch *scratch, const struct sta_budget *budget,
                              struct sta_error *err)
{
    if (sample->count == 0)
        return 0;
    for (size_t i = 0; i < sample->count; i++)
        scratch->sorted[i] = sta_order_number(sample->values[i]);
    int rc = sta_radix_failed(
        sta_radix_sort(scratch->sorted, scratch->other, sample->count, 1, false, budget->cancel), "numbers",
        sample->count, err);
    for (size_t q = 0; rc == 0 && q < STA_COUNT_OF(quantiles); q++) {
        describe_between(cells[quantiles[q].stat] + row * STA_QUANTILE_NUMBERS, sample,
                         quantile(scratch->sorted, sample->count, quantiles[q].low),
                         quantile(scratch->sorted, sample->count, 1 - quantiles[q].low), scratch->kept);
    }
    return rc;
}

static int take_scratch(struct sta_pool *pool, size_t most, struct scratch *scratch, struct sta_error *err)
{
    scratch->sorted = sta_pool_take(pool, most + 1, sizeof *scratch->sorted, "quantiles", err);
    scratch->other = sta_pool_take(pool, most + 1, sizeof *scratch->other, "quantiles", err);
    scratch->kept = sta_pool_take(pool, most + 1, sizeof *scratch->kept, "quantiles", err);
    return scratch->sorted == NULL || scratch->other == NULL || scratch->kept == NULL ? err->status : 0;
}

int sta_layer_statistics(double *const *cells, const struct sta_layer_values *values,
                         const struct sta_budget *budget, struct sta_error *err)
{
    const bool wants_quantiles = cells[STA_STAT_Q1] != NULL;
    struct sta_pool pool = {.budget = budget};
    struct scratch scratch = {0};
    size_t most = 0, work = 0;
    for (size_t row = 0; wants_quantiles && row < values->rows; row++)
        most = STA_MAX(most, values->start[row + 1] - values->start[row]);
    int rc = wants_quantiles ? take_scratch(&pool, most, &scratch, err) : 0;
    for (size_t row = 0; rc == 0 && row < values->rows; row++) {
        struct sample sample = {.values = values->values + values->start[row],
                                .count = values->start[row + 1] - values->start[row]};
        sample.number = values->units != NULL ? values->units[row] : sample.count;
        sample.sum = add_up(sample.values, sample.count);
        describe(cells, row, &sample);
        rc = sta_budget_check_work(budget, &work, sample.count, err);
        if (rc == 0 && wants_quantiles)
            rc = describe_quantiles(cells, row, &sample, &scratch, budget, err);
    }
    sta_pool_fini(&pool);
    return rc;
}

/* ---- over rows */

static void share(double *out, const double *of, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        out[row] = isnan(of[row]) ? 0 : of[row];
    double total = sta_sum_pairwise(out, rows);
    for (size_t row = 0; row < rows; row++)
        out[row] = isinf(total) ? NAN : of[row] / total;
}

/* Average rank of ties, as a share of all that have a value.  @ranked: order numbers and rows, ascending */
static void rank(double *out, const struct sta_word_pair *ranked, size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && ranked[to].major == ranked[from].major; to++)
            ;
        for (size_t i = from; i < to; i++)
            out[ranked[i].minor] = (double)(from + 1 + to) / 2 / (double)count;
    }
}

static int rank_slopes(struct sta_layer_metric *metric, bool derived, const struct sta_budget *budget,
                       struct sta_error *err)
{
    const double *slope = metric->cells[STA_MEASURE_OPS][STA_STAT_SLOPE];
    const double *count_per = metric->cells[STA_MEASURE_COUNT][STA_STAT_PER];
    const size_t most = metric->rows + 1;
    struct sta_word_pair *ranked =
        sta_account_alloc(budget->account, most, 2 * sizeof *ranked, "the ranks of slopes", err);
    size_t count = 0;
    bool any = false;
    if (ranked == NULL)
        return err->status;
    for (size_t row = 0; row < metric->rows; row++)
        any |= !isnan(slope[row]);
    for (size_t row = 0; row < metric->rows; row++) {
        if (!isnan(slope[row]))
            ranked[count++] = (struct sta_word_pair){sta_order_number(slope[row]), row};
        else if (derived && any && !isnan(count_per[row]))
            ranked[count++] =
                (struct sta_word_pair){sta_order_number(0), row}; /* calls that took no time (quirk) */
    }
    int rc = sta_radix_failed(sta_radix_sort_pairs(ranked, ranked + most, count, budget->cancel), "slopes",
                              count, err);
    if (rc == 0)
        rank(metric->cells[STA_MEASURE_OPS][STA_STAT_PCT], ranked, count);
    sta_account_free(budget->account, ranked);
    return rc;
}

int sta_layer_shares(struct sta_layer_metric *metric, bool by_process, bool derived,
                     const struct sta_budget *budget, struct sta_error *err)
{
    double *(*cells)[STA_STATS] = metric->cells;
    share(cells[STA_MEASURE_COUNT][STA_STAT_PER], cells[STA_MEASURE_COUNT][STA_STAT_SUM], metric->rows);
    share(cells[STA_MEASURE_TIME][STA_STAT_PER],
          cells[STA_MEASURE_TIME][by_process ? STA_STAT_MAX : STA_STAT_SUM], metric->rows);
    if (cells[STA_MEASURE_SIZE][STA_STAT_PER] != NULL)
        share(cells[STA_MEASURE_SIZE][STA_STAT_PER], cells[STA_MEASURE_SIZE][STA_STAT_SUM], metric->rows);
    for (size_t row = 0; row < metric->rows; row++)
        cells[STA_MEASURE_OPS][STA_STAT_SLOPE][row] =
            cells[STA_MEASURE_TIME][STA_STAT_PER][row] / cells[STA_MEASURE_COUNT][STA_STAT_PER][row];
    return rank_slopes(metric, derived, budget, err);
}
