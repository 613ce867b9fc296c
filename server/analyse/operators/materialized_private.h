/* materialized_private.h - rows in batches: what filling and looking at them share (private to
 * materialized). */
#ifndef STA_ANALYSE_OPERATORS_MATERIALIZED_PRIVATE_H
#define STA_ANALYSE_OPERATORS_MATERIALIZED_PRIVATE_H

#include "analyse/operators/arena.h"
#include "analyse/operators/materialized.h"
#include "analyse/operators/spill.h"
#include "common/account.h"
#include "common/narrow.h"

/* A column of a batch that is full. */
struct sta_column_piece {
    char *bytes;              /* NULL: in the spill file at offset */
    uint64_t offset;          /* there */
    struct sta_narrow narrow; /* integers, codes */
    bool plain;               /* else: values, then missing */
};

struct sta_materialized_column {
    struct sta_column_info info;
    size_t width;
    struct sta_dictionary *texts; /* TEXT, LIST */
    struct sta_translation *translations;
    size_t translation_count, translation_capacity, last;
    void *values; /* of the batch being filled */
    uint8_t *missing;
    bool any_missing;
    struct sta_column_piece *pieces; /* by batch */
    size_t piece_capacity;
};

struct sta_materialized {
    struct sta_materialized_column *columns;
    struct sta_column_info *info;
    size_t column_count;
    uint64_t memory, bytes;
    char *spill_folder;
    struct sta_spill *spill;
    size_t batch_count;
    void *packed;               /* room for the narrow values of a column of a batch */
    struct sta_account account; /* of texts, what translates them, and pieces */
    struct sta_state_arena arena;
    uint64_t rows;
    uint32_t filled; /* rows of the batch being filled */
};

#endif
