/* Bins: how long each combination of sets was active in each, summed over units. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/views/members.h"
#include "analyse/overlap/tables.h"
#include "analyse/sources/shared.h"
#include "common/memory.h"

#define MOST_BINS 200000

/* The bins first .. first + count - 1, bin b being [b g, (b + 1) g) ticks from the origin. */
struct bins {
    int64_t g; /* ticks */
    int64_t first;
    size_t count;
};

/* How long each bin is covered by intervals.  One over many bins costs as much as one over two: bins that are
 * covered whole are kept as differences. */
struct coverage {
    int64_t *parts;  /* by bin: covered ticks of bins that are covered in part */
    int64_t *inside; /* behind them; by bin, one more: change in how often a bin is covered whole */
};

struct sta_overlap_series {
    const struct sta_overlap_request *request;
    struct bins bins;
    const struct sta_budget *budget;
    struct coverage *coverages; /* by worker, then mask; without arrays until the combination is met */
    size_t coverage_count;
};

static const char WHAT[] = "the series of an overlap";

static size_t masks_of(const struct sta_overlap_series *series)
{
    return (size_t)1 << series->request->set_count;
}

/* ---- bins that intervals cover */

static bool is_inside(const struct bins *bins, int64_t bin)
{
    return bin >= 0 && bin < (int64_t)bins->count;
}

/* Adds 1 to the bins low .. high of an array of differences. */
static void add_run(int64_t *differences, const struct bins *bins, int64_t low, int64_t high)
{
    low = STA_MAX(low, 0);
    high = STA_MIN(high, (int64_t)bins->count - 1);
    if (low > high)
        return;
    differences[low]++;
    differences[high + 1]--;
}

/* Adds [ts, te), ts < te, as far as it lies in the bins. */
static void add_interval(struct coverage *coverage, const struct bins *bins, int64_t ts, int64_t te)
{
    const int64_t low = ts / bins->g - bins->first, high = (te - 1) / bins->g - bins->first;
    if (low == high) {
        if (is_inside(bins, low))
            coverage->parts[low] += te - ts;
        return;
    }
    if (is_inside(bins, low))
        coverage->parts[low] += (bins->first + low + 1) * bins->g - ts;
    if (is_inside(bins, high))
        coverage->parts[high] += te - (bins->first + high) * bins->g;
    add_run(coverage->inside, bins, low + 1, high - 1);
}

/* After all have been added: turns parts into the covered ticks of each bin. */
static void finish_coverage(struct coverage *coverage, const struct bins *bins)
{
    int64_t whole = 0;
    for (size_t b = 0; b < bins->count; b++) {
        whole += coverage->inside[b];
        coverage->parts[b] += whole * bins->g;
    }
}

/* ---- start and end */

int sta_overlap_series_create(const struct sta_overlap_request *request, const struct sta_budget *budget,
                              struct sta_overlap_series **series, struct sta_error *err)
{
    struct sta_overlap_series *fresh = sta_alloc(sizeof *fresh);
    int64_t end = sta_snapshot_info(request->query->snapshot)->end_ticks;
    int64_t from = STA_MAX(request->from, 0);
    int64_t to = STA_MIN(request->to, end);
    int64_t first = from / request->granularity;
    int64_t count = to > from ? (to - 1) / request->granularity - first + 1 : 0;
    *series = fresh;
    *fresh = (struct sta_overlap_series){.request = request, .budget = budget};
    if (count > MOST_BINS)
        return sta_fail_member(err, STA_ELIMIT, "granularity", NULL,
                               "a series of %lld bins; at most %d are allowed: take a larger granularity",
                               (long long)count, MOST_BINS);
    fresh->bins = (struct bins){.g = request->granularity, .first = first, .count = (size_t)count};
    fresh->coverage_count = sta_budget_workers(budget) * masks_of(fresh);
    fresh->coverages =
        sta_account_calloc(budget->account, fresh->coverage_count, sizeof *fresh->coverages, WHAT, err);
    return fresh->coverages != NULL ? 0 : err->status;
}

void sta_overlap_series_destroy(struct sta_overlap_series *series)
{
    if (series == NULL)
        return;
    struct sta_account *account = series->budget->account;
    for (size_t i = 0; series->coverages != NULL && i < series->coverage_count; i++)
        sta_account_free(account, series->coverages[i].parts);
    sta_account_free(account, series->coverages);
    free(series);
}

/* NULL: refused. */
static struct coverage *coverage_of(const struct sta_overlap_series *series, unsigned worker, uint32_t mask,
                                    struct sta_error *err)
{
    struct coverage *coverage = &series->coverages[worker * masks_of(series) + mask];
    const size_t bins = series->bins.count + 1;
    if (coverage->parts != NULL)
        return coverage;
    int64_t *both = sta_account_calloc(series->budget->account, 2 * bins, sizeof *both, WHAT, err);
    if (both == NULL)
        return NULL;
    *coverage = (struct coverage){both, both + bins};
    return coverage;
}

int sta_overlap_series_take(void *context, unsigned worker, const struct sta_sweep_interval *interval,
                            struct sta_error *err)
{
    const struct sta_overlap_series *series = context;
    struct coverage *coverage = coverage_of(series, worker, interval->mask, err);
    if (coverage == NULL)
        return err->status;
    add_interval(coverage, &series->bins, interval->from, interval->to);
    return 0;
}

/* ---- the end */

