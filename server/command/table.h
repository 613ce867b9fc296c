/* table.h - small tables for a terminal, or as CSV (private to command).  What may have any size goes from
 * the daemon to the output without passing here. */
#ifndef STA_SERVER_COMMAND_TABLE_H
#define STA_SERVER_COMMAND_TABLE_H

#include <jansson.h>
#include <stdbool.h>

/**
 * sta_table_print - rows to standard output
 * @columns: array of names
 * @units: object of units by column, or NULL; they stand in the heading
 * @rows: array of arrays of values
 * @shown: names of those columns that a terminal gets, with blanks between; NULL: all
 *
 * As wide as the terminal: long texts are cut in the middle, then columns from the right are left out, and a
 * line on standard error names them.  Control characters are shown as "?".
 */
void sta_table_print(const json_t *columns, const json_t *units, const json_t *rows, const char *shown);

/** The same rows as CSV, with a header. */
void sta_table_print_csv(const json_t *columns, const json_t *rows);

#endif
