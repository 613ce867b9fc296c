/* What may be among the first rows; see top.h. */
#include "analyse/query/rows/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/plain_private.h"
#include "common/memory.h"

/* ---- row groups */

/* Puts the least value that the first key can have in a part into a record.  Return: false when nothing is
 * known of it. */
static bool put_least_key(const struct sta_plain *plain, size_t part, uint64_t *record)
{
    const struct sta_sort_key *key = &plain->layout.keys[0];
    const int column = sta_plain_key_column(plain, 0);
    double low, high;
    if (column < 0 || !sta_pipeline_range(plain->pipeline, part, (uint32_t)column, &low, &high))
        return false;
    const double first = key->descending ? high : low;
    if (low > high)
        sta_sort_layout_put(&plain->layout, 0, 0, false, record);
    else if (key->type == STA_TYPE_FLOAT)
        sta_sort_layout_put(&plain->layout, 0, sta_order_number(first), true, record);
    else if (key->type == STA_TYPE_INT && fabs(first) < 0x1p53)
        sta_sort_layout_put(&plain->layout, 0, (uint64_t)(int64_t)first, true, record);
    else
        return false;
    return true;
}

/* A record that no row of a part comes before: the least first key, of events at the earliest time. */
static void put_least(const struct sta_plain *plain, size_t number, uint64_t *record)
{
    const struct sta_pipeline *pipeline = plain->pipeline;
    if (!put_least_key(plain, number, record) || plain->stage->order_count > 1 || pipeline->events == NULL)
        return;
    sta_sort_layout_put(&plain->layout, 1 + STA_PLACE_TRACE, pipeline->parts[number].trace, true, record);
    if (!plain->without_at)
        sta_sort_layout_put(&plain->layout, 1 + STA_PLACE_AT,
                            (uint64_t)sta_pipeline_row_group(pipeline, number)->ts_min, true, record);
}

int sta_top_init(struct sta_top *top, const struct sta_plain *plain, struct sta_sorter *sorter,
                 const uint64_t *after, struct sta_error *err)
{
    const size_t count = plain->pipeline->part_count;
    const unsigned words = plain->layout.words;
    *top = (struct sta_top){.plain = plain, .sorter = sorter, .after = after};
    sta_sort_layout_init(&top->first, plain->layout.keys, 1);
    top->parts = sta_alloc_array(2 * count, (words + 1) * sizeof *top->parts);
    for (size_t i = 0; i < count; i++) {
        put_least(plain, i, top->parts + i * (words + 1));
        top->parts[i * (words + 1) + words] = i;
    }
    return sta_radix_failed(
        sta_radix_sort(top->parts, top->parts + count * (words + 1), count, words + 1, false, NULL),
        "row groups", count, err);
}

void sta_top_fini(struct sta_top *top)
{
    sta_sort_layout_fini(&top->first);
    free(top->parts);
    *top = (struct sta_top){0};
}

/* ---- rows */

struct sta_top_local {
    struct sta_sort_encoder *encoder; /* of the first key */
    uint64_t *bound;
    uint64_t *records; /* of first keys */
    struct sta_column_tests tests;
};

struct sta_top_local *sta_top_local_create(const struct sta_top *top)
{
    struct sta_top_local *local = sta_alloc(sizeof *local);
    local->encoder = sta_sort_encoder_create(&top->first);
    local->bound = sta_alloc_array(top->plain->layout.words, sizeof *local->bound);
    local->records = sta_alloc_array(STA_VECTOR_ROWS, top->first.words * sizeof *local->records);
    return local;
}

void sta_top_local_destroy(struct sta_top_local *local)
{
    if (local == NULL)
        return;
    sta_column_tests_fini(&local->tests);
    sta_sort_encoder_destroy(local->encoder);
    free(local->bound);
    free(local->records);
    free(local);
}

bool sta_top_part(const struct sta_top *top, struct sta_top_local *local, size_t number, size_t *part)
{
    const unsigned words = top->plain->layout.words;
    const uint64_t *least = top->parts + number * (words + 1);
    *part = least[words];
    return !sta_sorter_bound(top->sorter, local->bound) ||
           sta_record_compare(least, local->bound, words) <= 0;
}

/* The first key of a record as a number that a range can have.  Return: false when it is none. */
static bool first_number(const struct sta_top *top, const uint64_t *record, double *number)
{
    uint64_t value;
    const struct sta_sort_key *key = &top->plain->layout.keys[0];
    if (!sta_key_get(&top->plain->layout.parts[0].fields[0], record, &value))
        return false;
    *number = key->type == STA_TYPE_INT ? (double)(int64_t)value : sta_unorder_number(value);
    return (key->type == STA_TYPE_INT || key->type == STA_TYPE_FLOAT) && fabs(*number) < 0x1p53;
}

const struct sta_column_tests *sta_top_tests(const struct sta_top *top, struct sta_top_local *local,
                                             size_t part)
{
    const struct sta_plain *plain = top->plain;
    const int column = sta_plain_key_column(plain, 0);
    struct sta_value_range range = {.low = -INFINITY, .high = INFINITY};
    double last, first;
    if (column < 0 || !sta_sorter_bound(top->sorter, local->bound) || !first_number(top, local->bound, &last))
        return NULL;
    *(plain->layout.keys[0].descending ? &range.low : &range.high) = last;
    if (top->after != NULL && first_number(top, top->after, &first))
        *(plain->layout.keys[0].descending ? &range.high : &range.low) = first;
    sta_column_tests_fini(&local->tests);
    return sta_pipeline_tests(plain->pipeline, plain->pipeline->parts[part].trace, (uint32_t)column, &range,
                              &local->tests)
               ? &local->tests
               : NULL;
}

/* The first key of a record, as it is packed alone. */
static void first_key(const struct sta_top *top, const uint64_t *record, uint64_t *alone)
{
    uint64_t value;
    const struct sta_key_layout *part = &top->plain->layout.parts[0];
    const bool present = sta_key_get(&part->fields[0], record, &value);
    memset(alone, 0, top->first.words * sizeof *alone);
    sta_sort_layout_put(&top->first, 0, value, present, alone);
}

int sta_top_narrow(const struct sta_top *top, struct sta_top_local *local, struct sta_pipeline_state *state,
                   const struct sta_vector *key, uint32_t *kept, struct sta_error *err)
{
    const unsigned words = top->first.words;
    uint64_t least[2] = {0}, most[2] = {UINT64_MAX, UINT64_MAX};
    uint32_t count = 0;
    const bool bounded = sta_sorter_bound(top->sorter, local->bound);
    STA_ASSERT(words <= STA_COUNT_OF(most));
    if (!bounded && top->after == NULL)
        return STA_OK;
    if (bounded)
        first_key(top, local->bound, most);
    if (top->after != NULL)
        first_key(top, top->after, least);
    int rc = sta_sort_pack(local->encoder, key, state->selected, 0, state->count, local->records, words, err);
    for (uint32_t i = 0; rc == 0 && i < state->count; i++) {
        const uint64_t *record = local->records + (size_t)i * words;
        kept[count] = state->selected != NULL ? state->selected[i] : i;
        count += words == 1 ? record[0] >= least[0] && record[0] <= most[0]
                            : sta_record_compare(record, least, words) >= 0 &&
                                  sta_record_compare(record, most, words) <= 0;
    }
    if (rc == 0)
        sta_pipeline_state_keep(state, kept, count);
    return rc;
}
