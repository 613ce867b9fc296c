/* Sorting records: what workers collect, and what is given out.
 *
 * DESIGN.  Each worker fills a buffer that lies in its cache.  A full buffer is sorted and cut, when only the
 * first records are wanted, or put away as a run: in memory as long as there is some, then on disk.  In the
 * end samples of all runs cut the keys into ranges of about as many records, and each range is gathered from
 * all runs and sorted once more: ranges do not depend on each other, so all workers have some, and a range of
 * many runs takes no more memory than one of a few. */
#include "analyse/operators/sorter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "analyse/operators/spill.h"
#include "common/memory.h"

#define BUFFER_BYTES STA_HUGE_PAGE
#define LEAST_RECORDS 1024u           /* of a buffer */
#define RANGE_RECORDS ((size_t)16384) /* that a range has at least, about */
#define RANGES_AHEAD 8u               /* per worker, of runs in memory; of runs on disk one */
#define SAMPLE_STEP 256u              /* records of a run from sample to sample */

/* Records in order. */
struct run {
    uint64_t *records; /* NULL: on disk */
    const struct sta_spill *spill;
    uint64_t offset, count;
    uint64_t *samples; /* records 0, STEP, 2 STEP .. */
    size_t sample_count;
};

/* What one worker has collected. */
struct local {
    uint64_t *records, *scratch; /* of sorter->capacity */
    size_t count;
    bool bounded; /* the first spec.limit records are sorted: what comes behind them is not wanted */
    struct sta_spill *spill;
    uint64_t held; /* bytes of runs in memory */
    struct run *runs;
    size_t run_count, run_capacity;
};

/* Records between two bounds, of all runs, in order. */
struct range {
    uint64_t *records, *scratch; /* of capacity; kept for the next range */
    size_t count, capacity;
};

struct sta_sorter {
    struct sta_sorter_spec spec;
    unsigned workers;
    char *spill_folder;
    size_t record;   /* bytes of one */
    bool cuts;       /* full buffers are cut to the records that are wanted */
    size_t capacity; /* records of a buffer */
    struct local *locals;
    pthread_mutex_t lock; /* over bound */
    uint64_t *bound;      /* a record; NULL: none yet */

    /* once finished */
    struct run **runs;
    size_t run_count;
    uint64_t *splitters; /* records between ranges */
    size_t range_count, next_range;
    struct range *ranges;    /* those that are sorted ahead */
    size_t ahead, ready, at; /* how many are at most, are, and the one that is given out */
    size_t row;              /* the next one in it */
    uint64_t given;
};

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

static void local_fini(const struct sta_sorter *sorter, struct local *local)
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

static void range_fini(struct range *range)
{
    sta_free(range->records);
    sta_free(range->scratch);
    *range = (struct range){0};
}

