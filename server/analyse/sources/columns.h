/* columns.h - the logical columns of a snapshot: what filters and queries name (private to analyse).
 *
 * The store keeps what was traced; a query asks for func_name, io_cat, size, args.ret ..  struct
 * sta_columns holds the schema of one snapshot, as one preset sees it, and the tables that turn codes of the
 * store into these (file reference -> file, thread -> pid, function -> io_cat); made once per query, read
 * by all its workers.  A struct sta_column_reader is one worker's view of one row group: it decodes each
 * physical column at most once per row group, and derives on demand. */
#ifndef STA_ANALYSE_SOURCES_COLUMNS_H
#define STA_ANALYSE_SOURCES_COLUMNS_H

#include "analyse/analyse.h"
#include "analyse/expression/expression.h"

/* X(name, type, unit, caseless, ticks_of): the columns of every trace, in this order at the front of the
 * schema. */
#define STA_LOGICAL_LIST(X)                                                                                  \
    X(func_name, TEXT, NULL, false, NULL)                                                                    \
    X(cat, TEXT, NULL, true, NULL)                                                                           \
    X(host_name, TEXT, NULL, false, NULL)                                                                    \
    X(file_name, TEXT, NULL, false, NULL)                                                                    \
    X(proc_name, TEXT, NULL, false, NULL)                                                                    \
    X(trace, TEXT, NULL, false, NULL)                                                                        \
    X(pid, INT, NULL, false, NULL)                                                                           \
    X(tid, INT, NULL, false, NULL)                                                                           \
    X(size, INT, "B", false, NULL)                                                                           \
    X(offset, INT, "B", false, NULL)                                                                         \
    X(io_cat, INT, NULL, false, NULL)                                                                        \
    X(image_id, INT, NULL, false, NULL)                                                                      \
    X(step, INT, NULL, false, NULL)                                                                          \
    X(epoch, INT, NULL, false, NULL)                                                                         \
    X(acc_pat, INT, NULL, false, NULL)                                                                       \
    X(count, INT, NULL, false, NULL)                                                                         \
    X(ts, INT, "us", false, NULL)                                                                            \
    X(te, INT, "us", false, NULL)                                                                            \
    X(dur, INT, "us", false, NULL)                                                                           \
    X(time, FLOAT, "s", false, "dur")                                                                        \
    X(time_start, FLOAT, "s", false, "ts")                                                                   \
    X(time_end, FLOAT, "s", false, "te")

/* X(name, text): integers behind the columns of times, which requests cannot name: nanoseconds where the
 * columns have them, else microseconds. */
#define STA_LOGICAL_TICKS_LIST(X) X(ts_ticks, " ts") X(te_ticks, " te") X(dur_ticks, " dur")

enum sta_logical {
#define X(name, type, unit, caseless, ticks_of) STA_LOGICAL_##name,
    STA_LOGICAL_LIST(X)
#undef X
#define X(name, text) STA_LOGICAL_##name,
        STA_LOGICAL_TICKS_LIST(X)
#undef X
            STA_LOGICAL_ARGS /* first of the args.<key> columns, ordered by key */
};

struct sta_refiner;
struct sta_columns;       /* immutable but for memories that any thread may fill */
struct sta_column_reader; /* of one thread */

struct sta_columns_options {
    const struct sta_presets *presets; /* function classes; borrowed while the columns live.  NULL: none */
    const struct sta_preset *preset; /* cat is refined by its rules; NULL: cat as traced; borrowed likewise */
    const char *trace;               /* value of the column `trace`; NULL: missing */
    bool nanoseconds; /* of times, also where the trace itself has none: another in the same query does */
    bool unzeroed;    /* sizes and their like may have any value where they are missing, else they have 0 */
};

/**
 * sta_columns_create - the columns of a snapshot
 * @snapshot: borrowed while the columns live
 * Cost: the distinct files, hosts, threads, names; no row is read.  Return: 0, STA_ELIMIT, STA_EBUSY or
 * STA_ENOMEM.  Context: any thread.
 */
STA_MUSTCHECK int sta_columns_create(struct sta_snapshot *snapshot, const struct sta_columns_options *options,
                                     struct sta_columns **columns, struct sta_error *err);
/** What the columns make is charged to this account, within that of the snapshot; valid while the columns
 * live. */
struct sta_account *sta_columns_account(const struct sta_columns *columns);
/** Its sticky failure, as sta_account_failure: readers end with it. */
STA_MUSTCHECK int sta_columns_failure(const struct sta_columns *columns, struct sta_error *err);
void sta_columns_destroy(struct sta_columns *columns); /* NULL allowed; after its readers */

/** Standard columns (enum sta_logical is the index), then args.<key> by key: those that some event of the
 * trace has.  ts, te and dur are integers, but numbers where the columns have nanoseconds. */
