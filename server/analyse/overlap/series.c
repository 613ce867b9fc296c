/* Bins: how long each combination of sets was active in each, summed over units. */
#include "analyse/overlap/series.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "analyse/overlap/members.h"
#include "analyse/overlap/tables.h"
#include "analyse/intervals/cover.h"
#include "common/memory.h"

#define MOST_BINS 200000

struct sta_overlap_series {
    const struct sta_overlap_request *request;
    struct sta_bins bins;
    unsigned workers;
    struct sta_cover *covers; /* by worker, then mask; without arrays until the combination is met */
    _Atomic size_t bytes;
};

static size_t masks_of(const struct sta_overlap_series *series)
{
    return (size_t)1 << series->request->set_count;
}

int sta_overlap_series_create(const struct sta_overlap_request *request, unsigned workers,
                              struct sta_overlap_series **series, struct sta_error *err)
{
    struct sta_overlap_series *fresh = sta_alloc(sizeof *fresh);
    int64_t end = sta_snapshot_info(request->question->snapshot)->end_ticks;
    int64_t from = STA_MAX(request->from, 0);
    int64_t to = STA_MIN(request->to, end);
    int64_t first = from / request->granularity;
    int64_t count = to > from ? (to - 1) / request->granularity - first + 1 : 0;
    *series = fresh;
    *fresh = (struct sta_overlap_series){.request = request, .workers = workers};
    if (count > MOST_BINS) {
        sta_fail(err, STA_ELIMIT, "a series of %lld bins; at most %d are allowed: take a larger granularity",
                 (long long)count, MOST_BINS);
        return sta_at_member(err, "granularity", NULL, -1);
    }
    fresh->bins = (struct sta_bins){.g = request->granularity, .first = first, .count = (size_t)count};
    fresh->covers = sta_alloc_array(workers * masks_of(fresh), sizeof *fresh->covers);
    return 0;
}

void sta_overlap_series_destroy(struct sta_overlap_series *series)
{
    if (series == NULL)
        return;
    for (size_t i = 0; series->covers != NULL && i < series->workers * masks_of(series); i++) {
        free(series->covers[i].parts);
        free(series->covers[i].inside);
    }
    free(series->covers);
    free(series);
}

void sta_overlap_series_add(struct sta_overlap_series *series, unsigned worker, uint32_t mask, int64_t from,
                            int64_t to)
{
    struct sta_cover *cover = &series->covers[worker * masks_of(series) + mask];
    if (cover->parts == NULL) {
        cover->parts = sta_alloc_array(series->bins.count + 1, sizeof *cover->parts);
        cover->inside = sta_alloc_array(series->bins.count + 1, sizeof *cover->inside);
        atomic_fetch_add_explicit(&series->bytes, (series->bins.count + 1) * 2 * sizeof *cover->parts,
                                  memory_order_relaxed);
    }
    sta_cover_add(cover, &series->bins, from, to);
}

size_t sta_overlap_series_bytes(const struct sta_overlap_series *series)
{
    return atomic_load_explicit(&series->bytes, memory_order_relaxed);
}

/* ---- the table */

/* A combination that some worker met. */
struct met {
    uint32_t mask;
    const struct sta_cover *cover;
};

static struct met *finish(struct sta_overlap_series *series, size_t *count)
{
    struct met *met = sta_alloc_array(series->workers * masks_of(series), sizeof *met);
    *count = 0;
    for (size_t i = 0; i < series->workers * masks_of(series); i++) {
        if (series->covers[i].parts == NULL)
            continue;
        sta_cover_finish(&series->covers[i], &series->bins);
        met[(*count)++] = (struct met){(uint32_t)(i % masks_of(series)), &series->covers[i]};
    }
    return met;
}

static struct sta_figures figures_of(const struct met *met, size_t count, size_t bin)
{
    static const struct sta_unit_sums no_span;
    struct sta_figures figures = {0};
    for (size_t i = 0; i < count; i++) {
        struct sta_sweep_cell cell = {.mask = met[i].mask, .time = met[i].cover->parts[bin]};
        if (cell.time > 0)
            sta_figures_add(&figures, &no_span, &cell, 1);
    }
    return figures;
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
        sta_table_set_number(column++, bin, sta_overlap_seconds(request, figures->busy[s]));
    for (uint32_t a = 0; a < request->set_count; a++)
        for (uint32_t b = a + 1; b < request->set_count; b++)
            for (unsigned part = 0; part < STA_PAIR_PARTS; part++)
                sta_table_set_number(column++, bin,
                                     sta_overlap_seconds(request, sta_figures_pair(figures, a, b, part)));
}

void sta_overlap_series_table(struct sta_overlap_series *series, struct sta_table *table)
{
    const struct sta_overlap_request *request = series->request;
    size_t count;
    struct met *met = finish(series, &count);
    sta_table_init(table, series->bins.count);
    sta_table_add(table, "time_range", STA_TYPE_INT, NULL);
    sta_add_seconds(table, "time_start");
    for (uint32_t s = 0; s < request->set_count; s++) {
        char *name = sta_sprintf("%s_busy", request->sets[s].name);
        sta_add_seconds(table, name);
        free(name);
    }
    sta_add_pairs(request, table);
    for (size_t bin = 0; bin < series->bins.count; bin++) {
        struct sta_figures figures = figures_of(met, count, bin);
        put_bin(series, bin, &figures, table);
    }
    free(met);
}