void sta_sorter_destroy(struct sta_sorter *sorter)
{
    if (sorter == NULL)
        return;
    for (unsigned w = 0; w < sorter->workers; w++)
        local_fini(sorter, &sorter->locals[w]);
    for (size_t i = 0; i < sorter->ahead; i++)
        range_fini(&sorter->ranges[i]);
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

static int sort_records(const struct sta_sorter *sorter, uint64_t *records, uint64_t *scratch, size_t count,
                        bool into_scratch, struct sta_error *err)
{
    int rc = sta_budget_check(sorter->spec.budget, err);
    if (rc != 0)
        return rc;
    rc = sta_radix_sort(records, scratch, count, sorter->spec.words, into_scratch,
                        sorter->spec.budget->cancel);
    return sta_radix_failed(rc, "rows", count, err);
}

static int note_samples(const struct sta_sorter *sorter, struct run *run, const uint64_t *records,
                        struct sta_error *err)
{
    run->sample_count = (run->count + SAMPLE_STEP - 1) / SAMPLE_STEP;
    run->samples = sta_account_alloc(sorter->spec.budget->account, run->sample_count, sorter->record,
                                     "samples of sorted rows", err);
    if (run->samples == NULL)
        return err->status;
    for (size_t i = 0; i < run->sample_count; i++)
        memcpy(run->samples + i * sorter->spec.words, record_at(sorter, records, i * SAMPLE_STEP),
               sorter->record);
    return STA_OK;
}

static struct run *add_run(struct local *local)
{
    STA_GROW(local->runs, local->run_capacity, local->run_count + 1);
    struct run *run = &local->runs[local->run_count++];
    *run = (struct run){.count = local->count};
    return run;
}

static int write_run(const struct sta_sorter *sorter, struct local *local, struct sta_error *err)
{
    int rc = local->spill == NULL ? sta_spill_create(sorter->spill_folder, &local->spill, err) : STA_OK;
    if (rc != 0)
        return rc;
    struct run *run = add_run(local);
    run->spill = local->spill;
    run->offset = sta_spill_size(local->spill);
    rc = note_samples(sorter, run, local->scratch, err);
    return rc == 0 ? sta_spill_write(local->spill, local->scratch, local->count * sorter->record, err) : rc;
}

static int put_away(const struct sta_sorter *sorter, struct local *local, struct sta_error *err)
{
    const size_t size = local->count * sorter->record;
    const bool spills = local->held + size > sorter->spec.memory / sorter->workers;
    uint64_t *records = spills ? local->scratch : sta_try_alloc(size);
    if (records == NULL)
        return no_memory(err);
    int rc = sort_records(sorter, local->records, records, local->count, true, err);
    if (rc == 0 && spills) {
        rc = write_run(sorter, local, err);
    } else if (rc == 0) {
        struct run *run = add_run(local);
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
static int cut(struct sta_sorter *sorter, struct local *local, struct sta_error *err)
{
    int rc = sort_records(sorter, local->records, local->scratch, local->count, true, err);
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

static int make_place(struct sta_sorter *sorter, struct local *local, struct sta_error *err)
{
    if (local->records != NULL)
        return sorter->cuts ? cut(sorter, local, err) : put_away(sorter, local, err);
    local->records = sta_try_alloc_array(sorter->capacity, sorter->record);
    local->scratch = sta_try_alloc_array(sorter->capacity, sorter->record);
    return local->records != NULL && local->scratch != NULL ? STA_OK : no_memory(err);
}

/* Adds those of some records that come before the last one that is wanted so far. */
static size_t add_before(const struct sta_sorter *sorter, struct local *local, const uint64_t *records,
                         size_t count)
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
    struct local *local = &sorter->locals[worker];
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

/* ---- ranges of keys */

static int cut_ranges(struct sta_sorter *sorter, struct sta_error *err)
{
    const unsigned words = sorter->spec.words;
    /* A piece of a run is at least about a step long, so that many runs make ranges larger, not pieces
     * smaller. */
    const size_t step = STA_MAX(RANGE_RECORDS / SAMPLE_STEP, sorter->run_count);
    size_t count = 0;
    for (size_t r = 0; r < sorter->run_count; r++)
        count += sorter->runs[r]->sample_count;
    uint64_t *samples = sta_account_alloc(sorter->spec.budget->account, 2 * count + 1, sorter->record,
                                          "samples of sorted rows", err);
    uint64_t *at = sorter->splitters = samples;
    if (samples == NULL)
        return err->status;
    for (size_t r = 0; r < sorter->run_count; r++) {
        const struct run *run = sorter->runs[r];
        memcpy(at, run->samples, run->sample_count * sorter->record);
        at += run->sample_count * words;
    }
    int rc = sort_records(sorter, samples, at, count, false, err);
    if (rc != 0)
        return rc;
    sorter->range_count = count > 0 ? (count - 1) / step + 1 : 0;
    for (size_t i = 1; i < sorter->range_count; i++) /* splitter i - 1 is where range i begins */
        memmove(samples + (i - 1) * words, samples + i * step * words, sorter->record);
    sorter->ahead = sorter->workers * (sta_sorter_spilled(sorter) > 0 ? 1 : RANGES_AHEAD);
    sorter->ranges = sta_alloc_array(sorter->ahead, sizeof *sorter->ranges);
    return STA_OK;
}

/* ---- gathering */

/* The records of a run that reach over a range, as samples say: too many by less than a step at either end.
 */
struct piece {
    uint64_t first, count;
};

static struct piece find_piece(const struct run *run, const uint64_t *low, const uint64_t *high,
                               unsigned words)
{
    const size_t before =
        low != NULL ? sta_records_before(run->samples, run->sample_count, words, low, words) : 0;
    const size_t end = high != NULL ? sta_records_before(run->samples, run->sample_count, words, high, words)
                                    : run->sample_count;
    struct piece piece = {.first = before > 0 ? (before - 1) * (uint64_t)SAMPLE_STEP : 0};
    const uint64_t last = STA_MIN(end * (uint64_t)SAMPLE_STEP, run->count);
    piece.count = last - STA_MIN(piece.first, last);
    return piece;
}

/* Puts the records of a run that lie in the range to @to.  Return: 0 or why the disk failed. */
static int take_piece(const struct sta_sorter *sorter, const struct run *run, const struct piece *piece,
                      const uint64_t *low, const uint64_t *high, uint64_t *to, size_t *taken,
                      struct sta_error *err)
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

static int reserve(const struct sta_sorter *sorter, struct range *range, size_t count, struct sta_error *err)
{
    if (count <= range->capacity)
        return STA_OK;
    range_fini(range);
    range->records = sta_try_alloc_array(count, sorter->record);
    range->scratch = sta_try_alloc_array(count, sorter->record);
    range->capacity = count;
    return range->records != NULL && range->scratch != NULL ? STA_OK : no_memory(err);
}

static int gather(const struct sta_sorter *sorter, size_t number, struct range *range, struct sta_error *err)
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

static int sort_range(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct sta_sorter *sorter = context;
    struct range *range = &sorter->ranges[number];
    int rc = gather(sorter, sorter->next_range + number, range, err);
    if (rc == 0 && sorter->run_count > 1)
        rc = sort_records(sorter, range->records, range->scratch, range->count, false, err);
    return rc;
}

static int sort_ranges(struct sta_sorter *sorter, struct sta_error *err)
{
    sorter->ready = STA_MIN(sorter->ahead, sorter->range_count - sorter->next_range);
    int rc = sta_tasks_run(sorter->spec.budget, sorter->ready, sort_range, sorter, err);
    sorter->next_range += sorter->ready;
    sorter->at = sorter->row = 0;
    return rc;
}

/* ---- the end */

static int put_away_rest(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct sta_sorter *sorter = context;
    struct local *local = &sorter->locals[number];
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
    return rc == 0 ? cut_ranges(sorter, err) : rc;
}

int sta_sorter_next(struct sta_sorter *sorter, size_t most, const uint64_t **records, size_t *count,
                    struct sta_error *err)
{
    *count = 0;
    while (*count == 0 && sorter->given < sorter->spec.limit) {
        if (sorter->at == sorter->ready) {
            if (sorter->next_range == sorter->range_count)
                break;
            int rc = sort_ranges(sorter, err);
            if (rc != 0)
                return rc;
        }
        const struct range *range = &sorter->ranges[sorter->at];
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
