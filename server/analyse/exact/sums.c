/* Sums by bucket and bin. */
#include "analyse/exact/sums.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/bounded_sum.h"
#include "analyse/budget.h"
#include "common/memory.h"

void sta_sums_init(struct sta_sums *sums, const struct sta_exact_bins *bins, unsigned wants,
                   const struct sta_budget *budget)
{
    *sums = (struct sta_sums){.bins = bins, .wants = wants, .budget = budget};
}

void sta_sums_fini(struct sta_sums *sums)
{
    free(sums->events);
    free(sums->count);
    free(sums->time);
    free(sums->whole);
    free(sums->sized);
    free(sums->sizes);
    free(sums->size_bins);
    *sums = (struct sta_sums){0};
}

/* Bytes of so many buckets, and of so many of them with bytes. */
static double bytes_of(const struct sta_sums *sums, size_t buckets, size_t sized)
{
    double arrays = sums->bins->count > 1 ? 4 : 3;
    double of_sized =
        (sums->wants & STA_WANT_SIZES ? 1 : 0) + (sums->wants & STA_WANT_SIZE_BINS ? STA_SIZE_BINS : 0);
    return (double)sums->bins->count * sizeof(int64_t) *
           (arrays * (double)buckets + of_sized * (double)sized);
}

double sta_sums_bytes(const struct sta_sums *sums)
{
    return bytes_of(sums, sums->buckets, sums->sized_capacity);
}

/* ---- room */

static void widen(int64_t **array, size_t from, size_t to)
{
    *array = sta_realloc_array(*array, to, sizeof **array);
    memset(*array + from, 0, (to - from) * sizeof **array);
}

static size_t doubled(size_t now, size_t need)
{
    size_t room = now > 0 ? now * 2 : 4;
    while (room < need)
        room *= 2;
    return room;
}

/* Every worker may come to need as much. */
static int check_room(const struct sta_sums *sums, size_t buckets, size_t sized, struct sta_error *err)
{
    if (sums->budget == NULL)
        return 0;
    return sta_budget_memory(sums->budget, bytes_of(sums, buckets, sized) * sta_budget_workers(sums->budget),
                             "the sums of this view's rows", err);
}

static int make_room(struct sta_sums *sums, uint32_t bucket, struct sta_error *err)
{
    size_t room = doubled(sums->buckets, (size_t)bucket + 1);
    int rc = check_room(sums, room, sums->sized_capacity, err);
    if (rc != 0)
        return rc;
    size_t from = sums->buckets * sums->bins->count;
    size_t to = room * sums->bins->count;
    widen(&sums->events, from, to);
    widen(&sums->count, from, to);
    widen(&sums->time, from, to);
    if (sums->bins->count > 1)
        widen(&sums->whole, from, to);
    sums->sized = sta_realloc_array(sums->sized, room, sizeof *sums->sized);
    memset(sums->sized + sums->buckets, 0xff, (room - sums->buckets) * sizeof *sums->sized);
    sums->buckets = room;
    return 0;
}

static int make_sized(struct sta_sums *sums, uint32_t bucket, struct sta_error *err)
{
    sums->sized[bucket] = sums->sized_count++;
    if (sums->sized_count <= sums->sized_capacity)
        return 0;
    size_t room = doubled(sums->sized_capacity, sums->sized_count);
    int rc = check_room(sums, sums->buckets, room, err);
    if (rc != 0)
        return rc;
    size_t from = sums->sized_capacity * sums->bins->count;
    size_t to = room * sums->bins->count;
    if (sums->wants & STA_WANT_SIZES)
        widen(&sums->sizes, from, to);
    if (sums->wants & STA_WANT_SIZE_BINS) {
        sums->size_bins = sta_realloc_array(sums->size_bins, to, sizeof *sums->size_bins);
        memset(sums->size_bins + from, 0, (to - from) * sizeof *sums->size_bins);
    }
    sums->sized_capacity = room;
    return 0;
}

/* ---- adding */

/* A run of bins as changes: the one after the last bin of a bucket has no place, and needs none. */
static void add_run(int64_t *changes, size_t bin_count, size_t low, size_t high)
{
    changes[low]++;
    if (high + 1 < bin_count)
        changes[high + 1]--;
}

static void add_to(int64_t *sum, int64_t value)
{
    *sum = sta_bounded_add(*sum, value);
}

