/* views.h - queries to traces: from a request to a key, from a key to a response.
 *
 * A kind of view says how its query is read and computed.  Either `compute` fills the response as it goes
 * out, or `result` computes all rows of a table, and pages, orders, forms and streams of them are made here,
 * the same for all kinds. */
#ifndef STA_SERVE_VIEWS_H
#define STA_SERVE_VIEWS_H

#include "common/account.h"
#include "common/document.h"
#include "serve/responses/result_cache.h"
#include "serve/responses/pages.h"
#include "serve/api/routes.h"

struct sta_view_trace {
    char id[STA_TRACE_ID_SIZE];
    const char *label; /* what the column `trace` holds; NULL when the kind has no labels */
    struct sta_snapshot *snapshot;
};

/* One query to one version of one trace, or of several.  Holds copies of all it needs, since who asked may
 * leave while others still wait. */
struct sta_view {
    struct sta_server *server;
    const struct sta_view_kind *kind;
    struct sta_view_trace *traces; /* those asked, in order; in `memory` */
    size_t trace_count;
    char trace[STA_TRACE_ID_SIZE]; /* of the path; "" without one */
    struct sta_snapshot *snapshot; /* of the first trace, borrowed from it */
    struct sta_presets *presets;
    char preset[64];
    char part[STA_HOST_SIZE];                          /* what the path names below the trace, or "" */
    struct sta_parameter_value values[STA_PARAMETERS]; /* texts in `memory` */
    struct sta_document *document; /* of kinds that have one: without format, offset, cursor, explain, and the
                                      limit of the page */
    bool from_parameters;          /* the request is a GET whose parameters make its document */
    sta_parameter_set plain;       /* which of its members came from parameters: STA_HAS bits */
    struct sta_page page;
    struct sta_name_list order, columns; /* of kinds that are arranged */
    const char *text_form;               /* a form that the kind writes by itself; NULL: that of the page */
    bool explain;
    struct sta_arena memory;
    struct sta_buffer key; /* what is asked, of which versions, in which order, which page */
    size_t identity_size, rows_size, order_size; /* how much of it names these */
    struct sta_flight *flight;
    struct sta_account account; /* of the computation, once it has begun */
    bool prepared;              /* after an ingest, before anyone asks */
};

struct sta_timeline_query;
struct sta_timeline_output;
/** Fills the output from the timeline of the view's trace. */
typedef int sta_timeline_respond(const struct sta_timeline_query *query, const struct sta_budget *budget,
                                 const struct sta_timeline_output *output, struct sta_error *err);

struct sta_view_kind {
    const char *name;
    bool layered;        /* has preset, filters, window, filter */
    bool labelled;       /* rows hold the labels of the traces */
    bool arranged;       /* rows are of a table: the parameters sort, order_by and columns arrange them */
    bool has_own_preset; /* a document that names no preset is about that of the trace */
    bool checks_limit;   /* `result` checks a limit that is none, in its turn among the members */
    sta_parameter_set key_values; /* STA_HAS bits of the parameters that make a difference; not those of pages
                            and documents */
    sta_parameter_set document_values; /* of the parameters that a GET makes members of its document, or that
                                 are all of it; 0: there is no document */
    /** Finds the traces that the document names: sets traces and trace_count; NULL: the one of the path.
     * Reads memory only. */
    int (*find)(struct sta_view *view, struct sta_error *err);
    /** Checks what the parameters' list can't; may be NULL.  Fast: on the HTTP thread. */
    int (*check)(struct sta_view *view, struct sta_error *err);
    /* one of the two */
    int (*compute)(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                   struct sta_error *err);
    int (*result)(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                  struct sta_error *err);
    /* Forms beside those of tables, which compute_text writes whole: words with | between; NULL: none. */
    const char *text_forms;
    int (*compute_text)(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                        struct sta_error *err);
    /** What was done for a result: an object.  Of kinds that have `explain` as a parameter. */
    void (*explain)(const struct sta_result *result, struct sta_buffer *out);
    /* What kinds that share the functions above differ in. */
    union {
        enum sta_view_table table;      /* api/views.c */
        sta_timeline_respond *timeline; /* api/timeline.c */
    };
    bool kept;       /* the response to the query without parameters stays in the store */
    bool background; /* nobody waits for it: computed at low priority, for as long as it takes */
};

