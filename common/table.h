/* table.h - typed, named columns with units: the form of results.  analyse fills tables, serve prints them.
 */
#ifndef STA_COMMON_TABLE_H
#define STA_COMMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/dictionary.h"
#include "common/memory.h"

enum sta_type {
    STA_TYPE_NULL, /* the literal null */
    STA_TYPE_BOOL,
    STA_TYPE_INT,   /* int64 */
    STA_TYPE_FLOAT, /* double, always finite */
    STA_TYPE_TEXT,
    STA_TYPE_LIST /* in tables: JSON text of the list */
};
const char *sta_type_name(enum sta_type type); /* "condition", "integer", "number", "text", "list", "null" */

/** The same unit as a static text; NULL for NULL and for one that no column has. */
const char *sta_static_unit(const char *unit);

/* A column without its values. */
struct sta_column_info {
    const char *name;
    const char *unit; /* static, or NULL */
    enum sta_type type;
};

struct sta_table_column {
    char *name;
    const char *unit; /* "s", "us", "B", "B/s", or NULL; static */
    enum sta_type type;
    int64_t *integers; /* INT, BOOL */
    double *numbers;   /* FLOAT */
    struct sta_text
        *texts; /* TEXT, LIST; the bytes belong to the table's arena or to what the maker of the table says */
    uint8_t *missing;   /* 1 where there is no value; always there */
    uint64_t too_large; /* of the missing ones: sums that do not fit 64 bits */
    bool refused; /* no memory for its values, as the account says: its arrays are those that the table's
                     refused columns share, and undefined */
};

struct sta_table {
    struct sta_table_column *columns;
    size_t column_count, column_capacity;
    size_t rows;        /* in here */
    uint64_t row_count; /* of the whole result, of which this may be a page */
    char *next;         /* cursor of the next page, or NULL */
    struct sta_arena arena;
    struct sta_account *account;  /* columns and texts are counted in it; NULL: not counted */
    struct sta_table_column sink; /* the arrays of refused columns, once there is one */
};

/** @rows is fixed for all columns that are added. */
void sta_table_init(struct sta_table *table, size_t rows);
/** What the table holds and will hold is counted in @account from now on (NULL: nowhere), and no longer in
 * the one before. */
void sta_table_count_in(struct sta_table *table, struct sta_account *account);
/** Bytes of memory that it holds. */
size_t sta_table_bytes(const struct sta_table *table);
void sta_table_fini(struct sta_table *table);
/** Adds a column whose values are all missing; valid until the next one is added.  When the table's account
 * refuses the memory, the account has a sticky failure, and the values that are set are not kept. */
struct sta_table_column *sta_table_add(struct sta_table *table, const char *name, enum sta_type type,
                                       const char *unit);
/** The same for each of some columns. */
void sta_table_add_all(struct sta_table *table, const struct sta_column_info *columns, size_t count);
struct sta_table_column *sta_table_find(const struct sta_table *table, const char *name);
/* Setting a value makes it present; a number that is not finite stays missing. */
void sta_table_set_int(struct sta_table_column *column, size_t row, int64_t value);
void sta_table_set_number(struct sta_table_column *column, size_t row, double value);
void sta_table_set_text(struct sta_table *table, struct sta_table_column *column, size_t row,
                        const char *bytes, size_t length); /* copied */
void sta_table_set_string(struct sta_table *table, struct sta_table_column *column, size_t row,
                          const char *text); /* NULL: it stays missing */
/** A value of a column of INT or FLOAT. */
static inline double sta_table_number(const struct sta_table_column *column, size_t row)
{
    return column->type == STA_TYPE_INT ? (double)column->integers[row] : column->numbers[row];
}

/** Copies a row of @from, which has columns of the same types. */
void sta_table_copy_row(struct sta_table *table, size_t row, const struct sta_table *from, size_t from_row);
/** Appends the columns and rows as bytes, for sta_table_read. */
void sta_table_write(const struct sta_table *table, struct sta_buffer *out);
/** The table that was written; fini it, also after a failure.  Return: false when the bytes are none. */
STA_MUSTCHECK bool sta_table_read(struct sta_cursor *bytes, struct sta_table *table);

#endif
