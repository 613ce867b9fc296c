/* Tallies of bins.
 *
 * DESIGN.  A bin that one worker measured whole goes straight to its rows, without a lock: no other worker
 * writes those.  The others are open: their parts are added up under the lock until their widths make the bin
 * whole.  Slices are measured roughly in order, so few bins are open at a time. */
#include "analyse/exact/tally.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "analyse/sources/shared.h"
#include "analyse/views/bounded_sum.h"
#include "common/memory.h"

/* A bin that is put together from parts. */
struct open_bin {
    struct open_bin *next;
    size_t bin;
    int64_t width; /* measured so far */
    struct {
        struct sta_exact_measure sum;
        bool met;
    } * accumulators; /* by number */
    size_t accumulator_capacity;
};

struct sta_tallies {
    struct sta_contributions *contributions;
    struct sta_account *account;
    const struct sta_exact_bins *bins;
    struct sta_fields *cells, *metrics; /* NULL: nothing can be settled yet */
    uv_mutex_t lock;                    /* over what follows */
    struct sta_buffer *state;           /* of another process; NULL: bins are settled here */
    struct open_bin *open;
};

struct sta_tallies *sta_tallies_create(struct sta_contributions *contributions,
                                       const struct sta_exact_bins *bins, struct sta_account *account)
{
    struct sta_tallies *tallies = sta_alloc(sizeof *tallies);
    tallies->contributions = contributions;
    tallies->bins = bins;
    tallies->account = account;
    STA_ASSERT(uv_mutex_init(&tallies->lock) == 0);
    return tallies;
}

static void destroy_bins(struct sta_account *account, struct open_bin *list)
{
    while (list != NULL) {
        struct open_bin *next = list->next;
        sta_account_free(account, list->accumulators);
        free(list);
        list = next;
    }
}

void sta_tallies_destroy(struct sta_tallies *tallies)
{
    if (tallies == NULL)
        return;
    destroy_bins(tallies->account, tallies->open);
    uv_mutex_destroy(&tallies->lock);
    free(tallies);
}

void sta_tallies_set_fields(struct sta_tallies *tallies, struct sta_fields *cells, struct sta_fields *metrics)
{
    tallies->cells = cells;
    tallies->metrics = metrics;
}

/* ---- what a measure means */

static void add_to(int64_t *sum, int64_t value)
{
    *sum = sta_bounded_add(*sum, value);
}

static void finish_process(int64_t *const *values, size_t at, int64_t busy)
{
    int64_t known = values[STA_FIELD_PROCESSES][at]++;
    add_to(&values[STA_FIELD_PROCESS_SUM][at], busy);
    values[STA_FIELD_PROCESS_MAX][at] = STA_MAX(values[STA_FIELD_PROCESS_MAX][at], busy);
    if (known == 0 || busy < values[STA_FIELD_PROCESS_MIN][at])
        values[STA_FIELD_PROCESS_MIN][at] = busy;
}

static void finish_group(int64_t *const *values, size_t at, const struct sta_exact_measure *measure)
{
    int64_t exposed = measure->total - measure->covered;
    add_to(&values[STA_FIELD_GROUP_SUM][at], measure->total);
    add_to(&values[STA_FIELD_EXPOSED_SUM][at], exposed);
    values[STA_FIELD_EXPOSED_MAX][at] = STA_MAX(values[STA_FIELD_EXPOSED_MAX][at], exposed);
    add_to(&values[STA_FIELD_SELF_SUM][at], measure->total - measure->inner);
}

static void finalize(struct sta_tallies *tallies, size_t bin, uint32_t number,
                     const struct sta_exact_measure *measure)
{
    const struct sta_exact_accumulator *accumulator =
        sta_contributions_accumulator(tallies->contributions, number);
    size_t at = (size_t)accumulator->cell * tallies->bins->count + bin;
    int64_t *const *values = tallies->cells->values;
    switch (accumulator->type) {
    case STA_ACCUMULATOR_ROW:
        if (values[STA_FIELD_BUSY] != NULL)
            values[STA_FIELD_BUSY][at] += measure->total;
        return;
    case STA_ACCUMULATOR_METRIC:
        if (tallies->metrics->values[STA_FIELD_BUSY] != NULL)
            tallies->metrics->values[STA_FIELD_BUSY][at] += measure->total;
        return;
    case STA_ACCUMULATOR_PROCESS:
        finish_process(values, at, measure->total);
        return;
    case STA_ACCUMULATOR_GROUP:
        finish_group(values, at, measure);
        return;
    case STA_ACCUMULATOR_ALONE:
        finish_process(values, at, measure->total);
        finish_group(values, at, measure);
        return;
    case STA_ACCUMULATOR_THREAD:
        values[STA_FIELD_THREADS][at]++;
        return;
    case STA_ACCUMULATOR_HOST:
        values[STA_FIELD_HOSTS][at]++;
        return;
    }
}

static void close_open(struct sta_tallies *tallies, const struct open_bin *open)
{
    for (size_t i = 0; i < open->accumulator_capacity; i++)
        if (open->accumulators[i].met)
            finalize(tallies, open->bin, (uint32_t)i, &open->accumulators[i].sum);
}

/* ---- bins in parts; with the lock held */

