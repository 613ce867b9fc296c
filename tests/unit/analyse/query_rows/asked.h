/* asked.h - requests as JSON texts, asked of traces in a real store; answers as text (for tests). */
#ifndef STA_TESTS_QUERY_ASKED_H
#define STA_TESTS_QUERY_ASKED_H

#include "analyse/analyse.h"

struct asked {
    struct sta_presets *presets;
    struct sta_query_trace traces[4];
    size_t trace_count;
    struct sta_budget budget; /* changed as a test likes */
};

void asked_init(struct asked *asked);
/** @snapshot: borrowed */
void asked_add(struct asked *asked, const char *label, struct sta_snapshot *snapshot);
void asked_fini(struct asked *asked);

/** All rows of an answer, one a line, values as JSON; or "INPUT /filter 5: .." of a mistake.  free() it. */
char *asked_rows(const struct asked *asked, const char *request);
/** The same, read @page rows at a time, each page by a fresh reader that goes on where the one before
 * ended. */
char *asked_pages(const struct asked *asked, const char *request, size_t page);
/** The result; NULL and *err after a failure. */
struct sta_query_result *asked_result(const struct asked *asked, const char *request, struct sta_error *err);
/** A JSON text as a document, as the server reads it. */
struct sta_document *asked_read(const char *json, size_t size, struct sta_arena *arena);
/** The answer of a request that is a document already. */
char *asked_document(const struct asked *asked, const struct sta_document *request, size_t page);

#endif
