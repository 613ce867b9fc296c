/* scope_private.h - shared by the files of the scope only. */
#ifndef STA_ANALYSE_OVERLAP_SCOPE_PRIVATE_H
#define STA_ANALYSE_OVERLAP_SCOPE_PRIVATE_H

#include "analyse/overlap/scope.h"

struct sta_scope_key {
    const char *name;
    enum sta_type type;
    const char *unit;
    struct sta_program *program; /* KEYS */
};

struct sta_scope {
    const struct sta_columns *columns;
    const struct sta_scope_request *request;
    struct sta_scope_key keys[STA_KEY_COLUMNS];
    size_t key_count;
    uint32_t *unit_of_thread;    /* by thread code; NULL for JOB, KEYS and BIN */
    struct sta_numbering *units; /* NULL for JOB, which has one */
    const struct sta_budget *budget;
};

#endif
