/* trace_kind.h - the kinds of traces: distinguished by the content of their files, remembered in the
 * catalogue.
 */
#ifndef STA_COMMON_TRACE_KIND_H
#define STA_COMMON_TRACE_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* X(NAME, name): the name is in the catalogue and in the API.  UNKNOWN: its files were not looked at yet. */
#define STA_TRACE_KIND_LIST(X)                                                                               \
    X(UNKNOWN, "unknown") X(EVENTS, "events") X(DASF, "dasf") X(DATALOAD, "dataload")

enum sta_trace_kind {
#define X(NAME, name) STA_TRACE_##NAME,
    STA_TRACE_KIND_LIST(X)
#undef X
        STA_TRACE_KINDS
};

const char *sta_trace_kind_name(enum sta_trace_kind kind);
/** Return: false when no kind has the name. */
bool sta_trace_kind_find(const char *name, size_t length, enum sta_trace_kind *kind);

#endif
