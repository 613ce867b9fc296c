/* planned.h - requests as JSON texts, planned against columns of events (for tests). */
#ifndef STA_TESTS_QUERY_PLANNED_H
#define STA_TESTS_QUERY_PLANNED_H

#include "analyse/query/plan.h"

extern const struct sta_schema
    planned_events; /* the columns of every trace, and args.flag, args.ratio, args.tag, args.a~/b */

struct planned {
    struct sta_plan plan;
    int status;
    struct sta_error err;
    struct sta_arena memory;
};

/** Plans the request @json of the runs "base" and "next" against planned_events; planned_fini it. */
void planned_init(struct planned *planned, const char *json);
/** Plans a request of runs with these labels, as JSON texts read with @planned. */
void planned_request(struct planned *planned, const struct sta_document *request, const char *const *labels,
                     size_t label_count);
/** A JSON text, read as the server reads requests; lives until planned_fini. */
struct sta_document *planned_read(struct planned *planned, const char *json, size_t size);
void planned_fini(struct planned *planned);
/** "INPUT /then/filter 5", or "" where there is no mistake; static memory. */
const char *planned_mistake(const struct planned *planned);

#endif
