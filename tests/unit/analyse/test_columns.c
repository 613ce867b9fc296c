/* Logical columns of decoded text: every rule of the derived columns, and one type per args key. */
#include <criterion/criterion.h>

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/sources/columns.h"
#include "analyse/sources/column_tests.h"
#include "built_in.h"
#include "common/memory.h"
#include "common/number.h"
#include "decoded_trace.h"

struct fixture {
    struct decoded_trace trace;
    struct sta_presets *presets;
    struct sta_columns *columns;
    struct sta_column_reader *reader;
};

/* @preset: its name, or NULL. */
static struct fixture begin(const char *text, const char *preset)
{
    struct fixture f;
    struct sta_error err = STA_ERROR_INIT;
    decoded_trace_init(&f.trace, text);
    f.presets = load_built_in(NULL);
    struct sta_columns_options options = {.presets = f.presets,
                                          .preset =
                                              preset != NULL ? sta_presets_find(f.presets, preset) : NULL,
                                          .trace = "run 1"};
    cr_assert_eq(sta_columns_create(f.trace.snapshot, &options, &f.columns, &err), 0, "%s", err.text);
    f.reader = sta_column_reader_create(f.columns);
    cr_assert_eq(sta_snapshot_row_group_count(f.trace.snapshot), 1);
    sta_column_reader_seek(f.reader, sta_snapshot_row_group(f.trace.snapshot, 0));
    return f;
}

static void end(struct fixture *f)
{
    sta_column_reader_destroy(f->reader);
    sta_columns_destroy(f->columns);
    sta_presets_release(f->presets);
    decoded_trace_fini(&f->trace);
}

static const struct sta_schema_column *find(const struct fixture *f, const char *name, uint32_t *index)
{
    const struct sta_schema *schema = sta_columns_schema(f->columns);
    for (*index = 0; *index < schema->count; ++*index) {
        if (strcmp(schema->columns[*index].name, name) == 0)
            return &schema->columns[*index];
    }
    return NULL;
}

/* A value as text, "-" where it is missing. */
static void show(char *out, size_t size, const struct sta_vector *vector, uint32_t row)
{
    char number[STA_DOUBLE_TEXT + 1] = "";
    row = vector->constant ? 0 : row;
    bool text = vector->type == STA_TYPE_TEXT;
    if (text ? vector->codes[row] == STA_NO_CODE : vector->missing != NULL && vector->missing[row]) {
        snprintf(out, size, "-");
        return;
    }
    switch (vector->type) {
    case STA_TYPE_INT:
        snprintf(out, size, "%lld", (long long)vector->integers[row]);
        break;
    case STA_TYPE_FLOAT:
        number[sta_format_double(vector->numbers[row], number)] = '\0';
        snprintf(out, size, "%s", number);
        break;
    case STA_TYPE_BOOL:
        snprintf(out, size, "%s", vector->bools[row] ? "true" : "false");
        break;
    default:
        snprintf(out, size, "%s", sta_dictionary_text(vector->texts, vector->codes[row]).bytes);
    }
}

/* Values of all rows, blank between them. */
static void expect_column(const struct fixture *f, const char *name, enum sta_type type, const char *wanted)
{
    uint32_t index;
    char line[1000] = "", value[200];
    struct sta_vector vector;
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_schema_column *column = find(f, name, &index);
    cr_assert_not_null(column, "%s", name);
    cr_expect_eq(column->type, type, "%s is %s", name, sta_type_name(column->type));
    cr_assert_eq(sta_column_reader_get(f->reader, index, &vector, &err), 0, "%s", err.text);
    cr_expect_eq(vector.type, type);
    for (uint32_t row = 0; row < sta_column_reader_row_group(f->reader)->rows; row++) {
        show(value, sizeof value, &vector, row);
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", row > 0 ? " " : "", value);
    }
    cr_expect_str_eq(line, wanted, "%s: \"%s\", not \"%s\"", name, line, wanted);
}

#define EVENT(name, cat, ts, args)                                                                           \
    "{\"id\":1,\"name\":\"" name "\",\"cat\":\"" cat "\",\"pid\":7,\"tid\":8,\"ts\":" #ts                    \
    ",\"dur\":5,\"ph\":\"X\",\"args\":{" args "}}\n"

