/* call_rows.h - a call tree in the order in which it is shown, what is small folded (private to timeline). */
#ifndef STA_TIMELINE_CALL_ROWS_H
#define STA_TIMELINE_CALL_ROWS_H

#include "timeline/call_paths.h"

/* A node; parents come before their children, siblings by total descending, then label, `other` last. */
struct sta_call_row {
    uint32_t parent; /* row, or STA_NO_NODE */
    uint32_t group;  /* lane */
    uint32_t depth;  /* from 1 */
    uint32_t label;
    bool other; /* stands for siblings that are folded, and all below them */
    int64_t count, min, max, nodes;
    __int128 total, self, overlap, size;
};

struct sta_call_rows {
    struct sta_call_row *items;
    size_t count, capacity;
};

/** @min_share: of a group's top totals, what is folded below; @depth: what is folded beyond, 0: nothing.
 * Fini also after a failure. */
STA_MUSTCHECK int sta_call_rows_init(struct sta_call_rows *rows, const struct sta_call_tree *tree,
                                     double min_share, int64_t depth, struct sta_error *err);
void sta_call_rows_fini(struct sta_call_rows *rows, struct sta_account *account);

#endif
