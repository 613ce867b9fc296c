/* text_sets.h - sets whose condition depends on one text alone, such as cat: worked out once per distinct
 * text (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_TEXT_SETS_H
#define STA_ANALYSE_OVERLAP_TEXT_SETS_H

#include "analyse/overlap/request.h"

/* The sets that depend on one column; of one thread. */
struct sta_text_sets {
    uint32_t column; /* index in the schema */
    uint32_t sets;   /* bits */
    uint32_t *masks; /* by code + 1, so that a missing text has the entry 0; of the account */
    size_t capacity;
};

/** The text column that a condition depends on, and on nothing else; STA_NO_CODE: there is none. */
uint32_t sta_text_column(const struct sta_columns *columns, const struct sta_expression *condition);

/**
 * sta_text_sets_add - put the bits of the sets into the masks of a row group's rows
 * @programs: of all sets of the request
 * Return: 0, or what reading the column or evaluating a condition failed with.
 */
STA_MUSTCHECK int sta_text_sets_add(struct sta_text_sets *sets, struct sta_program *const *programs,
                                    struct sta_evaluator *evaluator, struct sta_column_reader *reader,
                                    uint32_t *masks, struct sta_account *account, struct sta_error *err);

#endif
