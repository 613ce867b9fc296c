/* sample_check.c - compares what a snapshot gives with the rows that were written: values, order,
 * statistics. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "sample.h"

struct reading {
    const struct sample *sample;
    const struct sta_snapshot *snapshot;
    const struct sta_row_group *row_group;
    int64_t unit, origin; /* nanoseconds */
    size_t ids[STA_ROW_GROUP_ROWS];
    bool *seen;
    struct sta_column_values values;
};

static void read_column(struct reading *reading, uint32_t column)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_row_group_read(reading->snapshot, reading->row_group, column, &reading->values, &err),
                 STA_OK, "%s", err.text);
}

static void check_listed(const struct sta_column_stats *stats, uint32_t code)
{
    for (uint32_t i = 0; i < stats->code_count; i++)
        if (stats->codes[i] == code)
            return;
    cr_assert_fail("code %u is not listed", code);
}

static void check_codes(struct reading *reading, uint32_t column, size_t offset)
{
    struct sta_column_stats stats;
    uint32_t missing = 0;
    sta_row_group_stats(reading->snapshot, reading->row_group, column, &stats);
    read_column(reading, column);
    for (uint32_t i = 0; i < reading->row_group->rows; i++) {
        uint32_t expected =
            *(const uint32_t *)((const char *)&reading->sample->rows[reading->ids[i]] + offset);
        uint32_t code = reading->values.kind == STA_KIND_ABSENT ? STA_NO_CODE : reading->values.codes[i];
        cr_assert_eq(code, expected, "column %u row %u: %u is not %u", column, i, code, expected);
        missing += expected == STA_NO_CODE;
        if (expected == STA_NO_CODE)
            continue;
        cr_assert(stats.bounded && stats.min <= expected && expected <= stats.max);
        if (stats.listed)
            check_listed(&stats, expected);
    }
    cr_assert_eq(stats.missing, missing);
}

static void check_args_value(const struct reading *reading, const struct sample_row *row, uint32_t key,
                             uint32_t i)
{
    const struct sta_column_values *values = &reading->values;
    bool missing = values->kind == STA_KIND_ABSENT ||
                   (values->kind == STA_KIND_CODE ? values->codes[i] == STA_NO_CODE
                                                  : values->any_missing && values->missing[i]);
    cr_assert_eq(missing, row->kinds[key] == 0, "key %u row %u", key, i);
    if (missing)
        return;
    enum sta_value_kind kind = row->kinds[key] - 1;
    if (values->kind == STA_KIND_MIXED)
        cr_assert_eq(values->kinds[i], kind);
    if (kind == STA_VALUE_TEXT)
        cr_assert_eq(values->kind == STA_KIND_CODE ? values->codes[i] : (uint32_t)values->integers[i],
                     row->values[key].code);
    else if (values->kind == STA_KIND_FLOAT)
        cr_assert(values->numbers[i] == row->values[key].number);
    else
        cr_assert_eq(values->integers[i], row->values[key].integer);
}

static void check_args(struct reading *reading, uint32_t key)
{
    struct sta_column_stats stats;
    uint32_t missing = 0;
    sta_row_group_stats(reading->snapshot, reading->row_group, STA_COLUMN_ARGS + key, &stats);
    read_column(reading, STA_COLUMN_ARGS + key);
    cr_assert_eq(reading->values.kind, stats.kind);
    for (uint32_t i = 0; i < reading->row_group->rows; i++) {
        const struct sample_row *row = &reading->sample->rows[reading->ids[i]];
        check_args_value(reading, row, key, i);
        missing += row->kinds[key] == 0;
        int64_t value =
            row->kinds[key] == 1 + STA_VALUE_TEXT ? (int64_t)row->values[key].code : row->values[key].integer;
        if (row->kinds[key] != 0 && stats.bounded)
            cr_assert(stats.min <= value && value <= stats.max);
        if (row->kinds[key] != 0 && stats.listed)
            check_listed(&stats, row->values[key].code);
    }
    cr_assert_eq(stats.missing, missing);
}

static void check_times(struct reading *reading)
{
    const struct sta_row_group *row_group = reading->row_group;
    struct sta_column_stats stats;
    int64_t te_max = INT64_MIN;
    int64_t *times = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *times);
    read_column(reading, STA_COLUMN_TS);
    memcpy(times, reading->values.integers, row_group->rows * sizeof *times);
    for (uint32_t i = 0; i < row_group->rows; i++)
        cr_assert_eq(times[i] * reading->unit, reading->sample->rows[reading->ids[i]].ts - reading->origin);
    cr_assert_eq(times[0], row_group->ts_min);
    cr_assert_eq(times[row_group->rows - 1], row_group->ts_max);
    read_column(reading, STA_COLUMN_DUR);
    sta_row_group_stats(reading->snapshot, row_group, STA_COLUMN_DUR, &stats);
    for (uint32_t i = 0; i < row_group->rows; i++) {
        int64_t dur = reading->values.integers[i];
        cr_assert_eq(dur * reading->unit, reading->sample->rows[reading->ids[i]].dur);
        cr_assert(stats.min <= dur && dur <= stats.max);
        te_max = STA_MAX(te_max, times[i] + dur);
    }
    cr_assert_eq(te_max, row_group->te_max);
    free(times);
}

