/* What one column holds. */
#include "analyse/query/schema/tally.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/memory.h"

#define FIRST_CAPACITY 64

void sta_tally_init(struct sta_tally *tally, enum sta_type type, size_t most)
{
    *tally = (struct sta_tally){.type = type, .most = most};
}

void sta_tally_fini(struct sta_tally *tally)
{
    free(tally->counts);
    free(tally->integers.values);
    free(tally->integers.counts);
}

/* ---- integers */

static size_t place_of(const struct sta_integer_counts *integers, int64_t value)
{
    size_t mask = integers->capacity - 1, at = XXH3_64bits(&value, sizeof value) & mask;
    while (integers->counts[at] != 0 && integers->values[at] != value)
        at = (at + 1) & mask;
    return at;
}

static void grow_integers(struct sta_integer_counts *integers)
{
    struct sta_integer_counts old = *integers;
    integers->capacity = old.capacity ? old.capacity * 2 : FIRST_CAPACITY;
    integers->values = sta_alloc_array(integers->capacity, sizeof *integers->values);
    integers->counts = sta_alloc_array(integers->capacity, sizeof *integers->counts);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.counts[i] != 0) {
            size_t at = place_of(integers, old.values[i]);
            integers->values[at] = old.values[i];
            integers->counts[at] = old.counts[i];
        }
    free(old.values);
    free(old.counts);
}

static void give_up(struct sta_tally *tally)
{
    tally->overflowed = true;
    free(tally->integers.values);
    free(tally->integers.counts);
    tally->integers = (struct sta_integer_counts){0};
}

static void count_integer(struct sta_tally *tally, int64_t value, uint64_t times)
{
    struct sta_integer_counts *integers = &tally->integers;
    tally->least = tally->any ? STA_MIN(tally->least, value) : value;
    tally->largest = tally->any ? STA_MAX(tally->largest, value) : value;
    tally->any = true;
    if (tally->overflowed)
        return;
    if (integers->used * 2 >= integers->capacity)
        grow_integers(integers);
    size_t at = place_of(integers, value);
    if (integers->counts[at] == 0) {
        integers->values[at] = value;
        integers->used++;
    }
    integers->counts[at] += times;
    if (integers->used > tally->most)
        give_up(tally);
}

/* Runs of equal values are counted at once. */
static void add_integers(struct sta_tally *tally, const struct sta_vector *vector, uint32_t rows)
{
    for (uint32_t row = 0, run; row < rows; row += run) {
        bool missing = vector->missing != NULL && vector->missing[row];
        for (run = 1; row + run < rows; run++) {
            bool next_missing = vector->missing != NULL && vector->missing[row + run];
            if (missing != next_missing || (!missing && vector->integers[row] != vector->integers[row + run]))
                break;
        }
        if (missing)
            tally->missing += run;
        else
            count_integer(tally, vector->integers[row], run);
    }
}

/* ---- the other types */

static void room_for(struct sta_tally *tally, size_t codes)
{
    size_t before = tally->code_capacity;
    STA_GROW(tally->counts, tally->code_capacity, codes);
    memset(tally->counts + before, 0, (tally->code_capacity - before) * sizeof *tally->counts);
}

static void add_texts(struct sta_tally *tally, const struct sta_vector *vector, uint32_t rows)
{
    tally->texts = vector->texts;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t code = vector->codes[row];
        if (code == STA_NO_CODE) {
            tally->missing++;
            continue;
        }
        if (code >= tally->code_capacity)
            room_for(tally, (size_t)code + 1);
        tally->counts[code]++;
    }
}

static void add_numbers(struct sta_tally *tally, const struct sta_vector *vector, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        if (vector->missing != NULL && vector->missing[row]) {
            tally->missing++;
            continue;
        }
        double value = vector->numbers[row];
        tally->least_number = tally->any ? STA_MIN(tally->least_number, value) : value;
        tally->largest_number = tally->any ? STA_MAX(tally->largest_number, value) : value;
        tally->any = true;
    }
}