static void add_time(struct sta_sums *sums, size_t base, const struct sta_sums_event *event,
                     const struct sta_exact_part *part)
{
    const struct sta_exact_bins *bins = sums->bins;
    int64_t *time = sums->time + base;
    if (part->low == part->high) {
        add_to(&time[part->low], part->to - part->from);
    } else {
        add_to(&time[part->low], sta_bin_to(bins, part->low) - part->from);
        add_to(&time[part->high], part->to - sta_bin_from(bins, part->high));
        if (part->low + 1 < part->high)
            add_run(sums->whole + base, bins->count, part->low + 1, part->high - 1);
    }
}

static void add_size(struct sta_sums *sums, uint32_t bucket, const struct sta_sums_event *event,
                     const struct sta_exact_part *part)
{
    size_t base = (size_t)sums->sized[bucket] * sums->bins->count;
    if (sums->sizes != NULL) {
        int64_t te = event->ts + event->dur;
        if (part->low == part->high && part->to - part->from == te - event->ts)
            add_to(&sums->sizes[base + part->low], event->size);
        else
            sta_spread_size(sums->sizes + base, sums->bins, part, event->ts, te, event->size);
    }
    if (sums->size_bins != NULL && part->starts)
        sums->size_bins[base + part->low][sta_size_bin(event->size)]++;
}

int sta_sums_add(struct sta_sums *sums, uint32_t bucket, const struct sta_sums_event *event,
                 const struct sta_exact_part *part, struct sta_error *err)
{
    bool sized = event->size > 0 && sums->wants & (STA_WANT_SIZES | STA_WANT_SIZE_BINS);
    int rc = bucket >= sums->buckets ? make_room(sums, bucket, err) : 0;
    if (rc == 0 && sized && sums->sized[bucket] == STA_NO_SIZES)
        rc = make_sized(sums, bucket, err);
    if (rc != 0)
        return rc;
    size_t base = (size_t)bucket * sums->bins->count;
    sums->count[base + part->low] += part->starts;
    if (sums->bins->count > 1)
        add_run(sums->events + base, sums->bins->count, part->low, part->high);
    else
        sums->events[base]++;
    add_time(sums, base, event, part);
    if (sized)
        add_size(sums, bucket, event, part);
    return 0;
}

/* ---- after the pass */

static void add_array(int64_t *to, const int64_t *from, size_t count)
{
    for (size_t i = 0; to != NULL && i < count; i++)
        add_to(&to[i], from[i]);
}

/* Adds what changes from bin to bin amount to; @worth of one in each bin: 1, or the bin's width when NULL. */
static void add_changes(int64_t *to, const int64_t *changes, const struct sta_exact_bins *bins, bool widths)
{
    int64_t now = 0;
    for (size_t b = 0; b < bins->count; b++) {
        now += changes[b];
        add_to(&to[b], widths ? sta_bounded_multiply(now, sta_bin_to(bins, b) - sta_bin_from(bins, b)) : now);
    }
}

static void fold_sizes(const struct sta_sums *sums, uint32_t bucket, struct sta_fields *fields, size_t at)
{
    size_t base = (size_t)sums->sized[bucket] * sums->bins->count;
    if (sums->sizes != NULL && fields->values[STA_FIELD_SIZE] != NULL)
        add_array(fields->values[STA_FIELD_SIZE] + at, sums->sizes + base, sums->bins->count);
    if (sums->size_bins == NULL || fields->values[STA_FIELD_BIN] == NULL)
        return;
    for (size_t b = 0; b < sums->bins->count; b++)
        for (unsigned i = 0; i < STA_SIZE_BINS; i++)
            fields->values[STA_FIELD_BIN + i][at + b] += sums->size_bins[base + b][i];
}

void sta_sums_fold(const struct sta_sums *sums, uint32_t bucket, struct sta_fields *fields, uint32_t place)
{
    if (bucket >= sums->buckets)
        return;
    const struct sta_exact_bins *bins = sums->bins;
    size_t base = (size_t)bucket * bins->count;
    size_t at = (size_t)place * bins->count;
    add_array(fields->values[STA_FIELD_COUNT] + at, sums->count + base, bins->count);
    add_array(fields->values[STA_FIELD_TIME] + at, sums->time + base, bins->count);
    if (bins->count > 1) {
        add_changes(fields->values[STA_FIELD_TIME] + at, sums->whole + base, bins, true);
        add_changes(fields->values[STA_FIELD_EVENTS] + at, sums->events + base, bins, false);
    } else {
        add_array(fields->values[STA_FIELD_EVENTS] + at, sums->events + base, 1);
    }
    if (sums->sized[bucket] != STA_NO_SIZES)
        fold_sizes(sums, bucket, fields, at);
}