/* Equal times: by source path, then line; rows of a sample stand in line order. */
static void check_order(struct reading *reading)
{
    for (uint32_t i = 1; i < reading->row_group->rows; i++) {
        const struct sample_row *before = &reading->sample->rows[reading->ids[i - 1]],
                                *row = &reading->sample->rows[reading->ids[i]];
        cr_assert_leq(before->ts, row->ts);
        if (before->ts != row->ts)
            continue;
        int order = strcmp(reading->sample->paths[before->source], reading->sample->paths[row->source]);
        cr_assert(order < 0 || (order == 0 && reading->ids[i - 1] < reading->ids[i]));
    }
}

static void check_chunks(struct reading *reading)
{
    size_t count;
    const struct sta_chunk *chunks =
        sta_snapshot_chunks(reading->snapshot, reading->row_group->segment, &count);
    read_column(reading, STA_COLUMN_CHUNK);
    for (uint32_t i = 0; i < reading->row_group->rows; i++) {
        const struct sample_row *row = &reading->sample->rows[reading->ids[i]];
        cr_assert_lt(reading->values.codes[i], count);
        const struct sta_chunk *chunk = &chunks[reading->values.codes[i]];
        cr_assert(reading->sample->merged ? chunk->first_line <= row->first_line
                                          : chunk->first_line == row->first_line);
        cr_assert_str_eq(sta_snapshot_source(reading->snapshot, chunk->source)->path,
                         reading->sample->paths[row->source]);
    }
}

static void check_row_group(struct reading *reading)
{
    read_column(reading, STA_COLUMN_ARGS);
    for (uint32_t i = 0; i < reading->row_group->rows; i++) {
        reading->ids[i] = (size_t)reading->values.integers[i];
        cr_assert_lt(reading->ids[i], reading->sample->count);
        cr_assert(!reading->seen[reading->ids[i]], "row %zu occurs twice", reading->ids[i]);
        reading->seen[reading->ids[i]] = true;
    }
    check_order(reading);
    check_times(reading);
    check_codes(reading, STA_COLUMN_NAME, offsetof(struct sample_row, name));
    check_codes(reading, STA_COLUMN_CAT, offsetof(struct sample_row, cat));
    check_codes(reading, STA_COLUMN_FILE, offsetof(struct sample_row, file));
    check_codes(reading, STA_COLUMN_THREAD, offsetof(struct sample_row, thread));
    check_chunks(reading);
    for (uint32_t k = 0; k < SAMPLE_KEYS; k++)
        check_args(reading, k);
}

void sample_check(const struct sample *sample, const struct sta_snapshot *snapshot, const bool *wanted)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(snapshot);
    struct reading *reading = sta_alloc(sizeof *reading);
    size_t expected = 0;
    int64_t origin = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < sample->count; i++)
        if (wanted == NULL || wanted[sample->rows[i].source]) {
            expected++;
            origin = STA_MIN(origin, sample->rows[i].ts);
            end = STA_MAX(end, sample->rows[i].ts + sample->rows[i].dur);
        }
    cr_assert_eq(info->events, expected);
    cr_assert_eq(info->damaged, 0);
    *reading = (struct reading){
        .sample = sample, .snapshot = snapshot, .unit = info->ticks_per_us == 1 ? 1000 : 1, .origin = origin};
    cr_assert_eq(info->origin_us, origin / 1000);
    cr_assert_eq(info->end_ticks * reading->unit, end - origin);
    reading->seen = sta_alloc_array(sample->count, sizeof *reading->seen);
    reading->values =
        (struct sta_column_values){.integers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t)),
                                   .numbers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(double)),
                                   .codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint32_t)),
                                   .kinds = sta_alloc(STA_ROW_GROUP_ROWS),
                                   .missing = sta_alloc(STA_ROW_GROUP_ROWS)};
    for (size_t b = 0; b < sta_snapshot_row_group_count(snapshot); b++) {
        reading->row_group = sta_snapshot_row_group(snapshot, b);
        check_row_group(reading);
    }
    for (size_t i = 0; i < sample->count; i++)
        cr_assert_eq(reading->seen[i], wanted == NULL || wanted[sample->rows[i].source], "row %zu", i);
    free(reading->values.integers);
    free(reading->values.numbers);
    free(reading->values.codes);
    free(reading->values.kinds);
    free(reading->values.missing);
    free(reading->seen);
    free(reading);
}
