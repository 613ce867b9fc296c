/* Tallies of bins.
 *
 * DESIGN.  A bin that one worker measured whole goes straight to its rows, without a lock: no other worker
 * writes those.  The others are open: their parts are added up under the lock until their widths make the bin
 * whole.  Slices are measured roughly in order, so few bins are open at a time. */
#include "analyse/exact/tally.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "analyse/bounded_sum.h"
#include "common/memory.h"

/* A bin that is put together from parts. */
struct open_bin {
    struct open_bin *next;
    size_t bin;
    int64_t width;                      /* measured so far */
    struct sta_exact_measure *measures; /* by slot */
    uint8_t *present;                   /* by slot */
    size_t slot_capacity;
    uint32_t *slots;
    size_t slot_count, slots_capacity;
};

struct sta_tallies {
    struct sta_leaves *leaves;
    const struct sta_exact_bins *bins;
    struct sta_fields *places, *metrics; /* NULL: nothing can be settled yet */
    uv_mutex_t lock;                     /* over what follows */
    struct open_bin *open, *spare;
};

struct sta_tallies *sta_tallies_create(struct sta_leaves *leaves, const struct sta_exact_bins *bins)
{
    struct sta_tallies *tallies = sta_alloc(sizeof *tallies);
    tallies->leaves = leaves;
    tallies->bins = bins;
    STA_ASSERT(uv_mutex_init(&tallies->lock) == 0);
    return tallies;
}

static void destroy_bins(struct open_bin *list)
{
    while (list != NULL) {
        struct open_bin *next = list->next;
        free(list->measures);
        free(list->present);
        free(list->slots);
        free(list);
        list = next;
    }
}

void sta_tallies_destroy(struct sta_tallies *tallies)
{
    if (tallies == NULL)
        return;
    destroy_bins(tallies->open);
    destroy_bins(tallies->spare);
    uv_mutex_destroy(&tallies->lock);
    free(tallies);
}

void sta_tallies_set_fields(struct sta_tallies *tallies, struct sta_fields *places,
                            struct sta_fields *metrics)
{
    tallies->places = places;
    tallies->metrics = metrics;
}

/* ---- what a measure means */

static void add_to(int64_t *sum, int64_t value)
{
    *sum = sta_bounded_add(*sum, value);
}

static void settle_process(int64_t *const *values, size_t at, int64_t busy)
{
    int64_t known = values[STA_FIELD_PROCESSES][at]++;
    add_to(&values[STA_FIELD_PROCESS_SUM][at], busy);
    values[STA_FIELD_PROCESS_MAX][at] = STA_MAX(values[STA_FIELD_PROCESS_MAX][at], busy);
    if (known == 0 || busy < values[STA_FIELD_PROCESS_MIN][at])
        values[STA_FIELD_PROCESS_MIN][at] = busy;
}

static void settle_group(int64_t *const *values, size_t at, const struct sta_exact_measure *measure)
{
    int64_t exposed = measure->total - measure->covered;
    add_to(&values[STA_FIELD_GROUP_SUM][at], measure->total);
    add_to(&values[STA_FIELD_EXPOSED_SUM][at], exposed);
    values[STA_FIELD_EXPOSED_MAX][at] = STA_MAX(values[STA_FIELD_EXPOSED_MAX][at], exposed);
    add_to(&values[STA_FIELD_SELF_SUM][at], measure->total - measure->inner);
}