const struct sta_schema *sta_columns_schema(const struct sta_columns *columns);
struct sta_snapshot *sta_columns_snapshot(const struct sta_columns *columns);
/** What refines the category; NULL: it is as traced.  Its memories grow: any thread may use it. */
struct sta_refiner *sta_columns_refiner(const struct sta_columns *columns);
/** enum sta_io_cat of a row, by its codes of the tables. */
unsigned sta_columns_class_of(const struct sta_columns *columns, uint32_t name, uint32_t cat);
/** Dictionary of a TEXT column's vectors, whole before any row is read except for cat of a preset and texts
 * made from numbers, which grow. */
const struct sta_dictionary *sta_columns_texts(const struct sta_columns *columns, uint32_t column);

struct sta_column_reader *sta_column_reader_create(const struct sta_columns *columns);
void sta_column_reader_destroy(struct sta_column_reader *reader); /* NULL allowed */

/** Goes to a row group: vectors and values handed out before are void. */
void sta_column_reader_seek(struct sta_column_reader *reader, const struct sta_row_group *row_group);
/** Stays there, but with these rows alone: vectors and values have one for each of them, in their order, and
 * those handed out before are void.  @rows: numbers in the row group; lives until the next seek. */
void sta_column_reader_narrow(struct sta_column_reader *reader, const uint32_t *rows, uint32_t count);
/* One value of a column of the store, whatever its kind. */
struct sta_single_value {
    enum sta_value_kind kind; /* STA_VALUE_KINDS: missing */
    union sta_value value;
};
struct sta_single_value sta_column_value_at(const struct sta_column_values *values, uint32_t row);
/** The integer that a text spells, with blanks around it or not; that a number is, as 5.0 is.  Return: false
 * when it is none. */
bool sta_integer_of_text(struct sta_text text, int64_t *integer);
bool sta_integer_of_number(double number, int64_t *integer);

/** How many values columns have now. */
uint32_t sta_column_reader_rows(const struct sta_column_reader *reader);
const struct sta_row_group *
sta_column_reader_row_group(const struct sta_column_reader *reader); /* NULL before the first seek */

/**
 * sta_column_reader_get - a schema column of the present row group
 * @reader: a struct sta_column_reader *, so that this is a sta_column_source for sta_program_run as it stands
 * @vector: its memory belongs to the reader, valid until the next seek
 * Return: 0 or STA_ECORRUPT.
 */
STA_MUSTCHECK int sta_column_reader_get(void *reader, uint32_t column, struct sta_vector *vector,
                                        struct sta_error *err);

/**
 * sta_column_reader_physical - a column of the store as it is (enum sta_column_id): ticks, codes of the
 * tables
 * @values: valid until the next seek.  Codes are below the count of their table, or STA_NO_CODE.
 */
STA_MUSTCHECK int sta_column_reader_physical(struct sta_column_reader *reader, uint32_t column,
                                             const struct sta_column_values **values, struct sta_error *err);

/** Starts and durations of the events: ticks. */
STA_MUSTCHECK int sta_column_reader_times(struct sta_column_reader *reader, const int64_t **ts,
                                          const int64_t **dur, struct sta_error *err);
/** A column of codes; NULL where no row has one. */
STA_MUSTCHECK int sta_column_reader_codes(struct sta_column_reader *reader, uint32_t column,
                                          const uint32_t **codes, struct sta_error *err);

/** Lets the memory of an args column go to the next one that is read: for who reads a column of each row
 * group once, and thousands of columns.  Its vector is not valid any more. */
void sta_column_reader_drop(struct sta_column_reader *reader, uint32_t column);

/* ---- what the statistics of a row group say, without decoding it */

/** Least and largest value that a numeric column may have in a row group; *low > *high when no row has a
 * value. Return: false when nothing is known. */
bool sta_columns_range(const struct sta_columns *columns, const struct sta_row_group *row_group,
                       uint32_t column, double *low, double *high);

/* The store's codes from which a TEXT column of a row group is made. */
struct sta_row_group_codes {
    const uint32_t *listed; /* all of them; NULL: only their range is known */
    size_t count;
    uint32_t first, last; /* when not listed */
    bool missing;         /* some row has none */
};
/** Return: false when nothing is known. */
bool sta_columns_codes(const struct sta_columns *columns, const struct sta_row_group *row_group,
                       uint32_t column, struct sta_row_group_codes *codes);
/** How many codes the store has for a TEXT column (0: none of its own), and the text of each as code of
 * sta_columns_texts. */
uint32_t sta_columns_code_count(const struct sta_columns *columns, uint32_t column);
uint32_t sta_columns_text_of_code(const struct sta_columns *columns, uint32_t column, uint32_t code);

#endif