/* A combination that some worker met. */
struct met {
    uint32_t mask;
    const struct coverage *coverage;
};

/* NULL: refused. */
static struct met *finish(struct sta_overlap_series *series, size_t *count, struct sta_error *err)
{
    struct met *met =
        sta_account_alloc(series->budget->account, series->coverage_count, sizeof *met, WHAT, err);
    *count = 0;
    for (size_t i = 0; i < series->coverage_count && met != NULL; i++) {
        if (series->coverages[i].parts == NULL)
            continue;
        finish_coverage(&series->coverages[i], &series->bins);
        met[(*count)++] = (struct met){(uint32_t)(i % masks_of(series)), &series->coverages[i]};
    }
    return met;
}

/* ---- bytes */

/* Bins without time, which are most of those outside of a range, are left out. */
static void put_coverage(const struct sta_overlap_series *series, const struct met *met,
                         struct sta_buffer *out)
{
    size_t filled = 0;
    for (size_t bin = 0; bin < series->bins.count; bin++)
        filled += met->coverage->parts[bin] > 0;
    sta_put_varint(out, met->mask);
    sta_put_varint(out, filled);
    for (size_t bin = 0; bin < series->bins.count; bin++)
        if (met->coverage->parts[bin] > 0) {
            sta_put_varint(out, bin);
            sta_put_varint(out, (uint64_t)met->coverage->parts[bin]);
        }
}

int sta_overlap_series_put(struct sta_overlap_series *series, struct sta_buffer *out, struct sta_error *err)
{
    size_t count;
    struct met *met = finish(series, &count, err);
    if (met == NULL)
        return err->status;
    sta_put_varint(out, count);
    for (size_t i = 0; i < count; i++)
        put_coverage(series, &met[i], out);
    sta_account_free(series->budget->account, met);
    return 0;
}

static int get_coverage(const struct sta_overlap_series *series, struct sta_cursor *in, struct sta_error *err)
{
    const uint32_t mask = (uint32_t)sta_shared_get_index(in, masks_of(series));
    const uint64_t filled = sta_shared_get_index(in, series->bins.count + 1);
    const struct coverage *coverage = coverage_of(series, 0, mask, err);
    if (coverage == NULL)
        return err->status;
    for (uint64_t i = 0; i < filled; i++) {
        const size_t bin = (size_t)sta_shared_get_index(in, series->bins.count);
        const uint64_t time = sta_shared_get_index(in, (uint64_t)INT64_MAX);
        if (in->failed)
            return sta_shared_fail(err);
        coverage->parts[bin] += (int64_t)time;
    }
    return in->failed ? sta_shared_fail(err) : 0;
}

int sta_overlap_series_get(struct sta_overlap_series *series, struct sta_cursor *in, struct sta_error *err)
{
    const uint64_t count = sta_get_varint(in);
    int rc = in->failed ? sta_shared_fail(err) : 0;
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        rc = get_coverage(series, in, err);
    return rc;
}

/* ---- the table */

/* @figures: of these only what is of a set of the request is looked at. */
static void figure_out(const struct sta_overlap_series *series, const struct met *met, size_t count,
                       size_t bin, struct sta_figures *figures)
{
    static const struct sta_host_span no_span;
    const uint32_t sets = series->request->set_count;
    memset(figures->busy, 0, sets * sizeof *figures->busy);
    for (uint32_t s = 0; s < sets; s++)
        memset(figures->both[s], 0, sets * sizeof *figures->both[s]);
    for (size_t i = 0; i < count; i++) {
        struct sta_sweep_cell cell = {.mask = met[i].mask, .time = met[i].coverage->parts[bin]};
        if (cell.time > 0)
            sta_figures_add(figures, &no_span, &cell, 1);
    }
}

static void put_bin(const struct sta_overlap_series *series, size_t bin, const struct sta_figures *figures,
                    struct sta_table *table)
{
    const struct sta_overlap_request *request = series->request;
    struct sta_table_column *column = table->columns;
    int64_t number = series->bins.first + (int64_t)bin;
    sta_table_set_int(column++, bin, number);
    sta_table_set_number(column++, bin, sta_overlap_seconds(request, number * series->bins.g));
    for (uint32_t s = 0; s < request->set_count; s++)
        sta_put_seconds(request, column++, bin, figures->busy[s]);
    sta_put_pairs(request, figures, &column, bin);
}

int sta_overlap_series_table(struct sta_overlap_series *series, struct sta_table *table,
                             struct sta_error *err)
{
    const struct sta_overlap_request *request = series->request;
    size_t count;
    struct met *met = finish(series, &count, err);
    if (met == NULL)
        return err->status;
    sta_table_init(table, series->bins.count);
    sta_table_add(table, "time_range", STA_TYPE_INT, NULL);
    sta_add_seconds(table, "time_start");
    for (uint32_t s = 0; s < request->set_count; s++) {
        char *name = sta_sprintf("%s_busy", request->sets[s].name);
        sta_add_seconds(table, name);
        free(name);
    }
    sta_add_pairs(request, table);
    struct sta_figures figures = {0};
    int rc = 0;
    for (size_t bin = 0; bin < series->bins.count && rc == 0; bin++) {
        figure_out(series, met, count, bin, &figures);
        put_bin(series, bin, &figures, table);
        rc = bin % 1024 == 0 ? sta_budget_check(series->budget, err) : 0;
    }
    sta_account_free(series->budget->account, met);
    return rc;
}
