/* Tables of runs beside each other: every key for every run, nothing invented where a run has no such row. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "serve/responses/compare_tables.h"
#include "serve/formats/table_text.h"

struct line {
    const char *key; /* NULL: missing */
    int64_t count;   /* negative: missing */
    double time;
};

static void make_table(struct sta_table *table, const struct line *lines, size_t rows)
{
    sta_table_init(table, rows);
    struct sta_table_column *column = sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < rows; i++)
        if (lines[i].key != NULL)
            sta_table_set_text(table, column, i, lines[i].key, strlen(lines[i].key));
    column = sta_table_add(table, "count", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < rows; i++)
        if (lines[i].count >= 0)
            sta_table_set_int(column, i, lines[i].count);
    column = sta_table_add(table, "time", STA_TYPE_FLOAT, "s");
    for (size_t i = 0; i < rows; i++)
        sta_table_set_number(column, i, lines[i].time);
}

static const char *const labels[] = {"a", "b"};

static char *compare(const struct line *a, size_t rows_a, const struct line *b, size_t rows_b,
                     struct sta_comparison asked)
{
    struct sta_table one, two, table;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer out;
    make_table(&one, a, rows_a);
    make_table(&two, b, rows_b);
    const struct sta_table *tables[] = {&one, &two};
    asked.tables = tables;
    asked.labels = labels;
    asked.count = 2;
    asked.keys = 1;
    cr_assert_eq(sta_compare_tables(&asked, &(struct sta_budget){.memory = 1 << 20}, &table, &err), STA_OK,
                 "%s", err.text);
    sta_buffer_init(&out);
    sta_put_table_begin(&out, STA_FORMAT_CSV, &table);
    sta_put_table_rows(&out, STA_FORMAT_CSV, &table, true);
    sta_table_fini(&table);
    sta_table_fini(&one);
    sta_table_fini(&two);
    return sta_buffer_take_text(&out);
}

static void expect(char *got, const char *rows)
{
    char *whole =
        sta_sprintf("name,trace,count,time,count_baseline,count_delta,count_ratio,time_baseline,time_delta,"
                    "time_ratio\r\n%s",
                    rows);
    cr_expect_str_eq(got, whole);
    free(whole);
    free(got);
}

Test(compare_tables, every_key_has_a_row_for_every_run)
{
    const struct line a[] = {{"read", 4, 2.0}, {"open", 1, 0.5}}, b[] = {{"close", 7, 1.0}, {"read", 6, 1.0}};
    expect(compare(a, 2, b, 2, (struct sta_comparison){0}), "close,a,,,,,,,,\r\n"
                                                            "close,b,7,1.0,,,,,,\r\n"
                                                            "open,a,1,0.5,1,0,1.0,0.5,0.0,1.0\r\n"
                                                            "open,b,,,1,,,0.5,,\r\n"
                                                            "read,a,4,2.0,4,0,1.0,2.0,0.0,1.0\r\n"
                                                            "read,b,6,1.0,4,2,1.5,2.0,-1.0,0.5\r\n");
}

Test(compare_tables, the_baseline_may_be_any_run_and_zero_has_no_ratio)
{
    const struct line a[] = {{"read", 4, 2.0}}, b[] = {{"read", 0, 0.0}};
    expect(compare(a, 1, b, 1, (struct sta_comparison){.baseline = 1}),
           "read,a,4,2.0,0,4,,0.0,2.0,\r\nread,b,0,0.0,0,0,,0.0,0.0,\r\n");
}

Test(compare_tables, a_missing_key_is_a_key_and_comes_last)
{
    const struct line a[] = {{NULL, 1, 1.0}, {"z", 2, 1.0}}, b[] = {{NULL, 3, 1.0}};
    expect(compare(a, 2, b, 1, (struct sta_comparison){0}), "z,a,2,1.0,2,0,1.0,1.0,0.0,1.0\r\n"
                                                            "z,b,,,2,,,1.0,,\r\n"
                                                            ",a,1,1.0,1,0,1.0,1.0,0.0,1.0\r\n"
                                                            ",b,3,1.0,1,2,3.0,1.0,0.0,1.0\r\n");
}

Test(compare_tables, layers_stay_in_the_order_of_the_first_run)
{
    const struct line a[] = {{"io", 1, 1.0}, {"app", 1, 1.0}},
                      b[] = {{"app", 1, 1.0}, {"zoo", 1, 1.0}, {"io", -1, 1.0}};
    char *text = compare(a, 2, b, 3, (struct sta_comparison){.in_order = true});
    const char *io = strstr(text, "\nio,"), *app = strstr(text, "\napp,"), *zoo = strstr(text, "\nzoo,");
    cr_expect(io < app && app < zoo, "%s", text);
    cr_expect_not_null(strstr(text, "io,b,,1.0,1,,,1.0,0.0,1.0"));
    free(text);
}

Test(compare_tables, what_does_not_fit_the_memory_is_refused)
{
    const struct line a[] = {{"read", 4, 2.0}};
    struct sta_table one, table;
    struct sta_error err = STA_ERROR_INIT;
    make_table(&one, a, 1);
    const struct sta_table *tables[] = {&one, &one};
    struct sta_comparison asked = {tables, labels, 2, 0, 1, false};
    cr_expect_eq(sta_compare_tables(&asked, &(struct sta_budget){.memory = 100}, &table, &err), STA_ELIMIT);
    cr_expect_not_null(strstr(err.text, "query_memory"));
    sta_table_fini(&one);
}
