/* column_tests.h - a range of a logical column as tests of columns of the store (private to analyse).
 *
 * A range of `size` is one of args.ret, of functions that transfer and of categories whose functions have
 * classes; one of `pid` is a set of threads.  Such tests are made on the values as they are kept, a row group
 * at a time, before anything is decoded for an expression. */
#ifndef STA_ANALYSE_SOURCES_COLUMN_TESTS_H
#define STA_ANALYSE_SOURCES_COLUMN_TESTS_H

#include "analyse/sources/columns.h"

#define STA_MOST_COLUMN_TESTS 3

struct sta_column_test {
    uint32_t column; /* enum sta_column_id */
    struct sta_row_test test;
    uint8_t *own; /* test.of_code, when it was made for this test */
};

/* A row passes when it passes all. */
struct sta_column_tests {
    size_t count;
    struct sta_column_test tests[STA_MOST_COLUMN_TESTS];
};

/** Tests that the rows pass which have a value of a column of numbers in the range, whose ends are below 2^53
 * in magnitude or infinite, and no others.  Return:
 * false when there are no such tests; else free them with sta_column_tests_fini. */
bool sta_column_tests_of_range(const struct sta_columns *columns, uint32_t column,
                               const struct sta_value_range *range, struct sta_column_tests *tests);
/** Likewise of a column of TEXT: of rows whose code of the store (sta_columns_code_count) passes.  @of_code:
 * as in a struct sta_row_test; borrowed. */
bool sta_column_tests_of_codes(const struct sta_columns *columns, uint32_t column, const uint8_t *of_code,
                               struct sta_column_tests *tests);
struct sta_positive_rule;
/** Adds those that the rows pass which the second key of a rule counts for. */
void sta_column_tests_of_rule(const struct sta_columns *columns, const struct sta_positive_rule *rule,
                              struct sta_column_tests *tests);
void sta_column_tests_fini(struct sta_column_tests *tests);

/**
 * sta_column_reader_test - clear the marks (by row, 0 or 1) of rows of the present row group that fail
 * @known: set; false when this row group has values that the tests are not about, and some rows that fail
 * may have kept their marks
 * Return: as sta_column_reader_physical.
 */
STA_MUSTCHECK int sta_column_reader_test(struct sta_column_reader *reader,
                                         const struct sta_column_tests *tests, uint8_t *marks, bool *known,
                                         struct sta_error *err);
#endif