static void settle(struct sta_tallies *tallies, size_t bin, uint32_t number,
                   const struct sta_exact_measure *measure)
{
    const struct sta_exact_slot *slot = sta_leaves_slot(tallies->leaves, number);
    size_t at = (size_t)slot->place * tallies->bins->count + bin;
    int64_t *const *values = tallies->places->values;
    switch (slot->kind) {
    case STA_SLOT_ROW:
        if (values[STA_FIELD_BUSY] != NULL)
            values[STA_FIELD_BUSY][at] += measure->total;
        return;
    case STA_SLOT_METRIC:
        if (tallies->metrics->values[STA_FIELD_BUSY] != NULL)
            tallies->metrics->values[STA_FIELD_BUSY][at] += measure->total;
        return;
    case STA_SLOT_PROCESS:
        settle_process(values, at, measure->total);
        return;
    case STA_SLOT_GROUP:
        settle_group(values, at, measure);
        return;
    case STA_SLOT_THREAD:
        values[STA_FIELD_THREADS][at]++;
        return;
    case STA_SLOT_HOST:
        values[STA_FIELD_HOSTS][at]++;
        return;
    }
}

static void settle_open(struct sta_tallies *tallies, const struct open_bin *open)
{
    for (size_t i = 0; i < open->slot_count; i++)
        settle(tallies, open->bin, open->slots[i], &open->measures[open->slots[i]]);
}

/* ---- bins in parts; with the lock held */

static struct open_bin *find_open(struct sta_tallies *tallies, size_t bin)
{
    struct open_bin *open = tallies->open;
    while (open != NULL && open->bin != bin)
        open = open->next;
    if (open != NULL)
        return open;
    open = tallies->spare != NULL ? tallies->spare : sta_alloc(sizeof *open);
    if (tallies->spare != NULL)
        tallies->spare = open->next;
    open->bin = bin;
    open->width = 0;
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
    for (size_t i = 0; i < open->slot_count; i++) {
        open->present[open->slots[i]] = 0;
        open->measures[open->slots[i]] = (struct sta_exact_measure){0};
    }
    open->slot_count = 0;
    open->next = tallies->spare;
    tallies->spare = open;
}

static void make_room(struct open_bin *open, size_t slots)
{
    size_t before = open->slot_capacity;
    if (slots <= before)
        return;
    STA_GROW(open->measures, open->slot_capacity, slots);
    memset(open->measures + before, 0, (open->slot_capacity - before) * sizeof *open->measures);
    open->present = sta_realloc_array(open->present, open->slot_capacity, 1);
    memset(open->present + before, 0, open->slot_capacity - before);
}

static void add_part(struct sta_tallies *tallies, struct open_bin *open, const struct sta_tally *tally)
{
    make_room(open, sta_leaves_count(tallies->leaves).slots);
    STA_GROW(open->slots, open->slots_capacity, open->slot_count + tally->slot_count);
    for (size_t i = 0; i < tally->slot_count; i++) {
        uint32_t slot = tally->slots[i];
        const struct sta_exact_measure *part = &tally->measures[i];
        if (!open->present[slot]) {
            open->present[slot] = 1;
            open->slots[open->slot_count++] = slot;
        }
        open->measures[slot].total += part->total;
        open->measures[slot].covered += part->covered;
        open->measures[slot].inner += part->inner;
    }
    open->width += tally->width;
}

void sta_tallies_take(struct sta_tallies *tallies, const struct sta_tally *tally)
{
    int64_t width = sta_bin_to(tallies->bins, tally->bin) - sta_bin_from(tallies->bins, tally->bin);
    if (tally->width == width && tallies->places != NULL) {
        for (size_t i = 0; i < tally->slot_count; i++)
            settle(tallies, tally->bin, tally->slots[i], &tally->measures[i]);
        return;
    }
    uv_mutex_lock(&tallies->lock);
    struct open_bin *open = find_open(tallies, tally->bin);
    add_part(tallies, open, tally);
    if (open->width == width && tallies->places != NULL) {
        settle_open(tallies, open);
        put_away(tallies, open);
    }
    uv_mutex_unlock(&tallies->lock);
}

void sta_tallies_finish(struct sta_tallies *tallies)
{
    for (const struct open_bin *open = tallies->open; open != NULL; open = open->next)
        settle_open(tallies, open);
    destroy_bins(tallies->open);
    tallies->open = NULL;
}
