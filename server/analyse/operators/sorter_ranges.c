/* Ranges of keys, each gathered from all runs and sorted; see sorter.c. */
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/sorter_private.h"
#include "common/memory.h"

#define RANGE_RECORDS ((size_t)16384) /* that a range has at least, about */
#define RANGES_AHEAD 8u               /* per worker, of runs in memory; of runs on disk one */

/* ---- cutting */

static uint64_t *alloc_samples(const struct sta_sorter *sorter, size_t count, struct sta_error *err)
{
    return sta_account_alloc(sorter->spec.budget->account, count + 1, sorter->record,
                             "samples of sorted rows", err);
}

/* NULL: there is no memory for them. */
static uint64_t *gather_samples(const struct sta_sorter *sorter, size_t *count, struct sta_error *err)
{
    *count = 0;
    for (size_t r = 0; r < sorter->run_count; r++)
        *count += sorter->runs[r]->sample_count;
    uint64_t *samples = alloc_samples(sorter, *count, err);
    *count = 0;
    for (size_t r = 0; samples != NULL && r < sorter->run_count; r++) {
        memcpy(samples + *count * sorter->spec.words, sorter->runs[r]->samples,
               sorter->runs[r]->sample_count * sorter->record);
        *count += sorter->runs[r]->sample_count;
    }
    return samples;
}

int sta_sorter_cut_ranges(struct sta_sorter *sorter, struct sta_error *err)
{
    const unsigned words = sorter->spec.words;
    /* A piece of a run is at least about a step long, so that many runs make ranges larger, not pieces
     * smaller. */
    const size_t step = STA_MAX(RANGE_RECORDS / STA_SORTER_STEP, sorter->run_count);
    size_t count;
    uint64_t *samples = gather_samples(sorter, &count, err);
    uint64_t *scratch = samples != NULL ? alloc_samples(sorter, count, err) : NULL;
    int rc = scratch != NULL ? sta_sorter_sort(sorter, samples, scratch, count, false, err) : err->status;
    sta_account_free(sorter->spec.budget->account, scratch);
    sorter->splitters = samples;
    if (rc != 0)
        return rc;
    sorter->range_count = count > 0 ? (count - 1) / step + 1 : 0;
    for (size_t i = 1; i < sorter->range_count; i++) /* splitter i - 1 is where range i begins */
        memmove(samples + (i - 1) * words, samples + i * step * words, sorter->record);
    bool on_disk = false;
    for (size_t r = 0; r < sorter->run_count; r++)
        on_disk |= sorter->runs[r]->records == NULL;
    sorter->ahead = sorter->workers * (on_disk ? 1 : RANGES_AHEAD);
    sorter->ranges = sta_alloc_array(sorter->ahead, sizeof *sorter->ranges);
    return STA_OK;
}

/* ---- gathering */

/* The records of a run that reach over a range, as samples say: too many by less than a step at either end.
 */
struct piece {
    uint64_t first, count;
};

static struct piece find_piece(const struct sta_sorted_run *run, const uint64_t *low, const uint64_t *high,
                               unsigned words)
{
    const size_t before =
        low != NULL ? sta_records_before(run->samples, run->sample_count, words, low, words) : 0;
    const size_t end = high != NULL ? sta_records_before(run->samples, run->sample_count, words, high, words)
                                    : run->sample_count;
    struct piece piece = {.first = before > 0 ? (before - 1) * (uint64_t)STA_SORTER_STEP : 0};
    const uint64_t last = STA_MIN(end * (uint64_t)STA_SORTER_STEP, run->count);
    piece.count = last - STA_MIN(piece.first, last);
    return piece;
}

/* Puts the records of a run that lie in the range to @to.  Return: 0 or why the disk failed. */
static int take_piece(const struct sta_sorter *sorter, const struct sta_sorted_run *run,
                      const struct piece *piece, const uint64_t *low, const uint64_t *high, uint64_t *to,
                      size_t *taken, struct sta_error *err)
{
    const unsigned words = sorter->spec.words;
    const uint64_t *records = run->records != NULL ? run->records + piece->first * words : to;
    if (run->records == NULL) {
        int rc = sta_spill_read(run->spill, run->offset + piece->first * sorter->record, to,
                                piece->count * sorter->record, err);
        if (rc != 0)
            return rc;
    }
    const size_t begin = low != NULL ? sta_records_before(records, piece->count, words, low, words) : 0;
    const size_t end =
        high != NULL ? sta_records_before(records, piece->count, words, high, words) : piece->count;
    *taken = end - begin;
    memmove(to, records + begin * words, *taken * sorter->record);
    return STA_OK;
}

static int reserve(const struct sta_sorter *sorter, struct sta_sorted_range *range, size_t count,
                   struct sta_error *err)
{
    if (count <= range->capacity)
        return STA_OK;
    sta_sorted_range_fini(range);
    range->records = sta_try_alloc_array(count, sorter->record);
    range->scratch = sta_try_alloc_array(count, sorter->record);
    range->capacity = count;
    return range->records != NULL && range->scratch != NULL
               ? STA_OK
               : sta_fail(err, STA_ENOMEM, "memory ran out while rows were sorted");
}

static int gather(const struct sta_sorter *sorter, size_t number, struct sta_sorted_range *range,
                  struct sta_error *err)
{
    const unsigned words = sorter->spec.words;
    const uint64_t *low = number > 0 ? sorter->splitters + (number - 1) * words : NULL;
    const uint64_t *high = number + 1 < sorter->range_count ? sorter->splitters + number * words : NULL;
    struct piece *pieces = sta_alloc_array(sorter->run_count, sizeof *pieces);
    size_t most = 0;
    int rc = STA_OK;
    for (size_t r = 0; r < sorter->run_count; r++) {
        pieces[r] = find_piece(sorter->runs[r], low, high, words);
        most += pieces[r].count;
    }
    range->count = 0;
    rc = reserve(sorter, range, most, err);
    for (size_t r = 0; rc == 0 && r < sorter->run_count; r++) {
        size_t taken = 0;
        if (pieces[r].count > 0)
            rc = take_piece(sorter, sorter->runs[r], &pieces[r], low, high,
                            range->records + range->count * words, &taken, err);
        range->count += taken;
    }
    free(pieces);
    return rc;
}

/* ---- sorting */

void sta_sorted_range_fini(struct sta_sorted_range *range)
{
    sta_free(range->records);
    sta_free(range->scratch);
    *range = (struct sta_sorted_range){0};
}

static int sort_range(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct sta_sorter *sorter = context;
    struct sta_sorted_range *range = &sorter->ranges[number];
    int rc = gather(sorter, sorter->next_range + number, range, err);
    if (rc == 0 && sorter->run_count > 1)
        rc = sta_sorter_sort(sorter, range->records, range->scratch, range->count, false, err);
    return rc;
}

int sta_sorter_sort_ranges(struct sta_sorter *sorter, struct sta_error *err)
{
    sorter->ready = STA_MIN(sorter->ahead, sorter->range_count - sorter->next_range);
    int rc = sta_tasks_run(sorter->spec.budget, sorter->ready, sort_range, sorter, err);
    sorter->next_range += sorter->ready;
    sorter->at = sorter->row = 0;
    return rc;
}
