/* From ranges of logical columns to tests of the store's columns, and these tests on a row group. */
#include "analyse/sources/column_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/sources/columns_private.h"
#include "common/memory.h"

#define MOST_CODES (1u << 18) /* of a table that is made for one test */
#define MOST_STEPS 8          /* to the tick next to a number of seconds */

struct bounds { /* closed */
    int64_t low, high;
};

/* ---- ranges of integers */

static int64_t clamp(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static struct bounds integers_in(const struct sta_value_range *range)
{
    const double low = range->low_open ? floor(range->low) + 1 : ceil(range->low);
    const double high = range->high_open ? ceil(range->high) - 1 : floor(range->high);
    return (struct bounds){clamp(low), clamp(high)};
}

/* The least number of ticks whose quotient is at least @value, or more than that. */
static bool first_tick(double value, bool more, double scale, double per_unit, int64_t *tick)
{
    double at = floor(value * per_unit / scale) - 2;
    for (int step = 0; step < MOST_STEPS && fabs(at) < 0x1p52; step++, at++) {
        const double quotient = at * scale / per_unit;
        if (quotient > value || (quotient == value && !more)) {
            *tick = (int64_t)at;
            return step > 0; /* else one before may do as well */
        }
    }
    return false;
}

/* Ticks of the store whose quotients lie in a range; they are computed like those of the column. */
static bool ticks_in(const struct sta_value_range *range, double scale, double per_unit, struct bounds *ticks)
{
    *ticks = (struct bounds){INT64_MIN, INT64_MAX};
    if (range->low != -INFINITY && !first_tick(range->low, range->low_open, scale, per_unit, &ticks->low))
        return false;
    if (range->high == INFINITY)
        return true;
    const bool found = first_tick(range->high, !range->high_open, scale, per_unit, &ticks->high);
    ticks->high -= found;
    return found;
}

/* ---- tests */

static void add_range(struct sta_column_tests *tests, uint32_t column, struct bounds bounds)
{
    tests->tests[tests->count++] =
        (struct sta_column_test){.column = column, .test = {.low = bounds.low, .high = bounds.high}};
}

/* @of_code: lives as long as the columns. */
static void add_codes(struct sta_column_tests *tests, uint32_t column, const uint8_t *of_code)
{
    tests->tests[tests->count++] = (struct sta_column_test){.column = column, .test = {.of_code = of_code}};
}

/* A table for @count codes and none; NULL: too large a one. */
static uint8_t *add_table(struct sta_column_tests *tests, uint32_t column, uint32_t count)
{
    uint8_t *table = count <= MOST_CODES ? sta_try_alloc_array((size_t)count + 1, sizeof *table) : NULL;
    if (table == NULL)
        return NULL;
    add_codes(tests, column, table);
    tests->tests[tests->count - 1].own = table;
    return table;
}

static bool of_times(const struct sta_columns *columns, uint32_t column, uint32_t physical, double per_unit,
                     const struct sta_value_range *range, struct sta_column_tests *tests)
{
    struct bounds bounds = integers_in(range);
    const bool whole = columns->schema_columns[column].type == STA_TYPE_INT && columns->scale == 1;
    if (!whole && !ticks_in(range, (double)columns->scale, per_unit, &bounds))
        return false;
    add_range(tests, physical, bounds);
    return true;
}

static bool of_ids(const struct sta_columns *columns, const int64_t *of_thread, struct bounds ids,
                   struct sta_column_tests *tests)
{
    const uint32_t count = columns->entities->thread_code_count;
    uint8_t *table = add_table(tests, STA_COLUMN_THREAD, count);
    for (size_t i = 0; table != NULL && i <= count; i++)
        table[i] = of_thread[i] != STA_NO_ID && of_thread[i] >= ids.low && of_thread[i] <= ids.high;
    return table != NULL;
}

/* What is no I/O call and what has no category of classes are `other`: no set of functions and of categories
 * tells these. */
static bool of_io_cat(const struct sta_columns *columns, struct bounds classes,
                      struct sta_column_tests *tests)
{
    if (classes.low <= STA_IO_OTHER && STA_IO_OTHER <= classes.high)
        return false;
    uint8_t *table = add_table(tests, STA_COLUMN_NAME, columns->name_count);
    for (size_t i = 0; table != NULL && i <= columns->name_count; i++)
        table[i] = columns->class_of_name[i] >= classes.low && columns->class_of_name[i] <= classes.high;
    add_codes(tests, STA_COLUMN_CAT, columns->has_classes);
    return table != NULL;
}

static bool of_key(uint32_t key, struct bounds bounds, struct sta_column_tests *tests)
{
    if (key != STA_NO_CODE)
        add_range(tests, STA_COLUMN_ARGS + key, bounds);
    return key != STA_NO_CODE;
}

void sta_column_tests_of_rule(const struct sta_columns *columns, const struct sta_positive_rule *rule,
                              struct sta_column_tests *tests)
{
    if (rule->rows == STA_TRANSFERS)
        add_codes(tests, STA_COLUMN_NAME, columns->is_transfer);
    if (rule->rows != STA_ANY_ROW)
        add_codes(tests, STA_COLUMN_CAT,
                  rule->rows == STA_WITHOUT_CLASSES ? columns->lacks_classes : columns->has_classes);
}

static bool of_rule(const struct sta_columns *columns, const struct sta_positive_rule *rule,
                    struct bounds bounds, struct sta_column_tests *tests)
{
    bounds.low = STA_MAX(bounds.low, 1);
    if (columns->positives[rule->first].key != STA_NO_CODE ||
        !of_key(columns->positives[rule->second].key, bounds, tests))
        return false;
    sta_column_tests_of_rule(columns, rule, tests);
    return true;
}

static bool of_args(const struct sta_columns *columns, uint32_t column, struct bounds bounds,
                    struct sta_column_tests *tests)
{
    const struct sta_args_source *source = &columns->args[column - STA_LOGICAL_ARGS];
    return source->type == STA_TYPE_INT && source->kind == 0 && of_key(source->key, bounds, tests);
}

static bool make_tests(const struct sta_columns *columns, uint32_t column,
                       const struct sta_value_range *range, struct sta_column_tests *tests)
{
    const struct bounds bounds = integers_in(range);
    double per_unit;
    const uint32_t ticks = sta_columns_ticks_of(columns, column, &per_unit);
    switch (column) {
    case STA_LOGICAL_ts:
    case STA_LOGICAL_dur:
    case STA_LOGICAL_time_start:
    case STA_LOGICAL_time:
        return of_times(columns, column, ticks == STA_LOGICAL_ts_ticks ? STA_COLUMN_TS : STA_COLUMN_DUR,
                        per_unit, range, tests);
    case STA_LOGICAL_pid:
        return of_ids(columns, columns->entities->pid_of_thread, bounds, tests);
    case STA_LOGICAL_tid:
        return of_ids(columns, columns->entities->tid_of_thread, bounds, tests);
    case STA_LOGICAL_io_cat:
        return of_io_cat(columns, bounds, tests);
    default:
        if (column >= STA_LOGICAL_ARGS)
            return of_args(columns, column, bounds, tests);
    }
    const struct sta_positive_rule *rule = sta_positive_rule_of(column);
    return rule != NULL && of_rule(columns, rule, bounds, tests);
}

bool sta_column_tests_of_range(const struct sta_columns *columns, uint32_t column,
                               const struct sta_value_range *range, struct sta_column_tests *tests)
{
    *tests = (struct sta_column_tests){.count = 0};
    if (make_tests(columns, column, range, tests))
        return true;
    sta_column_tests_fini(tests);
    return false;
}

bool sta_column_tests_of_codes(const struct sta_columns *columns, uint32_t column, const uint8_t *of_code,
                               struct sta_column_tests *tests)
{
    uint32_t physical;
    *tests = (struct sta_column_tests){.count = 0};
    if (!sta_columns_physical_of(columns, column, &physical))
        return false;
    add_codes(tests, physical, of_code);
    return true;
}

void sta_column_tests_fini(struct sta_column_tests *tests)
{
    for (size_t i = 0; i < tests->count; i++)
        free(tests->tests[i].own);
    *tests = (struct sta_column_tests){.count = 0};
}

/* ---- a row group */

enum outcome { ALL_PASS, NONE_PASS, SOME_PASS, UNKNOWN };

/* What the statistics of the row group say. */
static enum outcome outcome_of(const struct sta_column_stats *stats, const struct sta_row_test *test)
{
    const bool codes = test->of_code != NULL;
    if (stats->kind == STA_KIND_ABSENT)
        return codes && test->of_code[0] ? ALL_PASS : NONE_PASS;
    if (codes ? stats->kind != STA_KIND_CODE : stats->kind != STA_KIND_INT)
        return UNKNOWN;
    if (!codes)
        return stats->missing == 0 && stats->min >= test->low && stats->max <= test->high ? ALL_PASS
               : stats->max < test->low || stats->min > test->high                        ? NONE_PASS
                                                                                          : SOME_PASS;
    if (!stats->listed)
        return SOME_PASS;
    size_t passing = 0;
    for (size_t i = 0; i < stats->code_count; i++)
        passing += test->of_code[stats->codes[i] + 1];
    const bool none_passes = stats->missing > 0 && test->of_code[0];
    if (passing == 0)
        return none_passes ? SOME_PASS : NONE_PASS;
    return passing == stats->code_count && (stats->missing == 0 || none_passes) ? ALL_PASS : SOME_PASS;
}

static void test_values(const struct sta_column_values *values, const struct sta_row_test *test,
                        uint32_t rows, uint8_t *restrict marks)
{
    const int64_t *integers = values->integers, low = test->low, high = test->high;
    const uint32_t *codes = values->codes;
    const uint8_t *of_code = test->of_code;
    if (of_code != NULL) {
        for (uint32_t i = 0; i < rows; i++)
            marks[i] &= of_code[codes[i] + 1];
        return;
    }
    for (uint32_t i = 0; i < rows; i++)
        marks[i] &= (integers[i] >= low) & (integers[i] <= high);
    for (uint32_t i = 0; values->any_missing && i < rows; i++)
        marks[i] &= !values->missing[i];
}

/* On the values as they are kept, which is faster; false: they are not there. */
static bool test_kept(const struct sta_column_reader *reader, const struct sta_column_test *test,
                      uint8_t *marks)
{
    return reader->narrowed == NULL &&
           sta_row_group_test(reader->columns->snapshot, reader->row_group, test->column, &test->test, marks);
}

static int test_column(struct sta_column_reader *reader, const struct sta_column_test *test, uint8_t *marks,
                       bool *known, struct sta_error *err)
{
    const struct sta_column_values *values;
    struct sta_column_stats stats;
    sta_row_group_stats(reader->columns->snapshot, reader->row_group, test->column, &stats);
    const enum outcome outcome = outcome_of(&stats, &test->test);
    *known &= outcome != UNKNOWN;
    if (outcome == NONE_PASS)
        memset(marks, 0, reader->rows);
    if (outcome != SOME_PASS || test_kept(reader, test, marks))
        return STA_OK;
    int rc = sta_column_reader_physical(reader, test->column, &values, err);
    if (rc == STA_OK && !test_kept(reader, test, marks)) /* reading has kept them, if there was memory */
        test_values(values, &test->test, reader->rows, marks);
    return rc;
}

int sta_column_reader_test(struct sta_column_reader *reader, const struct sta_column_tests *tests,
                           uint8_t *marks, bool *known, struct sta_error *err)
{
    int rc = STA_OK;
    *known = true;
    for (size_t i = 0; rc == STA_OK && i < tests->count; i++)
        rc = test_column(reader, &tests->tests[i], marks, known, err);
    return rc;
}
