/* scope_private.h - shared by the files of the scope only. */
#ifndef STA_ANALYSE_OVERLAP_SCOPE_PRIVATE_H
#define STA_ANALYSE_OVERLAP_SCOPE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyse/overlap/scope.h"

struct sta_scope_key {
    const char *name;
    enum sta_type type;
    const char *unit;
    struct sta_program *program;        /* KEYS */
    const struct sta_dictionary *texts; /* TEXT: of the codes in the table */
    struct sta_dictionary *own;         /* those texts, when they had to be gathered */
};

struct sta_scope {
    const struct sta_columns *columns;
    const struct sta_scope_request *request;
    struct sta_scope_key keys[STA_KEY_COLUMNS];
    size_t key_count;
    uint32_t *unit_of_thread; /* by thread code; NULL for JOB, KEYS and BIN */
    pthread_mutex_t lock;     /* over table while workers run */
    struct sta_key_table table;
    _Atomic size_t bytes, worker_bytes; /* of the table, of the workers' */
    _Atomic uint32_t units;             /* in the table when a worker last looked */
};

#endif
