/* Sorting records: what workers collect, and what is given out.
 *
 * DESIGN.  Each worker fills a buffer that lies in its cache.  A full buffer is sorted and cut, when only the
 * first records are wanted, or put away as a run: in memory as long as there is some, then on disk.  In the
 * end samples of all runs cut the keys into ranges of about as many records, and each range is gathered from
 * all runs and sorted once more (sorter_ranges.c): ranges do not depend on each other, so all workers have
 * some, and a range of many runs takes no more memory than one of a few. */
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/radix.h"
#include "analyse/operators/sorter_private.h"
#include "common/memory.h"

#define BUFFER_BYTES STA_HUGE_PAGE
#define LEAST_RECORDS 1024u /* of a buffer */

struct sta_sorter *sta_sorter_create(const struct sta_sorter_spec *spec)
{
    struct sta_sorter *sorter = sta_alloc(sizeof *sorter);
    sorter->spec = *spec;
    sorter->workers = sta_budget_workers(spec->budget);
    sorter->spill_folder = sta_strdup(spec->spill_folder != NULL ? spec->spill_folder : "");
    sorter->record = spec->words * sizeof(uint64_t);
    const size_t most = STA_MAX(BUFFER_BYTES / sorter->record, (size_t)LEAST_RECORDS);
    sorter->cuts = spec->limit <= most / 2;
    sorter->capacity = sorter->cuts ? STA_MIN(STA_MAX(4 * spec->limit, LEAST_RECORDS), most) : most;
    sorter->locals = sta_alloc_array(sorter->workers, sizeof *sorter->locals);
    pthread_mutex_init(&sorter->lock, NULL);
    return sorter;
}

static void local_fini(const struct sta_sorter *sorter, struct sta_sorter_local *local)
{
    for (size_t i = 0; i < local->run_count; i++) {
        sta_free(local->runs[i].records);
        sta_account_free(sorter->spec.budget->account, local->runs[i].samples);
    }
    free(local->runs);
    sta_free(local->records);
    sta_free(local->scratch);
    sta_spill_destroy(local->spill);
}

void sta_sorter_destroy(struct sta_sorter *sorter)
{
    if (sorter == NULL)
        return;
    for (unsigned w = 0; w < sorter->workers; w++)
        local_fini(sorter, &sorter->locals[w]);
    for (size_t i = 0; i < sorter->ahead; i++)
        sta_sorted_range_fini(&sorter->ranges[i]);
    pthread_mutex_destroy(&sorter->lock);
    free(sorter->ranges);
    free(sorter->runs);
    sta_account_free(sorter->spec.budget->account, sorter->splitters);
    free(sorter->locals);
    free(sorter->bound);
    free(sorter->spill_folder);
    free(sorter);
}

static int no_memory(struct sta_error *err)
{
    return sta_fail(err, STA_ENOMEM, "memory ran out while rows were sorted");
}

static const uint64_t *record_at(const struct sta_sorter *sorter, const uint64_t *records, size_t number)
{
    return records + number * sorter->spec.words;
}

/* ---- a buffer that is full */

int sta_sorter_sort(const struct sta_sorter *sorter, uint64_t *records, uint64_t *scratch, size_t count,
                    bool into_scratch, struct sta_error *err)
{
    int rc = sta_budget_check(sorter->spec.budget, err);
    if (rc != 0)
        return rc;
    rc = sta_radix_sort(records, scratch, count, sorter->spec.words, into_scratch,
                        sorter->spec.budget->cancel);
    return sta_radix_failed(rc, "rows", count, err);
}

static int note_samples(const struct sta_sorter *sorter, struct sta_sorted_run *run, const uint64_t *records,
                        struct sta_error *err)
{
    run->sample_count = (run->count + STA_SORTER_STEP - 1) / STA_SORTER_STEP;
    run->samples = sta_account_alloc(sorter->spec.budget->account, run->sample_count, sorter->record,
                                     "samples of sorted rows", err);
    if (run->samples == NULL)
        return err->status;
    for (size_t i = 0; i < run->sample_count; i++)
        memcpy(run->samples + i * sorter->spec.words, record_at(sorter, records, i * STA_SORTER_STEP),
               sorter->record);
    return STA_OK;
}

