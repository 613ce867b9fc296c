/* Counts events by class: an aggregation whose one key is the class of the row. */
#include "analyse/layers/class_counts.h"

#include "analyse/operators/vectors.h"

#define ROWS_AT_ONCE 1024u

int sta_class_counts_init(struct sta_class_counts *counts, const struct sta_budget *budget,
                          struct sta_error *err)
{
    static const enum sta_type class = STA_TYPE_INT;
    static const struct sta_primitive events = {.aggregate = STA_AGGREGATE_ROWS};
    const struct sta_aggregation_spec spec = {
        .keys = &class, .key_count = 1, .primitives = &events, .primitive_count = 1};
    *counts = (struct sta_class_counts){.aggregation = NULL};
    return sta_aggregation_create(&spec, budget, NULL, &counts->aggregation, err);
}

void sta_class_counts_fini(struct sta_class_counts *counts)
{
    sta_aggregation_table_fini(&counts->table);
    sta_aggregation_destroy(counts->aggregation);
}

static int update(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_class_counts *counts = self;
    int64_t classes[ROWS_AT_ONCE];
    const struct sta_vector key = sta_vector_of_integers(classes);
    int rc = STA_OK;
    for (uint32_t first = 0; rc == 0 && first < rows->count; first += ROWS_AT_ONCE) {
        const struct sta_aggregation_input input = {.count = STA_MIN(rows->count - first, ROWS_AT_ONCE),
                                                    .keys = &key};
        for (uint32_t i = 0; i < input.count; i++)
            classes[i] = rows->classes[sta_scan_row(rows, first + i)];
        rc = sta_aggregation_consume(counts->aggregation, worker, &input, err);
    }
    return rc;
}

struct sta_accumulator sta_class_counts_accumulator(struct sta_class_counts *counts)
{
    return (struct sta_accumulator){.self = counts, .update = update};
}

int sta_class_counts_finish(struct sta_class_counts *counts, struct sta_error *err)
{
    return sta_aggregation_collect(counts->aggregation, &counts->table, err);
}

uint64_t sta_class_counts_total(const struct sta_class_counts *counts, uint32_t class)
{
    uint64_t low = 0, high = counts->table.rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (counts->table.keys[0].integers[middle] < class)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < counts->table.rows && counts->table.keys[0].integers[low] == class;
    return found ? (uint64_t)counts->table.values[0].integers[low] : 0;
}
