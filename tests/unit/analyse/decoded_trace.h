/* decoded_trace.h - traces as they are ingested: text or folder, through decode and store, to a snapshot. */
#ifndef STA_TESTS_ANALYSE_DECODED_TRACE_H
#define STA_TESTS_ANALYSE_DECODED_TRACE_H

#include <stdbool.h>

#include "store/store.h"

struct decoded_trace {
    char folder[64];
    struct sta_store *store;
    struct sta_snapshot *snapshot;
};

/** @text: lines of one trace file. */
void decoded_trace_init(struct decoded_trace *trace, const char *text);
/** @name: a folder of ../shared/traces, or of STRATA_SHARED.  Return: false when that is not there. */
bool decoded_trace_open(struct decoded_trace *trace, const char *name);
void decoded_trace_fini(struct decoded_trace *trace);

#endif
