/* Sums by bucket and bin. */
#include "analyse/exact/sums.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

void sta_sums_init(struct sta_sums *sums, const struct sta_exact_bins *bins, unsigned wants)
{
    *sums = (struct sta_sums){.bins = bins, .wants = wants};
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

double sta_sums_bytes(const struct sta_sums *sums)
{
    double arrays = sums->bins->count > 1 ? 4 : 3;
    double sized =
        (sums->wants & STA_WANT_SIZES ? 1 : 0) + (sums->wants & STA_WANT_SIZE_BINS ? STA_SIZE_BINS : 0);
    return (double)sums->bins->count * sizeof(int64_t) *
           (arrays * (double)sums->buckets + sized * (double)sums->sized_capacity);
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

static void make_room(struct sta_sums *sums, uint32_t bucket)
{
    size_t room = doubled(sums->buckets, (size_t)bucket + 1);
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
}

static void make_sized(struct sta_sums *sums, uint32_t bucket)
{
    sums->sized[bucket] = sums->sized_count++;
    if (sums->sized_count <= sums->sized_capacity)
        return;
    size_t room = doubled(sums->sized_capacity, sums->sized_count);
    size_t from = sums->sized_capacity * sums->bins->count;
    size_t to = room * sums->bins->count;
    if (sums->wants & STA_WANT_SIZES)
        widen(&sums->sizes, from, to);
    if (sums->wants & STA_WANT_SIZE_BINS) {
        sums->size_bins = sta_realloc_array(sums->size_bins, to, sizeof *sums->size_bins);
        memset(sums->size_bins + from, 0, (to - from) * sizeof *sums->size_bins);
    }
    sums->sized_capacity = room;
}

/* ---- adding */

/* A run of bins as changes: the one after the last bin of a bucket has no place, and needs none. */
static void add_run(int64_t *changes, size_t bin_count, size_t low, size_t high)
{
    changes[low]++;
    if (high + 1 < bin_count)
        changes[high + 1]--;
}

static void add_time(struct sta_sums *sums, size_t base, const struct sta_sums_event *event,
                     const struct sta_exact_part *part)
{
    const struct sta_exact_bins *bins = sums->bins;
    int64_t *time = sums->time + base;
    if (event->dur < 0) /* covers nothing, but adds up as it was traced */
        time[part->low] += event->dur;
    else if (part->low == part->high)
        time[part->low] += part->to - part->from;
    else {
        time[part->low] += sta_bin_to(bins, part->low) - part->from;
        time[part->high] += part->to - sta_bin_from(bins, part->high);
        if (part->low + 1 < part->high)
            add_run(sums->whole + base, bins->count, part->low + 1, part->high - 1);
    }
}

static void add_size(struct sta_sums *sums, uint32_t bucket, const struct sta_sums_event *event,
                     const struct sta_exact_part *part)
{
    if (sums->sized[bucket] == STA_NO_SIZES)
        make_sized(sums, bucket);
    size_t base = (size_t)sums->sized[bucket] * sums->bins->count;
    if (sums->sizes != NULL) {
        int64_t te = event->ts + STA_MAX(event->dur, 0);
        if (part->low == part->high && part->to - part->from == te - event->ts)
            sums->sizes[base + part->low] += event->size;
        else
            sta_spread_size(sums->sizes + base, sums->bins, part, event->ts, te, event->size);
    }
    if (sums->size_bins != NULL && part->starts)
        sums->size_bins[base + part->low][sta_size_bin(event->size)]++;
}

void sta_sums_add(struct sta_sums *sums, uint32_t bucket, const struct sta_sums_event *event,
                  const struct sta_exact_part *part)
{
    if (bucket >= sums->buckets)
        make_room(sums, bucket);
    size_t base = (size_t)bucket * sums->bins->count;
    sums->count[base + part->low] += part->starts;
    if (sums->bins->count > 1)
        add_run(sums->events + base, sums->bins->count, part->low, part->high);
    else
        sums->events[base]++;
    add_time(sums, base, event, part);
    if (event->size > 0 && sums->wants & (STA_WANT_SIZES | STA_WANT_SIZE_BINS))
        add_size(sums, bucket, event, part);
}

/* ---- after the pass */

static void add_array(int64_t *to, const int64_t *from, size_t count)
{
    for (size_t i = 0; to != NULL && i < count; i++)
        to[i] += from[i];
}

/* Adds what changes from bin to bin amount to; @worth of one in each bin: 1, or the bin's width when NULL. */
static void add_changes(int64_t *to, const int64_t *changes, const struct sta_exact_bins *bins, bool widths)
{
    int64_t now = 0;
    for (size_t b = 0; b < bins->count; b++) {
        now += changes[b];
        to[b] += widths ? now * (sta_bin_to(bins, b) - sta_bin_from(bins, b)) : now;
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