/* api/counters.c */
/** The time series of the counters that the view's parameters name. */
STA_MUSTCHECK int sta_counters_result(struct sta_view *view, const struct sta_series *series,
                                      const struct sta_budget *budget, struct sta_result **result,
                                      struct sta_error *err);
/** Appends the member "counters": the list of the trace's. */
STA_MUSTCHECK int sta_put_counters(const struct sta_view *view, const struct sta_budget *budget,
                                   struct sta_buffer *out, struct sta_error *err);

/* Parameters of routes whose kind has a result, and of custom routes. */
#define STA_HAS_PAGES (STA_HAS(FORMAT) | STA_HAS(LIMIT) | STA_HAS(ROW_OFFSET) | STA_HAS(CURSOR))
#define STA_HAS_ORDER (STA_HAS(SORT) | STA_HAS(ORDER_BY) | STA_HAS(COLUMNS))

/** Responds to the call from the response cache, or has the response computed.  Context: HTTP thread. */
void sta_view_respond(struct sta_call *call);
/* The base of series, what columns hold, and the timeline's file: no calls of their own, but prepared. */
extern const struct sta_view_kind sta_view_series_base, sta_view_column_figures, sta_view_timeline_keep;
struct sta_preparation;
/** Computes what the first page of a trace shows: summary, report, the base of its series, attribution; then
 * findings and what they lead to; then, at low priority, its timeline's file and what its columns hold.
 * Return: how far it is; with sta_preparation_release.  Context: any thread. */
struct sta_preparation *sta_view_prepare(struct sta_server *server, const char *trace);
/** Share of the first page that is there, 0 .. 1; 1 also when no more of it will come. */
double sta_preparation_progress(const struct sta_preparation *preparation);
void sta_preparation_release(struct sta_preparation *preparation);
/** Computes the response of one kind to the query without parameters, likewise. */
void sta_view_prepare_kind(struct sta_server *server, const struct sta_view_kind *kind, const char *trace);

/** The analyse stage's form of the query; borrows from the view. */
struct sta_view_query sta_view_query_of(const struct sta_view *view);
/** The same for what is asked by a document, often that of the view; of the first trace. */
struct sta_overlap_query sta_view_overlap_query(const struct sta_view *view,
                                                const struct sta_document *request);
struct sta_response_names sta_view_names(const struct sta_view *view);
/** Rows of a table (taken over) with the names and facts of a layered view before it. */
struct sta_result *sta_view_result(const struct sta_view *view, struct sta_table *table,
                                   const struct sta_facts *facts);
/** `find` of kinds whose parameter traces lists them. */
STA_MUSTCHECK int sta_view_find_listed(struct sta_view *view, struct sta_error *err);
/** `find` of kinds whose document has a member traces, which it takes out. */
STA_MUSTCHECK int sta_view_find_traces(struct sta_view *view, struct sta_error *err);
/**
 * sta_view_result_of - the result of another kind, of one of the view's traces, with the view's parameters
 * and preset Context: the view's `result`.
 */
STA_MUSTCHECK int sta_view_result_of(const struct sta_view *view, size_t trace,
                                     const struct sta_view_kind *kind, const struct sta_budget *budget,
                                     struct sta_result **result, struct sta_error *err);
/** The same when it is kept already; else *result is NULL, and nothing is computed. */
STA_MUSTCHECK int sta_view_kept_of(const struct sta_view *view, size_t trace,
                                   const struct sta_view_kind *kind, struct sta_result **result,
                                   struct sta_error *err);
/** Splits a list with commas between; free() it.  The texts live in the view's memory. */
const char **sta_view_list(struct sta_view *view, const char *names, size_t *count);

/** The rows of the summary, as a table. */
extern const struct sta_view_kind sta_view_summary_table;

/* ---- between the view*.c files */