Test(columns, classes_of_functions_count_in_their_categories_only)
{
    struct fixture f = begin(EVENT("read", "POSIX", 100, "") EVENT("read", "reader", 101, "")
                                 EVENT("fsync", "stdio", 102, "") EVENT("pread64", "posix", 103, "")
                                     EVENT("open64", "posix", 104, "") EVENT("fork", "posix", 105, "")
                                         EVENT("semop", "posix", 106, ""),
                             NULL);
    expect_column(&f, "io_cat", STA_TYPE_INT, "1 6 7 6 3 4 5");
    expect_column(&f, "cat", STA_TYPE_TEXT, "posix reader stdio posix posix posix posix");
    expect_column(&f, "func_name", STA_TYPE_TEXT, "read read fsync pread64 open64 fork semop");
    expect_column(&f, "acc_pat", STA_TYPE_INT, "0 0 0 0 0 0 0");
    expect_column(&f, "count", STA_TYPE_INT, "1 1 1 1 1 1 1");
    end(&f);
}

Test(columns, size_is_what_was_summed_or_what_a_transfer_returned)
{
    struct fixture f = begin(
        EVENT("read", "posix", 1, "\"ret\":10") EVENT("read", "posix", 2, "\"ret\":0") EVENT(
            "write", "stdio", 3, "\"ret\":\"12\"") EVENT("read", "posix", 4, "\"ret\":10,\"size_sum\":99")
            EVENT("open", "posix", 5, "\"ret\":3") EVENT("read", "reader", 6, "\"ret\":3")
                EVENT("x", "reader", 7, "\"size_sum\":5.0") EVENT("read", "posix", 8, "\"ret\":-1")
                    EVENT("read", "posix", 9, "\"ret\":7,\"size_sum\":0")
                        EVENT("read", "posix", 10, "\"ret\":\" 8 \"")
                            EVENT("read", "posix", 11, "\"ret\":true")
                                EVENT("read", "posix", 12, "\"ret\":6.5") EVENT("read", "posix", 13, ""),
        NULL);
    expect_column(&f, "size", STA_TYPE_INT, "10 - 12 99 - - 5 - - 8 - - -");
    end(&f);
}

Test(columns, offset_and_image_belong_to_either_kind_of_category)
{
    struct fixture f =
        begin(EVENT("read", "posix", 1, "\"offset\":4096,\"image_idx\":3")
                  EVENT("read", "reader", 2, "\"offset\":4096,\"image_idx\":3")
                      EVENT("read", "posix", 3, "\"offset\":0")
                          EVENT("read", "reader", 4, "\"image_idx\":\"12\",\"step\":\"4\",\"epoch\":1")
                              EVENT("read", "reader", 5, "\"step\":-1,\"epoch\":\"x\""),
              NULL);
    expect_column(&f, "offset", STA_TYPE_INT, "4096 - - - -");
    expect_column(&f, "image_id", STA_TYPE_INT, "- 3 - 12 -");
    expect_column(&f, "step", STA_TYPE_INT, "- - - 4 -");
    expect_column(&f, "epoch", STA_TYPE_INT, "- - - 1 -");
    expect_column(&f, "args.step", STA_TYPE_INT, "- - - 4 -1");
    expect_column(&f, "args.epoch", STA_TYPE_TEXT, "- - - 1 x");
    end(&f);
}

Test(columns, an_args_key_has_one_type_over_the_trace)
{
    struct fixture f = begin(
        EVENT("a", "b", 1,
              "\"i\":1,\"n\":1,\"t\":1,\"y\":true,\"m\":true,\"big\":18446744073709551615,\"s\":\"x\","
              "\"nest\":[1, {\"a\":2}],\"nul\":null")
            EVENT("a", "b", 2, "\"i\":\"-2\",\"n\":2.5,\"t\":\"x\",\"y\":false,\"m\":1,\"big\":1,\"s\":\"\"")
                EVENT("a", "b", 3, "\"t\":0.1"),
        NULL);
    expect_column(&f, "args.i", STA_TYPE_INT, "1 -2 -");
    expect_column(&f, "args.n", STA_TYPE_FLOAT, "1.0 2.5 -");
    expect_column(&f, "args.t", STA_TYPE_TEXT, "1 x 0.1");
    expect_column(&f, "args.y", STA_TYPE_BOOL, "true false -");
    expect_column(&f, "args.m", STA_TYPE_TEXT, "true 1 -");
    expect_column(&f, "args.big", STA_TYPE_TEXT, "18446744073709551615 1 -");
    expect_column(&f, "args.s", STA_TYPE_TEXT, "x  -");
    expect_column(&f, "args.nest", STA_TYPE_TEXT, "[1,{\"a\":2}] - -");
    uint32_t index;
    cr_expect_null(find(&f, "args.nul", &index), "no event has a value");
    const struct sta_schema *schema = sta_columns_schema(f.columns);
    for (size_t i = STA_LOGICAL_ARGS + 1; i < schema->count; i++)
        cr_expect_lt(strcmp(schema->columns[i - 1].name, schema->columns[i].name), 0);
    end(&f);
}

