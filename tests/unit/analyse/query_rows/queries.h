/* queries.h - runs requests, as JSON texts, on traces in a real store; results as text (for tests). */
#ifndef STA_TESTS_QUERY_QUERIES_H
#define STA_TESTS_QUERY_QUERIES_H

#include "analyse/analyse.h"

struct queries {
    struct sta_presets *presets;
    struct sta_query_trace traces[4];
    size_t trace_count;
    struct sta_budget budget; /* changed as a test likes */
};

void queries_init(struct queries *queries);
/** @snapshot: borrowed */
void queries_add(struct queries *queries, const char *label, struct sta_snapshot *snapshot);
void queries_fini(struct queries *queries);

/** All rows of a result, one a line, values as JSON; or "INPUT /filter 5: .." of a mistake.  free() it. */
char *queries_rows(const struct queries *queries, const char *request);
/** The same, read @page rows at a time, each page by a fresh reader that goes on where the one before
 * ended. */
char *queries_pages(const struct queries *queries, const char *request, size_t page);
/** The result; NULL and *err after a failure. */
struct sta_query_result *queries_result(const struct queries *queries, const char *request,
                                        struct sta_error *err);
/** A JSON text as a document, as the server reads it. */
struct sta_document *queries_read(const char *json, size_t size, struct sta_arena *arena);
/** The result of a request that is a document already. */
char *queries_document(const struct queries *queries, const struct sta_document *request, size_t page);

#endif