struct sta_view *sta_view_create(struct sta_server *server, const struct sta_view_kind *kind,
                                 const struct sta_parameter_value *values);
void sta_view_destroy(struct sta_view *view);
/** Computes the response and lands the view's flight.  @context: the view, taken over.  @dropped: instead it
 * fails, since the daemon is stopping.  Context: a thread that may be long. */
void sta_view_run(void *context, bool dropped);
/** Takes over the view: to the query threads, or, when too many wait, its flight fails. */
void sta_view_send(struct sta_view *view);
/** Finds all that the query is about, and its key.  Opens what is not open yet, so a thread that may read
 * files calls it. */
STA_MUSTCHECK int sta_view_open(struct sta_view *view, struct sta_error *err);

/* api/timeline.c */
/** compute_text of events: the window's events in Chrome's trace format.  Their preset is that of the trace
 * where none is named: `check`. */
int sta_view_write_chrome_trace(struct sta_view *view, const struct sta_budget *budget,
                                struct sta_response *response, struct sta_error *err);
STA_MUSTCHECK int sta_view_default_preset(struct sta_view *view, struct sta_error *err);

/* view_document.c: from a call to document, page, order */
STA_MUSTCHECK int sta_view_read_document(struct sta_view *view, const struct sta_call *call,
                                         struct sta_error *err);
STA_MUSTCHECK int sta_view_read_page(struct sta_view *view, const struct sta_call *call,
                                     struct sta_error *err);
STA_MUSTCHECK int sta_view_read_order(struct sta_view *view, const struct sta_call *call,
                                      struct sta_error *err);
/** A mistake in a member that came from a parameter is one of that parameter: its pointer is cut there.
 * Return: err->status. */
int sta_view_blame(const struct sta_view *view, struct sta_error *err);

/* view_terms.c */
/** What is kept under a name beside the version of the view's trace: free() it.  Return: whether there is
 * such; nothing is kept of a version that lacks events. */
bool sta_view_get_kept(const struct sta_view *view, const char *name, char **bytes, size_t *size);
/** A failure is logged: whoever asks next computes it anew. */
void sta_view_put_kept(const struct sta_view *view, const char *name, const void *bytes, size_t size);
/** Opens the view's account, which ends with the view.  Once per view. */
struct sta_budget sta_view_budget(struct sta_view *view, const _Atomic bool *cancel);
/** Adds the setting that was exceeded, or that it was cancelled, to a failure.  Return: err->status. */
int sta_view_say_why(const struct sta_view *view, const struct sta_budget *budget, int status,
                     struct sta_error *err);
/** What the traces of the view lack because store files were damaged, as the header Strata-Missing says it:
 * free() it.  NULL: nothing.  Only a view that was asked for with partial=true gets so far. */
char *sta_view_missing(const struct sta_view *view);
void sta_view_note_missing(const struct sta_view *view, struct sta_response *response);
int sta_view_fail_size(const struct sta_view *view, const struct sta_buffer *body, struct sta_error *err);

/* view_traces.c */
/** The one trace of the path. */
STA_MUSTCHECK int sta_view_take_trace(struct sta_view *view, const char *id, struct sta_error *err);

/* view_key.c */
void sta_view_make_key(struct sta_view *view);

/* view_stream.c */
#define STA_STREAMS_PER_THREAD 16 /* long responses on their way; of these one client can have half */
/** Whether the response could be too long to be held, so that its query is asked for one client alone. */
bool sta_view_may_be_long(const struct sta_view *view);
/** Responds to the call; takes over the view.  Context: HTTP thread. */
void sta_view_stream_result(struct sta_call *call, struct sta_view *view);

/* view_result.c */
/** The rows that are asked, arranged; kept ones, or computed by now.  Context: a query thread. */
STA_MUSTCHECK int sta_view_find_result(struct sta_view *view, const struct sta_budget *budget,
                                       struct sta_result **result, struct sta_error *err);
STA_MUSTCHECK int sta_view_compute_page(struct sta_view *view, const struct sta_budget *budget,
                                        struct sta_response *response, struct sta_error *err);

#endif