static struct sta_sorted_run *add_run(struct sta_sorter_local *local)
{
    STA_GROW(local->runs, local->run_capacity, local->run_count + 1);
    struct sta_sorted_run *run = &local->runs[local->run_count++];
    *run = (struct sta_sorted_run){.count = local->count};
    return run;
}

static int write_run(const struct sta_sorter *sorter, struct sta_sorter_local *local, struct sta_error *err)
{
    int rc = local->spill == NULL ? sta_spill_create(sorter->spill_folder, &local->spill, err) : STA_OK;
    if (rc != 0)
        return rc;
    struct sta_sorted_run *run = add_run(local);
    run->spill = local->spill;
    run->offset = sta_spill_size(local->spill);
    rc = note_samples(sorter, run, local->scratch, err);
    return rc == 0 ? sta_spill_write(local->spill, local->scratch, local->count * sorter->record, err) : rc;
}

static int put_away(const struct sta_sorter *sorter, struct sta_sorter_local *local, struct sta_error *err)
{
    const size_t size = local->count * sorter->record;
    const bool spills = local->held + size > sorter->spec.memory / sorter->workers;
    uint64_t *records = spills ? local->scratch : sta_try_alloc(size);
    if (records == NULL)
        return no_memory(err);
    int rc = sta_sorter_sort(sorter, local->records, records, local->count, true, err);
    if (rc == 0 && spills) {
        rc = write_run(sorter, local, err);
    } else if (rc == 0) {
        struct sta_sorted_run *run = add_run(local);
        run->records = records;
        local->held += size;
        rc = note_samples(sorter, run, records, err);
    } else if (!spills) {
        sta_free(records);
    }
    local->count = 0;
    return rc;
}

/* ---- the first ones alone */

static void lower_bound(struct sta_sorter *sorter, const uint64_t *record)
{
    pthread_mutex_lock(&sorter->lock);
    if (sorter->bound == NULL || sta_record_compare(record, sorter->bound, sorter->spec.words) < 0) {
        if (sorter->bound == NULL)
            sorter->bound = sta_alloc(sorter->record);
        memcpy(sorter->bound, record, sorter->record);
    }
    pthread_mutex_unlock(&sorter->lock);
}

bool sta_sorter_bound(struct sta_sorter *sorter, uint64_t *record)
{
    if (!sorter->cuts)
        return false;
    pthread_mutex_lock(&sorter->lock);
    const bool any = sorter->bound != NULL;
    if (any)
        memcpy(record, sorter->bound, sorter->record);
    pthread_mutex_unlock(&sorter->lock);
    return any;
}

/* Only the first ones stay; from now on what comes behind them is not taken. */
static int cut(struct sta_sorter *sorter, struct sta_sorter_local *local, struct sta_error *err)
{
    int rc = sta_sorter_sort(sorter, local->records, local->scratch, local->count, true, err);
    if (rc != 0)
        return rc;
    uint64_t *sorted = local->scratch;
    local->scratch = local->records;
    local->records = sorted;
    local->count = STA_MIN(local->count, (size_t)sorter->spec.limit);
    local->bounded = local->count == sorter->spec.limit && local->count > 0;
    if (local->bounded)
        lower_bound(sorter, record_at(sorter, local->records, local->count - 1));
    return STA_OK;
}

/* ---- in */

static int make_place(struct sta_sorter *sorter, struct sta_sorter_local *local, struct sta_error *err)
{
    if (local->records != NULL)
        return sorter->cuts ? cut(sorter, local, err) : put_away(sorter, local, err);
    local->records = sta_try_alloc_array(sorter->capacity, sorter->record);
    local->scratch = sta_try_alloc_array(sorter->capacity, sorter->record);
    return local->records != NULL && local->scratch != NULL ? STA_OK : no_memory(err);
}