Test(columns, keys_of_files_and_hosts_are_columns_too)
{
    struct fixture f = begin(
        "{\"ph\":\"M\",\"name\":\"FH\",\"args\":{\"name\":\"/data/a\",\"value\":5}}\n"
        "{\"ph\":\"M\",\"name\":\"HH\",\"args\":{\"name\":\"n1\",\"value\":\"ab\",\"hhash\":77}}\n" EVENT(
            "read", "posix", 1, "\"fhash\":5,\"hhash\":77")
            EVENT("read", "posix", 2, "\"fhash\":6,\"fname\":\"/x\"")
                EVENT("read", "posix", 3, "\"fname\":\"/y\",\"filename\":\"/z\",\"hostname\":\"n2\"")
                    EVENT("read", "posix", 4, "\"filename\":\"/w\",\"hhash\":\"ff\""),
        NULL);
    expect_column(&f, "file_name", STA_TYPE_TEXT, "/data/a - /y /w");
    expect_column(&f, "host_name", STA_TYPE_TEXT, "n1 - n2 -");
    expect_column(&f, "args.fhash", STA_TYPE_INT, "5 6 - -");
    expect_column(&f, "args.fname", STA_TYPE_TEXT, "- /x /y -");
    expect_column(&f, "args.filename", STA_TYPE_TEXT, "- - /z /w");
    expect_column(&f, "args.hhash", STA_TYPE_TEXT, "77 - - ff");
    expect_column(&f, "args.hostname", STA_TYPE_TEXT, "- - n2 -");
    expect_column(&f, "proc_name", STA_TYPE_TEXT, "app#n1#7#8 app#<NA>#7#8 app#n2#7#8 app#<NA>#7#8");
    expect_column(&f, "trace", STA_TYPE_TEXT, "run 1 run 1 run 1 run 1");
    end(&f);
}

Test(columns, times_are_whole_microseconds_and_their_seconds)
{
    struct fixture f =
        begin("{\"name\":\"a\",\"cat\":\"b\",\"ts\":\"1000\",\"dur\":\"300000\",\"ph\":\"X\"}\n"
              "{\"name\":\"a\",\"cat\":\"b\",\"pid\":3,\"ts\":1001,\"dur\":2,\"ph\":\"X\"}\n",
              NULL);
    expect_column(&f, "ts", STA_TYPE_INT, "0 1");
    expect_column(&f, "te", STA_TYPE_INT, "300000 3");
    expect_column(&f, "dur", STA_TYPE_INT, "300000 2");
    expect_column(&f, "time", STA_TYPE_FLOAT, "0.3 2e-06");
    expect_column(&f, "time_start", STA_TYPE_FLOAT, "0.0 1e-06");
    expect_column(&f, "time_end", STA_TYPE_FLOAT, "0.3 3e-06");
    expect_column(&f, "pid", STA_TYPE_INT, "- 3");
    expect_column(&f, "tid", STA_TYPE_INT, "- -");
    end(&f);
}

