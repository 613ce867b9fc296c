/* ordered_private.h - shared by the files of the ordered operator only. */
#ifndef STA_ANALYSE_OPERATORS_ORDERED_PRIVATE_H
#define STA_ANALYSE_OPERATORS_ORDERED_PRIVATE_H

#include <stdbool.h>

#include "analyse/operators/ordered.h"
#include "common/account.h"

/* ---- where a pass cuts the time axis: slices.c */

struct sta_slice_plan {
    uint32_t *order;      /* row group numbers by ts_min: the order in which row groups are read */
    size_t slice_count;   /* at least 1 */
    int64_t *bounds;      /* slice s is [bounds[s], bounds[s + 1]) */
    size_t *reads;        /* slice s is complete once order[0 .. reads[s]) have been read */
    size_t *first_member; /* slice s is made of members[first_member[s] .. first_member[s + 1]) */
    uint32_t *members;    /* row group numbers */
    uint32_t *uses;       /* by row group number: of how many slices it is a member, .. */
    size_t *first_slice;  /* .. the first of them, the others follow, .. */
    size_t *first_use;    /* .. and of how many the row groups before it are */
};

/** Charged to the budget's account.  Return: 0; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY of the budget; fini
 * also then. */
STA_MUSTCHECK int sta_slice_plan_init(struct sta_slice_plan *plan,
                                      const struct sta_ordered_row_group *row_groups, size_t row_group_count,
                                      size_t slice_rows, const struct sta_budget *budget,
                                      struct sta_error *err);
void sta_slice_plan_fini(struct sta_slice_plan *plan, struct sta_account *account);

/* ---- records of row groups: place.c */

/* The records of one unit in a row group and a slice, beside those of the unit before. */
struct sta_ordered_group {
    uint32_t unit, count;
};

/* Memory for what a consumer gave of a row group; used again for other row groups. */
struct sta_ordered_memory {
    char *records;
    size_t bytes;
    struct sta_ordered_group *groups;
    size_t group_capacity;
};

/* Up to where groups and records of a slice go. */
struct sta_ordered_end {
    uint32_t groups, records;
};

/* Of one worker: for placing rows. */
struct sta_ordered_placing {
    uint32_t *counts; /* by unit: rows, then where the next one goes; 0 between slices */
    size_t count_capacity;
};
void sta_ordered_placing_fini(struct sta_ordered_placing *placing, struct sta_account *account);

struct sta_ordered_out {
    size_t record;
    const int64_t
        *cuts; /* where slices end after the row group's beginning, ascending; the last is INT64_MAX */
    size_t cut_count;
    struct sta_ordered_end *ends; /* by cut; set */
    struct sta_ordered_memory *memory;
    size_t group_count, group_begin; /* from group_begin on: of the slice being placed */
    size_t cut;                      /* the next one */
    struct sta_ordered_placing *placing;
    struct sta_account *account;
};

/* ---- records of slices: gather.c */

/* What a row group gives to a slice. */
struct sta_ordered_piece {
    const struct sta_ordered_group *groups;
    uint32_t group_count;
    const char *records;
};

/* Records of a unit that a row group gives, in order of time. */
struct sta_ordered_chunk {
    const char *records;
    uint32_t count;
    uint32_t next; /* STA_ORDERED_LAST: it is the last of its unit */
};
#define STA_ORDERED_LAST UINT32_MAX

/* Of one worker and consumer: where the records of a slice come together. */
struct sta_ordered_gathering {
    uint32_t *place; /* by unit: its number in `units`, plus 1; 0: it has no records */
    size_t place_capacity;
    struct sta_ordered_unit *units;
    size_t unit_count, unit_capacity;
    struct sta_ordered_chunk *parts; /* chains of the records of a unit, by row group */
    size_t part_count, part_capacity;
    char *buffer, *scratch; /* of units that several row groups have records of */
    size_t buffer_bytes, scratch_bytes;
};
void sta_ordered_gathering_fini(struct sta_ordered_gathering *gathering, struct sta_account *account);

/** Starts anew. */
void sta_ordered_gather_begin(struct sta_ordered_gathering *gathering);
/** Adds what a row group gives; in the order of row groups. */
STA_MUSTCHECK int sta_ordered_gather(struct sta_ordered_gathering *gathering,
                                     const struct sta_ordered_piece *piece, size_t record,
                                     struct sta_account *account, struct sta_error *err);
/** Brings the records of each unit in order. */
STA_MUSTCHECK int sta_ordered_gather_end(struct sta_ordered_gathering *gathering, size_t record,
                                         const struct sta_budget *budget, struct sta_error *err);

/** Brings the records of a unit together by their time; equal ones keep their order.
 * @first: of its chunks, each of which is in order.  @records, @scratch: memory for @count of @size bytes,
 * all that these have.  Return: where the result is, @records or @scratch. */
char *sta_ordered_sort(const struct sta_ordered_chunk *chunks, uint32_t first, char *records, char *scratch,
                       size_t count, size_t size);

#endif