static struct open_bin *find_open(struct sta_tallies *tallies, size_t bin)
{
    struct open_bin *open = tallies->open;
    while (open != NULL && open->bin != bin)
        open = open->next;
    if (open != NULL)
        return open;
    open = sta_alloc(sizeof *open);
    open->bin = bin;
    open->next = tallies->open;
    tallies->open = open;
    return open;
}

static void put_away(struct sta_tallies *tallies, struct open_bin *open)
{
    struct open_bin **link = &tallies->open;
    while (*link != open)
        link = &(*link)->next;
    *link = open->next;
    open->next = NULL;
    destroy_bins(tallies->account, open);
}

static int add_part(struct sta_tallies *tallies, struct open_bin *open, const struct sta_tally *tally,
                    struct sta_error *err)
{
    const struct sta_contribution_counts counts = sta_contributions_count(tallies->contributions);
    int rc = STA_GROW_ZEROED(tallies->account, open->accumulators, open->accumulator_capacity,
                             counts.accumulators, err);
    for (size_t i = 0; rc == 0 && i < tally->item_count; i++) {
        const struct sta_exact_measure *part = &tally->items[i].measure;
        struct sta_exact_measure *sum = &open->accumulators[tally->items[i].accumulator].sum;
        open->accumulators[tally->items[i].accumulator].met = true;
        sum->total += part->total;
        sum->covered += part->covered;
        sum->inner += part->inner;
    }
    open->width += tally->width;
    return rc;
}

/* ---- of and for other processes */

void sta_tallies_put_into(struct sta_tallies *tallies, struct sta_buffer *state)
{
    tallies->state = state;
}

static int put_tally(struct sta_tallies *tallies, const struct sta_tally *tally, struct sta_error *err)
{
    uv_mutex_lock(&tallies->lock);
    sta_put_varint(tallies->state, tally->bin);
    sta_put_varint(tallies->state, (uint64_t)tally->width);
    sta_put_varint(tallies->state, tally->item_count);
    for (size_t i = 0; i < tally->item_count; i++) {
        const struct sta_exact_measure *measure = &tally->items[i].measure;
        sta_put_varint(tallies->state, tally->items[i].accumulator);
        sta_put_varint(tallies->state, (uint64_t)measure->total);
        sta_put_varint(tallies->state, (uint64_t)measure->covered);
        sta_put_varint(tallies->state, (uint64_t)measure->inner);
    }
    const bool failed = tallies->state->failed;
    uv_mutex_unlock(&tallies->lock);
    return failed ? sta_fail(err, STA_ELIMIT, "what a share of this query measured does not fit the memory")
                  : STA_OK;
}

static int64_t get_ticks(struct sta_cursor *in)
{
    return (int64_t)sta_shared_get_index(in, (uint64_t)INT64_MAX + 1);
}

static uint32_t get_name(struct sta_cursor *in, const uint32_t *names, uint32_t count)
{
    const uint32_t theirs = (uint32_t)sta_shared_get_index(in, count);
    const uint32_t name = in->failed ? STA_NO_CODE : names[theirs];
    in->failed |= name == STA_NO_CODE;
    return name;
}

int sta_tally_get(struct sta_cursor *in, const struct sta_tally_names *names,
                  const struct sta_exact_bins *bins, struct sta_tally *tally, struct sta_error *err)
{
    struct sta_tally_item *items = (struct sta_tally_item *)tally->items;
    tally->bin = sta_shared_get_index(in, bins->count);
    tally->width = get_ticks(in);
    tally->item_count = sta_shared_get_index(in, (uint64_t)names->accumulator_count + 1);
    for (size_t i = 0; i < tally->item_count && !in->failed; i++) {
        items[i].accumulator = get_name(in, names->accumulators, names->accumulator_count);
        items[i].measure.total = get_ticks(in);
        items[i].measure.covered = get_ticks(in);
        items[i].measure.inner = get_ticks(in);
    }
    return in->failed ? sta_shared_fail(err) : STA_OK;
}

/* ---- what workers bring */

int sta_tallies_take(struct sta_tallies *tallies, const struct sta_tally *tally, struct sta_error *err)
{
    if (tallies->state != NULL)
        return put_tally(tallies, tally, err);
    int64_t width = sta_bin_to(tallies->bins, tally->bin) - sta_bin_from(tallies->bins, tally->bin);
    if (tally->width == width && tallies->cells != NULL) {
        for (size_t i = 0; i < tally->item_count; i++)
            finalize(tallies, tally->bin, tally->items[i].accumulator, &tally->items[i].measure);
        return STA_OK;
    }
    uv_mutex_lock(&tallies->lock);
    struct open_bin *open = find_open(tallies, tally->bin);
    int rc = add_part(tallies, open, tally, err);
    if (rc == 0 && open->width == width && tallies->cells != NULL) {
        close_open(tallies, open);
        put_away(tallies, open);
    }
    uv_mutex_unlock(&tallies->lock);
    return rc;
}

void sta_tallies_finish(struct sta_tallies *tallies)
{
    for (const struct open_bin *open = tallies->open; open != NULL; open = open->next)
        close_open(tallies, open);
    destroy_bins(tallies->account, tallies->open);
    tallies->open = NULL;
}
