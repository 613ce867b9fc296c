/* rows.h - a small table of events for tests of expressions. */
#ifndef STA_TESTS_EXPRESSION_ROWS_H
#define STA_TESTS_EXPRESSION_ROWS_H

#include "analyse/expression/expression.h"

/* Columns of the table, by index. */
enum {
    COLUMN_NAME,
    COLUMN_CAT,
    COLUMN_FILE,
    COLUMN_SIZE,
    COLUMN_TS,
    COLUMN_TIME_START,
    COLUMN_RATIO,
    COLUMN_FLAG,
    COLUMN_COUNT
};

extern const struct sta_schema rows_schema;
#define ROWS 4

/** Values of the rows; a sta_column_source without context. */
int rows_give(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err);
const struct sta_dictionary *rows_texts(uint32_t column);

/** The values of an expression as text, "1 - 3.5 read" (missing: -), or "MISTAKE@position"; static memory. */
const char *rows_evaluate(const char *expression);
/** The message of the mistake that the last rows_evaluate met. */
const char *rows_mistake(void);

#endif
