/* made_trace.h - small traces written out in a test, stored and opened by the store's own calls. */
#ifndef STA_TESTS_ANALYSE_MADE_TRACE_H
#define STA_TESTS_ANALYSE_MADE_TRACE_H

#include "store/store.h"

/* An event; what is NULL or absent is missing. */
struct made_event {
    const char *source; /* path of its file in the trace; events of one source follow each other */
    int64_t ts, dur;    /* microseconds */
    const char *name, *cat, *host, *file;
    int64_t pid, tid;
    struct made_arg {
        const char *key, *text; /* text NULL: the integer counts */
        int64_t integer;
    } args[3];
};

struct made_trace {
    char folder[64];
    struct sta_store *store;
    struct sta_snapshot *snapshot;
};

/** @chunk_rows: rows of one batch; @workers: how many take turns in adding batches, so that as many segments
 * overlap in time. */
void made_trace_init(struct made_trace *trace, const struct made_event *events, size_t count,
                     uint32_t chunk_rows, unsigned workers);
void made_trace_fini(struct made_trace *trace);

#endif