Test(columns, one_fraction_makes_all_times_nanoseconds)
{
    struct fixture f =
        begin("{\"name\":\"a\",\"cat\":\"b\",\"ts\":\"1000\",\"dur\":\"300000\",\"ph\":\"X\"}\n"
              "{\"name\":\"a\",\"cat\":\"b\",\"pid\":3,\"ts\":1001.9,\"dur\":0.25,\"ph\":\"X\"}\n",
              NULL);
    expect_column(&f, "ts", STA_TYPE_FLOAT, "0.0 1.9");
    expect_column(&f, "te", STA_TYPE_FLOAT, "300000.0 2.15");
    expect_column(&f, "dur", STA_TYPE_FLOAT, "300000.0 0.25");
    expect_column(&f, "time", STA_TYPE_FLOAT, "0.3 2.5e-07");
    expect_column(&f, "time_start", STA_TYPE_FLOAT, "0.0 1.9e-06");
    expect_column(&f, "time_end", STA_TYPE_FLOAT, "0.3 2.15e-06");
    end(&f);
}

Test(columns, a_preset_refines_the_category_and_nothing_else)
{
    static const char text[] = EVENT("read", "POSIX", 1, "\"ret\":5,\"fname\":\"/lustre/data/x\"")
        EVENT("read", "posix", 2, "\"fname\":\"/ssd/checkpoint/data\"")
            EVENT("read", "reader", 3, "\"fname\":\"/lustre/data/x\"") EVENT("read", "stdio", 4, "")
                EVENT("read", "my_posix", 5, "\"fname\":\"/data\"");
    struct fixture f = begin(text, "dlio");
    expect_column(&f, "cat", STA_TYPE_TEXT,
                  "posix_reader_lustre posix_checkpoint_reader_ssd reader stdio my_posix_reader");
    expect_column(&f, "io_cat", STA_TYPE_INT, "1 1 6 1 6");
    expect_column(&f, "size", STA_TYPE_INT, "5 - - - -");
    end(&f);
    f = begin(text, NULL);
    expect_column(&f, "cat", STA_TYPE_TEXT, "posix posix reader stdio my_posix");
    end(&f);
}

#define MANY 300u
#define MANY_MEMORY ((size_t)4 << 20) /* far below what as many columns take that are held at once */

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* mallinfo2 knows nothing of its allocator */
#endif

static size_t bytes_in_use(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#endif
}

Test(columns, thousands_of_args_keys_are_read_in_the_memory_of_a_few)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    for (uint32_t i = 0; i < MANY; i++)
        sta_put_format(
            &text,
            "{\"name\":\"f\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1,\"ph\":\"X\","
            "\"args\":{\"key%u\":%u,\"text%u\":\"v%u\"}}\n",
            100 + i, i, i, i, i);
    sta_put_char(&text, '\0');
    struct fixture f = begin(text.data, NULL);
    const struct sta_schema *schema = sta_columns_schema(f.columns);
    size_t before = bytes_in_use(), most = before, values = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t column = 0; column < schema->count; column++) {
            struct sta_vector vector;
            struct sta_error err = STA_ERROR_INIT;
            char shown[64];
            cr_assert_eq(sta_column_reader_get(f.reader, column, &vector, &err), 0);
            most = STA_MAX(most, bytes_in_use());
            const char *name = schema->columns[column].name;
            if (strncmp(name, "args.", 5) != 0)
                continue;
            uint32_t number = (uint32_t)strtoul(strpbrk(name, "0123456789"), NULL, 10);
            for (uint32_t row = 0; row < MANY; row++) {
                show(shown, sizeof shown, &vector, row);
                cr_assert_eq(strcmp(shown, "-") != 0, row == number, "%s of row %u: %s", name, row, shown);
                values += row == number && strtoul(shown + (shown[0] == 'v'), NULL, 10) == number;
            }
            sta_column_reader_drop(f.reader, column);
        }
    cr_assert_eq(values, 2 * 2 * MANY);
    cr_assert_lt(most - before, MANY_MEMORY);
    sta_buffer_fini(&text);
    end(&f);
}

/* ---- tests of rows */

static double number_of(const struct sta_vector *vector, uint32_t row)
{
    row = vector->constant ? 0 : row;
    return vector->type == STA_TYPE_INT ? (double)vector->integers[row] : vector->numbers[row];
}

