/* columns_private.h - shared by the files of columns only. */
#ifndef STA_ANALYSE_SOURCES_COLUMNS_PRIVATE_H
#define STA_ANALYSE_SOURCES_COLUMNS_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/account.h"
#include "analyse/sources/columns.h"
#include "analyse/layers/composite_map.h"
#include "analyse/layers/refiner.h"

/* ---- args.<key> */

/* Values that events state through their file or host reference, by code of the reference. */
struct sta_reference_values {
    int64_t *integers; /* the column is INT */
    uint32_t *codes;   /* the column is TEXT; STA_NO_CODE where the reference is of another kind */
    uint8_t *present;  /* INT */
};

struct sta_args_source {
    uint32_t key;       /* in the tables; STA_NO_CODE: no value is stored under this key */
    char kind;          /* enum sta_reference: whose references are values of this column as well; 0: none */
    bool of_host;       /* references to hosts, not files */
    enum sta_type type; /* over the whole trace */
    struct sta_dictionary *own;         /* TEXT that is not simply that of the key, else NULL */
    const struct sta_dictionary *texts; /* TEXT: own, or the key's */
    atomic_bool ready;                  /* own and references are filled */
    struct sta_reference_values references;
};

/* ---- positive integers that standard columns take from args */

enum sta_positive {
    STA_POSITIVE_size_sum,
    STA_POSITIVE_ret,
    STA_POSITIVE_offset,
    STA_POSITIVE_image_idx,
    STA_POSITIVE_step,
    STA_POSITIVE_epoch,
    STA_POSITIVE_none, /* of no event */
    STA_POSITIVES
};

/* Where a column's values come from.  args.size_sum, where it is there, goes before what a call returned, and
 * says that nothing was transferred when it is 0 or less. */
struct sta_positive_rule {
    uint32_t column;
    enum sta_positive first, second;
    enum { STA_ANY_ROW, STA_WITH_CLASSES, STA_WITHOUT_CLASSES, STA_TRANSFERS } rows; /* the second's */
};
/** NULL: the column is none of these. */
const struct sta_positive_rule *sta_positive_rule_of(uint32_t column);

struct sta_positive_source {
    uint32_t key;     /* STA_NO_CODE: no event has it */
    int64_t *of_text; /* by code of the key's texts: the integer it spells when positive, else 0; NULL: there
                         are no texts */
};

/* ---- all columns */

struct sta_proc_names {
    struct sta_dictionary *texts;
    uint32_t *of_thread; /* by thread code + 1 */
};

struct sta_columns {
    struct sta_snapshot *snapshot;
    const struct sta_tables *tables;
    const struct sta_entities *entities;
    const struct sta_presets *presets;
    struct sta_refiner *refiner; /* NULL: cat as traced */
    struct sta_schema schema;
    struct sta_schema_column *schema_columns;
    struct sta_account account; /* of what the columns make, within that of the snapshot */
    char **args_names;          /* those of schema_columns from STA_LOGICAL_ARGS on */
    struct sta_args_source *args;
    size_t args_count;
    uint32_t name_count, cat_count, key_count; /* of the tables */
    /* By code + 1, so that a missing one has the entry 0. */
    uint8_t *class_of_name; /* enum sta_io_cat */
    uint8_t *is_transfer;   /* of a name: whether that is read or write */
    uint8_t *has_classes;   /* of a category: whether its functions have classes .. */
    uint8_t *lacks_classes; /* .. and whether they do not */
    struct sta_positive_source positives[STA_POSITIVES];
    bool unzeroed; /* as in the options */
    int64_t ticks_per_us,
        scale; /* of the integers behind times; how many of these is a tick of the snapshot */
    struct sta_dictionary *trace;                /* holds the label as code 0, or nothing */
    pthread_mutex_t lock;                        /* over making what follows and args[].ready */
    _Atomic(struct sta_proc_names *) proc_names; /* NULL until first asked for */
};

/** Finds the args columns of the trace and their types.  Return: false when memory is short. */
bool sta_columns_find_args(struct sta_columns *columns);
void sta_args_source_fini(struct sta_args_source *source);
/** Fills what the values of a column need beyond the tables.  Return: 0 or STA_ENOMEM.  Context: any
 * thread. */
STA_MUSTCHECK int sta_args_source_prepare(struct sta_columns *columns, struct sta_args_source *source,
                                          struct sta_error *err);
/** Never NULL; of_thread is NULL when there was no memory, and sta_columns_failure says so. */
const struct sta_proc_names *sta_columns_proc_names(struct sta_columns *columns);
/** The column of the store whose codes a TEXT column is made from.  Return: false when there is none. */
bool sta_columns_physical_of(const struct sta_columns *columns, uint32_t column, uint32_t *physical);

/* A time in microseconds, in seconds, and the integers behind both. */
struct sta_time_columns {
    enum sta_logical us, s, ticks;
};
#define STA_TIMES 3
extern const struct sta_time_columns sta_time_columns[STA_TIMES];
/** The integers behind a column of times, else the column itself; *per_unit of these make one. */
uint32_t sta_columns_ticks_of(const struct sta_columns *columns, uint32_t column, double *per_unit);

/* ---- a reader: caches of the present row group */

/* Decoded by the store. */
struct sta_physical_slot {
    uint64_t row_group; /* serial of the row group that it holds */
    struct sta_column_values values;
};

/* Derived here. */
struct sta_logical_slot {
    uint64_t row_group;
    struct sta_vector vector;
    void *values; /* space for STA_ROW_GROUP_ROWS of the type, made when first needed */
    uint8_t *missing;
};

struct sta_column_reader {
    struct sta_columns *columns; /* only its memories change */
    const struct sta_row_group *row_group;
    uint64_t serial;                    /* counts seeks, from 1, and narrowings */
    uint64_t whole;                     /* serial of the last seek */
    const uint32_t *narrowed;           /* the rows of the row group that columns have; NULL: all */
    uint32_t rows;                      /* how many */
    void *gathered;                     /* space for 8 * STA_ROW_GROUP_ROWS bytes, made when first needed */
    struct sta_physical_slot *physical; /* by enum sta_column_id */
    struct sta_logical_slot *logical;   /* by schema index */
    struct sta_column_values spare_values; /* memory of a dropped args column, for the next one; or nothing */
    struct sta_logical_slot spare;
    struct sta_composite_map refined;  /* (0, cat, file class) -> refined cat */
    int64_t *positives[STA_POSITIVES]; /* space for STA_ROW_GROUP_ROWS values, made when first needed */
    uint8_t *keep;                     /* STA_ROW_GROUP_ROWS flags */
};

/** io_cat of a row from its codes. */
static inline unsigned sta_columns_io_cat(const struct sta_columns *columns, uint32_t name, uint32_t cat)
{
    return columns->has_classes[cat + 1] ? columns->class_of_name[name + 1] : STA_IO_OTHER;
}

/** Space for the values of a slot: 8 bytes a row. */
void *sta_logical_values(struct sta_logical_slot *slot);
/** Space for its missing flags, all 0 for @rows. */
uint8_t *sta_logical_missing(struct sta_logical_slot *slot, uint32_t rows);

/** Derives an args column for the present row group. */
STA_MUSTCHECK int sta_column_reader_args(struct sta_column_reader *reader, struct sta_args_source *source,
                                         struct sta_logical_slot *slot, struct sta_error *err);
/** Derives size, offset, image_id, step or epoch: positive integers of args. */
STA_MUSTCHECK int sta_column_reader_positive(struct sta_column_reader *reader, uint32_t column,
                                             struct sta_logical_slot *slot, struct sta_error *err);

#endif
