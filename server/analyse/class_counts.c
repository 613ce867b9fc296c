/* Counts events by class, each worker for itself. */
#include "analyse/class_counts.h"

#include <stdlib.h>
#include <string.h>

struct sta_class_counter {
    uint64_t *events; /* by class */
    size_t capacity;
};

void sta_class_counts_init(struct sta_class_counts *counts, const struct sta_budget *budget)
{
    counts->workers = STA_MAX(budget->workers, 1u);
    counts->counters = sta_alloc_array(counts->workers, sizeof *counts->counters);
}

void sta_class_counts_fini(struct sta_class_counts *counts)
{
    for (unsigned worker = 0; worker < counts->workers; worker++)
        free(counts->counters[worker].events);
    free(counts->counters);
}

static void make_room(struct sta_class_counter *counter, uint32_t class)
{
    size_t before = counter->capacity;
    STA_GROW(counter->events, counter->capacity, (size_t) class + 1);
    memset(counter->events + before, 0, (counter->capacity - before) * sizeof *counter->events);
}

static int update(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_class_counter *counter = &((struct sta_class_counts *)self)->counters[worker];
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t class = rows->classes[sta_scan_row(rows, i)];
        if (class >= counter->capacity)
            make_room(counter, class);
        counter->events[class]++;
    }
    return STA_OK;
}

struct sta_accumulator sta_class_counts_accumulator(struct sta_class_counts *counts)
{
    return (struct sta_accumulator){.self = counts, .update = update};
}

uint64_t sta_class_counts_total(const struct sta_class_counts *counts, uint32_t class)
{
    uint64_t total = 0;
    for (unsigned worker = 0; worker < counts->workers; worker++)
        total += class < counts->counters[worker].capacity ? counts->counters[worker].events[class] : 0;
    return total;
}