static void add_bools(struct sta_tally *tally, const struct sta_vector *vector, uint32_t rows)
{
    if (tally->code_capacity < 2)
        room_for(tally, 2);
    for (uint32_t row = 0; row < rows; row++)
        if (vector->missing != NULL && vector->missing[row])
            tally->missing++;
        else
            tally->counts[vector->bools[row]]++;
}

static void add_varying(struct sta_tally *tally, const struct sta_vector *vector, uint32_t rows)
{
    switch (tally->type) {
    case STA_TYPE_INT:
        add_integers(tally, vector, rows);
        break;
    case STA_TYPE_FLOAT:
        add_numbers(tally, vector, rows);
        break;
    case STA_TYPE_BOOL:
        add_bools(tally, vector, rows);
        break;
    default:
        add_texts(tally, vector, rows);
        break;
    }
}

void sta_tally_add(struct sta_tally *tally, const struct sta_vector *vector, uint32_t rows)
{
    if (!vector->constant) {
        add_varying(tally, vector, rows);
        return;
    }
    struct sta_tally one;
    sta_tally_init(&one, tally->type, 1);
    add_varying(&one, vector, 1);
    for (size_t i = 0; i < one.code_capacity; i++)
        one.counts[i] *= rows;
    for (size_t i = 0; i < one.integers.capacity; i++)
        one.integers.counts[i] *= rows;
    one.missing *= rows;
    sta_tally_merge(tally, &one);
    sta_tally_fini(&one);
}

void sta_tally_merge(struct sta_tally *tally, const struct sta_tally *other)
{
    tally->missing += other->missing;
    if (other->texts != NULL)
        tally->texts = other->texts;
    if (other->code_capacity > tally->code_capacity)
        room_for(tally, other->code_capacity);
    for (size_t i = 0; i < other->code_capacity; i++)
        tally->counts[i] += other->counts[i];
    for (size_t i = 0; i < other->integers.capacity; i++)
        if (other->integers.counts[i] != 0)
            count_integer(tally, other->integers.values[i], other->integers.counts[i]);
    if (other->overflowed && !tally->overflowed)
        give_up(tally);
    if (!other->any)
        return;
    tally->least = tally->any ? STA_MIN(tally->least, other->least) : other->least;
    tally->largest = tally->any ? STA_MAX(tally->largest, other->largest) : other->largest;
    tally->least_number =
        tally->any ? STA_MIN(tally->least_number, other->least_number) : other->least_number;
    tally->largest_number =
        tally->any ? STA_MAX(tally->largest_number, other->largest_number) : other->largest_number;
    tally->any = true;
}

/* ---- values in order */

static int compare_texts(struct sta_text a, struct sta_text b)
{
    int order = memcmp(a.bytes, b.bytes, STA_MIN(a.length, b.length));
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_values(const void *left, const void *right)
{
    const struct sta_tally_value *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    if (a->text.bytes != NULL)
        return compare_texts(a->text, b->text);
    return (a->integer > b->integer) - (a->integer < b->integer);
}

struct sta_tally_value *sta_tally_values(const struct sta_tally *tally, size_t *count)
{
    const struct sta_integer_counts *integers = &tally->integers;
    struct sta_tally_value *values = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < tally->code_capacity; i++) {
        if (tally->counts[i] == 0)
            continue;
        STA_GROW(values, capacity, *count + 1);
        struct sta_tally_value *value = &values[(*count)++];
        *value = (struct sta_tally_value){.integer = (int64_t)i, .count = tally->counts[i]};
        if (tally->type == STA_TYPE_TEXT)
            value->text = sta_dictionary_text(tally->texts, (uint32_t)i);
    }
    for (size_t i = 0; i < integers->capacity; i++) {
        if (integers->counts[i] == 0)
            continue;
        STA_GROW(values, capacity, *count + 1);
        values[(*count)++] =
            (struct sta_tally_value){.integer = integers->values[i], .count = integers->counts[i]};
    }
    if (*count > 0)
        qsort(values, *count, sizeof *values, compare_values);
    return values;
}