/* Return: whether there are tests of the range; they pass the rows that have a value in it. */
static bool check_range(const struct fixture *f, const char *name, struct sta_value_range range)
{
    uint32_t index;
    uint8_t marks[100];
    bool known;
    struct sta_vector vector;
    struct sta_column_tests tests;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_not_null(find(f, name, &index), "%s", name);
    if (!sta_column_tests_of_range(f->columns, index, &range, &tests))
        return false;
    memset(marks, 1, sizeof marks);
    cr_assert_eq(sta_column_reader_test(f->reader, &tests, marks, &known, &err), 0, "%s", err.text);
    cr_assert_eq(sta_column_reader_get(f->reader, index, &vector, &err), 0, "%s", err.text);
    for (uint32_t row = 0; known && row < sta_column_reader_row_group(f->reader)->rows; row++) {
        const double value = number_of(&vector, row);
        const bool inside = !(vector.missing != NULL && vector.missing[row]) &&
                            (range.low_open ? value > range.low : value >= range.low) &&
                            (range.high_open ? value < range.high : value <= range.high);
        cr_expect_eq(marks[row], inside, "%s: row %u, %g %s %g .. %g %s", name, row, value,
                     inside ? "in" : "not in", range.low, range.high, range.low_open ? "open" : "closed");
    }
    sta_column_tests_fini(&tests);
    return known;
}

static void check_ranges(const char *text, const char *const *names, size_t count, const double *bounds,
                         size_t bound_count)
{
    struct fixture f = begin(text, NULL);
    for (size_t c = 0; c < count; c++) {
        size_t tested = 0;
        for (size_t l = 0; l < bound_count; l++)
            for (size_t h = 0; h < bound_count; h++)
                for (unsigned open = 0; open < 4; open++)
                    tested += check_range(
                        &f, names[c], (struct sta_value_range){bounds[l], bounds[h], open & 1, open >> 1});
        cr_expect_gt(tested, 0, "%s is never tested", names[c]);
    }
    end(&f);
}

#define SPAN(pid, name, cat, ts, dur, args)                                                                  \
    "{\"id\":1,\"name\":\"" name "\",\"cat\":\"" cat "\",\"pid\":" #pid ",\"tid\":8,\"ts\":" #ts             \
    ",\"dur\":" #dur ",\"ph\":\"X\",\"args\":{" args "}}\n"

Test(columns, ranges_are_tested_as_the_values_say)
{
    static const char *const names[] = {"ts",   "dur",      "time",  "time_start", "pid",
                                        "tid",  "io_cat",   "size",  "offset",     "image_id",
                                        "step", "args.ret", "epoch", "args.step"};
    static const double bounds[] = {-INFINITY, INFINITY, -3, 0, 1, 2.5, 3, 5, 7, 100, 0.000005, 0.1, 1e300};
    check_ranges(SPAN(7, "read", "POSIX", 100, 5, "\"ret\":7,\"offset\":3")
                     SPAN(9, "read", "reader", 101, 0, "\"ret\":7,\"image_idx\":3,\"step\":1")
                         SPAN(7, "open", "posix", 105, 3, "\"ret\":5,\"offset\":-4")
                             SPAN(7, "write", "stdio", 200, 100, "\"ret\":-1,\"offset\":100")
                                 SPAN(2, "write", "stdio", 300, 2, "\"ret\":100,\"image_idx\":5,\"epoch\":2")
                                     SPAN(1, "f", "app", 100100, 100000, "\"image_idx\":0"),
                 names, STA_COUNT_OF(names), bounds, STA_COUNT_OF(bounds));
}

Test(columns, ranges_of_nanoseconds_are_tested_as_the_values_say)
{
    static const char *const names[] = {"ts", "dur", "time", "time_start"};
    static const double bounds[] = {-INFINITY, INFINITY, 0,          0.001,     0.5,  1,
                                    1.5,       5.25,     0.00000525, 0.0000015, 1e300};
    check_ranges(SPAN(7, "read", "POSIX", 100.25, 5.25, "") SPAN(7, "read", "POSIX", 101, 0.001, "")
                     SPAN(7, "read", "POSIX", 101.75, 1.5, ""),
                 names, STA_COUNT_OF(names), bounds, STA_COUNT_OF(bounds));
}

/* A value of another kind is not one that the test of integers speaks of. */
Test(columns, a_mixed_key_is_not_tested)
{
    struct fixture f = begin(SPAN(7, "read", "POSIX", 100, 5, "\"ret\":\"7 \"")
                                 SPAN(7, "read", "POSIX", 101, 5, "\"ret\":7"),
                             NULL);
    cr_expect_not(check_range(&f, "size", (struct sta_value_range){1, 9, false, false}));
    end(&f);
}