/* Adds those of some records that come before the last one that is wanted so far. */
static size_t add_before(const struct sta_sorter *sorter, struct sta_sorter_local *local,
                         const uint64_t *records, size_t count)
{
    const uint64_t *last = record_at(sorter, local->records, sorter->spec.limit - 1);
    size_t added = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = record_at(sorter, records, i);
        if (sta_record_compare(record, last, sorter->spec.words) < 0)
            memcpy(local->records + (local->count + added++) * sorter->spec.words, record, sorter->record);
    }
    return added;
}

int sta_sorter_consume(struct sta_sorter *sorter, unsigned worker, const uint64_t *records, size_t count,
                       struct sta_error *err)
{
    struct sta_sorter_local *local = &sorter->locals[worker];
    STA_ASSERT(worker < sorter->workers);
    for (size_t done = 0; done < count && sorter->spec.limit > 0;) {
        if (local->count == sorter->capacity || local->records == NULL) {
            int rc = make_place(sorter, local, err);
            if (rc != 0)
                return rc;
        }
        const size_t now = STA_MIN(count - done, sorter->capacity - local->count);
        const uint64_t *from = record_at(sorter, records, done);
        if (local->bounded) {
            local->count += add_before(sorter, local, from, now);
        } else {
            memcpy(local->records + local->count * sorter->spec.words, from, now * sorter->record);
            local->count += now;
        }
        done += now;
    }
    /* The sooner others know a bound, the less they read. */
    return sorter->cuts && !local->bounded && local->count >= sorter->spec.limit && local->count > 0
               ? cut(sorter, local, err)
               : STA_OK;
}

/* ---- the end */

static int put_away_rest(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct sta_sorter *sorter = context;
    struct sta_sorter_local *local = &sorter->locals[number];
    int rc = local->count > 0 ? put_away(sorter, local, err) : STA_OK;
    sta_free(local->records);
    sta_free(local->scratch);
    local->records = local->scratch = NULL;
    return rc;
}

int sta_sorter_finish(struct sta_sorter *sorter, struct sta_error *err)
{
    int rc = sta_tasks_run(sorter->spec.budget, sorter->workers, put_away_rest, sorter, err);
    size_t capacity = 0;
    for (unsigned w = 0; rc == 0 && w < sorter->workers; w++)
        for (size_t r = 0; r < sorter->locals[w].run_count; r++) {
            STA_GROW(sorter->runs, capacity, sorter->run_count + 1);
            sorter->runs[sorter->run_count++] = &sorter->locals[w].runs[r];
        }
    return rc == 0 ? sta_sorter_cut_ranges(sorter, err) : rc;
}

int sta_sorter_next(struct sta_sorter *sorter, size_t most, const uint64_t **records, size_t *count,
                    struct sta_error *err)
{
    *count = 0;
    while (*count == 0 && sorter->given < sorter->spec.limit) {
        if (sorter->at == sorter->ready) {
            if (sorter->next_range == sorter->range_count)
                break;
            int rc = sta_sorter_sort_ranges(sorter, err);
            if (rc != 0)
                return rc;
        }
        const struct sta_sorted_range *range = &sorter->ranges[sorter->at];
        *count = STA_MIN(STA_MIN(range->count - sorter->row, most), sorter->spec.limit - sorter->given);
        *records = record_at(sorter, range->records, sorter->row);
        sorter->given += *count;
        sorter->row += *count;
        if (sorter->row == range->count) {
            sorter->at++;
            sorter->row = 0;
        }
    }
    return STA_OK;
}

uint64_t sta_sorter_spilled(const struct sta_sorter *sorter)
{
    uint64_t bytes = 0;
    for (unsigned w = 0; w < sorter->workers; w++)
        if (sorter->locals[w].spill != NULL)
            bytes += sta_spill_size(sorter->locals[w].spill);
    return bytes;
}
