/* memo.h - what a function of text gave for each distinct text, by dictionary code (private to expression).
 *
 * DESIGN.  The cell of code c is number c + 1, so that STA_NO_CODE, which wraps to 0, finds the result for a
 * missing text like any other and the loops over rows have no branch.  A cell is 0 until it is known.
 * Threads fill cells as they meet texts; two may compute the same one, to the same result.  When a dictionary
 * has outgrown the cells a larger set takes their place; results that threads still put into the old one are
 * lost. */
#ifndef STA_ANALYSE_EXPRESSION_MEMO_H
#define STA_ANALYSE_EXPRESSION_MEMO_H

#include <stdatomic.h>
#include "analyse/expression/expression.h"

#define STA_MARK_MISSING 1u /* in marks: there is no value */
#define STA_MARK_FALSE 2u   /* a test, or any value of INT and FLOAT */
#define STA_MARK_TRUE 3u
#define STA_CELL_MISSING 1u /* in codes: STA_NO_CODE + 2, wrapped; others hold code + 2 */
#define STA_CELL_OF(code) ((uint32_t)((code) + 2u))

struct sta_memo_cells {
    struct sta_memo_cells *older;
    size_t capacity;          /* cells */
    _Atomic uint8_t *marks;   /* BOOL INT FLOAT; set after the value, with release order */
    _Atomic uint64_t *values; /* INT FLOAT: bits */
    _Atomic uint32_t *codes;  /* TEXT */
};

struct sta_memo;
/** @type: of the results; @when_missing: what a test gives for a missing text; @account: charged with cells
 */
struct sta_memo *sta_memo_create(enum sta_type type, bool when_missing, struct sta_account *account);
void sta_memo_destroy(struct sta_memo *memo);
/** Cells for every text that the dictionary holds now; NULL with STA_ELIMIT, STA_ENOSPC or STA_ENOMEM. */
const struct sta_memo_cells *sta_memo_cells(struct sta_memo *memo, const struct sta_dictionary *dictionary,
                                            struct sta_error *err);

#endif
